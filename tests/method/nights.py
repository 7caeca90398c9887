"""Nights since a baseline, and histories that are looked at again and again: how often the alarm is false, how soon a
loss is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log
from random import Random

from app.core.analysis.control_chart import LEARNING, SIGHT, night_chart
from app.core.analysis.drift import shifts
from tests.method.line import Bound, Line, Rate, at_least, at_most, percent, source
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


def weekends(loss: float, share: float = 0.02) -> Draw:
    """Two nights of seven are slower, from any night of the week on."""
    return lambda random, count: _recurring(random, count, loss, share, 7, 2)


def maintained(loss: float, share: float = 0.02) -> Draw:
    """One night of thirty is slower, from any on."""
    return lambda random, count: _recurring(random, count, loss, share, 30, 1)


def _recurring(random: Random, count: int, loss: float, share: float, cycle: int, slow: int) -> list[float]:
    first = random.randrange(cycle)
    lost = log(1 - loss)
    return [random.gauss(0, share) + (lost if (at + first) % cycle < slow else 0.0) for at in range(count)]


def two_levels(loss: float, chance: float, share: float = 0.02) -> Draw:
    """Each night is slower by chance."""
    lost = log(1 - loss)
    return lambda random, count: [
        random.gauss(0, share) + (lost if random.random() < chance else 0.0) for _ in range(count)
    ]


def once(loss: float, nights: int, share: float = 0.02) -> Draw:
    """So many nights in a row are slower, once after the tenth and before the last twenty."""

    def draw(random: Random, count: int) -> list[float]:
        first = random.randrange(LEARNING, max(LEARNING + 1, count - 20 - nights))
        lost = log(1 - loss)
        return [random.gauss(0, share) + (lost if first <= at < first + nights else 0.0) for at in range(count)]

    return draw


def drifting(loss: float, share: float = 0.02) -> Draw:
    """Speed is lost in a line, so much a year."""
    return lambda random, count: [random.gauss(0, share) + log(1 - loss) * at / YEAR for at in range(count)]


def missing(draw: Draw, chance: float) -> Draw:
    """Nights of another kind, of which so many were not measured."""

    def drawn(random: Random, count: int) -> list[float]:
        left = [level for level in draw(random, 3 * count) if random.random() >= chance]
        return left[:count]

    return drawn


ALARMS: tuple[tuple[str, Draw, float], ...] = (
    *((f"{share * 100:g} %", _each(gauss, share), 1.0) for share in (0.01, 0.02, 0.05, 0.10)),
    *(
        (f"{share * 100:g} %, Student's t with 3 degrees of freedom", _each(heavy, share), 1.0)
        for share in (0.02, 0.05)
    ),
    *(
        (f"{share * 100:g} %, successive nights correlated by {rho:g}", _like_the_last(share, rho), 1.0)
        for share in (0.02, 0.05)
        for rho in (0.3, 0.5, 0.7)
    ),
    ("1 %, weekends -20 %", weekends(0.20, 0.01), 1.0),
    ("2 %, weekends -20 %", weekends(0.20), 1.0),
    ("2 %, weekends -40 %", weekends(0.40), 1.0),
    ("2 %, weekends -20 %, a third of the nights missing", missing(weekends(0.20), 1 / 3), 1.0),
    ("2 %, every second night -20 %, by chance", two_levels(0.20, 0.5), 1.0),
    ("2 %, three nights of twenty -20 %, by chance", two_levels(0.20, 0.15), 2.0),
    ("2 %, one night a month -30 %", maintained(0.30), 2.0),
    ("2 %, a single night at half speed", once(0.50, 1), 1.2),
    ("2 %, a single week -20 %", once(0.20, 7), 1.2),
)
"""How nights are, and the alarms a year that are promised at most; those of a single fault are true."""


def false_alarms(count: int) -> Iterator[Line]:
    """Alarms in a year without a lasting loss, those while the chart learns included."""
    for name, draw, promised in ALARMS:
        random = source(21)
        told = sum(len(night_chart(_nights(random, draw, YEAR)).episodes) for _ in range(count))
        bound = Bound(count=told, draws=count * YEAR, promised=promised / YEAR)
        yield Line(cells=(name, f"{told / count:.2f}", f"{promised:g}"), bounds=(bound,))


def _reported(draw: Draw, loss: float, before: int, within: int) -> Callable[[int, int], float]:
    """The share of machines without an alarm of their own on the last night that report a loss after so many nights."""

    def share(seed: int, draws: int) -> float:
        random = Random(seed)
        return sum(_told_after(random, draw, before, loss) <= within for _ in range(draws)) / draws

    return share


def _drift_reported(seed: int, draws: int) -> float:
    random = Random(seed)
    return sum(bool(night_chart(_nights(random, drifting(0.10), YEAR)).episodes) for _ in range(draws)) / draws


RHYTHMS: tuple[Rate, ...] = tuple(
    Rate(name=name, draw=draw, promised=promised, least=True)
    for name, draw, promised in (
        ("weekends -20 %: a loss of 10 %, within 14 nights", _reported(weekends(0.20), 0.10, 150, 14), 0.75),
        ("weekends -10 %: a loss of 10 %, within 7 nights", _reported(weekends(0.10), 0.10, 150, 7), 0.75),
        ("one night a month -30 %: a loss of 10 %, within 10 nights", _reported(maintained(0.3), 0.10, 150, 10), 0.75),
        ("once a night at half speed: a loss of 10 %, within 4 nights", _reported(once(0.5, 1), 0.10, 150, 4), 0.9),
        ("once a week -20 %: a loss of 5 %, within 10 nights", _reported(once(0.2, 7), 0.05, 150, 10), 0.75),
        ("correlated by 0.5: a loss of 10 %, within 7 nights", _reported(_like_the_last(0.02, 0.5), 0.10, 60, 7), 0.9),
        ("a drift of 10 % in a year", _drift_reported, 0.9),
    )
)
"""Losses that are reported, although nights are not independent of each other."""


def losses(count: int) -> Iterator[Line]:
    """Nights until a loss is told, of machines without an alarm before it."""
    for name, draw in (("normal", _each(gauss, 0.02)), ("Student's t, 3", _each(heavy, 0.02))):
        for loss, most in ((0.10, 3), (0.05, 7)):
            for before in (LEARNING, 20, 60):
                random = source(22)
                found = sorted(_told_after(random, draw, before, loss) for _ in range(count))
                half, nine = found[(count - 1) // 2], found[round(0.9 * (count - 1))]
                cells = (name, f"{loss * -100:+.0f} %", str(before), str(half), str(nine) if nine < 99 else "-")
                in_time = sum(nights <= most for nights in found) / count
                yield Line(cells=cells, bounds=(at_least(in_time, count, 0.5),))


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
            random, in_time, named = source(23), 0, 0.0
            for _ in range(count):
                nights = _nights(random, _each(gauss, share), before)
                seen = night_chart(nights).seen_percent or 0.0
                named += seen / count
                later = _nights(random, _each(gauss, share), 0, seen / 100, SIGHT)
                chart = night_chart([*nights, *later])
                in_time += any(place >= before for place in chart.episodes)
            cells = (percent(share), str(before), percent(named / 100), percent(in_time / count))
            yield Line(cells=cells, bounds=(at_least(in_time / count, count, 0.5),))


def over_looks(count: int) -> Iterator[Line]:
    """Series that keep their level, looked at after every point: with any change ever told."""
    for name, draw in (
        ("5 %", _each(gauss, 0.05)),
        ("5 %, Student's t with 3 degrees of freedom", _each(heavy, 0.05)),
    ):
        random = source(24)
        first: list[int] = []
        for _ in range(count):
            values = [*map(exp, draw(random, 60))]
            first.append(next((at for at in range(6, 61) if shifts(values[:at])), 99))
        found = [sum(at <= length for at in first) / count for length in (12, 30, 60)]
        yield Line(cells=(name, *map(percent, found)), bounds=tuple(at_most(share, count) for share in found))
