"""Text as a terminal shows it: harmless, as wide as it is, cut, filled and wrapped to a width.

`clean` is the last line of defence: no text leaves a widget with a character that could steer the terminal. It keeps
the length; what comes from devices and tools is cleaned and bounded where it comes in, by the backends.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""Stands where a control, format, surrogate, private or unassigned character was."""

ELLIPSIS = "…"
"""Ends a text that had to be shortened."""


def clean(text: str) -> str:
    """One line of text, fit to be drawn: categories Cc, Cf, Cs, Co, Cn become U+FFFD, other separators a space."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _substitute(character) for character in text)


def _substitute(character: str) -> str:
    return " " if unicodedata.category(character).startswith("Z") else REPLACEMENT


def width_of(text: str) -> int:
    """The number of terminal cells a cleaned text takes."""
    return len(text) if text.isascii() else _wide(text)


@lru_cache(4096)  # live tables measure the same few texts again and again
def _wide(text: str) -> int:
    return sum(map(_cells, text))


@lru_cache(1024)
def _cells(character: str) -> int:
    """Marks, and the vowels and finals of a Hangul syllable, stand on what is before them (Unicode TR 11)."""
    if unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int, end: str = ELLIPSIS) -> str:
    """The text in at most `width` cells, ending in an ellipsis when something was left out."""
    if width_of(text) <= width:
        return text
    room = width - width_of(end)
    return _fitting(text, room).rstrip() + end if room >= 0 else end[: max(0, width)]


def pad(text: str, width: int) -> str:
    """The text in exactly `width` cells, shortened or filled with spaces on the right."""
    text = shorten(text, width)
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """The lines of a text broken at spaces, words wider than a line broken hard; nothing is left out.

    Args:
        text: Any text; its line ends are kept as line ends.
        width: Cells a line may take, at least 1.
        indent: Spaces before every line but the first.
    """
    width = max(1, width)
    indent = indent if indent < width else 0
    lines: list[str] = []
    for part in text.splitlines() or [""]:
        _wrap_line(clean(part), width, indent, lines)
    return lines


def _wrap_line(text: str, width: int, indent: int, lines: list[str]) -> None:
    line = " " * indent if lines else ""
    start = True
    for word in text.split(" "):
        joined = line + word if start else f"{line} {word}"
        if width_of(joined) <= width:
            line, start = joined, False
            continue
        if not start:
            lines.append(line)
            line = " " * indent
        word = line + word
        while width_of(word) > width:
            head = _head(word, width)
            lines.append(head)
            word = " " * indent + word[len(head) :]
        line, start = word, False
    lines.append(line)


def _head(word: str, width: int) -> str:
    """As many leading characters as fit into `width` cells, at least one beyond the spaces."""
    if word.isascii():
        return word[:width]
    least = len(word) - len(word.lstrip(" ")) + 1
    return word[: max(least, len(_fitting(word, width)))]


def _fitting(text: str, width: int) -> str:
    """As many leading characters as fit into `width` cells."""
    room = width
    for at, character in enumerate(text):
        room -= _cells(character)
        if room < 0:
            return text[:at]
    return text


def break_hard(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` cells."""
    pieces: list[str] = []
    while width_of(word) > width and len(word) > 1:
        head = _head(word, width)
        pieces.append(head)
        word = word[len(head) :]
    return [*pieces, word]
