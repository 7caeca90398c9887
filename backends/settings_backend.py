"""What backends do alike that set one value of one thing by steps of their own: read, plan, plan back, apply.

The lock, the look at what a change destroys, the comparison with what was planned for, the check of every step and the
look whether the value is there already stand here, so that no vendor can leave one of them out. A vendor says what a
thing is now, how its settings read and which steps set one; where it has more to say of a change (`finished`,
`require_steps`, `take`), it says only that.
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

Seen = TypeVar("Seen")
"""What a thing is at one moment: all that its readings and steps are made of."""


class Settable(ABC, Generic[Seen]):
    """The base of a backend. Nothing is read unless somebody asks."""

    SET_SECONDS: ClassVar[float] = 120.0
    """After this a step is slow; it is waited for, and never killed."""
    APART: ClassVar[str] = ""
    """`deleted` or `detached` where the first step takes the thing apart."""

    def __init__(self, host: Host) -> None:
        self._host = host

    # -- what a vendor says -------------------------------------------------------------------------------------------

    @abstractmethod
    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The declared settings of a target; () for what has none."""

    @abstractmethod
    async def seen(self, target: Target, *, back: bool = False) -> Seen:
        """The thing now. `back`: for a way back, which only what it needs stands against.

        Raises NotFoundError, DeviceGoneError, ToolFailedError.
        """

    @abstractmethod
    async def readings_of(self, state: Seen) -> Mapping[str, Reading]:
        """Every setting as it reads then, by key."""

    @abstractmethod
    def identity_of(self, state: Seen, key: str) -> Identity:
        """What a change of this setting is planned for."""

    @abstractmethod
    async def lock_for(self, state: Seen, key: str) -> str:
        """The locks that a change of this setting takes, a line each: of a disk those that runs on it take too."""

    @abstractmethod
    def steps(self, state: Seen, key: str, value: str, companions: Mapping[str, str] | None) -> tuple[ChangeStep, ...]:
        """What sets it to `value`; () where nothing can. `companions`: of a way back, None of a new value."""

    def revert_steps(self, state: Seen, key: str, before: str) -> tuple[ChangeStep, ...]:
        """What will bring the present value back once another one is set."""
        return self.steps(state, key, before, None)

    def order(self, state: Seen, values: Mapping[str, str]) -> Sequence[str]:
        """The keys of a set in the order in which the thing takes them: as they were given. See `in_order`."""
        return tuple(values)

    def after(self, state: Seen, key: str, value: str) -> Seen:
        """The thing as it will be for those that follow in a set; the same where no setting depends on another."""
        return state

    def check(self, setting: Setting, now: Reading, value: str) -> str:
        """The canonical form of a value that somebody wants. Raises InvalidValueError."""
        return check_value(setting, now, value)

    def check_restorable(self, state: Seen, setting: Setting, now: Reading, value: str) -> str:
        """The same of a value that it had before, whether it is offered now or not. Raises InvalidValueError."""
        return is_restorable_value(setting, now, value)

    def legal_companions(self, state: Seen, key: str) -> Mapping[str, Pattern[str]]:
        """What may come back with a setting, by key."""
        return {}

    def destroys(self, state: Seen, key: str) -> str | None:
        """The node of the device whose data a change of this setting destroys; None where it destroys none."""
        return None

    def finished(
        self, state: Seen, requested: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """The change with what only this vendor knows of it. Raises BlockedError where it may not be."""
        return change

    def require_steps(self, state: Seen, change: Change) -> None:
        """Raises RefusedError unless every step of the change is this vendor's own for this very thing."""
        require_equal_steps(change, self.steps(state, change.key, change.after, None))

    def is_there(self, now: Reading, change: Change) -> bool:
        """Whether nothing has to be done for the change."""
        return now.now == change.after

    async def require_unchanged_target(self, state: Seen, change: Change) -> None:
        """Raises unless the thing is still the one that was planned for: asked before each step, and when one fails."""

    async def take(self, state: Seen, change: Change, step: ChangeStep) -> None:
        """Take one step: a file of the kernel, or a program. Raises ToolFailedError in the tool's or kernel's words."""
        if step.path is not None:
            await self._host.write(step.path, step.text or "")
        else:
            await run_step(self._host, step, self.SET_SECONDS, self.refusal)

    def refusal(self, done: Completed) -> str:
        """Why a program did not do it, by its own words; "" if it did."""
        if done.returncode == 0:
            return ""
        first_line = next((line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()), "")
        return clean(first_line, 300) or f"it ended with exit status {done.returncode}"

    # -- what all do --------------------------------------------------------------------------------------------------

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now; nothing of what has none. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        return await self.readings_of(await self.seen(target))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The steps that set `key` to `value`, and those that bring the present value back.

        Raises NotFoundError, BlockedError, InvalidValueError, RefusedError where something uses what would be lost.
        """
        return (await self.plan_together(target, {key: value}))[0]

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """The same for several settings, in the order in which the thing takes them."""
        declared = {key: setting_of(self.settings(target), target, key) for key in values}
        state = await self.seen(target)
        changes = []
        for key in self.order(state, values):
            signatures = await self._contents(state, key)
            now = (await self.readings_of(state))[key]
            requested = requested_value(target, declared[key], now, values[key], self.check)
            changes.append(await self._planned(state, requested, None, signatures))
            state = self.after(state, key, requested.value)
        return tuple(changes)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """What brings `value` back, and with it the companions that it had. Raises as `plan`."""
        setting = setting_of(self.settings(target), target, key)
        state = await self.seen(target, back=True)
        require_companions(target, key, companions, self.legal_companions(state, key))
        now = (await self.readings_of(state))[key]
        signatures = () if now.now == value else await self._contents(state, key)
        requested = validated_old_value(target, setting, now, value, partial(self.check_restorable, state))
        return await self._planned(state, requested, companions, signatures)

    async def apply(self, change: Change) -> None:
        """Take the steps, if the thing is the one that was planned for; none where it reads so already."""
        state = await self.seen(change.target)
        require_same_device(change, self.identity_of(state, change.key))
        self.require_steps(state, change)
        if self.is_there((await self.readings_of(state))[change.key], change):
            return

        async def take(step: ChangeStep) -> None:
            if device := self.destroys(state, change.key):
                await self.require_free_for(device, change, step, state)
            await self.take(state, change, step)

        await run_steps(change, take, same=partial(self.require_unchanged_target, state, change), apart=self.APART)

    async def require_free_for(self, device: str, change: Change, step: ChangeStep, state: Seen) -> None:
        """Raises RefusedError where something uses what this step destroys, or it is not what was shown."""
        await require_free(self._host, device, change.found)

    async def _contents(self, state: Seen, key: str) -> tuple[Signature, ...]:
        """What a change would destroy. Raises RefusedError with the guard's reasons against it."""
        device = self.destroys(state, key)
        if device is None or not self._host.is_root:  # without root not all of it can be seen: before applying, then
            return ()
        return await require_free(self._host, device)

    async def _planned(
        self,
        state: Seen,
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
