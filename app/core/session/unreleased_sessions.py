"""Reports sessions of builds before the first release that left something open. Nothing acts on them.

A session is open if its sweep or A/B has not restored all settings, or if it has changes in force. All others are
ignored.
"""

from __future__ import annotations

from pathlib import Path

from app.core.session import store
from app.core.session.flag_files import EXPERIMENT, SWEEP, SessionFlag
from app.core.session.folders import LOG, session_folders
from app.core.session.journal import Journal, boot_id
from app.core.session.paths import Paths
from app.core.session.state import ChangeRecord
from app.core.session.unreleased import value_text
from backends.errors import RaidbenchError, UnreleasedError
from backends.formats import build_text
from backends.settings import Persistence
from widgets.text_utils.units import plural

_KINDS = {SWEEP: "a sweep", EXPERIMENT: "an A/B"}


def interrupted_errors(paths: Paths) -> tuple[UnreleasedError, ...]:
    """Return an error for each session of such a build whose sweep or A/B was interrupted. Never raises."""
    try:
        flagged = {file.parent for flag in _KINDS for file in paths.sessions.glob(f"*/{flag.name}")}
    except OSError:
        return ()
    return tuple(
        _interrupted_error(folder, program, [flag for flag in _KINDS if flag.exists_in(folder)])
        for folder in sorted(flagged, reverse=True)
        if (program := store.unreleased_writer(folder)) is not None and not store.is_being_written(folder)
    )


def in_force_errors(paths: Paths, journal: Journal) -> tuple[UnreleasedError, ...]:
    """Return an error for each session of such a build that has changes in force. Never raises.

    `journal`: the journal that has the reverts of trials.
    """
    errors = []
    try:
        folders = tuple(session_folders(paths))
    except OSError:  # code that needs the folder reports the error
        return ()
    for folder in folders:
        if (program := store.unreleased_writer(folder)) is not None:
            restored = journal.restored_ids(folder)
            if records := tuple(record for record in _in_force(folder) if record.id not in restored):
                errors.append(_in_force_error(folder, program, records))
    return tuple(errors)


def _in_force(folder: Path) -> tuple[ChangeRecord, ...]:
    """Return the changes of a session that are in force, as far as their form is known, newest first."""
    try:
        session = store.load(folder, unreleased=True).session
    except RaidbenchError:
        return ()
    boot = boot_id()
    return tuple(
        record
        for record in session.in_force
        if not (
            record.change.persistence is Persistence.LOST_AT_REBOOT
            and record.intent.boot
            and record.intent.boot != boot
        )
    )


def _interrupted_error(folder: Path, program: str, flags: list[SessionFlag]) -> UnreleasedError:
    kinds = " and ".join(_KINDS[flag] for flag in flags)
    files = " and ".join(str(folder / flag.name) for flag in flags)
    return UnreleasedError(
        f"{folder / LOG} has {kinds} of {build_text(program)} that was interrupted. {_changes_text(_in_force(folder))}",
        hint=f"Run `raidbench recover` of that build, or set the old values yourself. Then remove {files}.",
    )


def _in_force_error(folder: Path, program: str, records: tuple[ChangeRecord, ...]) -> UnreleasedError:
    return UnreleasedError(
        f"{folder / LOG} has {plural(len(records), 'change')} in force of {build_text(program)}: "
        f"{_changes_text(records)}",
        hint=f"To undo them, run `raidbench undo` of that build, or set the old values yourself. Then remove {folder}.",
    )


def _changes_text(records: tuple[ChangeRecord, ...]) -> str:
    if not records:
        return "Its settings are unknown."
    texts = (
        value_text(record.change.target, record.change.key, record.change.before, record.change.after)
        for record in records
    )
    return f"{'; '.join(texts)}."
