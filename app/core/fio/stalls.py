"""Detection of I/O stalls: stretches of a run in which no I/O completed, found live or afterwards. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from app.core.session.results import Phase, Sample
from backends.values import dataclass

_ENOUGH: Final = 10
"""A stretch without I/O is no coincidence if this many I/Os or more were expected in it."""

STILL_S: Final = 1.0
"""Seconds without a completed I/O after which a stall is reported. A working disk never takes that long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoStall:
    """A stretch of time in which no I/O completed."""

    at: float
    """Start of the stall, in seconds of the measured phase."""
    seconds: float
    """Length of the stall so far."""

    @property
    def text(self) -> str:
        """Return the sentence that reports the stall."""
        return f"No I/O completed for {self.seconds:.1f} s"


@dataclass(slots=True)
class IoStallDetector:
    """Collects the stalls of a run. The ramp has none, because fio reports nothing during the ramp."""

    stalls: list[IoStall] = field(default_factory=list)
    """All stalls in order of time. The last one may not have ended yet."""
    _since: float | None = None
    _length: float = 0.0

    @property
    def current_stall(self) -> IoStall | None:
        """Return the stall that has not ended yet; None if there is none."""
        return self.stalls[-1] if self._since is not None and self._length >= STILL_S else None

    def add(self, sample: Sample) -> None:
        """Add a sample. A stalled sample, in which fio reported nothing, counts like an empty one."""
        if sample.phase is not Phase.MEASURING:
            return
        if not sample.stalled and _completed_ios(sample):
            self._since, self._length = None, 0.0
            return
        current_stall = self.current_stall is not None
        if self._since is None:
            self._since = max(0.0, sample.at - sample.seconds)
        self._length += sample.seconds
        if self._length >= STILL_S:
            self.stalls[len(self.stalls) - current_stall :] = [IoStall(at=self._since, seconds=self._length)]


def find_stalls(samples: Iterable[Sample]) -> tuple[IoStall, ...]:
    """Return all stalls of a run."""
    course = IoStallDetector()
    for sample in samples:
        course.add(sample)
    return tuple(course.stalls)


def longest_unexplained_stall(
    samples: Sequence[Sample], *, idle_s: float = 0.0, flush_s: float = 0.0
) -> IoStall | None:
    """Return the longest stall that the device caused; None if the job itself explains all stalls.

    `idle_s`: seconds that the job pauses between I/Os. `flush_s`: seconds of the longest flush of the run. A slow job
    is no stall: a disk takes two seconds for one I/O of 256 MiB, for example. So the I/O rate outside of a stretch
    determines how many I/Os were expected in it.
    """
    stalls = [
        standstill
        for standstill in find_stalls(samples)
        if standstill.seconds >= STILL_S + 2 * idle_s and flush_s < standstill.seconds / 2
    ]
    longest = max(stalls, key=lambda stall: stall.seconds, default=None)
    if longest is None:
        return None
    begin, end = longest.at, longest.at + longest.seconds
    measured = [sample for sample in samples if sample.phase is Phase.MEASURING]
    # The rate of the sections of an earlier phase says nothing about the sections that ran in the stretch.
    sections = {_running(sample) for sample in measured if begin < sample.at <= end}
    outside = [sample for sample in measured if not begin < sample.at <= end and _running(sample) in sections]
    seconds = sum(sample.seconds for sample in outside if _completed_ios(sample))
    pace = sum(map(_completed_ios, outside)) / seconds if seconds else 0.0
    return None if seconds and pace * longest.seconds < _ENOUGH else longest


def _running(sample: Sample) -> frozenset[str]:
    """Return the names of the sections that ran in an interval; empty for a job of one section."""
    return frozenset(row.name for row in sample.sections if row.phase is not None)


def _completed_ios(sample: Sample) -> int:
    return sum(part.ios for part in sample.transfers)
