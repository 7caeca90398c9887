"""The arrays of a sweep over levels, one after the other: made, prepared, measured on, deleted again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from app.core.changes.arrays.array_journal import ArrayJournalEntry, ArrayStage
from app.core.changes.arrays.candidates import candidates_of, plan_array
from app.core.session.events import ChangeEnded
from app.core.session.sweep_steps import MADE, Assignment, Step, SweepArray, SweepArrays, SweepCell, SweepDrive
from app.features.sweep.engine.array_preparation import (
    NotPreparedError,
    disturbance_text,
    prepare_array,
    wait_until_whole,
)
from app.features.sweep.engine.order import Standing, pending_state_of
from app.features.sweep.engine.raid_levels import array_request, array_text
from app.features.sweep.engine.targets import legal_value
from backends.array_planning import ArrayMatch, ArrayMatchState, Candidate, require_free_drive
from backends.errors import (
    DeviceGoneError,
    InvalidValueError,
    RaidbenchError,
    RefusedError,
    StorageError,
    ToolFailedError,
)
from backends.identity import new_content
from backends.settings import Effect
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench


class ArrayRefusedError(RaidbenchError):
    """The maker refuses an array, and nothing of it is left: what was to be measured on it is left out."""


class ArrayMismatchError(RaidbenchError):
    """Drives or arrays are not what was confirmed: nothing more is made or measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Present:
    """The array that stands."""

    standing: Standing
    """What it was made for."""
    found: ArrayMatch
    initial: Mapping[str, Assignment] = field(default_factory=dict)
    """Settings that the sweep touches, as they were when it was made."""
    failure: RaidbenchError | None = None
    """Why nothing may be measured on it."""
    alone: bool = False
    """Whether it is one drive, and no array."""


