"""What the views tell, as lines of text for people: columns as wide as they must be, figures on the right."""

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
"""Marks a row that is there to be seen only: colours may not be there."""

_LONGEST = 1000
"""Characters of one text at most."""

_GAP = "  "
_NARROWEST = 8

_COLOURS = {Tone.GOOD: "green", Tone.ATTENTION: "yellow", Tone.BAD: "red", Tone.DIM: "dim", Tone.STAGED: "cyan"}
"""Where colours are shown; other tones have none."""


def table_lines(shown: Table, width: int | None = None) -> list[str]:
    """A table with its headings; nothing where it has no rows. `width` None is unlimited."""
    if not shown.rows:
        return []
    layout = LineLayout.of(shown, width)
    return [*([paint(shown.heading, "bold")] if shown.heading else []), layout.heading(), *layout.rows(shown.rows)]


def fitted_lines(shown: Table, width: int | None) -> list[str]:
    """The table in so many columns of a terminal: those of least weight are left out where there is no room."""
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
    """Rows of texts below their headings."""
    headed = tuple(Column(title=column) if isinstance(column, str) else column for column in columns)
    return table_lines(Table(columns=headed, rows=tuple(Row(cells=tuple(row)) for row in rows)))


def _cells(row: Row) -> list[str | Cell]:
    first, *others = map(_cell, row.cells)
    return [Cell("  " * row.depth + first.text + (f" {DIM_MARK}" if row.dim else ""), first.tone), *others]


def _banner(row: Row, width: int | None) -> str:
    """What a row says across the columns: a name, then the rest with points between."""
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
    """Remembered: in a long table most texts stand more than once."""
    return Cell(clean(cell, _LONGEST)) if isinstance(cell, str) else Cell(with_sign(cell), cell.tone)


def with_sign(cell: Cell) -> str:
    """Return a cell's text behind its sign: `● optimal`, `▲ degraded`."""
    text = clean(cell.text, _LONGEST)
    return text if cell.mark is None else f"{cell.mark.value.char} {text}"


def wrap_text(text: str, width: int, *, first: str = "") -> list[str]:
    """Return lines of at most `width` columns that begin with `first`, later ones with as many blanks.

    A word is never broken, so that an address, a path or a command can be copied: a longer one has a line of its own.
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
    """Labels and values below each other."""
    wide = max((len(fact.label) + 2 for fact in shown.facts if fact.label), default=0)
    rows = [
        f"  {clean(fact.label):<{wide}}{paint(clean(fact.value, _LONGEST), _COLOURS.get(fact.tone, ''))}".rstrip()
        for fact in shown.facts
    ]
    return [*([paint(clean(shown.heading), "bold")] if shown.heading else []), *rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLayout:
    """How the columns of a table stand. Rows that come later stand in them, too: what is longer is longer."""

    places: tuple[int, ...]
    """Which columns of the table: those with any content, or all of one that grows."""
    columns: tuple[Column, ...]
    """Those."""
    widths: tuple[int, ...]
    """In characters."""
    wholes: tuple[int, ...]
    """Characters of the longest cell of each."""
    width: int | None
    """Characters of a line; None is unlimited."""

    @classmethod
    def of(cls, shown: Table, width: int | None, *, growing: bool = False) -> LineLayout:
        """That of a table; without the columns in which nothing stands unless it is `growing`."""
        body = [[text_of(cell) for cell in _cells(row)] for row in shown.rows if not row.banner]
        used = tuple(at for at in range(len(shown.columns)) if growing or any(row[at] for row in body))
        kept = tuple(shown.columns[at] for at in used)
        wholes = tuple(max((width_of(row[at]) for row in body), default=0) for at in used)
        least = [max(width_of(column.title), column.room if growing else 0) for column in kept]
        widths = _fit(list(map(max, wholes, least)), kept, width)
        return cls(places=used, columns=kept, widths=tuple(widths), wholes=wholes, width=width)

    @classmethod
    def growing(cls, shown: Table, width: int | None) -> LineLayout:
        """That of a table of which more rows will come: every column, with room for what usually stands there."""
        layout = cls.of(_fit_columns(shown, width, growing=True), width, growing=True)
        return replace(layout, places=tuple(shown.columns.index(column) for column in layout.columns))

    def heading(self) -> str:
        """The titles."""
        return paint(self._line([column.title for column in self.columns], [""] * len(self.columns)), "bold")

    def rows(self, rows: Iterable[Row]) -> list[str]:
        """Rows of the table, also later ones."""
        return [_banner(row, self.width) if row.banner else self._row(_cells(row)) for row in rows]

    def _row(self, cells: Sequence[str | Cell]) -> str:
        kept = [cells[at] for at in self.places]
        return self._line(list(map(text_of, kept)), list(map(_colour, kept)))

    def _line(self, cells: Sequence[str], colours: Sequence[str]) -> str:
        sizes = self._sizes([width_of(cell) for cell in cells])
        short = [shorten(cell, size, "..") for cell, size in zip(cells, sizes, strict=True)]
        gaps = [" " * (size - width_of(cell)) for cell, size in zip(short, sizes, strict=True)]
        painted = [paint(cell, colour) for cell, colour in zip(short, colours, strict=True)]
        rights = [column.align is Align.RIGHT for column in self.columns]
        placed = [gap + cell if right else cell + gap for cell, gap, right in zip(painted, gaps, rights, strict=True)]
        return _GAP.join(placed).rstrip()

    def _sizes(self, own: Sequence[int]) -> Sequence[int]:
        """The widths for a line of such cells: a longer one takes what those behind it leave, or is cut."""
        cut = [
            min(size, base) if column.shrinks and base < whole else size
            for size, base, whole, column in zip(own, self.widths, self.wholes, self.columns, strict=True)
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
    """Characters of a whole line."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fit(widths: list[int], columns: Sequence[Column], width: int | None) -> list[int]:
    """The widths, columns that may shrink cut until the table fits or nothing is left to cut."""
    if width is None:
        return widths
    fitted = list(widths)
    while _span(fitted) > width:
        cut = [at for at, column in enumerate(columns) if (column.shrinks or column.most) and fitted[at] > _NARROWEST]
        if not cut:
            break
        fitted[max(cut, key=lambda at: (fitted[at] > (columns[at].most or 0), fitted[at]))] -= 1
    return fitted
