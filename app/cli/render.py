"""What the views tell, as lines of text for people: columns as wide as they must be, figures on their decimal point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from app.cli.output import paint
from app.engine.view.table import Align, Cell, Column, Facts, Row, Table, Tone, picked, text_of
from backends.text import clean
from widgets.plain.text import shorten, width_of

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
    lines = iter(_laid_out(shown.columns, [_cells(row) for row in shown.rows if not row.banner], width))
    head = next(lines)
    body = [_banner(row, width) if row.banner else next(lines) for row in shown.rows]
    return [*([paint(shown.heading, "bold")] if shown.heading else []), paint(head, "bold"), *body]


def fitted_lines(shown: Table, width: int | None) -> list[str]:
    """The table in so many columns of a terminal: those of least weight are left out where there is no room."""
    least = max(shown.columns, key=lambda column: column.priority)
    plain = _laid_out(shown.columns, [list(map(text_of, _cells(row))) for row in shown.rows if not row.banner], None)
    if width is None or not least.priority or max(map(width_of, plain), default=0) <= width:
        return table_lines(shown, width)
    return fitted_lines(picked(shown, [column.title for column in shown.columns if column is not least]), width)


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
    told = (name, *((Cell(f"{_GAP if at == 0 else ' · '}{one.text}", one.tone) for at, one in enumerate(pieces))))
    line, room = "", 10_000 if width is None else width
    for piece in told:
        text = shorten(piece.text, max(0, room), "..")
        room -= width_of(text)
        line += paint(text, _COLOURS.get(piece.tone, ""))
    return line


@lru_cache(maxsize=2048)
def _cell(cell: str | Cell) -> Cell:
    """Remembered: in a long table most texts stand more than once."""
    return Cell(clean(cell, _LONGEST)) if isinstance(cell, str) else Cell(marked(cell), cell.tone)


def marked(cell: Cell) -> str:
    """A cell's text behind its sign: `● optimal`, `▲ degraded`."""
    text = clean(cell.text, _LONGEST)
    return text if cell.mark is None else f"{cell.mark.value.char} {text}"


def fact_lines(shown: Facts) -> list[str]:
    """Labels and values below each other."""
    wide = max((len(fact.label) + 2 for fact in shown.facts if fact.label), default=0)
    rows = [
        f"  {clean(fact.label):<{wide}}{paint(clean(fact.value, _LONGEST), _COLOURS.get(fact.tone, ''))}".rstrip()
        for fact in shown.facts
    ]
    return [*([paint(clean(shown.heading), "bold")] if shown.heading else []), *rows]


def _laid_out(columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], width: int | None) -> list[str]:
    """The heading and the rows as lines; columns without any content are left out."""
    body = [list(row) for row in rows]
    used = [at for at in range(len(columns)) if any(text_of(row[at]) for row in body)]
    kept = [columns[at] for at in used]
    cells = [[text_of(row[at]) for at in used] for row in body]
    colours = [[_colour(row[at]) for at in used] for row in body]
    for at, column in enumerate(kept):
        if column.align is Align.POINT:
            for row, text in zip(cells, _pointed([row[at] for row in cells]), strict=True):
                row[at] = text
    headed = [[column.title for column in kept], *cells]
    widths = [max((width_of(row[at]) for row in headed), default=0) for at in range(len(kept))]
    widths = _fit(widths, kept, width)
    return [_line(row, widths, each) for row, each in zip(headed, [[""] * len(kept), *colours], strict=True)]


def _colour(cell: str | Cell) -> str:
    return _COLOURS.get(cell.tone, "") if isinstance(cell, Cell) else ""


def _line(cells: Sequence[str], widths: Sequence[int], colours: Sequence[str]) -> str:
    short = [shorten(cell, size, "..") for cell, size in zip(cells, widths, strict=True)]
    gaps = [" " * (size - width_of(cell)) for cell, size in zip(short, widths, strict=True)]
    painted = [paint(cell, colour) for cell, colour in zip(short, colours, strict=True)]
    return _GAP.join(cell + gap for cell, gap in zip(painted, gaps, strict=True)).rstrip()


def _pointed(cells: list[str]) -> list[str]:
    """Cells with their decimal points below each other; what is no figure stands as it is, on the right."""
    fronts = [_digits(cell) for cell in cells]
    front = max(fronts, default=0)
    moved = [" " * (front - own) + cell if own else cell for own, cell in zip(fronts, cells, strict=True)]
    whole = max(map(width_of, moved), default=0)
    return [cell if own else cell.rjust(whole) for own, cell in zip(fronts, moved, strict=True)]


def _digits(cell: str) -> int:
    """Length of a cell's sign and whole digits; 0 if it does not begin with a figure."""
    length = 0
    while length < len(cell) and (cell[length].isdigit() or (length == 0 and cell[0] in "+-")):
        length += 1
    return length if any(char.isdigit() for char in cell[:length]) else 0


def _fit(widths: list[int], columns: Sequence[Column], width: int | None) -> list[int]:
    """The widths, columns that may shrink cut until the table fits or nothing is left to cut."""
    if width is None:
        return widths
    fitted = list(widths)
    while sum(fitted) + len(_GAP) * (len(fitted) - 1) > width:
        candidates = [at for at, column in enumerate(columns) if column.shrinks and fitted[at] > _NARROWEST]
        if not candidates:
            break
        fitted[max(candidates, key=lambda at: fitted[at])] -= 1
    return fitted
