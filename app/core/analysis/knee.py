"""The knee of a throughput-latency curve: the load with the largest ratio of throughput to latency. No I/O.

The ratio is Kleinrock's power ("Power and deterministic rules of thumb for probabilistic problems in computer
communications", ICC 1979). Below the knee, 1 % more load increases the latency by less than 1 %; above the knee, by
more. The knee of a single server with random arrivals is at half its capacity. The knee of many servers is near their
capacity. The knee of a server that does not slow down under load is at its capacity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, fsum, log, sqrt
from random import Random

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.stats import geometric_mean, quantile
from backends.values import dataclass

NEAR_BEST = 0.8
"""The loads whose ratio of throughput to latency is at least this share of the best ratio determine the knee."""

DRAWS = 200
"""Number of simulated curves around the measured one, from which the interval is computed."""

_MATTERS = 0.5
"""Loads below this share of the best ratio cannot be the knee, so the scatter of their runs does not matter."""

_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """A requested load, with the rate and the latencies that were measured."""

    rate: float
    """Rate that was reached, per second; above 0."""
    latencies: tuple[float, ...]
    """Mean latency of each run, all above 0; there is at least one run."""
    carried: bool
    """Whether the requested rate was reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """The load with the largest ratio of throughput to latency."""

    rate: float
    """Rate at the knee, per second."""
    low: float
    """Lower end of the 95 % interval of the rate. The interval includes the distance between the requested loads."""
    high: float
    """Upper end of the 95 % interval of the rate."""
    latency: float
    """Mean latency at the knee, in the unit of `LoadPoint.latencies`."""
    at_limit: bool
    """Whether the knee is the highest load that was reached, so latency hardly rises up to there."""


@dataclass(frozen=True, slots=True)
class _CarriedLoad:
    """A load that was reached, with its latency as a logarithm."""

    rate: float
    latency: float
    """Natural logarithm of the mean latency."""

    @property
    def power(self) -> float:
        """Return the natural logarithm of the ratio of throughput to latency."""
        return log(self.rate) - self.latency


def knee(loads: Sequence[LoadPoint]) -> Knee | None:
    """Return the knee; None if fewer than three loads were reached, or if the knee may be above the highest load."""
    carried = sorted((load for load in loads if load.carried), key=lambda load: load.rate)
    if len(carried) < _FEWEST:
        return None
    places = [_CarriedLoad(point.rate, log(geometric_mean(point.latencies))) for point in carried]
    value = _best(places)
    step = _half_step(places, value)
    low, high = _interval(places, carried)
    low, high = _extend_to_break(places, min(low, value - step), max(high, value + step))
    highest = places[-1].rate
    if high >= highest:
        beyond = [load.rate for load in loads if not load.carried]
        if not beyond:
            return None
        high = max(high, *beyond)
    return Knee(rate=value, low=low, high=high, latency=exp(_latency_at(places, value)), at_limit=value >= highest)


def _best(loads: Sequence[_CarriedLoad]) -> float:
    """Return the rate at the maximum of a parabola that is fitted to the best loads; it is within their range."""
    powers = [load.power for load in loads]
    best = max(range(len(loads)), key=powers.__getitem__)
    first = last = best
    while first > 0 and powers[first - 1] >= powers[best] + log(NEAR_BEST):
        first -= 1
    while last + 1 < len(loads) and powers[last + 1] >= powers[best] + log(NEAR_BEST):
        last += 1
    return _vertex([load.rate for load in loads[first : last + 1]], powers[first : last + 1], loads[best].rate)


