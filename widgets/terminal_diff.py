"""What the terminal shows, cell by cell: of what is drawn anew only cells that differ are sent, each look said once."""

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
"""Row, first column, column after the last, and what to show there."""

APART: Final = 8
"""Cells that are the same between two that differ and are sent all the same: to pass over them takes as many bytes."""

_UNSEEN: Final = frozenset("123")
"""Bold, faint and italic: attributes that a cell without a character does not show."""


class Rendition(NamedTuple):
    """How cells look, as parameters of the sequence that selects a graphic rendition (ECMA-48, SGR)."""

    attributes: str = ""
    """All but the colours."""
    ink: str = ""
    """The colour of the character."""
    ground: str = ""
    """The colour behind it."""

    @property
    def bare(self) -> bool:
        """Whether of a cell without a character its ground is all that is seen."""
        return _UNSEEN.issuperset(self.attributes.split(";")) if self.attributes else True


PLAIN: Final = Rendition()

Cell = tuple[str, Rendition]
"""A character of one cell, and how it looks."""


@lru_cache(maxsize=4096)
def _renditions(parameters: str) -> tuple[Rendition, Rendition]:
    """Of what Rich makes of a style (attributes, ink, ground): how a character looks, and how a blank does."""
    codes = parameters.split(";") if parameters else []
    attributes: list[str] = []
    ink = ground = ""
    at = 0
    while at < len(codes):
        length = (5 if codes[at + 1 : at + 2] == ["2"] else 3) if codes[at] in ("38", "48") else 1
        code, number = ";".join(codes[at : at + length]), int(codes[at])
        at += length
        if 30 <= number <= 39 or 90 <= number <= 97:
            ink = code
        elif 40 <= number <= 49 or 100 <= number <= 107:
            ground = code
        else:
            attributes.append(code)
    look = Rendition(";".join(attributes), ink, ground)
    return look, Rendition(ground=ground) if look.bare else look


@lru_cache(maxsize=4096)
def _transition(before: Rendition, after: Rendition) -> str:
    """The sequence that takes the terminal from one look to another: what is the same is not said again."""
    if before == after:
        return ""
    old, new = before.attributes, after.attributes
    if (old and old != new) or (before.ink and not after.ink) or (before.ground and not after.ground):
        return f"\x1b[{';'.join(filter(None, ('0', *after)))}m"
    changed = (name if name != was else "" for was, name in zip(before, after, strict=True))
    return f"\x1b[{';'.join(filter(None, changed))}m"


def cells_of(strip: Strip, colors: ColorSystem) -> list[Cell] | None:
    """The cells of a strip; None where a character takes none or two, or a link belongs to it."""
    cells: list[Cell] = []
    for text, style, _ in strip:
        if (style is not None and style._link) or not (text.isascii() or cell_len(text) == len(text)):
            return None
        look, blank = _renditions(_parameters(style, colors))
        cells += [(character, blank if character == " " else look) for character in text]
    return cells


def _parameters(style: Style | None, colors: ColorSystem) -> str:
    if style is None:
        return ""
    return Strip.render_ansi(style, colors) if style._ansi is None else style._ansi


class ShownCells:
    """The cells of a terminal as they were sent last. Whoever may have sent anything else calls `forget`."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}

    def forget(self) -> None:
        """Nothing is known of what is shown."""
        self._rows.clear()

    def sequence(self, pieces: Iterable[Piece], console: Console) -> str:
        """What to send so that these pieces are shown, which do not overlap; from then on they are what is shown."""
        colors = console._color_system or ColorSystem.TRUECOLOR  # as Textual has it
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
    """Return from where to where the cells differ; what lies far apart is not one span."""
    if old == new:
        return []
    pairs: list[tuple[int, int]] = []
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            if pairs and at - pairs[-1][1] < APART:
                pairs[-1] = (pairs[-1][0], at + 1)
            else:
                pairs.append((at, at + 1))
    return pairs


class _Pen:
    """Writes cells, and knows where it is and in which look it writes."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._here: tuple[int, int] | None = None
        self._look = PLAIN

    def write(self, y: int, x: int, cells: Sequence[Cell]) -> None:
        """From a cell on to the right."""
        self._move(y, x, x + len(cells))
        for character, wanted in cells:
            look = wanted
            if character == " " and look.ground == self._look.ground and look.bare and self._look.bare:
                look = self._look  # a blank is a blank in any ink
            if look is not self._look:
                self._out.append(_transition(self._look, look))
                self._look = look
            self._out.append(character)

    def paste(self, y: int, x: int, end: int, sequence: str) -> None:
        """What brings its own looks along."""
        self._out.append(_transition(self._look, PLAIN))
        self._look = PLAIN
        self._move(y, x, end)
        self._out.append(sequence)

    def _move(self, y: int, x: int, end: int) -> None:
        """Next to what was written last the cursor stands where it must: the bytes of a move are saved."""
        if self._here != (y, x):
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        self._here = (y, end)

    def end(self) -> str:
        """All of it; from then on the terminal writes plainly again."""
        return "".join(self._out) + _transition(self._look, PLAIN)
