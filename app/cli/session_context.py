"""Opens the machine and the session on which a command works."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, cast

from app.cli.async_runner import InterruptedByUserError, Interruption, run
from app.cli.options import Options, current
from app.cli.output import say
from app.cli.privileges import helper_of
from app.core.session.paths import ARRAYS, Paths
from app.core.unreadable_state import blocking_errors, interrupted_errors
from app.doors import action
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, NotFoundError, RaidbenchError, RefusedError
from backends.model import Inventory
from backends.simulator.profiles import HOSTS, STATE_FILE, demo_text, rack_name
from backends.text import clean
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.core.benchmark.conditions.facts import RunFacts
    from app.core.changes.pending_trials import UndecidedTrials
    from app.core.interrupted_experiments import InterruptedExperiment
    from app.core.session.journal import Journal
    from app.core.session.results import Advice
    from app.core.session.state import ChangeRecord
    from app.core.session.store import LoadedSession
    from app.core.workbench import Workbench
    from backends.host import Host
    from backends.registry import MachineBackends

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def host_of(
    options: Options,
    *,
    dry: bool = False,
    child_nice: int | None = None,
    hurry: float | None = None,
    rights: bool = False,
) -> Host:
    """Return the machine that the options select. `dry`: plan as root would, but write nothing.

    `child_nice`: nice value of programs started on this host; None for that of this process. `hurry`: simulated seconds
    per real second without --demo-speed; None for 1, or more during an experiment. `rights`: whether the command needs
    root, so that sudo may ask for a password.

    Raises InvalidValueError if the options select two machines, NotFoundError if a recording is missing.
    """
    host = _bare_host(options, child_nice, hurry, rights=rights and not dry, read_only=dry or options.read_only)
    if dry:
        from backends.system.wrapped import DryRunHost

        return DryRunHost(host)
    if options.read_only:
        from backends.system.wrapped import ReadOnlyHost

        return ReadOnlyHost(host)
    return host


def _bare_host(options: Options, child_nice: int | None, hurry: float | None, *, rights: bool, read_only: bool) -> Host:
    if options.demo and options.machine is not None:
        raise InvalidValueError(
            "--demo cannot be combined with --machine: each selects a machine.", hint="Leave out one of them."
        )
    if options.demo:
        return _simulated_host(options, options.demo_speed or hurry)
    if options.machine is not None:
        from backends.system.recorded import ReplayHost

        return ReplayHost(options.machine)
    from backends.system.local import LocalHost

    local = LocalHost(child_nice=child_nice, firmware_queries=options.load_config().firmware_queries)
    side = helper_of(options, wanted=rights, read_only=read_only)
    if side is None:
        return options.with_https_hosts(local)
    from app.privsep.client import split_host

    return options.with_https_hosts(split_host(local, side))


def _simulated_host(options: Options, speed: float | None) -> Host:
    """Return the simulated host, whose state is stored in a file next to its sessions.

    Raises StorageError if that fails.
    """
    from backends.simulator.host import SimulatedHost
    from backends.simulator.profiles.table import MACHINES
    from backends.simulator.state_file import RackFile

    paths = options.paths
    rack = RackFile(paths.state / STATE_FILE, make=MACHINES[options.demo], speed=speed or 1.0)
    if options.demo_reset:
        import shutil

        rack.reset()
        shutil.rmtree(paths.devices, ignore_errors=True)
    if options.demo_state:
        from backends.simulator.profiles.table import apply_states

        with rack.edit() as machine:
            apply_states(machine, options.demo_state)
    if options.demo_reboot:
        with rack.edit() as machine:
            machine.restart()
    folders = (str(Path.cwd()),)
    return SimulatedHost(rack, speed=speed, folders=folders, apart=options.state_name, shares_watchdog=True)


def workbench_on(host: Host) -> Workbench:
    """Return a workbench on a host, without an open session. The advice rules are imported on first use."""
    from app.core.workbench import Workbench

    def advise(facts: RunFacts) -> tuple[Advice, ...]:
        rules = action("advice.advise")
        return () if rules is None else cast("tuple[Advice, ...]", rules(facts))

    return Workbench(host, advisor=advise)


@contextmanager
def workbench(
    *, dry: bool = False, quiet: bool = False, hurry: float | None = None, rights: bool = False
) -> Iterator[Workbench]:
    """Yield a workbench on the selected machine, without an open session, and close it at the end.

    `quiet`: print no notes about trials and items that a crash left behind (`recover` handles them itself). `dry`,
    `hurry`, `rights`: see `host_of`.
    """
    options = current()
    if options.session is not None:
        require_its_machine(options.session)
    bench = workbench_on(host_of(options, dry=dry, hurry=hurry, rights=rights))
    bench.endurance_ratings = options.load_config().endurance_tbw
    if bench.simulated:
        say("SIMULATED: this is not the machine raidbench runs on.")
    if not quiet:
        warn_of_journal(bench.changes.journal)
        report_trials(bench.changes.undecided)
    try:
        yield bench
    except BaseException as error:
        bench.close(str(error) if isinstance(error, InterruptedByUserError) else type(error).__name__)
        raise
    bench.close()
    if bench.session.inventory != Inventory():  # without a scan, skip the import of vendor modules
        remember_scan(bench.hardware.machine, bench.session.inventory)


def on_workbench(
    work: Callable[[Workbench, Interruption, *Ts], Awaitable[T]],
    *args: *Ts,
    changes: bool = False,
    dry: bool = False,
    quiet: bool = False,
    hurry: float | None = None,
    rights: bool = False,
) -> T:
    """Open a workbench, run a coroutine with it, and return the result.

    `changes`: whether the coroutine changes the machine; then RefusedError is raised in read-only mode, unless `dry`.
    `dry`, `quiet`, `hurry`, `rights`: see `workbench`.
    """
    if changes and not dry:
        refuse_read_only()
    with workbench(dry=dry, quiet=quiet, hurry=hurry, rights=rights) as bench:
        return run(lambda interruption: work(bench, interruption, *args))


def remember_scan(machine: MachineBackends, inventory: Inventory) -> None:
    """Save the devices and settings for shell completion. For a recorded machine, nothing is saved."""
    options = current()
    if options.machine is None:
        from app.core.session.completion_cache import completion_cache_path, save_completion_cache

        save_completion_cache(completion_cache_path(options.paths.state), machine, inventory)


def warn_of_journal(journal: Journal) -> None:
    """Report on standard error the items that a crash left behind on the selected machine."""
    for unknown in blocking_errors(journal):
        say(f"Note: {clean(unknown.full_text, 2000)} Until then, changes are disabled.")
    for unknown in interrupted_errors(current().paths):
        say(f"Note: {clean(unknown.full_text, 2000)}")
    running = journal.left_running()
    if running:
        from app.core.changes.revert import still_running_text

        for program in running:
            say(f"Note: a command of a killed raidbench process is still running. {still_running_text(program)}")
    left = journal.unresolved()
    if left:
        say(f"Note: a crash interrupted {plural(len(left), 'change')}. Run `raidbench recover`.")
    _warn_of_arrays(journal.file.parent)
    for folder in interrupted_sweeps():
        say(f"Note: the sweep of session {folder.name} was interrupted, and its settings may still be in force.")
        say(f"`raidbench sweep --resume {folder.name}` continues it, `raidbench recover` restores the settings.")
    for experiment in interrupted_experiments():
        say(f"Note: {clean(experiment.sentence, 300)}. `raidbench recover` restores the old value.")


def report_trials(undecided: UndecidedTrials) -> None:
    """Report on standard error the undecided trials: the time left, and the commands to keep or revert them."""
    if undecideds := undecided.refresh_now():
        from app.core.presentation.trials import trial_lines

        for line in trial_lines(undecideds):
            say(f"Note: {line}")


def _warn_of_arrays(folder: Path) -> None:
    """Report on standard error the interrupted creations and deletions of arrays in the journal of this folder."""
    # Without the file, skip the import. A file in root's folder is invisible to users, so they get no note.
    if not os.path.exists(folder / ARRAYS):
        return
    from app.core.changes.arrays.array_journal import ArrayJournal

    for entry in ArrayJournal(folder).entries():
        if entry.unfinished:
            name = clean(entry.array.name, 40)
            say(f"Note: the creation or deletion of array {name} was interrupted. Run `raidbench recover`.")


def interrupted_experiments() -> tuple[InterruptedExperiment, ...]:
    """Return the experiments of the selected machine whose process is gone and whose value may still be in effect."""
    paths = current().paths
    if not any(paths.sessions.glob("*/experiment.active")):  # skip the import if there is no file
        return ()
    from app.core.interrupted_experiments import find_interrupted

    return find_interrupted(paths)


def interrupted_sweeps() -> tuple[Path, ...]:
    """Return the session folders of unfinished sweeps that are not running, newest first."""
    paths = current().paths
    if not any(paths.sessions.glob("*/sweep.active")):  # skip the import if there is no file
        return ()
    from app.core.session.flag_files import SWEEP, abandoned_sessions

    return abandoned_sessions(SWEEP, paths)


async def open_session(bench: Workbench, folder: Path | None = None, *, fresh: bool = False) -> None:
    """Open the session in `folder`, else the one that --session names, else the last one; record the inventory in it.

    `fresh`: open a new session instead of the last one. Raises StorageError if the session cannot be written.
    """
    await bench.open(folder or current().session, fresh=fresh)
    await bench.hardware.probe_if_stale()


async def open_checked_session(bench: Workbench, *, fresh: bool = False) -> None:
    """Open a session like `open_session`, and record the findings of `check` in it. Raises StorageError."""
    await open_session(bench, fresh=fresh)
    if (check_session := action("check.session")) is not None:
        await check_session(bench, bench.hardware.machine)


def refuse_read_only() -> None:
    """Check that raidbench may change the machine. Raises RefusedError in read-only mode."""
    if current().read_only:
        raise RefusedError("Read-only mode: nothing was changed.", hint="Leave out --read-only to change settings.")


def loaded_session(name: str | None = None, *, whole: bool = False) -> LoadedSession:
    """Return a session for reading. `name`: its name, folder or archive; None for the selected or last session.

    `whole`: whether to unpack all files of an archive, and not only the log. Raises NotFoundError if the session is
    missing, StorageError if it cannot be read, RefusedError if the archive is damaged.
    """
    from app.core.session import folders, store

    paths = current().paths
    folder = Path(name) if name is not None else current().session
    if folder is not None:
        folder = folders.session_named(paths, folder)
        if folder.is_file():
            import click

            from app.core.session.archive_reader import unpacked_archive

            return _report_skipped_lines(
                click.get_current_context().with_resource(unpacked_archive(folder, with_output=whole))
            )
        return _report_skipped_lines(_load(folder))
    last = store.latest_session(paths)
    if last is None:
        raise NotFoundError(
            "There is no session yet.", hint=f"`raidbench set` and `raidbench bench` start one.{_simulated_sessions()}"
        )
    return _report_skipped_lines(store.load(last))


def picked_session(name: str | None = None, *, whole: bool = False) -> LoadedSession:
    """Return the same as `loaded_session`, and say which session it is if the command did not name one.

    Nothing is said with --json, which has the session as a field, and with --redact, which hides names.
    """
    import click

    loaded = loaded_session(name, whole=whole)
    context = click.get_current_context()
    is_silent = context.params.get("as_json") or context.params.get("redact")
    if name is None and not is_silent and not context.meta.setdefault(_SAID, False):
        context.meta[_SAID] = True
        say(_session_text(loaded))
    return loaded


_SAID = "raidbench.session-said"
"""Key in the meta data of a command: whether it has said which session it uses."""


def _session_text(loaded: LoadedSession) -> str:
    """Return a line with the name of a session; if it is the last one of several, also how to choose another."""
    from app.core.session import folders

    paths, folder = current().paths, loaded.folder
    text = f"Session {folder.name if folder.parent == paths.sessions else clean(loaded.display_path, 300)}"
    count = 1 if current().session is not None else len(folders.session_folders(paths))
    if count < 2:
        return text
    return f"{text}, the last of {count}. `raidbench log --list` lists them, `--session NAME` selects one."


def _load(folder: Path) -> LoadedSession:
    """Return the session in a folder. Raises NotFoundError, with the machine or the similar name that has a session."""
    from app.core.session import folders, store

    try:
        return store.load(folder)
    except NotFoundError as error:
        if folder.exists():
            raise
        if hint := _other_machine_hint(folder):
            raise NotFoundError(error.message, hint=hint) from error
        names = [other.name for other in folders.session_folders(current().paths)]
        raise NotFoundError(
            f"There is no session {clean(folder.name, 100)}.", hint=suggestion_hint(folder.name, names, error.hint)
        ) from error


def _simulated_sessions() -> str:
    """Return a sentence about existing sessions of simulated hosts; "" if there are none, or on a simulated host."""
    if current().simulated or not any(Paths.of(rack).sessions.is_dir() for rack in HOSTS):
        return ""
    return " Sessions of simulated hosts are separate: put --demo before the command to use them."


def _other_machine_hint(folder: Path) -> str:
    """Return a hint that says how to select the machine that has a session named `folder`; "" if no other one has."""
    current_name = current().state_name
    for apart in ("", *HOSTS):
        if apart != current_name and (Paths.of(apart).sessions / folder.name).is_dir():
            return f"It belongs to {'a simulated host' if apart else 'this host'}. {_start_hint(apart)}"
    return ""


def require_its_machine(folder: Path) -> None:
    """Check a session that is to be continued. Raises RefusedError if it does not belong to the selected machine."""
    from app.core.session.store import read_start

    start = read_start(folder)
    if start is None:
        return
    options = current()
    host = clean(start.machine.host, 64)
    rack = rack_name(start.machine.host) if start.simulated else ""
    if start.simulated is options.simulated and options.demo in ("", rack):
        return
    if not start.simulated:
        raise RefusedError(f"The session {folder.name} belongs to the host {host}.", hint=_start_hint(""))
    hint = _start_hint(rack) if rack else "Start with the --machine DIR that the session was created with."
    raise RefusedError(
        f"The session {folder.name} is of another host, which is simulated or recorded: {host}.", hint=hint
    )


def _start_hint(rack: str) -> str:
    """Return a sentence that says how to select the simulated host `rack`, or this machine if `rack` is ""."""
    return f"Start with {demo_text(rack)}." if rack else "Start without --demo and --machine."


def _report_skipped_lines(loaded: LoadedSession) -> LoadedSession:
    if loaded.passed_over:
        say(f"{plural(loaded.passed_over, 'line')} of {loaded.folder.name} could not be read and were skipped.")
    return loaded


def readable_sessions() -> Iterator[LoadedSession]:
    """Yield every session, the last used first. A session that cannot be read is reported and skipped."""
    from app.core.session import folders, store

    for folder in folders.session_folders(current().paths):
        try:
            yield store.load(folder)
        except RaidbenchError as error:
            say(f"{folder.name}: {error.message}")


def report_unreleased_changes() -> bool:
    """Report on standard error the changes that builds before the first release left, and return whether there are any.

    These are changes that are open or in force.
    """
    from app.core.session.journal import Journal
    from app.core.session.unreleased_sessions import in_force_errors

    paths = current().paths
    journal = Journal(paths.journal)
    errors = (*blocking_errors(journal), *interrupted_errors(paths), *in_force_errors(paths, journal))
    for error in errors:
        say(clean(error.full_text, 4000))
    return bool(errors)


def session_with_changes(named: str | None = None) -> tuple[Path, tuple[ChangeRecord, ...]] | None:
    """Return the folder of the last session with changes in force, and these changes, newest first; None if none.

    `named`: id of a change that is included although its tool timed out, because the controller may have applied it
    later.
    """
    from app.core.session import folders
    from app.core.session.journal import Journal
    from app.core.session.store import unreleased_writer

    named_folder = current().session
    if named_folder is not None:
        require_its_machine(named_folder)
    journal = Journal(current().paths.journal)
    for folder in folders.session_folders(current().paths) if named_folder is None else (named_folder,):
        if named_folder is None and unreleased_writer(folder) is not None:
            continue  # `report_unreleased_changes` reports those that have changes in force
        session = _load(folder).session
        late = tuple(change for change in session.changes if change.id == named and change.may_apply_late)
        if records := (*session.in_force, *late):
            # Another process may have the session open. So the watchdog of a trial records reverts only in the journal.
            back = journal.restored_ids(folder)
            if records := tuple(change for change in records if change.id not in back):
                return folder, records
    return None
