"""Renders tables and facts as lines of text. Columns are as wide as their content, if the terminal is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from operator import le

from app.cli.output import paint, terminal_width
from app.core.presentation.table import Align, Cell, Column, Facts, Row, Table, Tone
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.text import longest_word, shorten, styled_width, width_of, wrap_words

DIM_MARK = "*"
"""Mark of informative rows, because not every terminal shows that they are dim. In tables it follows the first cell."""

_MAX_TEXT = 1000
"""Maximum number of characters in a cell or fact."""

_FIXED_SPACE = "\N{NO-BREAK SPACE}"
"""Space at which no cell is folded. It is printed as a usual space."""

_GAP = "  "
_MIN_WIDTH = 8
"""Width in cells to which a growing table may cut a column."""

_EASY_WIDTH = 14
"""Width in cells to which a column is folded before columns of low priority are left out."""

_TITLE_WIDTH = 6
"""Width in cells below which no heading is folded."""

_WORD_WIDTH = 20
"""Width in cells of a word that a column of a narrow table has room for. A row with a longer word is a block."""

_COLOURS = {Tone.GOOD: "green", Tone.ATTENTION: "yellow", Tone.BAD: "red", Tone.DIM: "dim", Tone.STAGED: "cyan"}
"""Colour names (`paint`) by tone; other tones have no colour."""


def table_lines(shown: Table) -> list[str]:
    """Return a table for standard output: see `fitted_lines`."""
    return fitted_lines(shown, terminal_width())


def fitted_lines(shown: Table, width: int | None) -> list[str]:
    """Return a table with its headings as lines of at most `width` cells; None for no limit. [] if it has no rows.

    Cells are folded between words, and columns of low priority are left out. A row that does not fit even so is a block
    with a line for each column.
    """
    if not shown.rows:
        return []
    rows = _measured_rows(shown.rows)
    layout = _fitted_layout(shown.columns, rows, width)
    if layout is None:
        unfolded = LineLayout.of(shown.columns, rows, width)
        body = [line for row in rows for line in unfolded.stacked_lines(row.row)]
    else:
        body = [*layout.heading(), *layout.measured_lines(rows)]
    return [*([paint(shown.heading, "bold")] if shown.heading else []), *body]


def is_wider(shown: Table, width: int | None) -> bool:
    """Return whether a table without folded cells is wider than `width`."""
    return width is not None and _span(LineLayout.of(shown.columns, _measured_rows(shown.rows), None).widths) > width


def _fitted_layout(columns: Sequence[Column], rows: Sequence[_MeasuredRow], width: int | None) -> LineLayout | None:
    """Return the layout that shows the most columns; None if none fits `width`. Some columns are easier to fold."""
    widest = LineLayout.of(columns, rows, width)
    if width is None or _span(widest.widths) <= width:
        return widest
    widest = widest.foldable(rows)
    for attempt in (_fold_easily, _fold_all, _fold_most):
        kept: LineLayout | None = widest
        while kept is not None:
            folded = kept.folded(width, list(map(attempt, kept.columns, kept.least, kept.longest_cells)))
            if folded is not None:
                return folded.tightened(rows)
            kept = kept.narrowed()
    return None


def _fold_easily(column: Column, least: int, longest: int) -> int:
    """Return the least width of a column in whose cells only long texts are folded."""
    return max(least, min(longest, _EASY_WIDTH if column.shrinks else column.most or longest))


def _fold_all(_: Column, least: int, __: int) -> int:
    """Return the least width of a column in whose cells every text is folded; no word is split."""
    return least


def _fold_most(column: Column, least: int, _: int) -> int:
    """Return the least width of a column that has no room for its long words."""
    return least if column.align is Align.RIGHT else min(least, _WORD_WIDTH)


def _stacked(row: Row, columns: Sequence[Column], width: int | None) -> list[str]:
    """Return a row as its first cell, and a line for each further cell that is not empty."""
    if row.banner:
        return _banner(row, width)
    first, *others = _cells(row)
    names = [column.title for column in columns[1:]]
    wide = max(map(width_of, names), default=0)
    rows = wrap_words(first.text.replace(_FIXED_SPACE, " "), width)
    for name, cell in zip(names, others, strict=True):
        if cell.text:
            rows += wrap_words(paint(cell.text, _colour(cell)), width, f"  {name:<{wide}}  ")
    return rows


def listing(columns: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table. `columns`: the columns, or only their titles."""
    headed = tuple(Column(title=column) if isinstance(column, str) else column for column in columns)
    return table_lines(Table(columns=headed, rows=tuple(Row(cells=tuple(row)) for row in rows)))


