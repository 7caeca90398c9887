"""The order of paired runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

from app.engine.session.looks import Look

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
