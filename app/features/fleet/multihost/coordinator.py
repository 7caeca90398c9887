"""Coordinator: starts a run on many hosts at the same time, renews the hosts' leases, and drops hosts that are gone."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field

from app.core.session.multihost_names import LEASE_S
from app.core.session.results import DIRECTIONS
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
"""Maximum number of connections that are being opened at the same time, because each needs an ssh handshake."""

_ECHOES = 64
"""Number of pings per host from which its clock offset is computed: about the last minute, because clocks drift."""

_BURST = 8
"""Number of pings in quick succession just before the start, for a precise clock offset."""

_NOISE_BYTES = 64 << 10
"""Maximum bytes that a login may print before the run's first message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHostTimeouts:
    """Timeouts in seconds."""

    hello: float = 60.0
    """Time for a host to send its first message."""
    silence: float = 10.0
    """Time without a message after which a host counts as lost. Each host is pinged every `ping` seconds."""
    ping: float = 1.0
    """Time between two pings, which renew the lease."""
    burst: float = 0.1
    """Time between two of the `_BURST` pings just before the start."""
    beyond: float = 120.0
    """Time by which a run may exceed its maximum duration before its host counts as lost."""
    farewell: float = 10.0
    """Time to wait for the last messages after the stop command."""


_TIMEOUTS = MultiHostTimeouts()


@dataclass(slots=True, kw_only=True)
class HostSession:
    """State of one host during the run."""

    host: str
    """Name that the user gave."""
    hello: HelloMessage | None = None
    """First message of the host; None until it arrives."""
    ready: ReadyMessage | None = None
    """Message that the host is ready, which describes its run; None until it arrives."""
    doing: str = "connecting"
    """What the host is doing, as a short string for display, such as `connecting` or `ready`."""
    planned: float | None = None
    """Planned start time by this machine's clock; None until the start command is sent."""
    spans: list[Span] = field(default_factory=list)
    """Times in which the host measured. Intervals without a gap between them form one span."""
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Last interval of the host: its arrival time by this machine's clock, its IOPS, and its bytes per second."""
    started: bool = False
    """Whether the host reported that it is starting fio."""
    result: ResultMessage | None = None
    """Result of the run on the host; None until the run is over."""
    end: EndMessage | None = None
    """Last message of the host; None until it arrives."""
    lost: str = ""
    """Why the host was dropped, as a clause; "" while it is connected and after a proper end."""
    over: bool = False
    """Whether nothing more is read from the host, because it sent its last message or was dropped."""
    ping_replies: deque[PingReply] = field(default_factory=lambda: deque(maxlen=_ECHOES))
    """Latest answers of the host to pings."""
    line: HostConnection | None = None
    """Connection to the host; None if there is none."""
    go: float | None = None
    """Start time by the host's wall clock, as sent with the start command; None until then."""
    account: HostAccount = field(default_factory=lambda: HostAccount(LEASE_S))
    """Checks the consistency of the host's messages."""

    @property
    def offset(self) -> ClockOffset | None:
        """Return the difference between the host's clocks and this machine's clock; None if no ping was answered."""
        return offset_of(self.ping_replies)

    @property
    def is_complete(self) -> bool:
        """Return whether the host measured to the end of the run."""
        return self.result is not None and self.result.status == "ok" and not self.lost

    @property
    def measuring_span(self) -> Span | None:
        """Return when the host began and ended measuring; None if it has not measured."""
        return (self.spans[0][0], self.spans[-1][1]) if self.spans else None


