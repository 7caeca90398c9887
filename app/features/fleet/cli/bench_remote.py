"""A run that another host starts and stops through standard input. It reports its progress as JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from json.encoder import JSONEncoder
from threading import Thread
from typing import Any

from app.cli.exit_status import DONE, INTERRUPTED
from app.cli.output import say
from app.core.benchmark.run_plan import RunPlan
from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import AnyEvent, LiveEvent, RunStarted
from app.core.session.state import Session
from app.core.workbench import Workbench
from app.features.fleet.multihost.protocol import (
    PROTOCOL,
    WORD_BYTES,
    LineKind,
    Ping,
    StartCommand,
    StopCommand,
    parse_command,
    refused_start,
    tick,
)
from app.features.fleet.multihost.shared_files import shared_places
from backends.errors import InvalidValueError, RaidbenchError, RefusedError
from backends.host import Host
from backends.version import program_version

_ENCODED = JSONEncoder(allow_nan=False, separators=(",", ":")).encode

_BACKLOG = 4 << 20
"""Number of bytes not yet written to the output above which its reader, the controlling host, counts as gone."""

_LOOK = 0.2
"""Seconds between two reads of the wall clock, which may be changed while the run waits for its start."""


class LineWriter:
    """Writes lines in its own thread, so that the run continues if the reader stops reading."""

    def __init__(self, descriptor: int, gone: Callable[[], None]) -> None:
        """`gone`: called when the reader is gone, from the writing thread or from `put`."""
        self._descriptor = descriptor
        self._gone = gone
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._closed = False
        self._thread = Thread(target=self._write, name="lines", daemon=True)
        self._thread.start()

    def put(self, body: dict[str, Any]) -> None:
        """Queue `body` as a line of JSON; do nothing if the reader is gone."""
        if self._closed:
            return
        line = _ENCODED(body).encode() + b"\n"
        self._waiting += len(line)
        if self._waiting > _BACKLOG:
            self._closed = True
            self._gone()
            return
        self._lines.put(line)

    def close(self, seconds: float) -> None:
        """Wait until everything is written, but no longer than `seconds`."""
        self._lines.put(None)
        self._thread.join(seconds)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            self._waiting -= len(line)
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                self._closed = True
                self._gone()
                return


class RemoteRunControl:
    """Remote control of a run over standard input.

    The run stops on command, when its lease expires, when standard input ends, or when nobody reads its output.
    """

    def __init__(
        self,
        lease_s: float,
        stop: Callable[[], None],
        *,
        host: str,
        boot: str,
        ends: tuple[int, int],
        machine: Host | None = None,
    ) -> None:
        """`stop`: called once, from the event loop, to end the run. `boot`: the boot id for the first message.

        `ends`: descriptors of the input and the output. `machine`: the host whose mounts are read to detect shared
        scratch files.
        """
        self.why = ""
        """Why the run was ended: `bye`, `silence`, `input ended`, `word` (invalid command) or `nobody reads`.

        "" until then.
        """
        self.sentence = ""
        """Why the run was ended, as a sentence for the user; "" until then."""
        self.begun = False
        """Whether the run is saved on disk, so that it must be ended properly."""
        self._input = ends[0]
        self._lease = lease_s
        self._stop = stop
        self._heard = time.monotonic()
        self._buffer = b""
        self._ready = False
        self._at: float | None = None
        self._timed = False
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._writer = LineWriter(ends[1], self._reader_gone)
        self._host, self._boot, self._machine = host, boot, machine

    def send(self, kind: LineKind, **more: Any) -> None:
        """Send a message of this kind, with the fields `more`, to the controlling host."""
        self._writer.put({"kind": kind.value, **more})

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Read commands from standard input while the `with` block runs.

        Raises InvalidValueError if standard input is a file.
        """
        try:
            self._loop.add_reader(self._input, self._read)
        except OSError:
            raise InvalidValueError(
                "--go-on-stdin reads commands from standard input, but standard input is a file.",
                hint="Run `bench --hosts` on another host. It starts this command over SSH.",
            ) from None
        watch = asyncio.create_task(self._watch(), name="lease")
        self.send(
            LineKind.HELLO,
            protocol=PROTOCOL,
            host=self._host,
            boot=self._boot,
            version=program_version(),
            lease=self._lease,
            **_clocks(),
        )
        try:
            yield
        finally:
            self._loop.remove_reader(self._input)
            watch.cancel()

    def send_result(self, run: dict[str, Any]) -> None:
        """Send the results of the finished run, together with the start time from the `go` command."""
        self.send(LineKind.RESULT, run=run, go=self._at, mono=round(time.monotonic(), 6))

    def close(self, why: str, sentence: str, hint: str = "") -> None:
        """Send the last message, which says why the run is over. Wait until it is written, at most for the lease."""
        self.send(LineKind.END, why=self.why or why, message=self.sentence or sentence, hint="" if self.why else hint)
        self._writer.close(self._lease)

    def require_harmless(self, ready: RunPlan) -> None:
        """Raise RefusedError for a run that would overwrite a device."""
        if ready.destructive:
            raise RefusedError(
                "A multi-host run cannot write to a device: another host may use the same array.",
                hint="Use a job that only reads, or a scratch file in a folder.",
            )

    async def wait_for_start(self, ready: RunPlan) -> None:
        """Report that the run is ready, and wait for its start time or for a reason to end it."""
        self._ready = True
        files = [site.scratch.path for site in ready.sites if site.scratch is not None]
        shared = () if self._machine is None else await shared_places(self._machine, files)
        job = {key: text for key, text in ready.job.texts().items() if text}
        seconds = ready.job.ramp + ready.job.runtime + (ready.request.steady.cap_s if ready.request.steady else 0)
        fields = {"target": ready.name, "job": job, "seconds": seconds, "fio": ready.fio_version, "shared": shared}
        self.send(LineKind.READY, host=self._host, **fields)
        await self._wake.wait()
        while not self.why and self._at is not None and (left := self._at - time.time()) > 0:
            await asyncio.sleep(min(left, _LOOK))
        if not self.why and self._at is not None:
            self.send(LineKind.STARTED, late=round(time.time() - self._at, 6), **_clocks())

    def forward(self, session: Session, event: AnyEvent) -> None:
        """Send an event of the workbench to the controlling host if it is an interval or a change of phase."""
        self.begun = self.begun or isinstance(event, LiveEvent | RunStarted)
        match event.progress if isinstance(event, LiveEvent) else None:
            case SampleTaken(sample=sample, read_bins=read, write_bins=write, trim_bins=trim, sync_bins=sync):
                self._timed = self._timed or bool(read or write or trim)
                now, bins = time.monotonic(), {"read": read, "write": write, "trim": trim, "sync": sync}
                self._writer.put(tick(sample, bins, monotonic=now, go=self._at, timed=self._timed))
            case PhaseChanged(phase=phase, message=message):
                self.send(LineKind.PHASE, phase=phase.value, message=message)
            case _:
                pass

    def _read(self) -> None:
        try:
            chunk = os.read(self._input, 4096)
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._input)
            self._end("input ended", "Stopped: the controlling process closed standard input.")
            return
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        try:
            for line in (*lines, self._buffer):
                if len(line) > WORD_BYTES:
                    raise InvalidValueError(f"A command has more than {WORD_BYTES} bytes.")
            for line in lines:
                self._handle_line(line)
        except InvalidValueError as error:
            self._loop.remove_reader(self._input)
            self._end("word", error.message)

    def _handle_line(self, line: bytes) -> None:
        match parse_command(line):
            case Ping(id=name):
                self._heard = time.monotonic()
                self.send(LineKind.PONG, id=name, **_clocks())
            case StartCommand(at=at):
                self._heard = time.monotonic()
                if not self._ready or self._at is not None:
                    raise InvalidValueError("`go` is only valid once, after `ready`.")
                if reason := refused_start(at, time.time()):
                    raise InvalidValueError(reason)
                self._at = at
                self._wake.set()
            case StopCommand():
                self._end("bye", "Stopped by the controlling host.")

    async def _watch(self) -> None:
        while (left := self._heard + self._lease - time.monotonic()) > 0:
            await asyncio.sleep(left)
        self._end("silence", f"Stopped: no message from the controlling host for {self._lease:g} s.")

    def _reader_gone(self) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended, so the run has ended too
            self._loop.call_soon_threadsafe(self._end, "nobody reads", "Stopped: standard output is no longer read.")

    def _end(self, why: str, sentence: str) -> None:
        if self.why:
            return
        self.why, self.sentence = why, sentence
        self._wake.set()
        self._stop()


