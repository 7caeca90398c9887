"""Messages of a host about its run. The host is not trusted: sizes are limited and strings are cleaned. No I/O."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from app.core.fio.histogram import Histogram
from app.core.session.results import SIDES, Phase
from app.features.fleet.multihost.figures import IoCounts
from app.features.fleet.multihost.protocol import PROTOCOL, LineKind
from backends.errors import RaidbenchError
from backends.fio_buckets import LAST_BUCKET, bucket_of, value_of
from backends.text import clean
from backends.values import dataclass

LINE_BYTES = 1 << 20
"""Maximum length of a message in bytes."""

_MOST = 1 << 62
_BUCKETS = frozenset(map(value_of, range(LAST_BUCKET + 1)))
_BINS = 2000
_IOPS_MOST = 1e10
"""Upper limit for the I/Os per second that a host may report; no host reaches it."""

_RATE_MOST = 1e15
"""Upper limit for the bytes per second that a host may report; no host reaches it."""

_JOB_FIELDS = 60


class ProtocolViolationError(RaidbenchError):
    """A host sent an invalid message. Nothing more is read from it."""


class ProtocolMismatchError(ProtocolViolationError):
    """The host runs a raidbench with a different protocol version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelloMessage:
    """First message of a run, which identifies the host."""

    host: str
    """The host's own name for itself."""
    boot: str
    """Id that all processes on one running kernel share; "" if it is unknown."""
    version: str
    """Version of raidbench on the host."""
    lease: float | None = None
    """Seconds without a message to the host after which it stops its run; None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PongMessage:
    """Answer to a ping."""

    id: str
    """Id of the ping."""
    monotonic: float
    """Time of the host's monotonic clock in seconds."""
    wall: float
    """Time of the host's wall clock in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMessage:
    """The run on the host entered another phase."""

    phase: str
    """The new phase, a value of `Phase`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyMessage:
    """The host is ready and waits for the start command."""

    target: str
    """Name of the measured target on the host."""
    job: Mapping[str, str]
    """Parameters of the job, by name."""
    seconds: float
    """Maximum duration of the run in seconds, including the ramp."""
    fio: str
    """Version of fio."""
    shared: tuple[str, ...] = ()
    """Ids of the host's scratch files on shared filesystems. Hosts that report the same id use the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedMessage:
    """The host is starting fio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMessage:
    """Results of one interval of a run."""

    monotonic: float
    """Time of the host's monotonic clock at the end of the interval."""
    seconds: float
    """Length of the interval in seconds."""
    measuring: bool
    """Whether the interval counts as measured. During the ramp it does not."""
    sides: Mapping[str, IoCounts] = field(default_factory=dict)
    """I/O counts by direction, and flushes as `sync`."""
    go: float | None = None
    """Start time of the run to which the interval belongs; None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionTotals:
    """Totals of one direction (read, write, trim, or flushes) over the complete run, as counted by fio."""

    ios: int
    """Number of I/Os."""
    bytes: int
    """Number of bytes."""
    iops: float
    """I/Os per second."""
    rate: float
    """Bytes per second."""
    seconds: float
    """Duration in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultMessage:
    """Result of the run on one host."""

    status: str
    """`ok`, `stopped` or `failed`."""
    reason: str
    """Why the status is not `ok`, as a sentence; "" if it is."""
    run: str
    """Id of the run on the host."""
    session: str
    """Session folder on the host."""
    totals: Mapping[str, DirectionTotals] = field(default_factory=dict)
    """Totals by direction; empty if not reported."""
    monotonic: float | None = None
    """Time of the host's monotonic clock when it sent the result; None if not reported."""
    go: float | None = None
    """Start time of the run to which the result belongs; None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndMessage:
    """Last message of a run."""

    why: str
    """Why the run is over, as a code."""
    message: str
    """Why the run is over, as a sentence; "" after a proper end."""


HostMessage = (
    HelloMessage
    | PongMessage
    | PhaseMessage
    | ReadyMessage
    | StartedMessage
    | IntervalMessage
    | ResultMessage
    | EndMessage
)


def parse_message(line: bytes, host: str = "") -> HostMessage:
    """Return the message that a line contains. Raises ProtocolViolationError if the line is not a valid message.

    `host`: name that the sender gave in its first message; "" for the first message itself.
    """
    try:
        body = json.loads(line, object_pairs_hook=_keys_once)
        kind = LineKind(_text(body, "kind", 20))
        if host and "host" in body and body["host"] != host:
            raise ProtocolViolationError(f"Protocol error: message of another host, {clean(str(body['host']), 60)}.")
        return _read(kind, body)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        shown = clean(line[:200].decode("utf-8", "replace"), 80)
        raise ProtocolViolationError(f"Protocol error: unexpected message: {shown}") from None


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dictionary. Raise ValueError if a key occurs twice, because its value is ambiguous."""
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key twice")
    return body


