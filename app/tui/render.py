"""Converts tables, cells and facts of `app.core.presentation` into those of the widgets."""

from __future__ import annotations

from collections.abc import Iterable

from app.core.presentation import table as view
from widgets.details import Detail, FactGroup
from widgets.keyed_table import Align, TableCell, TableColumn, TableRow
from widgets.table_layout import Tone

TONES: dict[view.Tone, Tone] = {
    view.Tone.PLAIN: "",
    view.Tone.DIM: "muted",
    view.Tone.ACCENT: "accent",
    view.Tone.GOOD: "good",
    view.Tone.ATTENTION: "warning",
    view.Tone.BAD: "bad",
    view.Tone.STAGED: "accent",
}
"""Names in the widgets of the tones of `app.core.presentation`."""

MARKS: dict[view.StatusSymbol, str] = {mark: mark.value.char for mark in view.StatusSymbol}
"""Character that shows each status symbol."""

MIN_WIDTH = 12
"""Width to which a shrinkable column is cut before another one is left out."""

_ALIGNS: dict[view.Align, Align] = {view.Align.LEFT: "left", view.Align.RIGHT: "right"}


def columns(shown: view.Table) -> tuple[TableColumn, ...]:
    """Return the columns of a table."""
    return tuple(
        TableColumn(
            key=column.key or column.title,
            label=column.title,
            short=column.short,
            align=_ALIGNS[column.align],
            priority=column.priority,
            least=column.least or (MIN_WIDTH if column.shrinks else None),
            most=column.most or None,
        )
        for column in shown.columns
    )


def rows(shown: view.Table) -> tuple[TableRow, ...]:
    """Return the rows of a table, with their keys."""
    return tuple(
        TableRow(
            key=row.key or str(at),
            cells=cells(row.cells),
            dim=row.dim,
            banner=cells(row.banner),
        )
        for at, row in enumerate(shown.rows)
    )


def cells(shown: Iterable[str | view.Cell]) -> tuple[str | TableCell, ...]:
    """Return the cells of a row. Plain text is returned as it is, because lists have up to ten thousand rows."""
    return tuple([item if isinstance(item, str) else cell(item) for item in shown])


def cell(shown: str | view.Cell) -> str | TableCell:
    """Return a cell with its tone and, in front of the text, its sign."""
    if isinstance(shown, str):
        return shown
    text = shown.text if shown.mark is None else f"{MARKS[shown.mark]} {shown.text}"
    return TableCell(text=text, tone=TONES[shown.tone])


def groups(shown: Iterable[view.Facts]) -> tuple[FactGroup, ...]:
    """Return facts in the form of the facts widget."""
    return tuple(
        FactGroup(
            heading=facts.heading,
            facts=tuple(Detail(label=fact.label, value=fact.value, tone=TONES[fact.tone]) for fact in facts.facts),
        )
        for facts in shown
    )
