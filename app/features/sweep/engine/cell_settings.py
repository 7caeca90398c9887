"""Apply the settings and features of a cell, wait until the array is idle, and restore the original values."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence

from app.core.benchmark.idle_wait import wait_for_stop
from app.core.changes.revert import PendingValueState, pending_state, pending_state_of
from app.core.changes.side_effects import moved_settings_of
from app.core.session.events import ChangeEnded
from app.core.session.state import ChangeRecord
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Assignment, NeededFeature
from app.core.session.unit_labels import setting_label, value_text
from app.core.workbench import Workbench
from app.features.sweep.engine.array_preparation import SIMULATED_SCAN_EVERY
from app.features.sweep.engine.targets import is_active
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RaidbenchError, RefusedError, ToolFailedError
from backends.model import Array, Controller, Target
from backends.settings import Effect, Reading

# -- controller features that need a key and a restart: automatic in a simulation, manual on a real machine -----------

ACTIVATION_KEY = "activation_key"
"""Name of the setting that accepts the activation key of a feature."""


class FeatureMissingError(RaidbenchError):
    """A remaining step needs an inactive feature, and only the user may restart the machine to activate it."""


async def activate_feature(bench: Workbench, feature: NeededFeature) -> None:
    """Set the activation key on a simulated controller, and restart its host. Raises FeatureMissingError on a real
    machine.
    """
    if bench.restarts is None or feature.key is None:
        raise FeatureMissingError(
            f"{feature.name} is not active on {feature.target}, but the remaining steps need it.",
            hint=f"Activate it (`raidbench set {feature.target} {ACTIVATION_KEY}=KEY`), restart the machine, and"
            " continue with `raidbench sweep --resume`.",
        )
    with contextlib.suppress(ToolFailedError):  # the key is refused if it was set before a crash
        await bench.changes.apply(await bench.hardware.plan(feature.target, ACTIVATION_KEY, feature.key))
    bench.note(f"The simulated host restarts, so that {feature.name} becomes effective.")
    await bench.restarts.restart()
    await bench.hardware.probe()
    if not is_active(_controller(bench, feature), feature.name):
        raise FeatureMissingError(f"{feature.name} is not active on {feature.target} even after a restart.")


async def deactivate_features(bench: Workbench, record: SweepRecord) -> tuple[str, ...]:
    """Deactivate the features that the sweep activated in a simulation; return a message for each still active one."""
    left: list[str] = []
    for feature in record.design.features:
        if feature.active or bench.restarts is None or record.todo:  # the remaining steps need the feature
            continue
        try:
            if is_active(_controller(bench, feature), feature.name):
                await bench.restarts.restart(without=feature.name)
                text = f"The simulated host restarted without {feature.name}, as before. A real controller keeps it."
                bench.note(text)
                await bench.hardware.probe()
        except RaidbenchError as error:
            left.append(f"{feature.name} is still active on {feature.target}: {error.message}")
            continue
        for made in bench.session.in_force:
            if made.id in record.changes and made.change.key == ACTIVATION_KEY:
                message = "the simulated host no longer has the key of the feature"
                bench.emit(ChangeEnded(at=time.time(), id=made.id, result="restored", now=None, message=message))
    return tuple(left)


def _controller(bench: Workbench, feature: NeededFeature) -> Controller | None:
    device = bench.session.inventory.find(str(feature.target))
    return device if isinstance(device, Controller) else None


# -- waiting until an array has been re-created or reshaped -----------------------------------------------------------

SCAN_EVERY = 5.0
"""Seconds between two scans of an array that has a background task."""

LONGEST_WAIT = 12 * 3600.0
"""Maximum wait for a reshape, in seconds."""


async def wait_for_tasks(bench: Workbench, address: str, stop: asyncio.Event) -> None:
    """Wait until the array has no background task, or until `stop` is set. Raises BlockedError after 12 h."""
    began = time.monotonic()
    while not stop.is_set():
        device = bench.session.inventory.find(address)
        if not isinstance(device, Array) or not device.tasks:
            return
        if time.monotonic() - began > LONGEST_WAIT:
            raise BlockedError(f"{address} is still busy after 12 h: {device.tasks[0].kind}.")
        await wait_for_stop(stop, SCAN_EVERY if bench.host.capabilities.live else SIMULATED_SCAN_EVERY)
        await bench.hardware.probe()


# -- setting the values of a cell, and restoring the original ones ----------------------------------------------------

_RESULTS = {
    PendingValueState.OURS: "verified",
    PendingValueState.BEFORE: "failed",
    PendingValueState.FOREIGN: "differs",
}
"""Recorded result of an interrupted change, by whether the present value is the new one, the old one or another one."""


class SettingNotAppliedError(RaidbenchError):
    """A setting could not be set to the value of a step."""


async def apply_settings(bench: Workbench, wanted: Sequence[Assignment], stop: asyncio.Event) -> tuple[str, ...]:
    """Set the values that differ, slow settings first; return a message for each value that is set but not effective.

    The backend decides the order of the settings of one target. A setting that changes as a side effect of another is
    set again. Waits while an array is re-created or reshaped, unless the sweep is stopped. Raises
    SettingNotAppliedError when a setting does not have its value afterwards, and the errors of planning a change.
    """
    await _set_missing(bench, wanted, stop)
    await _set_missing(bench, wanted, stop)
    if not stop.is_set() and (why := await mismatch_text(bench, wanted)):
        raise SettingNotAppliedError(f"{why} after it was set.")
    readings = await _readings(bench, wanted)
    texts = (_not_in_force_text(assignment, readings[assignment.target][assignment.key]) for assignment in wanted)
    return tuple(filter(None, texts))


async def mismatch_text(bench: Workbench, wanted: Sequence[Assignment]) -> str:
    """Return a clause, without a full stop, that names the settings whose values differ from `wanted`; "" if none
    differs.

    A device may report a set value differently, such as -1 for a default. Such a setting counts as equal if a plan for
    the wanted value contains no change.
    """
    readings = await _readings(bench, wanted)
    texts = []
    for assignment in wanted:
        now = readings[assignment.target][assignment.key].now
        if now == assignment.value:
            continue
        with contextlib.suppress(RaidbenchError):
            change = await bench.hardware.plan(assignment.target, assignment.key, assignment.value)
            if change.before == change.after:
                continue
        wanted_value, found = (value_text(assignment.key, value or "") for value in (assignment.value, now))
        name = f"{setting_label(assignment.key)} of {assignment.target}"
        texts.append(f"{name} is {found or 'not readable'}, not {wanted_value}")
    return ", ".join(texts)


async def _set_missing(bench: Workbench, wanted: Sequence[Assignment], stop: asyncio.Event) -> None:
    readings = await _readings(bench, wanted)
    missing = [setting for setting in wanted if readings[setting.target][setting.key].now != setting.value]
    for assignment in await _in_order(bench, sorted(missing, key=lambda setting: not setting.slow)):
        change = await bench.hardware.plan(assignment.target, assignment.key, assignment.value)
        if change.before == change.after:
            continue
        ended = await bench.changes.apply(change)
        if ended.result != "verified":
            raise SettingNotAppliedError(
                f"{change.label} of {assignment.target} was not set to {assignment.value}: {_failure_text(ended)}."
            )
        if assignment.slow:
            await bench.hardware.probe()  # a re-created array is a new device under the old name, so scan again
            await wait_for_tasks(bench, str(assignment.target), stop)


async def _in_order(bench: Workbench, wanted: Sequence[Assignment]) -> list[Assignment]:
    """Return the `wanted` settings; the fast ones of each target are in the order in which its backend sets them.

    The order matters because the value of one setting may limit the values that another one accepts.
    """
    ordered = list(wanted)
    for target in dict.fromkeys(assignment.target for assignment in wanted):
        places = [at for at, assignment in enumerate(ordered) if assignment.target == target and not assignment.slow]
        by_key = {ordered[at].key: ordered[at] for at in places}
        if len(by_key) < 2:
            continue
        planned = await bench.hardware.plan_all(target, {key: assignment.value for key, assignment in by_key.items()})
        for at, change in zip(places, planned, strict=True):
            ordered[at] = by_key[change.key]
    return ordered


def _not_in_force_text(assignment: Assignment, reading: Reading) -> str:
    """Return a message if the effective value of a setting differs from the configured one; "" if it does not."""
    if not reading.overruled or reading.effective == assignment.value:
        return ""
    why = f": {reading.why_effective}" if reading.why_effective else ""
    value = value_text(assignment.key, assignment.value)
    return f"{setting_label(assignment.key)} is {value}, but {reading.effective_clause}{why}."


async def restore(bench: Workbench, record: SweepRecord) -> tuple[str, ...]:
    """Restore every changed setting; return a message for each that could not be restored.

    A value that is neither the sweep's nor the original one was set by another program, and is left unchanged.
    """
    left: dict[Assignment, str] = {}
    waiting = list(record.design.originals)
    while waiting:
        for original in waiting:
            left.pop(original, None)
            changes = _changes_in_force(bench, record, original)
            if not changes:
                continue
            try:
                if await _restore(bench, original, changes) and original.slow:
                    await bench.hardware.probe()
                    await wait_for_tasks(bench, str(original.target), asyncio.Event())
            except RaidbenchError as error:
                left[original] = (
                    f"{setting_label(original.key)} of {original.target} was not restored to"
                    f" {value_text(original.key, original.value)}: {error.full_text}"
                )
        retries = [assignment for assignment in waiting if assignment in left and not assignment.slow]
        # Retry these: another setting may have blocked them, and that setting may have been restored meanwhile.
        waiting = retries if len(retries) < len(waiting) else []
    return (*left.values(), *await _restore_moved(bench, record))


async def _restore_moved(bench: Workbench, record: SweepRecord) -> list[str]:
    """Restore the side effects of the sweep's changes; return a message for each that could not be restored.

    A side effect is a setting that changed because the sweep changed another one, possibly several times. The value
    before the first of these changes is restored, unless something else has set the present value.
    """
    made = [change for change in bench.session.changes if change.id in record.changes]
    wanted = {(assignment.target, assignment.key) for assignment in record.design.originals}
    left = []
    for (target, key), (before, led_to) in moved_settings_of(made).items():
        if (target, key) in wanted:
            continue
        try:
            reading = (await bench.hardware.read(target)).get(key)
            if reading is None or reading.now == before or reading.now not in led_to:
                continue
            change = await bench.hardware.machine.setter(target).plan(target, key, before)
            # If this change also moves a key of the sweep, both keys name one setting, which is restored already.
            if any(record.change.key in change.moves for record in made):
                continue
            ended = await bench.changes.apply(change, undoes=made[-1].id)
            if ended.result != "verified":
                raise SettingNotAppliedError(_failure_text(ended))
        except RaidbenchError as error:
            value = value_text(key, before)
            left.append(f"{setting_label(key)} of {target} was not restored to {value}: {error.message}")
    return left


async def end_interrupted_changes(bench: Workbench) -> None:
    """Read the present values of changes that a crash interrupted, and record their results in session and journal.

    Raises RaidbenchError when an array that was being re-created is missing, or when another process holds the lock.
    """
    folder = bench.require_recording()
    for record in bench.session.changes:
        if record.end is None:
            async with bench.changes.hold_change_lock(record.change):
                ended = await _read_end(bench, record)
                bench.emit(ended)
                bench.changes.journal.write_outcome(ended.id, folder, ended.result)
    for intent in bench.changes.journal.unresolved():
        change = bench.session.change(intent.id) if intent.session == str(folder) else None
        if change is not None and change.end is not None:
            bench.changes.journal.write_outcome(intent.id, folder, change.end.result)


async def _read_end(bench: Workbench, record: ChangeRecord) -> ChangeEnded:
    change = record.change
    try:
        reading = (await bench.hardware.read(change.target)).get(change.key)
    except (NotFoundError, DeviceGoneError):
        if change.effect is not Effect.RECREATED:
            raise
        raise BlockedError(
            f"{change.target} was deleted for re-creation, but was not created again.",
            hint="Re-create it with `raidbench recover`, which asks for the confirmation token of its drives.",
        ) from None
    now = None if reading is None else reading.now
    result = _RESULTS[pending_state(change, now)]
    if result != "differs":
        return ChangeEnded(
            at=time.time(), id=record.id, result=result, now=now, message="interrupted; value read afterwards"
        )
    # The origin of this value is unknown. Recorded as `now`, it would count as a value of the sweep and be overwritten.
    message = f"interrupted; the value was then {now or 'nothing'}, which is neither the old nor the new one"
    return ChangeEnded(at=time.time(), id=record.id, result=result, now=None, message=message)


def _changes_in_force(bench: Workbench, record: SweepRecord, original: Assignment) -> list[ChangeRecord]:
    """Return the changes that the sweep made to the setting of `original` and that were not undone, newest first."""
    return [
        made
        for made in bench.changes.undoable()
        if made.id in record.changes and (made.change.target, made.change.key) == (original.target, original.key)
    ]


async def _restore(bench: Workbench, original: Assignment, changes: Sequence[ChangeRecord]) -> bool:
    """Restore the value in `original`; return whether a change was needed. Raises RaidbenchError when it cannot be
    restored.
    """
    reading = (await _readings(bench, [original]))[original.target][original.key]
    changed = False
    rest = list(changes)
    if reading.now != original.value:
        # Overwrite only a value that the sweep set. Any other, even the one before a change, may be another program's.
        if not any(pending_state_of(made, reading.now) is PendingValueState.OURS for made in changes):
            raise RefusedError(f"another program changed it to {reading.now}.", hint="Nothing was changed.")
        first = changes[-1]  # the oldest change: its `companions` are values from before the sweep
        if first.change.before == original.value:
            moved = None if changes[0].end is None else changes[0].end.moved
            ended = await bench.changes.restore_value(first, undoes=changes[0].id, moved=moved)
        else:
            change = await bench.hardware.plan(original.target, original.key, original.value)
            ended = await bench.changes.apply(change, undoes=changes[0].id)
        if ended.result != "verified":
            raise SettingNotAppliedError(_failure_text(ended))
        changed, rest = True, rest[1:]
    for earlier in rest:
        note_restored(bench, earlier.id, original.value, "restored to the value before the sweep")
    return changed


def note_restored(bench: Workbench, change_id: str, now: str | None, message: str) -> None:
    """Record in session and journal that a change no longer needs to be undone. `now` is the present value."""
    bench.emit(ChangeEnded(at=time.time(), id=change_id, result="restored", now=now, message=message))
    bench.changes.journal.write_outcome(change_id, bench.require_recording(), "restored")


async def _readings(bench: Workbench, wanted: Sequence[Assignment]) -> dict[Target, Mapping[str, Reading]]:
    """Return the current readings of every target in `wanted`, each read once. Raises DeviceGoneError when a target has
    lost a setting.
    """
    readings: dict[Target, Mapping[str, Reading]] = {}
    for assignment in wanted:
        if assignment.target not in readings:
            readings[assignment.target] = await bench.hardware.read(assignment.target)
        if assignment.key not in readings[assignment.target]:
            raise DeviceGoneError(f"{assignment.target} no longer has the setting {assignment.key}.")
    return readings


def _failure_text(ended: ChangeEnded) -> str:
    return (ended.message or f"the value is {ended.now}").rstrip(".")
