"""The last fallback for terminals without UTF-8: one ASCII character for every other one."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_LIGHT = {
    "│": "|",
    "┃": "|",
    "║": "|",
    "▌": "|",
    "▐": "|",
    "▎": "|",
    "▊": "|",
    "─": "-",
    "━": "=",
    "═": "=",
    "╌": "-",
    "·": ".",
    "•": "*",
    "…": "~",
    "µ": "u",
    "±": "+",
    "×": "x",
    "→": ">",
    "←": "<",
    "↑": "^",
    "↓": "v",
    "▶": ">",
    "▼": "v",
    "▸": ">",
    "▾": "v",
    "✓": "+",
    "✗": "x",
    "█": "#",
    "▁": "_",
    "▔": "-",
    "\u00a0": " ",
}


def ascii_of(char: str) -> str:
    """One ASCII character as wide as `char`'s cell; box drawing becomes + - |, the unknown becomes ?."""
    if char < "\x80":
        return char
    known = _LIGHT.get(char)
    if known is not None:
        return known
    if "\u2500" <= char <= "\u257f":
        return "+"
    if "\u2580" <= char <= "\u259f" or "\u2800" <= char <= "\u28ff":
        return "#" if char != "\u2800" else " "
    return "?"


class AsciiFilter(LineFilter):
    """Keeps everything but ASCII from the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in ASCII."""
        return [
            Segment("".join(map(ascii_of, text)), style, control)
            if not text.isascii()
            else Segment(text, style, control)
            for text, style, control in segments
        ]
