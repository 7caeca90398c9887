"""Columns of a table: how wide each is, and which ones a narrow terminal leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.text import Text

from widgets.text_utils.text import clean, pad, shorten, width_of

Align = Literal["left", "right"]
"""How the cells of a column stand: figures on the right, with their units."""

Tone = Literal["", "accent", "good", "warning", "bad", "muted"]
"""What a text means, for its colour; the words carry the meaning too."""

GAP: Final = 2
"""Spaces between two columns; one where the columns that stay have no room otherwise."""

LEAST: Final = 6
"""Cells a column is never squeezed below."""


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
    most: int | None = None
    """Cells that it takes at most where another column would be left out for more; `None`: as many as it needs."""


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
class PlacedColumn:
    """A column that is shown."""

    index: int
    """Its place among all columns."""
    column: TableColumn
    """The column."""
    width: int
    """Cells it takes here."""
    gap: int = 0
    """Spaces before it."""


def plain(cell: str | TableCell | Text) -> str:
    """The cleaned text of a cell."""
    return clean(_text(cell))


def _text(cell: str | TableCell | Text) -> str:
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, TableCell) else cell.plain


class TableLayout:
    """Measures cells as they come; columns grow and never shrink, so that a live table does not tremble."""

    def __init__(self, columns: Sequence[TableColumn] = (), rows: Iterable[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        """All columns."""
        self._labels = [width_of(clean(column.label)) for column in self.columns]
        self._plain = [0] * len(self.columns)
        self._placed: tuple[int, tuple[PlacedColumn, ...]] = (-1, ())
        self.measure(rows)

    def measure(self, rows: Iterable[TableRow]) -> bool:
        """Takes rows into account; whether a column grew."""
        before = self._plain.copy()
        cells = [row.cells for row in rows if not (row.separator or row.banner)]
        # Column by column, each text once: of ten thousand rows most say the same.
        for index, width in enumerate(before):
            names = {_text(row[index]) for row in cells if index < len(row)}
            self._plain[index] = max(width, max((width_of(clean(text)) for text in names), default=0))
        grew = before != self._plain
        if grew:
            self._placed = (-1, ())
        return grew

    def place(self, width: int) -> tuple[PlacedColumn, ...]:
        """The columns that fit into `width` cells; the widest are squeezed when even the most important do not.

        What is left over goes to those that were cut, first to those that want least: one name of three hundred
        characters takes no column's room.
        """
        if self._placed[0] != width:
            self._placed = (width, self._place(width))
        return self._placed[1]

    def _place(self, width: int) -> tuple[PlacedColumn, ...]:
        natural = [self._natural(index) for index in range(len(self.columns))]
        wanted = [self._wanted(index, wide) for index, wide in enumerate(natural)]
        kept = list(range(len(self.columns)))
        while len(kept) > 1 and _total(wanted, kept) > width:
            last = max(kept, key=lambda index: (self.columns[index].priority, index))
            if self.columns[last].priority <= 0:
                break
            kept.remove(last)
        gap = GAP if _total(wanted, kept) <= width else 1
        widths = list(wanted)
        self._squeeze(widths, kept, width - gap * (len(kept) - 1))
        left = width - _total(widths, kept, gap)
        for index in sorted(kept, key=lambda index: natural[index] - widths[index]):
            more = max(0, min(natural[index] - widths[index], left))
            widths[index] += more
            left -= more
        return tuple(
            PlacedColumn(index=index, column=self.columns[index], width=widths[index], gap=gap if position else 0)
            for position, index in enumerate(kept)
        )

    def _squeeze(self, widths: list[int], kept: Sequence[int], room: int) -> None:
        """Cuts columns until they fit: those first that are bounded, then whatever is widest."""
        bounded = [column.least is not None or column.most is not None for column in self.columns]
        while sum(widths[index] for index in kept) > room:
            wide = [index for index in kept if widths[index] > LEAST]
            if not wide:
                return
            widths[max(wide, key=lambda index: (bounded[index], widths[index]))] -= 1

    def _natural(self, index: int) -> int:
        column = self.columns[index]
        return max(1, column.width if column.width is not None else max(self._labels[index], self._plain[index]))

    def _wanted(self, index: int, natural: int) -> int:
        column = self.columns[index]
        return min(natural, column.most or natural, column.least or natural)


def _total(widths: Sequence[int], kept: Sequence[int], gap: int = GAP) -> int:
    return sum(widths[index] for index in kept) + gap * (len(kept) - 1)


def align(text: str, placed: PlacedColumn) -> str:
    """A cell's text in exactly its column's width."""
    if placed.column.align == "left":
        return pad(text, placed.width)
    text = shorten(text, placed.width)
    return " " * (placed.width - width_of(text)) + text


def heading(placed: PlacedColumn) -> str:
    """A column's label over its cells, behind the gap to the column before."""
    return " " * placed.gap + align(clean(placed.column.label), placed)
