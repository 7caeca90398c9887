"""The one way back of a change: whether the present value may be reverted, and the plan of its backend for that.

A way back is planned anew out of what was changed, never out of how.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum

from app.core.session.events import ChangeIntended
from app.core.session.journal import UnresolvedChange, boot_id
from app.core.session.state import ChangeRecord
from backends.change import NOT_THERE, Change
from backends.errors import BlockedError, HeldError, InvalidValueError, RefusedError, StorageError, UnknownSettingError
from backends.protocol import SettingsBackend
from backends.settings import NOT_UNDERSTOOD, Persistence
from backends.text import clean

_UNKNOWN = (None, "unknown", NOT_THERE)


class PendingValueState(StrEnum):
    """How the present value stands to a change."""

    BEFORE = "before"
    """The value of before: there is nothing to be taken back."""
    OURS = "ours"
    """What the change brought about: it may be taken back."""
    FOREIGN = "foreign"
    """Neither old nor new: somebody else set it since, so nobody touches it."""


def pending_state(change: Change, now: str | None, *read_back: str | None) -> PendingValueState:
    """How the value `now` stands to a change; `read_back`: values that were read when it ended, None if none was.

    A value that is not understood does not prove that somebody else has set it: the old one may be restored.
    What an earlier change of the same set had moved it to is ours as well: a crash may have come before its own step.
    """
    if now == change.before:
        return PendingValueState.BEFORE
    ours = (change.after, change.at_start or None, *read_back)
    return PendingValueState.OURS if now is not None and now in (*ours, NOT_UNDERSTOOD) else PendingValueState.FOREIGN


def pending_state_of(record: ChangeRecord, now: str | None) -> PendingValueState:
    """How the value `now` stands to a change of a session, by what was wanted and what was read back."""
    return pending_state(record.change, now, None if record.end is None else record.end.now)


def still_running_text(left: UnresolvedChange) -> str:
    """A sentence about the program that a killed raidbench started and that still sets something; "" for none."""
    if left.setter is None:
        return ""
    since = time.strftime("%H:%M:%S", time.localtime(left.setter.at))
    return (
        f"Still running: {clean(left.setter.program, 80)} (pid {left.setter.pid}), started {since} to set "
        f"{left.change.key} of {clean(str(left.change.target), 200)}."
    )


def still_running_error(left: UnresolvedChange) -> HeldError:
    """The error for whoever would read, set or judge what such a program may still change."""
    return HeldError(still_running_text(left), hint="Wait until it has ended, then do this again.")


def undecided_trial_error(trial: UnresolvedChange) -> RefusedError:
    """The error for whoever would change what a trial may still take back."""
    return RefusedError(
        f"{trial.change.key} of {clean(str(trial.change.target), 200)} is on trial and not decided yet.",
        hint="Keep it, or wait until it is taken back.",
    )


def reverted_by_reboot(intent: ChangeIntended) -> bool:
    """Whether a reboot since has taken the change back."""
    lost = intent.change.persistence is Persistence.LOST_AT_REBOOT
    return lost and bool(intent.boot) and intent.boot != boot_id()


def with_unrestored(error: StorageError, left: Sequence[str]) -> StorageError:
    """The error of a session that takes nothing any more, with what is not back as it was, a sentence each."""
    if not left:
        return error
    return StorageError(
        " ".join((error.message, *left)),
        hint=" ".join(filter(None, (error.hint, "Then `raidbench recover` puts it back."))),
        evidence=error.evidence,
    )


def require_reversible(change: Change) -> str:
    """The value that a change goes back to. Raises BlockedError where it is not known."""
    if change.before is None or change.before in _UNKNOWN:
        raise BlockedError(
            f"{change.label} of {change.target} cannot be taken back: its old value is not known.",
            hint="Set the value you want by hand.",
        )
    return change.before


async def plan_revert(backend: SettingsBackend, change: Change) -> Change:
    """Return the change that restores the old value of a recorded one; see `SettingsBackend.back`.

    Recorded steps decide nothing. A value that is not legal while another change of the same set stands gives way to
    the one to which that change had moved it. Raises also BlockedError where the old value is not known.
    """
    value = require_reversible(change)
    try:
        return await _plan_value(backend, change, value)
    except InvalidValueError:
        if not change.at_start:
            raise
        return await _plan_value(backend, change, change.at_start)


async def _plan_value(backend: SettingsBackend, change: Change, value: str) -> Change:
    """Return the way back as the backend plans it. Raises UnknownSettingError of a key unknown to this version."""
    try:
        return await backend.back(change.target, change.key, value, change.companions)
    except UnknownSettingError as error:
        raise UnknownSettingError(
            f"{clean(change.label or change.key)} of {clean(str(change.target))} cannot be taken back: "
            f"this version of raidbench knows no setting {clean(change.key)} there.",
            hint="Take it back with the version that set it, or set the old value with the tool of the device.",
        ) from error
