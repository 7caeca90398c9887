"""`recover`: what a crash left, put back or kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import click

from app.cli.failures import DONE, FAILED, INTERRUPTED, REFUSED, exit_status
from app.cli.opening import begin, experiments_cut_short, sweeps_cut_short, workbench
from app.cli.output import ask, can_ask, lines, report_error, say, sign
from app.cli.review import steps
from app.cli.running import Interruption, run
from app.engine.ab.interrupted import CutShort, put_back
from app.engine.change.unfinished import still_running
from app.engine.measure.leftovers import Leftover, leftover_scratch
from app.engine.measure.scratch_hold import remove_scratch
from app.engine.session.journal import OpenChange
from app.engine.session.marks import EXPERIMENT, SWEEP, SessionMark
from app.engine.view import change as view
from app.engine.workbench import Workbench
from backends.errors import RaidbenchError
from backends.text import clean
from widgets.plain import units


@click.command("recover")
@click.option("--list", "listing", is_flag=True, help="Only show what was left.")
@click.option("--restore", "answer", flag_value="r", help="Put all old values back, remove all scratch files.")
@click.option("--keep", "answer", flag_value="k", help="Leave everything as it is and do not ask again.")
@click.option("--trials", is_flag=True, help="Put back what was on trial when the machine went down; ask nothing.")
@click.option("--install-unit", "unit", flag_value="install", help="Have systemd do --trials at every boot.")
@click.option("--remove-unit", "unit", flag_value="remove", help="Do not any more.")
@click.option("--dry-run", is_flag=True, help="Only show the unit.")
@click.option("--yes", is_flag=True, help="Do not ask about the unit.")
def recover_command(listing: bool, answer: str | None, trials: bool, unit: str | None, dry_run: bool, yes: bool) -> int:
    """What a crash or a lost connection left: changes without an outcome, values of sweeps and A/Bs, scratch files.

    Asks about each, unless --restore or --keep answers for all.
    """
    from backends.hosts.local.folders import left_folders, remove_folders

    if sum((listing, answer is not None, trials, unit is not None)) > 1:
        raise click.UsageError("One of --list, --restore, --keep, --trials, --install-unit and --remove-unit.")
    if unit is None and (dry_run or yes):
        raise click.UsageError("--dry-run and --yes are about --install-unit and --remove-unit.")
    with workbench(quiet=True, rights=True) as bench:
        if unit is not None:
            from app.cli import recover_unit

            change = recover_unit.install if unit == "install" else recover_unit.remove
            return run(lambda _: change(bench, dry=dry_run, yes=yes))
        if (unknown := bench.journal.newer()) is not None:
            raise unknown
        if trials:
            return run(lambda interruption: _trials(bench, interruption))
        sweeps, experiments = sweeps_cut_short(), experiments_cut_short()
        intents, files = bench.unresolved(), leftover_scratch(bench.paths.sessions)
        folders = () if bench.simulated else left_folders()
        if not (intents or files or sweeps or experiments or folders):
            say("Nothing was left behind.")
            return DONE
        first = run(lambda _: _what_remains(bench, intents))
        left = [
            *(row for folder in sweeps for row in _sweep(folder)),
            *(clean(one.sentence, 300) for one in experiments),
        ]
        left += [row for intent in intents for row in _intent(intent, first.get(intent.id))]
        left += [row for file in files for row in _file(file)]
        left += [f"empty working folder {folder}" for folder in folders]
        if listing:
            lines(left)
            return DONE
        if answer is None and not can_ask():
            lines(left)
            say("Nothing was done: there is no terminal to ask on. Add --restore or --keep.")
            return REFUSED
        worst = run(lambda interruption: _recover(bench, interruption, sweeps, experiments, files, answer))
        if folders and answer != "k":  # nobody has to be asked about nothing
            remove_folders(folders)  # the first program that was run may have removed them before
            gone = sum(not Path(folder).exists() for folder in folders)
            lines([f"removed  {units.plural(gone, 'empty working folder')}"])
        return worst


def _sweep(folder: Path) -> list[str]:
    return [f"sweep of session {folder.name}: cut short, its settings may still be in force"]


async def _what_remains(bench: Workbench, intents: tuple[OpenChange, ...]) -> dict[str, str]:
    """What to do first about things that a change took apart, by the change's id."""
    found = {intent.id: await bench.remains(intent.change) for intent in intents}
    return {id: first for id, first in found.items() if first is not None}


def _intent(intent: OpenChange, first: str | None) -> list[str]:
    change = intent.change
    return [
        f"change {intent.id}, {units.moment(intent.at)}: {clean(view.move(change), 300)}",
        *filter(None, (still_running(intent), clean(first or "", 600))),
        "to put it back:",
        *steps(change.undo),
    ]


