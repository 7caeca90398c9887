"""Devices and settings as the rows that the Devices screen shows. Pure."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from app.engine.view.table import Fold, Row, Table
from app.tui import render
from backends.settings import Reading
from widgets.keyed_table import TableCell, TableRow
from widgets.table_layout import plain

SHOWN = ("setting", "now", "staged", "risk", "effect")
"""Columns of the table of settings; the values that one may have stand in the list that enter opens."""


_FOLDS = {Fold.NOTHING: "  ", Fold.CLOSED: "▸ ", Fold.OPEN: "▾ "}


def list_rows(table: Table, staged: Container[str] = ()) -> tuple[TableRow, ...]:
    """The rows of the list: what hangs from another stands further in, and where something is staged is a mark."""
    return tuple([_drawn(row, row.key in staged) for row in table.rows])


def _drawn(row: Row, marked: bool) -> TableRow:
    name, *others = render.cells(row.cells)
    return TableRow(
        key=row.key,
        cells=(_branched(row, name), *others),
        dim=row.dim,
        banner=_headed(row, render.cells(row.banner)),
        marked=marked,
    )


def _branched(row: Row, name: str | TableCell) -> str | TableCell:
    text = f"{'  ' * row.depth}{_FOLDS[row.fold]}{plain(name)}"
    return TableCell(text=text, tone=name.tone) if isinstance(name, TableCell) else text


def _headed(row: Row, banner: tuple[str | TableCell, ...]) -> tuple[str | TableCell, ...]:
    if not banner:
        return ()
    first = banner[0] if isinstance(banner[0], TableCell) else TableCell(text=banner[0])
    return (replace(first, text=f"{_FOLDS[row.fold]}{first.text}"), *banner[1:])


def next_value(reading: Reading, current: str | None, step: int) -> str | None:
    """The legal value after or before `current`; None where there is nothing to step through."""
    if reading.choices:
        values = [choice.value for choice in reading.choices]
        if current not in values:
            return values[0 if step > 0 else -1]
        return values[(values.index(current) + step) % len(values)]
    span = reading.span
    if span is None:
        return None
    try:
        number = int(current or "")
    except ValueError:
        return str(span.minimum)
    if number <= 0 or span.maximum - span.minimum <= 16 * span.step:
        number += step * span.step
    else:  # powers of two walk a wide span in a few keys
        number = number * 2 if step > 0 else number // 2
        number -= (number - span.minimum) % span.step
    return str(min(max(number, span.minimum), span.maximum))
