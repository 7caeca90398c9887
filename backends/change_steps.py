"""Common parts of changes for all vendors: find the setting, check the device, run the steps, report failures."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from re import Pattern

from backends.array_planning import ArrayRequest, Candidate, require_free_drive
from backends.change import Change, ChangeStep, disk_lock
from backends.did_you_mean import suggestion_hint
from backends.errors import (
    AnotherDeviceError,
    BlockedError,
    DeviceGoneError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
    UnknownSettingError,
)
from backends.host import Command, Completed, Host, WriteDenied
from backends.identity import Identity
from backends.model import Target
from backends.settings import Reading, Risk, Setting, check_value, is_understood
from backends.text import clean
from backends.topology.device_identity import identity, likely_of, other_paths, paths_of
from backends.topology.tree import read_tree
from backends.values import dataclass

LOOK_AGAIN = "Scan the devices again."
"""Hint for a device that no longer exists."""


def not_found_error(target: Target) -> NotFoundError:
    """Return the error for a target that the backend does not know."""
    return NotFoundError(f"There is no {clean(str(target))}.", hint="`raidbench devices` lists what is there.")


def gone_error(target: Target) -> DeviceGoneError:
    """Return the error for a target that has vanished."""
    return DeviceGoneError(f"{clean(str(target))} does not exist.", hint=LOOK_AGAIN)


def require_still_free(request: ArrayRequest, candidates: Iterable[Candidate]) -> None:
    """Raise DeviceGoneError for a drive of the request that vanished, RefusedError for one that is not free."""
    now = {candidate.drive: candidate for candidate in candidates}
    for drive in request.drives:
        present = now.get(drive.drive)
        if present is None or present.label.mark != drive.label.mark:
            raise gone_error(drive.drive)
        require_free_drive(present)


def setting_of(settings: Iterable[Setting], target: Target, key: str) -> Setting:
    """Return the setting with this key. Raises UnknownSettingError, which lists the keys of the target."""
    declared = {setting.key: setting for setting in settings}
    if key not in declared:
        names = ", ".join(declared) or "none"
        # A target that has no settings is reported as not found.
        failure = UnknownSettingError if declared else NotFoundError
        raise failure(
            f"{clean(str(target))} has no setting {clean(key)}.",
            hint=suggestion_hint(key, declared, f"It has: {names}."),
        )
    return declared[key]


async def lock_of(host: Host, name: str) -> str:
    """Return the locks of the disk with this kernel name, as `disk_lock` does. All paths to a disk have the same."""
    return (await _disk_locks(host, (name,)))[0]


async def locks_of(host: Host, names: Iterable[str]) -> tuple[str, ...]:
    """Return the locks of disks given by kernel name, without duplicates, sorted: all processes lock in this order."""
    return tuple(sorted({name for lock in await _disk_locks(host, names) for name in lock.splitlines()}))


async def _disk_locks(host: Host, names: Iterable[str]) -> list[str]:
    tree = await read_tree(host)
    twins, likely = other_paths(tree), likely_of(tree)
    record = {name: (*twins.get(name, ()), *likely.get(name, ())) for name in (*twins, *likely)}
    locks = []
    for name in names:
        nodes = (tree.nodes.get(path) for path in paths_of(record, name))
        locks.append(disk_lock(*[identity(node) for node in nodes if node is not None] or [Identity(name=name)]))
    return locks


async def denial_of(host: Host, path: str | None) -> WriteDenied | None:
    """Return the reason why nothing may be changed at all; None if a change may be tried.

    On a `DryRunHost` it is always None, because a dry run plans as root could.
    """
    reason = await host.writable(path) if path is not None else None
    return reason if isinstance(reason, WriteDenied) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedValue:
    """A legal value requested for a setting that may be changed, with the setting's current reading."""

    target: Target
    """Target of the setting."""
    setting: Setting
    """Setting to be changed."""
    now: Reading
    """Its current reading."""
    value: str
    """Requested value."""

    @property
    def risk(self) -> Risk:
        """Return the risk of the value: the risk of this choice if the setting has choices, else the setting's."""
        return next((choice.risk for choice in self.now.choices if choice.value == self.value), self.setting.risk)

    def change(
        self,
        writes: tuple[ChangeStep, ...],
        undo: tuple[ChangeStep, ...],
        identity: Identity,
        lock: str,
        risk: Risk | None = None,
    ) -> Change:
        """Return the change that sets the value. `risk`: overrides the risk of the value for this device.

        A current value that is unknown or not understood cannot be restored; a change of it has no undo steps.
        """
        worst = self.risk if risk is None else risk
        return Change(
            target=self.target,
            key=self.setting.key,
            label=self.setting.label,
            before=self.now.now,
            after=self.value,
            writes=writes,
            undo=undo if is_understood(self.now.now) else (),
            risk=worst,
            risk_text=self.setting.risk_text if worst is not Risk.NONE else "",
            effect=self.setting.effect,
            persistence=self.setting.persistence,
            identity=identity,
            lock=lock,
            unit=self.setting.unit,
            confirmed=self.setting.confirmed,
            words={
                choice.value: choice.label
                for choice in self.now.choices
                if choice.value in (self.now.now, self.value) and choice.label != choice.value
            },
        )


