"""Renders tables and facts as lines of text. Columns are as wide as their content."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from app.cli.output import paint
from app.core.presentation.table import Align, Cell, Column, Facts, Row, Table, Tone, text_of, with_titles
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.text import shorten, width_of

DIM_MARK = "*"
"""Mark of informative rows, because not every terminal shows that they are dim. In tables it follows the first cell."""

_MAX_TEXT = 1000
"""Maximum number of characters in a cell or fact."""

_GAP = "  "
_MIN_WIDTH = 8

_COLOURS = {Tone.GOOD: "green", Tone.ATTENTION: "yellow", Tone.BAD: "red", Tone.DIM: "dim", Tone.STAGED: "cyan"}
"""Colour names (`paint`) by tone; other tones have no colour."""


def table_lines(shown: Table, width: int | None = None) -> list[str]:
    """Return the lines of a table with its headings; [] if the table has no rows.

    `width`: columns of the terminal; None for no limit.
    """
    if not shown.rows:
        return []
    layout = LineLayout.of(shown, width)
    return [*([paint(shown.heading, "bold")] if shown.heading else []), layout.heading(), *layout.rows(shown.rows)]


def fitted_lines(shown: Table, width: int | None) -> list[str]:
    """Return a table as lines of at most `width` columns. Columns of low priority are left out if necessary."""
    return table_lines(_fit_columns(shown, width), width)


def _fit_columns(shown: Table, width: int | None, *, growing: bool = False) -> Table:
    least = max(shown.columns, key=lambda column: column.priority)
    layout = LineLayout.of(shown, None, growing=growing)
    wanted = [min(wide, column.most or wide) for wide, column in zip(layout.widths, layout.columns, strict=True)]
    if width is None or not least.priority or _span(wanted) <= width:
        return shown
    kept = with_titles(shown, [column.title for column in shown.columns if column is not least])
    return _fit_columns(kept, width, growing=growing)


def listing(columns: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table. `columns`: the columns, or only their titles."""
    headed = tuple(Column(title=column) if isinstance(column, str) else column for column in columns)
    return table_lines(Table(columns=headed, rows=tuple(Row(cells=tuple(row)) for row in rows)))


def _cells(row: Row) -> list[str | Cell]:
    first, *others = map(_cell, row.cells)
    return [Cell("  " * row.depth + first.text + (f" {DIM_MARK}" if row.dim else ""), first.tone), *others]


def _banner(row: Row, width: int | None) -> str:
    """Return the line of a row that spans all columns: its first banner cell, then the others, separated by dots."""
    name, *pieces = map(_cell, row.banner)
    cells = (
        name,
        *((Cell(f"{_GAP if at == 0 else ' · '}{piece.text}", piece.tone) for at, piece in enumerate(pieces))),
    )
    line, room = "", 10_000 if width is None else width
    for piece in cells:
        text = shorten(piece.text, max(0, room), "..")
        room -= width_of(text)
        line += paint(text, _COLOURS.get(piece.tone, ""))
    return line


@lru_cache(maxsize=2048)
def _cell(cell: str | Cell) -> Cell:
    """Return a cell whose text begins with its sign. Results are cached, because texts repeat in long tables."""
    return Cell(clean(cell, _MAX_TEXT)) if isinstance(cell, str) else Cell(with_sign(cell), cell.tone)


def with_sign(cell: Cell) -> str:
    """Return the text of a cell with its sign before it, such as `● optimal` or `▲ degraded`."""
    text = clean(cell.text, _MAX_TEXT)
    return text if cell.mark is None else f"{cell.mark.value.char} {text}"


def wrap_text(text: str, width: int, *, first: str = "") -> list[str]:
    """Wrap text into lines of at most `width` columns. The first begins with `first`, the others with as many spaces.

    Words are never broken, so that an address, a path or a command can be copied. A longer word gets its own line.
    """
    return textwrap.wrap(
        text,
        max(width, len(first) + 20),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )


