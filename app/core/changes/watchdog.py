"""The watchdog: a process that reverts trials at their deadline. It is independent of the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from app.core.changes.executor import ChangeExecutor
from app.core.changes.revert import plan_revert
from app.core.changes.trial import LONGEST_WAIT
from app.core.https_hosts import with_configured_systems
from app.core.session.journal import Journal, UnresolvedChange, boot_clock
from app.core.session.paths import Paths, restrict_umask
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.helper_interface import encode_error
from backends.host import Command, Host
from backends.protocol import InventoryBackend, SettingsBackend
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from backends.system.local.detached import STAY, stop_talking

LOOK_EVERY = 0.05
"""Seconds between two reads of the journal.

The interval is short, because only these reads show later trials of the set, which may follow at once.
"""

TRY_EVERY = 1.0
"""Seconds between two attempts to restore a value."""

_PACKAGES = ("app.core.session", "app.core.changes", "backends")
"""Packages with the modules that reverting a trial may need."""

_NOT_LOADED = (
    "app.core.changes.watchdog",  # runs already, as __main__
    "backends.testing",  # needs packages that are not installed
    *(
        "backends.simulator",
        "backends.system.recorded",
        "backends.system.streams",
    ),  # only for simulated and recorded hosts
)
"""Modules and packages that reverting a trial never needs."""

_LATE = ("cattrs", "difflib", "encodings.ascii", "importlib.metadata", "tomllib")
"""Modules outside of these packages that raidbench imports only on first use, or that opening a file needs."""


async def watch(
    paths: Paths, session: str, until: float, backends: Mapping[str, InventoryBackend | SettingsBackend]
) -> str:
    """Wait until a set of trials has ended; return how it ended: `kept`, `restored`, `conflict`, `failed`.

    The trials stay in memory once they were read. So they are reverted even if the journal disappears or becomes
    unreadable or unwritable.
    """
    trials = _Trials(Journal(paths.journal), Path(session), until)
    while (left := until - boot_clock()) > 0:
        if not trials.undecided_trials():
            return "kept"
        await asyncio.sleep(min(LOOK_EVERY, left))
    changer = ChangeExecutor(
        backends=backends,
        journal=trials.journal,
        locks=paths.locks,
        folder=Path(session),
        emit=lambda _event: None,
        next_id=lambda: f"{session}-back",
    )
    last = boot_clock() + LONGEST_WAIT
    result = "kept"
    while pending := trials.undecided_trials():
        # Revert only the newest trial of each target now: later changes must be reverted before earlier ones.
        newest = {change.change.target: change for change in reversed(pending)}
        results = [await _restore(changer, change, trials) for change in newest.values()]
        if "failed" not in results:
            result = results[-1]
            continue
        if boot_clock() >= last:
            return "failed"
        await asyncio.sleep(TRY_EVERY)
    return result


class _Trials:
    """The trials of one set, as they were when the journal was last read."""

    def __init__(self, journal: Journal, session: Path, until: float) -> None:
        self.journal = journal
        self._of = session, until
        self._held: dict[str, UnresolvedChange] = {}
        self.results: dict[str, str] = {}
        """How this process ended trials, by change id; the journal may not record that yet."""
        self._seen: tuple[int, int, int] | None = None
        self._decided: set[str] = set()

    def undecided_trials(self) -> tuple[UnresolvedChange, ...]:
        """Return the trials that are neither confirmed nor reverted, newest first."""
        if (state := self._state()) != self._seen or state is None:
            self._held.update((change.id, change) for change in reversed(self.journal.trials_of(*self._of)))
            self._decided = {id for id, change in self._held.items() if self.journal.is_decided(change)}
            self._seen = state
        return tuple(change for change in reversed(self._held.values()) if change.id not in self._decided)

    def record_end(self, trial: UnresolvedChange, result: str) -> bool:
        """Write the end of a trial to the journal; return whether that succeeded."""
        self.results[trial.id] = result
        try:
            self.journal.write_outcome(trial.id, self._of[0], result)
        except StorageError:
            return False
        self._seen = None
        return True

    def _state(self) -> tuple[int, int, int] | None:
        """Return attributes of the journal file that change with each record; None if they cannot be read.

        A file with unchanged attributes is not read again.
        """
        try:
            info = self.journal.file.stat()
        except OSError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns


async def _restore(changer: ChangeExecutor, trial: UnresolvedChange, trials: _Trials) -> str:
    """Restore the old value of a trial and record that; return the result, `failed` if either must be tried again."""
    result = trials.results.get(trial.id)
    if result is None:
        try:
            result = await changer.restore_settings(
                trial
            )  # a value set by another program is never changed: `conflict`
        except RaidbenchError:
            return "failed"  # the device may be locked or missing only for a while
    return result if trials.record_end(trial, result) else "failed"


def load_all(packages: Sequence[str] = ()) -> None:
    """Import the modules that may be needed at the deadline, and all of `packages`.

    By then, raidbench may have been upgraded, moved or removed. Modules of all vendors are imported: a set of trials is
    armed with its first change, when the vendors of the other changes are not known. Raises RefusedError for a module
    that cannot be imported.
    """
    for name in chain(*map(_needed_modules, _PACKAGES), _LATE, packages, *map(_needed_modules, packages)):
        try:
            importlib.import_module(name)
        except Exception as error:  # a module may raise anything: report its name
            message = f"{name} cannot be loaded: {type(error).__name__}: {error}."
            hint = "Install raidbench again: a part of it, or a package that it needs, is missing or damaged."
            raise RefusedError(message, hint=hint) from error


def _needed_modules(package: str) -> Iterator[str]:
    """Yield the names of the modules in a package that reverting may need; a package comes before its modules."""
    for module in pkgutil.iter_modules(getattr(sys.modules.get(package), "__path__", []), f"{package}."):
        if module.name not in _NOT_LOADED:
            yield module.name
            yield from _needed_modules(module.name) if module.ispkg else ()


def this_machine(paths: Paths) -> Host:
    """Return this machine as the host of a trial."""
    return with_configured_systems(LocalHost(), paths.config)


async def rehearse(
    paths: Paths, session: str, until: float | None, host_of: Callable[[Paths], Host] = this_machine
) -> Mapping[str, InventoryBackend]:
    """Do everything once that is needed at the deadline, except setting a value; return the backends.

    `until`: the deadline; None for a rehearsal without a trial. `host_of`: opens the host of the trial. Raises
    RaidbenchError if the journal, a trial or its backend is unusable.
    """
    journal = Journal(paths.journal)
    if (error := journal.write_error()) is not None:
        raise error
    host = host_of(paths)
    machine = MachineBackends.of(host)
    backends = dict(machine.backends)  # creates each backend now, not at the deadline
    trials = () if until is None else journal.trials_of(Path(session), until)
    if until is not None and not trials:
        raise RefusedError(f"The watchdog found no trial in {journal.file}.")
    for trial in trials:
        await plan_revert(machine.setter(trial.change.target), trial.change)
    with contextlib.suppress(RaidbenchError):  # only imports the modules that start programs and write files
        await host.run(Command(argv=(host.which(("true",)) or "",), mutates=True))
        await host.write(os.devnull, "")
    return backends


async def _serve(
    paths: Paths,
    session: str,
    until: float | None,
    host_of: Callable[[Paths], Host] = this_machine,
    packages: Sequence[str] = (),
) -> None:
    try:
        load_all(packages)
        backends = await rehearse(paths, session, until, host_of)
    except RaidbenchError as error:
        _answer({"error": encode_error(error)})
        return
    except Exception as error:  # the starting process gets the error, and sets nothing
        _answer({"error": encode_error(RefusedError(f"{type(error).__name__}: {error}"))})
        return
    _answer({"armed": True})
    if until is not None:
        await watch(paths, session, until, backends)


def _answer(answer: Mapping[str, object]) -> None:
    """Send a reply to the process that started this one. It is the only reply: that process then stops listening."""
    with contextlib.suppress(OSError):
        print(json.dumps(answer), flush=True)
        stop_talking()


def main(host_of: Callable[[Paths], Host] = this_machine, packages: Sequence[str] = ()) -> int:
    """Read the order from standard input, reply, and watch the trials; return the exit status.

    An order without a deadline is a rehearsal.

    `packages`: additional packages that the host needs.
    """
    for signal_number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(signal_number, signal.SIG_IGN)
    restrict_umask()
    order = json.loads(sys.stdin.readline())
    sessions, journal, locks, config = (Path(order[name]) for name in ("sessions", "journal", "locks", "config"))
    paths = Paths(sessions=sessions, journal=journal, locks=locks, config=config, apart=order["apart"])
    if STAY not in sys.argv and os.fork():  # the starter waits for the parent; the child continues
        return 0
    asyncio.run(_serve(paths, order["session"], order["until"], host_of, packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
