"""Trials of this machine that are not decided yet, whichever session or user began them."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.core.session.journal import Journal, UnresolvedChange, boot_clock
from app.core.session.journals import HelperJournal, other_journals
from app.core.session.locks import LockPlace
from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class Undecided:
    """A trial, and the journal that decides it."""

    trial: UnresolvedChange
    """What is on trial."""
    journal: Journal
    """Where it is kept or restored."""
    uid: int
    """The user whose trial it is."""

    @property
    def seconds_left(self) -> float:
        """Return the seconds until it is restored; below 0 while its watchdog is late."""
        return (self.trial.until or 0.0) - boot_clock()

    @property
    def trial_set(self) -> tuple[str, float]:
        """Return what the changes of one set share: they are kept or restored together."""
        return self.trial.session, self.trial.until or 0.0

    @property
    def is_decidable(self) -> bool:
        """Whether the user of this process may keep or restore it: its owner, and root."""
        return os.geteuid() in (0, self.uid)

    @property
    def owner(self) -> str:
        """Return the name of the user whose trial it is."""
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return f"user {self.uid}"


class UndecidedTrials:
    """Every undecided trial that this process can read of, newest first.

    Root's journals enrol beside the locks, so root reads all of them. Another user reads the own journal, or, through
    the root helper, that of the machine. A journal is read again only when it has changed.
    """

    def __init__(self, journal: Journal, locks: LockPlace) -> None:
        self._journal = journal
        self._locks = locks
        self._read: dict[Path, tuple[tuple[int, int, int] | None, tuple[UnresolvedChange, ...]]] = {}
        self._told: tuple[UnresolvedChange, ...] = ()

    def current(self) -> tuple[Undecided, ...]:
        """Return the trials by the journals as they are now; by the last `look` where a helper has to be asked."""
        trials: list[Undecided] = []
        if isinstance(self._journal, HelperJournal):
            trials += (self._of(self._journal, trial, 0) for trial in self._told)
        else:
            others = other_journals(self._locks, self._journal) if isinstance(self._locks, Path) else ()
            for journal in (self._journal, *others):
                trials += (self._of(journal, trial, os.geteuid()) for trial in self._trials(journal))
        return tuple(trials)

    async def refresh(self) -> None:
        """Ask the root helper, where it keeps the journal. Never raises."""
        if isinstance(self._journal, HelperJournal):
            self._told = await self._journal.fetch_trials()

    def refresh_now(self) -> tuple[Undecided, ...]:
        """Return the trials as they are now, waiting for the root helper where it keeps the journal. Never raises."""
        if isinstance(self._journal, HelperJournal):
            self._told = self._journal.trials()
        return self.current()

    def _trials(self, journal: Journal) -> Iterable[UnresolvedChange]:
        try:
            info = journal.file.stat()
        except OSError:
            return ()
        stamp = info.st_ino, info.st_size, info.st_mtime_ns
        cached = self._read.get(journal.file)
        if cached is None or cached[0] != stamp:
            cached = self._read[journal.file] = stamp, journal.trials()
        return [trial for trial in cached[1] if trial.is_undecided_within()]

    @staticmethod
    def _of(journal: Journal, trial: UnresolvedChange, writer: int) -> Undecided:
        return Undecided(trial, journal, writer if trial.uid is None else trial.uid)


def trials_by_set(undecideds: Iterable[Undecided]) -> tuple[Sequence[Undecided], ...]:
    """Return the trials by the sets that are kept or restored together, in the order in which they end."""
    by_set: dict[tuple[str, float], list[Undecided]] = {}
    for undecided in undecideds:
        by_set.setdefault(undecided.trial_set, []).append(undecided)
    return tuple(sorted(by_set.values(), key=lambda trials: trials[0].trial.until or 0.0))
