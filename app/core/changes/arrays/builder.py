"""Creates and deletes arrays: locks and checks the drives again, writes the journal, runs the steps, and verifies."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.changes.arrays.array_journal import ArrayJournal, ArrayJournalEntry, ArrayStage
from app.core.changes.arrays.candidates import SOFTWARE, plan_array
from app.core.session.events import NoteAdded
from app.core.session.locks import HeldLock, hold_lock
from app.core.session.unit_labels import setting_label, value_text
from backends.array_planning import (
    ArrayMatch,
    ArrayMatchState,
    ArrayPlan,
    Candidate,
    confirm_labels,
    require_free_drive,
)
from backends.change import ChangeStep
from backends.device_label import DeviceLabel, confirm_token, drive_label
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    HeldError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    StorageError,
    ToolFailedError,
)
from backends.free_drives import kernel_candidate
from backends.guard import content_changed_error, require_free
from backends.host import ProcessTracking, WriteDenied, completed_when_cancelled, custody
from backends.identity import new_content
from backends.model import Inventory, Target
from backends.protocol import ArrayCreator
from backends.system.caching import uncached
from backends.text import clean

if TYPE_CHECKING:
    from pathlib import Path

    from app.core.session.inventory import SessionInventory
    from app.core.session.recorder import Recorder

NODE_SECONDS = 30.0
"""Seconds to wait for the device node of a new array.