async def _boot(host: Host) -> str:
    """Return an id that only processes on the same running kernel share; "" if it is unknown."""
    try:
        content = await host.read("/proc/sys/kernel/random/boot_id")
    except RaidbenchError:
        return ""
    return sha256(f"raidbench {content.strip()}".encode()).hexdigest()[:16] if content else ""


def _clocks() -> dict[str, float]:
    return {"mono": round(time.monotonic(), 6), "wall": round(time.time(), 6)}


async def run_remote_controlled(
    bench: Workbench, lease_s: float, work: Callable[[RemoteRunControl], Awaitable[int]]
) -> int:
    """Run `work` under remote control, report why it ended, and return the exit status.

    Raises whatever `work` raises.
    """
    task = asyncio.current_task()
    assert task is not None

    def stop() -> None:
        if bench.jobs.running or control.begun:
            bench.jobs.stop()
        else:  # nothing was created yet that `stop` would have to remove
            task.cancel()

    boot = await _boot(bench.host)
    ends = (sys.stdin.fileno(), sys.stdout.fileno())
    control = RemoteRunControl(lease_s, stop, host=bench.host.name, boot=boot, ends=ends, machine=bench.host)
    forget = bench.subscribe(control.forward)
    try:
        with control.listen():
            status = await work(control)
        control.close("done" if status == DONE else "failed", "")
    except asyncio.CancelledError:
        control.close("signal", "Stopped by a signal.")
        if not control.why:
            raise
        task.uncancel()
        status = INTERRUPTED
    except RaidbenchError as error:
        control.close("refused" if isinstance(error, RefusedError) else "failed", error.message, error.hint)
        raise
    finally:
        forget()
    if control.sentence:
        say(control.sentence)
    return INTERRUPTED if control.why else status
