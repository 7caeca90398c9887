"""The usual plan as the program judges it: the pairs so far, by their plan, after every pair."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from random import Random

from app.core.analysis import pair_design
from app.core.analysis.comparison import compare_headline
from app.core.analysis.sample_groups import ComparisonSides, RunOrder
from app.core.analysis.verdict import VerdictResult
from app.core.session.state import RunRecord
from tests.features.sweep.making import run
from tests.method.line import Line, at_least, at_most, percent, source
from tests.method.simulated import gauss

BETWEEN = (3, 9, 15)
"""Pairs after which nothing is to be decided: between two looks."""


def looked(count: int) -> Iterator[Line]:
    """False verdicts, coverage of the interval that ended it, and verdicts given where no look was planned."""
    for scatter, effect in ((0.02, 0.0), (0.05, 0.0), (0.05, 0.05)):
        random, wrong, covered, early = source(61), 0, 0, 0
        for _ in range(count):
            sides = _drawn(random, scatter, effect)
            early += any(_at(sides, number).decided for number in BETWEEN)
            seen = next(
                one
                for look in pair_design.STANDARD
                for one in [_at(sides, look.pairs)]
                if one.decided or look is pair_design.STANDARD[-1]
            )
            right = seen.interval is not None and seen.interval.mean > 0 and effect > 0
            wrong += seen.differs and not right
            covered += seen.interval is not None and seen.interval.low <= log(1 + effect) <= seen.interval.high
        bounds = (
            at_most(wrong / count, count),
            at_least(covered / count, count, 0.94),
            at_most(early / count, count, 0.0),
        )
        cells = (percent(scatter), f"{effect * 100:+.0f} %", percent(wrong / count), percent(covered / count))
        yield Line(cells=(*cells, percent(early / count)), bounds=bounds)


def _drawn(random: Random, scatter: float, effect: float) -> dict[str, list[RunRecord]]:
    noise, most = gauss(scatter), pair_design.STANDARD[-1].pairs
    return {
        letter: [run(f"{letter}{at}", 1e5 * (1 + shift) * exp(noise(random))) for at in range(most)]
        for letter, shift in (("A", 0.0), ("B", effect))
    }


def _at(runs: dict[str, list[RunRecord]], number: int) -> VerdictResult:
    sides = ComparisonSides(
        a=tuple(runs["A"][:number]),
        b=tuple(runs["B"][:number]),
        interleaved=True,
        order=RunOrder.EXPERIMENT,
        experiment="e1",
        looks=pair_design.STANDARD,
    )
    row = compare_headline(sides)
    if row is None or row.judgement is None:
        raise ValueError("nothing was judged")
    return row.judgement
