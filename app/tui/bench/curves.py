"""The data of a job's graphs: curves, which get points from each sample, and marks on the time axis. No I/O."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from app.core.fio.stalls import IoStallDetector
from app.core.session.events import RunStarted
from app.core.session.results import SIDES, DirectionSample, PartSample, Phase, RunEvent, Sample
from app.core.session.state import Session
from backends.values import dataclass
from widgets.chart import HeatInterval, TimeMark
from widgets.text_utils.symbols import ATTENTION, BUSY, CHANGED, STEADY

# -- points of a running job ------------------------------------------------------------------------------------------

Points = tuple[tuple[float, float | None], ...]

LATENCIES = ("p50_ns", "p99_ns", "p99_9_ns", "max_ns")
"""Latencies of an interval that are drawn and have statistics."""

MEAN_LATENCY = "mean_ns"
"""Name of the curve of the mean latency, which only the present I/O of a device has."""

_TOLERANCE_S = 1e-3
"""Tolerance in seconds for sums of intervals."""


@dataclass(slots=True)
class CurveFigures:
    """Statistics of one curve, updated with each point, so that a long run costs no more than a short one."""

    now: float | None = None
    """The last value, measured or not; None if there is none."""
    low: float | None = None
    """Smallest value of the measured phase."""
    high: float | None = None
    """Largest value of the measured phase."""
    high_at: float | None = None
    """Time of the largest value, in seconds since the start of the run."""
    count: int = 0
    """Number of values of the measured phase."""
    total: float = 0.0
    """Sum of the values of the measured phase."""

    @property
    def mean(self) -> float | None:
        """Arithmetic mean of the measured phase."""
        return self.total / self.count if self.count else None

    def add(self, value: float | None, *, measured: bool, at: float = 0.0) -> None:
        """Add a value of second `at` of the run. Set only `now` unless it belongs to the `measured` phase."""
        self.now = value
        if value is not None and measured:
            self.count += 1
            self.total += value
            self.low = value if self.low is None else min(self.low, value)
            if self.high is None or value > self.high:
                self.high, self.high_at = value, at


@dataclass(slots=True)
class Curves:
    """Points of all curves of a run. A sample is added at constant cost, however long the run is."""

    part: str = ""
    """The target or section of the job to draw; "" for the complete run."""
    taken: int = 0
    """Number of samples that were added."""
    ramp: float = 0.0
    """Seconds of ramp before the measured phase."""
    settled: float = 0.0
    """Seconds of waiting for the steady state, between ramp and measured phase."""
    first: Sample | None = None
    """The oldest sample that was added."""
    series: dict[str, list[tuple[float, float | None]]] = field(default_factory=dict)
    """Points by name: `read iops`, `write iops`, `read rate`, `p50_ns`, ..."""
    spreads: dict[str, CurveFigures] = field(default_factory=dict)
    """Statistics of the curves by the same names, and of the latencies of each direction: `read p50_ns`."""
    heat: list[HeatInterval] = field(default_factory=list)
    """Latency distribution of each interval, all directions and flushes together."""
    still: IoStallDetector = field(default_factory=IoStallDetector)
    """Detector of intervals in which no I/O completed."""
    parts: tuple[tuple[str, PartSample], ...] = ()
    """Name and last interval of each target or section of the job; empty for one section on one target."""
    measured: bool = False
    """Whether a sample of the measured phase was added."""
    _deviations: dict[str, float] = field(default_factory=dict)

    @property
    def measured_from(self) -> float:
        """Seconds of ramp and waiting before the measured phase."""
        return self.ramp + self.settled

    def take(self, samples: tuple[Sample, ...], ramp: float) -> None:
        """Add the new samples; first clear the curves if they are of another run. `ramp`: seconds of the run's ramp."""
        first = samples[0] if samples else None
        if len(samples) < self.taken or first is not self.first:
            self.taken, self.first, self.settled = 0, first, 0.0
            self.series.clear()
            self.spreads.clear()
            self.heat.clear()
            self.still, self.measured, self.parts = IoStallDetector(), False, ()
        self.ramp = ramp
        self._deviations.clear()
        for sample in samples[self.taken :]:
            self._add(part_of(sample, self.part) if self.part else sample)
        self.taken = len(samples)

    def _add(self, sample: Sample) -> None:
        match sample.phase:
            case Phase.SETTLING:
                self.settled = sample.at
                at = sample.at + self.ramp
            case Phase.MEASURING:
                at = sample.at + self.measured_from
                self.measured = True
            case _:
                at = sample.at
        for name in SIDES:
            if (direction := sample.side(name)) is not None:
                self.add_point(f"{name} iops", at, direction.iops)
                self.add_point(f"{name} rate", at, direction.bytes_per_second)
                for key in LATENCIES:
                    self._count(f"{name} {key}", at, getattr(direction, key))
        if sample.transfers or not self.part:  # A section that has not started, or has ended, is not stalled.
            self.still.add(sample)
        self.parts = parts_of(sample)
        sides = tuple(side for name in SIDES if (side := sample.side(name)) is not None)
        self.heat.append(_heat(at, sample.seconds, sides))
        # One graph for all directions and flushes shows the slowest, so that a fast direction hides nothing.
        for name in LATENCIES:
            values = [value for side in sides if (value := getattr(side, name)) is not None]
            if sides:
                self.add_point(name, at, float(max(values)) if values else None)

    def add_point(self, name: str, at: float, value: float | None) -> None:
        """Add a point to the curve `name`. `at`: seconds since the start; `value`: None for an unknown one."""
        self.series.setdefault(name, []).append((at, value))
        self._count(name, at, value)

    def _count(self, name: str, at: float, value: float | None) -> None:
        self.spreads.setdefault(name, CurveFigures()).add(value, measured=at > self.measured_from, at=at)

    @property
    def until(self) -> float:
        """End of the last interval in seconds of the run; 0 before the first."""
        return max((points[-1][0] for points in self.series.values() if points), default=0.0)

    def deviation(self, name: str) -> float:
        """Return the standard deviation of a curve's measured phase, without stalls; 0 for fewer than two values."""
        if name not in self._deviations:
            stalls = [(self.measured_from + stall.at, stall.seconds) for stall in self.still.stalls]
            values = [
                value
                for at, value in self.points(name)
                if value is not None
                and at > self.measured_from
                and not any(_TOLERANCE_S < at - since < seconds + _TOLERANCE_S for since, seconds in stalls)
            ]
            self._deviations[name] = statistics.stdev(values) if len(values) > 1 else 0.0
        return self._deviations[name]

    def points(self, name: str) -> Points:
        """Return the points of one curve."""
        return tuple(self.series.get(name, ()))


