"""Undecided trials of this machine, in all sessions and of all users."""

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
    """An undecided trial, and the journal in which the decision about it is recorded."""

    trial: UnresolvedChange
    """The change on trial."""
    journal: Journal
    """The journal in which the trial is confirmed or reverted."""
    uid: int
    """User id of the trial's owner."""

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the trial is reverted; below 0 if its watchdog is late."""
        return (self.trial.until or 0.0) - boot_clock()

    @property
    def trial_set(self) -> tuple[str, float]:
        """Return session and deadline, which identify the trial's set. The trials of a set are decided together."""
        return self.trial.session, self.trial.until or 0.0

    @property
    def is_decidable(self) -> bool:
        """Return whether the user of this process may decide the trial: its owner or root may."""
        return os.geteuid() in (0, self.uid)

    @property
    def owner(self) -> str:
        """Return the name of the user who owns the trial."""
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return f"user {self.uid}"


class UndecidedTrials:
    """Every undecided trial that this process can read, newest first.

    Journals of root that have had trials are registered in the locks folder, so root reads all of them. Any other user
    reads the user's own journal, or, through the root helper, the machine's journal. A journal is read again only if it
    has changed.
    """

    def __init__(self, journal: Journal, locks: LockPlace) -> None:
        self._journal = journal
        self._locks = locks
        self._read: dict[Path, tuple[tuple[int, int, int] | None, tuple[UnresolvedChange, ...]]] = {}
        self._helper_trials: tuple[UnresolvedChange, ...] = ()

    def current(self) -> tuple[Undecided, ...]:
        """Return the undecided trials in the journals. Those of the root helper are from the last `refresh`."""
        trials: list[Undecided] = []
        if isinstance(self._journal, HelperJournal):
            trials += (self._of(self._journal, trial, 0) for trial in self._helper_trials)
        else:
            others = other_journals(self._locks, self._journal) if isinstance(self._locks, Path) else ()
            for journal in (self._journal, *others):
                trials += (self._of(journal, trial, os.geteuid()) for trial in self._trials(journal))
        return tuple(trials)

    async def refresh(self) -> None:
        """If a root helper keeps the journal, ask it for the undecided trials. Never raises."""
        if isinstance(self._journal, HelperJournal):
            self._helper_trials = await self._journal.fetch_trials()

    def refresh_now(self) -> tuple[Undecided, ...]:
        """Return the current trials. If a root helper keeps the journal, block until it responds. Never raises."""
        if isinstance(self._journal, HelperJournal):
            self._helper_trials = self._journal.trials()
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
    """Return the trials of each set, earliest deadline first. The trials of a set are decided together."""
    by_set: dict[tuple[str, float], list[Undecided]] = {}
    for undecided in undecideds:
        by_set.setdefault(undecided.trial_set, []).append(undecided)
    return tuple(sorted(by_set.values(), key=lambda trials: trials[0].trial.until or 0.0))
