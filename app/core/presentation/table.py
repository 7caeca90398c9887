"""What is shown, before anybody draws it: tables, facts and lines of text with a tone. No I/O.

Screen, command line and report render the same values. Texts stand here as devices and tools gave them; whoever draws
them cleans them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum

from backends.values import dataclass
from widgets.text_utils import symbols


class Tone(Enum):
    """What a text means. Which colour that is decides who draws it; the words carry the meaning, too."""

    PLAIN = "plain"
    DIM = "dim"
    """Not available, not reported, of no weight here."""
    ACCENT = "accent"
    """What others belong to: a controller, a heading, the best of several."""
    GOOD = "good"
    ATTENTION = "attention"
    """Wants a look: degraded, dangerous, another value in force than the one that is set."""
    BAD = "bad"
    """Failed, missing, worse, destroys data."""
    STAGED = "staged"
    """Wanted, not yet set."""


class StatusSymbol(Enum):
    """How a thing is, as the sign before its words."""

    WELL = symbols.WELL
    BUSY = symbols.BUSY
    ATTENTION = symbols.ATTENTION
    FAILED = symbols.FAILED
    UNUSED = symbols.UNUSED
    SPARE = symbols.SPARE
    UNKNOWN = symbols.UNKNOWN


class Align(Enum):
    """How a column's cells stand."""

    LEFT = "left"
    RIGHT = "right"
    """Figures, with their units."""


class ExpandState(Enum):
    """Whether a row of a tree shows what hangs from it."""

    NOTHING = "nothing"
    """Nothing hangs from it."""
    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    title: str
    """Its heading."""
    key: str = ""
    """Tells the columns apart where somebody chooses among them; "" where nobody does."""
    align: Align = Align.LEFT
    """How its cells stand."""
    priority: int = 0
    """Where there is no room for all, those with the highest number are left out first; 0 stays."""
    room: int = 0
    """Characters that its cells usually take, for a table whose first rows are shown before the others are known."""
    shrinks: bool = False
    """Whether its cells may be cut where the table is too wide."""
    most: int = 0
    """Characters that it takes at most where another column would be left out for more; 0 for as many as it needs."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a meaning."""

    text: str
    """What it says."""
    tone: Tone = Tone.PLAIN
    """What that means."""
    mark: StatusSymbol | None = None
    """A sign before it; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table."""

    cells: tuple[str | Cell, ...]
    """One for each column; a bare text means nothing beyond its words."""
    key: str = ""
    """Tells the rows apart where a cursor stays with one: an address, a run, a setting's key."""
    dim: bool = False
    """Whether it is there to be seen only."""
    depth: int = 0
    """How deep it hangs in a tree."""
    fold: ExpandState = ExpandState.NOTHING
    """Whether what hangs from it is shown."""
    banner: tuple[str | Cell, ...] = ()
    """What it says right across the columns, where it is the head of others; empty where its cells are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows. Columns in which nothing stands need not be shown."""

    columns: tuple[Column, ...]
    """In their order."""
    rows: tuple[Row, ...] = ()
    """In their order."""
    heading: str = ""
    """Stands above it; "" for none."""

    def only(self, *keys: str) -> Table:
        """Return the same rows with these columns, in this order."""
        places = {column.key: at for at, column in enumerate(self.columns)}
        return _with_columns(self, [places[key] for key in keys])


@dataclass(frozen=True, slots=True)
class FactLine:
    """A label and what it says."""

    label: str
    """What it is about; "" for a sentence of its own."""
    value: str
    """What is so."""
    tone: Tone = Tone.PLAIN
    """What that means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts that belong together."""

    facts: tuple[FactLine, ...]
    """In their order."""
    heading: str = ""
    """Stands above them; "" for none."""


def facts_group(heading: str, lines: Iterable[FactLine]) -> tuple[Facts, ...]:
    """Return one group with these lines; () if there are no lines."""
    facts = tuple(lines)
    return (Facts(heading=heading, facts=facts),) if facts else ()


def text_of(cell: str | Cell) -> str:
    """What a cell says."""
    return cell if isinstance(cell, str) else cell.text


def without_empty_columns(shown: Table) -> Table:
    """The table without the columns in which nothing stands; as it is where it has no rows."""
    columns = [at for at in range(len(shown.columns)) if any(text_of(row.cells[at]) for row in shown.rows)]
    return _with_columns(shown, columns) if shown.rows else shown


def with_titles(shown: Table, titles: Collection[str]) -> Table:
    """The table with the columns of these headings only."""
    return _with_columns(shown, [at for at, column in enumerate(shown.columns) if column.title in titles])


def _with_columns(shown: Table, columns: Sequence[int]) -> Table:
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in columns)) for row in shown.rows)
    return replace(shown, columns=tuple(shown.columns[at] for at in columns), rows=rows)