def part_of(sample: Sample, name: str) -> Sample:
    """Return `sample` with the directions of only the target or section `name`; without any while that does no I/O."""
    part = dict(parts_of(sample)).get(name, PartSample())
    return replace(sample, read=part.read, write=part.write, trim=part.trim, sync=part.sync)


def parts_of(sample: Sample) -> tuple[tuple[str, PartSample], ...]:
    """Return name and sample of each target or section that `sample` sums up; empty for one section on one target."""
    sections = tuple((section.name, section) for section in sample.sections)
    return sections or tuple((target.target, target) for target in sample.targets)


def ramp_of(start: RunStarted) -> float:
    """Return the seconds of ramp of a run."""
    return float(start.job.get("ramp", "").rstrip("s") or 0)


def _heat(at: float, seconds: float, sides: Sequence[DirectionSample]) -> HeatInterval:
    """Return the sum of the latency distributions of all directions and flushes."""
    filled = [side for side in sides if side.spread]
    if len(filled) == 1:
        return HeatInterval(at=at, seconds=seconds, first=filled[0].spread_from, counts=filled[0].spread)
    first = min((direction.spread_from for direction in filled), default=0)
    counts = [0] * max((direction.spread_from - first + len(direction.spread) for direction in filled), default=0)
    for direction in filled:
        for index, count in enumerate(direction.spread, direction.spread_from - first):
            counts[index] += count
    return HeatInterval(at=at, seconds=seconds, first=first, counts=tuple(counts))


_RAMP = ("╵", "|")
"""Mark at the end of the ramp, in UTF-8 and in ASCII."""


def marks_of(curves: Curves, *, ascii: bool) -> tuple[TimeMark, ...]:
    """Return the marks from the samples: the end of the ramp, the start of measuring, and stalls."""
    marks: list[TimeMark] = []
    if curves.ramp and curves.until > curves.ramp:
        marks.append(TimeMark(at=curves.ramp, sign=_RAMP[ascii], bad=False))
    if curves.settled and curves.measured:
        sign = STEADY.shown(ascii=ascii)
        marks.append(TimeMark(at=curves.measured_from, sign=sign, text="measuring", bad=False))
    for stall in curves.still.stalls:
        text = f"stall {stall.seconds:.1f} s"
        marks.append(TimeMark(at=curves.measured_from + stall.at, sign=ATTENTION.shown(ascii=ascii), text=text))
    return tuple(marks)


def event_marks(happened: Iterable[RunEvent], *, ascii: bool) -> tuple[TimeMark, ...]:
    """Return marks for device events: background work that started or ended, and a changed write cache."""
    return tuple(
        TimeMark(
            at=event.at,
            sign=(ATTENTION if event.moved else BUSY).shown(ascii=ascii),
            text=event.after if event.moved else f"{event.kind} {'ended' if event.before else 'started'}",
            bad=event.moved,
        )
        for event in happened
    )


def change_marks(
    session: Session, start: RunStarted, passed: float, now: float, *, ascii: bool
) -> tuple[TimeMark, ...]:
    """Return marks for settings of any device that were changed during a run.

    `passed`: seconds since the start of the run, by its own clock, which may be faster if the run is simulated. `now`:
    the same moment in seconds since the epoch.
    """
    marks = []
    for record in session.changes:
        if record.end is None or not start.at < record.end.at <= now:
            continue
        speed = passed / (now - start.at) if start.simulated else 1.0
        at = passed - (now - record.end.at) * speed
        if at >= 0.0:
            text = f"{record.change.label} {record.end.now or ''}".rstrip()
            marks.append(TimeMark(at=float(round(at)), sign=CHANGED.shown(ascii=ascii), text=text, bad=False))
    return tuple(marks)