def _cells(row: Row) -> list[Cell]:
    first, *others = map(_cell, row.cells)
    return [Cell("  " * row.depth + first.text + (f"{_FIXED_SPACE}{DIM_MARK}" if row.dim else ""), first.tone), *others]


@dataclass(frozen=True, slots=True)
class _MeasuredRow:
    """A row with its cleaned cells and their widths, which the layout and the lines of a long table both need."""

    row: Row
    cells: Sequence[Cell]
    """Cells as they are shown; empty for a banner."""
    widths: Sequence[int]
    """Widths of `cells` in cells of the terminal."""


def _measured_rows(rows: Iterable[Row]) -> list[_MeasuredRow]:
    measured = []
    for row in rows:
        cells = [] if row.banner else _cells(row)
        measured.append(_MeasuredRow(row, cells, [width_of(cell.text) for cell in cells]))
    return measured


def _banner(row: Row, width: int | None) -> list[str]:
    """Return a row that spans all columns: its first banner cell, then the others, separated by dots."""
    name, *pieces = map(_cell, row.banner)
    rows = [paint(name.text, _COLOURS.get(name.tone, ""))]
    for at, piece in enumerate(pieces):
        gap = _GAP if at == 0 else " · "
        text = paint(piece.text, _COLOURS.get(piece.tone, ""))
        if width is None or styled_width(rows[-1] + gap + text) <= width:
            rows[-1] += gap + text
        else:
            rows += wrap_words(text, width, _GAP * 2)
    return rows


@lru_cache(maxsize=2048)
def _cell(cell: str | Cell) -> Cell:
    """Return a cell whose text begins with its sign. Results are cached, because texts repeat in long tables."""
    return Cell(clean(cell, _MAX_TEXT)) if isinstance(cell, str) else Cell(with_sign(cell), cell.tone)


def with_sign(cell: Cell) -> str:
    """Return the text of a cell with its sign before it, such as `● optimal` or `▲ degraded`."""
    text = clean(cell.text, _MAX_TEXT)
    return text if cell.mark is None else f"{cell.mark.value.char} {text}"