def requested_value(
    target: Target,
    setting: Setting,
    now: Reading,
    value: str,
    check: Callable[[Setting, Reading, str], str] = check_value,
) -> RequestedValue:
    """Return the request to set `value`, with the value in canonical form.

    Raises BlockedError if the setting cannot be changed, InvalidValueError for an illegal value.
    """
    _require_unblocked(target, setting, now.availability.why_not)
    return RequestedValue(target=target, setting=setting, now=now, value=check(setting, now, value))


def validated_old_value(
    target: Target,
    setting: Setting,
    now: Reading,
    value: str,
    check: Callable[[Setting, Reading, str], str] | None = None,
) -> RequestedValue:
    """Return the request to restore the old value `value` of a setting, with the value in canonical form.

    A value that equals the current one is always valid. The value can be restored even if raidbench does not understand
    the current one. `check`: function that validates the value, by default `is_restorable_value`. Raises BlockedError
    or InvalidValueError if the value cannot be restored.
    """
    if value == now.now:
        return RequestedValue(target=target, setting=setting, now=now, value=value)
    _require_unblocked(target, setting, now.availability.why_not_back)
    return RequestedValue(
        target=target, setting=setting, now=now, value=(check or is_restorable_value)(setting, now, value)
    )


def _require_unblocked(target: Target, setting: Setting, why_not: str | None) -> None:
    """Raise BlockedError if `why_not` is a reason against the change; None is no reason."""
    if why_not is not None:
        raise BlockedError(f"{setting.label} of {target} cannot be changed: {why_not}.")


_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def is_restorable_value(setting: Setting, reading: Reading, value: str) -> str:
    """Return the old value `value` if the setting may have had it, even if it is not offered now.

    Any number is valid, even outside the current range; a word has to be one of the choices. Raises InvalidValueError
    for any other value.
    """
    if value == reading.now or (reading.span is not None and _NUMBER.fullmatch(value)):
        return value
    return check_value(setting, reading, value)


def order_by_bounds(values: Mapping[str, str], now: Mapping[str, str | None], *bounds: tuple[str, str]) -> list[str]:
    """Return the keys of a set in an order in which each value is legal when it is set; other keys keep their position.

    `bounds`: pairs of keys of a lower and an upper bound. The upper bound is set first, unless its new value is below
    the current lower bound in `now`.
    """
    keys = list(values)
    for low, high in bounds:
        if low not in values or high not in values:
            continue
        upper, lower = values[high], now.get(low) or ""
        down = upper.isdecimal() and lower.isdecimal() and int(upper) < int(lower)
        first, second = sorted((keys.index(low), keys.index(high)))
        keys[first], keys[second] = (low, high) if down else (high, low)
    return keys


def order_by_moves(keys: Iterable[str], moves: Mapping[str, Collection[str]]) -> list[str]:
    """Return the keys of a set in an order in which no later key changes an earlier one.

    `moves`: the keys that each key may change. Independent keys keep their position. Of keys that change each other,
    the one given first comes first.
    """
    left = list(dict.fromkeys(keys))
    ordered: list[str] = []
    while left:
        free = (key for key in left if not any(key in moves.get(other, ()) for other in left if other != key))
        in_cycle = (key for key in left if not set(left).isdisjoint(moves.get(key, ())))
        ordered.append(next(free, next(in_cycle, left[0])))
        left.remove(ordered[-1])
    return ordered


def require_companions(
    target: Target, key: str, companions: Mapping[str, str], legal: Mapping[str, Pattern[str]]
) -> None:
    """Raise RefusedError for a companion value that an undo of this setting does not restore, or that is illegal.

    `companions`: values of other settings to be restored too, by key. `legal`: pattern of the legal values, by key.
    """
    for name, value in companions.items():
        pattern = legal.get(name)
        if pattern is None or pattern.fullmatch(value) is None:
            raise RefusedError(
                f"{clean(name, 40)}={clean(value, 80)} cannot be restored together with {key} of {target}.",
                hint=f"Values that are restored with it: {', '.join(legal) or 'nothing'}. Set the other value with "
                "`raidbench set`.",
            )


