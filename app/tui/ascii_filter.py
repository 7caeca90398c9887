"""What stands between the widgets and the terminal: no control characters, and ASCII only where that is wanted."""

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
    """One ASCII character as wide as `char`'s cell; box drawing becomes + - |, the unknown becomes ?."""
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
    """The last line of defence: no widget, whoever wrote it, sends a character that could steer the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, every unprintable character replaced."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [Segment(clean(text), style, control) for text, style, control in segments]


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
