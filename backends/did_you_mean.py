"""What somebody may have meant by a word that is not known."""

from __future__ import annotations

from collections.abc import Iterable

from backends.text import clean

_NEAR = 0.6
"""The least share of a word that has to agree (difflib's ratio)."""


def nearest_word(word: str, candidates: Iterable[str]) -> str | None:
    """The known word that is most like it, whatever the case, first of the same letters; None where none is near."""
    from difflib import get_close_matches  # most commands are typed well

    by_lower = {candidate.lower(): candidate for candidate in reversed(tuple(candidates))}
    swapped = [candidate for candidate in by_lower if sorted(candidate) == sorted(word.lower())]
    matches = swapped or get_close_matches(word.lower(), by_lower, n=1, cutoff=_NEAR)
    return by_lower[matches[0]] if matches else None


def suggestion_hint(word: str, candidates: Iterable[str], rest: str = "") -> str:
    """`Did you mean sdb? There are: sda, sdb.`: the nearest known word before the `rest` of the hint."""
    near = nearest_word(word, candidates)
    return " ".join(filter(None, (f"Did you mean {clean(near)}?" if near is not None else "", rest)))
