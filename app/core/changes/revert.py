"""The one way back of a change: planned anew by its backend out of what was changed, never out of how."""

from __future__ import annotations

from backends.change import NOT_THERE, Change
from backends.errors import BlockedError, InvalidValueError, UnknownSettingError
from backends.protocol import SettingsBackend
from backends.text import clean

_UNKNOWN = (None, "unknown", NOT_THERE)


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