def fact_lines(shown: Facts) -> list[str]:
    """Return one line for each fact, with label and value."""
    wide = max((len(fact.label) + 2 for fact in shown.facts if fact.label), default=0)
    rows = [
        f"  {clean(fact.label):<{wide}}{paint(clean(fact.value, _MAX_TEXT), _COLOURS.get(fact.tone, ''))}".rstrip()
        for fact in shown.facts
    ]
    return [*([paint(clean(shown.heading), "bold")] if shown.heading else []), *rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLayout:
    """Columns of a table and their widths.

    Rows that are added later keep this layout. A longer cell takes space from the columns after it.
    """

    indexes: tuple[int, ...]
    """Indexes of the shown columns: those with content; for a table that grows, all columns."""
    columns: tuple[Column, ...]
    """The shown columns."""
    widths: tuple[int, ...]
    """Widths of the columns in characters."""
    longest_cells: tuple[int, ...]
    """Length in characters of the longest cell in each column."""
    width: int | None
    """Maximum length of a line in characters; None for no limit."""

    @classmethod
    def of(cls, shown: Table, width: int | None, *, growing: bool = False) -> LineLayout:
        """Return the layout of a table. Empty columns are left out unless the table is `growing`."""
        body = [[text_of(cell) for cell in _cells(row)] for row in shown.rows if not row.banner]
        used = tuple(at for at in range(len(shown.columns)) if growing or any(row[at] for row in body))
        kept = tuple(shown.columns[at] for at in used)
        longest_cells = tuple(max((width_of(row[at]) for row in body), default=0) for at in used)
        least = [max(width_of(column.title), column.room if growing else 0) for column in kept]
        widths = _fit(list(map(max, longest_cells, least)), kept, width)
        return cls(indexes=used, columns=kept, widths=tuple(widths), longest_cells=longest_cells, width=width)

    @classmethod
    def growing(cls, shown: Table, width: int | None) -> LineLayout:
        """Return the layout of a table to which rows are added: every column, with space for typical content."""
        layout = cls.of(_fit_columns(shown, width, growing=True), width, growing=True)
        return replace(layout, indexes=tuple(shown.columns.index(column) for column in layout.columns))

    def heading(self) -> str:
        """Return the line of column titles."""
        return paint(self._line([column.title for column in self.columns], [""] * len(self.columns)), "bold")

    def rows(self, rows: Iterable[Row]) -> list[str]:
        """Return rows as lines. The rows may be newer than the layout."""
        return [_banner(row, self.width) if row.banner else self._row(_cells(row)) for row in rows]

    def _row(self, cells: Sequence[str | Cell]) -> str:
        kept = [cells[at] for at in self.indexes]
        return self._line(list(map(text_of, kept)), list(map(_colour, kept)))

    def _line(self, cells: Sequence[str], colours: Sequence[str]) -> str:
        sizes = self._sizes([width_of(cell) for cell in cells])
        short = [shorten(cell, size, "..") for cell, size in zip(cells, sizes, strict=True)]
        gaps = [" " * (size - width_of(cell)) for cell, size in zip(short, sizes, strict=True)]
        painted = [paint(cell, colour) for cell, colour in zip(short, colours, strict=True)]
        rights = [column.align is Align.RIGHT for column in self.columns]
        placed = [gap + cell if right else cell + gap for cell, gap, right in zip(painted, gaps, rights, strict=True)]
        return _GAP.join(placed).rstrip()

    def _sizes(self, cell_widths: Sequence[int]) -> Sequence[int]:
        """Return the column widths for one line. A long cell uses free space of the columns after it, or is cut."""
        cut = [
            min(size, base) if column.shrinks and base < longest else size
            for size, base, longest, column in zip(
                cell_widths, self.widths, self.longest_cells, self.columns, strict=True
            )
        ]
        sizes: list[int] = []
        over = 0
        for size, base in zip(cut, self.widths, strict=True):
            sizes.append(max(size, base - over))
            over += sizes[-1] - base
        return _fit(sizes, self.columns, self.width) if over else sizes


def _colour(cell: str | Cell) -> str:
    return _COLOURS.get(cell.tone, "") if isinstance(cell, Cell) else ""


def _span(widths: Sequence[int]) -> int:
    """Return the length in characters of a line with columns of these widths."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fit(widths: list[int], columns: Sequence[Column], width: int | None) -> list[int]:
    """Return the column widths, reduced until the table fits `width` or no column can be narrower."""
    if width is None:
        return widths
    fitted = list(widths)
    while _span(fitted) > width:
        cut = [at for at, column in enumerate(columns) if (column.shrinks or column.most) and fitted[at] > _MIN_WIDTH]
        if not cut:
            break
        fitted[max(cut, key=lambda at: (fitted[at] > (columns[at].most or 0), fitted[at]))] -= 1
    return fitted