def _file(left: Leftover) -> list[str]:
    return [f"scratch file {clean(str(left.path), 300)}, {units.size(left.size)}, of {left.session}/{left.run}"]


async def _recover(
    bench: Workbench,
    interruption: Interruption,
    sweeps: tuple[Path, ...],
    experiments: tuple[CutShort, ...],
    files: tuple[Leftover, ...],
    answer: str | None,
) -> int:
    worst = DONE
    with interruption.gracefully(lambda: say("Stopping after this one."), patient=True):
        for folder in sweeps:
            name = f"sweep of session {folder.name}"
            worst = max(worst, await _told(_one_session(_sweep(folder), name, SWEEP, folder, _give_up, answer)))
            if interruption.asked():
                return INTERRUPTED
        for folder in dict.fromkeys(one.folder for one in experiments):
            of_folder = [one for one in experiments if one.folder == folder]
            told, name = [clean(one.sentence, 300) for one in of_folder], ", ".join(one.name for one in of_folder)
            worst = max(worst, await _told(_one_session(told, name, EXPERIMENT, folder, put_back, answer)))
            if interruption.asked():
                return INTERRUPTED
        intents = bench.unresolved()
        if intents or files:
            await begin(bench)
        for intent in intents:
            worst = max(worst, await _told(_one_change(bench, intent, answer)))
            if interruption.asked():
                return INTERRUPTED
    for left in files:
        _one_file(left, answer)
    return worst


async def _trials(bench: Workbench, interruption: Interruption) -> int:
    """Put back every trial whose watchdog is gone, and touch nothing else."""
    left = [intent for intent in bench.unresolved() if intent.until is not None]
    if not left:
        say("Nothing was left on trial.")
        return DONE
    worst = DONE
    with interruption.gracefully(lambda: say("Stopping after this one."), patient=True):
        await begin(bench)
        for intent in left:
            worst = max(worst, await _told(_one_change(bench, intent, "r")))
            if interruption.asked():
                return INTERRUPTED
    return worst


async def _told(work: Awaitable[int]) -> int:
    """The status of one thing that was left; an error is told, and what else was left has its turn."""
    try:
        return await work
    except RaidbenchError as error:
        report_error(error)
        return exit_status(error)


async def _give_up(other: Workbench) -> tuple[str, ...]:
    """Put the settings of a session's sweep back; what could not be."""
    from app.engine.sweep.runner import SweepRunner

    record = await SweepRunner(other).give_up()
    return () if record.end is None else record.end.left


async def _one_session(
    told: Iterable[str],
    name: str,
    mark: SessionMark,
    folder: Path,
    restore: Callable[[Workbench], Awaitable[Sequence[str]]],
    answer: str | None,
) -> int:
    """Put back, in its own session, what a sweep or the A/Bs of one session left, or leave it as it is."""
    for row in told:
        say(row)
    match answer or ask("[r]estore its settings, [k]eep them, or later [enter]").lower():
        case "r" | "restore":
            with workbench(quiet=True, rights=True) as other:
                await other.open(folder)
                await other.probe()
                standing = await restore(other)
            lines([f"{sign('failed' if standing else 'restored')}  {name}"])
            for sentence in standing:
                say(clean(sentence, 600))
            return FAILED if standing else DONE
        case "k" | "keep":
            mark.remove(folder)
            lines([f"kept  {name}"])
        case _:
            say("Left for later.")
    return DONE


async def _one_change(bench: Workbench, intent: OpenChange, answer: str | None) -> int:
    for row in _intent(intent, await bench.remains(intent.change)):
        say(row)
    name = f"{intent.id}  {intent.change.target} {intent.change.key}"
    match answer or ask("[r]estore, [k]eep, or later [enter]").lower():
        case "r" | "restore":
            result = await bench.recover(intent)
            if result == "conflict":
                say(f"{name} is neither the old nor the new value now: somebody else changed it. It was left alone.")
                say("Look at it with `raidbench show`, then `raidbench recover --keep`.")
                return FAILED
            lines([f"{sign('restored')}  {name}: {view.before(intent.change)}"])
        case "k" | "keep":
            bench.keep(intent)
            lines([f"kept  {name}"])
        case _:
            say("Left for later.")
    return DONE


def _one_file(left: Leftover, answer: str | None) -> None:
    for row in _file(left):
        say(row)
    if (answer or ask("[r]emove it, or [k]eep it").lower()) not in ("r", "remove"):
        return
    remove_scratch(left.path)
    gone = not left.path.exists()
    lines(
        [f"removed  {clean(str(left.path), 300)}" if gone else f"not ours any more, kept  {clean(str(left.path), 300)}"]
    )
