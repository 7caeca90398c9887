"""The members of an array after a run, as a table for people."""

from __future__ import annotations

from app.cli.devices_text import terminal_width
from app.cli.output import lines, paint
from app.cli.tables import Align, Column, cell_width, table
from app.engine.session.state import RunRecord
from app.engine.view.members import SHORT_COLUMNS, member_cells
from backends.text import clean

_LEFT = ("Member", "Model", "Role")
_MODEL = 1


def member_table(run: RunRecord) -> None:
    """What each member did while the run measured; nothing for a run on what has none."""
    rows = [tuple(_cell(text) for text in member_cells(member)) for member in run.figures.members]
    if not rows:
        return
    columns = [Column(title=title, align=Align.LEFT if title in _LEFT else Align.POINT) for title in SHORT_COLUMNS]
    width = terminal_width()
    told = table(columns, rows)
    if width is not None and max(map(cell_width, told)) > width:  # the kernel's name says it, too
        told = table(columns, [(*cells[:_MODEL], "", *cells[_MODEL + 1 :]) for cells in rows])
    head, *body = told
    lines([f"Members of {clean(run.start.device or run.start.target, 100)}", paint(head, "bold"), *body])


def _cell(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" "))] + clean(text, 60)
