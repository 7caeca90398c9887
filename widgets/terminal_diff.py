"""Terminal output that contains only changed cells, and repeats no style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from textual.strip import Strip

Piece = tuple[int, int, int, Strip]
"""Part of a line to show: row, first column, column after the last, and the strip."""

APART: Final = 8
"""Up to this number of unchanged cells between changed ones are sent too, because skipping them takes as many bytes."""

_UNSEEN: Final = frozenset("123")
"""Attributes (SGR parameters) that have no effect on a blank cell: bold, faint and italic."""


class Rendition(NamedTuple):
    """Appearance of a cell, as SGR parameters (ECMA-48)."""

    attributes: str = ""
    """Parameters other than colours."""
    ink: str = ""
    """Foreground colour."""
    ground: str = ""
    """Background colour."""

    @property
    def is_bare(self) -> bool:
        """Whether a blank cell with this appearance shows only the background."""
        return _UNSEEN.issuperset(self.attributes.split(";")) if self.attributes else True


PLAIN: Final = Rendition()

Cell = tuple[str, Rendition]
"""Character of a cell, and its appearance."""


@lru_cache(maxsize=4096)
def _renditions(parameters: str) -> tuple[Rendition, Rendition]:
    """Return the appearance of a character and that of a blank.

    `parameters`: SGR parameters that Rich generates for a style.
    """
    codes = parameters.split(";") if parameters else []
    attributes: list[str] = []
    ink = ground = ""
    index = 0
    while index < len(codes):
        length = (5 if codes[index + 1 : index + 2] == ["2"] else 3) if codes[index] in ("38", "48") else 1
        code, number = ";".join(codes[index : index + length]), int(codes[index])
        index += length
        if 30 <= number <= 39 or 90 <= number <= 97:
            ink = code
        elif 40 <= number <= 49 or 100 <= number <= 107:
            ground = code
        else:
            attributes.append(code)
    rendition = Rendition(";".join(attributes), ink, ground)
    return rendition, Rendition(ground=ground) if rendition.is_bare else rendition


@lru_cache(maxsize=4096)
def _transition(before: Rendition, after: Rendition) -> str:
    """Return the escape sequence that changes the appearance. It leaves out parameters that stay the same."""
    if before == after:
        return ""
    old_attributes, new_attributes = before.attributes, after.attributes
    if (
        (old_attributes and old_attributes != new_attributes)
        or (before.ink and not after.ink)
        or (before.ground and not after.ground)
    ):
        return f"\x1b[{';'.join(filter(None, ('0', *after)))}m"
    changed = (name if name != old_value else "" for old_value, name in zip(before, after, strict=True))
    return f"\x1b[{';'.join(filter(None, changed))}m"


def cells_of(strip: Strip, colors: ColorSystem) -> list[Cell] | None:
    """Return the cells of a strip; None if a character is not exactly one cell wide or a text has a link."""
    cells: list[Cell] = []
    for text, style, _ in strip:
        if (style is not None and style._link) or not (text.isascii() or cell_len(text) == len(text)):
            return None
        rendition, blank = _renditions(_parameters(style, colors))
        cells += [(character, blank if character == " " else rendition) for character in text]
    return cells


def _parameters(style: Style | None, colors: ColorSystem) -> str:
    if style is None:
        return ""
    return Strip.render_ansi(style, colors) if style._ansi is None else style._ansi


class ShownCells:
    """The cells that a terminal shows, as far as they were sent with `sequence`. After other output, call `forget`."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}

    def forget(self) -> None:
        """Assume that the contents of the terminal are unknown."""
        self._rows.clear()

    def sequence(self, pieces: Iterable[Piece], console: Console) -> str:
        """Return the output that shows these pieces, and record them as shown. The pieces must not overlap."""
        colors = console._color_system or ColorSystem.TRUECOLOR  # Textual's default
        pen = _Pen()
        for y, left, right, strip in sorted(pieces, key=lambda piece: piece[:2]):
            row = self._rows.setdefault(y, [])
            row += [None] * (right - len(row))
            cells = cells_of(strip, colors)
            if cells is None or len(cells) != right - left:
                pen.paste(y, left, right, strip.render(console))
                row[left:right] = [None] * (right - left)
                continue
            for a, b in differing_spans(row[left:right], cells):
                pen.write(y, left + a, cells[a:b])
            row[left:right] = cells
        return pen.end()


def differing_spans(old: Sequence[object], new: Sequence[object]) -> list[tuple[int, int]]:
    """Return the spans (begin and end) of cells that differ. Spans that are close to each other are joined."""
    if old == new:
        return []
    pairs: list[tuple[int, int]] = []
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            if pairs and index - pairs[-1][1] < APART:
                pairs[-1] = (pairs[-1][0], index + 1)
            else:
                pairs.append((index, index + 1))
    return pairs


class _Pen:
    """Writes cells, and keeps track of the terminal's cursor position and style."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._here: tuple[int, int] | None = None
        self._look = PLAIN

    def write(self, y: int, x: int, cells: Sequence[Cell]) -> None:
        """Write cells, beginning at a position."""
        self._move(y, x, x + len(cells))
        for character, rendition in cells:
            actual = rendition
            if character == " " and actual.ground == self._look.ground and actual.is_bare and self._look.is_bare:
                actual = self._look  # a blank looks the same with any foreground colour
            if actual is not self._look:
                self._out.append(_transition(self._look, actual))
                self._look = actual
            self._out.append(character)

    def paste(self, y: int, x: int, end: int, sequence: str) -> None:
        """Write a sequence that sets its own styles and ends in column `end`."""
        self._out.append(_transition(self._look, PLAIN))
        self._look = PLAIN
        self._move(y, x, end)
        self._out.append(sequence)

    def _move(self, y: int, x: int, end: int) -> None:
        """Move the cursor to a position, unless it is there. `end`: column of the cursor after the next output."""
        if self._here != (y, x):
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        self._here = (y, end)

    def end(self) -> str:
        """Return all output so far. It ends with a change to the plain style."""
        return "".join(self._out) + _transition(self._look, PLAIN)
