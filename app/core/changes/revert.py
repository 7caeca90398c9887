"""Decides whether the current value of a changed setting may be reverted, and lets the backend plan the undo.

An undo is always planned again from the changed setting and its old value, never from recorded commands.
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
    """How the present value of a setting relates to a change."""

    BEFORE = "before"
    """The setting has the old value: there is nothing to undo."""
    OURS = "ours"
    """The setting has the value that the change set, which may be reverted."""
    FOREIGN = "foreign"
    """The setting has neither the old nor the new value: another program has set it since, so it is left alone."""


def pending_state(change: Change, now: str | None, *read_back: str | None) -> PendingValueState:
    """Return how the value `now` relates to a change.

    `read_back`: values that were read after the change was made; empty if its end is not recorded. A value that
    raidbench does not understand does not prove that another program has set it, so it counts as ours. A value that the
    setting got as a side effect of an earlier change of the same set counts as ours: a crash may have come before the
    setting was set again.
    """
    if now == change.before:
        return PendingValueState.BEFORE
    ours = (change.after, change.at_start or None, *read_back)
    return PendingValueState.OURS if now is not None and now in (*ours, NOT_UNDERSTOOD) else PendingValueState.FOREIGN


def pending_state_of(record: ChangeRecord, now: str | None) -> PendingValueState:
    """Return how the value `now` relates to a recorded change: its old and new value, and that read afterwards."""
    return pending_state(record.change, now, None if record.end is None else record.end.now)


def still_running_text(left: UnresolvedChange) -> str:
    """Return a sentence about the program that a killed raidbench left running to make the change; "" if none."""
    if left.setter is None:
        return ""
    since = time.strftime("%H:%M:%S", time.localtime(left.setter.at))
    return (
        f"Still running: {clean(left.setter.program, 80)} (PID {left.setter.pid}), started {since} to set "
        f"{left.change.label} of {clean(str(left.change.target), 200)}."
    )


def still_running_error(left: UnresolvedChange) -> HeldError:
    """Return the error for an operation on a device that a program of a killed raidbench may still change."""
    return HeldError(still_running_text(left), hint="Wait until the program has ended, then try again.")


def undecided_trial_error(trial: UnresolvedChange) -> RefusedError:
    """Return the error for an attempt to change a value that a trial may still revert."""
    return RefusedError(
        f"The trial of {trial.change.label} of {clean(str(trial.change.target), 200)} is not decided yet.",
        hint="Confirm the trial with `raidbench keep`, or wait until it is reverted.",
    )


def reverted_by_reboot(intent: ChangeIntended) -> bool:
    """Return whether a reboot since a change has reverted it."""
    lost = intent.change.persistence is Persistence.LOST_AT_REBOOT
    return lost and bool(intent.boot) and intent.boot != boot_id()


def with_unrestored(error: StorageError, left: Sequence[str]) -> StorageError:
    """Return the error about an unwritable session, with the sentences in `left` about unrestored values added."""
    if not left:
        return error
    return StorageError(
        " ".join((error.message, *left)),
        hint=" ".join(filter(None, (error.hint, "Then run `raidbench recover` to restore the values."))),
        evidence=error.evidence,
    )


def require_reversible(change: Change) -> str:
    """Return the old value of a change, which an undo restores. Raises BlockedError if the old value is not known."""
    if change.before is None or change.before in _UNKNOWN:
        raise BlockedError(
            f"{change.label} of {change.target} cannot be undone: its old value is not known.",
            hint="Set the value you want by hand.",
        )
    return change.before


async def plan_revert(backend: SettingsBackend, change: Change) -> Change:
    """Return the change that restores the old value of a recorded change, planned by `SettingsBackend.back`.

    Recorded commands are not used. The old value may be illegal while another change of the same set is in force. The
    undo then sets the value that the setting got as a side effect of that change. Raises BlockedError if the old value
    is not known, and the errors of the backend.
    """
    value = require_reversible(change)
    try:
        return await _plan_value(backend, change, value)
    except InvalidValueError:
        if not change.at_start:
            raise
        return await _plan_value(backend, change, change.at_start)


async def _plan_value(backend: SettingsBackend, change: Change, value: str) -> Change:
    """Return the backend's plan that sets the setting of a change back to `value`.

    Raises UnknownSettingError for a key that this version does not know.
    """
    try:
        return await backend.back(change.target, change.key, value, change.companions)
    except UnknownSettingError as error:
        raise UnknownSettingError(
            (
                f"{clean(change.label or change.key)} of {clean(str(change.target))} cannot be undone: this "
                f"version of raidbench does not know its setting {clean(change.key)}."
            ),
            hint=(
                "Undo the change with the version of raidbench that made it, "
                "or set the old value with the device's own tool."
            ),
        ) from error
