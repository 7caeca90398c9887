"""What all vendors do alike in a change: find the setting, check the device, take the steps, say what failed."""

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

LOOK_AGAIN = "Look at the devices again."
"""What to do when something is not there any more."""


def not_found_error(target: Target) -> NotFoundError:
    """The error for a target that a backend does not have."""
    return NotFoundError(f"There is no {clean(str(target))}.", hint="`raidbench devices` lists what is there.")


def gone_error(target: Target) -> DeviceGoneError:
    """The error for a target that a backend may have, and that is not there."""
    return DeviceGoneError(f"{clean(str(target))} is not there.", hint=LOOK_AGAIN)


def require_still_free(request: ArrayRequest, candidates: Iterable[Candidate]) -> None:
    """Raises DeviceGoneError for a drive of a wish that is no candidate now, RefusedError for one that is not free."""
    now = {candidate.drive: candidate for candidate in candidates}
    for drive in request.drives:
        present = now.get(drive.drive)
        if present is None or present.serial != drive.serial:
            raise gone_error(drive.drive)
        require_free_drive(present)


def setting_of(settings: Iterable[Setting], target: Target, key: str) -> Setting:
    """The setting of that key. Raises UnknownSettingError naming those that there are."""
    declared = {setting.key: setting for setting in settings}
    if key not in declared:
        names = ", ".join(declared) or "none"
        failure = UnknownSettingError if declared else NotFoundError  # what has none at all is no such thing
        raise failure(
            f"{clean(str(target))} has no setting {clean(key)}.",
            hint=suggestion_hint(key, declared, f"It has: {names}."),
        )
    return declared[key]


async def lock_of(host: Host, name: str) -> str:
    """The locks of a disk by its kernel name, the same for all paths to it. See `disk_lock`."""
    return (await _disk_locks(host, (name,)))[0]


