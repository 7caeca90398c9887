"""Imaginary disks whose flushes are drawn as counts of quarter seconds, with known truth."""

from collections.abc import Callable
from math import erfc, exp, log, sqrt
from random import Random
from statistics import NormalDist

from app.features.fit.decision import RUNS, SECONDS, Quarter, RunCounts

LIMIT = 0.010
"""The limit of all worlds, in seconds."""

World = Callable[[Random], list[RunCounts]]

_NORMAL = NormalDist()
_Z99 = _NORMAL.inv_cdf(0.99)
_QUARTERS = SECONDS * 4
Pauses = list[tuple[float, float]]
"""Pauses as (second at which each ends, its length)."""


def _tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2


def _poisson(draw: Random, mean: float) -> int:
    if mean > 30:
        return max(0, round(draw.gauss(mean, sqrt(mean))))
    limit, count, product = exp(-mean), 0, draw.random()
    while product > limit:
        count += 1
        product *= draw.random()
    return count


def _run(draw: Random, middle: float, spread: float, pauses: Pauses, slow_from: float, slower: float) -> RunCounts:
    """Return a run with log-normal latencies, pauses, and a second from which flushes take `slower` times longer."""
    paused, over, stuck = [0.0] * _QUARTERS, [0] * _QUARTERS, [0.0] * _QUARTERS
    for end, length in pauses:
        at = min(_QUARTERS - 1, int(end * 4))
        paused[at] += length
        if middle + length > LIMIT:
            over[at] += 1
            stuck[at] += middle + length - LIMIT
    quarters, counted, slow_count, drawn = [], 0, 0, 0
    for at in range(_QUARTERS):
        factor = slower if at / 4 >= slow_from else 1.0
        here = middle * factor
        mean = here * exp(spread * spread / 2)
        expected = max(0.0, 0.25 - paused[at]) / mean
        number = max(0, round(draw.gauss(expected, sqrt(expected) * sqrt(exp(spread * spread) - 1))))
        share = _tail(log(LIMIT / here) / spread)
        late = min(number, _poisson(draw, number * share)) if share > 1e-7 else 0
        for _ in range(late if late <= 20 else 20):
            z = _NORMAL.inv_cdf(1 - share * (1 - draw.random()))
            stuck[at] += (here * exp(spread * z) - LIMIT) * max(1.0, late / 20)
        counted += number
        slow_count += number if factor > 1 else 0
        drawn += late if factor == 1 else 0
        quarters.append(Quarter(0.25, number + over[at], over[at] + late, min(stuck[at], 0.25 + paused[at])))
    slow_share, missing = slow_count / max(1, counted), len(pauses) / max(1, counted)
    low, high = log(middle), log(middle * slower * 10)
    for _ in range(40):  # the 99th percentile of the mixture
        x = (low + high) / 2
        beyond = (1 - slow_share) * _tail((x - log(middle)) / spread) + missing
        if slow_share:
            beyond += slow_share * _tail((x - log(middle * slower)) / spread)
        low, high = (x, high) if beyond > 0.01 else (low, x)
    share = _tail(log(LIMIT / middle) / spread)
    if share > 1e-3 and slower == 1:  # the percentile scatters with the flushes over the limit
        density = exp(-(_NORMAL.inv_cdf(1 - share) ** 2) / 2) / sqrt(2 * 3.14159265)
        noise = spread * (drawn / counted - share) / density
    else:
        noise = draw.gauss(0, spread * 3.73 / sqrt(max(100, counted)))
    longest = max([middle * exp(spread * 4), *(length for _, length in pauses)])
    return RunCounts(quarters, exp(low + noise), longest)


def _runs(
    draw: Random,
    middle: float = 0.001,
    spread: float = 0.4,
    *,
    between: float = 0.0,
    pauses: Callable[[Random], Pauses] = lambda draw: [],
    slow_from: float = 1e9,
    slower: float = 1.0,
) -> list[RunCounts]:
    return [
        _run(
            draw,
            middle * exp(draw.gauss(0, between)) if between else middle,
            spread,
            pauses(draw),
            slow_from - number * SECONDS,
            slower,
        )
        for number in range(RUNS)
    ]


def steady(ratio: float) -> World:
    """Return a disk whose 99th percentile is `ratio` times the limit."""
    return lambda draw: _runs(draw, ratio * LIMIT / exp(_Z99 * 0.5), 0.5)


def varying(ratio: float) -> World:
    """Return a disk whose runs differ by 25 %, with a 99th percentile of `ratio` times the limit over all runs."""
    spread = sqrt(0.5**2 + 0.25**2)
    return lambda draw: _runs(draw, ratio * LIMIT / exp(_Z99 * spread), 0.5, between=0.25)


def pausing(share: float) -> World:
    """Return a disk that pauses for 10 to 100 ms, so that it is stuck for `share` of the time."""
    steps = [0.01 + 0.09 * (step + 0.5) / 500 for step in range(500)]
    rate = share / (sum(max(0.0, step + 0.0012 - LIMIT) for step in steps) / 500)

    def pauses(draw: Random) -> Pauses:
        return [(draw.uniform(0, SECONDS), draw.uniform(0.01, 0.1)) for _ in range(_poisson(draw, rate * SECONDS))]

    return lambda draw: _runs(draw, pauses=pauses)


def episodic(share: float, shortest: float = 0.2, longest: float = 0.5) -> World:
    """Return a disk with episodes in which one pause follows another, so that it is stuck for `share` of the time."""
    rate = share / (((shortest + longest) / 2 + 0.03) * 0.84)

    def pauses(draw: Random) -> Pauses:
        ends: Pauses = []
        for _ in range(_poisson(draw, rate * SECONDS)):
            at, left = draw.uniform(0, SECONDS), draw.uniform(shortest, longest)
            while left > 0:
                length = draw.uniform(0.02, 0.1)
                at, left = at + length, left - length
                ends.append((at, length))
        return ends

    return lambda draw: _runs(draw, pauses=pauses)


def collecting(every: int) -> World:
    """Return a disk that pauses for 50 ms after `every` flushes."""
    period = every * 0.001 * exp(0.4**2 / 2) + 0.05

    def pauses(draw: Random) -> Pauses:
        at = draw.uniform(0, period)
        return [(at + number * period, 0.05) for number in range(int((SECONDS - at) / period) + 1)]

    return lambda draw: _runs(draw, pauses=pauses)


def filling(earliest: float, latest: float) -> World:
    """Return a disk whose fast cache is full at a second between `earliest` and `latest`, and then 12 times slower."""
    return lambda draw: _runs(draw, slow_from=draw.uniform(earliest, latest), slower=12.0)
