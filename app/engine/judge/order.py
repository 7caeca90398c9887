"""The order of paired runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

Letter = Literal["A", "B"]
"""A is what is compared with, B what is tried."""


def order(pairs: int, random: Random) -> tuple[Letter, ...]:
    """The letters of so many pairs: ABBA ABBA ..., the first letter drawn. A linear drift falls on both alike."""
    first: tuple[Letter, Letter] = ("A", "B") if random.random() < 0.5 else ("B", "A")
    return tuple(letter for pair in range(pairs) for letter in (first if pair % 2 == 0 else first[::-1]))


def switches(letters: Sequence[Letter], *, start: Letter = "A") -> int:
    """How often the setting changes on the way through the letters, from `start` and back to it."""
    return sum(one != other for one, other in pairwise((start, *letters, start)))
