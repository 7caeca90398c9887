"""Rows of the tables of `make method`, and the bounds that decide whether a rate keeps its promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import exp, fsum, lgamma, log, log1p
from random import Random
from zlib import crc32

FALSE = 0.05
"""Promised share of false verdicts."""

FIRST = 0.01
"""Chance that a rate as large as promised misses its bound: the bound of 99 %."""

AGAIN = 0.002
"""Chance that it misses the bound of the second draw, which is made of tables with a miss."""

SURE = 2.326
"""Standard errors that 99 of 100 draws stay within, to one side."""

_ROUNDS = [0]


@contextmanager
def drawn_again() -> Iterator[None]:
    """Make all experiments with other draws."""
    _ROUNDS[0] += 1
    try:
        yield
    finally:
        _ROUNDS[0] -= 1


def source(seed: int | str) -> Random:
    """Return the random numbers of a row: others for each draw of its table."""
    return Random(f"{seed} again {_ROUNDS[0]}" if _ROUNDS[0] else seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A count of experiments against a promised rate."""

    count: int
    """Experiments with the result that the rate is about."""
    draws: int
    """All experiments."""
    promised: float
    """Rate."""
    least: bool = False
    """Whether the rate is at least as large as promised; else it is at most that."""

    def holds(self, level: float) -> bool:
        """Return whether chance explains the count at this level, where the rate is as promised (binomial, exact)."""
        if self.least:
            return tail(self.draws - self.count, self.draws, 1 - self.promised) >= level
        return tail(self.count, self.draws, self.promised) >= level


@cache
def tail(count: int, draws: int, rate: float) -> float:
    """Return the chance of so many or more."""
    if count <= 0:
        return 1.0
    if rate <= 0 or count > draws:
        return 0.0
    if rate >= 1:
        return 1.0
    return min(1.0, fsum(map(exp, _logs(count, draws, rate))))


def _logs(count: int, draws: int, rate: float) -> Iterator[float]:
    whole = lgamma(draws + 1)
    for k in range(count, draws + 1):
        yield whole - lgamma(k + 1) - lgamma(draws - k + 1) + k * log(rate) + (draws - k) * log1p(-rate)


def at_most(share: float, draws: int, promised: float = FALSE) -> Bound:
    """Return the bound of a share that is promised to be no larger."""
    return Bound(count=round(share * draws), draws=draws, promised=promised)


def at_least(share: float, draws: int, promised: float) -> Bound:
    """Return the bound of a share that is promised to be no smaller."""
    return Bound(count=round(share * draws), draws=draws, promised=promised, least=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a table."""

    cells: tuple[str, ...]
    """Text of each column."""
    bounds: tuple[Bound, ...] = ()
    """Promises of the row."""

    def holds(self, level: float) -> bool:
        """Return whether chance explains each of its counts."""
        return all(bound.holds(level) for bound in self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A row that is declared by one function."""

    name: str
    """First column."""
    draw: Callable[[int, int], float]
    """From a seed and a number of experiments to the share of those with the result."""
    promised: float
    """Rate."""
    least: bool = False
    """Whether it is at least as large as promised."""


RATE_HEADS = ("experiments", "share", "promised")
"""Columns of a table of such rows."""


def rate_lines(rates: Sequence[Rate]) -> Callable[[int], Iterator[Line]]:
    """Return the rows, drawn."""

    def lines(draws: int) -> Iterator[Line]:
        for rate in rates:
            share = rate.draw(crc32(rate.name.encode()) + _ROUNDS[0], draws)
            bound = (at_least if rate.least else at_most)(share, draws, rate.promised)
            words = f"at {'least' if rate.least else 'most'} {percent(rate.promised)}"
            yield Line(cells=(rate.name, percent(share), words), bounds=(bound,))

    return lines


def percent(share: float) -> str:
    """`4.9 %`."""
    return f"{share * 100:.1f} %"


def slack(count: int, share: float = FALSE) -> float:
    """How far so many draws of such a share may lie off it: 99 of 100 do not lie further to that side."""
    return float(SURE * (share * (1 - share) / count) ** 0.5)