def persistence_error(target: Target) -> BlockedError:
    """Return the error for a target for which raidbench cannot write a file that sets its values at boot."""
    return BlockedError(
        f"{target} does not support persistent settings, or always stores them.",
        hint=f"To see whether a setting is stored, plan a change: `raidbench set {target} KEY=VALUE --dry-run`.",
    )


def recreation_error(target: Target) -> BlockedError:
    """Return the error for a deleted array that raidbench cannot re-create from its log."""
    return BlockedError(
        f"{target} no longer exists and cannot be re-created from here.",
        hint="Re-create it with the tool of the controller or array. `raidbench log` shows its recorded settings.",
    )


def require_same_device(change: Change, present: Identity) -> None:
    """Raise AnotherDeviceError unless the device is the one that the change was planned for."""
    planned = change.identity
    if planned is None:
        raise RefusedError(f"The recorded change of {change.target} does not identify its device.")
    if differences := planned.differences(present):
        raise AnotherDeviceError(
            f"{change.target} is now a different device: {differences}.", hint=f"{LOOK_AGAIN[:-1]} and plan again."
        )


def require_equal_steps(change: Change, expected: tuple[ChangeStep, ...]) -> None:
    """Raise RefusedError unless the change has exactly the steps `expected`, and at least one."""
    if not expected or change.writes != expected:
        shown = clean("; ".join(write.shown() for write in change.writes), 300)
        raise RefusedError(
            f"Refusing the change: the recorded step does not set {change.label.lower()} of {change.target}: {shown}."
        )


async def run_step(host: Host, step: ChangeStep, seconds: float, refusal: Callable[[Completed], str]) -> None:
    """Run the program of a step.

    `refusal`: returns the program's own reason for a failure, "" for success. Raises ToolFailedError with that reason.
    """
    command = Command(argv=step.argv, timeout=seconds, mutates=True)
    done = await host.run(command)
    if why_not := refusal(done):
        raise ToolFailedError(why_not, evidence=evidence_of(command, done))


async def run_steps(
    change: Change,
    take: Callable[[ChangeStep], Awaitable[None]],
    *,
    writes: Sequence[ChangeStep] | None = None,
    same: Callable[[], Awaitable[None]] | None = None,
    apart: str = "",
) -> None:
    """Run all steps (or those in `writes`) in order, up to the first that fails.

    `take` runs one step and raises ToolFailedError with the message of the tool or the kernel. `same` raises an error
    unless the device is still the planned one. It is called before each step and after a failure. `apart`: `deleted`,
    `stopped` or `detached` if the first step does that to the target, so that the target no longer exists when a later
    step fails. Raises RefusedError before any step if a step comes from a log and cannot be run.
    """
    steps = change.writes if writes is None else writes
    for step in steps:
        if step.path is None and not step.argv:
            raise RefusedError(f"raidbench shows this step but does not run it: {clean(step.shown(), 200)}.")
    for done, step in enumerate(steps):
        if same is not None:
            await same()
        try:
            await take(step)
        except ToolFailedError as error:
            if same is not None:
                await same()  # if the device vanished, report that instead of the tool's error
            raise _with_change(error, change, step, f"{done} of {len(steps)}" if done else "", apart) from error


def _with_change(error: ToolFailedError, change: Change, step: ChangeStep, done: str, apart: str) -> ToolFailedError:
    """Return the error with a message about the failed change and a hint about the steps that succeeded before it."""
    text = error.message.rstrip(".")
    message = f"{change.label} of {change.target} could not be set: {text}."
    hint = error.hint or "The old value should still be set. Scan the devices again to check."
    if done and apart:
        message = f"{change.target} was {apart}, but cannot be re-created: {text}."
        hint = f"Re-create it manually: {step.shown()}"
    elif done:
        hint = f"{done} steps succeeded, `{step.shown()}` did not run. Scan the devices again to check the settings."
    return type(error)(message, hint=hint, evidence=error.evidence)


def evidence_of(command: Command, done: Completed) -> str:
    """Return a command, its exit status and its shortened output for the log, without secrets."""
    output = f"{command.shown()}\nexit status {done.returncode}\n{done.stdout[:4000]}{done.stderr[:2000]}"
    return command.mask(output)
