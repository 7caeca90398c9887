"""Applies the changes of a session, permanently or on trial, undoes them, and recovers interrupted ones."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import count
from pathlib import Path

from app.core.changes.executor import ChangeExecutor, moved_values
from app.core.changes.pending_trials import Undecided, UndecidedTrials
from app.core.changes.revert import (
    PendingValueState,
    pending_state_of,
    plan_revert,
    reverted_by_reboot,
    still_running_error,
)
from app.core.changes.side_effects import without_earlier
from app.core.changes.trial import arm, check_seconds
from app.core.session.event_types import MovedSetting
from app.core.session.events import ChangeEnded
from app.core.session.inventory import STALE, SessionInventory
from app.core.session.journal import OVERDUE, Journal, UnresolvedChange, boot_clock, boot_id
from app.core.session.journals import journal_on
from app.core.session.recorder import Recorder
from app.core.session.state import ChangeRecord
from app.core.session.trusted_file import is_absent
from backends.change import Change
from backends.device_label import DeviceLabel, device_label_of_parts
from backends.errors import NotFoundError, RaidbenchError, RefusedError
from backends.host import Host
from backends.identity import Identity
from backends.model import Controller, Target
from backends.protocol import InterruptedChangeReporter
from backends.settings import Effect, Risk


class SessionChanges:
    """Applies changes of settings in a session, and undoes them."""

    def __init__(self, record: Recorder, hardware: SessionInventory, host: Host) -> None:
        """`host`: the host itself, without the wrapper in `record.host` that records its commands.

        If the host has a root helper, the helper keeps the journal.
        """
        self._record, self._hardware = record, hardware
        self.journal = journal_on(host, self.journal_folder)
        self.undecided = UndecidedTrials(self.journal, record.locks)
        """Undecided trials of this machine, of all sessions and users."""
        self._armed: float | None = None
        self._known_trials: tuple[UnresolvedChange, ...] = ()
        self._watching: asyncio.Task[str] | None = None
        self.watches_itself = False
        """Whether this process itself reverts trials of a simulated machine, because it runs until they end."""

    @property
    def journal_folder(self) -> Path:
        """Return the folder of the journals that this process writes itself."""
        return self._record.paths.journal

    def _changer(self, journal: Journal | None = None) -> ChangeExecutor:
        """Return an executor of changes.

        `journal`: the journal in which the change to restore is recorded; None for the journal of this session.
        """
        folder = self._record.require_recording()
        return ChangeExecutor(
            backends=self._hardware.machine.backends,
            journal=journal or self.journal,
            locks=self._record.locks,
            folder=folder,
            emit=self._record.emit,
            next_id=self._next_id,
            arm=self._arm,
            controller_of=self.controller_of,
            disk_of=self._hardware.disk_of,
            side=self._record.host.root_side,
            forget=self._hardware.machine.host.forget,
        )

    def _next_id(self) -> str:
        """Return an unused change id. Ids that the journal has from earlier sessions in the same folder are skipped."""
        given = self.journal.given_ids(self._record.require_recording())
        numbers = count(len(self._record.session.changes) + 1)
        return next(f"c{number}" for number in numbers if f"c{number}" not in given)

    async def _arm(self, until: float) -> None:
        """Arm a watchdog for the set of trials with the deadline `until`, unless this set already has one."""
        if until != self._armed and self.watches_itself:
            self._watching = asyncio.create_task(self._end_in_time(until))
            self._armed = until
        if until != self._armed:
            if not self._record.host.capabilities.shares_watchdog:
                raise RefusedError(
                    "Trials are supported only on this machine and on simulated hosts.",
                    hint="Apply the change without a trial, and undo it later.",
                )
            folder, side = self._record.require_recording(), self._record.host.root_side
            if side is None:
                await arm(self._record.paths, folder, until)
            else:
                await side.ask("arm", session=str(folder), until=until)
            self._armed = until

    async def _end_in_time(self, until: float) -> str:
        """Watch a set of trials in this process; return how the set ended, as `watch` does.

        On a real machine, a separate watchdog process watches the trials.
        """
        from app.core.changes.watchdog import watch

        return await watch(self._record.paths, str(self._record.folder), until, self._hardware.machine.backends)

    async def end_watching(self) -> None:
        """Revert the trials that only this process watches, before it exits. Raises RaidbenchError if that fails."""
        if self.watches_itself and self._record.recording:
            for trial in self.trials():
                await self.undo(trial.id)

    async def apply(self, change: Change, *, undoes: str | None = None) -> ChangeEnded:
        """Make one change, which may undo another change of the session; see `ChangeExecutor.apply`."""
        return await self._changer().apply(change, undoes=undoes)

    async def plan_remake(self, left: UnresolvedChange) -> tuple[Change, DeviceLabel]:
        """Return the plan that re-creates a deleted array, and the label of its members for the confirmation prompt.

        `left`: the change in the journal that deleted the array. Raises BlockedError if no backend can re-create it,
        RefusedError, DeviceGoneError.
        """
        change = await self._changer().plan_remake(left)
        return change, device_label_of_parts(change.target, left.change.members)

    async def remake(self, left: UnresolvedChange, confirm: str) -> ChangeEnded:
        """Re-create the array that the change `left` in the journal deleted; see `ChangeExecutor.remake`."""
        plate = device_label_of_parts(left.change.target, left.change.members)
        return await self._changer().remake(left, confirm=confirm, plate=plate)

    def apply_all(
        self, changes: Sequence[Change], *, trial: float | None = None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Make several changes in order; see `ChangeExecutor.apply_all`. Close the generator with `aclosing`.

        `trial`: seconds after which all of them are reverted, unless `keep_trials` is called before; None for no trial.
        """
        until = None if trial is None else boot_clock() + check_seconds(trial)
        return self._changer().apply_all(changes, until=until)

    def trials(self) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of this session, newest first."""
        trials = filter(self.journal.is_ours, self.journal.trials())
        changes = tuple(trial for trial in trials if trial.session == str(self._record.folder))
        if self._record.host.root_side is None and (
            is_absent(self.journal.file) or self.journal.read_error() is not None
        ):
            # Without a readable journal, the watchdog still reverts the trials from memory: return those last read.
            now = boot_clock()
            return tuple(
                trial for trial in self._known_trials if trial.until is not None and now < trial.until + OVERDUE
            )
        self._known_trials = changes
        return changes

    def trials_of_other_sessions(self) -> tuple[Undecided, ...]:
        """Return the undecided trials of other sessions, newest first, as of the last refresh of `undecided`."""
        return tuple(
            undecided for undecided in self.undecided.current() if undecided.trial.session != str(self._record.folder)
        )

    async def keep_trials(
        self, chosen: Sequence[Undecided] | None = None
    ) -> tuple[tuple[UnresolvedChange, ChangeEnded], ...]:
        """Confirm the trials of this session, or the `chosen` ones.

        Return each trial with its end event, which contains the current value. Raises StorageError if a confirmation
        cannot be recorded: the remaining trials are then reverted. Raises RefusedError for a trial that this user may
        not decide.
        """
        decided = [(self.journal, trial) for trial in self.trials()]
        if chosen is not None:
            decided = [(undecided.journal, undecided.trial) for undecided in chosen]
        for journal, trial in decided:  # record first: reading the values may take until after the deadline
            journal.write_outcome(trial.id, Path(trial.session), "kept")
        ends = [(trial, await self._kept_change(trial)) for _, trial in decided]
        for trial, ended in ends:
            if trial.session == str(self._record.folder):
                self._record.emit(ended)
        return tuple(ends)

    async def restore_trials(self, chosen: Sequence[Undecided]) -> tuple[UnresolvedChange, ...]:
        """Revert trials of other sessions now; return those whose value another program has changed.

        The logs of these sessions are not written: raidbench reads the outcome in the journal when it next uses such a
        session. Raises RaidbenchError if a trial cannot be reverted: the watchdog then reverts the remaining ones.
        """
        changed = []
        for undecided in chosen:
            if await self._changer(undecided.journal).recover(undecided.trial) != "restored":
                changed.append(undecided.trial)
        return tuple(changed)

    async def _kept_change(self, trial: UnresolvedChange) -> ChangeEnded:
        """Return the end event of a confirmed trial. The value is read again, because it may have changed meanwhile."""
        change = trial.change
        try:
            reading = (await self._hardware.read(change.target)).get(change.key)
            now = None if reading is None else reading.now
            message = "" if now == change.after else f"the value {change.after} did not last"
        except RaidbenchError as error:
            now, message = None, error.message
        return ChangeEnded(at=time.time(), id=trial.id, result="kept", now=now, message=message)

    def trial_sets(self) -> tuple[tuple[float, float, tuple[Change, ...]], ...]:
        """Return (deadline, seconds left, changes) of each set of trials of this session, earliest deadline first."""
        by_deadline: dict[float, list[Change]] = {}
        for record in self._record.session.changes:
            until = record.intent.trial_until
            if record.is_on_trial and until is not None and record.intent.boot == boot_id() and until > boot_clock():
                by_deadline.setdefault(until, []).append(record.change)
        now = boot_clock()
        return tuple((until, until - now, tuple(changes)) for until, changes in sorted(by_deadline.items()))

    def trials_of_set(self, until: float) -> tuple[Undecided, ...]:
        """Return the undecided trials of this session with the deadline `until`, from the journal."""
        return tuple(Undecided(trial, self.journal, os.geteuid()) for trial in self.trials() if trial.until == until)

    def controller_of(self, target: Target) -> Target | None:
        """Return the controller of a target or of another view of its block device; None if there is none."""
        devices = (self._record.session.inventory.find(str(view)) for view in self._hardware.views_of(target))
        controllers = (
            device.target if isinstance(device, Controller) else device.controller for device in devices if device
        )
        return next((controller for controller in controllers if controller is not None), None)

    async def record_ended_trials(self) -> bool:
        """Record in the session the trials that the watchdog ended; return whether all old values are restored."""
        undecided = {trial.id for trial in self.trials()}
        all_back = True
        for record in self.undoable():
            if record.is_on_trial and record.id not in undecided:
                reading = (await self._hardware.read(record.change.target)).get(record.change.key)
                now = None if reading is None else reading.now
                back = pending_state_of(record, now) is PendingValueState.BEFORE
                all_back = all_back and back
                self._record.emit(
                    ChangeEnded(
                        at=time.time(),
                        id=record.id,
                        result="restored" if back else "differs",
                        now=now,
                        message="the trial ended" if back else "the trial ended, but its value was not restored",
                    )
                )
        return all_back

    async def undo(self, change_id: str, *, confirm: str | None = None, shown: Change | None = None) -> ChangeEnded:
        """Undo a change of this session; see `ChangeExecutor.undo`. `shown`: the plan that the user has seen.

        Raises NotFoundError for an id that is not in the session, RefusedError, BlockedError, StorageError.
        """
        record = self._change(change_id)
        if not record.in_force and not record.may_apply_late:
            raise NotFoundError(f"Change {change_id} is no longer in effect.")
        asked = confirm is not None or record.change.risk is Risk.DESTROYS_DATA
        plate = await self._hardware.device_label(record.change.target) if asked else None
        led_to = self._values_led_to(record)
        record = self._without_earlier(record)
        interrupted = self._interrupted_undos(change_id)
        if interrupted and record.end is not None:  # the interrupted undo may have altered the same settings
            record = replace(record, end=replace(record.end, moved=None))
        ended = await self._changer().undo(record, confirm=confirm, plate=plate, shown=shown, led_to=led_to)
        for undo in interrupted if ended.is_reverted else ():
            self._end_interrupted_undo(undo, ended.now)
        return ended

    def _change(self, change_id: str) -> ChangeRecord:
        """Return the change with the id `change_id`. Raises NotFoundError if there is none."""
        record = self._record.session.change(change_id)
        if record is None:
            raise NotFoundError(
                f"This session has no change {change_id}.", hint=("`raidbench undo --list` lists all changes.")
            )
        return record

    def _interrupted_undos(self, change_id: str) -> tuple[ChangeRecord, ...]:
        """Return the recorded undos of the change `change_id` that a crash interrupted."""
        changes = self._record.session.changes
        return tuple(other for other in changes if other.intent.undoes == change_id and other.end is None)

    def _end_interrupted_undo(self, undo: ChangeRecord, now: str | None) -> None:
        """Record that an interrupted undo has ended with the value `now`, so that the undo is not itself undone."""
        message = "interrupted; another undo restored the value"
        self._record.emit(ChangeEnded(at=time.time(), id=undo.id, result="restored", now=now, message=message))
        self.journal.write_outcome(undo.id, self._record.require_recording(), "restored")

    def _without_earlier(self, record: ChangeRecord) -> ChangeRecord:
        """Return the record as its undo needs it: with the present identity of its device, and with its old values as
        if the earlier, now undone changes had not been made.
        """
        change = without_earlier(record, self._record.session.changes)
        change = replace(change, identity=self._lasting_identity(record))
        return replace(record, intent=replace(record.intent, change=change))

    def _lasting_identity(self, record: ChangeRecord) -> Identity | None:
        """Return the identity that the undo of a change requires of its device.

        A re-created array has, for example, another WWN. The identity of a change that re-creates it has only the facts
        that stay the same, so that this change can be undone. The undo of an earlier change requires no other facts.
        """
        changes = self._record.session.changes
        later = (other.change for other in reversed(changes[changes.index(record) + 1 :]))
        same_array = (change for change in later if change.target == record.change.target)
        last = next((change for change in same_array if change.effect is Effect.RECREATED), record.change)
        return record.change.identity if record.change.effect is Effect.RECREATED else last.identity

    def _values_led_to(self, record: ChangeRecord) -> frozenset[str]:
        """Return the values that the changed setting got as a side effect of later changes of this session."""
        since = self._record.session.changes[self._record.session.changes.index(record) + 1 :]
        ends = (later.end for later in since if later.in_force and later.end is not None)
        moved = moved_values(ends, record.change.target, record.change.key)
        return frozenset(value for value in moved if value is not None)

    async def restore_value(
        self, record: ChangeRecord, *, undoes: str, moved: Sequence[MovedSetting] | None
    ) -> ChangeEnded:
        """Restore the old value of a changed setting, and undo its side effects; see `ChangeExecutor.restore_value`."""
        change = replace(record.change, identity=self._lasting_identity(record))
        return await self._changer().restore_value(change, undoes=undoes, moved=moved)

    async def plan_undo(self, change_id: str) -> Change:
        """Return the plan that undoes the change with this id.

        The plan is made from readings since the last scan. If that fails or the undo destroys data, the device is read
        again. Raises the errors of `plan_revert`.
        """
        record = self._change(change_id)
        with contextlib.suppress(RaidbenchError), self._hardware.machine.using_last_scan(STALE):
            back = await self.plan_revert(self._without_earlier(record).change)
            if back.risk is not Risk.DESTROYS_DATA:
                return back
        return await self.plan_revert(self._without_earlier(record).change)

    async def plan_revert(self, change: Change) -> Change:
        """Return the plan that undoes a change now. Raises RaidbenchError if there is no such plan."""
        return self._hardware.with_dependents(await plan_revert(self._hardware.machine.setter(change.target), change))

    def undoable(self) -> tuple[ChangeRecord, ...]:
        """Return the changes in force, newest first, without those that a reboot has reverted."""
        return tuple(record for record in self._record.session.in_force if not reverted_by_reboot(record.intent))

    def hold_change_lock(self, change: Change) -> AbstractAsyncContextManager[None]:
        """Hold the lock of a change of the session; see `ChangeExecutor.hold_change_lock`."""
        return self._changer().hold_change_lock(change)

    async def recovery_hint(self, change: Change) -> str | None:
        """Return the first step to recover an array that an interrupted change deleted; None if no step is known."""
        backend = self._hardware.machine.backends.get(change.target.backend)
        if backend is None or not isinstance(backend, InterruptedChangeReporter):
            return None
        return await backend.remains(change)

    async def recover(self, intent: UnresolvedChange) -> str:
        """Undo a change that a crash left unresolved; see `ChangeExecutor.recover`."""
        return await self._changer().recover(intent)

    def keep(self, intent: UnresolvedChange) -> None:
        """Leave the value of an interrupted change as it is, and do not ask about it again.

        Raises HeldError while a program is still making the change, because its result is not known yet. Raises
        StorageError if the decision cannot be recorded.
        """
        for left in self.journal.left_running():
            if (left.session, left.id) == (intent.session, intent.id):
                raise still_running_error(left)
        self.journal.write_outcome(intent.id, Path(intent.session), "kept")
