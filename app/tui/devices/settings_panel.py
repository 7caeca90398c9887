"""The settings of a selected device: as they are read, and as they are shown and staged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from app.core.presentation.device_tree import Thing
from app.core.presentation.risk_text import effect_text, kept_text
from app.core.presentation.setting import COLUMNS, effective_reason_text, legal_labels, settings_table, value_text
from app.core.presentation.table import Cell, Table
from app.core.workbench import Workbench
from app.tui import render
from app.tui.devices.device_list import SHOWN, next_value
from backends.errors import RaidbenchError
from backends.model import KERNEL, Inventory, Scope, Target
from backends.protocol import SingleSettingReader
from backends.registry import MachineBackends
from backends.settings import Effect, Reading, Setting
from backends.values import dataclass
from widgets.keyed_table import KeyedTable, TableColumn, TableRow
from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, width_of, wrap

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface
    from app.tui.feature_hooks import FileDifference

LEAST = {"setting": 20, "now": 16, "wanted": 10, "staged": 10}
"""Cells to which these columns are cut before another one is left out: how a label begins tells it from others, and
`▲ write-through` is whole."""

PRIORITY = {"risk": 1, "effect": 2}
"""What goes first where there is no room for all: the help below the table has it too."""

_JOINT = "|"
"""Between target and key in the row keys of a part that is not the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """The settings of one target, as they were read."""

    target: str
    """Its address."""
    heading: str = ""
    """Stands above them; "" for the thing's own."""
    settings: tuple[Setting, ...] = ()
    """Declared settings."""
    readings: dict[str, Reading]
    """Values by key."""
    scope: Scope = Scope.ARRAY
    """What kind of thing it is."""


@dataclass(frozen=True, slots=True)
class SettingPosition:
    """The setting under the cursor."""

    part: TargetSettings
    """Where it belongs."""
    setting: Setting
    """What it is."""
    reading: Reading
    """What it says."""


def settings_columns(*, staged: bool = True, effect: bool = True, wanted: bool = False) -> tuple[TableColumn, ...]:
    """The columns of the table of settings; that of what is `staged` only where something is, or was.

    `effect`: whether any of them takes effect later than at once; `wanted`: whether a file has another value of any.
    """
    columns = render.columns(Table(columns=COLUMNS).only(*shown_columns(staged=staged, effect=effect, wanted=wanted)))
    return tuple(
        replace(column, least=LEAST.get(column.key), priority=PRIORITY.get(column.key, 0)) for column in columns
    )


def shown_columns(*, staged: bool, effect: bool = True, wanted: bool = False) -> tuple[str, ...]:
    """Their keys."""
    left_out = {"staged": not staged, "effect": not effect}
    shown = [key for key in SHOWN if not left_out.get(key)]
    if wanted:
        shown.insert(shown.index("now") + 1, "wanted")
    return tuple(shown)


