"""Common base class of backends that change settings: it reads, plans, applies and undoes changes.

The base class performs all safety checks, so that no vendor can omit one: the lock, the check for content that a change
would destroy, the comparison with the planned device, the check of every step, and the test whether the value is set
already. A vendor implements the state of a device, the readings of its settings and the steps for a value. It may also
override `finished`, `require_steps` and `take`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from re import Pattern
from typing import ClassVar, Generic, TypeVar

from backends.change import Change, ChangeStep
from backends.change_steps import (
    RequestedValue,
    is_restorable_value,
    requested_value,
    require_companions,
    require_equal_steps,
    require_same_device,
    run_step,
    run_steps,
    setting_of,
    validated_old_value,
)
from backends.guard import require_free
from backends.host import Completed, Host
from backends.identity import Identity, Signature
from backends.model import Target
from backends.settings import Reading, Setting, check_value, is_understood
from backends.text import clean

StateT = TypeVar("StateT")
"""Type of the state of a device at one moment, from which its readings and steps are derived."""


class Settable(ABC, Generic[StateT]):
    """Base class of backends that change settings. Nothing is read before it is needed."""

    SET_SECONDS: ClassVar[float] = 120.0
    """Seconds after which a step counts as slow. raidbench keeps waiting for it and never kills it."""
    APART: ClassVar[str] = ""
    """`deleted` or `detached` if the first step of a change does that to the device; "" for others."""

    def __init__(self, host: Host) -> None:
        self._host = host

    # -- methods that a vendor implements or overrides ----------------------------------------------------------------

    @abstractmethod
    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the declared settings of a target; () if it has none."""

    @abstractmethod
    async def read_state(self, target: Target, *, back: bool = False) -> StateT:
        """Return the current state of a device.

        `back`: the state is read for an undo, which fewer conditions prevent. Raises NotFoundError, DeviceGoneError for
        a missing device, ToolFailedError if the tool fails.
        """

    @abstractmethod
    async def readings_of(self, state: StateT) -> Mapping[str, Reading]:
        """Return the readings of all settings by key."""

    @abstractmethod
    def identity_of(self, state: StateT, key: str) -> Identity:
        """Return the identity for which a change of this setting is planned."""

    @abstractmethod
    async def lock_for(self, state: StateT, key: str) -> str:
        """Return the locks for a change of this setting, one on each line.

        For a disk they include the locks that a run on it takes.
        """

    @abstractmethod
    def steps(
        self, state: StateT, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the steps that set `value`; () if none can. `companions`: values that an undo restores too."""

    def revert_steps(self, state: StateT, key: str, before: str) -> tuple[ChangeStep, ...]:
        """Return the steps that restore the current value `before` after another value was set."""
        return self.steps(state, key, before, None)

    def order(self, state: StateT, values: Mapping[str, str]) -> Sequence[str]:
        """Return the keys of a set in an order that the device accepts; by default the given order.

        See `order_by_moves`.
        """
        return tuple(values)

    def after(self, state: StateT, key: str, value: str) -> StateT:
        """Return the state expected after setting `value`, from which later changes of a set are planned.

        It is the same state if no setting depends on another.
        """
        return state

    def check(self, setting: Setting, now: Reading, value: str) -> str:
        """Return a requested value in canonical form. Raises InvalidValueError for an illegal one."""
        return check_value(setting, now, value)

    def check_restorable(self, state: StateT, setting: Setting, now: Reading, value: str) -> str:
        """Return an old value in canonical form, whether it is offered now or not.

        Raises InvalidValueError for a value that the setting cannot have had.
        """
        return is_restorable_value(setting, now, value)

    def legal_companions(self, state: StateT, key: str) -> Mapping[str, Pattern[str]]:
        """Return patterns, by key, for values of other settings that an undo of this setting may restore too."""
        return {}

    def destroys(self, state: StateT, key: str) -> str | None:
        """Return the node whose data a change of this setting destroys; None if it destroys none."""
        return None

    def finished(
        self, state: StateT, requested: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change with facts that this vendor adds. Raises BlockedError if the change is not allowed."""
        return change

    def require_steps(self, state: StateT, change: Change) -> None:
        """Raise RefusedError unless every step of the change is one that this backend would plan for this device."""
        require_equal_steps(change, self.steps(state, change.key, change.after, None))

    def is_there(self, now: Reading, change: Change) -> bool:
        """Return whether the change has no effect because its value is set already."""
        return now.now == change.after

    async def require_unchanged_target(self, state: StateT, change: Change) -> None:
        """Raise an error unless the device is still the planned one. Called before each step and after a failure."""

    async def take(self, state: StateT, change: Change, step: ChangeStep) -> None:
        """Run one step: write a kernel file or run a program. Raises ToolFailedError with the reported message."""
        if step.path is not None:
            await self._host.write(step.path, step.text or "")
        else:
            await run_step(self._host, step, self.SET_SECONDS, self.refusal)

    def refusal(self, done: Completed) -> str:
        """Return a program's own reason for a failure; "" if it succeeded."""
        if done.returncode == 0:
            return ""
        first_line = next((line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()), "")
        return clean(first_line, 300) or f"it exited with status {done.returncode}"

    # -- reading, planning and applying, common to all vendors --------------------------------------------------------

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings of all settings. Raises NotFoundError, DeviceGoneError, ToolFailedError if unreadable."""
        return await self.readings_of(await self.read_state(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, with the steps that undo it.

        Raises NotFoundError, BlockedError, InvalidValueError if it cannot be set, RefusedError if data that would be
        lost is in use.
        """
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes for several settings, in the order in which the device accepts them.

        Raises the errors of `plan`.
        """
        declared = {key: setting_of(self.settings(target), target, key) for key in values}
        state = await self.read_state(target)
        changes = []
        for key in self.order(state, values):
            signatures = await self._contents(state, key)
            now = (await self.readings_of(state))[key]
            requested = requested_value(target, declared[key], now, values[key], self.check)
            changes.append(await self._planned(state, requested, None, signatures))
            state = self.after(state, key, requested.value)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores `value` with its companions. Raises the errors of `plan`."""
        setting = setting_of(self.settings(target), target, key)
        state = await self.read_state(target, back=True)
        require_companions(target, key, companions, self.legal_companions(state, key))
        now = (await self.readings_of(state))[key]
        signatures = () if now.now == value else await self._contents(state, key)
        requested = validated_old_value(target, setting, now, value, partial(self.check_restorable, state))
        return await self._planned(state, requested, companions, signatures)

    async def apply(self, change: Change) -> None:
        """Run the steps if the device is the planned one. Run none if the value is set already."""
        state = await self.read_state(change.target)
        require_same_device(change, self.identity_of(state, change.key))
        self.require_steps(state, change)
        if self.is_there((await self.readings_of(state))[change.key], change):
            return

        async def take(step: ChangeStep) -> None:
            if device := self.destroys(state, change.key):
                await self.require_free_for(device, change, step, state)
            await self.take(state, change, step)

        await run_steps(change, take, same=partial(self.require_unchanged_target, state, change), apart=self.APART)

    async def require_free_for(self, device: str, change: Change, step: ChangeStep, state: StateT) -> None:
        """Raise RefusedError if data that this step destroys is in use, or was not shown to the user."""
        await require_free(self._host, device, change.found)

    async def _contents(self, state: StateT, key: str) -> tuple[Signature, ...]:
        """Return the content that a change would destroy.

        Raises RefusedError with the guard's reasons against the change.
        """
        device = self.destroys(state, key)
        # Without root the check would be incomplete. It is then made before the change is applied, which needs root.
        if device is None or not self._host.is_root:
            return ()
        return await require_free(self._host, device)

    async def _planned(
        self,
        state: StateT,
        requested: RequestedValue,
        companions: Mapping[str, str] | None,
        signatures: tuple[Signature, ...],
    ) -> Change:
        key, before = requested.setting.key, requested.now.now
        undo = self.revert_steps(state, key, before) if before is not None and is_understood(before) else ()
        forward = self.steps(state, key, requested.value, companions)
        change = requested.change(forward, undo, self.identity_of(state, key), await self.lock_for(state, key))
        if self.destroys(state, key) is not None:
            change = replace(change, found=signatures if self._host.is_root else None)
        return self.finished(state, requested, companions, change)
