"""What the views tell, as lines of text for people."""

from __future__ import annotations

from app.cli.output import paint
from app.cli.tables import table
from app.engine.view.table import Cell, Facts, Row, Table, text_of
from backends.text import clean

DIM_MARK = "*"
"""Marks a row that is there to be seen only: colours may not be there."""

_LONGEST = 1000
"""Characters of one text at most."""


def table_lines(shown: Table, width: int | None = None) -> list[str]:
    """A table with its headings; nothing where it has no rows. `width` None is unlimited."""
    if not shown.rows:
        return []
    head, *body = table(shown.columns, [_cleaned(row) for row in shown.rows], width)
    return [*([paint(shown.heading, "bold")] if shown.heading else []), paint(head, "bold"), *body]


def _cleaned(row: Row) -> list[str | Cell]:
    """The cells, harmless."""
    first, *others = (
        _clean(cell) if isinstance(cell, str) else Cell(_clean(cell.text), cell.tone) for cell in row.cells
    )
    return [f"{text_of(first)} {DIM_MARK}" if row.dim else first, *others]


def _clean(text: str) -> str:
    """Blanks before a text show how deep it is in a tree: they stay."""
    return " " * (len(text) - len(text.lstrip(" "))) + clean(text, _LONGEST)


def fact_lines(shown: Facts) -> list[str]:
    """Labels and values below each other."""
    wide = max((len(fact.label) for fact in shown.facts), default=0)
    rows = [f"  {fact.label:<{wide}}  {clean(fact.value, _LONGEST)}" for fact in shown.facts]
    return [*([paint(clean(shown.heading), "bold")] if shown.heading else []), *rows]
