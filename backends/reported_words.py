"""Words of tools for sentences: in plain words, with the tool's own word in brackets if it differs. No I/O."""

from __future__ import annotations

import re

from backends.text import clean

_ACRONYMS = ("ECC", "SMART")
"""Words that stay in capitals even if the tool writes everything in capitals."""

_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")

UNKNOWN_STATE = "in an unknown state"
"""Text for a state that the tool does not report or whose word is not known."""


def plain_words(raw: str) -> str:
    """Return a tool's word in lower case, without humps and underscores: `near expiration` for `nearExpiration`.

    In capitals, hyphens separate words too (`SMART-FAILURE`). Elsewhere, abbreviations in capitals are kept.
    """
    is_shouted = raw.upper() == raw
    words = _HUMPS.sub(" ", raw).replace("_", " ").replace("-", " " if is_shouted else "-").split()
    return " ".join(
        word if word in _ACRONYMS or (word.isupper() and len(word) > 1 and not is_shouted) else word.lower()
        for word in words
    )


def reported_text(plain: str, raw: str | None) -> str:
    """Return `plain` with the tool's word in brackets: `degraded (Dgrd)`.

    If the tool's word begins with `plain`, return that in lower case: `failed (replace batteries)`. For "" and
    `unknown`, return `in an unknown state`.
    """
    raw = clean(raw or "", 80)
    if plain in ("", "unknown"):
        plain, raw = UNKNOWN_STATE, "" if raw.casefold() == "unknown" else raw
    if raw.casefold().startswith(plain.casefold()):
        return plain_words(raw)
    return f"{plain} ({raw})" if raw else plain


def word_text(raw: str | None) -> str:
    """Return a tool's word in plain words, and the word itself in brackets if they differ in more than in capitals."""
    return reported_text(plain_words(clean(raw or "", 80)), raw)


def state_text(state: str, raw: str | None) -> str:
    """Return a `State` after `is`, with the tool's word in brackets: `degraded (Dgrd)`, `a hot spare (DHS)`."""
    return reported_text("a hot spare" if state == "spare" else state, raw)
