"""The workbench without a user interface: one session on one host, and everything that can be done in it."""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from typing import TYPE_CHECKING

from app.core.benchmark.session_runner import SessionBenchmarks, no_advice
from app.core.changes.changes import SessionChanges
from app.core.changes.persistence import SettingPersister
from app.core.session.events import BaselineMarked, NoteAdded, ProblemRecorded
from app.core.session.inventory import SessionInventory
from app.core.session.paths import Paths
from app.core.session.recorder import Recorder
from backends.errors import NotFoundError, RaidbenchError, StorageError
from backends.host import CanRestart, Host
from backends.model import Problem

if TYPE_CHECKING:
    from app.core.benchmark.conditions.facts import Advisor
    from app.core.changes.arrays.builder import ArrayBuilder


class Workbench(Recorder):
    """The recorder of a session, with all operations. Each event updates `session` and goes to all listeners."""

    def __init__(self, host: Host, *, paths: Paths | None = None, advisor: Advisor = no_advice) -> None:
        """`advisor`: function that returns advice on the results of a run."""
        super().__init__(host, paths=paths)
        self.hardware = SessionInventory(self)
        """Inventory of the host."""
        self.changes = SessionChanges(self, self.hardware, host)
        """Applies changes, makes trials, undoes changes and recovers after a crash."""
        self.keeping = SettingPersister(self, self.hardware)
        """Makes settings survive a reboot, by writing files that set them at boot."""
        self.jobs = SessionBenchmarks(self, self.hardware, advisor)
        """Runs benchmarks."""
        self.restarts: CanRestart | None = host if isinstance(host, CanRestart) else None
        """The host, if raidbench may restart it (simulated hosts only); else None."""

    def for_another_session(self) -> Workbench:
        """Return another workbench on the same host. It has no session yet."""
        return Workbench(self.host, paths=self.paths, advisor=self.jobs.advisor)

    @cached_property
    def arrays(self) -> ArrayBuilder:
        """Return the builder that creates and deletes arrays."""
        from app.core.changes.arrays.builder import ArrayBuilder

        return ArrayBuilder(self, self.hardware, self.changes.journal_folder)

    def note(self, text: str) -> None:
        """Add a note to the session. Raises StorageError if the session cannot be written."""
        self.require_recording()
        self.emit(NoteAdded(at=time.time(), text=text))

    def mark_baseline(self, run_id: str | None) -> None:
        """Mark a run as the baseline for other runs; None removes the mark.

        Raises NotFoundError if the session has no such run, StorageError if the session cannot be written.
        """
        self.require_recording()
        if run_id is not None and self.session.run(run_id) is None:
            raise NotFoundError(f"This session has no run {run_id}.")
        self.emit(BaselineMarked(at=time.time(), run=run_id))

    def problem(self, where: str, error: RaidbenchError) -> None:
        """Record an error in the session, if possible. Never raises."""
        with contextlib.suppress(StorageError):
            self.emit(
                ProblemRecorded(at=time.time(), problem=Problem(where=where, message=error.message, hint=error.hint))
            )
