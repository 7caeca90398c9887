"""The one way back of a change: planned anew by its backend out of what was changed, never out of how."""

from __future__ import annotations

from collections.abc import Mapping

from backends.change import NOT_THERE, Change, Write
from backends.errors import BlockedError, InvalidValueError, RefusedError, UnknownSettingError
from backends.protocol import ReadsOldSteps, Sets
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


async def plan_back(backend: Sets, change: Change) -> Change:
    """What brings back what a change of a log, a journal or this session had found; see `Sets.back`.

    A log says what was changed. Steps that an earlier version recorded in it are compared with those of today, and are
    never taken themselves. A value that is not legal while another change of the same set stands gives way to the one
    to which that change had moved it. Raises also BlockedError where the old value is not known, RefusedError where a
    recorded step does anything else.
    """
    value = require_reversible(change)
    told = _told_by_steps(backend, change)
    companions = change.companions or told or {}
    try:
        back = await _back(backend, change, value, companions)
    except InvalidValueError:
        if not change.at_start:
            raise
        back = await _back(backend, change, change.at_start, companions)
    if told is None:
        _require_alike(change, back)
    return back


async def _back(backend: Sets, change: Change, value: str, companions: Mapping[str, str]) -> Change:
    """Return the way back as the backend plans it. Raises UnknownSettingError of a key unknown to this version."""
    try:
        return await backend.back(change.target, change.key, value, companions)
    except UnknownSettingError as error:
        raise UnknownSettingError(
            f"{clean(change.label or change.key)} of {clean(str(change.target))} cannot be taken back: "
            f"this version of raidbench knows no setting {clean(change.key)} there.",
            hint="Take it back with the version that set it, or set the old value with the tool of the device.",
        ) from error


def companions_of(backend: Sets, change: Change) -> Mapping[str, str]:
    """Those that the log names, else those that the backend reads out of the steps that an earlier version recorded.

    Raises RefusedError.
    """
    return change.companions or _told_by_steps(backend, change) or {}


def _told_by_steps(backend: Sets, change: Change) -> Mapping[str, str] | None:
    """What recorded steps name besides the value; None where the backend has no grammar to read them by."""
    return backend.companions_of(change) if isinstance(backend, ReadsOldSteps) and _recorded(change) else None


def _require_alike(change: Change, back: Change) -> None:
    """Raises RefusedError where a recorded step is not one of those that the backend would take."""
    ours = {step.meaning for step in back.writes}
    for step in _recorded(change):
        if step.meaning not in ours:
            today = "; ".join(write.shown() for write in back.writes) or "nothing"
            raise RefusedError(
                f"The log takes {change.label} of {change.target} back by another step than raidbench would: "
                f"{clean(step.shown(), 200)}.",
                hint=f"raidbench would do: {clean(today, 400)}. Set the value you want by hand.",
            )


def _recorded(change: Change) -> tuple[Write, ...]:
    """Steps as earlier versions recorded them; later ones keep only what a person read."""
    return tuple(step for step in change.undo if step.line is None)
