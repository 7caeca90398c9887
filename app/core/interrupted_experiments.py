"""Finds experiments whose process was killed, and restores the old values of their settings.

After a kill, value B may stay in force. The change to B is complete, so neither the journal nor the session reports a
failure. Only a flag file does: it is in the session folder from the start of an experiment until it restores value A.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from app.core.changes.revert import reverted_by_reboot
from app.core.session import store
from app.core.session.events import ChangeIntended, ExperimentEnded, ExperimentStarted, SessionStarted
from app.core.session.flag_files import EXPERIMENT
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import ChangeRecord, ExperimentRecord, Session
from app.core.session.unit_labels import value_text
from app.core.workbench import Workbench
from backends.errors import RaidbenchError
from backends.values import dataclass

_REASON = "Its process was interrupted."


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedExperiment:
    """An experiment whose process is gone, and whose value B may still be in force."""

    folder: Path
    """Folder of the experiment's session."""
    record: ExperimentRecord
    """Record of the experiment."""

    @property
    def name(self) -> str:
        """Return the name of the experiment, such as `experiment e1 of session 20260301-101500`."""
        return f"experiment {self.record.id} of session {self.folder.name}"

    @property
    def sentence(self) -> str:
        """Return a sentence, without its full stop, about the value that may still be in force."""
        start = self.record.start
        a, b = (value_text(start.key, value) for value in (start.a, start.b))
        return f"{self.name}: interrupted. {start.label} of {start.target} may still be {b} instead of {a}"


def find_interrupted(paths: Paths, *, own_folder: Path | None = None) -> tuple[InterruptedExperiment, ...]:
    """Return experiments whose process is gone and whose value B may be in force, newest session first. Never raises.

    `own_folder`: folder of a session that this process has open. The process must not be running an experiment in it.
    """
    experiments: list[InterruptedExperiment] = []
    for folder in EXPERIMENT.folders(paths):
        if folder == own_folder or not store.is_being_written(folder):
            with contextlib.suppress(RaidbenchError):
                session = store.load(folder).session
                experiments += [
                    InterruptedExperiment(folder=folder, record=record) for record in open_experiments(session)
                ]
    return tuple(experiments)


def open_experiments(session: Session) -> tuple[ExperimentRecord, ...]:
    """Return experiments that did not restore the old value and whose value B may be in force, newest first."""
    return tuple(
        record
        for record in reversed(session.experiments)
        if (record.end is None or not record.end.restored) and _changes_in_force(session, record)
    )


async def restore_settings(bench: Workbench) -> tuple[str, ...]:
    """Restore the old values of interrupted experiments in the open session; return a message for each failure.

    A value that is neither A nor B was set by another program and is left unchanged. Raises StorageError if the session
    cannot be written.
    """
    folder = bench.require_recording()
    failures: list[str] = []
    for record in open_experiments(bench.session):
        change_ids = {change.id for change in _changes_in_force(bench.session, record)}
        failed = [
            sentence
            for change in bench.changes.undoable()
            if change.id in change_ids and (sentence := await _undo_failure(bench, change))
        ]
        failures += failed
        if record.end is None and not failed:
            bench.emit(
                ExperimentEnded(at=time.time(), id=record.id, status=RunStatus.STOPPED, restored=True, reason=_REASON)
            )
    if not failures:
        EXPERIMENT.remove(folder)
    return tuple(failures)


async def _undo_failure(bench: Workbench, record: ChangeRecord) -> str:
    """Undo one change; return the reason if that failed, "" if it succeeded."""
    try:
        ended = await bench.changes.undo(record.id)
    except RaidbenchError as error:
        return error.full_text
    if ended.is_reverted:
        return ""
    why = (ended.message or ended.result).rstrip(".")
    return f"{record.change.label} of {record.change.target} was not restored: {why}."


def _changes_in_force(session: Session, record: ExperimentRecord) -> tuple[ChangeRecord, ...]:
    """Return the changes to value B that may be in force. Changes that the user made later are left out."""
    start, change_ids = record.start, _changes_of_its_process(session, record)
    return tuple(
        change
        for change in session.in_force
        if change.id in change_ids
        and not reverted_by_reboot(change.intent)
        and (change.change.target, change.change.key, change.change.after) == (start.target, start.key, start.b)
    )


def _changes_of_its_process(session: Session, record: ExperimentRecord) -> frozenset[str]:
    """Return the ids of the changes that the experiment's process made.

    They are found by their position in the log and not by their times, because clocks can be set.
    """
    names: set[str] = set()
    is_its_process = False
    for event in session.events:
        match event:
            case ExperimentStarted(id=record.id):
                is_its_process = True
            case SessionStarted():
                is_its_process = False
            case ChangeIntended() if is_its_process:
                names.add(event.id)
    return frozenset(names)
