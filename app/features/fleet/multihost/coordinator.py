"""Coordinator: starts a run on many hosts at the same moment, keeps it alive, and drops hosts that are gone."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field

from app.core.session.multihost_names import LEASE_S
from app.features.fleet.multihost.account import HostAccount
from app.features.fleet.multihost.clock_sync import ClockOffset, PingReply, offset_of, start_moments
from app.features.fleet.multihost.common_interval import Span
from app.features.fleet.multihost.messages import (
    LINE_BYTES,
    EndMessage,
    HelloMessage,
    HostMessage,
    IntervalMessage,
    PhaseMessage,
    PongMessage,
    ProtocolMismatchError,
    ProtocolViolationError,
    RateLimiter,
    ReadyMessage,
    ResultMessage,
    StartedMessage,
    parse_message,
)
from app.features.fleet.multihost.record import JointFolder
from app.features.fleet.multihost.transport import HostConnection, Transport, lost_reason
from backends.errors import RaidbenchError, StorageError
from backends.values import dataclass

_AT_ONCE = 16
"""Hosts that are connected to at the same time: each costs ssh a handshake."""

_ECHOES = 64
"""Pings per host that determine its clock offset: those of the last minute, because clocks drift."""

_BURST = 8
"""Pings before the start that determine the clock offset."""

_NOISE_BYTES = 64 << 10
"""Maximum output of a login before the run's first message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHostTimeouts:
    """Timeouts in seconds."""

    hello: float = 60.0
    """Time for a host to send its first message."""
    silence: float = 10.0
    """Time without a message, although it is pinged every second, after which a host is lost."""
    ping: float = 1.0
    """Time between two pings, which renew the lease."""
    burst: float = 0.1
    """Time between two pings before the start."""
    beyond: float = 120.0
    """Time after the maximum duration of a run after which its host is lost."""
    farewell: float = 10.0
    """Time for the last messages after the hosts were told to stop."""


_TIMEOUTS = MultiHostTimeouts()


