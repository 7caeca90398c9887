"""Values over time as high as one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Final

LEVELS: Final = "▁▂▃▄▅▆▇█"
"""Blocks that fill one to eight eighths of a line."""

ASCII_LEVELS: Final = "_.,-~=+#"
"""The same without UTF-8."""


def block(share: float, levels: str = LEVELS) -> str:
    """The block for a share from 0 to 1; what lies beyond is the nearer end."""
    return levels[min(len(levels) - 1, max(0, round(share * (len(levels) - 1))))]


def spark(values: Sequence[float | None], width: int, *, ascii_only: bool = False) -> str:
    """At most `width` blocks, from zero to the largest: each the mean of its part, a blank where nothing is known.

    None fills its line: sparks below each other would be one block.
    """
    levels = (ASCII_LEVELS if ascii_only else LEVELS)[:-1]
    means = [_mean(part) for part in _stretches(values, width)]
    most = max((part for part in means if part is not None), default=0.0)
    if most <= 0:
        return ""
    return "".join(" " if part is None else block(part / most, levels) for part in means)


def _stretches(values: Sequence[float | None], width: int) -> list[Sequence[float | None]]:
    """So many stretches of about the same length; no more than there are values."""
    count = min(width, len(values))
    edges = [at * len(values) // count for at in range(count + 1)] if count > 0 else [0]
    return [values[left:right] for left, right in pairwise(edges)]


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None and isfinite(value) and value >= 0]
    return sum(value / len(numbers) for value in numbers) if numbers else None
