"""Series over sessions whose truth is known: changes of level, and baselines held against a later session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import exp, log
from random import Random
from types import MappingProxyType

from app.core.analysis.drift import shifts
from app.core.analysis.regression import RegressionVerdict, judge_later, session_scatter
from tests.method.line import Line, at_least, at_most, percent, source
from tests.method.simulated import Noise, gauss, heavy

LENGTHS = (6, 10, 20, 50)
"""Points of a series."""

FOUND: Mapping[tuple[float, float], tuple[float, ...]] = MappingProxyType(
    {
        (0.02, 0.05): (0.30, 0.20, 0.60, 0.90),
        (0.02, 0.10): (0.85, 0.87, 0.98, 0.98),
        (0.05, 0.10): (0.15, 0.08, 0.27, 0.77),
        (0.05, 0.20): (0.66, 0.59, 0.95, 0.98),
    }
)
"""Of each scatter and change the least share in which it is found, by the number of points."""


def _half_like_the_last(share: float) -> Callable[[Random, int], list[float]]:
    def draw(random: Random, count: int) -> list[float]:
        found = [random.gauss(0, share)]
        while len(found) < count:
            found.append(0.5 * found[-1] + random.gauss(0, share * 0.75**0.5))
        return found

    return draw


def _each(noise: Noise) -> Callable[[Random, int], list[float]]:
    return lambda random, count: [noise(random) for _ in range(count)]


def false_changes(count: int) -> Iterator[Line]:
    """Series that keep their level, with any change."""
    kinds = (
        ("1 %", _each(gauss(0.01)), True),
        ("2 %", _each(gauss(0.02)), True),
        ("5 %", _each(gauss(0.05)), True),
        ("10 %", _each(gauss(0.10)), True),
        ("5 %, Student's t with 3 degrees of freedom", _each(heavy(0.05)), True),
        (
            "5 %, each half like the one before: no constant level, told for comparison",
            _half_like_the_last(0.05),
            False,
        ),
    )
    for name, draw, bound in kinds:
        random = source(11)
        found = [
            sum(bool(shifts([*map(exp, draw(random, length))])) for _ in range(count)) / count for length in LENGTHS
        ]
        bounds = tuple(at_most(share, count) for share in found) if bound else ()
        yield Line(cells=(name, *map(percent, found)), bounds=bounds)


def found_changes(count: int) -> Iterator[Line]:
    """Series whose level changes in the middle: how often that is found, and at most one point off."""
    for (scatter, step), least in FOUND.items():
        random = source(12)
        cells = (f"{scatter * 100:g} %", f"{step * 100:+g} %")
        shares = []
        for length in LENGTHS:
            near = 0
            for _ in range(count):
                values = [exp(random.gauss(0, scatter)) * (1 + step * (at >= length // 2)) for at in range(length)]
                near += any(abs(shift.at - length // 2) <= 1 for shift in shifts(values))
            shares.append(near / count)
        bounds = tuple(at_least(share, count, one) for share, one in zip(shares, least, strict=True))
        yield Line(cells=(*cells, *map(percent, shares)), bounds=bounds)


def checks(count: int) -> Iterator[Line]:
    """Baseline and check of three runs each that scatter by 1 %, sessions that lie apart, threshold 5 %."""
    for sessions in (0.0, 0.01, 0.03, 0.05):
        for others in (0, 4, 10, 20):
            found = [_check(source(f"{sessions} {others} {at}"), sessions, others) for at in range(count)]
            halved = [_check(source(f"h {sessions} {others} {at}"), sessions, others, log(0.5)) for at in range(count)]
            worse, not_worse = (
                found.count(which) / count for which in (RegressionVerdict.WORSE, RegressionVerdict.NOT_WORSE)
            )
            seen = halved.count(RegressionVerdict.WORSE) / count
            bounds = (at_most(worse, count),) if others or not sessions else ()
            words = (percent(worse), percent(not_worse), percent(seen))
            yield Line(cells=(f"{sessions * 100:g} %", str(others or "none"), *words), bounds=bounds)


def _check(random: Random, sessions: float, others: int, effect: float = 0.0) -> RegressionVerdict:
    def session(level: float = 0.0) -> list[float]:
        here = level + random.gauss(0, sessions)
        return [exp(here + random.gauss(0, 0.01)) for _ in range(3)]

    known = [exp(sum(map(log, session())) / 3) for _ in range(others)]
    return judge_later(session(), session(effect), between=session_scatter(known)).standing
