"""Column layout of a table: the widths, and which columns are left out on a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rich.text import Text

from widgets.text_utils.text import clean, pad, shorten, width_of

Align = Literal["left", "right"]
"""Alignment of a column. Numbers with their units are on the right."""

Tone = Literal["", "accent", "good", "warning", "bad", "muted"]
"""Tone of a text, which determines its colour. The text must be clear without the colour."""

GAP: Final = 2
"""Number of spaces between two columns. If space is scarce, it is only one, before a column is left out."""

MAIN: Final = 3
"""Highest priority of the main columns. For a main column, cells are cut to `least`; for another, only to `most`."""

LEAST: Final = 6
"""Minimum width of a column in cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table."""

    key: str
    """Unique key."""
    label: str
    """Heading of the column."""
    short: str = ""
    """Heading if the column is narrower than `label`; "" to cut the label."""
    width: int | None = None
    """Width in cells; None to fit its contents."""
    room: int = 0
    """Width in cells that the column has at least, so that later contents do not move other columns."""
    align: Align = "left"
    """Alignment of the contents."""
    priority: int = 0
    """If the terminal is narrow, columns with the highest number are left out first; those with 0 are never left out.
    """
    least: int | None = None
    """Width in cells to which the column is cut so that no main column is left out (`MAIN`); None for `most`."""
    most: int | None = None
    """Width in cells that is enough for most rows. Longer cells are cut before a gap is; None for `least`."""
    host: str = ""
    """Key of the column that shows the cells of this one while this one is left out (`TableCell.hosted`); "" for none.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A text with a tone, as a cell of a table."""

    text: str
    """Text of the cell."""
    tone: Tone = ""
    """Tone of the text."""
    hosted: str = ""
    """Text that the host of a column that is left out shows instead of its own cell; "" for its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of a table."""

    key: str
    """Unique key. The cursor stays on the row with its key."""
    cells: tuple[str | TableCell | Text, ...] = ()
    """One cell per column; missing cells are empty. A `Text`, such as a share bar, keeps its own colours."""
    dim: bool = False
    """Whether the row is shown as not available."""
    marked: bool = False
    """Whether the row is marked."""
    separator: bool = False
    """Whether the row is a group heading. Only its first cell is shown, and the cursor skips it."""
    tone: Tone = ""
    """Tone of the whole row."""
    banner: tuple[str | TableCell, ...] = ()
    """Texts that are shown across all columns instead of the cells; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedColumn:
    """A column that is visible."""

    index: int
    """Index of the column among all columns."""
    column: TableColumn
    """The column itself."""
    width: int
    """Current width in cells."""
    gap: int = 0
    """Number of spaces before the column."""
    guest: int | None = None
    """Index of the column that is left out and whose cells this one shows; None for none."""

    def cell_of(self, row: TableRow) -> str | TableCell | Text:
        """Return the cell of a row that the column shows."""
        if self.guest is not None and self.guest < len(row.cells):
            cell = row.cells[self.guest]
            if isinstance(cell, TableCell) and cell.hosted:
                return replace(cell, text=cell.hosted)
        return row.cells[self.index] if self.index < len(row.cells) else ""


def plain(cell: str | TableCell | Text) -> str:
    """Return the text of a cell, cleaned and without style."""
    return clean(_cell_text(cell))


def _cell_text(cell: str | TableCell | Text) -> str:
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, TableCell) else cell.plain


