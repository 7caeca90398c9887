"""The journal of the machine, which the helper keeps for whoever is not root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.engine.session.journal import Journal, OpenChange
from app.engine.session.json_values import structure
from backends.change import Change
from backends.errors import NewerError, RefusedError, StorageError
from backends.host import Host
from backends.rootside import RootSide, raised


def journal_on(host: Host, folder: Path) -> Journal:
    """The journal of changes of a host: the machine's where a helper keeps it, else the user's own in `folder`."""
    return Journal(folder) if host.root_side is None else RootJournal(folder, host.root_side)


class RootJournal(Journal):
    """Intents and outcomes are put on disk by the helper; it takes intents of changes only that it planned itself."""

    def __init__(self, folder: Path, side: RootSide) -> None:
        """`folder`: of the journal that is used without a helper; nothing is put there."""
        super().__init__(folder)
        self._side = side

    def intent(self, change_id: str, session: Path, change: Change, *, until: float | None = None) -> None:
        """See `Journal.intent`. Raises StorageError."""
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
        except RefusedError as error:  # as a journal that cannot be written: nothing was changed
            raise StorageError(error.message, hint=error.hint, evidence=error.evidence) from error

    def outcome(self, change_id: str, session: Path, result: str) -> None:
        """See `Journal.outcome`. Raises StorageError, RefusedError."""
        self._side.ask_now("outcome", session=str(session), id=change_id, result=result)

    def unresolved(self) -> tuple[OpenChange, ...]:
        """See `Journal.unresolved`."""
        return self._asked("unresolved")

    def trials(self) -> tuple[OpenChange, ...]:
        """See `Journal.trials`."""
        return self._asked("trials")

    def left_running(self) -> tuple[OpenChange, ...]:
        """See `Journal.left_running`."""
        return self._asked("left_running")

    def newer(self) -> NewerError | None:
        """See `Journal.newer`."""
        try:
            told: Mapping[str, Any] | None = self._side.ask_now("journal")["newer"]
        except RefusedError:  # see below
            return None
        error = None if told is None else raised(told)
        return error if isinstance(error, NewerError) else None

    def _asked(self, which: str) -> tuple[OpenChange, ...]:
        try:
            told: list[Any] = self._side.ask_now("journal")[which]
        except RefusedError:  # it has ended, which whoever wants a change hears then
            return ()
        return tuple(structure(one, OpenChange) for one in told)
