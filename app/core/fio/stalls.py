"""Stretches of a run in which nothing was completed: found sample by sample, while it runs and afterwards. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from app.core.session.results import Phase, Sample
from backends.values import dataclass

_ENOUGH: Final = 10
"""I/Os that a stretch would have had, from which on it is no chance that it had none."""

STILL_S: Final = 1.0
"""Seconds without a completed I/O from which it is told: longer than any I/O of a disk that works takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoStall:
    """A stretch of time in which nothing was completed."""

    at: float
    """When it began, seconds of the measured phase."""
    seconds: float
    """How long it lasted, or lasts so far."""

    @property
    def text(self) -> str:
        """How it is told, while it lasts and afterwards."""
        return f"No I/O completed for {self.seconds:.1f} s"


@dataclass(slots=True)
class IoStallDetector:
    """Those of a run so far. The ramp has none: fio tells nothing of it."""

    stalls: list[IoStall] = field(default_factory=list)
    """In the order of time; the last one may go on."""
    _since: float | None = None
    _length: float = 0.0

    @property
    def current_stall(self) -> IoStall | None:
        """The one that has not ended yet."""
        return self.stalls[-1] if self._since is not None and self._length >= STILL_S else None

    def add(self, sample: Sample) -> None:
        """One more sample; stalled ones, in which fio itself told nothing, and empty ones are alike."""
        if sample.phase is not Phase.MEASURING:
            return
        if not sample.stalled and _completed(sample):
            self._since, self._length = None, 0.0
            return
        current_stall = self.current_stall is not None
        if self._since is None:
            self._since = max(0.0, sample.at - sample.seconds)
        self._length += sample.seconds
        if self._length >= STILL_S:
            self.stalls[len(self.stalls) - current_stall :] = [IoStall(at=self._since, seconds=self._length)]


def find_stalls(samples: Iterable[Sample]) -> tuple[IoStall, ...]:
    """Those of a whole run."""
    course = IoStallDetector()
    for sample in samples:
        course.add(sample)
    return tuple(course.stalls)


def longest_unexplained_stall(
    samples: Sequence[Sample], *, idle_s: float = 0.0, flush_s: float = 0.0
) -> IoStall | None:
    """The longest standstill that is the device's; None where the job is as slow as that by itself.

    `idle_s`: seconds that the job pauses by itself between I/Os, `flush_s`: the longest flush of the run. A job of few
    I/Os (one of 256 MiB takes a disk two seconds) stands still for none of them: the pace outside of the stretch says
    how many it would have had in it.
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
    # The pace of other sections, of an earlier phase, tells nothing of those that ran in the stretch.
    sections = {_running(sample) for sample in measured if begin < sample.at <= end}
    outside = [sample for sample in measured if not begin < sample.at <= end and _running(sample) in sections]
    seconds = sum(sample.seconds for sample in outside if _completed(sample))
    pace = sum(map(_completed, outside)) / seconds if seconds else 0.0
    return None if seconds and pace * longest.seconds < _ENOUGH else longest


def _running(sample: Sample) -> frozenset[str]:
    """The sections that ran in an interval; none of a job of one section."""
    return frozenset(row.name for row in sample.sections if row.phase is not None)


def _completed(sample: Sample) -> int:
    return sum(part.ios for part in sample.transfers)
