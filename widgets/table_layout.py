"""Columns of a table: how wide each is, which ones a narrow terminal leaves out, where the decimal points stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.text import Text

from widgets.plain.text import clean, pad, shorten, width_of

Align = Literal["left", "right", "decimal"]
"""How the cells of a column stand: `decimal` puts the points of numbers under each other."""

Tone = Literal["", "accent", "good", "warning", "bad", "muted"]
"""What a text means, for its colour; the words carry the meaning too."""

GAP: Final = 2
"""Spaces between two columns."""

LEAST: Final = 6
"""Cells a column is never squeezed below."""

_NUMBER = re.compile(r"[^\d]*\d[\d,]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table."""

    key: str
    """Tells the columns apart."""
    label: str
    """Its heading."""
    width: int | None = None
    """Cells it takes; `None` for as many as its cells need."""
    align: Align = "left"
    """How its cells stand."""
    priority: int = 0
    """In a narrow terminal the columns with the highest number are left out first; 0 stays."""
    least: int | None = None
    """Cells that it may be cut to before another column is left out; `None`: it is whole or not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A cell with a meaning."""

    text: str
    """What it says."""
    tone: Tone = ""
    """What that means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of a table."""

    key: str
    """Tells the rows apart; the cursor stays with it."""
    cells: tuple[str | TableCell | Text, ...] = ()
    """One for each column; missing ones are empty. A `Text` is drawn in its own colours, such as a share bar."""
    dim: bool = False
    """Whether it is shown as not available."""
    marked: bool = False
    """Whether it carries a mark."""
    separator: bool = False
    """Whether it is the heading of a group: the first cell, with a line; the cursor passes over it."""
    tone: Tone = ""
    """What the whole row means."""
    banner: tuple[str | TableCell, ...] = ()
    """What it says right across the columns, piece by piece, instead of its cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A column that is shown."""

    index: int
    """Its place among all columns."""
    column: TableColumn
    """The column."""
    width: int
    """Cells it takes here."""
    head: int = 0
    """Cells before the decimal point."""


def plain(cell: str | TableCell | Text) -> str:
    """The cleaned text of a cell."""
    return clean(_text(cell))


def _text(cell: str | TableCell | Text) -> str:
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, TableCell) else cell.plain


def split_number(text: str) -> tuple[str, str]:
    """A text before and from its decimal point, or from the end of its whole number when it has none."""
    found = _NUMBER.match(text)
    return (text[: found.end()], text[found.end() :]) if found else (text, "")


class TableLayout:
    """Measures cells as they come; columns grow and never shrink, so that a live table does not tremble."""

    def __init__(self, columns: Sequence[TableColumn] = ()) -> None:
        self.columns = tuple(columns)
        """All columns."""
        self._labels = [width_of(clean(column.label)) for column in self.columns]
        self._plain = [0] * len(self.columns)
        self._heads = [0] * len(self.columns)
        self._tails = [0] * len(self.columns)

    def measure(self, rows: Iterable[TableRow]) -> bool:
        """Takes rows into account; whether a column grew."""
        before = (self._plain.copy(), self._heads.copy(), self._tails.copy())
        decimal = [column.align == "decimal" for column in self.columns]
        cells = [row.cells for row in rows if not (row.separator or row.banner)]
        # Column by column, each text once: of ten thousand rows most say the same.
        for index, point in enumerate(decimal):
            found = {_text(row[index]) for row in cells if index < len(row)}
            texts = [clean(text) for text in found]
            if point:
                for head, tail in map(split_number, texts):
                    self._heads[index] = max(self._heads[index], width_of(head))
                    self._tails[index] = max(self._tails[index], width_of(tail))
            else:
                self._plain[index] = max(self._plain[index], max(map(width_of, texts), default=0))
        return before != (self._plain, self._heads, self._tails)

    def place(self, width: int) -> tuple[Placed, ...]:
        """The columns that fit into `width` cells; the widest are squeezed when even the most important do not."""
        natural = [self._natural(index) for index in range(len(self.columns))]
        least = [min(wide, self.columns[index].least or wide) for index, wide in enumerate(natural)]
        kept = list(range(len(self.columns)))
        while len(kept) > 1 and _total(least, kept) > width:
            last = max(kept, key=lambda index: (self.columns[index].priority, index))
            if self.columns[last].priority <= 0:
                break
            kept.remove(last)
        widths = list(least)
        while kept and _total(widths, kept) > width:
            wide = [index for index in kept if widths[index] > LEAST]
            if not wide:
                break
            # Those first that may be cut, then whatever is widest.
            widest = max(wide, key=lambda index: (self.columns[index].least is not None, widths[index]))
            widths[widest] -= 1
        for index in kept:  # what is left over goes to those that were cut, the first of them first
            widths[index] += max(0, min(natural[index] - widths[index], width - _total(widths, kept)))
        return tuple(
            Placed(index=index, column=self.columns[index], width=widths[index], head=self._heads[index])
            for index in kept
        )

    def _natural(self, index: int) -> int:
        column = self.columns[index]
        if column.width is not None:
            return max(1, column.width)
        return max(1, self._labels[index], self._plain[index], self._heads[index] + self._tails[index])


def _total(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[index] for index in kept) + GAP * (len(kept) - 1)


def align(text: str, placed: Placed) -> str:
    """A cell's text in exactly its column's width."""
    width = placed.width
    match placed.column.align:
        case "left":
            return pad(text, width)
        case "right":
            text = shorten(text, width)
            return " " * (width - width_of(text)) + text
        case "decimal":
            head, _ = split_number(text)
            left = placed.head - width_of(head)
            if left < 0 or left + width_of(text) > width:
                text = shorten(text, width)
                return " " * (width - width_of(text)) + text
            return pad(" " * left + text, width)


def heading(placed: Placed) -> str:
    """A column's label over its cells."""
    label = shorten(clean(placed.column.label), placed.width)
    if placed.column.align == "left":
        return pad(label, placed.width)
    return " " * (placed.width - width_of(label)) + label
