"""The program that asks many hosts at once: ClusterShell over the user's OpenSSH, a line of JSON for each that ended.

A process of its own: whoever ends its process group ends every ssh with it. ClusterShell's tree mode takes pickled
objects from the hosts between (ClusterShell 1.10, Communication.py), so it is never used: each host is asked directly.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from ClusterShell.Event import EventHandler
from ClusterShell.Task import Task, task_self
from ClusterShell.Worker.Ssh import SshClient, WorkerSsh

from app.features.fleet.hosts.standalone_binary import LARGEST
from app.features.fleet.hosts.wire_format import (
    BYTES,
    CONNECT_S,
    FANOUT,
    LAST_WORDS,
    LINES,
    NOISE,
    HostsRequest,
    RawResponse,
)
from app.features.fleet.ssh.command import remote_line
from backends.input_file import read_input

_PIECE = 1 << 20
"""Bytes that are given to an ssh at once: ClusterShell copies what is left of them with every write."""

_PARENT_S = 1.0
"""Seconds between two looks whether somebody still reads."""


class HostTask(EventHandler):  # type: ignore[misc]  # ClusterShell tells no types
    """One host: what it gives, as far as it is kept."""

    def __init__(self, host: str, content: bytes = b"") -> None:
        """`content`: what it gets on its standard input."""
        self._host = host
        self._content, self._sent = content, 0
        self._out, self._err = bytearray(), bytearray()
        self._lines = 0
        self._begun = self._endless = False
        self._status: int | None = None

    def took(self, client: _Client, stream: str, chunk: bytes) -> None:
        """A piece of output; more than anybody reads ends the host."""
        if stream != client.worker.SNAME_STDOUT:
            self._err = (self._err + chunk)[-LAST_WORDS:]
            return
        self._out += chunk
        self._lines += chunk.count(b"\n")
        self._begun = self._begun or self._out.startswith(b"{") or b"\n{" in self._out
        if len(self._out) > (BYTES if self._begun else NOISE) or self._lines > LINES:
            self._endless = True
            del self._out[LAST_WORDS:]
            client.abort()

    def piece(self) -> tuple[bytes, bool]:
        """What it gets next on its standard input, and whether that is the last of it."""
        begin, self._sent = self._sent, self._sent + _PIECE
        return self._content[begin : self._sent], self._sent >= len(self._content)

    def ev_hup(self, worker: Any, node: str, rc: int) -> None:
        """Ssh has ended by itself."""
        self._status = rc

    def ev_close(self, worker: Any, timedout: bool) -> None:
        """It is over, in whatever way."""
        answer = RawResponse(
            host=self._host,
            status=None if timedout or self._endless else self._status,
            out=self._out.decode("utf-8", "replace"),
            err=self._err.decode("utf-8", "replace"),
            late=timedout,
            endless=self._endless,
        )
        self._out.clear()
        sys.stdout.write(f"{answer.line()}\n")
        sys.stdout.flush()


class _Client(SshClient):  # type: ignore[misc]
    """An ssh whose output is taken as it comes: the lines of ClusterShell's own would be kept however long.

    What it gets is handed over when there is room for it, or a file would be in memory once for every host.
    """

    def _handle_read(self, sname: str) -> None:
        self.worker.eh.took(self, sname, self._read(sname))

    def _handle_write(self, sname: str) -> None:
        stream = self.streams[sname]
        if not stream.wbuf and not stream.eof:
            stream.wbuf, stream.eof = self.worker.eh.piece()
        super()._handle_write(sname)


class _Worker(WorkerSsh):  # type: ignore[misc]
    """Such an ssh to one host."""

    SHELL_CLASS = _Client


class _Parent(EventHandler):  # type: ignore[misc]
    """Ends everything when nobody reads any more."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def ev_timer(self, timer: Any) -> None:
        """Look."""
        if os.getppid() != self._parent:
            end_all()


def end_all(*_: object) -> None:
    """End every ssh and this process: all of one process group, which this one leads."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def settle(task: Task, options: Sequence[str]) -> None:
    """How it asks: directly, so many at once, with our options, which count before those of ~/.ssh/config."""
    task.set_default("auto_tree", False)
    task.set_info("fanout", FANOUT)
    task.set_info("grooming_delay", 0)
    task.set_info("connect_timeout", CONNECT_S)
    task.set_info("debug", False)
    task.set_info("ssh_options", " ".join(f"-o {option}" for option in options))


def main() -> None:
    """Do what the first word says."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_all)
    order = HostsRequest.of(sys.argv[1])
    task = task_self()
    settle(task, order.options)
    content = read_input(order.send, LARGEST) if order.send else b""
    task.timer(_PARENT_S, _Parent(), interval=_PARENT_S, autoclose=True)
    command = remote_line(order.words)
    for host in order.hosts:
        worker = _Worker(host, handler=HostTask(host, content), timeout=order.seconds, command=command, stderr=True)
        task.schedule(worker)
    task.resume()


if __name__ == "__main__":
    main()