def fact_lines(shown: Facts) -> list[str]:
    """Return facts as lines for standard output, with labels and values. A long value is wrapped between words."""
    wide = max((len(fact.label) + 2 for fact in shown.facts if fact.label), default=0)
    width = terminal_width()
    rows = [
        line.rstrip()
        for fact in shown.facts
        for line in wrap_words(
            paint(clean(fact.value, _MAX_TEXT), _COLOURS.get(fact.tone, "")), width, f"  {clean(fact.label):<{wide}}"
        )
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
    """Widths of the columns in cells."""
    longest_cells: tuple[int, ...]
    """Width in cells of the longest cell in each column."""
    width: int | None
    """Maximum length of a line in cells; None for no limit."""
    least: tuple[int, ...] = ()
    """Widths in cells to which the columns can be folded: of the longest word, or number with its unit."""
    stacked: bool = False
    """Whether a row with a word that is wider than its column is a block; otherwise, the word is cut."""

    @classmethod
    def of(
        cls, columns: Sequence[Column], rows: Sequence[_MeasuredRow], width: int | None, *, growing: bool = False
    ) -> LineLayout:
        """Return the layout without folded cells. Empty columns are left out unless the table is `growing`."""
        body = [row.widths for row in rows if not row.row.banner]
        longest = list(map(max, zip(*body, strict=True))) if body else [0] * len(columns)
        used = tuple(at for at in range(len(columns)) if growing or longest[at])
        kept = tuple(columns[at] for at in used)
        longest_cells = tuple(longest[at] for at in used)
        titles = [max(width_of(column.title), column.room if growing else 0) for column in kept]
        return cls(
            indexes=used,
            columns=kept,
            widths=tuple(map(max, longest_cells, titles)),
            longest_cells=longest_cells,
            width=width,
        )

    def foldable(self, rows: Sequence[_MeasuredRow]) -> LineLayout:
        """Return the layout with `least`, for a table that is too wide."""
        body = [[cell.text for cell in row.cells] for row in rows if not row.row.banner]
        parts = [
            longest if column.align is Align.RIGHT else max((longest_word(row[at]) for row in body), default=0)
            for at, column, longest in zip(self.indexes, self.columns, self.longest_cells, strict=True)
        ]
        titles = [max(longest_word(column.title), min(width_of(column.title), _TITLE_WIDTH)) for column in self.columns]
        return replace(self, least=tuple(map(max, parts, titles)))

    @classmethod
    def growing(cls, shown: Table, width: int | None) -> LineLayout:
        """Return the layout of a table to which rows are added: every column, with space for typical content."""
        layout = cls.of(shown.columns, _measured_rows(shown.rows), width, growing=True)
        while width is not None and _span(layout.wanted) > width and (narrower := layout.narrowed()) is not None:
            layout = narrower
        return replace(layout, widths=tuple(_cut(list(layout.widths), layout.columns, width)))

    @property
    def wanted(self) -> list[int]:
        """Widths in cells below which columns of low priority are left out."""
        return [min(wide, column.most or wide) for wide, column in zip(self.widths, self.columns, strict=True)]

    def narrowed(self) -> LineLayout | None:
        """Return the layout without its column of lowest priority; None if every column has to stay."""
        last = max(range(len(self.columns)), key=lambda at: self.columns[at].priority)
        if not self.columns[last].priority:
            return None
        kept = [at for at in range(len(self.columns)) if at != last]
        return replace(
            self,
            indexes=tuple(self.indexes[at] for at in kept),
            columns=tuple(self.columns[at] for at in kept),
            widths=tuple(self.widths[at] for at in kept),
            least=tuple(self.least[at] for at in kept if self.least),
            longest_cells=tuple(self.longest_cells[at] for at in kept),
        )

    def folded(self, width: int, floors: Sequence[int]) -> LineLayout | None:
        """Return the layout with folded headings and cells; None if it is wider than `width`.

        `floors`: least width of each column in cells.
        """
        sizes = list(self.widths)
        while _span(sizes) > width:
            wider = [at for at, floor in enumerate(floors) if sizes[at] > floor]
            if not wider:
                return None
            sizes[max(wider, key=lambda at: (self.columns[at].shrinks, sizes[at]))] -= 1
        return replace(self, widths=tuple(sizes), stacked=True)

    def tightened(self, rows: Sequence[_MeasuredRow]) -> LineLayout:
        """Return the layout with the space that folded columns leave free given to others, from left to right."""
        cells = [[cell.text for cell in row.cells] for row in rows if not row.row.banner]
        needs = [
            max(
                width_of(piece)
                for text in (column.title, *(row[index] for row in cells))
                for piece in _fold(text, size)
            )
            for index, column, size in zip(self.indexes, self.columns, self.widths, strict=True)
        ]
        sizes = [min(size, need) for size, need in zip(self.widths, needs, strict=True)]
        for at, column in enumerate(self.columns):
            whole = max(self.longest_cells[at], sizes[at], min(width_of(column.title), _TITLE_WIDTH))
            if self.width is not None and _span(sizes) + whole - sizes[at] <= self.width:
                sizes[at] = whole
        return replace(self, widths=tuple(sizes))

    def heading(self) -> list[str]:
        """Return the lines of column titles."""
        pieces = [_fold(column.title, size) for column, size in zip(self.columns, self.widths, strict=True)]
        tall = max(map(len, pieces), default=0)
        rows = zip(*([""] * (tall - len(piece)) + piece for piece in pieces), strict=True)
        return [paint(self._line(row, self.widths, [""] * len(row)), "bold") for row in rows]

    def rows(self, rows: Iterable[Row]) -> list[str]:
        """Return rows as lines. The rows may be newer than the layout."""
        return self.measured_lines(_measured_rows(rows))

    def measured_lines(self, rows: Iterable[_MeasuredRow]) -> list[str]:
        """Return the lines of rows whose cells are already measured."""
        signs = ("" if column.align is Align.RIGHT else "-" for column in self.columns)
        plain = _GAP.join(f"%{sign}{size}s" for sign, size in zip(signs, self.widths, strict=True))
        return [
            line for row in rows for line in (_banner(row.row, self.width) if row.row.banner else self._row(row, plain))
        ]

    def stacked_lines(self, row: Row) -> list[str]:
        """Return a row as a line for each of the shown columns."""
        shown = row if row.banner else replace(row, cells=tuple(row.cells[at] for at in self.indexes))
        return _stacked(shown, self.columns, self.width)

    def _row(self, measured: _MeasuredRow, plain: str) -> list[str]:
        """Return the lines of a row. `plain`: the format of a line whose cells fit and have no colour."""
        row = measured.row
        kept = [measured.cells[at] for at in self.indexes]
        texts, colours = [cell.text for cell in kept], list(map(_colour, kept))
        widths = [measured.widths[at] for at in self.indexes]
        if all(map(le, widths, self.widths)):  # nearly every row of a long table
            if not any(colours) and widths == list(map(len, texts)):
                return [(plain % tuple(texts)).rstrip().replace(_FIXED_SPACE, " ")]
            return [self._join(texts, widths, self.widths, colours)]
        sizes = self._sizes(widths)
        pieces = [
            _fold(text, size) if column.align is Align.LEFT else [text]
            for text, size, column in zip(texts, sizes, self.columns, strict=True)
        ]
        if self.stacked and any(
            width_of(piece) > size for column, size in zip(pieces, sizes, strict=True) for piece in column
        ):
            return self.stacked_lines(row)
        return [self._line(row, sizes, colours) for row in zip_longest(*pieces, fillvalue="")]

    def _line(self, cells: Sequence[str], sizes: Sequence[int], colours: Sequence[str]) -> str:
        short = [shorten(cell, size, "..") for cell, size in zip(cells, sizes, strict=True)]
        return self._join(short, list(map(width_of, short)), sizes, colours)

    def _join(self, cells: Sequence[str], widths: Sequence[int], sizes: Sequence[int], colours: Sequence[str]) -> str:
        """Return a line of cells, none of which is wider than its column."""
        placed = []
        for column, cell, width, size, colour in zip(self.columns, cells, widths, sizes, colours, strict=True):
            painted = paint(cell, colour) if colour and cell else cell
            gap = " " * (size - width)
            placed.append(gap + painted if column.align is Align.RIGHT else painted + gap)
        return _GAP.join(placed).rstrip().replace(_FIXED_SPACE, " ")

    def _sizes(self, cell_widths: Sequence[int]) -> Sequence[int]:
        """Return the column widths for one line. A long cell of a later row uses free space of the columns after it."""
        known = [
            min(size, base) if size <= longest and base < longest else size
            for size, base, longest in zip(cell_widths, self.widths, self.longest_cells, strict=True)
        ]
        sizes: list[int] = []
        over = 0
        for size, base in zip(known, self.widths, strict=True):
            sizes.append(max(size, base - over))
            over += sizes[-1] - base
        return _cut(sizes, self.columns, self.width) if over else sizes


def _fold(text: str, width: int) -> list[str]:
    """Return a cell as lines of at most `width` cells if its words are not wider."""
    return wrap_words(text, width) if width_of(text) > width else [text]


def _colour(cell: Cell) -> str:
    return "" if cell.tone is Tone.PLAIN else _COLOURS.get(cell.tone, "")


def _span(widths: Sequence[int]) -> int:
    """Return the length in cells of a line with columns of these widths."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _cut(widths: list[int], columns: Sequence[Column], width: int | None) -> list[int]:
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
