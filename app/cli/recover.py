"""`recover`: undo or keep changes, arrays and files that a crash left behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, nullcontext
from pathlib import Path

import click

from app.cli import confirm, recover_unit
from app.cli.async_runner import Interruption, run
from app.cli.command import command
from app.cli.confirm import step_lines
from app.cli.error_exit import exit_status
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import AskingOptions, gather_options
from app.cli.output import ask, can_ask, lines, print_json, prose_to_stderr, report_error, say, say_lines
from app.cli.recover_listing import (
    RecoverableItems,
    array_rows,
    file_rows,
    find_recoverable,
    intent_rows,
    recoverable_json,
    recoverable_rows,
    sweep_rows,
)
from app.cli.render import with_sign
from app.cli.session_context import open_session, refuse_read_only, report_trials, workbench
from app.cli.shared_options import confirm_option, dry_run_option, json_option, yes_option
from app.core.benchmark.scratch_descriptor import remove_scratch
from app.core.benchmark.stale_scratch import StaleScratchFile
from app.core.changes.arrays.array_journal import ArrayJournalEntry
from app.core.interrupted_experiments import restore_settings
from app.core.presentation import change as view
from app.core.presentation.risk_text import outcome_cell
from app.core.session.flag_files import EXPERIMENT, SWEEP, SessionFlag
from app.core.session.journal import UnresolvedChange
from app.core.unreadable_state import blocking_errors, interrupted_errors
from app.core.workbench import Workbench
from app.doors import require_action
from backends.array_planning import ArrayMatchState
from backends.errors import DeviceGoneError, NotFoundError, RaidbenchError, RefusedError
from backends.settings import Effect, Risk
from backends.system.local.files import remove_folders
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils import units


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecoverOptions(AskingOptions):
    """The options of `recover`."""

    listing: bool
    answer: str | None
    trials: bool
    unit: str | None


@command("recover", "raidbench recover", "raidbench recover --restore")
@click.option("--list", "listing", is_flag=True, help="List the items to recover.")
@click.option("--restore", "answer", flag_value="r", help="Restore all old values and remove all scratch files.")
@click.option("--keep", "answer", flag_value="k", help="Keep everything as it is and do not ask again.")
@click.option("--trials", is_flag=True, help="Revert the trials that a reboot interrupted, without a question.")
@click.option(
    "--install-unit",
    "unit",
    flag_value="install",
    help="Install a systemd unit that runs `recover --trials` at every boot.",
)
@click.option("--remove-unit", "unit", flag_value="remove", help="Remove that unit.")
@dry_run_option
@yes_option
@confirm_option
@json_option
@gather_options(_RecoverOptions)
def recover_command(options: _RecoverOptions) -> int:
    """Restore settings after a crash or a lost connection.

    This covers changes, values of sweeps and A/Bs, incomplete arrays and scratch files. raidbench asks about each item,
    unless --restore or --keep answers for all. To re-create a deleted array, type its token or pass it with --confirm.
    """
    trials, unit = options.trials, options.unit
    if sum((options.listing, options.answer is not None, trials, unit is not None)) > 1:
        raise click.UsageError(
            "Give only one of --list, --restore, --keep, --trials, --install-unit and --remove-unit."
        )
    if unit is None and options.yes:
        raise click.UsageError("--yes needs --install-unit or --remove-unit.")
    if options.as_json and (unit is not None or trials):
        raise click.UsageError("--json cannot be combined with --trials, --install-unit or --remove-unit.")
    with workbench(quiet=True, rights=True) as bench:
        if unit is not None:
            change = recover_unit.install if unit == "install" else recover_unit.remove
            return run(lambda _: change(bench, dry=options.dry_run, yes=options.yes))
        _require_readable(bench)
        if trials and not options.dry_run:
            refuse_read_only()
            return run(lambda interruption: _trials(bench, interruption))
        return _recover_items(bench, options)


def _require_readable(bench: Workbench) -> None:
    """Check that the journals have no open entries in an unknown form.

    Raises RefusedError for the last such journal, after a report of the others; StorageError for an unreadable one.
    """
    errors = blocking_errors(bench.changes.journal)
    for error in errors[:-1]:
        report_error(error)
    if errors:
        raise errors[-1]
    if (unreadable := bench.changes.journal.read_error()) is not None:
        raise unreadable


def _recover_items(bench: Workbench, options: _RecoverOptions) -> int:
    """Recover the items that a crash left behind, or list them if that was requested or no question can be answered."""
    answer, as_json = options.answer, options.as_json
    left = find_recoverable(bench)
    report_trials(bench.changes.undecided)
    fields = run(lambda _: recoverable_json(bench, left)) if as_json else {}
    interrupted = interrupted_errors(bench.paths)
    for error in interrupted:
        report_error(error)
    if not left and not interrupted:
        say("There is nothing to recover.")
    is_answered, listing = answer is not None or can_ask(), options.listing or options.dry_run
    if left and (listing or not is_answered) and not as_json:
        lines(run(lambda _: recoverable_rows(bench, left)))
    if listing or not left:
        if as_json:
            print_json(left=fields)
        return DONE
    refuse_read_only()
    if not is_answered:
        raise RefusedError(
            "Nothing was done: an answer is required, but there is no terminal.", hint="Add --restore or --keep."
        )
    with prose_to_stderr() if as_json else nullcontext():
        worst = run(lambda interruption: _recover(bench, interruption, left, answer, options.typed))
        if left.folders and answer != "k":  # Removing empty folders needs no question.
            _remove(left.folders)
    if as_json:
        print_json(left=fields, still_left=run(lambda _: recoverable_json(bench, find_recoverable(bench))))
    return worst


def _remove(folders: tuple[str, ...]) -> None:
    """Remove empty working folders, and report how many are gone. Other processes of raidbench remove some, too."""
    remove_folders(folders)
    gone = sum(not Path(folder).exists() for folder in folders)
    lines([f"removed  {units.plural(gone, 'empty working folder')}"])


async def _recover(
    bench: Workbench, interruption: Interruption, left: RecoverableItems, answer: str | None, typed: str | None
) -> int:
    worst = await _run_in_turn(interruption, _recovery_steps(bench, left, answer, typed))
    if worst != INTERRUPTED:
        for file in left.files:
            worst = max(worst, await _run_step(_recover_file(file, answer)))
    return worst


async def _run_in_turn(interruption: Interruption, works: AsyncGenerator[Awaitable[int]]) -> int:
    """Run recovery steps in order until a signal; return the highest exit status, or INTERRUPTED after a signal."""
    worst = DONE
    with interruption.stop_on_signal(lambda: say("Stopping after this item."), patient=True):
        async with aclosing(works):
            async for work in works:
                worst = max(worst, await _run_step(work))
                if interruption.is_requested():
                    return INTERRUPTED
    return worst


async def _recovery_steps(
    bench: Workbench, left: RecoverableItems, answer: str | None, typed: str | None
) -> AsyncGenerator[Awaitable[int]]:
    """Yield a recovery step for each item except scratch files and folders. A step returns an exit status."""
    deleted = await _missing_recreated(bench)
    if deleted:  # Before sweeps: the settings of a sweep can be restored only if its array exists.
        await open_session(bench)
    for intent in deleted:
        yield _recreate(bench, intent, answer, typed)
    for folder in left.sweeps:
        name = f"sweep of session {folder.name}"
        yield _recover_session(bench, sweep_rows(folder), name, SWEEP, folder, _restore_sweep, answer)
    for folder in dict.fromkeys(experiment.folder for experiment in left.experiments):
        of_folder = [experiment for experiment in left.experiments if experiment.folder == folder]
        rows = [clean(experiment.sentence, 300) for experiment in of_folder]
        name = ", ".join(experiment.name for experiment in of_folder)
        yield _recover_session(bench, rows, name, EXPERIMENT, folder, restore_settings, answer)
    intents = bench.changes.journal.unresolved()
    if intents or left.files or left.arrays:
        await open_session(bench)
    for entry in left.arrays:
        yield _recover_array(bench, entry, answer)
    for intent in intents:
        yield _recover_change(bench, intent, answer)


async def _missing_recreated(bench: Workbench) -> tuple[UnresolvedChange, ...]:
    """Return the interrupted changes that have deleted an array to re-create it, but have not re-created it."""
    missing = []
    for intent in bench.changes.journal.unresolved():
        if intent.change.effect is Effect.RECREATED and intent.change.members:
            try:
                await bench.hardware.read(intent.change.target)
            except (NotFoundError, DeviceGoneError):
                missing.append(intent)
            except RaidbenchError:
                continue
    return tuple(missing)


async def _recreate(bench: Workbench, intent: UnresolvedChange, answer: str | None, typed: str | None) -> int:
    """Ask for confirmation, and re-create a deleted array on its original drives; return the exit status."""
    change, label = await bench.changes.plan_remake(intent)
    say(f"{clean(str(change.target), 200)} was deleted to be re-created, but was not re-created.")
    lines(["to re-create it:", *step_lines(change.writes)])
    if (answer or ask("[r]e-create it, or later [enter]").lower()) not in ("m", "make", "r", "re-create"):
        say("Skipped for now.")
        return DONE
    word = confirm.require_confirmation(Risk.DESTROYS_DATA, (label,), yes=False, typed=typed, action="Re-create it")
    ended = await bench.changes.remake(intent, word or "")
    result = clean(ended.message or "re-created", 600)
    lines([f"{with_sign(outcome_cell(ended.result))}  {intent.id}  {change.target}: {result}"])
    return DONE if ended.result == "verified" else FAILED


async def _trials(bench: Workbench, interruption: Interruption) -> int:
    """Revert every trial that was interrupted, as by a reboot, and no other item; return the exit status."""
    left = [intent for intent in bench.changes.journal.unresolved() if intent.until is not None]
    if not left:
        say("No trial was interrupted.")
        return DONE

    async def works() -> AsyncGenerator[Awaitable[int]]:
        await open_session(bench)
        for intent in left:
            yield _recover_change(bench, intent, "r")

    return await _run_in_turn(interruption, works())


async def _run_step(work: Awaitable[int]) -> int:
    """Run one step and return its exit status. Report an error instead of raising it, so that the next step runs."""
    try:
        return await work
    except RaidbenchError as error:
        report_error(error)
        return exit_status(error)


async def _restore_sweep(other: Workbench) -> tuple[str, ...]:
    """Restore the settings that a session's sweep changed; return sentences about those that were not restored."""
    left: tuple[str, ...] = await require_action("sweep.give_up")(other)
    return left


