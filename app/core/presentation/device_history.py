"""Changes and runs of one device in a session, newest first. No I/O."""

from __future__ import annotations

from app.core.presentation import change as changes
from app.core.presentation.risk_text import outcome_cell
from app.core.presentation.run import result_line
from app.core.presentation.table import Cell, Column, Row, Table
from app.core.session.state import ChangeRecord, Session
from backends.model import Controller, Device, Inventory
from widgets.text_utils import units

COLUMNS = (
    Column(key="id", title="Id"),
    Column(key="when", title="When"),
    Column(key="what", title="What"),
    Column(key="outcome", title="Outcome", priority=1),
)


def device_events(session: Session, inventory: Inventory, owner: Device) -> Table:
    """Return a table of the changes and runs of a device, under any of its addresses and device nodes."""
    device = None if isinstance(owner, Controller) else owner.device
    names = {str(owner.target)}
    if device is not None:
        names |= {device, *(str(view.target) for view in inventory.at(device))}
    dated_rows = [
        (record.intent.at, Row(key=record.id, cells=(record.id, units.clock(record.intent.at), *_change(record))))
        for record in session.changes
        if str(record.change.target) in names
    ]
    dated_rows += [
        (
            run.start.at,
            Row(
                key=run.id,
                cells=(run.id, units.clock(run.start.at), run.start.workload, result_line(run.figures)),
            ),
        )
        for run in session.runs
        if run.start.target in names or run.start.device in names
    ]
    return Table(
        columns=COLUMNS, rows=tuple(row for _, row in sorted(dated_rows, key=lambda pair: pair[0], reverse=True))
    )


def _change(record: ChangeRecord) -> tuple[str, Cell]:
    change = record.change
    outcome = outcome_cell("no outcome" if record.end is None else record.end.result)
    if record.undone_by is not None:
        outcome = outcome_cell("undone")
    return f"{change.label}: {changes.old_text(change)} → {changes.new_text(change)}", outcome
