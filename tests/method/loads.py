"""Devices whose curve is known, loaded by the searches of the program itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, factorial, fsum, inf
from random import Random
from types import MappingProxyType

from app.core.session.sweep_steps import RateSeries, Saturation, SweepCell
from app.features.sweep.engine.cells import RunScore
from app.features.sweep.engine.load_curve import DEEPER, LEAST_DEPTH, MOST_DEPTH, RatePoint, curve_knee, next_percents
from app.features.sweep.engine.saturation import LEAST_RUNS, DepthPoint, best, next_runs, plateau

CELL = SweepCell(id="k1", row="as it is", column="randread", where="t")
SECONDS = 30.0
"""Of a run."""
SERVICE = 1e-3
"""Seconds that a request takes with nothing else in flight."""


@dataclass(frozen=True, slots=True)
class Device:
    """What it does under an open load."""

    rise: Callable[[float], float]
    """Latency at a share of the capacity below 1, by that of a single request."""
    capacity: float = 40_000.0
    """I/Os per second at most."""

    @property
    def knee(self) -> float:
        """The load with the most throughput by latency, by the definition of a maximum."""
        return self.capacity * max((share / 2000 for share in range(1, 2000)), key=lambda x: x / self.rise(x))

    def closed(self, depth: int) -> float:
        """I/Os per second with so many in flight, by Little's law."""
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            more = middle * self.capacity * SERVICE * self.rise(middle) < depth
            low, high = (middle, high) if more else (low, middle)
        return low * self.capacity

    def open(self, rate: float, depth: int) -> tuple[float, float]:
        """I/Os per second and seconds of latency under a rate; what is too much for it waits, `depth` at most."""
        most = self.closed(depth)
        return (most, depth / most) if rate >= most else (rate, SERVICE * self.rise(rate / self.capacity))


@cache
def _waiting(servers: int, share: float) -> float:
    """Erlang's C: how many of the requests wait."""
    load = servers * share
    full = load**servers / factorial(servers) / (1 - share)
    return full / (fsum(load**k / factorial(k) for k in range(servers)) + full)


def servers(count: int) -> Device:
    """M/M/c: random arrivals, random service times."""
    return Device(lambda share: 1 + _waiting(count, share) / (count * (1 - share)), capacity=count / SERVICE)


DEVICES: Mapping[str, Device] = MappingProxyType(
    {
        "one server (M/M/1)": servers(1),
        "8 servers (M/M/8)": servers(8),
        "32 servers (M/M/32)": servers(32),
        "hard saturation": Device(lambda share: 1.0),
    }
)
"""By what a table calls them."""

FLAT = Device(lambda share: 1.0, capacity=inf)
"""Whatever is asked for is carried, at one latency."""


def score(iops: float, seconds: float) -> RunScore:
    """A run of which nothing but the mean latency counts."""
    latency = round(seconds * 1e9)
    return RunScore(
        iops=iops, bytes_per_second=0.0, p99_ns=4 * latency, mean_ns=float(latency), ios=round(iops * SECONDS)
    )


def depths(device: Device, random: Random, scatter: float, goal: Saturation) -> tuple[DepthPoint, ...]:
    """All points of a search on a device whose runs scatter so much."""
    runs: dict[int, list[RunScore]] = {}
    points: tuple[DepthPoint, ...] = ()
    while wanted := next_runs(points, goal, LEAST_RUNS, random):
        for depth in wanted:
            iops = device.closed(depth) * exp(random.gauss(0, scatter))
            runs.setdefault(depth, []).append(score(iops, depth / iops))
        points = tuple(
            DepthPoint(depth=depth, cell=CELL, tried=len(one), scores=tuple(one)) for depth, one in sorted(runs.items())
        )
    return points


def rates(device: Device, random: Random, scatter: float, saturation: float, depth: int) -> tuple[RatePoint, ...]:
    """All points of a curve on a device whose latency scatters so much from run to run."""
    runs: dict[int, list[RunScore]] = {}
    points: tuple[RatePoint, ...] = ()
    while wanted := next_percents(points, RateSeries(), LEAST_RUNS, random):
        for percent in wanted:
            asked = saturation * percent / 100
            iops, seconds = device.open(asked * exp(random.gauss(0, (asked * SECONDS) ** -0.5)), depth)
            runs.setdefault(percent, []).append(score(iops, seconds * exp(random.gauss(0, scatter))))
        points = tuple(
            RatePoint(percent=one, asked=saturation * one / 100, cell=CELL, tried=len(each), scores=tuple(each))
            for one, each in sorted(runs.items())
        )
    return points


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """What came of a search and a curve on one device, as shares of the truth."""

    saturation: float
    """Found by the capacity."""
    knee: float | None
    """Found by the true one; None where it was not found."""
    covered: bool
    """Whether the true one lies in its interval."""


def bend(device: Device, random: Random, scatter: float) -> Bend:
    """The whole of it: the saturation, then the curve."""
    searched = depths(device, random, scatter, Saturation())
    top, least = plateau(searched, Saturation()), best(searched, Saturation())
    assert top is not None
    assert least is not None
    depth = min(MOST_DEPTH, max(LEAST_DEPTH, DEEPER * least.depth))
    found = curve_knee(rates(device, random, scatter, top.mean, depth))
    return Bend(
        saturation=top.mean / device.capacity,
        knee=None if found is None else found.rate / device.knee,
        covered=found is not None and found.low <= device.knee <= found.high,
    )