The kernel scans for the array when the controller notifies it (megaraid_sas).
"""

_LOOK_AGAIN = 0.5


class ArrayBuilder:
    """Creates arrays, and deletes arrays that it created. The intent is on disk before the first command runs."""

    def __init__(self, record: Recorder, hardware: SessionInventory, folder: Path) -> None:
        """`folder`: the folder of the journal of changes."""
        self._record, self._hardware = record, hardware
        self.journal = ArrayJournal(folder)

    @completed_when_cancelled
    async def create(self, plan: ArrayPlan, *, assume_clean: bool, typed: str | None) -> ArrayMatch:
        """Create the array of a plan that the user has seen; return the created array and its parts.

        `typed`: the confirmation token of the drives, which are read again under the lock. An array whose policies
        differ from the plan is kept, and `differs` reports the differences. Raises RefusedError, BlockedError,
        HeldError, DeviceGoneError if nothing was done. Raises StorageError, ToolFailedError if the creation failed: its
        parts are then deleted, or the message names the remaining ones.
        """
        session = self._record.require_recording()
        await self.require_array_support(plan.request.drives[0].controller)
        self.require_new_name(plan.request.name)
        token = confirm_token(confirm_labels(plan.request.drives))
        if typed != token:
            raise RefusedError("The drives were not confirmed.", hint=f"Confirmation token: {token}.")
        array = plan.created_array()
        builder = self._builder(array.controller)
        with self._locked(plan.locks, "making", array.name) as lock:
            await self._require_as_shown(plan, assume_clean=assume_clean)
            self.journal.write_begin(array, session)
            trouble = await self._run(builder, array.name, array.controller, plan.steps, lock)
            try:
                with uncached():
                    made = await self._wait_for_node(self._entry(array.name))
            except RaidbenchError as error:
                raise _unknown_result_error(array.name, "was created", trouble, error) from error
            if made.state is ArrayMatchState.COMPLETE:
                self.journal.write_stage(array.name, ArrayStage.MADE, made.uuids)
                made = replace(made, differs=await self._policy_differences(plan, made))
                text = " ".join(
                    (
                        f"{_array_text(plan)}. To delete it: `raidbench array delete {array.name}`.",
                        *made.differs.values(),
                    )
                )
                self._note(f"Created the array {array.name}: {text}")
                return made
            raise await self._incomplete_error(builder, self._entry(array.name), made, lock, trouble)

    async def _incomplete_error(
        self,
        builder: ArrayCreator,
        entry: ArrayJournalEntry,
        made: ArrayMatch,
        lock: HeldLock,
        trouble: RaidbenchError | None,
    ) -> RaidbenchError:
        """Delete the parts of an array that was not created completely; return the error that reports the failure."""
        array = entry.array
        why = "its tool reported success." if trouble is None else trouble.message
        if made.state is ArrayMatchState.PARTIAL:
            try:
                await self._require_empty(made)
                made = await self._remove(builder, entry, made, lock)
            except RaidbenchError as error:
                return ToolFailedError(
                    f"{array.name} was created only in part: {why} Removing that part failed, too: {error.message}",
                    hint="Run `raidbench recover` to show and delete the remains.",
                    evidence=error.evidence,
                )
        evidence = "" if trouble is None else trouble.evidence
        if made.state is ArrayMatchState.ABSENT:
            self.journal.write_stage(array.name, ArrayStage.GONE)
            return ToolFailedError(
                f"{array.name} was not created: {why}",
                hint="All its parts were deleted. List the drives again: `raidbench array list`.",
                evidence=evidence,
            )
        return ToolFailedError(
            f"Whether {array.name} was created is unknown: {why} {made.sentence}",
            hint="Check the array with the controller's tool, then run `raidbench recover`.",
            evidence=evidence,
        )

    @completed_when_cancelled
    async def delete(self, name: str, *, typed: str | None) -> ArrayMatch:
        """Delete an array that raidbench created, if it is complete and empty; return the parts found before that.

        Raises NotFoundError for a name that is not in the journal, RefusedError if the array is in use or differs from
        the created one, HeldError, StorageError, ToolFailedError.
        """
        self._record.require_recording()
        if typed != name:
            raise RefusedError(
                "The array was not confirmed.", hint=(f"Its confirmation token is its name: {clean(name, 40)}.")
            )
        entry, match = await self.require_deletable(name, note=True)
        builder = self._builder(entry.array.controller)
        with self._locked(match.locks, "deleting", name) as lock:
            entry, again = await self.require_deletable(name, note=True)
            if again.remove != match.remove:
                raise RefusedError(
                    f"{name} is not the array that you confirmed. Nothing was deleted.",
                    hint=("Run `raidbench array list` and try again."),
                )
            remaining = await self._remove(builder, entry, again, lock)
        if remaining.state is not ArrayMatchState.ABSENT:
            raise ToolFailedError(
                f"{name} still exists: {remaining.sentence}", hint="Run `raidbench recover` to finish deleting it."
            )
        self._note(f"Deleted the array {name}.")
        return match

    async def require_deletable(self, name: str, *, note: bool) -> tuple[ArrayJournalEntry, ArrayMatch]:
        """Check that an array which raidbench created may be deleted; return its journal entry and parts.

        Changes nothing. `note`: whether a missing array is recorded as gone in the journal. Raises the errors of
        `delete`.
        """
        entry = self.journal.entry(name)
        if entry is None:
            raise NotFoundError(
                f"raidbench did not create an array {clean(name, 40)!r} here, so it does not delete it.",
                hint=(
                    "`raidbench array list` shows the arrays that raidbench created. Delete any other array "
                    "with its own tool."
                ),
            )
        await self.require_array_support(entry.array.controller)
        _require_idle(entry)
        match = await self.find(entry)
        if match.state is ArrayMatchState.ABSENT:
            if note:
                self.journal.write_stage(name, ArrayStage.GONE)
            raise NotFoundError(f"{name} no longer exists. {match.sentence}")
        if match.state is not ArrayMatchState.COMPLETE:
            hint = "If its creation was interrupted, run `raidbench recover` to delete its remains."
            raise RefusedError(f"{name} was not deleted: {match.sentence}", hint=_with_steps(hint, match))
        if not match.remove:
            raise RefusedError(f"{name} was not deleted: {match.sentence}", hint="Its content cannot be checked.")
        await self._require_empty(match)
        return entry, match

    async def find(self, entry: ArrayJournalEntry) -> ArrayMatch:
        """Return which parts of an array recorded in the journal exist now.

        Raises ToolFailedError, BlockedError.
        """
        with uncached():
            return await self._builder(entry.array.controller).find_made(entry.array)

    def unfinished(self) -> tuple[ArrayJournalEntry, ...]:
        """Return the arrays whose state is not known and on which no process is working. Never raises."""
        return tuple(entry for entry in self.journal.entries() if entry.unfinished)

    @completed_when_cancelled
    async def resolve(self, entry: ArrayJournalEntry, *, remove: bool) -> ArrayMatch:
        """Record an unfinished array as created if it is complete, or as gone if it is missing; return its parts.

        `remove`: whether to delete the parts of an incomplete array, if they are empty and unused. Parts of unknown
        origin are never deleted. Raises HeldError, RefusedError, StorageError, ToolFailedError.
        """
        self._record.require_recording()
        await self.require_array_support(entry.array.controller)
        _require_idle(entry)
        match = await self.find(entry)
        name = entry.array.name
        if match.state is ArrayMatchState.ABSENT:
            self.journal.write_stage(name, ArrayStage.GONE)
        elif match.state is ArrayMatchState.COMPLETE:
            self.journal.write_stage(name, ArrayStage.MADE, match.uuids)
        elif match.state is ArrayMatchState.PARTIAL and remove:
            builder = self._builder(entry.array.controller)
            with self._locked(match.locks, "deleting the remains of", name) as lock:
                again = await self.find(entry)
                if again.remove != match.remove:
                    raise RefusedError(
                        f"The remains of {name} have changed since they were shown. Nothing was deleted.",
                        hint=("Run `raidbench array list` and try again."),
                    )
                await self._require_empty(again)
                return await self._remove(builder, entry, again, lock)
        return match

    def leave_as_is(self, entry: ArrayJournalEntry) -> None:
        """Leave an unfinished array as it is, and do not ask about it again.

        Raises HeldError while a program still works on the array, StorageError if this cannot be recorded.
        """
        _require_idle(entry)
        self.journal.write_stage(entry.array.name, ArrayStage.LEFT)

    # -- checks, locks, and the commands that create or delete an array -----------------------------------------------

    async def require_array_support(self, controller: Target | None) -> None:
        """Check that this process can create and delete arrays. Raises RefusedError, BlockedError if it cannot."""
        self._builder(controller)
        host = self._record.host
        if await host.writable("/sys") is WriteDenied.READ_ONLY:
            raise RefusedError(
                "Read-only mode: arrays are neither created nor deleted.", hint="Start without --read-only."
            )
        if host.root_side is not None or not host.is_root:
            raise RefusedError(
                "Arrays can only be created and deleted as root, not through the root helper.",
                hint="Start raidbench as root.",
            )
        if (unknown := self.journal.unreadable_error()) is not None:
            raise unknown

    def require_new_name(self, name: str) -> None:
        """Check that no array has this name, because the name identifies the array.

        Raises RefusedError if an array has it.
        """
        names = [array.name for array in self._record.session.inventory.arrays]
        if name in names or self.journal.entry(name) is not None:
            raise RefusedError(f"An array named {clean(name, 40)} exists already.", hint="Choose another name.")

    def _builder(self, controller: Target | None) -> ArrayCreator:
        backend = self._hardware.machine.backends[SOFTWARE if controller is None else controller.backend]
        if not isinstance(backend, ArrayCreator):
            raise BlockedError(
                f"raidbench does not create arrays on {controller or 'this machine'}; it only shows the commands."
            )
        return backend

    def _entry(self, name: str) -> ArrayJournalEntry:
        entry = self.journal.entry(name)
        if entry is None:
            raise StorageError(f"The entry of {name} is missing from the journal.", hint=f"Check {self.journal.file}.")
        return entry

    @contextlib.contextmanager
    def _locked(self, locks: Sequence[str], doing: str, name: str) -> Iterator[HeldLock]:
        """Hold the locks of an array inside the block.

        At the end, an array whose state is still unknown is marked as free for other processes.
        """
        with contextlib.ExitStack() as held:
            taken = [held.enter_context(hold_lock(self._record.locks, lock, f"{doing} {name}")) for lock in locks]
            try:
                yield taken[0]
            finally:
                with contextlib.suppress(StorageError):
                    self.journal.release(name)

    async def _require_as_shown(self, plan: ArrayPlan, *, assume_clean: bool) -> None:
        """Check that every drive is the one that the user saw, is free and has no new content.

        Raises RaidbenchError.
        """
        machine = self._hardware.machine
        with uncached():
            shown_drives = plan.request.drives
            present = [await self._read_again(shown) if shown.is_visible else shown for shown in shown_drives]
            if confirm_token(confirm_labels(present)) != confirm_token(confirm_labels(shown_drives)):
                raise DeviceGoneError(
                    "The drives are not those that you confirmed. Nothing was created.",
                    hint="Run `raidbench array list` and try again.",
                )
            if plan.request.drives[0].controller is not None:
                again = await plan_array(machine, plan.request, assume_clean=assume_clean)
                if (again.steps, again.before) != (plan.steps, plan.before):
                    raise RefusedError(
                        (
                            f"The arrays or drives of {plan.request.drives[0].controller} have changed since they "
                            "were shown. Nothing was created."
                        ),
                        hint="Review the plan again.",
                    )

    async def _read_again(self, shown: Candidate) -> Candidate:
        """Return a drive in its present state. Raises RaidbenchError unless it is free and as shown."""
        host, inventory = self._hardware.machine.host, self._record.session.inventory
        drive = next((drive for drive in inventory.drives if drive.target == shown.drive), None)
        if drive is None:
            raise DeviceGoneError(
                f"{shown.place} does not exist.", hint=("List the drives again: `raidbench array list`.")
            )
        now = await kernel_candidate(host, drive)
        require_free_drive(now)
        if shown.identity is None or now.identity is None or not shown.identity.same_device(now.identity):
            raise DeviceGoneError(
                f"{shown.place} is not the drive that you confirmed. Nothing was created.",
                hint=("Run `raidbench array list` and try again."),
            )
        if new := new_content(now.lies, shown.lies):
            raise content_changed_error(shown.place, new)
        await require_free(host, shown.place, shown.signatures)
        return now

    async def _run(
        self,
        builder: ArrayCreator,
        name: str,
        controller: Target | None,
        steps: Sequence[ChangeStep],
        lock: HeldLock,
    ) -> RaidbenchError | None:
        """Execute steps in order; return the error of the first step that failed, or None if all succeeded."""

        def begins(pid: int, program: str) -> None:
            self.journal.write_setter(name, pid, program)
            lock.note_inherited_lock(pid, program)

        async def work() -> None:
            custody.set(ProcessTracking(lock=lock.descriptor, begins=begins))  # for this task and its children only
            await builder.run_making(controller, steps)

        try:
            await asyncio.create_task(work())
        except RaidbenchError as error:
            return error
        return None

    async def _remove(
        self, builder: ArrayCreator, entry: ArrayJournalEntry, match: ArrayMatch, lock: HeldLock
    ) -> ArrayMatch:
        """Delete the parts of an array; return the parts that remain. Raises ToolFailedError if a step fails."""
        name = entry.array.name
        self.journal.write_stage(name, ArrayStage.REMOVING)
        trouble = await self._run(builder, name, entry.array.controller, match.remove, lock)
        try:
            remaining = await self.find(entry)
        except RaidbenchError as error:
            raise _unknown_result_error(name, "was deleted", trouble, error) from error
        if remaining.state is ArrayMatchState.ABSENT:
            self.journal.write_stage(name, ArrayStage.GONE)
        elif trouble is not None:
            raise trouble
        return remaining

    async def _require_empty(self, match: ArrayMatch) -> None:
        """Check that the device nodes of an array are empty and unused. Raises RefusedError if they are not."""
        for node in match.looked_at:
            try:
                signatures = await require_free(self._hardware.machine.host, node)
            except RefusedError as error:
                raise RefusedError(error.message, hint=_with_steps(error.hint, match)) from error
            # Remains of an old filesystem were on the drives before; the user has confirmed their loss.
            kinds = ", ".join(dict.fromkeys(mark.kind for mark in signatures if not mark.former))
            if kinds:
                raise RefusedError(
                    f"{node} is not empty: it contains {clean(kinds, 200)}.",
                    hint=_with_steps("Its content may still be needed.", match),
                )

    async def _wait_for_node(self, entry: ArrayJournalEntry) -> ArrayMatch:
        """Wait until the kernel has a device node for an array, at most NODE_SECONDS; return the array's parts."""
        end = time.monotonic() + NODE_SECONDS
        while True:
            match = await self.find(entry)
            if match.state is not ArrayMatchState.COMPLETE or match.device is not None or time.monotonic() > end:
                return match
            await asyncio.sleep(_LOOK_AGAIN)

    async def _policy_differences(self, plan: ArrayPlan, made: ArrayMatch) -> Mapping[str, str]:
        """Return, by policy key, a sentence for each policy that differs from the plan or could not be read."""
        policies, read = plan.request.policies, f"of {plan.request.name}"
        if made.target is None or not policies:
            return {}
        try:
            with uncached():
                readings = await self._hardware.read(made.target)
        except RaidbenchError as error:
            return {key: f"{setting_label(key)} {read} could not be read: {error.message}" for key in policies}
        now = {key: readings[key].now if key in readings else None for key in policies}
        return {
            key: f"{setting_label(key)} {read} is {clean(value_text(key, now[key] or '') or 'not reported', 60)}"
            f" instead of {value_text(key, wanted)}."
            for key, wanted in policies.items()
            if now[key] != wanted
        }

    def _note(self, text: str) -> None:
        with contextlib.suppress(StorageError):
            self._record.emit(NoteAdded(at=time.time(), text=text))


