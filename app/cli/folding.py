"""Folds text into lines of a width."""

from __future__ import annotations

import textwrap


def folded(text: str, width: int, *, first: str = "") -> list[str]:
    """Return lines of at most `width` columns that begin with `first`, later ones with as many blanks.

    A word is never broken, so that an address, a path or a command can be copied: a longer one has a line of its own.
    """
    return textwrap.wrap(
        text,
        max(width, len(first) + 20),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
