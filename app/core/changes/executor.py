"""Changing a setting: lock, look again, intent on disk, write, read back, say how it ended."""

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
from backends.change import Change
from backends.change_steps import LOOK_AGAIN
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
"""Sees to it that a watchdog waits for this deadline. Raises RefusedError."""


PATIENCE = 5.0
"""Seconds that whoever takes something back waits for a program that a killed raidbench left behind."""

_LOOK_AGAIN = 0.1
_LOCK_TRIES = 3


class ChangeExecutor:
    """Applies changes one at a time. What it promises is on disk before the first command."""

    def __init__(
        self,
        *,
        backends: Mapping[str, InventoryBackend | SettingsBackend],
        journal: Journal,
        locks: LockPlace,
        folder: Path,
        emit: Emit,
        next_id: Callable[[], str],
        arm: Arm | None = None,
        controller_of: Callable[[Target], Target | None] = lambda _target: None,
        disk_of: Callable[[Target], Target | None] = lambda _target: None,
        side: HelperClient | None = None,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        """`side`: the helper that makes changes, None where this process does; `forget` hears that it did.

        `disk_of`: the kernel's disk that another target is.
        """
        self._backends = backends
        self._journal = journal
        self._locks = locks
        self._folder = folder
        self._emit = emit
        self._next_id = next_id
        self._arm_watchdog = arm
        self._controller_of = controller_of
        self._disk_of = disk_of
        self._side = side
        self._forget = forget

    async def apply(
        self, change: Change, *, undoes: str | None = None, until: float | None = None, in_set: bool = False
    ) -> ChangeEnded:
        """Make the change and verify it. Not cancelled half-way: whoever cancels waits until it came to its end.

        With `until` (CLOCK_BOOTTIME) it is a trial: a watchdog is armed first and takes it back then. `undoes`: the
        change of this session that it takes back. `in_set`: whether a value that already is the wanted one is enough.

        Raises RefusedError (somebody else holds the device, another trial is not decided, the watchdog cannot be
        armed, or the value is not what it was when planned), StorageError (nothing was done unless its message says
        so).
        """
        async with self._locked_and_cached(change, wait=0.0) as lock:
            if in_set and await is_as_wanted(self._backend(change.target), change):
                self._require_no_other_trial(change, until)  # which would take it away again
                return ChangeEnded(at=time.time(), id="", result="verified", now=change.after)
            return await self._apply(change, lock, undoes=undoes, until=until, as_read=False)

    @contextlib.asynccontextmanager
    async def locked(self, change: Change, *, wait: float | None = None) -> AsyncIterator[HeldLock]:
        """Hold the lock of a change while inside; nobody sets anything under it then.

        `wait`: seconds that a program which a killed raidbench left behind is waited for, if not PATIENCE.
        Raises HeldError naming who is at it, StorageError.
        """
        with contextlib.ExitStack() as held:
            yield await self._take_locks(held, change, time.monotonic() + (PATIENCE if wait is None else wait))

    @contextlib.asynccontextmanager
    async def _locked_and_cached(self, change: Change, *, wait: float | None = None) -> AsyncIterator[HeldLock]:
        """As `locked`; what a program tells under the lock it is asked once, until something is set."""
        async with self.locked(change, wait=wait) as lock:
            with cached_since(time.monotonic()):
                yield lock

    async def _take_locks(self, held: contextlib.ExitStack, change: Change, end: float) -> HeldLock:
        while True:
            left = self._left_running(change)
            try:
                return held.enter_context(self._exclusive_lock(change))
            except HeldError:
                if left is None:  # somebody living is at it
                    raise
                if time.monotonic() >= end:
                    raise still_running_error(left) from None
            await asyncio.sleep(_LOOK_AGAIN)

    @contextlib.contextmanager
    def _exclusive_lock(self, change: Change) -> Iterator[HeldLock]:
        with contextlib.ExitStack() as held:
            purpose = f"changing {change.key} of {change.target}"
            lock, *_ = [held.enter_context(hold_lock(self._locks, name, purpose)) for name in change.locks]
            if left := self._left_running(change):  # the lock alone does not tell: it may have closed what it inherited
                raise still_running_error(left)
            yield lock

    def _left_running(self, change: Change) -> UnresolvedChange | None:
        """What a program of a killed raidbench still sets under the lock of a change."""
        return next((left for left in self._journal.left_running() if left.change.shares_lock(change)), None)

    async def apply_all(
        self, changes: Sequence[Change], *, until: float | None = None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Make several changes in their order; the first that is not verified is the last.

        One change may move another's starting value (a new scheduler resets nr_requests): what follows on the same
        target is planned again, and refused if it would take other steps than those that were shown. Steps that also
        carry the value of a setting changed before in the same set (two fields of one register) may differ by that.
        A step whose value already is the wanted one is done: nothing is set or recorded (`ChangeEnded.was_set`).
        At the end all of them are read again: a value that a later change of the set has moved is set once more, and
        told with its change a second time; so is one that somebody else has set meanwhile, as `differs`.
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
        """Return a change of a set as it is made after those before it. Raises RefusedError where it differs."""
        done = {change.key for change, _ in made if change.target == shown.target}
        moved = _moved_by([ended for _, ended in made], shown.target, shown.key)
        if not done and not moved:
            return shown
        with cached_since(time.monotonic()):
            if await is_as_wanted(self._backend(shown.target), shown):
                return shown
            change = await self._backend(shown.target).plan(shown.target, shown.key, shown.requested)
        if change.writes != shown.writes and done.isdisjoint(change.shares):
            raise RefusedError(
                f"{change.label} of {change.target} would now take other steps than those shown.",
                hint="Review it again.",
            )
        return change.as_in_set(shown, moved=bool(moved))

    async def _verify_set(
        self, made: Mapping[tuple[Target, str], tuple[Change, ChangeEnded]], until: float | None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Read all that a set asked for again; yield what was set once more, and what is not as asked for."""
        ends = [ended for _, ended in made.values()]
        latest = dict(made)
        now = await self._read_values([change for change, _ in made.values()])
        for setting, (change, _) in made.items():
            if now[setting] == change.after or now[setting] not in _moved_by(ends, *setting):
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
        """Return what the settings of changes read now; a program is asked once."""
        with cached_since(time.monotonic()):
            readings = {
                (change.target, change.key): await read_for(self._backend(change.target), change) for change in changes
            }
        return {setting: None if reading is None else reading.now for setting, reading in readings.items()}

    def _record_lost_value(self, change: Change, ended: ChangeEnded, now: str | None) -> ChangeEnded:
        """Put on record that a value of a set did not stay. Whose value this is, nobody saw: it is none of ours."""
        message = f"{change.label} reads {now or 'nothing'} at the end of the set: it was changed since it was set"
        lost = replace(ended, at=time.time(), result="differs", now=None, message=message)
        if ended.was_set:
            self._emit(lost)
        return lost

    async def _announce_set(self, changes: Sequence[Change]) -> None:
        """Tell the helper what is changed together. Raises RaidbenchError where that cannot be planned any more."""
        if self._side is None:
            return
        sets: dict[Target, dict[str, str]] = {}
        for change in changes:
            sets.setdefault(change.target, {})[change.key] = change.requested
        for target, values in sets.items():
            await self._side.ask("together", target=str(target), scope=target.scope, values=values)

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
        """See `apply`; its lock is held.

        `old`: the change that it takes back. `left`: what stands open in the journal, whose own intent covers the way
        back as well. `as_read`: whether it was planned from what was read under this lock. `debts`: what a way back
        owes to other settings.
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
        change_id = self._next_id()
        covered = left is not None and self._side is None
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
        custody.set(self._tracking(change_id, lock, covering))  # in this task and what it starts, nowhere else
        try:
            await self._run_steps(backend, change_id, change)
        except RaidbenchError as error:
            message = " ".join(filter(None, (error.message, error.hint)))
            surprise = error if isinstance(error, DeviceGoneError) else None
        except (Exception, asyncio.CancelledError) as error:  # recorded like any failure, and then told
            message = f"raidbench failed while setting it: {type(error).__name__}: {error}".rstrip(": ")
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
        """As `_read_beside`; nothing where the target is gone, which the change itself finds out."""
        try:
            return await self._read_beside(change)
        except (DeviceGoneError, NotFoundError):
            return {}

    async def _read_beside(self, change: Change) -> Values:
        """Return all settings of the target, and of the kernel's disk that it is.

        Raises DeviceGoneError, NotFoundError.
        """
        disk = self._disk_of(change.target) or side_effects.disk_beside(change)
        return await side_effects.read_beside(self._backends, change, disk if disk != change.target else None)

    async def _restore_side_effects(
        self, back: Change, debts: Debts, lock: HeldLock, undoes: str | None, left: UnresolvedChange | None
    ) -> str:
        """Bring about what else a way back owes: settings that moved along and did not come back by its own steps.

        Returns a sentence about what could not be restored, "" if all is as wanted.
        """
        if not debts.all:
            return ""
        trouble: list[str] = []
        for target, key in side_effects.unrestored_settings(debts.all, await self._try_read_beside(back)):
            value = debts.all[target, key]
            try:
                change = await self._backend(target).plan(target, key, value)
                if back.key in change.moves:  # two views of one thing: setting this one would move that one again
                    continue
                if unattended_reason(change) or not set(change.locks) <= set(back.locks):
                    raise BlockedError(f"{change.label} of {target} moved along and is not put back by itself.")
                ended = await self._apply(change, lock, undoes=undoes, left=left)
                if ended.result != "verified":
                    raise BlockedError(f"{change.label} of {target} was not put back: {ended.message}.")
            except RaidbenchError as error:
                if (target, key) in debts.restored:
                    trouble.append(f"{key} of {target} is not {value} again: {error.message}")
        return " ".join(trouble)

    async def _record_intent(self, intended: ChangeIntended, change: Change, *, covered: bool) -> None:
        """Put what is about to be done on disk. What an open intent covers is done even where nothing can be written.

        Raises StorageError, RefusedError: then nothing may be done.
        """
        if covered:
            with contextlib.suppress(StorageError):
                self._emit(intended)
            return
        self._emit(intended)
        try:
            if intended.trial_until is not None and isinstance(self._locks, Path):
                register_journal(self._locks, self._journal)
            self._journal.write_intent(intended.id, self._folder, change, until=intended.trial_until)
            if intended.trial_until is not None:
                await self._arm(intended.trial_until)
        except (StorageError, RefusedError) as error:
            failed = ChangeEnded(
                at=time.time(), id=intended.id, result="failed", now=change.starts_from, message=error.message
            )
            with contextlib.suppress(StorageError):
                self._emit(failed)
            if isinstance(error, RefusedError):
                self._journal.write_outcome(intended.id, self._folder, "failed")
            raise

    async def _plan_in_helper(self, change: Change, old: Change | None) -> None:
        """Let the helper plan it as well. Raises RefusedError where it would do something else than was shown."""
        if self._side is None:
            return
        companions = None if old is None else old.companions
        await self._side.ask("plan", change=unstructure(change), back=companions)

    async def _run_steps(self, backend: SettingsBackend, change_id: str, change: Change) -> None:
        """Take the steps, here or there."""
        if self._side is None:
            await backend.apply(change)
            return
        try:
            await self._side.ask("apply", session=str(self._folder), id=change_id)
        finally:
            self._forget()

    def _tracking(self, change_id: str, lock: HeldLock, covering: UnresolvedChange | None) -> ProcessTracking:
        """Programs of the change hold its lock too, and are in the journal before they begin.

        Of a way back that an open intent covers they are noted with that, where anything can be noted.
        """
        id, folder = (change_id, self._folder) if covering is None else (covering.id, Path(covering.session))

        def begins(pid: int, program: str) -> None:
            try:
                self._journal.write_setter(id, folder, pid, program)
            except StorageError:
                if covering is None:
                    raise
            lock.note_inherited_lock(pid, program)

        return ProcessTracking(lock=lock.descriptor, begins=begins)

    async def _arm(self, until: float) -> None:
        if self._arm_watchdog is None:
            raise RefusedError("There are no trials on this host.")
        await self._arm_watchdog(until)

    def _require_no_other_trial(self, change: Change, until: float | None) -> None:
        """A trial of the same set may go on; another undecided one on this disk or card stands in the way.

        One anywhere on the same controller stands in the way of a further trial: there is one at a time.
        """
        own = self._controller_of(change.target)
        elsewhere = trials_elsewhere(self._locks, self._journal) if isinstance(self._locks, Path) else ()
        for trial in (*self._journal.trials(), *elsewhere):
            if until is not None and trial.until == until and trial.session == str(self._folder):
                continue
            same_place = trial.change.target == change.target or trial.change.shares_lock(change)
            same_controller = own is not None and self._controller_of(trial.change.target) == own
            if same_place or (until is not None and same_controller):
                raise undecided_trial_error(trial)

    def _record_end(self, change: Change, ended: ChangeEnded, *, covered: bool) -> None:
        """In the session and in the journal, and in the other one if one cannot be written.

        Of what an open intent covers, whoever closes that intent tells the journal, and what cannot be told is not
        held against it. Raises StorageError saying what was done: the change is made, whatever the disk says.
        """
        trouble: StorageError | None = None
        try:
            self._emit(ended)
        except StorageError as error:
            trouble = error
        if covered:
            return
        try:
            self._journal.write_outcome(ended.id, self._folder, ended.result)
        except StorageError as error:
            trouble = trouble or error
        if trouble is not None:
            raise StorageError(
                f"{change.label} of {change.target} was set to {change.after} and reads {ended.now}, "
                f"but that could not be recorded: {trouble.message}",
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
        """Take a change back, as its backend plans it now; a value that is neither new nor old is left alone.

        So is what moved along with it and has been set since. `led_to`: values to which side effects of later changes
        have moved it. `confirm`: the word of its nameplate, typed by somebody, where taking it back destroys
        data; `shown`: the plan of it that this somebody has seen.
        Raises RefusedError, BlockedError, NotFoundError, StorageError.
        """
        change = record.change
        require_reversible(change)
        try:
            moved = None if record.end is None else record.end.moved
            async with self._locked_revert(change, shown, moved) as way:
                return await self._undo(record, way, confirm, plate, shown, led_to)
        except UnknownSettingError:  # the device is there
            raise
        except (NotFoundError, DeviceGoneError) as error:
            return self._record_device_gone(record, await self.with_recovery_hint(change, error))

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
                require_its_device(change, back)  # any other may have been made anew since, by us
            return self._record_nothing_left(record, "restored", now, "it already had its old value")
        if state is PendingValueState.FOREIGN:
            raise RefusedError(
                f"{change.label} of {change.target} is now {now or 'not readable'}, neither {change.after} "
                f"(set here) nor {change.before} (before): somebody else changed it.",
                hint="Nothing was touched. Set the value you want by hand.",
            )
        if not isinstance(back, Change):
            raise back
        if back.risk is Risk.DESTROYS_DATA:
            if plate is None or confirm != plate.token:
                by = "" if plate is None else f", and confirm it by the word {plate.token}. {plate.sentence[:-1]}"
                raise RefusedError(
                    f"Taking {change.label} of {change.target} back destroys what lies on it now.",
                    hint=f"Undo {record.id} alone{by}.",
                )
            back = back if shown is None else replace(back, found=shown.found)
        ended = await self._apply(
            _for_changed_device(back, change), way.lock, undoes=record.id, old=way.change, debts=way.debts
        )
        if ended.result == "verified":
            self._journal.write_outcome(record.id, self._folder, "restored")  # ends a trial; says nothing new otherwise
        return ended

    async def restore_value(self, change: Change, *, undoes: str, moved: Sequence[MovedSetting] | None) -> ChangeEnded:
        """Bring back the value that a change found, and what moved along, whatever was set since in its place.

        `undoes`: the change of this session that is recorded as taken back; `moved`: the side effects of the last one.
        Raises RaidbenchError where that is not possible.
        """
        async with self._locked_revert(change, None, moved) as way:
            if not isinstance(way.back, Change):
                raise way.back
            return await self._apply(
                _for_changed_device(way.back, change), way.lock, undoes=undoes, old=way.change, debts=way.debts
            )

    async def remake(self, left: UnresolvedChange, *, confirm: str, plate: DeviceLabel) -> ChangeEnded:
        """Make what a change of the journal deleted and, cut short, did not make again.

        `confirm`: the word of its nameplate, typed by somebody. Raises RefusedError, BlockedError where nothing can,
        DeviceGoneError for a drive that is not there, StorageError.
        """
        if confirm != plate.token:
            raise RefusedError(
                f"Making {left.change.target} again takes {plate.description}.",
                hint=f"Confirm it by the word {plate.token}.",
            )
        async with self._locked_and_cached(left.change) as lock:
            if self._side is None:
                ended = await self._apply(await self.plan_remake(left), lock, left=left)
            else:
                await self._side.ask("remake", session=left.session, id=left.id)
                self._forget()
                ended = await verdict(self._backend(left.change.target), left.id, left.change, "")
        if ended.result == "verified":
            self._journal.write_outcome(left.id, Path(left.session), "verified")
        return ended

    async def plan_remake(self, left: UnresolvedChange) -> Change:
        """What would make it. Raises as `remake`."""
        change = left.change
        backend = self._backends.get(change.target.backend)
        if backend is None or not isinstance(backend, Recreatable) or not change.members:
            error = BlockedError(f"{change.target} is gone, and cannot be made again from here.")
            raise await self.with_recovery_hint(change, error)
        return await backend.plan_remake(change)

    @contextlib.asynccontextmanager
    async def _locked_revert(
        self, change: Change, shown: Change | None = None, moved: Sequence[MovedSetting] | None = None
    ) -> AsyncIterator[_LockedRevert]:
        """Hold the lock of what was changed, and what takes it back, planned from what is read under that lock.

        `moved`: what moved along with it, None where that is not known. Why it cannot be planned where it cannot, with
        the lock that is known. A log does not say which lock that is, the plan that somebody was `shown` does: where it
        is another than that, or without one than the device's names tell, it is taken instead, and everything read
        again.
        Raises NotFoundError, DeviceGoneError, HeldError, StorageError.
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
                    back = await plan_revert(backend, change)  # what a log says is judged, whatever comes back of it
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
        raise HeldError(f"{change.target} has another lock each time.", hint=LOOK_AGAIN)

    async def _read_value(self, change: Change) -> str | None:
        """What it reads; a setting that cannot be seen now is still to go back."""
        reading = await read_for(self._backend(change.target), change)
        return change.after if reading is None else reading.now

    @contextlib.asynccontextmanager
    async def hold_change_lock(self, change: Change) -> AsyncIterator[None]:
        """As `locked`, for a change of a log, which does not say under which lock it is made."""
        try:
            locked_change = await plan_revert(self._backend(change.target), change)
        except RaidbenchError:
            locked_change = change
        async with self.locked(locked_change):
            yield

    async def with_recovery_hint(self, change: Change, error: RaidbenchError) -> RaidbenchError:
        """The error about a thing that is not there, with what to do first where its parts still hold it."""
        backend = self._backends.get(change.target.backend)
        if backend is None or not isinstance(backend, InterruptedChangeReporter):
            return error
        first = await backend.remains(change)
        return error if first is None else type(error)(error.message, hint=first, evidence=error.evidence)

    def _record_device_gone(self, record: ChangeRecord, error: RaidbenchError) -> ChangeEnded:
        """A setting that lives in the kernel went with its device; any other one is still to be taken back.

        Raises the error for the latter.
        """
        if record.change.persistence is not Persistence.LOST_AT_REBOOT:
            raise error
        return self._record_nothing_left(
            record, "gone", None, f"the device is gone, and the setting with it: {error.message}"
        )

    def _record_nothing_left(self, record: ChangeRecord, result: str, now: str | None, message: str) -> ChangeEnded:
        """There is nothing left to be taken back: so in session and journal."""
        ended = ChangeEnded(at=time.time(), id=record.id, result=result, now=now, message=message)
        self._emit(ended)
        self._journal.write_outcome(record.id, self._folder, result)
        return ended

    async def recover(self, left: UnresolvedChange) -> str:
        """Restore what a crash left unresolved: `restored`, or `conflict` with nothing touched.

        Raises RaidbenchError when the device is gone or refuses, HeldError while somebody is at it, RefusedError when
        putting it back destroys data: nobody has named the device for that. StorageError: it is back, and cannot be
        recorded.
        """
        result = await self.restore_settings(left)
        if result == "restored":
            self._journal.write_outcome(left.id, Path(left.session), "restored")
        return result

    async def restore_settings(self, left: UnresolvedChange) -> str:
        """As `recover`; the journal is not told of it yet."""
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
                f"Putting {change.key} of {change.target} back destroys what lies on it now.",
                hint=f"Keep it, or set {change.key}={change.before} and confirm that.",
            )
        own = left.session == str(self._folder)
        undoes = left.id if own else f"{Path(left.session).name}/{left.id}"
        ended = await self._apply(
            _for_changed_device(back, change), way.lock, undoes=undoes, left=left, old=way.change, debts=way.debts
        )
        if ended.result != "verified":
            raise RaidbenchError(f"{change.key} of {change.target}: {(ended.message or ended.result).rstrip('.')}.")
        return "restored"

    def _backend(self, target: Target) -> SettingsBackend:
        backend = self._backends.get(target.backend)
        if not isinstance(backend, SettingsBackend):
            raise NotFoundError(f"Nothing here manages {target}.", hint="`raidbench doctor` says what is missing.")
        return backend


@dataclass(frozen=True, slots=True)
class _LockedRevert:
    """A way back, planned under the lock that is held."""

    lock: HeldLock
    """The lock."""
    back: Change | RaidbenchError
    """What takes the change back, or why that cannot be planned."""
    change: Change
    """The change that is taken back, with the companions that its way back brings along."""
    debts: Debts
    """What it owes to other settings."""
    owes: bool
    """Whether one of those that it restores has another value now."""


def _moved_by(ends: Iterable[ChangeEnded], target: Target, key: str) -> tuple[str | None, ...]:
    """Return the values to which side effects of earlier changes of a set have moved a setting."""
    moved = (setting for ended in ends for setting in ended.moved or () if setting.explained)
    return tuple(setting.now for setting in moved if (setting.target, setting.key) == (target, key))


def _for_changed_device(back: Change, change: Change) -> Change:
    """The way back for the very device that was changed: what applies it compares that with the one that is there."""
    return replace(back, identity=change.identity)
