"""Renderer-independent output: tables, facts and lines of text with a tone. No I/O.

Screens, command line and report render the same values. Texts are as devices and tools reported them; the renderer
cleans them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum

from backends.values import dataclass
from widgets.text_utils import symbols


class Tone(Enum):
    """Meaning of a text. The renderer decides on the colour; the words carry the meaning too."""

    PLAIN = "plain"
    DIM = "dim"
    """Not available, not reported, or of little weight."""
    ACCENT = "accent"
    """A heading, a controller, the best of several."""
    GOOD = "good"
    ATTENTION = "attention"
    """Needs attention: degraded, dangerous, effective value differs from the configured one."""
    BAD = "bad"
    """Failed, missing, worse, destroys data."""
    STAGED = "staged"
    """Chosen, not yet applied."""


class StatusSymbol(Enum):
    """State of a device as the sign before its text."""

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
    """It has no children."""
    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    title: str
    """Heading."""
    key: str = ""
    """Key by which the user chooses columns; "" if there is no choice."""
    align: Align = Align.LEFT
    """Alignment of its cells."""
    priority: int = 0
    """Columns with the highest number are left out first if the table is too wide; 0 is never left out."""
    room: int = 0
    """Usual width of its cells, for a table whose first rows are shown before the others are known."""
    shrinks: bool = False
    """Whether its cells may be cut if the table is too wide."""
    most: int = 0
    """Maximum width if another column would be left out otherwise; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a tone."""

    text: str
    """The text."""
    tone: Tone = Tone.PLAIN
    """Its meaning."""
    mark: StatusSymbol | None = None
    """Sign before the text; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table."""

    cells: tuple[str | Cell, ...]
    """One cell for each column; a plain string has no tone."""
    key: str = ""
    """Key with which a cursor follows the row: an address, a run, a setting's key."""
    dim: bool = False
    """Whether the row is for information only."""
    depth: int = 0
    """Depth in a tree."""
    fold: ExpandState = ExpandState.NOTHING
    """Whether its children are shown."""
    banner: tuple[str | Cell, ...] = ()
    """Text across the columns for the head of a group; empty if the cells are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows. Renderers may leave out empty columns."""

    columns: tuple[Column, ...]
    """Columns in their order."""
    rows: tuple[Row, ...] = ()
    """Rows in their order."""
    heading: str = ""
    """Heading above the table; "" for none."""

    def only(self, *keys: str) -> Table:
        """Return the same rows with these columns, in this order."""
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
    """Facts in their order."""
    heading: str = ""
    """Heading above the facts; "" for none."""


def facts_group(heading: str, lines: Iterable[FactLine]) -> tuple[Facts, ...]:
    """Return one group with these lines; () if there are no lines."""
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
    """Return the table with only the columns of these headings."""
    return _with_columns(shown, [at for at, column in enumerate(shown.columns) if column.title in titles])


def _with_columns(shown: Table, columns: Sequence[int]) -> Table:
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in columns)) for row in shown.rows)
    return replace(shown, columns=tuple(shown.columns[at] for at in columns), rows=rows)
