"""Design of a comparison in pairs: the order of its runs, and its interim analyses (looks in the code). No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import Literal

from app.core.session.event_types import InterimAnalysis

# -- the order of paired runs -----------------------------------------------------------------------------------------

Letter = Literal["A", "B"]
"""A is the reference, B the tried value."""


def draw_order(looks: Sequence[InterimAnalysis], random: Random) -> tuple[Letter, ...]:
    """Return the letters of all pairs up to the last interim analysis; the first of each pair is drawn at random.

    A repeated ABBA has a period of four runs, so any other event with that period looks like a difference. With a job
    of a minute every five minutes nine of ten verdicts were false. Draws with equal halves are worse than free draws: 9
    to 13 % against 6 to 8 % of false verdicts under a period of three to twelve runs. So there is only one condition:
    both orders must occur before the first interim analysis, otherwise a drift would affect one letter only. The same
    condition between later analyses would draw halves: 10 to 11 % were false under a period of four runs.
    """
    first, last = looks[0].pairs, looks[-1].pairs
    while True:
        a_first = [random.random() < 0.5 for _ in range(last)]
        if first < 2 or 0 < sum(a_first[:first]) < first:
            break
    letters: list[Letter] = []
    for is_a_first in a_first:
        letters += ("A", "B") if is_a_first else ("B", "A")
    return tuple(letters)


def letters_of(order: Sequence[str]) -> tuple[Letter, ...]:
    """Return the letters of an order in a log."""
    return tuple("A" if letter == "A" else "B" for letter in order)


def switches(letters: Sequence[Letter]) -> int:
    """Return how often the setting changes along the letters, from A at the start and back to A at the end."""
    return sum(letter != other for letter, other in pairwise(("A", *letters, "A")))


# -- interim analyses of a comparison in pairs, and their levels ------------------------------------------------------

# Judging after every pair and stopping at the first interval that excludes 0 finds false differences. So the interim
# analyses are fixed before the first pair, and share one rate of false verdicts: the levels of `STANDARD` give 4 to 5 %
# of false verdicts in all, while three analyses at 5 % each give 11 %. "No difference" is not reached by chance if runs
# scatter much, so it has its own levels: a true effect as large as the threshold is called none in 5 % of experiments.
# The first analysis is at six pairs: under a period one at four would give 12 to 13 % of false verdicts.

LEVEL = 0.05
"""Rate of false verdicts of a comparison that is judged once."""

STANDARD = (
    InterimAnalysis(pairs=6, level=0.0044, no_difference=0.015),
    InterimAnalysis(pairs=8, level=0.010, no_difference=0.02),
    InterimAnalysis(pairs=10, level=0.0111, no_difference=0.025),
    InterimAnalysis(pairs=12, level=0.0122, no_difference=0.035),
    InterimAnalysis(pairs=16, level=0.0178, no_difference=0.045),
    InterimAnalysis(pairs=20, level=0.0266, no_difference=0.06),
)
"""Ends early if the difference is large or the runs agree, and continues if not."""

QUICK = (InterimAnalysis(pairs=3, level=0.04),)
"""A single analysis that finds only large differences.

Three pairs have six orders, so an event every four runs looks like a difference more often: at a level of 5 % in 6.2 %
of experiments, at this level in 5 %.
"""

UNDER_PERIODS = MappingProxyType({3: 0.27, 4: 0.13, 8: 0.06})
"""Rate of false verdicts under the strongest period of the machine, by the least number of pairs, judged once.

Few pairs have few orders, and all their differences are of similar size.
"""


def false_under_period(pairs: int) -> float:
    """Return the rate of false verdicts of this many pairs (three at least) under a strong periodic event."""
    return UNDER_PERIODS[max(fewest for fewest in UNDER_PERIODS if fewest <= pairs)]


UNTIL = tuple(InterimAnalysis(pairs=pairs, level=LEVEL) for pairs in (6, 12, 20, 30, 40, 50))
"""Interim analyses for a requested width of the interval.

Ending by width favours neither side, so no level is spent: 94 to 95 % of intervals that end this way cover the true
value.
"""

RULE = 3
"""Number of the rule for verdicts, stored in logs.

1: Student's t for any number of pairs, and one outlier pair vetoes. Each cell of a sweep is judged alone, corrected by
Holm's method.

2: Signed ranks from eight pairs on, without a veto. The cells of a sweep are judged by permuting the drawn order, as
one family with the confirming pairs.

3: A configuration of a sweep whose runs scatter more than those of the others has no verdict. Holm's method applies to
any number of metrics. A run without I/O is a verdict only if chance does not explain its side. No interval is narrower
than the resolution of its metric. There is no "no difference" if three or more runs are far slower, all on one side.
"""

AGAIN = 0.2
"""Share of its level for an experiment that repeats the question of another one in the session.

Each further repeat has half of that. The pairs of all of them are judged together. Repeating until a difference shows,
each time with the full level, was false in 24 % of cases after five times.
"""


def repeated_looks(looks: Sequence[InterimAnalysis], times: int, pairs: int) -> tuple[InterimAnalysis, ...]:
    """Return the interim analyses after `times` experiments with the same question and `pairs` pairs in all."""
    if not times:
        return tuple(looks)
    share = AGAIN / 2 ** (times - 1)
    return tuple(
        replace(
            look,
            pairs=pairs + look.pairs,
            level=look.level * share,
            no_difference=None if look.no_difference is None else look.no_difference * share,
        )
        for look in looks
    )


FEWEST_PAIRS = 3
"""Fewer pairs allow no verdict: with two the interval has one degree of freedom."""


def one_look(pairs: int) -> tuple[InterimAnalysis, ...]:
    """Return the single analysis of a fixed number of pairs, at the end."""
    return (InterimAnalysis(pairs=pairs, level=LEVEL),)


def due_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """Return the interim analysis at this number of pairs; None between two of them."""
    return next((look for look in looks if look.pairs == pairs), None)


def next_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """Return the next interim analysis after this number of pairs; None after the last."""
    return next((look for look in looks if look.pairs > pairs), None)
