"""Suggestions for unknown words."""

from __future__ import annotations

from collections.abc import Iterable

from backends.text import clean

_NEAR = 0.6
"""Minimum similarity of a suggested word (difflib's ratio, from 0 to 1)."""


def nearest_word(word: str, candidates: Iterable[str]) -> str | None:
    """Return the most similar candidate; None if none is similar. Case is ignored, but the same case is preferred."""
    from difflib import get_close_matches  # imported here, because most commands contain no typing error

    by_lower = {candidate.lower(): candidate for candidate in reversed(tuple(candidates))}
    swapped = [candidate for candidate in by_lower if sorted(candidate) == sorted(word.lower())]
    matches = swapped or get_close_matches(word.lower(), by_lower, n=1, cutoff=_NEAR)
    return by_lower[matches[0]] if matches else None


def suggestion_hint(word: str, candidates: Iterable[str], rest: str = "") -> str:
    """Return a hint with the most similar candidate, `Did you mean sdb? There are: sda, sdb.`; `rest` ends the hint."""
    near = nearest_word(word, candidates)
    return " ".join(filter(None, (f"Did you mean {clean(near)}?" if near is not None else "", rest)))
