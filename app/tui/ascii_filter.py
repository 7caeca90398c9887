"""Filters between widgets and terminal: one replaces control characters, the other all characters outside ASCII."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from widgets.text_utils.symbols import SIGNS
from widgets.text_utils.text import clean

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
    "–": "-",
    "°": " ",
    "µ": "u",
    "±": "+",
    "×": "x",
    "→": ">",
    "←": "<",
    "▶": ">",
    "▼": "v",
    "█": "#",
    "▁": "_",
    "▔": "-",
    "\u00a0": " ",
    **{sign.char: sign.ascii for sign in SIGNS},
}


def ascii_of(char: str) -> str:
    """Return an ASCII character for a one-cell `char`. Box drawing becomes + - |, unknown characters become ?."""
    if char < "\x80":
        return char
    replacement = _LIGHT.get(char)
    if replacement is not None:
        return replacement
    if "\u2500" <= char <= "\u257f":
        return "+"
    if "\u2580" <= char <= "\u259f" or "\u2800" <= char <= "\u28ff":
        return "#" if char != "\u2800" else " "
    return "?"


class ControlFilter(LineFilter):
    """Replaces control characters, so that text from a device or tool cannot send commands to the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with every unprintable character replaced."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [Segment(clean(text), style, control) for text, style, control in segments]


class AsciiFilter(LineFilter):
    """Reduces all output to ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with each character outside ASCII replaced."""
        return [
            Segment("".join(map(ascii_of, text)), style, control)
            if not text.isascii()
            else Segment(text, style, control)
            for text, style, control in segments
        ]