async def _recover_session(
    bench: Workbench,
    rows: Iterable[str],
    name: str,
    mark: SessionFlag,
    folder: Path,
    restore: Callable[[Workbench], Awaitable[Sequence[str]]],
    answer: str | None,
) -> int:
    """Restore or keep the settings that a session's sweep or A/Bs left changed; return the exit status.

    `bench`: may have opened the session already, to re-create an array. `rows`: lines about the item. `mark`: flag file
    that marks `folder` as unfinished. `restore`: restores the settings and returns sentences about failures. `answer`:
    `r` or `k`; None: ask.
    """
    say_lines(rows)
    match answer or ask("[r]estore its settings, [k]eep them, or later [enter]").lower():
        case "r" | "restore":
            if bench.folder == folder:
                await bench.hardware.probe()  # the array that was re-created has another identity
                unrestored = await restore(bench)
            else:
                with workbench(quiet=True, rights=True) as other:
                    await other.open(folder)
                    await other.hardware.probe()
                    unrestored = await restore(other)
            lines([f"{with_sign(outcome_cell('failed' if unrestored else 'restored'))}  {name}"])
            for sentence in unrestored:
                say(clean(sentence, 600))
            return FAILED if unrestored else DONE
        case "k" | "keep":
            mark.remove(folder)
            lines([f"kept  {name}"])
        case _:
            say("Skipped for now.")
    return DONE


