"""Design of a comparison in pairs: the order of its runs, and its interim analyses ("looks" in the code). No I/O."""

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
"""Letter of a side of a comparison: A has the reference value of the setting, B the value to be tried."""


def draw_order(looks: Sequence[InterimAnalysis], random: Random) -> tuple[Letter, ...]:
    """Return the letters of all runs up to the last interim analysis. The first letter of each pair is drawn at random.

    A repeated ABBA has a period of four runs, so any other event with that period looks like a difference. With a
    disturbance of one minute every five minutes, nine of ten verdicts were false. Draws in which both orders are
    equally frequent are worse than free draws: 9 to 13 % of false verdicts against 6 to 8 %, under a period of three to
    twelve runs. So there is only one condition: both orders must occur before the first interim analysis. Otherwise a
    drift would affect only one letter. With the same condition between later analyses, both orders would be equally
    frequent again: 10 to 11 % of verdicts were false under a period of four runs.
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
    """Return the letters of an order that was read from a log."""
    return tuple("A" if letter == "A" else "B" for letter in order)


def switches(letters: Sequence[Letter]) -> int:
    """Return how often the setting is changed for runs in this order.

    Before and after the runs it has the value of A.
    """
    return sum(letter != other for letter, other in pairwise(("A", *letters, "A")))


# -- interim analyses of a comparison in pairs, and their levels ------------------------------------------------------

# An experiment that is analysed after every pair and stops at the first interval without 0 often finds a false
# difference. So the analyses are fixed before the first pair, and share one rate of false verdicts. The levels of
# `STANDARD` give 4 to 5 % of false verdicts in all; three analyses at 5 % each give 11 %. A verdict of "no difference"
# cannot arise by chance while runs scatter widely, so it has its own levels. With these, a true effect as large as the
# threshold is judged "no difference" in 5 % of experiments. The first analysis is after six pairs, because after four
# pairs a periodic disturbance would give 12 to 13 % of false verdicts.

LEVEL = 0.05
"""Rate of false verdicts of a comparison with a single analysis."""

STANDARD = (
    InterimAnalysis(pairs=6, level=0.0044, no_difference=0.015),
    InterimAnalysis(pairs=8, level=0.010, no_difference=0.02),
    InterimAnalysis(pairs=10, level=0.0111, no_difference=0.025),
    InterimAnalysis(pairs=12, level=0.0122, no_difference=0.035),
    InterimAnalysis(pairs=16, level=0.0178, no_difference=0.045),
    InterimAnalysis(pairs=20, level=0.0266, no_difference=0.06),
)
"""Usual plan: an experiment ends early if the difference is large or the runs agree, and continues otherwise."""

QUICK = (InterimAnalysis(pairs=3, level=0.04),)
"""Short plan: a single analysis, which finds only large differences.

Three pairs have only six possible orders, so a disturbance every four runs looks like a difference more often. At a
level of 5 % this happens in 6.2 % of experiments, at this level in 5 %.
"""

UNDER_PERIODS = MappingProxyType({3: 0.27, 4: 0.13, 8: 0.06})
"""Rate of false verdicts of a single analysis under the worst periodic disturbance, by the least number of pairs.

Few pairs have few possible orders. So the disturbance often causes differences of similar size in all pairs, which look
like an effect.
"""


def false_under_period(pairs: int) -> float:
    """Return the rate of false verdicts of this many pairs (at least three) under a strong periodic disturbance."""
    return UNDER_PERIODS[max(fewest for fewest in UNDER_PERIODS if fewest <= pairs)]


UNTIL = tuple(InterimAnalysis(pairs=pairs, level=LEVEL) for pairs in (6, 12, 20, 30, 40, 50))
"""Interim analyses of an experiment that ends when its interval is narrow enough.

The width of an interval favours neither side, so every analysis can have the full level: 94 to 95 % of the final
intervals cover the true value.
"""

RULE = 3
"""Number of the current rule for verdicts; it is stored in logs.

Rule 1: Student's t for any number of pairs. One outlier pair prevents a verdict. Each cell of a sweep is tested alone,
with a correction by Holm's method.

Rule 2: Signed ranks from eight pairs on; an outlier pair does not prevent a verdict. The cells of a sweep are tested by
permuting the drawn order, as one family with the confirming pairs.

Rule 3: A configuration of a sweep has no verdict if its runs scatter more than those of the others. Holm's method
applies to any number of metrics. Runs without I/O give a verdict only if chance does not explain that they are all on
one side. No interval is narrower than the resolution of its metric. The verdict "no difference" is not possible if
three or more runs are far slower and all of them are on one side.
"""

AGAIN = 0.2
"""Share of its level that an experiment gets if it repeats the comparison of another experiment in the session.

Each further repeat gets half of that. The pairs of all these experiments are analysed together. Repeating an experiment
at the full level until a difference shows gave a false difference in 24 % of cases after five repeats.
"""


def repeated_looks(looks: Sequence[InterimAnalysis], times: int, pairs: int) -> tuple[InterimAnalysis, ...]:
    """Return the interim analyses of an experiment that repeats the comparison of `times` earlier experiments.

    `looks`: the interim analyses without repeats. `pairs`: number of pairs of all these earlier experiments together.
    """
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
"""Least number of pairs for a verdict. With two pairs the interval has only one degree of freedom."""


def one_look(pairs: int) -> tuple[InterimAnalysis, ...]:
    """Return a plan with a single analysis, after a fixed number of pairs."""
    return (InterimAnalysis(pairs=pairs, level=LEVEL),)


def due_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """Return the interim analysis that takes place after exactly this number of pairs; None if there is none."""
    return next((look for look in looks if look.pairs == pairs), None)


def next_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """Return the next interim analysis after this number of pairs; None after the last."""
    return next((look for look in looks if look.pairs > pairs), None)
