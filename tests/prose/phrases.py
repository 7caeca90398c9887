"""Phrases that a reader stumbles over, each with the wording to use instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A pattern of words, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


def _phrase(pattern: str, instead: str) -> Phrase:
    return Phrase(re.compile(pattern, re.IGNORECASE), instead)


PHRASES = (
    _phrase(r"\b(tells?|told|telling|untold)\b", "report, say or show"),
    _phrase(r"\banew\b", "again, or re-create"),
    _phrase(r"\b(lies?|lying|lay)\b", "be on"),
    _phrase(r"\b(stands?|standing|stood)\b", "be"),
    _phrase(r"\b(some|no|any|every)body\b|\bwho(m)?ever\b", "name the person or the program"),
    _phrase(r"\b(any|no) more\b(?! than)|\bas ever\b", "no longer, or as usual"),
    _phrase(r"\bmend(s|ed|ing)?\b", "fix"),
    _phrase(r"\b(a|the|last|next|one|two|three) looks?\b|\blooked\b", "scan"),
    _phrase(r"\bbesides?\b", "next to, or in addition to"),
    _phrase(r"\bby (it|them)sel(f|ves)\b", "automatically"),
    _phrase(r"\bunder way\b|\bgo(es|ing)? on\b", "in progress, or continue"),
    _phrase(
        r"\b(takes?|taken|took|comes?|came|puts?|brings?|brought|gives?) (\w+ )?back\b",
        "undo, revert, restore or return",
    ),
    _phrase(r"\bother than\b|\banother \w+ than\b|\b(is|are) otherwise\b", "different from, or except"),
    _phrase(
        r"\bof what\b|(?-i:\bWhat (is|was|has|stands|lies|a|the|makes|nothing|comes|came|differs|could|needs?)\b)"
        r"(?![^.!?\n]*\?)",
        "a noun",
    ),
    _phrase(r"\bbears?\b|\bheed(s|ed)?\b", "have, or honour"),
    _phrase(r"\bthings?\b", "the name of the object"),
    _phrase(r"\bis held\b|\bheld by\b", "lock, keep or open"),
)
"""Wordings that hide who does what. A question may begin with "What is"; a noun phrase may not."""

_WORD = re.compile(r"[A-Za-z']+")


def words(text: str) -> int:
    """Return the number of words in a text."""
    return len(_WORD.findall(text))


def hits(text: str) -> Iterator[tuple[str, Phrase]]:
    """Yield each unclear phrase of a text with its entry, in the order of `PHRASES`."""
    for phrase in PHRASES:
        for match in phrase.pattern.finditer(text):
            yield match.group(), phrase
