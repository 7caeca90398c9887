"""The design of a comparison in pairs: the order of its runs, and when it is looked at. No I/O."""

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
"""A is what is compared with, B what is tried."""


def draw_order(looks: Sequence[InterimAnalysis], random: Random) -> tuple[Letter, ...]:
    """The letters of all pairs up to the last look: which comes first in a pair is drawn, pair by pair.

    A repeated ABBA is a period of four runs, and whatever else has that period passes for a difference: with a job of a
    minute every five minutes nine verdicts of ten were false. Halves drawn to be equal are worse than pairs drawn
    freely (9 to 13 % against 6 to 8 % of false verdicts under a period of three to twelve runs), so only this is asked
    for: that both orders occur before the first look, where a drift would fall on one letter otherwise. Asked of each
    two pairs between later looks it would draw halves: 10 to 11 % were false under a period of four runs.
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
    """The letters of an order that a log keeps."""
    return tuple("A" if letter == "A" else "B" for letter in order)


def switches(letters: Sequence[Letter]) -> int:
    """Return how often the setting changes on the way through the letters, from A and back to it."""
    return sum(letter != other for letter, other in pairwise(("A", *letters, "A")))


# -- when a comparison in pairs is looked at, and how sure each look has to be ----------------------------------------

# Whoever looks after every pair and stops at the first interval that excludes 0 finds differences where there are
# none. So the looks are fixed before the first pair, and share one budget of false verdicts: the levels of `STANDARD`
# give 4 to 5 % of false verdicts in all, three looks of 5 % each give 11 %. "No difference" cannot be reached by
# chance where runs scatter much, so it has levels of its own: a true effect as large as the threshold is called none
# in 5 % of experiments. No look comes before six pairs: under a period a look at four makes 12 to 13 % false.

LEVEL = 0.05
"""Share of false verdicts of a comparison that is looked at once."""

STANDARD = (
    InterimAnalysis(pairs=6, level=0.0044, no_difference=0.015),
    InterimAnalysis(pairs=8, level=0.010, no_difference=0.02),
    InterimAnalysis(pairs=10, level=0.0111, no_difference=0.025),
    InterimAnalysis(pairs=12, level=0.0122, no_difference=0.035),
    InterimAnalysis(pairs=16, level=0.0178, no_difference=0.045),
    InterimAnalysis(pairs=20, level=0.0266, no_difference=0.06),
)
"""Ends early where the difference is large or the runs agree, and goes on where they do not."""

QUICK = (InterimAnalysis(pairs=3, level=0.04),)
"""One look that sees large differences only. Three pairs have six orders, so what comes back every four runs passes for
a difference more often: at 5 % in 6.2 % of experiments, here in 5 %."""

UNDER_PERIODS = MappingProxyType({3: 0.27, 4: 0.13, 8: 0.06})
"""Share of false verdicts under the strongest period of the machine itself, from so many pairs on that are judged once.
Few pairs have few orders, and all their differences are about as large."""


def false_under_period(pairs: int) -> float:
    """The share of false verdicts of so many pairs, three at least, where something strong comes back at intervals."""
    return UNDER_PERIODS[max(fewest for fewest in UNDER_PERIODS if fewest <= pairs)]


UNTIL = tuple(InterimAnalysis(pairs=pairs, level=LEVEL) for pairs in (6, 12, 20, 30, 40, 50))
"""For a width of the interval that is asked for. Ending there leans to neither side, so no level is spent: of intervals
that end so, 94 to 95 % cover the truth."""

RULE = 3
"""The number of the rule that verdicts are given by, as logs keep it. 1: Student's t for any number of pairs, and one
pair far from the others vetoes; each cell of a sweep for itself, corrected after Holm. 2: signed ranks from eight pairs
on, without a veto; the cells of a sweep by permuting what was drawn, one family with what confirms them. 3: a set-up of
a sweep whose runs scatter more than those of the others has no verdict; Holm for any number of figures; a run without
I/O is a verdict only where chance does not explain the side it is on, no interval is narrower than the steps that its
figure is measured in, and there is no "no difference" where three runs or more are far slower and all on one side."""

AGAIN = 0.2
"""Of its level what an experiment has that asks once more what another one of the session has asked; half as much each
time after that. The pairs of all of them are judged together. Repeating until something shows, each time with the whole
level, was false in 24 % of cases after five times."""


def repeated_looks(looks: Sequence[InterimAnalysis], times: int, pairs: int) -> tuple[InterimAnalysis, ...]:
    """The looks of an experiment after `times` others that asked the same and measured so many pairs in all."""
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
"""Fewer carry no verdict: with two the interval rests on one degree of freedom."""


def one_look(pairs: int) -> tuple[InterimAnalysis, ...]:
    """A fixed number of pairs, judged once, at the end."""
    return (InterimAnalysis(pairs=pairs, level=LEVEL),)


def due_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """The look that is due after so many pairs; None between two of them."""
    return next((look for look in looks if look.pairs == pairs), None)


def next_look(looks: Sequence[InterimAnalysis], pairs: int) -> InterimAnalysis | None:
    """The first look that lies ahead; None after the last."""
    return next((look for look in looks if look.pairs > pairs), None)
