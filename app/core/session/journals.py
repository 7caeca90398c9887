"""The journals of a machine: root's journal, journals in other folders of root, and that of the root helper."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.core.session.journal import Journal, UnresolvedChange
from app.core.session.json_codec import structure
from app.core.session.paths import private_folder
from app.core.session.trusted_file import open_own, read_own
from backends.change import Change
from backends.errors import (
    NewerError,
    RaidbenchError,
    RefusedError,
    StorageError,
    UnreleasedError,
    storage_errors,
)
from backends.helper_interface import HelperClient, decode_error
from backends.host import Host

# -- the journal of the machine, which the root helper keeps for ordinary users ---------------------------------------


def journal_on(host: Host, folder: Path) -> Journal:
    """Return the journal for changes on a host: the root helper's if there is a helper, else the one in `folder`."""
    return Journal(folder) if host.root_side is None else HelperJournal(folder, host.root_side)


class HelperJournal(Journal):
    """The journal that the root helper writes.

    The helper accepts only intents of changes that it has planned itself.
    """

    def __init__(self, folder: Path, side: HelperClient) -> None:
        """`folder`: folder of the journal that is used without a helper. Nothing is written there."""
        super().__init__(folder)
        self._side = side

    def write_intent(self, change_id: str, session: Path, change: Change, *, until: float | None = None) -> None:
        """Let the helper record the intent of a change that it planned. Raises StorageError if it refuses."""
        try:
            self._side.ask_now(
                "intend",
                session=str(session),
                id=change_id,
                target=str(change.target),
                key=change.key,
                after=change.after,
                until=until,
            )
        except RefusedError as error:  # handled like an unwritable journal: nothing was changed
            raise StorageError(error.message, hint=error.hint, evidence=error.evidence) from error

    def write_outcome(self, change_id: str, session: Path, result: str) -> None:
        """Let the helper record how a change ended. Raises StorageError, or RefusedError if the helper refuses."""
        self._side.ask_now("outcome", session=str(session), id=change_id, result=result)

    def unresolved(self) -> tuple[UnresolvedChange, ...]:
        """Return the changes of this machine whose process is gone, newest first; () if the helper has ended."""
        return self._ask("unresolved")

    def trials(self) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of this boot, newest first; () if the helper has ended."""
        return self._ask("trials")

    def left_running(self) -> tuple[UnresolvedChange, ...]:
        """Return the changes that a program is still making although the raidbench that started it is gone.

        Returns () if the helper has ended.
        """
        return self._ask("left_running")

    def unreadable_error(self) -> RefusedError | None:
        """Return the error about open changes in a form that is unknown to the helper; None if there are none.

        Returns None if the helper has ended.
        """
        try:
            fields: Mapping[str, Any] | None = self._side.ask_now("journal")["unreadable"]
        except RefusedError:  # the helper has ended
            return None
        error = None if fields is None else decode_error(fields)
        return error if isinstance(error, (NewerError, UnreleasedError)) else None

    def given_ids(self, session: Path) -> frozenset[str]:
        """Return the ids that the changes of a session already use; an empty set if the helper has ended."""
        try:
            return frozenset(self._side.ask_now("given", session=str(session))["ids"])
        except RefusedError:  # the helper has ended
            return frozenset()

    def is_ours(self, change: UnresolvedChange) -> bool:
        """Return whether this user may confirm or revert a change.

        Root may do so with all changes, other users with their own.
        """
        return os.getuid() in (0, change.uid)

    async def fetch_trials(self) -> tuple[UnresolvedChange, ...]:
        """Ask the helper for the undecided trials without blocking the event loop; () if it has ended. Never raises."""
        try:
            answer: list[Any] = (await self._side.ask("journal"))["trials"]
            return tuple(structure(item, UnresolvedChange) for item in answer)
        except RaidbenchError:
            return ()

    def _ask(self, which: str) -> tuple[UnresolvedChange, ...]:
        try:
            answer: list[Any] = self._side.ask_now("journal")[which]
        except RefusedError:  # the helper has ended; the next change reports that
            return ()
        return tuple(structure(item, UnresolvedChange) for item in answer)


# -- list of the journals that have had a trial since boot ------------------------------------------------------------

# Root may have several state folders, each with a journal, but only one folder of locks. A file there lists the
# journals that have had a trial since boot. So the users of one journal see the trials in all others.

FILE = "journals"


def register_journal(locks: Path, journal: Journal) -> None:
    """Make the trials of a journal visible to users of other journals. Raises StorageError: then no trial may begin."""
    folder = str(journal.file.parent.absolute())
    failure = "The trial cannot be announced to other users"
    with storage_errors(failure, hint=f"Check {locks}.", consequence="Nothing was changed."):
        private_folder(locks)
        if folder in _folders(locks):
            return
        descriptor = open_own(locks / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, f"{json.dumps(folder)}\n".encode())
        finally:
            os.close(descriptor)


def other_journals(locks: Path, journal: Journal) -> tuple[Journal, ...]:
    """Return the other journals that have had a trial since boot. Never raises."""
    own_folder = str(journal.file.parent.absolute())
    try:
        return tuple(Journal(Path(folder)) for folder in _folders(locks) if folder != own_folder)
    except OSError:
        return ()


def trials_elsewhere(locks: Path, journal: Journal) -> tuple[UnresolvedChange, ...]:
    """Return the undecided trials of this boot in all other journals. Never raises."""
    return tuple(trial for other in other_journals(locks, journal) for trial in other.trials())


def _folders(locks: Path) -> list[str]:
    """Return the folders of the registered journals. Incomplete lines are skipped. Raises OSError."""
    try:
        lines = read_own(locks / FILE).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    folders: list[str] = []
    for line in lines:
        try:
            folder = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(folder, str) and "\0" not in folder:
            folders.append(folder)
    return folders