def _vertex(rates: Sequence[float], powers: Sequence[float], otherwise: float) -> float:
    """Return the position of the maximum of the least-squares parabola, limited to the range of the rates.

    Return `otherwise` if the parabola has no maximum.
    """
    if len(rates) < _FEWEST:
        return otherwise
    # With orthogonal polynomials, each coefficient is computed independently, so no matrix has to be inverted.
    middle, width = fsum(rates) / len(rates), rates[-1] - rates[0]
    first = [(rate - middle) / width for rate in rates]
    squares = fsum(x * x for x in first)
    skew, mean = fsum(x**3 for x in first) / squares, squares / len(first)
    second = [x * x - skew * x - mean for x in first]
    slope = fsum(x * y for x, y in zip(first, powers, strict=True)) / squares
    bend = fsum(x * y for x, y in zip(second, powers, strict=True)) / fsum(x * x for x in second)
    if bend >= 0:
        return otherwise
    return min(max(middle + width * (skew * bend - slope) / (2 * bend), rates[0]), rates[-1])


def _interval(places: Sequence[_CarriedLoad], loads: Sequence[LoadPoint]) -> tuple[float, float]:
    """Return the interval that contains the knees of 95 % of the simulated curves.

    The curves are simulated with the scatter of the runs and a fixed seed, so the result is reproducible.
    """
    least = max(curve_load.power for curve_load in places) + log(_MATTERS)
    near = [load for curve_load, load in zip(places, loads, strict=True) if curve_load.power >= least]
    deviations = list(_deviations(near))
    dof = len(deviations) - len(near)
    if dof < 1:
        return places[0].rate, places[-1].rate
    scatter = sqrt(fsum(deviation * deviation for deviation in deviations) / dof)
    # With so few runs the scatter is uncertain: use Student's t instead of the normal distribution.
    scatter *= quantile(1 - LEVEL / 2, dof) / quantile(1 - LEVEL / 2, 1e6)
    random = Random(1)
    drawn = sorted(_best(_simulated_curve(places, loads, scatter, random)) for _ in range(DRAWS))
    beyond = round(DRAWS * LEVEL / 2)
    return drawn[beyond], drawn[-1 - beyond]


def _deviations(loads: Sequence[LoadPoint]) -> Iterator[float]:
    """Yield the deviation of each run from the mean of its load, in logarithms."""
    for load in loads:
        mean = log(geometric_mean(load.latencies))
        yield from (log(latency) - mean for latency in load.latencies)


def _simulated_curve(
    places: Sequence[_CarriedLoad], loads: Sequence[LoadPoint], scatter: float, random: Random
) -> list[_CarriedLoad]:
    return [
        _CarriedLoad(curve_load.rate, curve_load.latency + random.gauss(0, scatter / sqrt(len(load.latencies))))
        for curve_load, load in zip(places, loads, strict=True)
    ]


def _half_step(loads: Sequence[_CarriedLoad], rate: float) -> float:
    """Return half the distance between the two loads next to `rate`, which is the resolution of the measured curve."""
    above = next((load.rate for load in loads if load.rate > rate), loads[-1].rate)
    below = next((load.rate for load in reversed(loads) if load.rate < rate), loads[0].rate)
    return (above - below) / (4 if any(load.rate == rate for load in loads) else 2)


def _extend_to_break(loads: Sequence[_CarriedLoad], low: float, high: float) -> tuple[float, float]:
    """Return both ends of the interval. An end is moved out to the next load if the ratio there is far below the best.

    No rate between the end and that load was measured, so the ratio may drop anywhere between them.
    """
    least = max(load.power for load in loads) + log(NEAR_BEST)
    above = next((load for load in loads if load.rate > high), None)
    below = next((load for load in reversed(loads) if load.rate < low), None)
    return (
        below.rate if below is not None and below.power < least else low,
        above.rate if above is not None and above.power < least else high,
    )


def _latency_at(places: Sequence[_CarriedLoad], rate: float) -> float:
    """Return the natural logarithm of the latency at a rate, by linear interpolation between two loads."""
    for load, other in pairwise(places):
        if load.rate <= rate <= other.rate and other.rate > load.rate:
            return load.latency + (other.latency - load.latency) * (rate - load.rate) / (other.rate - load.rate)
    return places[-1].latency