class SettingsPanel(Vertical):
    """A table of settings over a word of help. An array shows its block device's queue settings, too."""

    def __init__(self) -> None:
        super().__init__(id="settings-panel")
        self.parts: tuple[TargetSettings, ...] = ()
        """What is shown."""
        self.outcomes: dict[str, dict[str, Cell]] = {}
        """How changes ended: target -> key -> words; shown until something else is staged there."""
        self.of: str | None = None
        """The address of the device that they are of."""
        self.wanted: Callable[[], str | None] = lambda: self.of
        """The address of the device that keys are meant for: while its settings are not shown yet, none is staged."""

    def compose(self) -> ComposeResult:
        """Table and help."""
        yield KeyedTable(settings_columns(staged=False, effect=False), id="settings", empty="looking for hardware ...")
        yield SettingHelp()

    @property
    def table(self) -> KeyedTable:
        """The table."""
        return self.query_one(KeyedTable)

    @property
    def _app(self) -> AppInterface:
        return cast("AppInterface", self.app)

    def staged_at(self, target: str) -> Mapping[str, str]:
        """What is staged of a target, by key."""
        return self._app.staged.get(target, {})

    def drifts_at(self, target: str) -> Mapping[str, FileDifference]:
        """What the file of settings wants of a target otherwise, by key."""
        return self._app.drifted.at(target)

    def show(self, parts: tuple[TargetSettings, ...], *, of: str | None) -> None:
        """Show these settings, which the device at the address `of` has."""
        self.parts, self.of = parts, of
        self.fill()

    def fill(self) -> None:
        """Bring the rows up to date with what is staged and what became of it."""
        rows: list[TableRow] = []
        staged = any(self.staged_at(part.target) or self.outcomes.get(part.target) for part in self.parts)
        later = any(
            setting.effect is not Effect.AT_ONCE
            for part in self.parts
            for setting in part.settings
            if setting.key in part.readings
        )
        drifts = {part.target: self.drifts_at(part.target) for part in self.parts}
        differs = any(
            key in part.readings and part.readings[key].now != drift.wanted
            for part in self.parts
            for key, drift in drifts[part.target].items()
        )
        for part in self.parts:
            table = settings_table(
                part.settings,
                part.readings,
                part.scope,
                staged=self.staged_at(part.target),
                outcomes=self.outcomes.get(part.target, {}),
                wanted={key: drift.wanted for key, drift in drifts[part.target].items()},
                brief=True,
            )
            own = render.rows(table.only(*shown_columns(staged=staged, effect=later, wanted=differs)))
            if not part.heading:
                rows += own
            elif own:
                rows.append(TableRow(key=part.target, cells=(part.heading,), separator=True))
                rows += [
                    TableRow(key=f"{part.target}{_JOINT}{row.key}", cells=row.cells, dim=row.dim, tone=row.tone)
                    for row in own
                ]
        columns = settings_columns(staged=staged, effect=later, wanted=differs)
        if columns != self.table.columns:
            self.table.columns = columns
        self.table.rows = tuple(rows)
        self._help()

    @property
    def place(self) -> tuple[str, str] | None:
        """Target and key of the setting under the cursor."""
        spot = self._spot()
        return None if spot is None else (spot.part.target, spot.setting.key)

    def point_at(self, target: str, key: str) -> None:
        """Put the cursor on a setting, if it is among them; what was just staged is shown by now."""
        self.fill()
        for part in self.parts:
            if part.target == target and key in part.readings:
                self.table.cursor = f"{target}{_JOINT}{key}" if part.heading else key

    def show_pending_result(self, target: str, key: str, cell: Cell | None, *, now: str | None = None) -> None:
        """Say at once what becomes of a setting, None for nothing; `now`: the value that was just read back.

        All else of what was read stands until everything is read again.
        """
        ended = self.outcomes.setdefault(target, {})
        if cell is None:
            ended.pop(key, None)
        else:
            ended[key] = cell
        if now is not None:
            self.parts = tuple(_with_value(part, key, now) if part.target == target else part for part in self.parts)
        self.fill()

    def clear_results(self) -> None:
        """Say nothing more of what became of settings."""
        self.outcomes.clear()
        self.fill()

    @on(KeyedTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        """What the setting under the cursor is about."""
        spot = self._spot()
        help = self.query_one(SettingHelp)
        if spot is None:
            help.show(None)
        else:
            staged = self.staged_at(spot.part.target).get(spot.setting.key)
            help.show(spot, staged, self._drift_text(spot))

    def _drift_text(self, spot: SettingPosition) -> str:
        """What the state file wants of a setting, and why it cannot simply be set; "" where it wants nothing else."""
        drift = self.drifts_at(spot.part.target).get(spot.setting.key)
        if drift is None or drift.wanted == spot.reading.now:
            return ""
        wanted = value_text(spot.setting, spot.reading, drift.wanted)
        return f"{self._app.drifted.name}, line {drift.line}, wants {wanted}" + (
            f": {drift.why}." if drift.why else "."
        )

    def stage_wanted(self) -> bool:
        """Stage the value of the state file for the setting under the cursor; False where that is so or staged.

        What destroys data is not chosen by one key: its reason is told.
        """
        spot = self._spot()
        if spot is None or self.wanted() != self.of or not (text := self._drift_text(spot)):
            return False
        drift = self.drifts_at(spot.part.target)[spot.setting.key]
        if self._staged_value(spot) == drift.wanted:
            return False
        if not drift.settable:
            self._app.notify_transient(text)
        elif (staged := self._changeable()) is not None:
            self._stage(staged, drift.wanted)
        return True

    def _spot(self) -> SettingPosition | None:
        """The setting under the cursor."""
        key = self.table.cursor or ""
        target, joint, name = key.partition(_JOINT)
        for part in self.parts:
            if joint and part.target != target:
                continue
            wanted = name if joint else key
            setting = next((setting for setting in part.settings if setting.key == wanted), None)
            reading = part.readings.get(wanted)
            if setting is not None and reading is not None:
                return SettingPosition(part, setting, reading)
        return None

    def _changeable(self) -> SettingPosition | None:
        """The setting under the cursor, if it may be changed; says why not. From elsewhere the table is entered."""
        table = self.table
        if self.screen.focused is not table:
            if table.rows:
                self.screen.set_focus(table)
            return None
        if self.wanted() != self.of:
            self._app.notify_transient("The settings of the row under the cursor are still being read.")
            return None
        if not self.parts and table.empty:
            self._app.notify_transient(f"There is nothing to choose yet: {table.empty}")
        spot = self._spot()
        if spot is not None and spot.reading.availability.why_not is not None:
            self.app.notify(
                f"{spot.setting.label} cannot be changed: {spot.reading.availability.why_not}.",
                severity="warning",
                markup=False,
            )
            return None
        return spot

    def _staged_value(self, spot: SettingPosition) -> str | None:
        return self.staged_at(spot.part.target).get(spot.setting.key, spot.reading.now)

    def _stage(self, spot: SettingPosition, value: str | None) -> None:
        self.outcomes.get(spot.part.target, {}).pop(spot.setting.key, None)
        self._app.stage(spot.part.target, spot.setting.key, None if value == spot.reading.now else value)
        self.fill()

    def changeable(self) -> Iterator[tuple[str, Setting]]:
        """Rows that may be changed, and their settings."""
        for part in self.parts:
            for setting in part.settings:
                reading = part.readings.get(setting.key)
                if reading is not None and reading.availability.why_not is None:
                    yield f"{part.target}{_JOINT}{setting.key}" if part.heading else setting.key, setting

    def cycle(self, step: int) -> None:
        """Stage the value after or before."""
        spot = self._changeable()
        if spot is None:
            return
        value = next_value(spot.reading, self._staged_value(spot), step)
        if value is not None:
            self._stage(spot, value)

    def unstage(self) -> None:
        """Take the staged value of the setting back."""
        spot = self._spot()
        if spot is not None and self.wanted() == self.of:
            self._stage(spot, None)

    @on(KeyedTable.RowSelected)
    def _row_selected(self) -> None:
        if self.screen.is_active:  # a second Enter, before anybody saw what the first has opened
            self.choose()

    def choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        spot = self._changeable()
        if spot is not None:
            from app.tui.devices.staged_changes import value_dialog

            self.app.push_screen(
                value_dialog(spot.setting, spot.reading, self._staged_value(spot)), self._stage_chosen(spot)
            )

    def _stage_chosen(self, spot: SettingPosition) -> Callable[[str | None], None]:
        def take(value: str | None) -> None:
            if value is not None:
                self._stage(spot, value)

        return take


def _with_value(part: TargetSettings, key: str, now: str) -> TargetSettings:
    """The same with another value of one setting; what is in force of it is not known yet."""
    reading = part.readings.get(key)
    if reading is None or reading.now == now:
        return part
    return replace(part, readings={**part.readings, key: replace(reading, now=now, effective=None)})


# -- the settings of a selected device as they are read ---------------------------------------------------------------

# Its own, and those of the queue that it is to the kernel.

Read = Callable[[Target], Awaitable[Mapping[str, Reading]]]
"""Asks for the settings of a target."""


async def parts_of(workbench: Workbench, inventory: Inventory, device: Thing, read: Read) -> list[TargetSettings]:
    """Its own settings and those of its queue. Raises RaidbenchError."""
    queue = inventory.twin(device)
    parts = [await _part(workbench, device, read)]
    return parts if queue is None else [*parts, await _part(workbench, queue, read, f"Queue of {queue.device}")]


async def read_again(
    machine: MachineBackends, shown: Sequence[TargetSettings], moved: Container[Target], target: Target
) -> Mapping[str, Reading]:
    """Settings after some were set on the targets that `moved`: what was read back then is not asked again.

    The kernel's own are read whatever was set, which takes no program. Any other target's are those that are `shown`,
    and so is what a backend need not ask for the setting. Raises RaidbenchError.
    """
    readings = next((part.readings for part in shown if part.target == str(target)), None)
    if readings is not None and target not in moved and target.backend != KERNEL:
        return readings
    with machine.using_last_scan():
        return await (machine.kept if isinstance(machine.backend(target), SingleSettingReader) else machine.read)(
            target
        )


async def _part(workbench: Workbench, device: Thing, read: Read, heading: str = "") -> TargetSettings:
    return TargetSettings(
        target=str(device.target),
        heading=heading,
        settings=workbench.hardware.settings(device.target),
        readings=dict(await read(device.target)),
        scope=device.target.scope,
    )


def settings_by_key(parts: Sequence[TargetSettings]) -> dict[str, tuple[Setting, Reading]]:
    """Return the settings of a device by key: its own before the queue's."""
    return {
        setting.key: (setting, part.readings[setting.key])
        for part in sorted(parts, key=lambda part: not part.heading.startswith("Queue"))
        for setting in part.settings
        if setting.key in part.readings
    }


def vendor_defect(device: Thing, error: Exception) -> RaidbenchError:
    """Return the error that reports a defect of a vendor module, which must not end the workbench."""
    return RaidbenchError(
        f"{device.target} cannot be read: its backend stopped with {type(error).__name__}: {error}",
        hint="This is a defect of raidbench or of the vendor module.",
    )


def changeable_first(parts: Sequence[TargetSettings]) -> tuple[TargetSettings, ...]:
    """Return the queue's settings first where none of the drive's own can be changed: a tool is missing."""
    if len(parts) < 2 or _is_changeable(parts[0]) or not _is_changeable(parts[1]):
        return tuple(parts)
    own, queue = parts
    return queue, replace(own, heading=f"Of {own.target} itself")


def _is_changeable(part: TargetSettings) -> bool:
    return any(reading.availability.available for reading in part.readings.values())


class SettingHelp(TextPanel):
    """Name and effect, why it cannot be changed or is not in force, what it does, and its values on one line."""

    def __init__(self) -> None:
        super().__init__(id="setting-help")
        self._shown: tuple[SettingPosition | None, str | None, str] = (None, None, "")

    def show(self, spot: SettingPosition | None, staged: str | None = None, file: str = "") -> None:
        """Show another setting, None for none. `staged`: its staged value; `file`: what the state file wants of it."""
        if (spot, staged, file) != self._shown:
            self._shown = (spot, staged, file)
            self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines. The values come before the sentences: where it is low, these are cut."""
        spot, staged, file = self._shown
        if spot is None:
            return []
        setting, reading = spot.setting, spot.reading
        when = f"  {effect_text(setting.effect, spot.part.scope)}, {kept_text(setting.persistence)}"
        lines: list[Line] = [(("title", clean(setting.label)), ("label", clean(when)))]
        if reading.availability.why_not is not None:
            lines += _wrap_lines(f"Cannot be changed: {reading.availability.why_not}.", "warning", width)
        if (why := effective_reason_text(setting, reading)) is not None:
            lines += _wrap_lines(why, "warning" if reading.overruled else "label", width)
        lines += _wrap_lines(file, "warning", width) if file else []
        lines += _values(spot, staged, width)
        return [*lines, *_wrap_lines(setting.explained, "label", width)]


def _wrap_lines(text: str, tone: str, width: int) -> list[Line]:
    return [((tone, line),) for line in wrap(text, width)]


def _values(spot: SettingPosition, staged: str | None, width: int) -> list[Line]:
    """The legal values; the present one and the staged one stand out, and they alone where there are too many."""
    named = legal_labels(spot.setting, spot.reading)
    tones = {spot.reading.now: "title", staged: "accent"}
    if sum(width_of(label) + 3 for _, label in named) > 2 * width:
        marked = [pair for pair in named if pair[0] in tones]
        named = [*marked, (None, f"{len(named) - len(marked)} others, Enter lists them")]
    lines: list[Line] = []
    line: list[tuple[str, str]] = [("label", "values ")]
    for index, (value, label) in enumerate(named):
        joint = " · " if index else ""
        if sum(width_of(text) for _, text in line) + width_of(joint + label) > width:
            lines.append(tuple(line))
            line, joint = [], "       "
        line += [("label", joint), (tones.get(value, "label") if value is not None else "label", clean(label))]
    return [*lines, tuple(line)] if named else []
