"""How a machine differs from a file: value by value, and what may be done about each."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum

from app.core.workbench import Workbench
from app.features.apply.selectors import Thing, selected
from app.features.apply.settings_file import DesiredError, DesiredFile, DesiredTarget
from backends.change import Change
from backends.did_you_mean import suggestion_hint
from backends.errors import BlockedError, InvalidValueError, RaidbenchError
from backends.model import Array, Target
from backends.settings import Effect, Reading, Risk, Setting, check_value, legal_text, may_be_value
from backends.text import clean
from backends.values import dataclass

ANEW = (Effect.RECREATED, Effect.RESHAPE)
"""Effects of settings that only a thing made anew, or laid out anew, has otherwise."""


class DriftKind(StrEnum):
    """What may be done about a difference."""

    SETTABLE = "settable"
    """`apply` sets it."""
    ANEW = "anew"
    """It destroys data or lays them out anew: never set from a file."""
    BLOCKED = "blocked"
    """It cannot be changed here and now."""
    MISSING = "missing"
    """There is no such thing."""
    UNREAD = "unread"
    """It could not be read."""
    NOT_KEPT = "not-kept"
    """It is set, and a reboot would lose it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference."""

    kind: DriftKind
    """What may be done about it."""
    target: Target | None
    """What has it; None where there is no such thing."""
    key: str = ""
    """Which setting, "" of a whole thing."""
    now: str | None = None
    """Its value; None where nobody says."""
    wanted: str = ""
    """The value of the file."""
    why: str = ""
    """Why it cannot be set from a file, or what is missing; a sentence without its stop."""
    line: int = 0
    """Where the file says so."""

    @property
    def settable(self) -> bool:
        """Whether `apply` sets it."""
        return self.kind is DriftKind.SETTABLE

    @property
    def command(self) -> str | None:
        """What would set it by hand, of what is never set from a file; None where nothing does."""
        if self.kind is not DriftKind.ANEW or self.target is None or self.key == "level":
            return None
        return f"raidbench set {self.target} {self.key}={self.wanted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredState:
    """What a file asks of a machine as it is now."""

    drifts: tuple[Drift, ...] = ()
    """Every difference, in the order of the file."""
    values: Mapping[Target, Mapping[str, str]] = field(default_factory=dict)
    """All values that `apply` is to see to, set already or not, by what has the setting."""
    confirms: Mapping[Target, tuple[str, ...]] = field(default_factory=dict)
    """Words of the file that mean a device, by target."""

    changes: tuple[Change, ...] = ()
    """What sets the settable differences, in its order; nothing where nobody was to plan."""
    trouble: RaidbenchError | None = None
    """Why some of them could not be planned, where that is no fault of their values: a tool that does not answer."""

    def unsettable(self) -> tuple[Drift, ...]:
        """Differences that it does not set."""
        return tuple(drift for drift in self.drifts if not drift.settable)


ReadTarget = Callable[[Target], Awaitable[Mapping[str, Reading]]]
"""Tells the settings of a target. Raises RaidbenchError where they cannot be told."""


class DriftScan:
    """Compares a file with a machine; changes nothing."""

    def __init__(self, bench: Workbench, file: DesiredFile, read: ReadTarget | None = None) -> None:
        """`read`: asks for settings, and nothing is planned; None reads them now, which may start programs."""
        self._bench, self._file = bench, file
        self._ask = read or bench.hardware.read
        self._plans = read is None
        self._trouble: RaidbenchError | None = None
        self._drifts: list[Drift] = []
        self._values: dict[Target, dict[str, str]] = {}
        self._from: dict[tuple[Target, str], tuple[str, int]] = {}
        self._confirms: dict[Target, tuple[str, ...]] = {}
        self._doubtful: list[tuple[Target, str]] = []
        self._read: dict[Target, Mapping[str, Reading]] = {}

    async def look(self) -> DesiredState:
        """The state that is wanted against the one that is. Raises DesiredError for what is no value of a setting."""
        inventory = self._bench.session.inventory
        for table in self._file.targets:
            things = selected(inventory, table.select)
            if not things:
                if not table.optional:
                    why = f"there is nothing with {table.called}"
                    self._drifts.append(Drift(kind=DriftKind.MISSING, target=None, why=why, line=_line_of(table, "")))
                continue
            for key, value in table.values.items():
                await self._compare_setting(table, things, key, value, "set")
            for key, value in table.expect.items():
                await self._compare_setting(table, things, key, value, "expect")
        changes = await self._plan() if self._plans else ()
        if not self._plans:  # the values that are legal now block the others
            for home, key in self._doubtful:
                self._block(home, key, f"{legal_text(self._read[home][key])} here and now")
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
        without: list[Target] = []
        unread = False
        for device in things:
            home = self._bench.hardware.owner_of_setting(device.target, key)
            readings = await self._readings(home, key, value, line)
            if readings is None:  # the others of these things are compared all the same
                unread = True
                continue
            declared = {setting.key: setting for setting in self._bench.hardware.settings(home)}
            if key not in declared:  # which it has may be known once it was read
                home = self._bench.hardware.owner_of_setting(device.target, key)
                declared = {setting.key: setting for setting in self._bench.hardware.settings(home)}
                readings = await self._readings(home, key, value, line) or {}
            keys |= readings.keys()
            if key in declared and key in readings:
                homes.append((home, declared[key], readings[key]))
            elif key in declared:
                without.append(home)
        if not homes and unread:
            return
        if not homes and without:
            for home in dict.fromkeys(without):
                why = "there is no such setting here and now"
                self._add_difference(DriftKind.BLOCKED, home, key, None, value, line, why)
            return
        if not homes:
            owner = str(things[0].target) if len(things) == 1 else f"none of the {len(things)} things"
            hint = suggestion_hint(key, keys, f"There are: {', '.join(sorted(keys)[:12])}." if keys else "")
            raise table.table.table(part).error(key, f"{owner} has no setting {clean(key, 40)!r}.", hint)
        for home, setting, reading in dict.fromkeys(homes):
            await self._compare(table, home, setting, reading, value, line, part)

    async def _compare(
        self, table: DesiredTarget, home: Target, setting: Setting, reading: Reading, value: str, line: int, part: str
    ) -> None:
        key = setting.key
        if setting.secret:
            raise table.table.table(part).error(key, f"{key} is a secret and does not belong into a file.")
        anew = setting.effect in ANEW or setting.risk is Risk.DESTROYS_DATA or part == "expect"
        if not anew and reading.availability.available:
            value = await self._parse_value(table, home, setting, reading, value, part)
        before = self._from.setdefault((home, key), (value, line))
        if before[0] != value:
            other = f"{clean(before[0], 40)!r} in line {before[1]}"
            sentence = f"{key} of {home} is wanted to be {clean(value, 40)!r} here and {other}."
            raise table.table.table(part).error(key, sentence)
        if anew:
            if reading.now != value:
                why = "it destroys data or lays them out anew, which no file does"
                self._add_difference(DriftKind.ANEW, home, key, reading.now, value, line, why)
            return
        if not reading.availability.available:
            if reading.now != value:
                why = (reading.availability.why_not or "").rstrip(".")
                self._add_difference(DriftKind.BLOCKED, home, key, reading.now, value, line, why)
            return
        self._values.setdefault(home, {})[key] = value
        self._confirms[home] = tuple(dict.fromkeys((*self._confirms.get(home, ()), *table.confirm)))
        if reading.now != value:
            self._add_difference(DriftKind.SETTABLE, home, key, reading.now, value, line, "")

    async def _parse_value(
        self, table: DesiredTarget, home: Target, setting: Setting, reading: Reading, value: str, part: str
    ) -> str:
        """The value as it is read; one that is not legal by now may be so once others are set, or at another time.

        Raises DesiredError for what is no value of this setting at any time.
        """
        try:
            return table.table.table(part).parse(setting.key, lambda item: check_value(setting, reading, item), value)
        except DesiredError:
            with contextlib.suppress(RaidbenchError):  # a backend may take more than it offers
                if self._plans:
                    return (await self._bench.hardware.plan_to_show(home, {setting.key: value}))[0].wish
            if not may_be_value(setting, reading, value):
                raise
            self._doubtful.append((home, setting.key))
            return value

    def _block(self, home: Target, key: str, why: str) -> None:
        """A setting is not set from this file for now: what it is already would not stay so."""
        wanted = self._values[home].pop(key)
        at = self._index_of(home, key)
        if at is None:
            line = self._from[home, key][1]
            self._add_difference(DriftKind.BLOCKED, home, key, wanted, wanted, line, f"it would not stay so: {why}")
        else:
            self._drifts[at] = replace(self._drifts[at], kind=DriftKind.BLOCKED, why=why)

    def _index_of(self, home: Target, key: str) -> int | None:
        return next((at for at, drift in enumerate(self._drifts) if (drift.target, drift.key) == (home, key)), None)

    async def _plan(self) -> tuple[Change, ...]:
        """Plan all that differs, and what that would move; what cannot be planned is blocked."""
        hardware = self._bench.hardware
        changes: list[Change] = []
        todo = list(dict.fromkeys(drift.target for drift in self._drifts if drift.settable and drift.target))
        for target in todo:  # it grows
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
        for change in changes:  # -1 for a default that it has already
            at = self._index_of(change.target, change.key)
            if change.before == change.after and at is not None and self._drifts[at].settable:
                del self._drifts[at]
        return hardware.required_changes(hardware.order_changes(changes))

    async def _plan_target(
        self, target: Target, values: Mapping[str, str]
    ) -> tuple[tuple[Change, ...], dict[str, RaidbenchError]]:
        """The changes of a target, and why others cannot be made now."""
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
                raise table.table.table(part).error("level", f"{device.target} is no array and has no level.")
            if device.level.value != value:
                why = "another level is another array"
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
    """Return why a value cannot be set now, to stand within a sentence; of an illegal value those that are legal."""
    if not isinstance(error, InvalidValueError):
        return error.message.rstrip(".")
    text = (error.hint or error.message).rstrip(".")
    return f"{text[:1].lower()}{text[1:]} here and now"


def _line_of(table: DesiredTarget, key: str, part: str = "") -> int:
    return (table.table.table(part) if part else table.table).line_of(key)
