"""When a comparison in pairs is looked at, and how sure each look has to be. Pure.

Whoever looks after every pair and stops at the first interval that excludes 0 finds differences where there are none.
So the looks are fixed before the first pair, and share one budget of false verdicts. Simulated, 40,000 experiments a
row: the three levels of `STANDARD` give 5 % of false verdicts in all, the same as one look of 5 %; three looks of 5 %
each give 11 %.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.session.looks import Look

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