async def _recover_change(bench: Workbench, intent: UnresolvedChange, answer: str | None) -> int:
    say_lines(await intent_rows(bench, intent))
    name = f"{intent.id}  {intent.change.target} {intent.change.key}"
    match answer or ask("[r]estore, [k]eep, or later [enter]").lower():
        case "r" | "restore":
            result = await bench.changes.recover(intent)
            if result == "conflict":
                say(f"{name} has neither the old nor the new value: another program changed it. Nothing was restored.")
                say("Check the setting with `raidbench show`, then run `raidbench recover --keep`.")
                return FAILED
            lines([f"{with_sign(outcome_cell('restored'))}  {name}: {view.old_text(intent.change)}"])
        case "k" | "keep":
            bench.changes.keep(intent)
            lines([f"kept  {name}"])
        case _:
            say("Skipped for now.")
    return DONE


async def _recover_array(bench: Workbench, entry: ArrayJournalEntry, answer: str | None) -> int:
    """Record an interrupted array as complete or missing, or else remove or keep its parts; return the exit status."""
    say_lines(await array_rows(bench, entry))
    match, name = await bench.arrays.find(entry), entry.array.name
    if match.state in (ArrayMatchState.ABSENT, ArrayMatchState.COMPLETE):
        await bench.arrays.resolve(entry, remove=False)
        is_complete = match.state is ArrayMatchState.COMPLETE
        lines([f"kept  {name}: created" if is_complete else f"gone  {name}: no part of it exists"])
        return DONE
    parts = match.state is ArrayMatchState.PARTIAL
    offered = "[r]emove its parts, [k]eep them, or later [enter]" if parts else "[k]eep it, or later [enter]"
    match answer or ask(offered).lower():
        case "r" | "remove" | "restore" if parts:
            left = await bench.arrays.resolve(entry, remove=True)
            gone = left.state is ArrayMatchState.ABSENT
            lines([f"{with_sign(outcome_cell('restored' if gone else 'failed'))}  {name}: {clean(left.sentence, 400)}"])
            return DONE if gone else FAILED
        case "k" | "keep":
            bench.arrays.leave_as_is(entry)
            lines([f"kept  {name}"])
        case "r":
            say(f"Skipped {name}: raidbench cannot verify that it created this array.")
            say("Check the array with the controller's tool, then run `raidbench recover --keep`.")
            return FAILED
        case _:
            say("Skipped for now.")
    return DONE


async def _recover_file(left: StaleScratchFile, answer: str | None) -> int:
    say_lines(await file_rows(left))
    if (answer or ask("[r]emove it, or [k]eep it").lower()) not in ("r", "remove"):
        return DONE
    path = clean(str(left.path), 300)
    if (refusal := await remove_scratch(left.path)) is not None:
        lines([f"kept  {path}"])
        raise refusal
    lines([f"kept  {path}: another program changed it" if left.path.exists() else f"removed  {path}"])
    return DONE