@dataclass(slots=True, kw_only=True)
class HostSession:
    """State of one host."""

    host: str
    """Name that the user gave."""
    hello: HelloMessage | None = None
    """Its first message; None before it."""
    ready: ReadyMessage | None = None
    """Description of its run; None before it is ready."""
    doing: str = "connecting"
    """Activity, for display."""
    planned: float | None = None
    """Time of its start command, by our clock."""
    spans: list[Span] = field(default_factory=list)
    """Times in which it measured; intervals without a gap are one span."""
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Time of its last interval, with its IOPS and bytes per second."""
    started: bool = False
    """Whether it reported that fio is being started."""
    result: ResultMessage | None = None
    """Its result, once the run is over."""
    end: EndMessage | None = None
    """Its last message."""
    lost: str = ""
    """Why the connection was lost, as a clause; "" while connected, and after a proper end."""
    over: bool = False
    """Whether no more messages follow."""
    ping_replies: deque[PingReply] = field(default_factory=lambda: deque(maxlen=_ECHOES))
    """Its latest ping replies."""
    line: HostConnection | None = None
    """Its connection."""
    go: float | None = None
    """Start time by its wall clock, as sent to it; None before."""
    account: HostAccount = field(default_factory=lambda: HostAccount(LEASE_S))
    """Consistency checks of its messages."""

    @property
    def offset(self) -> ClockOffset | None:
        """Return the offset of its clocks from ours."""
        return offset_of(self.ping_replies)

    @property
    def is_complete(self) -> bool:
        """Return whether it measured to the end."""
        return self.result is not None and self.result.status == "ok" and not self.lost

    @property
    def measuring_span(self) -> Span | None:
        """Return begin and end of its measuring, or None."""
        return (self.spans[0][0], self.spans[-1][1]) if self.spans else None


class Coordinator:
    """One run on many hosts."""

    def __init__(
        self,
        transport: Transport,
        folder: JointFolder,
        hosts: Sequence[str],
        *,
        stagger_s: float = 0.0,
        timeouts: MultiHostTimeouts = _TIMEOUTS,
        say: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], float] = time.monotonic,
        lease_s: float | None = None,
    ) -> None:
        """`say`: called with a sentence for each event of a host.

        `lease_s`: seconds of silence that each host is granted; None if each host reports its own.
        """
        self.seats = tuple(HostSession(host=host, account=HostAccount(lease_s or LEASE_S)) for host in hosts)
        """The hosts, in order."""
        self.stopped = False
        """Whether all hosts were told to stop."""
        self.first_start: float | None = None
        """Planned start of the first host, by our clock; None before it is known."""
        self._transport, self._folder = transport, folder
        self._stagger = stagger_s
        self._timeouts = timeouts
        self._say = say
        self._clock = clock
        self._sent: dict[str, tuple[int, float]] = {}
        self._pings = 0
        self._lease = lease_s
        self._mark = secrets.token_hex(4)
        self._connecting = asyncio.Semaphore(_AT_ONCE)
        self._changed = asyncio.Event()
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Run on all hosts, with the outcome in `seats`. Raises StorageError if nothing can be saved."""
        tasks = [asyncio.create_task(self._serve(seat), name=seat.host) for seat in self.seats]
        helpers = [asyncio.create_task(self._ping_forever()), asyncio.create_task(self._begin())]
        stop = asyncio.create_task(self._stop.wait(), name="stop")
        try:
            while not stop.done() and (left := {task for task in tasks if not task.done()}):
                await asyncio.wait({*left, stop, *helpers[1:]}, return_when=asyncio.FIRST_COMPLETED)
                self._raise_failed([*tasks, *helpers])
                helpers = [task for task in helpers if not task.done()]
            if stop.done():
                for task, seat in zip(tasks, self.seats, strict=True):
                    if seat.hello is None:
                        task.cancel()  # there is no connection yet to send the command to
                await asyncio.wait(tasks, timeout=self._timeouts.farewell)
        finally:
            remaining = {*tasks, *helpers, stop}
            for unfinished in remaining:
                unfinished.cancel()
            await asyncio.wait(remaining)
        self._raise_failed(tasks)
        for seat in self.seats:
            if seat.end is None and not seat.lost:
                self._drop(seat, "it did not say that it stopped")

    def stop(self) -> None:
        """Tell all hosts to stop. Their last messages are still received for a while."""
        self.stopped = True
        self._stop.set()
        self._send_all("bye")

    def pending_hosts(self) -> tuple[str, ...]:
        """Return the hosts that are neither ready nor gone."""
        return tuple(seat.host for seat in self.seats if not seat.over and seat.ready is None)

    # -- all hosts -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _raise_failed(tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _ping_forever(self) -> None:
        while True:
            self._ping_all()
            await asyncio.sleep(self._timeouts.ping)

    def _ping_all(self) -> None:
        self._pings += 1
        name = self._ping_id(self._pings)
        self._sent[name] = self._pings, self._clock()
        self._sent.pop(self._ping_id(self._pings - 10 * _ECHOES), None)
        self._send_all(f"ping {name}")

    def _ping_id(self, number: int) -> str:
        """Return an id that is unique to this run: answers to pings of other runs are ignored."""
        return f"{self._mark}-{number}"

    def _send_all(self, word: str) -> None:
        for seat in self.seats:
            if seat.line is not None and seat.hello is not None and not seat.over:
                seat.line.say(word)

    async def _begin(self) -> None:
        """Wait until all hosts are ready or gone, measure their clocks, and send each its start time."""
        while self.pending_hosts():
            self._changed.clear()
            await self._changed.wait()
        self._leave_out_shared()
        for _ in range(_BURST):
            self._ping_all()
            await asyncio.sleep(self._timeouts.burst)
        if self.stopped:
            return
        ready = [seat for seat in self.seats if not seat.over and seat.ready is not None and seat.offset is not None]
        trips = [seat.ping_replies[-1].round_trip for seat in ready]
        moments = start_moments(self._clock(), trips, len(ready), self._stagger)
        self.first_start = min(moments, default=None)
        for seat, moment in zip(ready, moments, strict=True):
            assert seat.offset is not None
            assert seat.line is not None
            seat.planned = moment
            start = f"{seat.offset.to_host_wall_time(moment):.6f}"
            seat.go = float(start)
            seat.line.say(f"go {start}")

    def _leave_out_shared(self) -> None:
        """Drop hosts with the same scratch file: it would count twice, and the first to end would remove it."""
        by_file: dict[str, list[HostSession]] = {}
        for seat in self.seats:
            for file in frozenset(seat.ready.shared) if seat.ready is not None and not seat.over else ():
                by_file.setdefault(file, []).append(seat)
        for file, seats in by_file.items():
            if len(seats) < 2:
                continue
            for seat in seats:
                if not seat.lost:
                    other = next(session.host for session in seats if session is not seat)
                    self._drop(seat, f"its scratch file is that of {other}, too, on a filesystem both have ({file})")
                    if seat.line is not None:
                        seat.line.say("bye")

    # -- one host ------------------------------------------------------------------------------------------------------

    async def _serve(self, seat: HostSession) -> None:
        try:
            await self._connecting.acquire()
            inside = True
            try:
                async with self._transport.line(seat.host) as line:
                    seat.line = line
                    rest = await self._read_hello(seat, line)
                    self._connecting.release()
                    inside = False
                    await self._read_messages(seat, line, rest)
            finally:
                if inside:
                    self._connecting.release()
        except StorageError:
            raise
        except RaidbenchError as error:
            self._drop(seat, error.message.rstrip("."))
        except TimeoutError:
            limit = self._timeouts.hello if seat.hello is None else self._timeouts.silence
            self._drop(seat, f"it said nothing for {limit:g} s")
        finally:
            seat.over = True
            seat.line = None
            self._changed.set()

    async def _read_hello(self, seat: HostSession, line: HostConnection) -> bytes:
        """Return the bytes after the first message. Output of the login before it is skipped."""
        buffer, noise = b"", 0
        async with asyncio.timeout(self._timeouts.hello):
            while noise < _NOISE_BYTES:
                chunk = await line.read()
                if not chunk:
                    await self._handle_end(seat, line)
                    return b""
                buffer += chunk
                noise += len(chunk)
                while b"\n" in buffer:
                    first, buffer = buffer.split(b"\n", 1)
                    if (message := _parse_greeting(first)) is not None:
                        self._take(seat, message)
                        return buffer
        raise ProtocolViolationError("It says much, but is no run")

    async def _read_messages(self, seat: HostSession, line: HostConnection, rest: bytes) -> None:
        limiter = RateLimiter()
        buffer = rest
        while not seat.over:
            *lines, buffer = buffer.split(b"\n")
            for line_bytes in lines:
                limiter.take(len(line_bytes), self._clock())
                assert seat.hello is not None
                self._take(seat, parse_message(line_bytes, seat.hello.host))
            if len(buffer) > LINE_BYTES:
                raise ProtocolViolationError("It says a line without end")
            if seat.end is not None:
                seat.over = True
                return
            self._require_in_time(seat)
            async with asyncio.timeout(self._timeouts.silence):
                chunk = await line.read()
            if not chunk:
                await self._handle_end(seat, line)
                return
            buffer += chunk

    def _require_in_time(self, seat: HostSession) -> None:
        if seat.planned is None or seat.ready is None:
            return
        if self._clock() > seat.planned + seat.ready.seconds + self._timeouts.beyond:
            raise ProtocolViolationError("Its run did not end in its time")

    async def _handle_end(self, seat: HostSession, line: HostConnection) -> None:
        """Drop a host whose connection ended before its last message."""
        self._drop(seat, lost_reason(await line.status(), await line.complaints()))
        seat.over = True

    def _drop(self, seat: HostSession, why: str) -> None:
        seat.lost = why[:1].lower() + why[1:]
        seat.doing = "lost"
        seat.over = True
        self._say(f"{seat.host}: {seat.lost}.")

    def _take(self, seat: HostSession, message: HostMessage) -> None:
        if seat.lost:
            return  # later messages are ignored, so that the first reason is kept
        now = self._clock()
        seat.account.require_open()
        match message:
            case HelloMessage():
                self._accept_hello(seat, message)
            case PongMessage(id=name):
                number, sent = self._sent.get(name, (0, 0.0))
                if not number:
                    raise ProtocolViolationError("It answers a ping that was never sent")
                seat.account.pong(number, message.monotonic)
                seat.ping_replies.append(
                    PingReply(sent=sent, received=now, monotonic=message.monotonic, wall=message.wall)
                )
            case PhaseMessage(phase=phase):
                seat.doing = phase
            case ReadyMessage():
                if seat.ready is not None:
                    raise ProtocolViolationError("It says twice that it is ready")
                seat.ready, seat.doing = message, "ready"
                self._changed.set()
            case StartedMessage():
                if seat.planned is None or seat.started:
                    raise ProtocolViolationError(
                        "It starts twice" if seat.started else "It starts before it was told to"
                    )
                seat.doing, seat.started = "starting", True
            case IntervalMessage():
                self._tick(seat, message, now)
            case ResultMessage():
                self._close(seat, message)
            case EndMessage(message=sentence):
                seat.account.end(message)
                seat.end, seat.doing = message, "done"
                if sentence and not seat.is_complete and not self.stopped:
                    self._say(f"{seat.host}: {sentence}")

    def _accept_hello(self, seat: HostSession, hello: HelloMessage) -> None:
        if seat.hello is not None:
            raise ProtocolViolationError("It says twice who it is")
        if hello.lease is not None:
            if self._lease is not None and hello.lease != self._lease:
                raise ProtocolViolationError(
                    f"It was granted a lease of {self._lease:g} s and says that it has {hello.lease:g} s"
                )
            seat.account.lease_s = hello.lease
        seat.hello, seat.doing = hello, "checking"
        self._folder.add_name(hello.host)
        self._warn_of_same_kernel(seat)

    def _close(self, seat: HostSession, result: ResultMessage) -> None:
        self._require_own(seat, result.go)
        if result.status == "ok" and seat.planned is None:
            raise ProtocolViolationError("It ends a run before it was started")
        seat.account.result(result, {} if seat.ready is None else seat.ready.job)
        seat.result = result

    def _tick(self, seat: HostSession, tick: IntervalMessage, now: float) -> None:
        offset = seat.offset
        if offset is None or seat.planned is None:
            raise ProtocolViolationError("It measures before it was started")
        end = offset.to_controller_time(tick.monotonic)
        if not seat.planned - 1.0 <= end <= now + offset.error_s + 1.0:
            raise ProtocolViolationError("It tells of another time than now")
        self._require_own(seat, tick.go)
        seat.account.tick(tick)
        ios = sum(side.ios for side in tick.sides.values())
        size = sum(side.bytes for side in tick.sides.values())
        seat.rate = (now, ios / tick.seconds, size / tick.seconds)
        if not tick.measuring:
            return
        span = (end - tick.seconds, end)
        self._folder.add(seat.host, span, tick)
        if seat.spans and span[0] - seat.spans[-1][1] < max(1.0, tick.seconds):
            seat.spans[-1] = (seat.spans[-1][0], end)
        else:
            seat.spans.append(span)

    @staticmethod
    def _require_own(seat: HostSession, go: float | None) -> None:
        """Raise ProtocolViolationError for a message that belongs to a run with a different start."""
        if go is not None and go != seat.go:
            raise ProtocolViolationError("It tells of another run, with another start")

    def _warn_of_same_kernel(self, seat: HostSession) -> None:
        assert seat.hello is not None
        for other in self.seats:
            if other is not seat and other.hello is not None and other.hello.boot == seat.hello.boot != "":
                self._say(
                    f"{seat.host} and {other.host} run on one kernel: disks and processors that they share count twice."
                )
                return


def _parse_greeting(line: bytes) -> HelloMessage | None:
    """Return the first message of a run, or None for anything else. Raises ProtocolMismatchError."""
    try:
        message = parse_message(line)
    except ProtocolMismatchError:
        raise
    except ProtocolViolationError:
        return None
    return message if isinstance(message, HelloMessage) else None
