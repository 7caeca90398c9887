"""Runs that lie far off: what they hide of an effect, what they make of none, and whether they are named."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from zlib import crc32

from app.core.analysis.verdict import judge
from tests.method.line import Line, at_least, at_most, percent, source
from tests.method.simulated import Noise, fixed, gauss, heavy, shares
from tests.method.worlds import bimodal, wild

PAIRS = (6, 8, 12, 20, 50)

NULLS: tuple[tuple[str, Noise], ...] = (
    ("none, 2 %", gauss(0.02)),
    ("one run of twenty ten times slower, 2 %", wild(0.02)),
    ("Student's t with 3 degrees of freedom, 5 %", heavy(0.05)),
    ("now fast, now 20 % slower", bimodal(0.20)),
)

FOUND: tuple[tuple[str, Noise, dict[int, float]], ...] = (
    ("none, 2 %", gauss(0.02), {6: 0.88, 12: 0.99, 20: 0.99}),
    ("one run of twenty ten times slower, 2 %", wild(0.02), {12: 0.80, 20: 0.90, 50: 0.99}),
    ("Student's t with 3 degrees of freedom, 2 %", heavy(0.02), {12: 0.95, 20: 0.99}),
)
"""World, and of some numbers of pairs the least share in which +5 % has to be found."""

OTHERS = 0.08
"""Rosner's test has 5 % of many values; of twelve that are all from one distribution it names one a bit more often."""


def false_in_tails(count: int) -> Iterator[Line]:
    """False verdicts where both settings are the same."""
    for name, noise in NULLS:
        found = [
            shares(count, noise, seed=crc32(f"{name}, {pairs}".encode()) + 1, looks=fixed(pairs)).differences
            for pairs in PAIRS
        ]
        yield Line(cells=(name, *map(percent, found)), bounds=tuple(at_most(share, count) for share in found))


def found_in_tails(count: int) -> Iterator[Line]:
    """An effect of +5 %: found, and not less often with more pairs."""
    for name, noise, least in FOUND:
        of = {pairs: shares(count, noise, seed=pairs, effect=0.05, looks=fixed(pairs)).differences for pairs in PAIRS}
        bounds = tuple(at_least(of[pairs], count, share) for pairs, share in least.items())
        yield Line(cells=(name, *(percent(of[pairs]) for pairs in PAIRS)), bounds=bounds)


def named_far(count: int) -> Iterator[Line]:
    """Twelve pairs that scatter by 2 %, some of which have a run that is ten times slower: those are named."""
    for far in (0, 1, 2):
        random, named, others = source(51 + far), 0, 0
        for _ in range(count):
            places = random.sample(range(12), far)
            a = [100.0 * (0.1 if at in places else 1.0) * 2.0 ** random.gauss(0, 0.02 / log(2)) for at in range(12)]
            b = [100.0 * 2.0 ** random.gauss(0, 0.02 / log(2)) for _ in range(12)]
            seen = {outlier.pair - 1 for outlier in judge(a, b, interleaved=True).outliers}
            named += set(places) <= seen
            others += bool(seen - set(places))
        bounds = at_least(named / count, count, 0.95), at_most(others / count, count, OTHERS)
        yield Line(cells=(str(far), percent(named / count) if far else "-", percent(others / count)), bounds=bounds)
