"""Compares a machine with a settings file, value by value, and determines whether `apply` can fix each difference."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum

from app.core.workbench import Workbench
from app.features.apply.selectors import Thing, matching_devices
from app.features.apply.settings_file import DesiredError, DesiredFile, DesiredTarget
from backends.change import Change
from backends.did_you_mean import suggestion_hint
from backends.errors import BlockedError, InvalidValueError, RaidbenchError
from backends.model import Array, Target
from backends.settings import Effect, Reading, Risk, Setting, check_value, legal_text, may_be_value
from backends.text import clean
from backends.values import dataclass

DESTRUCTIVE_EFFECTS = (Effect.RECREATED, Effect.RESHAPE)
"""Effects of settings that can only change by re-creating or reshaping the array."""


class DriftKind(StrEnum):
    """Kind of a difference: whether `apply` can fix it, or why not."""

    SETTABLE = "settable"
    """`apply` sets the wanted value."""
    ANEW = "anew"
    """Changing the setting destroys data or changes the layout of the data, so `apply` never sets it."""
    BLOCKED = "blocked"
    """The setting cannot be changed now."""
    MISSING = "missing"
    """No device matches the selector."""
    UNREAD = "unread"
    """The setting could not be read."""
    NOT_KEPT = "not-kept"
    """The value is set, but a reboot would lose it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A difference between the file and the machine."""

    kind: DriftKind
    """Kind of the difference."""
    target: Target | None
    """The target that has the setting; None if no device matches."""
    key: str = ""
    """The key of the setting; "" if the difference concerns the device itself."""
    now: str | None = None
    """The present value; None if it is not reported."""
    wanted: str = ""
    """The value in the settings file."""
    why: str = ""
    """Why `apply` cannot set the value, or which device is missing: a sentence without its full stop."""
    line: int = 0
    """Line number in the settings file; 0 if unknown."""

    @property
    def settable(self) -> bool:
        """Whether `apply` sets the wanted value."""
        return self.kind is DriftKind.SETTABLE

    @property
    def command(self) -> str | None:
        """The command with which the user can set the value manually; None if `apply` can set it, if it cannot be set
        now, or for a RAID level.
        """
        if self.kind is not DriftKind.ANEW or self.target is None or self.key == "level":
            return None
        return f"raidbench set {self.target} {self.key}={self.wanted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredState:
    """A settings file compared with the present machine."""

    drifts: tuple[Drift, ...] = ()
    """All differences, in the order of the file."""
    values: Mapping[Target, Mapping[str, str]] = field(default_factory=dict)
    """All values that `apply` ensures, by target and setting key, whether or not they are already set."""
    confirms: Mapping[Target, tuple[str, ...]] = field(default_factory=dict)
    """Confirmation tokens in the file, by target."""

    changes: tuple[Change, ...] = ()
    """Planned changes for the settable differences, in order; empty if no changes were planned."""
    trouble: RaidbenchError | None = None
    """The error that prevented planning a change to a legal value, such as a tool that does not respond; else None."""

    def unsettable(self) -> tuple[Drift, ...]:
        """Return the differences that `apply` does not set."""
        return tuple(drift for drift in self.drifts if not drift.settable)


ReadTarget = Callable[[Target], Awaitable[Mapping[str, Reading]]]
"""Returns the settings of a target. Raises RaidbenchError when they cannot be read."""


class DriftScan:
    """Compares a settings file with a machine; changes nothing."""

    def __init__(self, bench: Workbench, file: DesiredFile, read: ReadTarget | None = None) -> None:
        """By default, compare with new readings, which may start programs, and plan changes.

        If `read` is given, compare with the readings that it returns, and plan no changes.
        """
        self._bench, self._file = bench, file
        self._ask = read or bench.hardware.read
        self._plans = read is None
        self._trouble: RaidbenchError | None = None
        self._drifts: list[Drift] = []
        self._values: dict[Target, dict[str, str]] = {}
        self._from: dict[tuple[Target, str], tuple[str, int]] = {}
        self._confirms: dict[Target, tuple[str, ...]] = {}
        self._doubtful: list[tuple[Target, Setting]] = []
        self._read: dict[Target, Mapping[str, Reading]] = {}

    async def look(self) -> DesiredState:
        """Return the comparison of the machine with the file.

        Raises DesiredError when a value is never legal for its key.
        """
        inventory = self._bench.session.inventory
        for table in self._file.targets:
            things = matching_devices(inventory, table.select)
            if not things:
                if not table.optional:
                    why = f"no device has {table.selector_text}"
                    self._drifts.append(Drift(kind=DriftKind.MISSING, target=None, why=why, line=_line_of(table, "")))
                continue
            for key, value in table.values.items():
                await self._compare_setting(table, things, key, value, "set")
            for key, value in table.expect.items():
                await self._compare_setting(table, things, key, value, "expect")
        changes = await self._plan() if self._plans else ()
        if not self._plans:  # no plan shows whether they become legal, so they are blocked
            for home, setting in self._doubtful:
                self._block(home, setting.key, f"{legal_text(setting, self._read[home][setting.key])} at present")
        return DesiredState(
            drifts=tuple(self._drifts),
            values=self._values,
            confirms=self._confirms,
            changes=changes,
            trouble=self._trouble,
        )

    async def _compare_setting(
        self, table: DesiredTarget, things: tuple[Thing, ...], key: str, value: str, part: str
    ) -> None:
        line = _line_of(table, key, part)
        if key == "level":
            self._compare_level(table, things, value, line, part)
            return
        homes: list[tuple[Target, Setting, Reading]] = []
        keys: set[str] = set()
        unavailable: list[Target] = []
        unread = False
        for device in things:
            home = self._bench.hardware.owner_of_setting(device.target, key)
            readings = await self._readings(home, key, value, line)
            if readings is None:  # still compare the other devices
                unread = True
                continue
            declared = {setting.key: setting for setting in self._bench.hardware.settings(home)}
            if key not in declared:  # the first read completes the settings of some backends
                home = self._bench.hardware.owner_of_setting(device.target, key)
                declared = {setting.key: setting for setting in self._bench.hardware.settings(home)}
                readings = await self._readings(home, key, value, line) or {}
            keys |= readings.keys()
            if key in declared and key in readings:
                homes.append((home, declared[key], readings[key]))
            elif key in declared:
                unavailable.append(home)
        if not homes and unread:
            return
        if not homes and unavailable:
            for home in dict.fromkeys(unavailable):
                why = "the setting is not available at present"
                self._add_difference(DriftKind.BLOCKED, home, key, None, value, line, why)
            return
        if not homes:
            owner = f"{things[0].target} has no" if len(things) == 1 else f"none of the {len(things)} devices has a"
            hint = suggestion_hint(key, keys, f"Available: {', '.join(sorted(keys)[:12])}." if keys else "")
            raise table.table.table(part).error(key, f"{owner} setting {clean(key, 40)!r}.", hint)
        for home, setting, reading in dict.fromkeys(homes):
            await self._compare(table, home, setting, reading, value, line, part)

    async def _compare(
        self, table: DesiredTarget, home: Target, setting: Setting, reading: Reading, value: str, line: int, part: str
    ) -> None:
        key = setting.key
        if setting.secret:
            raise table.table.table(part).error(key, f"{key} is a secret and cannot be in a settings file.")
        destructive = setting.effect in DESTRUCTIVE_EFFECTS or setting.risk is Risk.DESTROYS_DATA or part == "expect"
        if not destructive and reading.availability.available:
            value = await self._parse_value(table, home, setting, reading, value, part)
        before = self._from.setdefault((home, key), (value, line))
        if before[0] != value:
            other = f"{clean(before[0], 40)!r} in line {before[1]}"
            sentence = f"{key} of {home} has two values: {clean(value, 40)!r} in this line and {other}."
            raise table.table.table(part).error(key, sentence)
        kind, why = DriftKind.SETTABLE, ""
        if destructive:
            kind, why = (
                DriftKind.ANEW,
                ("this would destroy data or change its layout, which a settings file cannot do"),
            )
        elif not reading.availability.available:
            kind, why = DriftKind.BLOCKED, (reading.availability.why_not or "").rstrip(".")
        else:
            self._values.setdefault(home, {})[key] = value
            self._confirms[home] = tuple(dict.fromkeys((*self._confirms.get(home, ()), *table.confirm)))
        if reading.now != value:
            self._add_difference(kind, home, key, reading.now, value, line, why)

    async def _parse_value(
        self, table: DesiredTarget, home: Target, setting: Setting, reading: Reading, value: str, part: str
    ) -> str:
        """Return the value, normalised to the form that its setting uses. A value that is only illegal at the moment is
        accepted, because it may become legal later.

        Raises DesiredError when the value is never legal for this setting.
        """
        try:
            return table.table.table(part).parse(setting.key, lambda item: check_value(setting, reading, item), value)
        except DesiredError:
            with contextlib.suppress(RaidbenchError):  # a backend may accept more values than it offers
                if self._plans:
                    return (await self._bench.hardware.plan_to_show(home, {setting.key: value}))[0].requested
            if not may_be_value(setting, reading, value):
                raise
            self._doubtful.append((home, setting))
            return value

    def _block(self, home: Target, key: str, why: str) -> None:
        """Record that a setting cannot be set now because of `why`. This also applies if it has the wanted value
        already, because the value would not persist.
        """
        wanted = self._values[home].pop(key)
        at = self._index_of(home, key)
        if at is None:
            line = self._from[home, key][1]
            self._add_difference(
                DriftKind.BLOCKED, home, key, wanted, wanted, line, f"the value would not persist: {why}"
            )
        else:
            self._drifts[at] = replace(self._drifts[at], kind=DriftKind.BLOCKED, why=why)

    def _index_of(self, home: Target, key: str) -> int | None:
        return next((at for at, drift in enumerate(self._drifts) if (drift.target, drift.key) == (home, key)), None)

    async def _plan(self) -> tuple[Change, ...]:
        """Return the changes for all differences, and those for wanted values that these changes alter.

        Mark settings for which no change can be planned as blocked.
        """
        hardware = self._bench.hardware
        changes: list[Change] = []
        todo = list(dict.fromkeys(drift.target for drift in self._drifts if drift.settable and drift.target))
        for target in todo:  # the loop appends disks whose settings a change alters
            planned, refused = await self._plan_target(target, self._values[target])
            for key, error in refused.items():
                if isinstance(error, InvalidValueError | BlockedError):
                    self._block(target, key, _reason(error))
                else:
                    self._trouble = self._trouble or error
            changes += planned
            disk = hardware.disk_of(target)
            moved = {key for change in planned if change.before != change.after for key in change.moves_disk}
            if disk is not None and disk not in todo and not moved.isdisjoint(self._values.get(disk, ())):
                todo.append(disk)
        # A value such as -1 stands for the default. If the default is set already, the plan changes nothing, so the
        # setting does not differ from the file.
        for change in changes:
            at = self._index_of(change.target, change.key)
            if change.before == change.after and at is not None and self._drifts[at].settable:
                del self._drifts[at]
        return hardware.required_changes(hardware.order_changes(changes))

    async def _plan_target(
        self, target: Target, values: Mapping[str, str]
    ) -> tuple[tuple[Change, ...], dict[str, RaidbenchError]]:
        """Return the changes of a target, and the errors of values that cannot be set now, by key."""
        plan = self._bench.hardware.plan_to_show
        with contextlib.suppress(RaidbenchError):
            return await plan(target, values), {}
        changes: tuple[Change, ...] = ()
        accepted: dict[str, str] = {}
        left = dict(values)
        while left:
            refused: dict[str, RaidbenchError] = {}
            for key, value in left.items():
                try:
                    changes = await plan(target, {**accepted, key: value})
                    accepted[key] = value
                except RaidbenchError as error:
                    refused[key] = error
            if len(refused) == len(left):
                return changes, refused
            left = {key: left[key] for key in refused}
        return changes, {}

    def _compare_level(self, table: DesiredTarget, things: tuple[Thing, ...], value: str, line: int, part: str) -> None:
        for device in things:
            if not isinstance(device, Array):
                raise table.table.table(part).error("level", f"{device.target} is not an array and has no level.")
            if device.level.value != value:
                why = "the level of an array cannot be changed"
                self._add_difference(DriftKind.ANEW, device.target, "level", device.level.value, value, line, why)

    async def _readings(self, target: Target, key: str, value: str, line: int) -> Mapping[str, Reading] | None:
        if target not in self._read:
            try:
                self._read[target] = await self._ask(target)
            except RaidbenchError as error:
                self._add_difference(DriftKind.UNREAD, target, key, None, value, line, error.message.rstrip("."))
                return None
        return self._read[target]

    def _add_difference(
        self, kind: DriftKind, target: Target, key: str, now: str | None, wanted: str, line: int, why: str
    ) -> None:
        drift = Drift(kind=kind, target=target, key=key, now=now, wanted=wanted, line=line, why=why)
        if drift not in self._drifts:
            self._drifts.append(drift)


def _reason(error: RaidbenchError) -> str:
    """Return why a value cannot be set now, as a clause; for an illegal value, the clause names the legal ones."""
    if not isinstance(error, InvalidValueError):
        return error.message.rstrip(".")
    text = (error.hint or error.message).rstrip(".")
    return f"{text[:1].lower()}{text[1:]} at present"


def _line_of(table: DesiredTarget, key: str, part: str = "") -> int:
    return (table.table.table(part) if part else table.table).line_of(key)
