"""What a host says of its run, read without believing it: bounded, cleaned, and only about itself. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from app.core.fio.histogram import Histogram
from app.core.session.results import DIRECTIONS, Phase
from app.features.fleet.multihost.figures import IoCounts
from app.features.fleet.multihost.protocol import PROTOCOL, LineKind
from backends.errors import RaidbenchError
from backends.fio_buckets import LAST_BUCKET, bucket_of, value_of
from backends.text import clean
from backends.values import dataclass

LINE_BYTES = 1 << 20
"""No line is longer."""

_MOST = 1 << 62
_BUCKETS = frozenset(map(value_of, range(LAST_BUCKET + 1)))
_BINS = 2000
_IOPS_MOST = 1e10
"""I/Os per second that no host does."""

_RATE_MOST = 1e15
"""Bytes per second that no host does."""

_JOB_FIELDS = 60


class ProtocolViolationError(RaidbenchError):
    """A host said what no run says; it is heard no more."""


class ProtocolMismatchError(ProtocolViolationError):
    """It is a run, but of a raidbench that says it otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelloMessage:
    """Who it is."""

    host: str
    """What it calls itself."""
    boot: str
    """The same for all that runs on one kernel; "" where it is not known."""
    version: str
    """Of raidbench there."""
    lease: float | None = None
    """Seconds without a word after which it stops; None where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PongMessage:
    """A ping that came back."""

    id: str
    """Which one."""
    monotonic: float
    """The host's monotonic clock, seconds."""
    wall: float
    """Its wall clock, seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMessage:
    """What it is doing."""

    phase: str
    """A word of `Phase`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyMessage:
    """It waits for the start."""

    target: str
    """What it calls what it measures."""
    job: Mapping[str, str]
    """Its job, by field."""
    seconds: float
    """How long it will take at most, ramp included."""
    fio: str
    """Version of fio."""
    shared: tuple[str, ...] = ()
    """Its scratch files that other machines may have, too: whoever tells the same has the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedMessage:
    """fio is being started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMessage:
    """An interval."""

    monotonic: float
    """The host's monotonic clock at its end."""
    seconds: float
    """Its length."""
    measuring: bool
    """Whether it counts: not of the ramp."""
    sides: Mapping[str, IoCounts] = field(default_factory=dict)
    """What was moved, by direction."""
    go: float | None = None
    """The start that it belongs to, as it was told; None where the host does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalsTold:
    """One direction of a whole run, as fio counted it."""

    ios: int
    """I/Os."""
    bytes: int
    """Bytes."""
    iops: float
    """I/Os per second."""
    rate: float
    """Bytes per second."""
    seconds: float
    """How long it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultMessage:
    """The run is over."""

    status: str
    """`ok`, `stopped`, `failed`."""
    reason: str
    """A sentence where it is not ok."""
    run: str
    """Its id there."""
    session: str
    """The folder of its session there."""
    totals: Mapping[str, TotalsTold] = field(default_factory=dict)
    """By direction; empty where the host does not say."""
    monotonic: float | None = None
    """The host's monotonic clock; None where it does not say."""
    go: float | None = None
    """The start that it belongs to, as it was told; None where the host does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndMessage:
    """Nothing more comes."""

    why: str
    """A word."""
    message: str
    """In a sentence; "" of a good end."""


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
    """Return the message in a line without its end. Raises ProtocolViolationError.

    `host`: the name that this host reported before.
    """
    try:
        body = json.loads(line, object_pairs_hook=_keys_once)
        kind = LineKind(_text(body, "kind", 20))
        if host and "host" in body and body["host"] != host:
            raise ProtocolViolationError(f"It speaks of another host, {clean(str(body['host']), 60)}.")
        return _read(kind, body)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        shown = clean(line[:200].decode("utf-8", "replace"), 80)
        raise ProtocolViolationError(f"It said what no run says: {shown}") from None


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raise ValueError for one that has a key twice: which value counts is not decided here."""
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
                    f"Its raidbench {version} speaks another protocol ({clean(str(body['protocol']), 20)}, here"
                    f" {PROTOCOL})."
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
                totals={name: _totals(run[name]) for name in DIRECTIONS if run.get(name) is not None},
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
        sides={name: _side(body[name], seconds) for name in DIRECTIONS if body.get(name) is not None},
        go=_optional_number(body, "go"),
    )


def _side(part: Mapping[str, Any], seconds: float) -> IoCounts:
    """Return one direction of an interval of so many seconds. Raises as `parse_counts`, and ProtocolViolationError."""
    side = parse_counts(part)
    timed = side.histogram.total
    if timed and timed != side.ios:
        raise ProtocolViolationError(f"It tells of {side.ios} I/Os, and of the latencies of {timed}")
    if side.ios > _IOPS_MOST * max(seconds, 1.0) or side.bytes > _RATE_MOST * max(seconds, 1.0):
        raise ProtocolViolationError(f"It tells of {side.ios} I/Os and {side.bytes} bytes in {seconds:g} s")
    return side


def _totals(part: Mapping[str, Any]) -> TotalsTold:
    return TotalsTold(
        ios=_whole(part["total_ios"]),
        bytes=_whole(part["total_bytes"]),
        iops=_number(part["iops"]),
        rate=_number(part["bytes_per_second"], _RATE_MOST),
        seconds=_number(part["seconds"]),
    )


def parse_counts(part: Mapping[str, Any]) -> IoCounts:
    """One direction of an interval. Raises ValueError, TypeError, KeyError for what cannot be."""
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
    """A number that may be missing."""
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
    """How much a host may say: so much at once, and so much a second."""

    def __init__(self, *, lines: float = 400.0, lines_s: float = 60.0, size: float = 8e6, size_s: float = 1e6) -> None:
        self._most, self._rate = (lines, size), (lines_s, size_s)
        self._left = [lines, size]
        self._then: float | None = None

    def take(self, size: int, now: float) -> None:
        """A line more of so many bytes. Raises ProtocolViolationError for more than a run says."""
        passed = 0.0 if self._then is None else max(0.0, now - self._then)
        self._then = now
        for unit, taken in enumerate((1, size)):
            self._left[unit] = min(self._most[unit], self._left[unit] + passed * self._rate[unit]) - taken
            if self._left[unit] < 0:
                raise ProtocolViolationError("It says more than a run has to say.")
