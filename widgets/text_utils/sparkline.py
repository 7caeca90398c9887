"""Sparklines: graphs of values over time in one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Final

LEVELS: Final = "▁▂▃▄▅▆▇█"
"""Characters that fill one to eight eighths of a line."""

ASCII_LEVELS: Final = "_.,-~=+#"
"""ASCII characters for the same levels."""


def block(share: float, levels: str = LEVELS) -> str:
    """Return the character for a share from 0 to 1. Other values are limited to this range."""
    return levels[min(len(levels) - 1, max(0, round(share * (len(levels) - 1))))]


def spark(values: Sequence[float | None], width: int, *, ascii_only: bool = False, top: float | None = None) -> str:
    """Return a sparkline of at most `width` characters, scaled from zero to `top`, or else to the largest value.

    Each character shows the mean of its part of the values, or is a blank if all of them are unknown. No character
    fills its line completely, so that sparklines below each other do not merge.
    """
    levels = (ASCII_LEVELS if ascii_only else LEVELS)[:-1]
    means = values if len(values) <= width and top else [_mean(part) for part in _split_evenly(values, width)]
    largest = top or max((part for part in means if part is not None), default=0.0)
    if largest <= 0:
        return ""
    return "".join(" " if part is None else block(part / largest, levels) for part in means)


def _split_evenly(values: Sequence[float | None], width: int) -> list[Sequence[float | None]]:
    """Split the values into at most `width` parts of about equal length."""
    count = min(width, len(values))
    edges = [at * len(values) // count for at in range(count + 1)] if count > 0 else [0]
    return [values[left:right] for left, right in pairwise(edges)]


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None and isfinite(value) and value >= 0]
    return sum(value / len(numbers) for value in numbers) if numbers else None
