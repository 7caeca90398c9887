"""Executes a change: locks and reads the device, records the intent, sets and verifies the value, records the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from pathlib import Path

from app.core.changes import side_effects
from app.core.changes.revert import (
    PendingValueState,
    pending_state,
    pending_state_of,
    plan_revert,
    require_reversible,
    still_running_error,
    undecided_trial_error,
)
from app.core.changes.side_effects import NO_DEBTS, Debts, Values
from app.core.changes.trial import require_triable, unattended_reason
from app.core.changes.verification import is_as_wanted, read_for, require_as_planned, require_its_device, verdict
from app.core.session.event_types import MovedSetting
from app.core.session.events import AnyEvent, ChangeEnded, ChangeIntended
from app.core.session.journal import Journal, UnresolvedChange, boot_id
from app.core.session.journals import register_journal, trials_elsewhere
from app.core.session.json_codec import unstructure
from app.core.session.locks import HeldLock, LockPlace, hold_lock
from app.core.session.state import ChangeRecord
from app.core.session.unit_labels import setting_label, value_text
from backends.change import Change
from backends.change_steps import LOOK_AGAIN, recreation_error
from backends.device_label import DeviceLabel
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    HeldError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    StorageError,
    UnknownSettingError,
)
from backends.helper_interface import HelperClient
from backends.host import ProcessTracking, completed_when_cancelled, custody
from backends.model import Target
from backends.protocol import InterruptedChangeReporter, InventoryBackend, Recreatable, SettingsBackend
from backends.settings import Persistence, Risk
from backends.system.caching import cached_since
from backends.values import dataclass

Emit = Callable[[AnyEvent], None]

Arm = Callable[[float], Awaitable[None]]
"""Function that arms a watchdog for a deadline (CLOCK_BOOTTIME, in seconds). Raises RefusedError if it cannot."""


PATIENCE = 5.0
"""Seconds that an undo waits for a program to end that a killed raidbench left running."""

_LOOK_AGAIN = 0.1
_LOCK_TRIES = 3


@dataclass(kw_only=True)
class ChangeExecutor:
    """Applies changes one at a time. The intent of each change is on disk before its first command runs."""

    backends: Mapping[str, InventoryBackend | SettingsBackend]
    """Backends of the host, by name."""
    journal: Journal
    """The write-ahead journal."""
    locks: LockPlace
    """Place of the locks of controllers and disks: a folder, or the root helper."""
    folder: Path
    """Folder of the session."""
    emit: Emit
    """Records an event in the session."""
    next_id: Callable[[], str]
    """Returns an unused change id."""
    arm: Arm | None = None
    """Arms the watchdog of a trial; None if no trials are possible."""
    controller_of: Callable[[Target], Target | None] = lambda _target: None
    """Returns the controller of a target; None if it has none."""
    disk_of: Callable[[Target], Target | None] = lambda _target: None
    """Returns the kernel disk that is another view of a target; None if there is none."""
    side: HelperClient | None = None
    """The root helper that makes the changes; None if this process makes them."""
    forget: Callable[[], None] = lambda: None
    """Drops cached readings after the root helper has made a change."""

    async def apply(
        self, change: Change, *, undoes: str | None = None, until: float | None = None, in_set: bool = False
    ) -> ChangeEnded:
        """Make a change and verify it. If the task is cancelled, the change is completed first.

        With `until` (seconds of CLOCK_BOOTTIME) the change is a trial: a watchdog, armed first, reverts the change at
        that time. `undoes`: the change of this session that this one undoes. `in_set`: whether the change belongs to a
        set; then nothing is set if the value is already correct.

        Raises RefusedError if another process has the device locked, another trial is undecided, the watchdog cannot be
        armed, or the value is no longer the one from which the change was planned. Raises StorageError if the change
        cannot be recorded; nothing was done unless the message says so.
        """
        async with self._locked_and_cached(change, wait=0.0) as lock:
            if in_set and await is_as_wanted(self._backend(change.target), change):
                self._require_no_other_trial(change, until)  # the end of that trial would change the value again
                return ChangeEnded(at=time.time(), id="", result="verified", now=change.after)
            return await self._apply(change, lock, undoes=undoes, until=until, as_read=False)

    @contextlib.asynccontextmanager
    async def locked(self, change: Change, *, wait: float | None = None) -> AsyncIterator[HeldLock]:
        """Hold the lock of a change inside the block, so that no other process changes the device.

        `wait`: seconds to wait for a program that a killed raidbench left running; PATIENCE if None. Raises HeldError,
        which names the holder of the lock, and StorageError.
        """
        with contextlib.ExitStack() as held:
            yield await self._take_locks(held, change, time.monotonic() + (PATIENCE if wait is None else wait))

    @contextlib.asynccontextmanager
    async def _locked_and_cached(self, change: Change, *, wait: float | None = None) -> AsyncIterator[HeldLock]:
        """Hold the lock of a change as `locked` does, and reuse readings of settings until something is set."""
        async with self.locked(change, wait=wait) as lock:
            with cached_since(time.monotonic()):
                yield lock

    async def _take_locks(self, held: contextlib.ExitStack, change: Change, end: float) -> HeldLock:
        while True:
            left = self._left_running(change)
            try:
                return held.enter_context(self._exclusive_lock(change))
            except HeldError:
                if left is None:  # no leftover program has the lock, so do not wait for one
                    raise
                if time.monotonic() >= end:
                    raise still_running_error(left) from None
            await asyncio.sleep(_LOOK_AGAIN)

    @contextlib.contextmanager
    def _exclusive_lock(self, change: Change) -> Iterator[HeldLock]:
        with contextlib.ExitStack() as held:
            purpose = f"changing {change.label} of {change.target}"
            lock, *_ = [held.enter_context(hold_lock(self.locks, name, purpose)) for name in change.locks]
            if left := self._left_running(change):  # it holds no lock if it closed the inherited descriptor
                raise still_running_error(left)
            yield lock

    def _left_running(self, change: Change) -> UnresolvedChange | None:
        """Return a change with the same lock that a program of a killed raidbench is still making; None for none."""
        return next((left for left in self.journal.left_running() if left.change.shares_lock(change)), None)

    async def apply_all(
        self, changes: Sequence[Change], *, until: float | None = None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Make several changes in order; stop after the first that is not verified.

        A change may alter the setting of a later change (a new scheduler resets nr_requests). So later changes of the
        same target are planned again, and refused if their steps differ from those that the user saw. One difference is
        allowed: if two settings are fields of one register, the later step contains the new value of the earlier
        setting. If a value is already correct, nothing is set or recorded (`ChangeEnded.was_set`).

        At the end all settings are read again. If a later change of the set has altered a value, it is set once more,
        and its change is yielded a second time. If another program has changed a value meanwhile, its change is yielded
        with the result `differs`.
        """
        await self._announce_set(changes)
        made: dict[tuple[Target, str], tuple[Change, ChangeEnded]] = {}
        for shown in changes:
            change = await self._replan_in_set(shown, [*made.values()])
            ended = await self.apply(change, until=until, in_set=True)
            made[change.target, change.key] = change, ended
            yield change, ended
            if ended.result != "verified":
                return
        if len(changes) > 1:
            async for again in self._verify_set(made, until):
                yield again

    async def _replan_in_set(self, shown: Change, made: Sequence[tuple[Change, ChangeEnded]]) -> Change:
        """Plan a change of a set again after the earlier ones were made.

        Raises RefusedError if its steps differ from those shown.
        """
        done = {change.key for change, _ in made if change.target == shown.target}
        moved = moved_values([ended for _, ended in made], shown.target, shown.key)
        if not done and not moved:
            return shown
        with cached_since(time.monotonic()):
            if await is_as_wanted(self._backend(shown.target), shown):
                return shown
            change = await self._backend(shown.target).plan(shown.target, shown.key, shown.requested)
        if change.writes != shown.writes and done.isdisjoint(change.shares):
            raise RefusedError(
                (
                    f"The plan for {change.label} of {change.target} no longer has the steps that you confirmed. "
                    "Nothing was changed."
                ),
                hint="Review the change again.",
            )
        return change.as_in_set(shown, moved=bool(moved))

    async def _verify_set(
        self, made: Mapping[tuple[Target, str], tuple[Change, ChangeEnded]], until: float | None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Read all settings of a set again; yield each change that was made again or whose value did not last."""
        ends = [ended for _, ended in made.values()]
        latest = dict(made)
        now = await self._read_values([change for change, _ in made.values()])
        for setting, (change, _) in made.items():
            if now[setting] == change.after or now[setting] not in moved_values(ends, *setting):
                continue
            again = await self._backend(change.target).plan(change.target, change.key, change.requested)
            ended = await self.apply(again.as_in_set(change, moved=True), until=until)
            ends.append(ended)
            latest[setting] = change, ended
            yield change, ended
            if ended.result != "verified":
                return
        if len(ends) > len(made):
            now = await self._read_values([change for change, _ in made.values()])
        for setting, (change, ended) in latest.items():
            if now[setting] != change.after:
                yield change, self._record_lost_value(change, ended, now[setting])

    async def _read_values(self, changes: Sequence[Change]) -> Values:
        """Return the current values of the changes' settings by target and key. Each tool is run only once."""
        with cached_since(time.monotonic()):
            readings = {
                (change.target, change.key): await read_for(self._backend(change.target), change) for change in changes
            }
        return {setting: None if reading is None else reading.now for setting, reading in readings.items()}

    def _record_lost_value(self, change: Change, ended: ChangeEnded, now: str | None) -> ChangeEnded:
        """Record that the value of a change did not last; return its end event.

        The event omits the current value, because it is unknown which program set it.
        """
        message = f"{change.label} is {now or 'nothing'} at the end of the set: it changed after it was set"
        lost = replace(ended, at=time.time(), result="differs", now=None, message=message)
        if ended.was_set:
            self.emit(lost)
        return lost

    async def _announce_set(self, changes: Sequence[Change]) -> None:
        """Tell the root helper which changes form a set, so that it plans them together.

        Raises RaidbenchError on failure.
        """
        if self.side is None:
            return
        sets: dict[Target, dict[str, str]] = {}
        for change in changes:
            sets.setdefault(change.target, {})[change.key] = change.requested
        for target, values in sets.items():
            await self.side.ask("together", target=str(target), scope=target.scope, values=values)

    @completed_when_cancelled
    async def _apply(
        self,
        change: Change,
        lock: HeldLock,
        *,
        undoes: str | None = None,
        until: float | None = None,
        left: UnresolvedChange | None = None,
        old: Change | None = None,
        as_read: bool = True,
        debts: Debts = NO_DEBTS,
    ) -> ChangeEnded:
        """Make a change while its lock is held; see `apply`.

        `old`: the change that this one undoes. `left`: the unresolved change of the journal that this one undoes, whose
        intent also covers the undo. `as_read`: whether the change was planned from readings under this lock. `debts`:
        values of other settings that an undo must restore.
        """
        backend = self._backend(change.target)
        if until is not None:
            require_triable(change)
        if not as_read:
            await require_as_planned(backend, change)
        if undoes is None:
            self._require_no_other_trial(change, until)
        before = await self._try_read_beside(change)
        change = side_effects.with_values_before(change, before)
        await self._plan_in_helper(change, old)
        change_id = self.next_id()
        covered = left is not None and self.side is None
        await self._record_intent(
            ChangeIntended(
                at=time.time(),
                id=change_id,
                change=change.as_recorded(),
                undoes=undoes,
                boot=boot_id(),
                trial_until=until,
            ),
            change,
            covered=covered,
        )
        message = ""
        surprise: BaseException | None = None
        covering = left if covered else None
        custody.set(self._tracking(change_id, lock, covering))  # for this task and its children only
        try:
            await self._run_steps(backend, change_id, change)
        except RaidbenchError as error:
            message = error.full_text
            surprise = error if isinstance(error, DeviceGoneError) else None
        except (Exception, asyncio.CancelledError) as error:  # record as failure, then re-raise
            message = f"raidbench failed while it set the value: {type(error).__name__}: {error}".rstrip(": ")
            surprise = error
        trouble = "" if message else await self._restore_side_effects(change, debts, lock, undoes, left)
        ended = await verdict(backend, change_id, change, message)
        after = await self._try_read_beside(change)
        if before and after:
            ended = replace(ended, moved=side_effects.side_effects_of(change, before, after, debts.restored))
        if ended.result == "verified":
            kept = debts.kept_text(change, after)
            ended = replace(ended, result="differs" if trouble else "verified", message=trouble or kept)
        self._record_end(change, ended, covered=covered)
        if surprise is not None:
            raise surprise
        return ended

    async def _try_read_beside(self, change: Change) -> Values:
        """Return the values of `_read_beside`; {} if the target is gone, which is reported by the change itself."""
        try:
            return await self._read_beside(change)
        except (DeviceGoneError, NotFoundError):
            return {}

    async def _read_beside(self, change: Change) -> Values:
        """Return the values of all settings of a change's target and of its kernel disk.

        Raises DeviceGoneError or NotFoundError if the target is gone.
        """
        disk = self.disk_of(change.target) or side_effects.disk_beside(change)
        return await side_effects.read_beside(self.backends, change, disk if disk != change.target else None)

    async def _restore_side_effects(
        self, back: Change, debts: Debts, lock: HeldLock, undoes: str | None, left: UnresolvedChange | None
    ) -> str:
        """Restore the settings that the undone change altered as side effects and that the undo itself did not restore.

        Return a sentence about each setting that could not be restored, or "" if all were.
        """
        if not debts.all:
            return ""
        trouble: list[str] = []
        for target, key in side_effects.unrestored_settings(debts.all, await self._try_read_beside(back)):
            value = debts.all[target, key]
            try:
                change = await self._backend(target).plan(target, key, value)
                if back.key in change.moves:  # two views of one setting: setting this one would alter the other again
                    continue
                if unattended_reason(change) or not set(change.locks) <= set(back.locks):
                    raise BlockedError(f"{change.label} of {target} also changed and is not restored automatically.")
                ended = await self._apply(change, lock, undoes=undoes, left=left)
                if ended.result != "verified":
                    raise BlockedError(f"{change.label} of {target} was not restored: {ended.message}.")
            except RaidbenchError as error:
                if (target, key) in debts.restored:
                    shown = f"{setting_label(key)} of {target} was not restored to {value_text(key, value)}"
                    trouble.append(f"{shown}: {error.message}")
        return " ".join(trouble)

    async def _record_intent(self, intended: ChangeIntended, change: Change, *, covered: bool) -> None:
        """Record the intent of a change on disk.

        `covered`: whether an open intent in the journal already covers this undo; if so, a full disk does not stop it.
        Raises StorageError or RefusedError: then nothing may be changed.
        """
        if covered:
            with contextlib.suppress(StorageError):
                self.emit(intended)
            return
        self.emit(intended)
        try:
            if intended.trial_until is not None and isinstance(self.locks, Path):
                register_journal(self.locks, self.journal)
            self.journal.write_intent(intended.id, self.folder, change, until=intended.trial_until)
            if intended.trial_until is not None:
                if self.arm is None:
                    raise RefusedError("This host does not support trials.")
                await self.arm(intended.trial_until)
        except (StorageError, RefusedError) as error:
            failed = ChangeEnded(
                at=time.time(), id=intended.id, result="failed", now=change.starts_from, message=error.message
            )
            with contextlib.suppress(StorageError):
                self.emit(failed)
            if isinstance(error, RefusedError):
                self.journal.write_outcome(intended.id, self.folder, "failed")
            raise

    async def _plan_in_helper(self, change: Change, old: Change | None) -> None:
        """Let the root helper plan the change as well. Raises RefusedError if its plan differs.

        `old`: the change that is undone; None if `change` is not an undo.
        """
        if self.side is None:
            return
        companions = None if old is None else old.companions
        await self.side.ask("plan", change=unstructure(change), back=companions)

    async def _run_steps(self, backend: SettingsBackend, change_id: str, change: Change) -> None:
        """Execute the steps of a change in the root helper, or in this process if there is no helper."""
        if self.side is None:
            await backend.apply(change)
            return
        try:
            await self.side.ask("apply", session=str(self.folder), id=change_id)
        finally:
            self.forget()

    def _tracking(self, change_id: str, lock: HeldLock, covering: UnresolvedChange | None) -> ProcessTracking:
        """Return the tracking for programs of a change: each inherits the lock, and is in the journal before it starts.

        `covering`: the open intent that already covers an undo. Its programs are then recorded with that intent, and a
        full disk does not stop them.
        """
        id, folder = (change_id, self.folder) if covering is None else (covering.id, Path(covering.session))

        def begins(pid: int, program: str) -> None:
            try:
                self.journal.write_setter(id, folder, pid, program)
            except StorageError:
                if covering is None:
                    raise
            lock.note_inherited_lock(pid, program)

        return ProcessTracking(lock=lock.descriptor, begins=begins)

    def _require_no_other_trial(self, change: Change, until: float | None) -> None:
        """Check that no undecided trial conflicts with a change. Raises RefusedError if one does.

        Trials of the same set do not conflict. Any other trial of the same target or lock does. A new trial also
        conflicts with every trial on the same controller, because a controller may have only one set of trials at a
        time.
        """
        controller = self.controller_of(change.target)
        elsewhere = trials_elsewhere(self.locks, self.journal) if isinstance(self.locks, Path) else ()
        for trial in (*self.journal.trials(), *elsewhere):
            if until is not None and trial.until == until and trial.session == str(self.folder):
                continue
            same_place = trial.change.target == change.target or trial.change.shares_lock(change)
            same_controller = controller is not None and self.controller_of(trial.change.target) == controller
            if same_place or (until is not None and same_controller):
                raise undecided_trial_error(trial)

    def _record_end(self, change: Change, ended: ChangeEnded, *, covered: bool) -> None:
        """Record the end of a change in the session and in the journal. If one cannot be written, the other still is.

        `covered`: whether an open intent in the journal covers this undo. If so, only the session is written and errors
        are ignored; the caller ends that intent. Raises StorageError, which says that the change was made.
        """
        trouble: StorageError | None = None
        try:
            self.emit(ended)
        except StorageError as error:
            trouble = error
        if covered:
            return
        try:
            self.journal.write_outcome(ended.id, self.folder, ended.result)
        except StorageError as error:
            trouble = trouble or error
        if trouble is not None:
            raise StorageError(
                (
                    f"{change.label} of {change.target} was set to {change.after} and now is {ended.now}, but this "
                    f"could not be recorded: {trouble.message}"
                ),
                hint=trouble.hint,
                evidence=trouble.evidence,
            ) from trouble

    async def undo(
        self,
        record: ChangeRecord,
        *,
        confirm: str | None = None,
        plate: DeviceLabel | None = None,
        shown: Change | None = None,
        led_to: Collection[str] = (),
    ) -> ChangeEnded:
        """Undo a change, as its backend plans it now. A value that is neither the new nor the old one is left alone.

        Side effects that another program has set since are left alone, too. `led_to`: values that the setting got as a
        side effect of later changes; they are undone as well. `confirm`: the confirmation token that the user typed,
        for an undo that destroys data. `plate`: the device's label with that token. `shown`: the plan that the user has
        seen. Raises RefusedError, BlockedError, NotFoundError, StorageError.
        """
        change = record.change
        require_reversible(change)
        try:
            moved = None if record.end is None else record.end.moved
            async with self._locked_revert(change, shown, moved) as way:
                return await self._undo(record, way, confirm, plate, shown, led_to)
        except UnknownSettingError:  # a NotFoundError too, but the device exists
            raise
        except (NotFoundError, DeviceGoneError) as error:
            hinted = await self.with_recovery_hint(change, error)
            if change.persistence is not Persistence.LOST_AT_REBOOT:
                raise hinted from error
            # A kernel setting is gone with its device. Any other setting still has to be reverted.
            message = f"the device no longer exists, so the setting is gone: {hinted.message}"
            return self._record_nothing_left(record, "gone", None, message)

    async def _undo(
        self,
        record: ChangeRecord,
        way: _LockedRevert,
        confirm: str | None,
        plate: DeviceLabel | None,
        shown: Change | None,
        led_to: Collection[str],
    ) -> ChangeEnded:
        change, back = record.change, way.back
        now = back.before if isinstance(back, Change) else await self._read_value(change)
        state = PendingValueState.OURS if now in led_to else pending_state_of(record, now)
        if state is PendingValueState.BEFORE and not way.owes:
            if change.persistence is Persistence.LOST_AT_REBOOT and isinstance(back, Change):
                require_its_device(change, back)  # a re-created device is another device
            return self._record_nothing_left(record, "restored", now, "the setting already had its old value")
        if state is PendingValueState.FOREIGN:
            raise RefusedError(
                (
                    f"{change.label} of {change.target} is now {now or 'not readable'}: neither {change.after} "
                    f"(set here) nor {change.before} (before). Another program changed it."
                ),
                hint="Nothing was changed. Set the value you want by hand.",
            )
        if not isinstance(back, Change):
            raise back
        if back.risk is Risk.DESTROYS_DATA:
            if plate is None or confirm != plate.token:
                by = "" if plate is None else f" with --confirm {plate.token}. {plate.sentence[:-1]}"
                raise RefusedError(
                    f"Undoing {change.label} of {change.target} destroys the data currently on it.",
                    hint=f"Undo {record.id} alone{by}.",
                )
            back = back if shown is None else replace(back, found=shown.found)
        ended = await self._apply(
            _for_changed_device(back, change), way.lock, undoes=record.id, old=way.change, debts=way.debts
        )
        if ended.result == "verified":
            self.journal.write_outcome(record.id, self.folder, "restored")  # ends a trial; no effect on other changes
        return ended

    async def restore_value(self, change: Change, *, undoes: str, moved: Sequence[MovedSetting] | None) -> ChangeEnded:
        """Restore the old value of a changed setting, and undo its side effects, even if other values were set since.

        `undoes`: the change of this session that is recorded as undone. `moved`: the recorded side effects of the last
        change of the setting; None if they are not known. Raises RaidbenchError if the values cannot be restored.
        """
        async with self._locked_revert(change, None, moved) as way:
            if not isinstance(way.back, Change):
                raise way.back
            return await self._apply(
                _for_changed_device(way.back, change), way.lock, undoes=undoes, old=way.change, debts=way.debts
            )

    async def remake(self, left: UnresolvedChange, *, confirm: str, plate: DeviceLabel) -> ChangeEnded:
        """Re-create an array that an interrupted change deleted and did not re-create.

        `left`: the interrupted change. `confirm`: the token that the user typed. `plate`: the label with the right
        token. Raises RefusedError for a wrong token, BlockedError if the array cannot be re-created, DeviceGoneError
        for a missing drive, StorageError.
        """
        if confirm != plate.token:
            raise RefusedError(
                f"Re-creating {left.change.target} uses {plate.description}.",
                hint=f"To confirm, use the confirmation token {plate.token}.",
            )
        async with self._locked_and_cached(left.change) as lock:
            if self.side is None:
                ended = await self._apply(await self.plan_remake(left), lock, left=left)
            else:
                await self.side.ask("remake", session=left.session, id=left.id)
                self.forget()
                ended = await verdict(self._backend(left.change.target), left.id, left.change, "")
        if ended.result == "verified":
            self.journal.write_outcome(left.id, Path(left.session), "verified")
        return ended

    async def plan_remake(self, left: UnresolvedChange) -> Change:
        """Return the plan that re-creates the array that the interrupted change deleted.

        Raises the errors of `remake`.
        """
        change = left.change
        backend = self.backends.get(change.target.backend)
        if backend is None or not isinstance(backend, Recreatable) or not change.members:
            raise await self.with_recovery_hint(change, recreation_error(change.target))
        return await backend.plan_remake(change)

    @contextlib.asynccontextmanager
    async def _locked_revert(
        self, change: Change, shown: Change | None = None, moved: Sequence[MovedSetting] | None = None
    ) -> AsyncIterator[_LockedRevert]:
        """Hold the lock of a change and yield its undo, planned from readings under that lock.

        If the undo cannot be planned, the error is yielded as `_LockedRevert.back`. A change from a log does not name
        its lock; `shown`, the plan that the user has seen, does. If the planned undo needs another lock, that lock is
        acquired instead, and everything is read again. `moved`: the recorded side effects of the change; None if they
        are not known. Raises NotFoundError, DeviceGoneError, HeldError, StorageError.
        """
        backend = self._backend(change.target)
        locked_change = change if shown is None else shown
        for _ in range(_LOCK_TRIES):
            async with self._locked_and_cached(locked_change) as lock:
                now = await self._read_beside(change)
                debts = side_effects.debts_of_revert(change, moved, now)
                owed = side_effects.with_companions(change, debts.all)
                back: Change | RaidbenchError
                try:
                    back = await plan_revert(backend, change)  # checks the change as logged, with its old companions
                    if owed != change:
                        back = await plan_revert(backend, owed)
                except (NotFoundError, DeviceGoneError):
                    raise
                except RaidbenchError as error:
                    back = error
                if not isinstance(back, Change) or set(back.locks) <= set(locked_change.locks):
                    yield _LockedRevert(
                        lock, back, owed, debts, owes=bool(side_effects.unrestored_settings(debts.restored, now))
                    )
                    return
            locked_change = back
        raise HeldError(f"The locks of {change.target} keep changing.", hint=LOOK_AGAIN)

    async def _read_value(self, change: Change) -> str | None:
        """Return the current value of the changed setting.

        If it cannot be read now, return the value that the change set, so that the change is undone.
        """
        reading = await read_for(self._backend(change.target), change)
        return change.after if reading is None else reading.now

    @contextlib.asynccontextmanager
    async def hold_change_lock(self, change: Change) -> AsyncIterator[None]:
        """Hold the lock of a change from a log inside the block.

        Its planned undo names the lock, which the log does not.
        """
        try:
            locked_change = await plan_revert(self._backend(change.target), change)
        except RaidbenchError:
            locked_change = change
        async with self.locked(locked_change):
            yield

    async def with_recovery_hint(self, change: Change, error: RaidbenchError) -> RaidbenchError:
        """Return the error about a missing device, with a recovery step as hint if parts of the device still exist."""
        backend = self.backends.get(change.target.backend)
        if backend is None or not isinstance(backend, InterruptedChangeReporter):
            return error
        first = await backend.remains(change)
        return error if first is None else type(error)(error.message, hint=first, evidence=error.evidence)

    def _record_nothing_left(self, record: ChangeRecord, result: str, now: str | None, message: str) -> ChangeEnded:
        """Record in the session and the journal that there is nothing to undo; return the recorded end."""
        ended = ChangeEnded(at=time.time(), id=record.id, result=result, now=now, message=message)
        self.emit(ended)
        self.journal.write_outcome(record.id, self.folder, result)
        return ended

    async def recover(self, left: UnresolvedChange) -> str:
        """Undo a change that a crash left unresolved; return `restored` or `conflict`.

        `conflict` means that another program has set the value, or that the old value is not known; then nothing was
        changed. Raises RaidbenchError if the device is gone or refuses the value, and HeldError while it is locked.
        Raises RefusedError if the undo destroys data, because the user has not confirmed that. Raises StorageError if
        the value was restored, but that cannot be recorded.
        """
        result = await self.restore_settings(left)
        if result == "restored":
            self.journal.write_outcome(left.id, Path(left.session), "restored")
        return result

    async def restore_settings(self, left: UnresolvedChange) -> str:
        """Undo an unresolved change; return the result as `recover` does, but do not record it in the journal."""
        change = left.change
        if change.before is None:
            return "conflict"
        try:
            async with self._locked_revert(change) as way:
                return await self._revert_or_conflict(left, way)
        except (NotFoundError, DeviceGoneError) as error:
            raise await self.with_recovery_hint(change, error) from error

    async def _revert_or_conflict(self, left: UnresolvedChange, way: _LockedRevert) -> str:
        change, back = left.change, way.back
        state = pending_state(change, back.before if isinstance(back, Change) else await self._read_value(change))
        if state is PendingValueState.FOREIGN:
            return "conflict"
        if state is PendingValueState.BEFORE and not way.owes:
            if isinstance(back, Change):
                require_its_device(change, back)
            return "restored"
        if not isinstance(back, Change):
            raise back
        if back.risk is Risk.DESTROYS_DATA:
            raise RefusedError(
                f"Restoring {change.label} of {change.target} destroys the data currently on it.",
                hint=f"Keep the present value, or set {change.key}={change.before} and confirm it.",
            )
        is_own_session = left.session == str(self.folder)
        undoes = left.id if is_own_session else f"{Path(left.session).name}/{left.id}"
        ended = await self._apply(
            _for_changed_device(back, change), way.lock, undoes=undoes, left=left, old=way.change, debts=way.debts
        )
        if ended.result != "verified":
            raise RaidbenchError(f"{change.label} of {change.target}: {(ended.message or ended.result).rstrip('.')}.")
        return "restored"

    def _backend(self, target: Target) -> SettingsBackend:
        backend = self.backends.get(target.backend)
        if not isinstance(backend, SettingsBackend):
            raise NotFoundError(
                f"No backend manages {target}.", hint=("Run `raidbench doctor` to see what is missing.")
            )
        return backend


@dataclass(frozen=True, slots=True)
class _LockedRevert:
    """An undo, planned under its acquired lock."""

    lock: HeldLock
    """The acquired lock."""
    back: Change | RaidbenchError
    """The planned undo, or the error that says why it cannot be planned."""
    change: Change
    """The change to undo, with the companion settings that its undo restores."""
    debts: Debts
    """Values of other settings that the undo must restore."""
    owes: bool
    """Whether a side effect still has to be undone: a setting to restore does not have its old value."""


def moved_values(ends: Iterable[ChangeEnded], target: Target, key: str) -> tuple[str | None, ...]:
    """Return the values that a setting got as a side effect of these changes."""
    moved = (setting for ended in ends for setting in ended.moved or () if setting.explained)
    return tuple(setting.now for setting in moved if (setting.target, setting.key) == (target, key))


def _for_changed_device(back: Change, change: Change) -> Change:
    """Return the undo with the identity of the device that was changed, so that another device is refused."""
    return replace(back, identity=change.identity)
