"""The arrays of a sweep over RAID levels: created, prepared, measured and deleted one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from app.core.changes.arrays.array_journal import ArrayJournalEntry, ArrayStage
from app.core.changes.arrays.candidates import candidates_of, plan_array
from app.core.session.sweep_steps import MADE, Assignment, Step, SweepArray, SweepArrays, SweepCell, SweepDrive
from app.features.sweep.engine.array_preparation import (
    NotPreparedError,
    disturbance_text,
    prepare_array,
    wait_until_complete,
)
from app.features.sweep.engine.cell_settings import note_restored
from app.features.sweep.engine.order import ArrayUse, array_use_of
from app.features.sweep.engine.raid_levels import array_request, array_text
from backends.array_planning import ArrayMatch, ArrayMatchState, Candidate, confirm_labels, require_free_drive
from backends.device_label import confirm_token
from backends.errors import (
    DeviceGoneError,
    InvalidValueError,
    RaidbenchError,
    RefusedError,
    StorageError,
    ToolFailedError,
)
from backends.guard import content_changed_error
from backends.identity import new_content
from backends.settings import Effect, check_value
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench


class ArrayRefusedError(RaidbenchError):
    """The controller or md refused to create an array, and nothing was created. The cells of the array are skipped."""


class ArrayMismatchError(RaidbenchError):
    """Drives or arrays differ from those that the user confirmed, so the sweep ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PresentArray:
    """The array of the sweep that currently exists."""

    use: ArrayUse
    """The use it was created for: purpose, block, round and array id of its steps."""
    match: ArrayMatch
    """The array as md or the controller reports it after creation."""
    initial: Mapping[str, Assignment] = field(default_factory=dict)
    """Settings that the sweep changes, with their values right after creation, by key."""
    failure: RaidbenchError | None = None
    """The reason why the array may not be measured; None if it may."""
    alone: bool = False
    """Whether a single drive is measured instead of an array."""


