"""Reads a device before a change (is it still as planned?) and after it (how did the change end?)."""

from __future__ import annotations

import time
from collections.abc import Mapping

from app.core.session.events import ChangeEnded
from backends.change import Change
from backends.change_steps import require_same_device
from backends.errors import BlockedError, DeviceGoneError, RaidbenchError, RefusedError
from backends.model import Target
from backends.protocol import SettingsBackend, SingleSettingReader
from backends.settings import Effect, Reading


async def read_for(backend: SettingsBackend, change: Change) -> Reading | None:
    """Return the current reading of the setting that a change sets; None if there is no such setting.

    Raises the errors of `SettingsBackend.read`.
    """
    return (await read_around(backend, change.target, change)).get(change.key)


async def read_around(backend: SettingsBackend, target: Target, change: Change) -> Mapping[str, Reading]:
    """Return the readings of a target's settings, by key.

    If `target` is the change's own target and the backend can do so, it reads only the settings on which the changed
    setting depends.
    """
    if isinstance(backend, SingleSettingReader) and target == change.target:
        return await backend.read_for(target, change.key)
    return await backend.read(target)


async def is_as_wanted(backend: SettingsBackend, change: Change) -> bool:
    """Return whether the setting already has the value that the change would set.

    Raises the errors of `SettingsBackend.read`.
    """
    reading = await read_for(backend, change)
    return reading is not None and reading.now == change.after


async def require_as_planned(backend: SettingsBackend, change: Change) -> None:
    """Check that the setting still has the value from which the change was planned.

    Raises DeviceGoneError if the setting is gone, RefusedError for another value, BlockedError if it cannot be set now.
    """
    reading = await read_for(backend, change)
    if reading is None:
        raise DeviceGoneError(f"{change.target} no longer has the setting {change.label}.")
    if reading.now != change.starts_from:
        raise RefusedError(
            (
                f"{change.label} of {change.target} changed from {change.starts_from} to {reading.now} after it "
                "was displayed. Nothing was written."
            ),
            hint="Check the new value and stage the change again.",
        )
    if not reading.availability.available:
        raise BlockedError(f"{change.label} of {change.target}: {reading.availability.why_not}.")


async def verdict(backend: SettingsBackend, change_id: str, change: Change, message: str) -> ChangeEnded:
    """Read the setting again and return how the change ended. The tool's exit status is not sufficient.

    `message`: the error so far; "" for none.
    """
    try:
        reading = await read_for(backend, change)
        now = None if reading is None else reading.now
    except RaidbenchError as error:
        now = None
        message = message or error.message
    except Exception as error:  # any error: the value is unknown, so the change ends as failed
        now = None
        message = message or f"raidbench failed while it read the value again: {type(error).__name__}: {error}"
    if message:
        result = "failed"
    elif now == change.after:
        result = "verified"
    else:
        result = "differs"
        message = f"{change.label} is {now} although the tool accepted {change.after}"
    return ChangeEnded(at=time.time(), id=change_id, result=result, now=now, message=message)


def require_its_device(change: Change, back: Change) -> None:
    """Check that the present device is the one that was changed, and not another device with an equal value.

    `back`: the plan that would undo the change on the present device. A re-created device always has another identity.
    Raises DeviceGoneError if it is another device.
    """
    if back.effect is not Effect.RECREATED and back.identity is not None and change.identity is not None:
        require_same_device(change, back.identity)
