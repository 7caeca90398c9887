"""The process that takes a trial back at its deadline: alone, deaf to hang-ups, working from the journal."""

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
"""Seconds between two looks whether there is more in the journal: a further change of the set follows at once."""

TRY_EVERY = 1.0
"""Seconds between two tries of a restore that is refused."""

_PACKAGES = ("app.core.session", "app.core.changes", "backends")
"""Where the modules are that a deadline may need."""

_NOT_LOADED = (
    "app.core.changes.watchdog",  # runs as __main__
    "backends.testing",  # needs packages that an installation lacks
    *("backends.simulator", "backends.system.recorded", "backends.system.streams"),  # other hosts than this machine
)
"""Modules, and packages with all that is in them, that no deadline needs."""

_LATE = ("cattrs", "difflib", "encodings.ascii", "importlib.metadata", "tomllib")
"""What modules of ours import when they first need it, or open a file with."""


async def watch(
    paths: Paths, session: str, until: float, backends: Mapping[str, InventoryBackend | SettingsBackend]
) -> str:
    """Wait for the end of a set of trials; returns how it ended: `kept`, `restored`, `conflict`, `failed`.

    What is on trial is held here from the first look on: a journal that is gone, or cannot be read or written any more,
    keeps nothing from being taken back.
    """
    trials = _Trials(Journal(paths.journal), Path(session), until)
    while (left := until - boot_clock()) > 0:
        if not trials.undecided():
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
    while pending := trials.undecided():
        results = [await _restore(changer, change, trials) for change in _first_of_each(pending)]
        if "failed" not in results:
            result = results[-1]
            continue
        if boot_clock() >= last:
            return "failed"
        await asyncio.sleep(TRY_EVERY)
    return result


class _Trials:
    """One set of trials, as the journal told of it as long as it could."""

    def __init__(self, journal: Journal, session: Path, until: float) -> None:
        self.journal = journal
        self._of = session, until
        self._held: dict[str, UnresolvedChange] = {}
        self.results: dict[str, str] = {}
        """How trials were ended here, by id, though the journal may not have been told yet."""
        self._seen: tuple[int, int, int] | None = None
        self._decided: set[str] = set()

    def undecided(self) -> tuple[UnresolvedChange, ...]:
        """Those that nobody has kept and that are not taken back yet, newest first."""
        if (state := self._state()) != self._seen or state is None:
            self._held.update((change.id, change) for change in reversed(self.journal.trials_of(*self._of)))
            self._decided = {id for id, change in self._held.items() if self.journal.is_decided(change)}
            self._seen = state
        return tuple(change for change in reversed(self._held.values()) if change.id not in self._decided)

    def ended(self, trial: UnresolvedChange, result: str) -> bool:
        """Tell the journal how a trial ended; whether it could be told."""
        self.results[trial.id] = result
        try:
            self.journal.write_outcome(trial.id, self._of[0], result)
        except StorageError:
            return False
        self._seen = None
        return True

    def _state(self) -> tuple[int, int, int] | None:
        """What changes with each record, so that nothing is read anew for nothing."""
        try:
            info = self.journal.file.stat()
        except OSError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns


def _first_of_each(pending: Sequence[UnresolvedChange]) -> Iterator[UnresolvedChange]:
    """The newest of each target: an earlier change may be taken back only after those that rest on it."""
    return iter({change.change.target: change for change in reversed(pending)}.values())


async def _restore(changer: ChangeExecutor, trial: UnresolvedChange, trials: _Trials) -> str:
    """Put a value back, and record that afterwards; `failed` where either has to be tried again."""
    result = trials.results.get(trial.id)
    if result is None:
        try:
            result = await changer.restore_settings(trial)  # somebody else's value is never touched: `conflict`
        except RaidbenchError:
            return "failed"  # held, refused, away: as long as there is time it may come back
    return result if trials.ended(trial, result) else "failed"


def load_all(packages: Sequence[str] = ()) -> None:
    """Import what the deadline may need, and all of `packages`: by then the program may be upgraded, moved or removed.

    Raises RefusedError for a module that cannot be imported, a vendor's too: a set of trials is armed with its first
    change, and which vendors the others are of is not known then.
    """
    for name in chain(*map(_needed_modules, _PACKAGES), _LATE, packages, *map(_needed_modules, packages)):
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a module does wrong, its name is reported
            message = f"{name} cannot be loaded: {type(error).__name__}: {error}."
            hint = "Install raidbench again: a part of it, or of the packages that it needs, is missing or damaged."
            raise RefusedError(message, hint=hint) from error


def _needed_modules(package: str) -> Iterator[str]:
    """The names of the modules below a package that may be needed; a package is imported before it is looked into."""
    for module in pkgutil.iter_modules(getattr(sys.modules.get(package), "__path__", []), f"{package}."):
        if module.name not in _NOT_LOADED:
            yield module.name
            yield from _needed_modules(module.name) if module.ispkg else ()


def this_machine(paths: Paths) -> Host:
    """Return the host that a trial is on, where nothing is simulated."""
    return with_configured_systems(LocalHost(), paths.config)


async def rehearse(
    paths: Paths, session: str, until: float | None, host_of: Callable[[Paths], Host] = this_machine
) -> Mapping[str, InventoryBackend]:
    """Do once what the deadline takes, short of setting anything; return the backends that it was done with.

    `until`: None where nothing is on trial. `host_of`: opens the host that it is on.
    Raises RaidbenchError when the journal, a trial or what sets it cannot be used.
    """
    journal = Journal(paths.journal)
    if (error := journal.write_error()) is not None:
        raise error
    host = host_of(paths)
    machine = MachineBackends.of(host)
    backends = dict(machine.backends)  # each made now
    trials = () if until is None else journal.trials_of(Path(session), until)
    if until is not None and not trials:
        raise RefusedError(f"The watchdog finds nothing on trial in {journal.file}.")
    for trial in trials:
        await plan_revert(machine.setter(trial.change.target), trial.change)
    with contextlib.suppress(RaidbenchError):  # what only starting a program and writing a file import
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
    except Exception as error:  # reported to whoever asked, who then sets nothing
        _answer({"error": encode_error(RefusedError(f"{type(error).__name__}: {error}"))})
        return
    _answer({"armed": True})
    if until is not None:
        await watch(paths, session, until, backends)


def _answer(answer: Mapping[str, object]) -> None:
    """Give the one answer to whoever asked; after it nobody listens."""
    with contextlib.suppress(OSError):
        print(json.dumps(answer), flush=True)
        stop_talking()


def main(host_of: Callable[[Paths], Host] = this_machine, packages: Sequence[str] = ()) -> int:
    """Read the order from standard input, answer it, watch; an order without a deadline is a rehearsal.

    `packages`: more than the usual ones that the host needs.
    """
    for signal_number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(signal_number, signal.SIG_IGN)
    restrict_umask()
    order = json.loads(sys.stdin.readline())
    sessions, journal, locks, config = (Path(order[name]) for name in ("sessions", "journal", "locks", "config"))
    paths = Paths(sessions=sessions, journal=journal, locks=locks, config=config, apart=order["apart"])
    if STAY not in sys.argv and os.fork():  # whoever asked waits for this process and is told the rest by the journal
        return 0
    asyncio.run(_serve(paths, order["session"], order["until"], host_of, packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