class ArrayLifecycle:
    """Manages one array at a time, made of exactly the drives that were confirmed."""

    def __init__(self, bench: Workbench, stop: asyncio.Event) -> None:
        self._bench, self._stop = bench, stop
        self._present: _PresentArray | None = None

    @property
    def _sweep_arrays(self) -> SweepArrays:
        record = self._bench.session.sweep
        if record is None or record.design.making is None:
            raise StorageError("This sweep creates no arrays.")
        return record.design.making

    async def ensure_array(self, step: Step, cell: SweepCell) -> None:
        """Create and prepare the array of a step, after deleting any other array of the sweep.

        Once a stop is requested, no array is created. An array that could not be prepared remains, and `resolve_cell`
        raises its error. Raises ArrayRefusedError when the array is refused, ArrayMismatchError when drives or arrays
        are not as confirmed, DeviceGoneError when a device is missing, StorageError when the session cannot be written.
        """
        use = array_use_of(step, cell, self._sweep_arrays)
        if self._present is None or self._present.use != use:
            if left := await self.delete_created_arrays():
                raise ArrayMismatchError(" ".join(left))
            if self._stop.is_set():
                return
            await self._create(use, self._sweep_arrays.array(cell.array or ""))
        elif self._present.failure is None and not self._present.alone:
            await self._wait_until_idle(self._present)

    async def _wait_until_idle(self, present: _PresentArray) -> None:
        """Wait until the array is idle, because a controller may start to initialise it minutes after its creation."""
        try:
            await wait_until_complete(self._bench, present.match, self._stop)
        except NotPreparedError as error:
            self._present = replace(present, failure=error)

    async def disturbance(self) -> str:
        """Return the reason why the last run on the array does not count; "" if it counts."""
        return "" if self._present is None else await disturbance_text(self._bench, self._present.match)

    @property
    def usable(self) -> bool:
        """Whether an array exists that may be measured."""
        return self._present is not None and self._present.failure is None

    def resolve_cell(self, cell: SweepCell) -> SweepCell:
        """Return the cell with the address and the settings of the array that currently exists.

        Raises DeviceGoneError when no array exists, InvalidValueError when the array lacks a setting, and the recorded
        failure when the array may not be measured.
        """
        present = self._present
        if present is None or present.match.target is None:
            raise DeviceGoneError("No array of the sweep exists.", hint="Continue with `raidbench sweep --resume`.")
        if present.failure is not None:
            raise present.failure
        values = {assignment.key: assignment.value for assignment in cell.settings if assignment.target.backend == MADE}
        others = tuple(assignment for assignment in cell.settings if assignment.target.backend != MADE)
        if missing := values.keys() - present.initial.keys():
            raise InvalidValueError(f"{present.match.target} has no setting {clean(', '.join(sorted(missing)), 60)}.")
        made = tuple(
            replace(assignment, value=values.get(key, assignment.value)) for key, assignment in present.initial.items()
        )
        return replace(cell, where=str(present.match.target), settings=(*others, *made), needs=())

    # -- creating an array and preparing it for measuring -------------------------------------------------------------

    async def _create(self, use: ArrayUse, array: SweepArray) -> None:
        bench, making = self._bench, self._sweep_arrays
        drives = (await self._drives(making))[: array.members]
        if array.is_single_drive:
            match = ArrayMatch(
                state=ArrayMatchState.COMPLETE,
                sentence=f"{drives[0].place} is measured without changes.",
                target=drives[0].drive,
                device=drives[0].place,
            )
            await self._prepare(_PresentArray(use=use, match=match, alone=True), array)
            return
        request = array_request(array, drives, making.policies)
        try:
            plan = await plan_array(bench.hardware.machine, request, assume_clean=making.assume_clean)
            typed = confirm_token(confirm_labels(drives))  # `_drives` has compared them with those that were confirmed
            match = await bench.arrays.create(plan, assume_clean=making.assume_clean, typed=typed)
        except (InvalidValueError, ToolFailedError) as error:
            if bench.arrays.journal.entry(request.name) is not None:
                raise ArrayMismatchError(error.message, hint=error.hint, evidence=error.evidence) from error
            raise ArrayRefusedError(error.message, evidence=error.evidence) from error
        except RaidbenchError as error:
            raise ArrayMismatchError(error.message, hint=error.hint, evidence=error.evidence) from error
        await bench.hardware.probe()
        await self._prepare(_PresentArray(use=use, match=match), array)

    async def _prepare(self, present: _PresentArray, array: SweepArray) -> None:
        """Prepare an array, or a single drive, for measuring.

        Raises StorageError or DeviceGoneError. Any other error is recorded as the `failure` of the array.
        """
        making, match = self._sweep_arrays, present.match
        self._present = present
        try:
            if wrong := [text for key, text in match.differs.items() if key in making.policies]:
                raise NotPreparedError(" ".join(wrong))
            if not present.alone:
                await prepare_array(self._bench, match, array, self._stop, assume_clean=making.assume_clean)
            self._present = replace(present, initial=await self._initial_settings(match))
        except (StorageError, DeviceGoneError):
            raise
        except RaidbenchError as error:
            head = "" if present.alone else f"{array_text(array)}: "
            failure = RaidbenchError(f"{head}{error.message}", hint=error.hint, evidence=error.evidence)
            self._present = replace(present, failure=failure)

    async def _drives(self, making: SweepArrays) -> tuple[Candidate, ...]:
        """Return the drives of the sweep in their present state.

        Raises ArrayMismatchError when a drive is not as confirmed.
        """
        bench = self._bench
        inventory = await bench.hardware.probe()
        names = [name for drive in making.drives for name in (drive.place, drive.serial) if name]
        candidates, _ = await candidates_of(bench.hardware.machine, inventory, names)
        try:
            return tuple(_find_drive(candidates, drive) for drive in making.drives)
        except RaidbenchError as error:
            raise ArrayMismatchError(error.message, hint=error.hint) from error

    async def _initial_settings(self, match: ArrayMatch) -> Mapping[str, Assignment]:
        """Return, by key, the value that each setting of the cells has on the array that was just created. Raises
        InvalidValueError when such a setting cannot be changed, or does not accept a value of the plan.
        """
        bench, record = self._bench, self._bench.session.sweep
        cells = () if record is None else record.cells
        wanted = {
            assignment.key: assignment.value
            for cell in cells
            for assignment in cell.settings
            if assignment.target.backend == MADE
        }
        device = None if match.target is None else bench.session.inventory.find(str(match.target))
        if not wanted or device is None:
            return {}
        twin = bench.session.inventory.twin(device)
        initial: dict[str, Assignment] = {}
        for target in (device.target, *(() if twin is None else (twin.target,))):
            declared = {setting.key: setting for setting in bench.hardware.settings(target)}
            readings = await bench.hardware.read(target)
            for key in wanted.keys() & readings.keys() & declared.keys() - initial.keys():
                now, setting = readings[key].now, declared[key]
                if now is None or setting.effect is not Effect.AT_ONCE:
                    raise InvalidValueError(f"{key} of {target} cannot be changed without re-creating the array.")
                for value in {
                    assignment.value for cell in cells for assignment in cell.settings if assignment.key == key
                }:
                    check_value(setting, readings[key], value)
                initial[key] = Assignment(target=target, key=key, value=now)
        return initial

    # -- deleting the arrays of this sweep ----------------------------------------------------------------------------

    async def delete_created_arrays(self) -> tuple[str, ...]:
        """Delete all remaining arrays of this sweep; return a message for each that could not be deleted."""
        self._present = None
        left: list[str] = []
        for entry in self._own_arrays():
            try:
                await self._delete(entry)
            except RaidbenchError as error:
                left.append(f"{entry.array.name} was not deleted: {error.full_text}")
        if not left:
            self._mark_restored()
        return tuple(left)

    def _own_arrays(self) -> tuple[ArrayJournalEntry, ...]:
        """Return the journal entries of arrays that this session created from the sweep's drives."""
        folder = str(self._bench.require_recording())
        drives = [drive.serial for drive in self._sweep_arrays.drives]
        serials = {frozenset(drives[: array.members]) for array in self._sweep_arrays.arrays}
        return tuple(
            entry
            for entry in self._bench.arrays.journal.entries()
            if entry.session == folder and frozenset(member.serial for member in entry.array.members) in serials
        )

    async def _delete(self, entry: ArrayJournalEntry) -> None:
        """Delete the array of a journal entry. Its creation may have been interrupted.

        Raises RefusedError when the array found may not be the one that this sweep created.
        """
        bench, name = self._bench, entry.array.name
        if entry.stage is not ArrayStage.MADE:
            match = await bench.arrays.resolve(entry, remove=True)
            if match.state is ArrayMatchState.ABSENT:
                return
            if match.state is not ArrayMatchState.COMPLETE:
                raise RefusedError(match.sentence, hint="Check it with `raidbench recover`.")
        await bench.arrays.delete(name, typed=name)
        await bench.hardware.probe()

    def _mark_restored(self) -> None:
        """Mark the changes on deleted arrays as restored, because their settings no longer exist."""
        bench, record = self._bench, self._bench.session.sweep
        if record is None:
            return
        kept = {original.target for original in record.design.originals}
        in_force = {change.id for change in bench.session.in_force}
        for change in bench.session.changes:
            left = change.end is None or change.id in in_force
            if left and change.id in record.changes and change.change.target not in kept:
                note_restored(bench, change.id, None, "its array was created for the sweep and has been deleted")


def _find_drive(candidates: tuple[Candidate, ...], drive: SweepDrive) -> Candidate:
    """Return a drive of the sweep in its present state.

    Raises DeviceGoneError when the drive is missing or ambiguous. Raises RefusedError when it is in use, or has content
    that it did not have when the user confirmed the sweep.
    """
    drive_name = clean(drive.serial or drive.place, 80)
    matches = [
        candidate
        for candidate in candidates
        if (candidate.serial, candidate.size_bytes) == (drive.serial, drive.size_bytes)
        and (drive.serial is not None or candidate.place == drive.place)
        and (drive.wwn is None or (candidate.identity is not None and candidate.identity.wwn == drive.wwn))
    ]
    if len(matches) != 1:
        problem = (
            "is missing"
            if not matches
            else f"is ambiguous: {' or '.join(candidate.place for candidate in matches[:3])}"
        )
        raise DeviceGoneError(f"The drive {drive_name} {problem}.", hint="Check the drives (`raidbench array list`).")
    require_free_drive(matches[0])
    if matches[0].is_visible and (new := new_content(matches[0].lies, drive.lies)):
        raise content_changed_error(matches[0].place, new)
    return matches[0]
