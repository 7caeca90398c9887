"""A report as JSON: the same objects as the commands give, in one document."""

from __future__ import annotations

from app.engine.judge.comparison import compare_experiment
from app.engine.session.events import NoteAdded, RulePersisted
from app.engine.session.json_values import unstructure
from app.engine.session.state import Session
from app.engine.view import schema, schema_compare


def to_json(session: Session, *, folder: str) -> schema.Json:
    """The whole session: machine, devices, changes, runs, notes, what is still in force."""
    machine = session.machine
    host = "" if machine is None else machine.host
    return schema.document(
        session={
            "id": session.id,
            "folder": folder,
            "started": session.started,
            "version": session.version,
            "simulated": session.simulated,
            "baseline": session.baseline,
        },
        machine=None if machine is None else unstructure(machine),
        devices=schema.devices(session.inventory, {}, host=host, simulated=session.simulated),
        changes=[schema.change_record(record) for record in session.changes],
        in_force=[record.id for record in session.in_force],
        runs=[schema.run(record, session=folder) for record in session.runs],
        experiments=[
            schema_compare.experiment(record, session, compare_experiment(session, record.id), session=folder)
            for record in session.experiments
        ],
        notes=[{"at": event.at, "text": event.text} for event in session.events if isinstance(event, NoteAdded)],
        kept=[
            {"at": event.at, "target": str(event.target), "path": event.path, "values": dict(event.values)}
            for event in session.events
            if isinstance(event, RulePersisted)
        ],
    )