def _read(kind: LineKind, body: Mapping[str, Any]) -> HostMessage:
    match kind:
        case LineKind.HELLO:
            if body["protocol"] != PROTOCOL:
                version = clean(str(body.get("version")), 40)
                raise ProtocolMismatchError(
                    f"raidbench {version} there uses another protocol version ({clean(str(body['protocol']), 20)},"
                    f" here {PROTOCOL})."
                )
            return HelloMessage(
                host=_text(body, "host", 253),
                boot=_text(body, "boot", 64),
                version=_text(body, "version", 40),
                lease=_optional_number(body, "lease"),
            )
        case LineKind.PONG:
            return PongMessage(id=_text(body, "id", 40), monotonic=_number(body["mono"]), wall=_number(body["wall"]))
        case LineKind.PHASE:
            return PhaseMessage(phase=Phase(body["phase"]).value)
        case LineKind.READY:
            job = body["job"]
            if len(job) > _JOB_FIELDS:
                raise ValueError("fields")
            return ReadyMessage(
                target=_text(body, "target", 1000),
                job={clean(str(key), 40): clean(str(text), 200) for key, text in job.items()},
                seconds=min(_number(body["seconds"]), 30 * 86400.0),
                fio=_text(body, "fio", 40),
                shared=tuple(_shared_files(body.get("shared", []))),
            )
        case LineKind.STARTED:
            return StartedMessage()
        case LineKind.TICK:
            return _tick(body)
        case LineKind.RESULT:
            run = body["run"]
            return ResultMessage(
                status=_text(run, "status", 20),
                reason=_text(run, "reason", 1000),
                run=_text(run, "id", 20),
                session=_text(run, "session", 300),
                totals={name: _totals(run[name]) for name in SIDES if run.get(name) is not None},
                monotonic=_optional_number(body, "mono"),
                go=_optional_number(body, "go"),
            )
        case LineKind.END:
            return EndMessage(why=_text(body, "why", 40), message=_text(body, "message", 1000))


def _tick(body: Mapping[str, Any]) -> IntervalMessage:
    seconds = _number(body["seconds"])
    if not 0 < seconds <= 3600:
        raise ValueError("seconds")
    return IntervalMessage(
        monotonic=_number(body["mono"]),
        seconds=seconds,
        measuring=body["phase"] == Phase.MEASURING.value,
        sides={name: _side(body[name], seconds) for name in SIDES if body.get(name) is not None},
        go=_optional_number(body, "go"),
    )


def _side(part: Mapping[str, Any], seconds: float) -> IoCounts:
    """Return the I/O counts of one direction of an interval that took `seconds`.

    Raises ProtocolViolationError for contradictory or implausible counts, and whatever `parse_counts` raises.
    """
    side = parse_counts(part)
    timed = side.histogram.total
    if timed and timed != side.ios:
        raise ProtocolViolationError(f"Protocol error: {side.ios} I/Os, but {timed} latencies")
    if side.ios > _IOPS_MOST * max(seconds, 1.0) or side.bytes > _RATE_MOST * max(seconds, 1.0):
        raise ProtocolViolationError(f"Implausible result: {side.ios} I/Os and {side.bytes} bytes in {seconds:g} s")
    return side


def _totals(part: Mapping[str, Any]) -> DirectionTotals:
    return DirectionTotals(
        ios=_whole(part["total_ios"]),
        bytes=_whole(part["total_bytes"]),
        iops=_number(part["iops"]),
        rate=_number(part["bytes_per_second"], _RATE_MOST),
        seconds=_number(part["seconds"]),
    )


def parse_counts(part: Mapping[str, Any]) -> IoCounts:
    """Return the I/O counts of one direction. Raises ValueError, TypeError, KeyError for invalid content."""
    bins = part["bins"]
    if len(bins) > _BINS:
        raise ValueError("bins")
    counts: dict[int, int] = {}
    for value, count in bins:
        if type(value) is not int or value not in _BUCKETS:
            value = value_of(bucket_of(_whole(value)))
        counts[value] = counts.get(value, 0) + _whole(count)
    return IoCounts(ios=_whole(part["ios"]), bytes=_whole(part["bytes"]), histogram=Histogram(counts))


def _shared_files(files: list[object]) -> Iterator[str]:
    if len(files) > _JOB_FIELDS:
        raise ValueError("shared")
    for file in files:
        if not isinstance(file, str):
            raise TypeError("shared")
        yield clean(file, 500)


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError("number")
    return value


def _optional_number(body: Mapping[str, Any], key: str) -> float | None:
    """Return the number in a field, or None if the field is missing."""
    value = body.get(key)
    return None if value is None else _number(value)


def _number(value: object, most: float = 1e11) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("number")
    if not math.isfinite(value) or not 0 <= value < most:
        raise ValueError("number")
    return float(value)


def _text(body: Mapping[str, Any], key: str, most: int) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(key)
    return clean(value, most)


class RateLimiter:
    """Limits the number of lines and bytes that a host may send: in a burst, and per second on average."""

    def __init__(self, *, lines: float = 400.0, lines_s: float = 60.0, size: float = 8e6, size_s: float = 1e6) -> None:
        self._most, self._rate = (lines, size), (lines_s, size_s)
        self._left = [lines, size]
        self._then: float | None = None

    def take(self, size: int, now: float) -> None:
        """Count a line of `size` bytes. Raises ProtocolViolationError if the host exceeds a limit."""
        passed = 0.0 if self._then is None else max(0.0, now - self._then)
        self._then = now
        for unit, taken in enumerate((1, size)):
            self._left[unit] = min(self._most[unit], self._left[unit] + passed * self._rate[unit]) - taken
            if self._left[unit] < 0:
                raise ProtocolViolationError("Protocol error: too much output.")
