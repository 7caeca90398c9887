"""The design of a comparison in pairs: the order of its runs, and when it is looked at. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

from app.engine.session.event_values import Look

# -- the order of paired runs -----------------------------------------------------------------------------------------

Letter = Literal["A", "B"]
"""A is what is compared with, B what is tried."""


def order(looks: Sequence[Look], random: Random) -> tuple[Letter, ...]:
    """The letters of all pairs up to the last look: which comes first in a pair is drawn, pair by pair.

    A repeated ABBA is a period of four runs, and whatever else has that period passes for a difference: with a job of a
    minute every five minutes nine verdicts of ten were false. Halves drawn to be equal are worse than pairs drawn
    freely (9 to 13 % against 6 to 8 % of false verdicts under a period of three to twelve runs), so only this is asked
    for: that both orders occur before each look, where a drift would fall on one letter otherwise.
    """
    letters: list[Letter] = []
    for before, look in zip((0, *(each.pairs for each in looks)), looks, strict=False):
        count = look.pairs - before
        while True:
            firsts = [random.random() < 0.5 for _ in range(count)]
            if count < 2 or 0 < sum(firsts) < count:
                break
        for a_first in firsts:
            letters += ("A", "B") if a_first else ("B", "A")
    return tuple(letters)


def switches(letters: Sequence[Letter], *, start: Letter = "A") -> int:
    """How often the setting changes on the way through the letters, from `start` and back to it."""
    return sum(one != other for one, other in pairwise((start, *letters, start)))


# -- when a comparison in pairs is looked at, and how sure each look has to be ----------------------------------------

# Whoever looks after every pair and stops at the first interval that excludes 0 finds differences where there are
# none. So the looks are fixed before the first pair, and share one budget of false verdicts. Simulated, 40,000
# experiments a row: the three levels of `STANDARD` give 5 % of false verdicts in all, the same as one look of 5 %;
# three looks of 5 % each give 11 %.

LEVEL = 0.05
"""Share of false verdicts of a comparison that is looked at once."""


STANDARD = (Look(pairs=6, level=0.008), Look(pairs=12, level=0.017), Look(pairs=20, level=0.034))
"""Ends early where the difference is large or the runs agree, and goes on where they do not."""

QUICK = (Look(pairs=3, level=0.04),)
"""One look that sees large differences only. Three pairs have six orders, so what comes back every four runs passes for
a difference more often: at 5 % in 6.2 % of experiments, here in 5 %."""

UNTIL = tuple(Look(pairs=pairs, level=LEVEL) for pairs in (6, 12, 20, 30, 40, 50))
"""For a width of the interval that is asked for. Ending there leans to neither side, so no level is spent: of intervals
that end so, 94 to 95 % cover the truth."""

RULE = 3
"""The number of the rule that verdicts are given by, as logs keep it. 1: Student's t for any number of pairs, and one
pair far from the others vetoes; each cell of a sweep for itself, corrected after Holm. 2: signed ranks from eight pairs
on, without a veto; the cells of a sweep by permuting what was drawn, one family with what confirms them. 3: a set-up of
a sweep whose runs scatter more than those of the others has no verdict; Holm for any number of figures."""

AGAIN = 0.2
"""Of its level what an experiment has that asks once more what another one of the session has asked; half as much each
time after that. The pairs of all of them are judged together. Repeating until something shows, each time with the whole
level, was false in 24 % of cases after five times."""


def asked_again(looks: Sequence[Look], times: int, pairs: int) -> tuple[Look, ...]:
    """The looks of an experiment after `times` others that asked the same and measured so many pairs in all."""
    if not times:
        return tuple(looks)
    share = AGAIN / 2 ** (times - 1)
    return tuple(Look(pairs=pairs + look.pairs, level=look.level * share) for look in looks)


FEWEST_PAIRS = 3
"""Fewer carry no verdict: with two the interval rests on one degree of freedom."""


def one_look(pairs: int) -> tuple[Look, ...]:
    """A fixed number of pairs, judged once, at the end."""
    return (Look(pairs=pairs, level=LEVEL),)


def reached(looks: Sequence[Look], pairs: int) -> Look | None:
    """The look that is due after so many pairs; None between two of them."""
    return next((look for look in looks if look.pairs == pairs), None)


def upcoming(looks: Sequence[Look], pairs: int) -> Look | None:
    """The first look that lies ahead; None after the last."""
    return next((look for look in looks if look.pairs > pairs), None)
