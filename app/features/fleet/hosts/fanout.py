"""Program that queries many hosts over OpenSSH with ClusterShell, and prints one JSON line per host.

It runs as its own process, so that ending its process group ends every ssh. ClusterShell's tree mode unpickles objects
from intermediate hosts (ClusterShell 1.10, Communication.py), so it is never used: each host is queried directly.
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
"""Maximum bytes passed to an ssh at once, because with every write ClusterShell copies all remaining bytes."""

_PARENT_S = 1.0
"""Seconds between two checks whether the parent still exists."""


class HostTask(EventHandler):  # type: ignore[misc]  # ClusterShell has no type annotations
    """Collects the output of one host, and prints its result."""

    def __init__(self, host: str, content: bytes = b"") -> None:
        """`content`: bytes for the standard input of the remote command."""
        self._host = host
        self._content, self._sent = content, 0
        self._out, self._err = bytearray(), bytearray()
        self._lines = 0
        self._begun = self._endless = False
        self._status: int | None = None

    def collect(self, client: _Client, stream: str, chunk: bytes) -> None:
        """Collect a chunk of output. Ends the connection when the output is too long."""
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

    def next_input(self) -> tuple[bytes, bool]:
        """Return the next bytes for the standard input of the remote command, and whether they are the last."""
        begin, self._sent = self._sent, self._sent + _PIECE
        return self._content[begin : self._sent], self._sent >= len(self._content)

    def ev_hup(self, worker: Any, node: str, rc: int) -> None:
        """Record the exit status of an ssh that ended on its own."""
        self._status = rc

    def ev_close(self, worker: Any, timedout: bool) -> None:
        """Print the result of the host, also if its ssh failed or was ended."""
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
    """An ssh client that passes on output as it arrives. ClusterShell's own client keeps lines of any length in memory.

    Input is handed over only when all earlier input was written. Otherwise each client would keep its own copy of all
    of the input in memory.
    """

    def _handle_read(self, sname: str) -> None:
        self.worker.eh.collect(self, sname, self._read(sname))

    def _handle_write(self, sname: str) -> None:
        stream = self.streams[sname]
        if not stream.wbuf and not stream.eof:
            stream.wbuf, stream.eof = self.worker.eh.next_input()
        super()._handle_write(sname)


class _Worker(WorkerSsh):  # type: ignore[misc]
    """A ClusterShell worker that runs ssh to one host with `_Client`."""

    SHELL_CLASS = _Client


class _Parent(EventHandler):  # type: ignore[misc]
    """Ends every ssh and this process when the parent process is gone."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def ev_timer(self, timer: Any) -> None:
        """End everything if the parent process is gone."""
        if os.getppid() != self._parent:
            end_all()


def end_all(*_: object) -> None:
    """End every ssh and this process. All are in one process group, which this process leads."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def configure(task: Task, options: Sequence[str]) -> None:
    """Configure ClusterShell: direct connections, a limited fan-out, and ssh options that override ~/.ssh/config."""
    task.set_default("auto_tree", False)
    task.set_info("fanout", FANOUT)
    task.set_info("grooming_delay", 0)
    task.set_info("connect_timeout", CONNECT_S)
    task.set_info("debug", False)
    task.set_info("ssh_options", " ".join(f"-o {option}" for option in options))


def main() -> None:
    """Query all hosts of the request, which is the first argument of the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_all)
    order = HostsRequest.of(sys.argv[1])
    task = task_self()
    configure(task, order.options)
    content = read_input(order.send, LARGEST) if order.send else b""
    task.timer(_PARENT_S, _Parent(), interval=_PARENT_S, autoclose=True)
    command = remote_line(order.words)
    for host in order.hosts:
        worker = _Worker(host, handler=HostTask(host, content), timeout=order.seconds, command=command, stderr=True)
        task.schedule(worker)
    task.resume()


if __name__ == "__main__":
    main()