async def locks_of(host: Host, names: Iterable[str]) -> tuple[str, ...]:
    """The locks of disks by their kernel names, each once, in the order in which everybody takes them."""
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
    """What stands against any change by a tool or file; None if one may be tried.

    A dry run is answered as root would be.
    """
    reason = await host.writable(path) if path is not None else None
    return reason if isinstance(reason, WriteDenied) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedValue:
    """A legal value for a setting that may be changed, and how the setting read when it was asked for."""

    target: Target
    """What is to be changed."""
    setting: Setting
    """Which of its settings."""
    now: Reading
    """How it reads."""
    value: str
    """The value it is to have."""

    @property
    def risk(self) -> Risk:
        """The worst that this value may do: its choice's own where there are choices."""
        return next((choice.risk for choice in self.now.choices if choice.value == self.value), self.setting.risk)

    def change(
        self,
        writes: tuple[ChangeStep, ...],
        undo: tuple[ChangeStep, ...],
        identity: Identity,
        lock: str,
        risk: Risk | None = None,
    ) -> Change:
        """The change that brings it. `risk`: where this very device makes it another one than the value has.

        A value that is not read or not understood now cannot be taken back, whatever `undo` would do.
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
    """The value in canonical form. Raises BlockedError, InvalidValueError."""
    _require_unblocked(target, setting, now.availability.why_not)
    return RequestedValue(target=target, setting=setting, now=now, value=check(setting, now, value))


def validated_old_value(
    target: Target,
    setting: Setting,
    now: Reading,
    value: str,
    check: Callable[[Setting, Reading, str], str] | None = None,
) -> RequestedValue:
    """Return the value that the setting had before, in canonical form.

    Nothing is against a value that is there already, and a present value that is not understood is not against another
    one. `check`: by default `is_restorable_value`. Raises BlockedError, InvalidValueError.
    """
    if value == now.now:
        return RequestedValue(target=target, setting=setting, now=now, value=value)
    _require_unblocked(target, setting, now.availability.why_not_back)
    return RequestedValue(
        target=target, setting=setting, now=now, value=(check or is_restorable_value)(setting, now, value)
    )


def _require_unblocked(target: Target, setting: Setting, why_not: str | None) -> None:
    """Raise BlockedError where there is a reason against a change."""
    if why_not is not None:
        raise BlockedError(f"{setting.label} of {target} cannot be changed: {why_not}.")


_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def is_restorable_value(setting: Setting, reading: Reading, value: str) -> str:
    """The `check` of a way back: what the setting may have had before, though it is not offered now.

    A number is one whatever today's range; a word has to be one of the choices. Raises InvalidValueError.
    """
    if value == reading.now or (reading.span is not None and _NUMBER.fullmatch(value)):
        return value
    return check_value(setting, reading, value)


def order_by_bounds(values: Mapping[str, str], now: Mapping[str, str | None], *bounds: tuple[str, str]) -> list[str]:
    """Keys of a set in the order in which each value is legal; those that bound nothing keep their place.

    `bounds`: keys of a lower and an upper bound. The upper one goes first, unless it goes below what `now` says that
    the lower one is.
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
    """Return the keys of a set in the order in which no later one moves an earlier one.

    `moves`: the keys that each key may move. Keys that do not depend on each other keep their place; of a cycle the
    first key comes first.
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
    """Raises RefusedError for a companion that a way back of this setting does not have, or that is no value of it.

    `legal`: what each may be, by key.
    """
    for name, value in companions.items():
        pattern = legal.get(name)
        if pattern is None or pattern.fullmatch(value) is None:
            raise RefusedError(
                f"{clean(name, 40)}={clean(value, 80)} is nothing that comes back with {key} of {target}.",
                hint=f"With it comes back: {', '.join(legal) or 'nothing'}. Set the value you want by hand.",
            )


def require_same_device(change: Change, present: Identity) -> None:
    """Raises AnotherDeviceError unless the device that the change was planned for is the one that is there."""
    planned = change.identity
    if planned is None:
        raise RefusedError(f"The change of {change.target} does not say which device it was planned for.")
    if differences := planned.differences(present):
        raise AnotherDeviceError(
            f"{change.target} is another device now: {differences}.", hint=f"{LOOK_AGAIN[:-1]} and plan again."
        )


def require_equal_steps(change: Change, own: tuple[ChangeStep, ...]) -> None:
    """Raises RefusedError unless its steps are `own`, which set this value of this very thing; without any, always."""
    if not own or change.writes != own:
        shown = clean("; ".join(write.shown() for write in change.writes), 300)
        raise RefusedError(f"This does not set {change.label.lower()} of {change.target}: {shown}.")


async def run_step(host: Host, step: ChangeStep, seconds: float, refusal: Callable[[Completed], str]) -> None:
    """Run the program of a step. `refusal`: why it did not do it, by its own words; "" if it did.

    Raises ToolFailedError with these.
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
    """All steps in order (`writes`: these of them), up to the first that fails.

    `take` takes one; it raises ToolFailedError in the tool's or the kernel's words. `same` raises unless the device is
    still the one that was planned for: it is asked before each step, and when one fails. `apart`: `deleted` or
    `stopped` where the first step takes the thing apart, so that it is not there when a later one fails.
    Raises RefusedError before any of them for a step that a log only tells of.
    """
    steps = change.writes if writes is None else writes
    for step in steps:
        if step.path is None and not step.argv:
            raise RefusedError(f"This step is only told of, and cannot be taken: {clean(step.shown(), 200)}.")
    for done, step in enumerate(steps):
        if same is not None:
            await same()
        try:
            await take(step)
        except ToolFailedError as error:
            if same is not None:
                await same()  # a device that went away is told as such
            raise _with_change(error, change, step, f"{done} of {len(steps)}" if done else "", apart) from error


def _with_change(error: ToolFailedError, change: Change, step: ChangeStep, done: str, apart: str) -> ToolFailedError:
    """The same error, saying of which change it is and what was done before it."""
    text = error.message.rstrip(".")
    message = f"{change.label} of {change.target} could not be set: {text}."
    hint = error.hint or "The old value should still be in force; read the setting again."
    if done and apart:
        message = f"{change.target} was {apart}, but could not be made again: {text}."
        hint = f"Make it by hand: {step.shown()}"
    elif done:
        hint = f"{done} steps were done, not `{step.shown()}`; read the settings again."
    return type(error)(message, hint=hint, evidence=error.evidence)


def evidence_of(command: Command, done: Completed) -> str:
    """What a program printed, for the log: without its secrets, the beginning of long text."""
    output = f"{command.shown()}\nexit status {done.returncode}\n{done.stdout[:4000]}{done.stderr[:2000]}"
    return command.masked(output)
