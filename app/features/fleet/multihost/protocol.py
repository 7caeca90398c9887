"""What is said between a run and whoever starts it from another host: three words to it, lines of JSON from it. Pure.

To the run a word a line: `ping ID`, `go AT` (seconds of its own wall clock since 1970), `bye`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from app.core.session.results import DIRECTIONS, DirectionSample, Sample
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

PROTOCOL = 1
"""Raised when a word or a line changes its meaning."""

WORD_BYTES = 200
"""A word with its line end is never longer."""

PAST_S = 1.0
"""So much of the past may the moment of a start be."""

AHEAD_S = 60.0
"""So far ahead may it be."""


class LineKind(StrEnum):
    """What a line from a run is about, its `kind`."""

    HELLO = "hello"
    """Host, boot, program, lease and clocks; the first line."""
    PONG = "pong"
    """The answer to `ping`, with the same id and both clocks."""
    PHASE = "phase"
    """What it is doing."""
    READY = "ready"
    """All is checked, held and laid out: `go` is waited for."""
    STARTED = "started"
    """fio is being started."""
    TICK = "tick"
    """An interval: I/Os, bytes and histograms of it alone."""
    RESULT = "result"
    """The run as `--json` tells it."""
    END = "end"
    """Why it is over; the last line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Asks for the clocks, and keeps the lease."""

    id: str
    """Comes back with the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommand:
    """Start fio."""

    at: float
    """Seconds of the host's wall clock since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCommand:
    """Stop."""


RunCommand = Ping | StartCommand | StopCommand

_PING = re.compile(rb"ping ([A-Za-z0-9._-]{1,40})", re.ASCII)
_GO = re.compile(rb"go ([0-9]{1,12}(?:\.[0-9]{1,9})?)", re.ASCII)


def parse_command(line: bytes) -> RunCommand:
    """A line without its end. Raises InvalidValueError."""
    line = line.removesuffix(b"\r")
    if line == b"bye":
        return StopCommand()
    if (ping := _PING.fullmatch(line)) is not None:
        return Ping(id=ping[1].decode())
    if (go := _GO.fullmatch(line)) is not None:
        return StartCommand(at=float(go[1]))
    shown = clean(line[:WORD_BYTES].decode("utf-8", "replace"), 60)
    raise InvalidValueError(f"{shown!r} is none of the words ping ID, go AT, bye.")


def refused_start(at: float, now: float) -> str:
    """Why nothing is started at this moment, both by the host's wall clock; "" where it is."""
    if at < now - PAST_S:
        return f"The start was {now - at:.1f} s ago by the clock of this host."
    if at > now + AHEAD_S:
        return f"The start is {at - now:.0f} s ahead by the clock of this host, more than {AHEAD_S:.0f} s."
    return ""


def tick(
    sample: Sample,
    bins: Mapping[str, Sequence[Sequence[int]]],
    *,
    monotonic: float,
    go: float | None = None,
    timed: bool = True,
) -> dict[str, Any]:
    """Return an interval. `bins`: its histograms by direction. `monotonic`: the clock as it was told.

    `go`: the start that it belongs to. `timed`: whether the run has latencies; the I/Os of an interval are those of
    its histogram then, which fio counts a moment apart from its other counters.
    """
    return {
        **({} if go is None else {"go": go}),
        "kind": LineKind.TICK.value,
        "mono": round(monotonic, 6),
        "at": round(sample.at, 3),
        "seconds": round(sample.seconds, 6),
        "phase": sample.phase.value,
        "stalled": sample.stalled,
        **{name: _side(sample.side(name), sample.seconds, bins.get(name, ()), timed) for name in DIRECTIONS},
    }


def _side(
    direction: DirectionSample | None, seconds: float, bins: Sequence[Sequence[int]], timed: bool
) -> dict[str, Any] | None:
    if direction is None:
        return None
    ios = sum(count for _, count in bins) if timed else direction.ios
    return {"ios": ios, "bytes": round(direction.bytes_per_second * seconds), "bins": [list(b) for b in bins]}
