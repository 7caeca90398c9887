"""Nights since a baseline, and histories that are looked at again and again: how often the alarm is false, how soon a
loss is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log
from random import Random

from app.engine.judge.drift import shifts
from app.engine.judge.nights import LEARNING, SIGHT, night_chart
from tests.method.line import FALSE, SURE, Line, percent, slack
from tests.method.simulated import gauss, heavy

YEAR = 365

Draw = Callable[[Random, int], list[float]]
"""Levels of so many sessions, as logarithms."""


def _each(kind: Callable[[float], Callable[[Random], float]], share: float) -> Draw:
    noise = kind(share)
    return lambda random, count: [noise(random) for _ in range(count)]


def _like_the_last(share: float, rho: float) -> Draw:
    def draw(random: Random, count: int) -> list[float]:
        found = [random.gauss(0, share)]
        while len(found) < count:
            found.append(rho * found[-1] + random.gauss(0, share * (1 - rho * rho) ** 0.5))
        return found

    return draw


def _nights(random: Random, draw: Draw, count: int, loss: float = 0.0, lost: int = 0) -> list[list[float]]:
    """Sessions of three runs that scatter by 1 %; so many more at the end with a loss."""
    levels = draw(random, count + lost)
    shifted = [level + (log(1 - loss) if at >= count else 0.0) for at, level in enumerate(levels)]
    return [[exp(level + random.gauss(0, 0.01)) for _ in range(3)] for level in shifted]


def false_alarms(count: int) -> Iterator[Line]:
    """A year of unchanged nights: episodes that were told, those while it learns included."""
    kinds: list[tuple[str, Draw, bool]] = [
        (f"{share * 100:g} %", _each(gauss, share), True) for share in (0.01, 0.02, 0.05, 0.10)
    ]
    kinds += [
        (f"{share * 100:g} %, Student's t with 3 degrees of freedom", _each(heavy, share), True)
        for share in (0.02, 0.05)
    ]
    kinds += [
        (
            f"{share * 100:g} %, each night like the one before by {rho:g}: told for comparison",
            _like_the_last(share, rho),
            False,
        )
        for share in (0.02, 0.05)
        for rho in (0.3, 0.5, 0.7)
    ]
    for name, draw, bound in kinds:
        random = Random(21)
        told = sum(len(night_chart(_nights(random, draw, YEAR)).episodes) for _ in range(count)) / count
        # Of a Poisson number with mean 1 the mean of `count` years has a standard error of 1 / sqrt(count).
        yield Line(cells=(name, f"{told:.2f}"), held=not bound or told <= 1 + SURE / count**0.5)


def losses(count: int) -> Iterator[Line]:
    """Nights until a loss is told, of machines without an alarm before it."""
    for name, draw in (("normal", _each(gauss, 0.02)), ("Student's t, 3", _each(heavy, 0.02))):
        for loss, most in ((0.10, 3), (0.05, 7)):
            for before in (LEARNING, 20, 60):
                random = Random(22)
                found = sorted(_told_after(random, draw, before, loss) for _ in range(count))
                half, nine = found[(count - 1) // 2], found[round(0.9 * (count - 1))]
                cells = (name, f"{loss * -100:+.0f} %", str(before), str(half), str(nine) if nine < 99 else "-")
                yield Line(cells=cells, held=half <= most)


def _told_after(random: Random, draw: Draw, before: int, loss: float) -> int:
    while True:
        nights = _nights(random, draw, before, loss, 30)
        if night_chart(nights[:before]).begun is None:
            break
    return next((place - before + 1 for place in night_chart(nights).episodes if place >= before), 99)


def named_sizes(count: int) -> Iterator[Line]:
    """Losses of the size that a check names: how often they are told within as many nights as it says."""
    for share in (0.01, 0.02, 0.05):
        for before in (LEARNING, 30):
            random, in_time, named = Random(23), 0, 0.0
            for _ in range(count):
                nights = _nights(random, _each(gauss, share), before)
                seen = night_chart(nights).seen_percent or 0.0
                named += seen / count
                later = _nights(random, _each(gauss, share), 0, seen / 100, SIGHT)
                chart = night_chart([*nights, *later])
                in_time += any(place >= before for place in chart.episodes)
            cells = (percent(share), str(before), percent(named / 100), percent(in_time / count))
            yield Line(cells=cells, held=in_time / count >= 0.5 - slack(count, 0.5))


def over_looks(count: int) -> Iterator[Line]:
    """Series that keep their level, looked at after every point: with any change ever told."""
    for name, draw in (
        ("5 %", _each(gauss, 0.05)),
        ("5 %, Student's t with 3 degrees of freedom", _each(heavy, 0.05)),
    ):
        random = Random(24)
        first: list[int] = []
        for _ in range(count):
            values = [*map(exp, draw(random, 60))]
            first.append(next((at for at in range(6, 61) if shifts(values[:at])), 99))
        found = [sum(at <= length for at in first) / count for length in (12, 30, 60)]
        yield Line(cells=(name, *map(percent, found)), held=max(found) <= FALSE + slack(count))
