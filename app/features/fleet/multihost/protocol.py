"""Protocol between a run and the host that controls it. The run receives commands and sends JSON lines. No I/O.

A command is one line: `ping ID`, `go AT` or `bye`. AT is in seconds since 1970, by the wall clock of the run's host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from app.core.session.results import SIDES, DirectionSample, Sample
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

PROTOCOL = 1
"""Version of the protocol. It increases when the meaning of a command or message changes."""

WORD_BYTES = 200
"""Maximum length of a command in bytes."""

PAST_S = 1.0
"""Maximum number of seconds that a start time may be in the past."""

AHEAD_S = 60.0
"""Maximum number of seconds that a start time may be in the future."""


class LineKind(StrEnum):
    """Kinds of messages that a run sends. The field `kind` of each message has one of these values."""

    HELLO = "hello"
    """First message, with the host name, boot id, versions, lease and clocks."""
    PONG = "pong"
    """Answer to `ping`, with the same id and both clocks."""
    PHASE = "phase"
    """Change of phase."""
    READY = "ready"
    """The target is checked and locked and its files are laid out; the run waits for `go`."""
    STARTED = "started"
    """fio is being started."""
    TICK = "tick"
    """Message with the results of one interval: I/Os, bytes and histograms."""
    RESULT = "result"
    """The finished run, in the format of `--json`."""
    END = "end"
    """Last message, which says why the run is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Request for the times of the host's clocks. It also renews the lease."""

    id: str
    """Id that the host repeats in its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommand:
    """Command to start fio."""

    at: float
    """Start time in seconds since 1970, by the host's wall clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCommand:
    """Command to stop the run."""


RunCommand = Ping | StartCommand | StopCommand

_PING = re.compile(rb"ping ([A-Za-z0-9._-]{1,40})", re.ASCII)
_GO = re.compile(rb"go ([0-9]{1,12}(?:\.[0-9]{1,9})?)", re.ASCII)


def parse_command(line: bytes) -> RunCommand:
    """Return the command in a line without its newline. Raises InvalidValueError if it is not a valid command."""
    line = line.removesuffix(b"\r")
    if line == b"bye":
        return StopCommand()
    if (ping := _PING.fullmatch(line)) is not None:
        return Ping(id=ping[1].decode())
    if (go := _GO.fullmatch(line)) is not None:
        return StartCommand(at=float(go[1]))
    shown = clean(line[:WORD_BYTES].decode("utf-8", "replace"), 60)
    raise InvalidValueError(f"{shown!r} is not a valid command (ping ID, go AT, bye).")


def refused_start(at: float, now: float) -> str:
    """Return why a start time is refused; "" if it is accepted. Both times are by the host's wall clock."""
    if at < now - PAST_S:
        return f"The start time was {now - at:.1f} s ago by the clock of this host."
    if at > now + AHEAD_S:
        return f"The start time is {at - now:.0f} s in the future by the clock of this host (limit: {AHEAD_S:.0f} s)."
    return ""


def tick(
    sample: Sample,
    bins: Mapping[str, Sequence[Sequence[int]]],
    *,
    monotonic: float,
    go: float | None = None,
    timed: bool = True,
) -> dict[str, Any]:
    """Return the message that reports `sample`, the results of one interval.

    `bins`: the interval's histograms by direction. `monotonic`: the monotonic clock at the interval's end. `go`: start
    time of the run. `timed`: whether the run has latencies. If so, I/Os are counted from the histogram, because fio
    updates its other counters at a different moment.
    """
    return {
        **({} if go is None else {"go": go}),
        "kind": LineKind.TICK.value,
        "mono": round(monotonic, 6),
        "at": round(sample.at, 3),
        "seconds": round(sample.seconds, 6),
        "phase": sample.phase.value,
        "stalled": sample.stalled,
        **{name: _side(sample.side(name), sample.seconds, bins.get(name, ()), timed) for name in SIDES},
    }


def _side(
    direction: DirectionSample | None, seconds: float, bins: Sequence[Sequence[int]], timed: bool
) -> dict[str, Any] | None:
    if direction is None:
        return None
    ios = sum(count for _, count in bins) if timed else direction.ios
    return {"ios": ios, "bytes": round(direction.bytes_per_second * seconds), "bins": [list(b) for b in bins]}