def created_array_label(entry: ArrayJournalEntry, inventory: Inventory) -> DeviceLabel:
    """Return the label for the confirmation prompt before an array is deleted; the array's name is the token.

    `inventory`: the present devices, for the models of the drives.
    """
    models = {drive.serial: drive.model for drive in inventory.drives if drive.serial}
    labels = (
        drive_label(
            drive.place,
            drive.serial,
            wwn=drive.wwn,
            model=models.get(drive.serial or ""),
            size_bytes=drive.size_bytes,
        )
        for drive in entry.array.members
    )
    name, drives = entry.array.name, tuple(label.sentence for label in labels)
    description = f"an array of these {len(drives)} drives"
    return DeviceLabel(name=name, description=description, token=name, drives=drives, kind="array")


def _unknown_result_error(
    name: str, expected: str, tool_error: RaidbenchError | None, error: RaidbenchError
) -> ToolFailedError:
    """Return the error about an array whose state could not be read (`error`) after the tool had run.

    `tool_error`: the error of the tool, which is included; None if it succeeded. `expected`: what should have happened.
    """
    why = "" if tool_error is None else f" {tool_error.message}"
    return ToolFailedError(
        f"Whether {name} {expected} is unknown:{why} {error.message}",
        hint="Run `raidbench recover` once the drives respond.",
        evidence=error.evidence or ("" if tool_error is None else tool_error.evidence),
    )


def _array_text(plan: ArrayPlan) -> str:
    request = plan.request
    serials = ", ".join(drive.serial or drive.place for drive in request.drives)
    return f"{request.level.value} of {len(request.drives)} drives ({clean(serials, 1000)}){request.options_text}"


def _with_steps(hint: str, match: ArrayMatch) -> str:
    """Return the hint, followed by the tool's commands that the user can run to remove the parts in `match`."""
    if not match.remove:
        return hint
    lines = "; ".join(step.shown() for step in match.remove)
    return f"{hint} Commands to do it by hand: {clean(lines, 1500)}".strip()


def _require_idle(entry: ArrayJournalEntry) -> None:
    """Check that no program and no other raidbench is working on the array. Raises HeldError if one is."""
    if (program := entry.left_running) is not None:
        raise HeldError(
            f"{program} is still working on {entry.array.name}.",
            hint="Wait until the program has ended, then try again.",
        )
    if entry.stage in (ArrayStage.MAKING, ArrayStage.REMOVING) and not entry.unfinished:
        raise HeldError(
            f"Another raidbench (PID {entry.pid}) is working on {entry.array.name}.",
            hint="Wait until the other raidbench has finished.",
        )
