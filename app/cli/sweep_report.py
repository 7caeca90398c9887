"""What a sweep found and how it ended, for the commands that run or show one."""

from __future__ import annotations

from pathlib import Path

from app.cli.failures import DONE, FAILED, INTERRUPTED, REFUSED
from app.cli.output import document, lines, say
from app.cli.sweep_text import result_lines
from app.engine.session.state import Session
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import SweepResult
from app.engine.sweep.results import results
from app.engine.view import schema
from app.engine.view.names import worded
from app.engine.view.schema_sweep import sweep_json
from app.engine.view.sweep_findings import ending
from backends.hosts.simulated.machines import option
from backends.text import clean


def report(session: Session, record: SweepRecord, folder: str, *, as_json: bool) -> None:
    """What the sweep of a session found, and how it ended."""
    if as_json:
        document(schema.document(sweep=sweep_json(record, results(record, session.runs), session=folder)))
    else:
        told = worded(record)
        lines(result_lines(told, results(told, session.runs)))
    say(_ending(record, folder, session))


def _ending(record: SweepRecord, folder: str, session: Session) -> str:
    """How it ended, in a sentence, and what to do next."""
    before = f" {option(session.machine.host)}" if session.simulated and session.machine else ""
    go_on = f"Go on: raidbench{before} sweep --resume {Path(folder).name}"
    return clean(ending(record)[0], 1000) + (f"\n{go_on}" if record.todo else "")


def status_of(record: SweepRecord) -> int:
    """Exit status of a sweep that ended."""
    if record.end is None:
        return FAILED
    return {SweepResult.FINISHED: DONE, SweepResult.STOPPED: INTERRUPTED, SweepResult.WAITING: REFUSED}.get(
        record.end.result, FAILED
    )
