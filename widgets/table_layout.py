"""Column layout of a table: widths, and columns that a narrow terminal leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.text import Text

from widgets.text_utils.text import clean, pad, shorten, width_of

Align = Literal["left", "right"]
"""Alignment of a column: numbers on the right, with their units."""

Tone = Literal["", "accent", "good", "warning", "bad", "muted"]
"""Tone of a text, for its colour. The text itself has the meaning, too."""

GAP: Final = 2
"""Spaces between two columns; one if the remaining columns have no space otherwise."""

LEAST: Final = 6
"""Minimum width of a column in cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """One column."""

    key: str
    """Unique key."""
    label: str
    """Heading."""
    width: int | None = None
    """Width in cells, or None for the width of its cells."""
    align: Align = "left"
    """Alignment."""
    priority: int = 0
    """In a narrow terminal, columns with the highest number are left out first; 0 stays."""
    least: int | None = None
    """Width in cells to which it may be cut before another column is left out; None for no cut."""
    most: int | None = None
    """Maximum width in cells if more would leave another column out; None for its full width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """Cell with a tone."""

    text: str
    """Text."""
    tone: Tone = ""
    """Tone of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One row."""

    key: str
    """Unique key. The cursor stays with it."""
    cells: tuple[str | TableCell | Text, ...] = ()
    """One per column; missing ones are empty. A `Text` keeps its own colours, such as a share bar."""
    dim: bool = False
    """True to show it as not available."""
    marked: bool = False
    """True if it has a mark."""
    separator: bool = False
    """True for a group heading: the first cell with a line, which the cursor skips."""
    tone: Tone = ""
    """Tone of the complete row."""
    banner: tuple[str | TableCell, ...] = ()
    """Texts across all columns instead of cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedColumn:
    """A visible column."""

    index: int
    """Index among all columns."""
    column: TableColumn
    """Column."""
    width: int
    """Present width in cells."""
    gap: int = 0
    """Spaces before it."""


def plain(cell: str | TableCell | Text) -> str:
    """Return the cleaned text of a cell."""
    return clean(_cell_text(cell))


def _cell_text(cell: str | TableCell | Text) -> str:
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, TableCell) else cell.plain


class TableLayout:
    """Measured column widths. Columns only grow, so that a live table stays steady."""

    def __init__(self, columns: Sequence[TableColumn] = (), rows: Iterable[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        """All columns."""
        self._labels = [width_of(clean(column.label)) for column in self.columns]
        self._plain = [0] * len(self.columns)
        self._placed: tuple[int, tuple[PlacedColumn, ...]] = (-1, ())
        self.measure(rows)

    def measure(self, rows: Iterable[TableRow]) -> bool:
        """Measure more rows. Return True if a column grew."""
        before = self._plain.copy()
        cells = [row.cells for row in rows if not (row.separator or row.banner)]
        # Column by column, each text once: most of ten thousand rows have the same texts.
        for index, width in enumerate(before):
            names = {_cell_text(row[index]) for row in cells if index < len(row)}
            self._plain[index] = max(width, max((width_of(clean(text)) for text in names), default=0))
        grew = before != self._plain
        if grew:
            self._placed = (-1, ())
        return grew

    def place(self, width: int) -> tuple[PlacedColumn, ...]:
        """Return the columns that fit into `width` cells. The widest are squeezed if even the most important do not
        fit.

        Remaining space goes to columns that were cut, first to those that need least. So a name of 300 characters does
        not take the space of other columns.
        """
        if self._placed[0] != width:
            self._placed = (width, self._place(width))
        return self._placed[1]

    def _place(self, width: int) -> tuple[PlacedColumn, ...]:
        natural = [self._natural_width(index) for index in range(len(self.columns))]
        wanted = [self._minimum_width(index, wide) for index, wide in enumerate(natural)]
        kept = list(range(len(self.columns)))
        while len(kept) > 1 and _total_width(wanted, kept) > width:
            last = max(kept, key=lambda index: (self.columns[index].priority, index))
            if self.columns[last].priority <= 0:
                break
            kept.remove(last)
        gap = GAP if _total_width(wanted, kept) <= width else 1
        widths = list(wanted)
        self._squeeze(widths, kept, width - gap * (len(kept) - 1))
        left = width - _total_width(widths, kept, gap)
        for index in sorted(kept, key=lambda index: natural[index] - widths[index]):
            more = max(0, min(natural[index] - widths[index], left))
            widths[index] += more
            left -= more
        return tuple(
            PlacedColumn(index=index, column=self.columns[index], width=widths[index], gap=gap if position else 0)
            for position, index in enumerate(kept)
        )

    def _squeeze(self, widths: list[int], kept: Sequence[int], available: int) -> None:
        """Cut columns until they fit: first those with limits, then the widest."""
        bounded = [column.least is not None or column.most is not None for column in self.columns]
        while sum(widths[index] for index in kept) > available:
            wide = [index for index in kept if widths[index] > LEAST]
            if not wide:
                return
            widths[max(wide, key=lambda index: (bounded[index], widths[index]))] -= 1

    def _natural_width(self, index: int) -> int:
        column = self.columns[index]
        return max(1, column.width if column.width is not None else max(self._labels[index], self._plain[index]))

    def _minimum_width(self, index: int, natural: int) -> int:
        column = self.columns[index]
        return min(natural, column.most or natural, column.least or natural)


def _total_width(widths: Sequence[int], kept: Sequence[int], gap: int = GAP) -> int:
    return sum(widths[index] for index in kept) + gap * (len(kept) - 1)


def align(text: str, placed: PlacedColumn) -> str:
    """Return a text in exactly its column's width."""
    if placed.column.align == "left":
        return pad(text, placed.width)
    text = shorten(text, placed.width)
    return " " * (placed.width - width_of(text)) + text


def heading(placed: PlacedColumn) -> str:
    """Return the label of a column, with the gap before it."""
    return " " * placed.gap + align(clean(placed.column.label), placed)
