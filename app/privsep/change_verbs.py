"""Requests to the root helper that change settings: locks, the journal, and changes.

The helper plans each change itself before it applies it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.changes import systemd_units
from app.core.changes.revert import still_running_error, undecided_trial_error
from app.core.changes.side_effects import disk_beside, read_beside, with_values_before
from app.core.changes.trial import LONGEST, LONGEST_WAIT, arm, rehearse
from app.core.session.journal import Journal, UnresolvedChange, boot_clock
from app.core.session.journals import register_journal, trials_elsewhere
from app.core.session.json_codec import structure, unstructure
from app.core.session.locks import HeldLock, hold_lock, lock_name
from app.core.session.paths import Paths
from app.privsep.request_schema import FIELDS, RequestDeniedError
from backends.change import Change
from backends.change_steps import persistence_error, recreation_error
from backends.errors import RefusedError
from backends.helper_interface import encode_error
from backends.host import Command, ProcessTracking, custody
from backends.model import Scope, Target
from backends.protocol import CanPersist, PlansTogether, Recreatable
from backends.registry import MachineBackends
from backends.self_exec import persistent_argv
from backends.system.local import LocalHost

MAX_LOCKS = 256
"""Maximum number of locks that one connection may hold at a time."""

MAX_WATCHDOGS = 16
"""Maximum number of undecided sets of trials that one connection may start. Each set has its own watchdog."""

_Key = tuple[str, str]
"""Session folder and id of a change."""

_LockedChange = tuple[Change, tuple[HeldLock, ...]]
"""A change, and the locks that were held when it was planned."""

_COMPARED_FIELDS = (
    "target",
    "key",
    "before",
    "after",
    "identity",
    "risk",
    "found",
    "members",
    "lock",
    "effect",
    "companions",
)
"""Fields of a change that must be equal in the user's plan and in the helper's plan. The steps must be equal, too."""


class HelperChanges:
    """The changes that one connection to the helper requests.

    Each change needs the requests lock, plan, intend, apply and outcome, in this order.
    """

    def __init__(self, host: LocalHost, machine: MachineBackends, paths: Paths, uid: int) -> None:
        """`uid`: the user at the other end of the connection, to whom its changes and trials belong."""
        self._host = host
        self._machine = machine
        self._paths = paths
        self._uid = uid
        self._journal = Journal(paths.journal, uid=uid)
        self._locks: dict[str, tuple[ExitStack, HeldLock]] = {}
        self._sets: dict[str, Mapping[str, Change]] = {}
        self._planned: dict[tuple[str, str, str], _LockedChange] = {}
        self._intended: dict[_Key, _LockedChange] = {}
        self._armed: set[tuple[str, float]] = set()
        self._applying: list[tuple[HeldLock, ...]] = []

    def lock(self, name: str, what: str) -> Mapping[str, Any]:
        """Acquire a lock. Raises RefusedError if it is needed to revert an undecided trial of another user."""
        if name in self._locks or len(self._locks) >= MAX_LOCKS:
            raise RequestDeniedError("lock: already locked, or too many locks.")
        with ExitStack() as stack:
            held = stack.enter_context(hold_lock(self._paths.locks, name, what))
            # Check while the lock is held, so that no trial that needs it can start after the check.
            for trial in self._journal.trials_within(LONGEST_WAIT):
                if not self._may_decide(trial) and name in map(lock_name, trial.change.locks):
                    raise undecided_trial_error(trial)
            self._locks[name] = stack.pop_all(), held
        return {}

    def unlock(self, name: str) -> Mapping[str, Any]:
        """Release a lock. Raises RequestDeniedError if it is not held or if a change that needs it is being applied."""
        if name not in self._locks:
            raise RequestDeniedError("unlock: this lock is not locked.")
        if any(self._locks[name][1] in locks for locks in self._applying):
            raise RequestDeniedError("unlock: a change is being applied under this lock.")
        self._locks.pop(name)[0].close()
        return {}

    async def together(self, target: str, scope: str, values: dict[str, str]) -> Mapping[str, Any]:
        """Plan `values` of a target's settings as one set. `plan` accepts its changes until the target's next set."""
        address = _target(target, scope)
        backend = self._machine.backend(address)
        self._sets.pop(target, None)
        if isinstance(backend, PlansTogether) and len(values) > 1:
            self._sets[target] = {change.key: change for change in await backend.plan_together(address, values)}
        return {}

    async def plan(self, change: dict[str, Any], back: dict[str, str] | None) -> Mapping[str, Any]:
        """Plan a change again and compare the plan with the one that the user saw.

        `back`: companion settings to restore if the change is an undo; None for any other change. Raises RefusedError
        if the plans differ, or if a trial in another journal needs a lock of the change, too.
        """
        shown = _parse_change(change)
        locks = self._locks_of(shown)
        # The user's process has checked the trials in this journal itself.
        for trial in trials_elsewhere(self._paths.locks, self._journal):
            if trial.change.shares_lock(shown):
                raise undecided_trial_error(trial)
        differs = ""
        async for planned in self._possible_plans(shown, back):
            # The user's process can send any values, so those that the change may alter are read here.
            before = await read_beside(self._machine.backends, planned, disk_beside(shown))
            planned = with_values_before(planned, before)
            differs = _difference(shown, planned)
            if not differs:
                self._planned[str(planned.target), planned.key, planned.after] = planned, locks
                return {}
        raise RefusedError(
            (
                f"The plan for {shown.label} of {shown.target} no longer matches what you confirmed ({differs}). "
                "Nothing was changed."
            ),
            hint="Review the change again.",
        )

    async def _possible_plans(self, shown: Change, back: dict[str, str] | None) -> AsyncIterator[Change]:
        """Yield the plans that set the requested value: the undo, or else the single change and its forms in a set."""
        backend = self._machine.setter(shown.target)
        if back is not None:
            planned = await backend.back(shown.target, shown.key, shown.requested, back)
            # `apply` compares this identity with the device, so that no device is changed that replaced the old one.
            yield replace(planned, identity=shown.identity)
            return
        alone = await backend.plan(shown.target, shown.key, shown.requested)
        in_set = self._sets.get(str(shown.target), {})
        if shown.key not in in_set:
            yield alone
            return
        yield alone.as_in_set(in_set[shown.key])
        if any(shown.key in (*other.moves, *other.moves_disk) for other in in_set.values()):
            yield alone.as_in_set(in_set[shown.key], moved=True)
        if isinstance(backend, PlansTogether):
            values = {key: member.requested for key, member in in_set.items()}
            for change in await backend.plan_together(shown.target, values):
                if change.key == shown.key:
                    yield change

    def intend(
        self, session: str, id: str, target: str, key: str, after: str, until: float | None
    ) -> Mapping[str, Any]:
        """Record in the journal, under a new id, that a planned change is about to be made.

        `until`: deadline of a trial on the boot clock; None for any other change. Raises RequestDeniedError if the
        helper has not planned the change or its lock was lost, or if the trial is too long or of another user's set.
        """
        change, locks = self._planned.get((target, key, after), (None, ()))
        if change is None:
            raise RequestDeniedError("intend: this change was not planned.")
        self._require_same(change, locks)
        if until is not None and until > boot_clock() + LONGEST:
            raise RequestDeniedError("intend: a trial cannot last that long.")
        if until is not None:
            if not all(map(self._may_decide, self._trials_of_set(session, until))):
                raise RequestDeniedError("intend: this set of trials belongs to another user.")
            register_journal(self._paths.locks, self._journal)
        self._journal.write_intent(id, Path(session), change, until=until)
        del self._planned[target, key, after]
        self._intended[session, id] = change, locks
        return {}

    def given(self, session: str) -> Mapping[str, Any]:
        """Return the change ids of a session that are in use already, by any user."""
        return {"ids": sorted(self._journal.given_ids(Path(session)))}

    async def apply(self, session: str, id: str) -> Mapping[str, Any]:
        """Apply a change that `intend` has recorded. Each can be applied once.

        Raises RequestDeniedError if `intend` has not recorded it, or if its lock was lost.
        """
        change, locks = self._intended.get((session, id), (None, ()))
        if change is None:
            raise RequestDeniedError("apply: this change was not announced.")
        self._require_same(change, locks)
        lock = locks[0]

        def begins(pid: int, program: str) -> None:
            self._journal.write_setter(id, Path(session), pid, program)
            lock.note_inherited_lock(pid, program)

        del self._intended[session, id]
        # A context variable: it applies only to programs that this task and the tasks it starts run.
        custody.set(ProcessTracking(lock=lock.descriptor, begins=begins))
        self._applying.append(locks)
        try:
            await self._machine.setter(change.target).apply(change)
        finally:
            self._applying.remove(locks)
        return {}

    def outcome(self, session: str, id: str, result: str) -> Mapping[str, Any]:
        """Record the outcome of one of this user's changes in the journal, unless the journal has it already."""
        self._require_own_change(session, id, "outcome")
        self._intended.pop((session, id), None)
        if self._journal.is_new(id, Path(session), result):
            self._journal.write_outcome(id, Path(session), result)
        return {}

    def _require_own_change(self, session: str, id: str, verb: str) -> UnresolvedChange:
        """Return a change from the journal. `verb`: the request, for the error message.

        Raises RequestDeniedError if there is no such change, or if this user is neither its owner nor root.
        """
        made = self._journal.intent_of(id, Path(session))
        if made is None:
            raise RequestDeniedError(f"{verb}: the journal has no such change.")
        if not self._may_decide(made):
            raise RequestDeniedError(f"{verb}: this change belongs to another user.")
        return made

    def _may_decide(self, made: UnresolvedChange) -> bool:
        """Return whether this user may decide about a change. Root may decide about the changes of all users."""
        return self._uid in (0, made.uid)

    def _trials_of_set(self, session: str, until: float) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of one set: those of the session with the deadline `until`."""
        return tuple(change for change in self._journal.trials() if (change.session, change.until) == (session, until))

    async def arm(self, session: str, until: float) -> Mapping[str, Any]:
        """Start the watchdog of a set of trials that `intend` has recorded for this user.

        Raises RequestDeniedError if there is no such set, if it already has a watchdog, or for too many watchdogs.
        """
        if not any(map(self._may_decide, self._trials_of_set(session, until))):
            raise RequestDeniedError("arm: no announced trial ends at that time.")
        self._armed = {(folder, end) for folder, end in self._armed if end > boot_clock()}
        if (session, until) in self._armed or len(self._armed) >= MAX_WATCHDOGS:
            raise RequestDeniedError("arm: already armed, or too many watchdogs.")
        self._armed.add((session, until))
        try:
            await arm(self._paths, Path(session), until)
        except BaseException:
            self._armed.discard((session, until))
            raise
        return {}

    async def rehearse(self) -> Mapping[str, Any]:
        """Check that a watchdog can be started: start one without a trial, which reports that it is ready and exits."""
        await rehearse(self._paths)
        return {}

    def journal(self) -> Mapping[str, Any]:
        """Return the journal's unresolved changes, undecided trials, and changes that a program is still making."""
        return {
            "unresolved": [unstructure(change) for change in self._journal.unresolved()],
            "trials": [unstructure(trial) for trial in self._journal.trials()],
            "left_running": [unstructure(change) for change in self._journal.left_running()],
            "unreadable": None if (unknown := self._journal.unreadable_error()) is None else encode_error(unknown),
        }

    async def persist(self, target: str, scope: str, values: dict[str, str], digest: str) -> Mapping[str, Any]:
        """Plan the file that sets `values` at boot; write and activate it if its checksum is `digest`.

        Raises BlockedError if settings of the target cannot be persisted, RefusedError if the checksum differs.
        """
        address = _target(target, scope)
        backend = self._machine.backend(address)
        if not isinstance(backend, CanPersist):
            raise persistence_error(address)
        rule = await backend.persist(address, values)
        if rule.digest != digest:
            raise RefusedError(
                f"The plan for {rule.path} no longer matches what you confirmed. Nothing was written.",
                hint=("Review the change again."),
            )
        await self._host.install(rule.path, rule.content, before=rule.before)
        for argv in rule.reload:
            program = self._host.which((argv[0],))
            if program is not None:
                await self._host.run(Command(argv=(program, *argv[1:]), mutates=True))
        return {"path": rule.path}

    async def unit(self, do: str) -> Mapping[str, Any]:
        """Plan, install or remove (`do`) the systemd unit that reverts unfinished trials at boot."""
        if do == "remove":
            return {"there": await systemd_units.remove_unit(self._host)}
        unit = await systemd_units.plan_unit(self._host, persistent_argv(), self._journal.file)
        if do == "install":
            await systemd_units.install_unit(self._host, unit)
        return {"text": unit.text, "there": unit.there}

    async def remake(self, session: str, id: str) -> Mapping[str, Any]:
        """Re-create a deleted array on the drives that the journal names. Raises BlockedError if that is impossible."""
        change = self._require_own_change(session, id, "remake").change
        locks = self._locks_of(change)
        backend = self._machine.setter(change.target)
        if not isinstance(backend, Recreatable):
            raise recreation_error(change.target)
        self._applying.append(locks)
        try:
            await backend.apply(await backend.plan_remake(change))
        finally:
            self._applying.remove(locks)
        return {}

    def _locks_of(self, change: Change) -> tuple[HeldLock, ...]:
        """Return the locks that a change needs, which the connection must hold.

        Raises RequestDeniedError if it does not hold one, HeldError if a program that a killed raidbench left running
        still makes a change that needs one of them.
        """
        names = [lock_name(name) for name in change.locks]
        if any(name not in self._locks for name in names):
            raise RequestDeniedError("The device is not locked.")
        for left in self._journal.left_running():
            if left.change.shares_lock(change):
                raise still_running_error(left)
        return tuple(self._locks[name][1] for name in names)

    def _require_same(self, change: Change, locks: tuple[HeldLock, ...]) -> None:
        """Raise RequestDeniedError if one of the `locks` was released after the change was planned, even briefly."""
        if any(now is not then for now, then in zip(self._locks_of(change), locks, strict=True)):
            raise RequestDeniedError("The lock on the device was lost in between. Plan the change again.")

    def close(self) -> None:
        """Release all locks."""
        for name in tuple(self._locks):
            self.unlock(name)


_TARGET = FIELDS["intend"]["target"]


def _parse_change(data: Mapping[str, Any]) -> Change:
    try:
        change = structure(data, Change)
    except Exception as error:  # foreign data can fail to convert in any way
        raise RequestDeniedError("plan: this is not a change.") from error
    if not _TARGET(str(change.target)):
        raise RequestDeniedError("plan: this is not a change.")
    return change


def _difference(shown: Change, planned: Change) -> str:
    """Return the name of the first field in which the helper's plan differs from the shown one; "" for none.

    Steps are compared by their meaning, not by their spelling.
    """
    if [step.meaning for step in shown.writes] != [step.meaning for step in planned.writes]:
        return "steps"
    return next((name for name in _COMPARED_FIELDS if getattr(shown, name) != getattr(planned, name)), "")


def _target(text: str, scope: str) -> Target:
    backend, _, address = text.partition(":")
    return Target(backend=backend, address=address, scope=Scope(scope))
