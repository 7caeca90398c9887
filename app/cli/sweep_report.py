"""What a sweep found and how it ended, for the commands that run or show one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.failures import DONE, FAILED, INTERRUPTED, REFUSED
from app.cli.output import document, lines, say
from backends.text import clean

if TYPE_CHECKING:
    from app.engine.session.state import Session
    from app.engine.session.sweep_record import SweepRecord


def report(session: Session, record: SweepRecord, folder: str, *, as_json: bool) -> None:
    """What the sweep of a session found, and how it ended."""
    from app.cli.sweep_text import result_lines
    from app.engine.sweep.results import results
    from app.engine.view import schema
    from app.engine.view.schema_sweep import sweep_json

    found = results(record, session.runs)
    if as_json:
        document(schema.document(sweep=sweep_json(record, found, session=folder)))
    else:
        lines(result_lines(record, found))
    say(ending(record, folder, simulated=session.simulated))
    for sentence in record.end.left if record.end is not None else ():
        say(clean(sentence, 600))


def ending(record: SweepRecord, folder: str, *, simulated: bool) -> str:
    """How it ended, in a sentence, and what to do next."""
    from app.engine.session.sweep_steps import SweepResult

    go_on = f"Go on: raidbench{' --demo' if simulated else ''} sweep --resume {Path(folder).name}"
    end = record.end
    if end is None:
        return f"{record.done} of {len(record.steps)} steps are done. {go_on}"
    back = "The settings are as before." if not end.left else "NOT ALL SETTINGS ARE AS BEFORE:"
    if end.result is SweepResult.FINISHED:
        return f"Finished: {len(record.steps)} steps. {back}"
    told = f"{end.result.value.capitalize()} after {record.done} of {len(record.steps)} steps. {clean(end.reason, 500)}"
    return " ".join(filter(None, (told, back, go_on if record.todo else "")))


def status_of(record: SweepRecord) -> int:
    """Exit status of a sweep that ended."""
    from app.engine.session.sweep_steps import SweepResult

    if record.end is None:
        return FAILED
    return {SweepResult.FINISHED: DONE, SweepResult.STOPPED: INTERRUPTED, SweepResult.WAITING: REFUSED}.get(
        record.end.result, FAILED
    )