class TableLayout:
    """Measures and computes the widths of columns. Measured widths only grow, so that a live table stays steady."""

    def __init__(self, columns: Sequence[TableColumn] = (), rows: Iterable[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        """All columns, also those that are left out."""
        self._labels = [width_of(clean(column.label)) for column in self.columns]
        self._short_labels = [width_of(clean(column.short or column.label)) for column in self.columns]
        self._plain = [0] * len(self.columns)
        self._placed: tuple[int, tuple[PlacedColumn, ...]] = (-1, ())
        self.measure(rows)

    def measure(self, rows: Iterable[TableRow]) -> bool:
        """Measure additional rows. Return whether a column grew."""
        before = self._plain.copy()
        cells = [row.cells for row in rows if not (row.separator or row.banner)]
        # Measure each distinct text of a column only once, because most of ten thousand rows have the same texts.
        for index, width in enumerate(before):
            if self.columns[index].width is not None:
                continue
            names = {_cell_text(row[index]) for row in cells if index < len(row)}
            self._plain[index] = max(width, max((width_of(clean(text)) for text in names), default=0))
        grew = before != self._plain
        if grew:
            self._placed = (-1, ())
        return grew

    def place(self, width: int) -> tuple[PlacedColumn, ...]:
        """Return the columns that fit into `width` cells. If even the most important do not fit, the widest are cut.

        If space is scarce, headings become shorter first, then gaps, and then cells. After that, columns are left out.

        Remaining space goes to columns that were cut. Those that need least get it first, so that a name of 300
        characters does not take the space of other columns.
        """
        if self._placed[0] != width:
            self._placed = (width, self._place(width))
        return self._placed[1]

    def _place(self, width: int) -> tuple[PlacedColumn, ...]:
        natural = [self._width(index, self._labels) for index in range(len(self.columns))]
        short = [self._width(index, self._short_labels) for index in range(len(self.columns))]
        wanted, enough = (
            [min(width, limit or width) for width, limit in zip(short, limits, strict=True)]
            for limits in (
                [column.least or column.most for column in self.columns],
                [column.most or column.least for column in self.columns],
            )
        )
        kept = list(range(len(self.columns)))
        while len(kept) > 1:
            last = max(kept, key=lambda index: (self.columns[index].priority, index))
            priority = self.columns[last].priority
            if priority <= 0 or _total_width(enough if priority > MAIN else wanted, kept, 1) <= width:
                break
            kept.remove(last)
        gap = GAP if _total_width(enough, kept) <= width else 1
        widths = list(wanted)
        self._squeeze(widths, kept, width - gap * (len(kept) - 1))
        left = width - _total_width(widths, kept, gap)
        for goal in (enough, natural):
            for index in sorted(kept, key=lambda index: goal[index] - widths[index]):
                more = max(0, min(goal[index] - widths[index], left))
                widths[index] += more
                left -= more
        hidden = {column.host: index for index, column in enumerate(self.columns) if index not in kept}
        return tuple(
            PlacedColumn(
                index=index,
                column=self.columns[index],
                width=widths[index],
                gap=gap if position else 0,
                guest=hidden.get(self.columns[index].key),
            )
            for position, index in enumerate(kept)
        )

    def _squeeze(self, widths: list[int], kept: Sequence[int], available: int) -> None:
        """Cut columns until all fit: first columns with `least` or `most`, then the widest."""
        bounded = [column.least is not None or column.most is not None for column in self.columns]
        while sum(widths[index] for index in kept) > available:
            wide = [index for index in kept if widths[index] > LEAST]
            if not wide:
                return
            widths[max(wide, key=lambda index: (bounded[index], widths[index]))] -= 1

    def _width(self, index: int, labels: Sequence[int]) -> int:
        """Return the width of a column with its contents and its label; `labels`: widths of the labels."""
        column = self.columns[index]
        return max(1, column.width or max(labels[index], self._plain[index], column.room))


def _total_width(widths: Sequence[int], kept: Sequence[int], gap: int = GAP) -> int:
    return sum(widths[index] for index in kept) + gap * (len(kept) - 1)


def align(text: str, placed: PlacedColumn) -> str:
    """Return a text in exactly the width of its column, aligned as the column is."""
    is_left = placed.column.align == "left"
    if text.isascii() and len(text) <= placed.width:  # nearly all cells of a live table
        return text.ljust(placed.width) if is_left else text.rjust(placed.width)
    if is_left:
        return pad(text, placed.width)
    text = shorten(text, placed.width)
    return " " * (placed.width - width_of(text)) + text


def heading(placed: PlacedColumn) -> str:
    """Return the heading of a column, with the gap before it."""
    label, short = clean(placed.column.label), clean(placed.column.short)
    return " " * placed.gap + align(short if short and width_of(label) > placed.width else label, placed)
