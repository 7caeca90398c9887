"""Functions that clean, measure, cut, pad and wrap text for a terminal.

Widgets pass all text through `clean`, so that no character can control the terminal. It does not change the length.
Backends also clean and limit the output of devices and tools when they read it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""Character that replaces control, format, surrogate, private and unassigned characters."""

ELLIPSIS = "…"
"""Last character of a text that was shortened."""


def clean(text: str) -> str:
    """Return a line that is safe to draw.

    Characters of the Unicode categories Cc, Cf, Cs, Co and Cn become U+FFFD. Separators become a space.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _substitute(character) for character in text)


def _substitute(character: str) -> str:
    return " " if unicodedata.category(character).startswith("Z") else REPLACEMENT


def width_of(text: str) -> int:
    """Return the width of a cleaned text in cells."""
    return len(text) if text.isascii() else _measure(text)


@lru_cache(4096)  # live tables measure the same texts repeatedly
def _measure(text: str) -> int:
    return sum(map(_cell_count, text))


@lru_cache(1024)
def _cell_count(character: str) -> int:
    """Return the width of a character in cells (Unicode TR 11).

    It is 0 for marks, and for vowels and final consonants of Hangul syllables.
    """
    if unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int, end: str = ELLIPSIS) -> str:
    """Return the text in at most `width` cells. If it is cut, it ends with `end`."""
    if width_of(text) <= width:
        return text
    available = width - width_of(end)
    return _leading_part(text, available).rstrip() + end if available >= 0 else end[: max(0, width)]


def pad(text: str, width: int) -> str:
    """Return the text in exactly `width` cells, shortened or padded on the right."""
    text = shorten(text, width)
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """Return a text wrapped at spaces. Words that are wider than a line are split, and nothing is left out.

    A number and its unit stay on one line. Line breaks in the text are kept. `width`: number of cells of a line, at
    least 1. `indent`: number of spaces before each line except the first.
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
    parts = _BREAK.split(text)
    if any(" " in part and width_of(part) > width - indent for part in parts):
        parts = text.split(" ")  # the line is too narrow for a number with its unit
    for word in parts:
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


_UNIT_GAP = r"(?<=[\dkM]) (?=(?:%|[nµm]?s|min|h|days?|B|[KMGTPE]i?B|IOPS|W|°C)(?!\w))"
"""Pattern of the space between a number and its unit."""

_BREAK = re.compile(rf"(?!{_UNIT_GAP}) ")
"""Pattern of a space at which a line may end."""

_WORD = re.compile(rf"( *)((?:`[^`]*`|[^ ]|{_UNIT_GAP})+)")
"""Spaces and the word after them. A command between backticks is one word, and so is a number with its unit."""

_STYLE = re.compile(r"\x1b\[[\d;]*m")
"""Code of a colour, which takes no cell."""


def styled_width(text: str) -> int:
    """Return the width in cells of a text that may contain codes of colours."""
    return width_of(_STYLE.sub("", text) if "\x1b" in text else text)


def longest_word(text: str) -> int:
    """Return the width in cells of the longest word of a text, with the spaces before its first word."""
    indent = len(text) - len(text.lstrip(" "))
    return indent + max((styled_width(word) for _, word in _WORD.findall(text)), default=0)


def wrap_words(text: str, width: int | None, first: str = "") -> list[str]:
    """Return a text wrapped between words. A word is never split, so a path or a command can be copied.

    A word that is wider than a line gets its own line. `width`: number of cells of a line; None for no limit. `first`:
    beginning of the first line; without it, the text begins with its own spaces. The other lines are indented as much.
    """
    indent = styled_width(first) if first else len(text) - len(text.lstrip(" "))
    if width is None or styled_width(first) + styled_width(text) <= width:
        return [f"{first}{text}"]
    wrapped, line, words = [], first or " " * indent, 0
    for gap, word in _WORD.findall(text if first else text.lstrip(" ")):
        if words and styled_width(line + gap + word) > width:
            wrapped.append(line)
            line, words = " " * indent, 0
        line += f"{gap}{word}" if words else word
        words += 1
    return [*wrapped, line]


def _head(word: str, width: int) -> str:
    """Return the leading characters that fit into `width` cells, but at least one after leading spaces."""
    if word.isascii():
        return word[:width]
    least = len(word) - len(word.lstrip(" ")) + 1
    return word[: max(least, len(_leading_part(word, width)))]


def _leading_part(text: str, width: int) -> str:
    """Return the leading characters that fit into `width` cells."""
    available = width
    for index, character in enumerate(text):
        available -= _cell_count(character)
        if available < 0:
            return text[:index]
    return text


def break_hard(word: str, width: int) -> list[str]:
    """Split a word into pieces of at most `width` cells."""
    pieces: list[str] = []
    while width_of(word) > width and len(word) > 1:
        head = _head(word, width)
        pieces.append(head)
        word = word[len(head) :]
    return [*pieces, word]