class ArrayLifecycle:
    """One array at a time, of exactly the drives that were confirmed."""

    def __init__(self, bench: Workbench, stop: asyncio.Event) -> None:
        self._bench, self._stop = bench, stop
        self._present: _Present | None = None

    @property
    def _sweep_arrays(self) -> SweepArrays:
        record = self._bench.session.sweep
        if record is None or record.design.making is None:
            raise StorageError("This sweep makes no arrays.")
        return record.design.making

    async def apply_settings(self, step: Step, cell: SweepCell) -> None:
        """Have the array of a step stand, ready to be measured, and no other; nothing when asked to stop.

        One that could not be prepared stands, and `resolve_cell` says why nothing is measured on it. Raises
        ArrayRefusedError, ArrayEndsSweepError, DeviceGoneError, StorageError.
        """
        standing = pending_state_of(step, cell, self._sweep_arrays)
        if self._present is None or self._present.standing != standing:
            if left := await self.delete_created_arrays():
                raise ArrayMismatchError(" ".join(left))
            if self._stop.is_set():
                return
            await self._make(standing, self._sweep_arrays.array(cell.array or ""))
        elif self._present.failure is None and not self._present.alone:
            await self._wait_until_idle(self._present)

    async def _wait_until_idle(self, present: _Present) -> None:
        """A card begins to initialise minutes after it made an array: that is waited for."""
        try:
            await wait_until_whole(self._bench, present.found, self._stop)
        except NotPreparedError as error:
            self._present = replace(present, failure=error)

    async def disturbance(self) -> str:
        """Why the run that has just ended on the array does not count, a sentence; "" where it does."""
        return "" if self._present is None else await disturbance_text(self._bench, self._present.found)

    @property
    def usable(self) -> bool:
        """Whether an array stands that may be measured."""
        return self._present is not None and self._present.failure is None

    def resolve_cell(self, cell: SweepCell) -> SweepCell:
        """The cell with the address and the settings of the array that stands.

        Raises InvalidValueError, and why nothing may be measured on the array.
        """
        present = self._present
        if present is None or present.found.target is None:
            raise DeviceGoneError("No array of the sweep stands.", hint="Go on with `raidbench sweep --resume`.")
        if present.failure is not None:
            raise present.failure
        own = {assignment.key: assignment.value for assignment in cell.settings if assignment.target.backend == MADE}
        others = tuple(assignment for assignment in cell.settings if assignment.target.backend != MADE)
        if missing := own.keys() - present.initial.keys():
            raise InvalidValueError(f"{present.found.target} has no setting {clean(', '.join(sorted(missing)), 60)}.")
        made = tuple(
            replace(assignment, value=own.get(key, assignment.value)) for key, assignment in present.initial.items()
        )
        return replace(cell, where=str(present.found.target), settings=(*others, *made), needs=())

    # -- making one ---------------------------------------------------------------------------------------------------

    async def _make(self, standing: Standing, array: SweepArray) -> None:
        bench, making = self._bench, self._sweep_arrays
        drives = (await self._drives(making))[: array.members]
        if array.is_single_drive:
            await self._use_single_drive(standing, drives[0])
            return
        request = array_request(array, drives, making.policies)
        try:
            plan = await plan_array(bench.hardware.machine, request, assume_clean=making.assume_clean)
            match = await bench.arrays.create(plan, assume_clean=making.assume_clean, typed=making.confirm_token(array))
        except (InvalidValueError, ToolFailedError) as error:
            if bench.arrays.journal.entry(request.name) is not None:
                raise ArrayMismatchError(error.message, hint=error.hint, evidence=error.evidence) from error
            raise ArrayRefusedError(error.message, evidence=error.evidence) from error
        except RaidbenchError as error:
            raise ArrayMismatchError(error.message, hint=error.hint, evidence=error.evidence) from error
        await bench.hardware.probe()
        self._present = present = _Present(standing=standing, found=match)
        try:
            if wrong := [text for key, text in match.differs.items() if key in making.policies]:
                raise NotPreparedError(" ".join(wrong))
            await prepare_array(bench, match, array, self._stop, assume_clean=making.assume_clean)
            self._present = replace(present, initial=await self._initial_settings(match))
        except (StorageError, DeviceGoneError):
            raise
        except RaidbenchError as error:
            failure = RaidbenchError(f"{array_text(array)}: {error.message}", hint=error.hint, evidence=error.evidence)
            self._present = replace(present, failure=failure)

    async def _use_single_drive(self, standing: Standing, drive: Candidate) -> None:
        """Have a drive measured as it is, without an array."""
        match = ArrayMatch(
            state=ArrayMatchState.COMPLETE,
            sentence=f"{drive.place} is measured as it is.",
            target=drive.drive,
            device=drive.place,
        )
        present = _Present(standing=standing, found=match, alone=True)
        try:
            self._present = replace(present, initial=await self._initial_settings(match))
        except (StorageError, DeviceGoneError):
            raise
        except RaidbenchError as error:
            self._present = replace(present, failure=error)

    async def _drives(self, making: SweepArrays) -> tuple[Candidate, ...]:
        """The drives of the sweep as they are now. Raises ArrayEndsSweepError where one is not as it was confirmed."""
        bench = self._bench
        inventory = await bench.hardware.probe()
        names = [name for drive in making.drives for name in (drive.place, drive.serial) if name]
        there, _ = await candidates_of(bench.hardware.machine, inventory, names)
        try:
            return tuple(_find_drive(there, drive) for drive in making.drives)
        except RaidbenchError as error:
            raise ArrayMismatchError(error.message, hint=error.hint) from error

    async def _initial_settings(self, match: ArrayMatch) -> Mapping[str, Assignment]:
        """What every setting that the sweep touches is on the array that was just made."""
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
                    raise InvalidValueError(f"{key} of {target} cannot be flipped in place.")
                for value in {
                    assignment.value for cell in cells for assignment in cell.settings if assignment.key == key
                }:
                    legal_value(setting, readings[key], value)
                initial[key] = Assignment(target=target, key=key, value=now)
        return initial

    # -- deleting it --------------------------------------------------------------------------------------------------

    async def delete_created_arrays(self) -> tuple[str, ...]:
        """Delete every array of this sweep that is left; sentences about what is not gone. Raises nothing of ours."""
        self._present = None
        left: list[str] = []
        for entry in self._own_arrays():
            try:
                await self._delete(entry)
            except RaidbenchError as error:
                left.append(f"{entry.array.name} is not deleted: {error.message} {error.hint}".strip())
        if not left:
            self._mark_restored()
        return tuple(left)

    def _own_arrays(self) -> tuple[ArrayJournalEntry, ...]:
        """Arrays of the journal that this session made of the drives of its sweep."""
        folder = str(self._bench.require_recording())
        drives = [drive.serial for drive in self._sweep_arrays.drives]
        own = {frozenset(drives[: array.members]) for array in self._sweep_arrays.arrays}
        return tuple(
            entry
            for entry in self._bench.arrays.journal.entries()
            if entry.session == folder and frozenset(member.serial for member in entry.array.members) in own
        )

    async def _delete(self, entry: ArrayJournalEntry) -> None:
        """Settle what was cut short, and delete what is whole. Raises RefusedError for what is not known to be ours."""
        bench, name = self._bench, entry.array.name
        if entry.stage is not ArrayStage.MADE:
            match = await bench.arrays.resolve(entry, remove=True)
            if match.state is ArrayMatchState.ABSENT:
                return
            if match.state is not ArrayMatchState.COMPLETE:
                raise RefusedError(match.sentence, hint="`raidbench recover` shows it.")
        await bench.arrays.delete(name, typed=name)
        await bench.hardware.probe()

    def _mark_restored(self) -> None:
        """Settings of an array that is gone have nothing left to be taken back."""
        bench, record = self._bench, self._bench.session.sweep
        if record is None:
            return
        kept = {original.target for original in record.design.originals}
        in_force = {change.id for change in bench.session.in_force}
        for change in bench.session.changes:
            left = change.end is None or change.id in in_force
            if left and change.id in record.changes and change.change.target not in kept:
                message = "the array that had it was made for the sweep, and is deleted"
                bench.emit(ChangeEnded(at=time.time(), id=change.id, result="restored", now=None, message=message))
                bench.changes.journal.write_outcome(change.id, bench.require_recording(), "restored")


def _find_drive(there: tuple[Candidate, ...], drive: SweepDrive) -> Candidate:
    """A drive of the sweep as it is now. Raises DeviceGoneError, RefusedError."""
    called = clean(drive.serial or drive.place, 80)
    own = [
        candidate
        for candidate in there
        if (candidate.serial, candidate.size_bytes) == (drive.serial, drive.size_bytes)
        and (drive.serial is not None or candidate.place == drive.place)
        and (drive.wwn is None or (candidate.identity is not None and candidate.identity.wwn == drive.wwn))
    ]
    if len(own) != 1:
        problem = "is not there" if not own else f"is several: {', '.join(candidate.place for candidate in own[:3])}"
        raise DeviceGoneError(f"The drive {called} {problem}.", hint="Look at the drives (`raidbench array list`).")
    require_free_drive(own[0])
    if own[0].is_visible and (new := new_content(own[0].lies, drive.lies)):
        raise RefusedError(
            f"Something lies on {own[0].place} that was not there when it was confirmed: {'; '.join(new)}.",
            hint="Look at it. Nothing was made of it since.",
        )
    return own[0]
