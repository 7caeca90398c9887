"""`undo`: take changes back, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import confirm
from app.cli.failures import DONE, FAILED, INTERRUPTED
from app.cli.opening import begin, refuse_read_only, session_with_changes, workbench
from app.cli.options import CONFIRM_HELP
from app.cli.output import lines, report_error, say
from app.cli.render import marked, table_lines
from app.cli.review import above_lines, steps
from app.cli.running import Interruption, run
from app.engine.view import change as view
from app.engine.view.effects import outcome_cell
from backends.errors import NotFoundError, RaidbenchError
from backends.settings import Risk
from backends.text import clean

if TYPE_CHECKING:
    from app.engine.session.state import ChangeRecord
    from app.engine.workbench import Workbench


@click.command("undo")
@click.argument("change", required=False)
@click.option("--list", "listing", is_flag=True, help="Show what could be taken back.")
@click.option("--all", "everything", is_flag=True, help="Take back all changes of the session, newest first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--confirm", "typed", metavar="WORD", help=CONFIRM_HELP)
def undo_command(change: str | None, listing: bool, everything: bool, yes: bool, typed: str | None) -> int:
    """Take back the last change, the one named CHANGE, or all of the session.

    The session is the last one that has changes in force. What destroys data is confirmed by its word, one at a time:
    with --all it is left out unless there is a terminal to ask on.
    """
    if change is not None and everything:
        raise click.UsageError("A change or --all, not both.")
    found = session_with_changes()
    if found is None:
        say("Nothing to undo: no change is in force.")
        if change is not None:
            raise NotFoundError(f"There is no change {clean(change, 40)} in force.")
        return DONE
    folder, records = found
    if listing:
        say(f"Session {folder.name}, newest first:")
        lines(table_lines(view.in_force(records)))
        return DONE
    chosen = _chosen(records, change, everything)
    refuse_read_only()
    with workbench(rights=True) as bench:
        return run(lambda interruption: _undo(bench, interruption, folder, chosen, yes, typed))


def _chosen(records: tuple[ChangeRecord, ...], change: str | None, everything: bool) -> list[ChangeRecord]:
    if everything:
        return list(records)
    if change is None:
        return [records[0]]
    named = [record for record in records if record.id == change]
    if not named:
        known = ", ".join(record.id for record in records)
        raise NotFoundError(f"There is no change {clean(change, 40)} in force.", hint=f"In force: {known}.")
    return named


async def _undo(
    bench: Workbench,
    interruption: Interruption,
    folder: Path,
    chosen: list[ChangeRecord],
    yes: bool,
    typed: str | None,
) -> int:
    for row in (*table_lines(view.in_force(chosen)), *above_lines([record.change for record in chosen])):
        say(row)
    say()
    say("What is run:")
    for row in [line for record in chosen for line in steps(record.change.undo)]:
        say(row)
    say()
    if len(chosen) > 1 or chosen[0].change.risk is not Risk.DESTROYS_DATA:
        confirm.confirmed(Risk.NONE, (), yes=yes, typed=None, what="Undo")
    await begin(bench, folder)
    failed: RaidbenchError | None = None
    with interruption.gracefully(lambda: say("Stopping after this change."), patient=True):
        for at, record in enumerate(chosen):
            try:
                ended = await bench.undo(record.id, confirm=await _named(bench, record, typed))
            except RaidbenchError as error:
                if len(chosen) == 1:
                    raise
                say(f"{record.id}, {view.what(record.change)}:")
                report_error(error)
                failed = error
                continue
            told = clean(view.ended_words(record.change, ended), 1000)
            sign = marked(outcome_cell(ended.result))
            lines([f"{sign}  {record.id}  {record.change.target} {record.change.key}: {told}"])
            if not ended.taken_back:
                return FAILED
            if interruption.asked() and at + 1 < len(chosen):
                return INTERRUPTED
    return FAILED if failed is not None else DONE


async def _named(bench: Workbench, record: ChangeRecord, typed: str | None) -> str | None:
    """The word that somebody gives for a change whose undo destroys data; None for any other.

    Raises RefusedError when nobody does.
    """
    if record.change.risk is not Risk.DESTROYS_DATA:
        return None
    await bench.probe()  # the session may be older than what is there now
    plate = await bench.nameplate(record.change.target)
    return confirm.confirmed(Risk.DESTROYS_DATA, (plate,), yes=False, typed=typed, what=f"Take {record.id} back")
