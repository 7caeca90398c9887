"""`undo`: revert changes, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.confirm import confirm_harmless, dependent_lines, moved_lines, step_lines
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import AskingOptions, gather_options
from app.cli.output import lines, print_json, prose_to_stderr, report_error, say, say_lines
from app.cli.render import table_lines, with_sign
from app.cli.session_context import on_workbench, open_session, report_unreleased_changes, session_with_changes
from app.cli.shared_options import confirm_option, dry_run_option, json_option, yes_option
from app.core.presentation import change as view
from app.core.presentation import json_schema
from app.core.presentation.risk_text import outcome_cell
from backends.errors import DeviceGoneError, NotFoundError, RaidbenchError, UnknownSettingError
from backends.settings import Risk
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.session.state import ChangeRecord
    from app.core.workbench import Workbench
    from backends.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class _UndoOptions(AskingOptions):
    """The options of `undo`."""

    change: str | None
    listing: bool
    everything: bool


@command("undo", "raidbench undo", "raidbench undo --list", "raidbench undo c1")
@click.argument("change", required=False)
@click.option("--list", "listing", is_flag=True, help="List the changes that can be undone.")
@click.option("--all", "everything", is_flag=True, help="Undo all changes of the session, newest first.")
@dry_run_option
@yes_option
@confirm_option
@json_option
@gather_options(_UndoOptions)
def undo_command(options: _UndoOptions) -> int:
    """Undo changes of the session.

    Without CHANGE, undo the last change of the last session that has changes in force. CHANGE may be a change that
    failed: a controller may have applied it after its tool gave up. An undo that destroys data needs its own
    confirmation. With --all, such an undo is skipped unless raidbench can ask on a terminal.
    """
    change, as_json = options.change, options.as_json
    if change is not None and options.everything:
        raise click.UsageError("CHANGE cannot be combined with --all.")
    pair = session_with_changes(change)
    others = (options.listing or pair is None) and report_unreleased_changes()
    if pair is None:
        say(f"Nothing to undo: no {'other ' if others else ''}change is in force.")
        if change is not None:
            raise NotFoundError(f"There is no change {clean(change, 40)} in force.")
        nothing = {"in_force": []} if options.listing else {"dry_run": options.dry_run, "changes": []}
        if as_json:
            print_json(**nothing)
        return DONE
    folder, records = pair
    if options.listing and as_json:
        print_json(session=str(folder), in_force=[json_schema.change_record(record) for record in records])
        return DONE
    if options.listing:
        say(f"Session {folder.name}, newest first:")
        lines(table_lines(view.undoable_table(records)))
        return DONE
    chosen = _select_changes(records, options)
    return on_workbench(_undo, folder, chosen, options, changes=True, dry=options.dry_run, rights=True)


def _select_changes(records: tuple[ChangeRecord, ...], options: _UndoOptions) -> list[ChangeRecord]:
    change = options.change
    if options.everything:
        return list(records)
    if change is None:
        return [records[0]]
    named = [record for record in records if record.id == change]
    if not named:
        ids = ", ".join(record.id for record in records)
        raise NotFoundError(f"There is no change {clean(change, 40)} in force.", hint=f"In force: {ids}.")
    return named


async def _undo(
    bench: Workbench, interruption: Interruption, folder: Path, chosen: list[ChangeRecord], options: _UndoOptions
) -> int:
    with prose_to_stderr():
        lines((*table_lines(view.undoable_table(chosen)), *dependent_lines([record.change for record in chosen])))
    say()
    await open_session(bench, folder)
    plans = await _plan_undos(bench, chosen)
    say("Commands:")
    say_lines([line for plan in plans.values() for line in step_lines(plan.writes)])
    say_lines(view.unknown_value_texts(plans.values()))
    say()
    if options.dry_run:
        if options.as_json:
            print_json(dry_run=True, changes=[_undo_json(record, plans.get(record.id)) for record in chosen])
        say("Dry run: nothing was changed.")
        return DONE
    if len(chosen) > 1 or all(plan.risk is not Risk.DESTROYS_DATA for plan in plans.values()):
        confirm_harmless("Undo", yes=options.yes)
    outcomes: list[dict[str, Any]] = []
    try:
        return await _undo_in_turn(bench, interruption, chosen, plans, options, outcomes)
    finally:
        if options.as_json and outcomes:
            print_json(dry_run=False, changes=outcomes, session=str(folder))


async def _undo_in_turn(
    bench: Workbench,
    interruption: Interruption,
    chosen: list[ChangeRecord],
    plans: Mapping[str, Change],
    options: _UndoOptions,
    outcomes: list[dict[str, Any]],
) -> int:
    """Undo the `chosen` changes in order, append each result to `outcomes`, and return the exit status.

    Among several changes, report an error and undo the next one. Raises RaidbenchError if only one was chosen. Stop
    after a change whose old value was not restored.
    """
    failed: RaidbenchError | None = None
    with interruption.stop_on_signal(lambda: say("Stopping after this change."), patient=True):
        for at, record in enumerate(chosen):
            plan = plans.get(record.id)
            try:
                word = None if plan is None else await _confirm_token(bench, record, plan, options.typed)
                ended = await bench.changes.undo(record.id, confirm=word, shown=plan)
            except RaidbenchError as error:
                if len(chosen) == 1:
                    raise
                say(f"{record.id}, {view.subject_text(record.change)}:")
                report_error(error)
                failed = error
                outcomes.append({**_undo_json(record, plan), "outcome": None, "error": error.message})
                continue
            outcomes.append({**_undo_json(record, plan), "outcome": json_schema.change_end(ended), "error": None})
            if not options.as_json:
                text = clean(view.end_text(record.change, ended), 1000)
                sign = with_sign(outcome_cell(ended.result))
                head = f"{sign}  {record.id}  {record.change.target} {record.change.key}: {text}"
                lines([head, *moved_lines(record.change, ended)])
            if not ended.is_reverted:
                return FAILED
            if interruption.is_requested() and at + 1 < len(chosen):
                return INTERRUPTED
    return FAILED if failed is not None else DONE


def _undo_json(record: ChangeRecord, plan: Change | None) -> dict[str, Any]:
    """Return, as JSON, the id of the change to undo and the plan of its undo (null if there is none yet)."""
    return {"takes_back": record.id, "change": None if plan is None else json_schema.change(plan)}


async def _plan_undos(bench: Workbench, chosen: list[ChangeRecord]) -> dict[str, Change]:
    """Return the plans of those undos that can be planned now, by change id.

    Raises RaidbenchError if only one change was chosen and its undo cannot be planned, unless its device is missing.
    """
    plans: dict[str, Change] = {}
    for record in chosen:
        try:
            plans[record.id] = await bench.changes.plan_undo(record.id)
        except UnknownSettingError:
            if len(chosen) == 1:
                raise
        except (NotFoundError, DeviceGoneError):  # A missing device is reported by the undo itself.
            continue
        except RaidbenchError:
            if len(chosen) == 1:
                raise
    return plans


async def _confirm_token(bench: Workbench, record: ChangeRecord, plan: Change, typed: str | None) -> str | None:
    """Ask for the confirmation token if an undo destroys data, and return it; return None for any other undo.

    Raises RefusedError if the user declines.
    """
    if plan.risk is not Risk.DESTROYS_DATA:
        return None
    await bench.hardware.probe()  # The recorded inventory may be outdated, and the label must show the present device.
    label = await bench.hardware.device_label(record.change.target)
    return confirm.require_confirmation(
        Risk.DESTROYS_DATA, (label,), yes=False, typed=typed, action=f"Undo {record.id}"
    )
