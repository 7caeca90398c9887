"""Output independent of the renderer: tables, facts and lines of text with a tone. No I/O.

Screens, command line and report render the same objects. The texts are those that devices and tools reported; the
renderer removes control characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum

from backends.values import dataclass
from widgets.text_utils import symbols


class Tone(Enum):
    """Meaning of a text. The renderer shows the meaning by a colour, but the text alone has the same meaning."""

    PLAIN = "plain"
    DIM = "dim"
    """Not available, not reported, or less important."""
    ACCENT = "accent"
    """A heading, a controller, or the best of several values."""
    GOOD = "good"
    ATTENTION = "attention"
    """Needs attention: degraded, dangerous, or the effective value differs from the configured one."""
    BAD = "bad"
    """Failed, missing, worse, or destroys data."""
    STAGED = "staged"
    """A value that is staged but not applied yet."""


class StatusSymbol(Enum):
    """Sign for the state of a device, shown before the text of the state."""

    WELL = symbols.WELL
    BUSY = symbols.BUSY
    ATTENTION = symbols.ATTENTION
    FAILED = symbols.FAILED
    UNUSED = symbols.UNUSED
    SPARE = symbols.SPARE
    UNKNOWN = symbols.UNKNOWN


class Align(Enum):
    """Alignment of a column's cells."""

    LEFT = "left"
    RIGHT = "right"
    """For numbers with their units."""


class ExpandState(Enum):
    """Whether a row of a tree shows its children."""

    NOTHING = "nothing"
    """The row has no children."""
    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    title: str
    """Heading of the column."""
    short: str = ""
    """Heading if the column is narrower than `title`; "" to cut the title."""
    key: str = ""
    """Key by which the user chooses columns; "" if the user cannot choose columns."""
    align: Align = Align.LEFT
    """Alignment of the cells."""
    priority: int = 0
    """If the table is too wide, columns with the highest number are left out first; 0 is never left out.

    Numbers up to 3 are for main columns: other cells are cut to `least` for them, and only to `most` for the others.
    """
    room: int = 0
    """Usual width of the cells in characters, which is reserved while only the first rows of the table are known."""
    shrinks: bool = False
    """Whether cells may be cut if the table is too wide."""
    least: int = 0
    """Width in characters to which cells are cut before a main column is left out; 0 for `most`."""
    most: int = 0
    """Width in characters that is enough for most rows. Longer cells are cut first; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a tone."""

    text: str
    """Content of the cell."""
    tone: Tone = Tone.PLAIN
    """Meaning of the text."""
    mark: StatusSymbol | None = None
    """Sign before the text; None for no sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table."""

    cells: tuple[str | Cell, ...]
    """One cell for each column; a plain string has no tone."""
    key: str = ""
    """Key that identifies the row when the table changes: an address, a run, or the key of a setting."""
    dim: bool = False
    """Whether the row is only for information, such as a read-only setting."""
    depth: int = 0
    """Depth in a tree."""
    fold: ExpandState = ExpandState.NOTHING
    """Whether the children of the row are shown."""
    banner: tuple[str | Cell, ...] = ()
    """Text across all columns, for the heading of a group; empty if the row shows its cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. Renderers may leave out empty columns."""

    columns: tuple[Column, ...]
    """Columns from left to right."""
    rows: tuple[Row, ...] = ()
    """Rows from top to bottom."""
    heading: str = ""
    """Heading above the table; "" for no heading."""

    def only(self, *keys: str) -> Table:
        """Return a table of the same rows with only the columns that have these keys, in this order."""
        indexes = {column.key: at for at, column in enumerate(self.columns)}
        return _with_columns(self, [indexes[key] for key in keys])


@dataclass(frozen=True, slots=True)
class FactLine:
    """A label with its value."""

    label: str
    """Label; "" for a sentence without one."""
    value: str
    """Value."""
    tone: Tone = Tone.PLAIN
    """Meaning of the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A group of facts."""

    facts: tuple[FactLine, ...]
    """Facts from top to bottom."""
    heading: str = ""
    """Heading above the facts; "" for no heading."""


def facts_group(heading: str, lines: Iterable[FactLine]) -> tuple[Facts, ...]:
    """Return one group of facts with these lines; () if there are no lines."""
    facts = tuple(lines)
    return (Facts(heading=heading, facts=facts),) if facts else ()


def text_of(cell: str | Cell) -> str:
    """Return the text of a cell."""
    return cell if isinstance(cell, str) else cell.text


def without_empty_columns(shown: Table) -> Table:
    """Return the table without empty columns; unchanged if it has no rows."""
    columns = [at for at in range(len(shown.columns)) if any(text_of(row.cells[at]) for row in shown.rows)]
    return _with_columns(shown, columns) if shown.rows else shown


def with_titles(shown: Table, titles: Collection[str]) -> Table:
    """Return the table with only the columns that have these headings."""
    return _with_columns(shown, [at for at, column in enumerate(shown.columns) if column.title in titles])


def _with_columns(shown: Table, columns: Sequence[int]) -> Table:
    if len(columns) == len(shown.columns):
        return shown
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in columns)) for row in shown.rows)
    return replace(shown, columns=tuple(shown.columns[at] for at in columns), rows=rows)
