"""The points of a running job, grown sample by sample. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.engine.fio.standstill import Standstills
from app.engine.session.figures import DirectionSample, Phase, Sample
from widgets.chart import HeatInterval

Points = tuple[tuple[float, float | None], ...]


@dataclass(slots=True)
class CurveFigures:
    """Figures of one curve so far, kept point by point: a long run costs no more than a short one."""

    now: float | None = None
    """The last."""
    low: float | None = None
    """Smallest of the measured phase."""
    high: float | None = None
    """Largest of the measured phase."""
    count: int = 0
    """Values of the measured phase."""
    total: float = 0.0
    """Their sum."""

    @property
    def mean(self) -> float | None:
        """Arithmetic mean of the measured phase."""
        return self.total / self.count if self.count else None

    def add(self, value: float | None, *, measured: bool) -> None:
        """One more point."""
        self.now = value
        if value is not None and measured:
            self.count += 1
            self.total += value
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)


@dataclass(slots=True)
class Curves:
    """Points grown sample by sample, so that a long run costs no more per sample than a short one."""

    taken: int = 0
    """Samples of the run that are in."""
    ramp: float = 0.0
    """Seconds of ramp before the measured phase."""
    settled: float = 0.0
    """Seconds of waiting for the steady state between the two."""
    first: Sample | None = None
    """The oldest sample that is in."""
    series: dict[str, list[tuple[float, float | None]]] = field(default_factory=dict)
    """Points by name: `read iops`, `write iops`, `read rate`, `p50`, ..."""
    spreads: dict[str, CurveFigures] = field(default_factory=dict)
    """Their figures by the same names."""
    heat: list[HeatInterval] = field(default_factory=list)
    """How the latencies of each interval are spread, both directions together."""
    still: Standstills = field(default_factory=Standstills)
    """When nothing was completed."""

    @property
    def measured_from(self) -> float:
        """Seconds of ramp and waiting before the measured phase."""
        return self.ramp + self.settled

    def take(self, samples: tuple[Sample, ...], ramp: float) -> None:
        """Add the samples that are new; a shorter tuple begins anew."""
        first = samples[0] if samples else None
        if len(samples) < self.taken or first is not self.first:
            self.taken, self.first, self.settled = 0, first, 0.0
            self.series.clear()
            self.spreads.clear()
            self.heat.clear()
            self.still = Standstills()
        self.ramp = ramp
        for sample in samples[self.taken :]:
            self._add(sample)
        self.taken = len(samples)

    def _add(self, sample: Sample) -> None:
        match sample.phase:
            case Phase.SETTLING:
                self.settled = sample.at
                at = sample.at + self.ramp
            case Phase.MEASURING:
                at = sample.at + self.measured_from
            case _:
                at = sample.at
        for name, direction in (("read", sample.read), ("write", sample.write)):
            if direction is not None:
                self._point(f"{name} iops", at, direction.iops)
                self._point(f"{name} rate", at, direction.bytes_per_second)
        both = [direction for direction in (sample.read, sample.write) if direction is not None]
        self.still.take(sample)
        self.heat.append(_heat(at, sample.seconds, both))
        # One picture for both directions: the slower of the two, so that nothing bad hides behind the other.
        for name in ("p50_ns", "p99_ns", "p99_9_ns", "max_ns"):
            values = [value for direction in both if (value := getattr(direction, name)) is not None]
            if both:
                self._point(name, at, float(max(values)) if values else None)

    def _point(self, name: str, at: float, value: float | None) -> None:
        self.series.setdefault(name, []).append((at, value))
        self.spreads.setdefault(name, CurveFigures()).add(value, measured=at > self.measured_from)

    def points(self, name: str) -> Points:
        """The points of one curve."""
        return tuple(self.series.get(name, ()))


def _heat(at: float, seconds: float, both: Sequence[DirectionSample]) -> HeatInterval:
    """The spreads of both directions, added."""
    filled = [direction for direction in both if direction.spread]
    if len(filled) == 1:
        return HeatInterval(at=at, seconds=seconds, first=filled[0].spread_from, counts=filled[0].spread)
    first = min((direction.spread_from for direction in filled), default=0)
    counts = [0] * max((direction.spread_from - first + len(direction.spread) for direction in filled), default=0)
    for direction in filled:
        for place, count in enumerate(direction.spread, direction.spread_from - first):
            counts[place] += count
    return HeatInterval(at=at, seconds=seconds, first=first, counts=tuple(counts))
