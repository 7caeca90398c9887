"""What the views tell, as lines of text for people."""

from __future__ import annotations

from app.cli.output import paint
from app.cli.tables import table
from app.engine.view.table import Cell, Facts, Mark, Row, Table, picked, text_of
from backends.text import clean
from widgets.plain.text import width_of

DIM_MARK = "*"
"""Marks a row that is there to be seen only: colours may not be there."""

_MARKS = {
    Mark.WELL: "●",
    Mark.BUSY: "◐",
    Mark.ATTENTION: "▲",
    Mark.FAILED: "✖",
    Mark.UNUSED: "○",
    Mark.SPARE: "◇",
    Mark.UNKNOWN: "?",
}

_LONGEST = 1000
"""Characters of one text at most."""


def table_lines(shown: Table, width: int | None = None) -> list[str]:
    """A table with its headings; nothing where it has no rows. `width` None is unlimited."""
    if not shown.rows:
        return []
    head, *body = table(shown.columns, [_cells(row) for row in shown.rows], width)
    return [*([paint(shown.heading, "bold")] if shown.heading else []), paint(head, "bold"), *body]


def fitted_lines(shown: Table, width: int | None) -> list[str]:
    """The table in so many columns of a terminal: those of least weight are left out where there is no room."""
    least = max(shown.columns, key=lambda column: column.priority)
    plain = table(shown.columns, [list(map(text_of, _cells(row))) for row in shown.rows])
    if width is None or not least.priority or max(map(width_of, plain), default=0) <= width:
        return table_lines(shown, width)
    return fitted_lines(picked(shown, [column.title for column in shown.columns if column is not least]), width)


def _cells(row: Row) -> list[str | Cell]:
    first, *others = map(_cell, row.cells)
    return [Cell("  " * row.depth + first.text + (f" {DIM_MARK}" if row.dim else ""), first.tone), *others]


def _cell(cell: str | Cell) -> Cell:
    return Cell(clean(cell, _LONGEST)) if isinstance(cell, str) else Cell(marked(cell), cell.tone)


def marked(cell: Cell) -> str:
    """A cell's text behind its sign: `● optimal`, `▲ degraded`."""
    text = clean(cell.text, _LONGEST)
    return text if cell.mark is None else f"{_MARKS[cell.mark]} {text}"


def fact_lines(shown: Facts) -> list[str]:
    """Labels and values below each other."""
    wide = max((len(fact.label) + 2 for fact in shown.facts if fact.label), default=0)
    rows = [f"  {clean(fact.label):<{wide}}{clean(fact.value, _LONGEST)}".rstrip() for fact in shown.facts]
    return [*([paint(clean(shown.heading), "bold")] if shown.heading else []), *rows]
