"""What a comparison in pairs shows beside its effect: an order, a trend or a period of the machine itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import cos, expm1, fsum, log, pi, sin, sqrt

from app.engine.judge.grouping import Sides
from app.engine.judge.student import tails
from app.engine.session.state import RunRecord

SURE = 0.01
"""Only what chance makes in one experiment of a hundred is told."""

FEWEST = 6
"""Pairs below which nothing of the kind can be seen."""


def disturbances(sides: Sides, value: Callable[[RunRecord], float | None]) -> Iterator[str]:
    """Sentences on what the runs did by themselves. Pairs drawn in turn cancel it; it widens the interval."""
    if not sides.interleaved or len(sides.a) < FEWEST:
        return
    letters = {run.id: letter for letter, runs in (("A", sides.a), ("B", sides.b)) for run in runs}
    timed = sorted((*sides.a, *sides.b), key=lambda run: run.start.at)
    values = [value(run) for run in timed]
    logs = [log(one) for one in values if one is not None and one > 0]
    if len(logs) == len(timed):
        yield from found([letters[run.id] for run in timed], logs)


def found(letters: Sequence[str], logs: Sequence[float]) -> Iterator[str]:
    """Order, trend and period in logarithms of the runs in time, each with the letter of its side; as sentences."""
    centre = {
        letter: _mean([one for each, one in zip(letters, logs, strict=True) if each == letter]) for letter in "AB"
    }
    residuals = [one - centre[letter] for letter, one in zip(letters, logs, strict=True)]
    seconds = [second - first for first, second in zip(residuals[::2], residuals[1::2], strict=True)]
    if _p_of_mean(seconds) < SURE:
        yield f"The second run of a pair differed from the first by {_percent(_mean(seconds))}, whichever it was."
    slope, p = _trend(residuals)
    if p < SURE:
        yield f"The runs drifted by {_percent(slope * (len(residuals) - 1))} from the first to the last."
        middle = (len(residuals) - 1) / 2
        residuals = [one - slope * (at - middle) for at, one in enumerate(residuals)]
    period, p = _period(residuals)
    if p < SURE:
        yield f"The runs rose and fell with a period of about {period:.1f} runs: something else works at intervals."


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _p_of_mean(values: Sequence[float]) -> float:
    """Two-sided p of a mean of 0, after Student."""
    mean, n = _mean(values), len(values)
    error = sqrt(fsum((one - mean) ** 2 for one in values) / (n - 1) / n)
    return tails(mean / error, n - 1) if error else 1.0


def _trend(values: Sequence[float]) -> tuple[float, float]:
    """Slope a run of the line through them, and the p of none."""
    n = len(values)
    middle, mean = (n - 1) / 2, _mean(values)
    squares = fsum((at - middle) ** 2 for at in range(n))
    slope = fsum((at - middle) * (one - mean) for at, one in enumerate(values)) / squares
    rest = fsum((one - mean - slope * (at - middle)) ** 2 for at, one in enumerate(values)) / (n - 2)
    return slope, tails(slope / sqrt(rest / squares), n - 2) if rest else 1.0


def _period(values: Sequence[float]) -> tuple[float, float]:
    """Runs in the strongest period, and the p of chance: Fisher's g, the largest share of the periodogram."""
    n, mean = len(values), _mean(values)
    count = (n - 1) // 2
    powers = [_power(values, mean, cycles) for cycles in range(1, count + 1)]
    total = fsum(powers)
    if not total:
        return 0.0, 1.0
    strongest = max(range(count), key=lambda at: powers[at])
    return n / (strongest + 1), min(1.0, count * (1 - powers[strongest] / total) ** (count - 1))


def _power(values: Sequence[float], mean: float, cycles: int) -> float:
    turn = 2 * pi * cycles / len(values)
    along = fsum((one - mean) * cos(turn * at) for at, one in enumerate(values))
    across = fsum((one - mean) * sin(turn * at) for at, one in enumerate(values))
    return along**2 + across**2


def _percent(ratio: float) -> str:
    return f"{expm1(ratio) * 100:+.1f} %"