class Coordinator:
    """Controls one run on many hosts."""

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

        `lease_s`: seconds without a message after which each host stops its run. None: each host reports its own value.
        """
        self.peers = tuple(HostSession(host=host, account=HostAccount(lease_s or LEASE_S)) for host in hosts)
        """The state of each host, in the order of `hosts`."""
        self.stopped = False
        """Whether the stop command was sent to all hosts."""
        self.first_start: float | None = None
        """Planned start of the first host, by this machine's clock; None until it is planned."""
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
        """Run the job on all hosts; the outcomes are in `peers`. Raises StorageError if results cannot be saved."""
        tasks = [asyncio.create_task(self._serve(peer), name=peer.host) for peer in self.peers]
        helpers = [asyncio.create_task(self._ping_forever()), asyncio.create_task(self._begin())]
        stop = asyncio.create_task(self._stop.wait(), name="stop")
        try:
            while not stop.done() and (left := {task for task in tasks if not task.done()}):
                await asyncio.wait({*left, stop, *helpers[1:]}, return_when=asyncio.FIRST_COMPLETED)
                self._raise_failed([*tasks, *helpers])
                helpers = [task for task in helpers if not task.done()]
            if stop.done():
                for task, peer in zip(tasks, self.peers, strict=True):
                    if peer.hello is None:
                        task.cancel()  # no connection exists yet over which the stop command could be sent
                await asyncio.wait(tasks, timeout=self._timeouts.farewell)
        finally:
            remaining = {*tasks, *helpers, stop}
            for unfinished in remaining:
                unfinished.cancel()
            await asyncio.wait(remaining)
        self._raise_failed(tasks)
        for peer in self.peers:
            if peer.end is None and not peer.lost:
                self._drop(peer, "it did not confirm the stop")

    def stop(self) -> None:
        """Send all hosts the stop command. `run` still receives their last messages, for at most `farewell` seconds."""
        self.stopped = True
        self._stop.set()
        self._send_all("bye")

    def pending_hosts(self) -> tuple[str, ...]:
        """Return the hosts that are not ready yet, except those whose session is over."""
        return tuple(peer.host for peer in self.peers if not peer.over and peer.ready is None)

    # -- commands to all hosts: pings and the start --------------------------------------------------------------------

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
        """Return an id that is unique to this run, so that an answer to a ping of another run is detected."""
        return f"{self._mark}-{number}"

    def _send_all(self, word: str) -> None:
        for peer in self.peers:
            if peer.line is not None and peer.hello is not None and not peer.over:
                peer.line.say(word)

    async def _begin(self) -> None:
        """Wait until each host is ready or gone, measure the clock offsets, and send each ready host its start time."""
        while self.pending_hosts():
            self._changed.clear()
            await self._changed.wait()
        self._leave_out_shared()
        for _ in range(_BURST):
            self._ping_all()
            await asyncio.sleep(self._timeouts.burst)
        if self.stopped:
            return
        ready = [peer for peer in self.peers if not peer.over and peer.ready is not None and peer.offset is not None]
        trips = [peer.ping_replies[-1].round_trip for peer in ready]
        moments = start_moments(self._clock(), trips, len(ready), self._stagger)
        self.first_start = min(moments, default=None)
        for peer, moment in zip(ready, moments, strict=True):
            assert peer.offset is not None
            assert peer.line is not None
            peer.planned = moment
            start = f"{peer.offset.to_host_wall_time(moment):.6f}"
            peer.go = float(start)
            peer.line.say(f"go {start}")

    def _leave_out_shared(self) -> None:
        """Drop all hosts that share a scratch file with another host.

        Otherwise, the same storage would be counted twice, and the first host to finish would remove the file.
        """
        by_file: dict[str, list[HostSession]] = {}
        for peer in self.peers:
            for file in frozenset(peer.ready.shared) if peer.ready is not None and not peer.over else ():
                by_file.setdefault(file, []).append(peer)
        for file, peers in by_file.items():
            if len(peers) < 2:
                continue
            for peer in peers:
                if not peer.lost:
                    other = next(session.host for session in peers if session is not peer)
                    self._drop(peer, f"it uses the same scratch file as {other} on a shared filesystem ({file})")
                    if peer.line is not None:
                        peer.line.say("bye")

    # -- connection and messages of one host ---------------------------------------------------------------------------

    async def _serve(self, peer: HostSession) -> None:
        try:
            await self._connecting.acquire()
            inside = True
            try:
                async with self._transport.line(peer.host) as line:
                    peer.line = line
                    rest = await self._read_hello(peer, line)
                    self._connecting.release()
                    inside = False
                    await self._read_messages(peer, line, rest)
            finally:
                if inside:
                    self._connecting.release()
        except StorageError:
            raise
        except RaidbenchError as error:
            self._drop(peer, error.message.rstrip("."))
        except TimeoutError:
            limit = self._timeouts.hello if peer.hello is None else self._timeouts.silence
            self._drop(peer, f"no message for {limit:g} s")
        finally:
            peer.over = True
            peer.line = None
            self._changed.set()

    async def _read_hello(self, peer: HostSession, line: HostConnection) -> bytes:
        """Read until the first message, and return the bytes after it. Login output before the message is skipped."""
        buffer, noise = b"", 0
        async with asyncio.timeout(self._timeouts.hello):
            while noise < _NOISE_BYTES:
                chunk = await line.read()
                if not chunk:
                    await self._handle_end(peer, line)
                    return b""
                buffer += chunk
                noise += len(chunk)
                while b"\n" in buffer:
                    first, buffer = buffer.split(b"\n", 1)
                    if (message := _parse_greeting(first)) is not None:
                        self._take(peer, message)
                        return buffer
        raise ProtocolViolationError("Unexpected output: not a raidbench run")

    async def _read_messages(self, peer: HostSession, line: HostConnection, rest: bytes) -> None:
        limiter = RateLimiter()
        buffer = rest
        while not peer.over:
            *lines, buffer = buffer.split(b"\n")
            for line_bytes in lines:
                limiter.take(len(line_bytes), self._clock())
                assert peer.hello is not None
                self._take(peer, parse_message(line_bytes, peer.hello.host))
            if len(buffer) > LINE_BYTES:
                raise ProtocolViolationError("Protocol error: line too long")
            if peer.end is not None:
                peer.over = True
                return
            self._require_in_time(peer)
            async with asyncio.timeout(self._timeouts.silence):
                chunk = await line.read()
            if not chunk:
                await self._handle_end(peer, line)
                return
            buffer += chunk

    def _require_in_time(self, peer: HostSession) -> None:
        if peer.planned is None or peer.ready is None:
            return
        if self._clock() > peer.planned + peer.ready.seconds + self._timeouts.beyond:
            raise ProtocolViolationError("The run did not end in time")

    async def _handle_end(self, peer: HostSession, line: HostConnection) -> None:
        """Drop a host whose connection closed before its last message arrived."""
        self._drop(peer, lost_reason(await line.status(), await line.complaints()))
        peer.over = True

    def _drop(self, peer: HostSession, why: str) -> None:
        peer.lost = why[:1].lower() + why[1:]
        peer.doing = "lost"
        peer.over = True
        self._say(f"{peer.host}: {peer.lost}.")

    def _take(self, peer: HostSession, message: HostMessage) -> None:
        if peer.lost:
            return  # ignore later messages, so that the first reason for the loss is kept
        now = self._clock()
        peer.account.require_open()
        match message:
            case HelloMessage():
                self._accept_hello(peer, message)
            case PongMessage(id=name):
                number, sent = self._sent.get(name, (0, 0.0))
                if not number:
                    raise ProtocolViolationError("Protocol error: response to a ping that was not sent")
                peer.account.pong(number, message.monotonic)
                peer.ping_replies.append(
                    PingReply(sent=sent, received=now, monotonic=message.monotonic, wall=message.wall)
                )
            case PhaseMessage(phase=phase):
                peer.doing = phase
            case ReadyMessage():
                if peer.ready is not None:
                    raise ProtocolViolationError("Protocol error: two ready messages")
                peer.ready, peer.doing = message, "ready"
                self._changed.set()
            case StartedMessage():
                if peer.planned is None or peer.started:
                    raise ProtocolViolationError(
                        "Protocol error: two start messages"
                        if peer.started
                        else "Protocol error: the run started before the start command"
                    )
                peer.doing, peer.started = "starting", True
            case IntervalMessage():
                self._tick(peer, message, now)
            case ResultMessage():
                self._close(peer, message)
            case EndMessage(message=sentence):
                peer.account.end(message)
                peer.end, peer.doing = message, "done"
                if sentence and not peer.is_complete and not self.stopped:
                    self._say(f"{peer.host}: {sentence}")

    def _accept_hello(self, peer: HostSession, hello: HelloMessage) -> None:
        if peer.hello is not None:
            raise ProtocolViolationError("Protocol error: two hello messages")
        if hello.lease is not None:
            if self._lease is not None and hello.lease != self._lease:
                raise ProtocolViolationError(
                    f"Protocol error: a lease of {self._lease:g} s was granted, but {hello.lease:g} s are reported"
                )
            peer.account.lease_s = hello.lease
        peer.hello, peer.doing = hello, "checking"
        self._folder.add_name(hello.host)
        self._warn_of_same_kernel(peer)

    def _close(self, peer: HostSession, result: ResultMessage) -> None:
        self._require_own(peer, result.go)
        if result.status == "ok" and peer.planned is None:
            raise ProtocolViolationError("Protocol error: the host reported the end of the run before its start")
        peer.account.result(result, {} if peer.ready is None else peer.ready.job)
        peer.result = result

    def _tick(self, peer: HostSession, tick: IntervalMessage, now: float) -> None:
        offset = peer.offset
        if offset is None or peer.planned is None:
            raise ProtocolViolationError("Protocol error: results before the start")
        end = offset.to_controller_time(tick.monotonic)
        if not peer.planned - 1.0 <= end <= now + offset.error_s + 1.0:
            raise ProtocolViolationError("Protocol error: timestamp out of range")
        self._require_own(peer, tick.go)
        peer.account.tick(tick)
        ios = sum(side.ios for name, side in tick.sides.items() if name in DIRECTIONS)
        size = sum(side.bytes for side in tick.sides.values())
        peer.rate = (now, ios / tick.seconds, size / tick.seconds)
        if not tick.measuring:
            return
        span = (end - tick.seconds, end)
        self._folder.add(peer.host, span, tick)
        if peer.spans and span[0] - peer.spans[-1][1] < max(1.0, tick.seconds):
            peer.spans[-1] = (peer.spans[-1][0], end)
        else:
            peer.spans.append(span)

    @staticmethod
    def _require_own(peer: HostSession, go: float | None) -> None:
        """Raise ProtocolViolationError if `go`, the start time in a message, is not the start time of this run."""
        if go is not None and go != peer.go:
            raise ProtocolViolationError("Protocol error: message of another run")

    def _warn_of_same_kernel(self, peer: HostSession) -> None:
        assert peer.hello is not None
        for other in self.peers:
            if other is not peer and other.hello is not None and other.hello.boot == peer.hello.boot != "":
                self._say(f"{peer.host} and {other.host} run on the same kernel. Shared disks and CPUs count twice.")
                return


def _parse_greeting(line: bytes) -> HelloMessage | None:
    """Return the first message of a run, or None if the line is something else. Raises ProtocolMismatchError."""
    try:
        message = parse_message(line)
    except ProtocolMismatchError:
        raise
    except ProtocolViolationError:
        return None
    return message if isinstance(message, HelloMessage) else None
