"""The settings of the selected device: reading, display and staging."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from app.core.presentation.risk_text import effect_text, kept_text
from app.core.presentation.setting import (
    COLUMNS,
    effective_reason_text,
    legal_labels,
    now_cell,
    settings_table,
    value_text,
)
from app.core.presentation.table import Cell, Table
from app.core.workbench import Workbench
from app.tui import render
from app.tui.devices.device_list import SETTING_COLUMNS, next_value
from app.tui.header_text import SCANNING_TEXT
from backends.errors import RaidbenchError
from backends.model import KERNEL, Device, Inventory, Scope, Target
from backends.protocol import SingleSettingReader
from backends.registry import MachineBackends
from backends.settings import Effect, Reading, Setting
from backends.values import dataclass
from widgets.keyed_table import KeyedTable, TableCell, TableColumn, TableRow
from widgets.table_layout import MAIN, plain
from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, width_of, wrap

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface
    from app.tui.feature_hooks import FileDifference

WIDTHS = {"setting": 20, "now": 16, "wanted": 10, "staged": 13}
"""Width in cells to which these columns shrink before another one is left out. The start of a label is enough to
recognise it, and `▲ write-through` fits."""

PRIORITY = {"staged": MAIN + 1, "effect": MAIN + 2}
"""Columns that are left out before another one is narrower than `WIDTHS`, largest number first. Staged values are then
in the column of the present values. The help below the table has the effect."""

HELP_ROWS = {"-short": 7, "-tall": 10}
"""Least number of rows of the help by the class of the screen, enough for 350 characters of the description."""

MIN_TABLE_ROWS = 4
"""Least number of rows of the table with its headings."""

_JOINT = "|"
"""Separator between target and setting key in the keys of the rows below a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """The settings of one target as they were read."""

    target: str
    """Address of the target."""
    heading: str = ""
    """Heading above the settings; "" for the device's own."""
    settings: tuple[Setting, ...] = ()
    """Declared settings."""
    readings: dict[str, Reading]
    """Readings of the settings, by setting key."""
    scope: Scope = Scope.ARRAY
    """Scope of the target."""


@dataclass(frozen=True, slots=True)
class SettingPosition:
    """The setting under the cursor."""

    part: TargetSettings
    """All settings of its target."""
    setting: Setting
    """The setting."""
    reading: Reading
    """The reading of the setting."""


def settings_columns(*, effect: bool = False, wanted: bool = False) -> tuple[TableColumn, ...]:
    """Return the columns of the table of settings. They do not depend on staged values, so that no column moves.

    `effect`: whether a setting takes effect later than at once. `wanted`: whether the state file has another value for
    a setting.
    """
    keys = [key for key in SETTING_COLUMNS if effect or key != "effect"]
    if wanted:
        keys.insert(keys.index("now") + 1, "wanted")
    return tuple(
        replace(
            column,
            most=WIDTHS.get(column.key),
            priority=PRIORITY.get(column.key, 0),
            room=WIDTHS["staged"] if column.key == "staged" else 0,
            host="now" if column.key == "staged" else "",
        )
        for column in render.columns(Table(columns=COLUMNS).only(*keys))
    )


def hosted_rows(rows: Iterable[TableRow], keys: Sequence[str], outcomes: Container[str]) -> Iterator[TableRow]:
    """Yield rows whose staged cells have a text for the column of the present values, where that of their own is left
    out: `→ write-back` for a staged value, and the present value with the sign of an outcome. `outcomes`: their keys.
    """
    now, staged = keys.index("now"), keys.index("staged")
    for row in rows:
        cell = row.cells[staged]
        if isinstance(cell, TableCell) and cell.text:
            sign, text = (_sign(cell.text), plain(row.cells[now])) if row.key in outcomes else ("→", cell.text)
            cells = (*row.cells[:staged], replace(cell, hosted=f"{sign} {text}"), *row.cells[staged + 1 :])
            row = replace(row, cells=cells)
        yield row


def _sign(outcome: str) -> str:
    """Return the sign that an outcome begins with. `waits` has none."""
    return outcome[:1] if not outcome[:1].isalpha() else "…"


class SettingsPanel(Vertical):
    """A table of settings above a help text. The queue settings of an array's block device are listed too."""

    def __init__(self) -> None:
        super().__init__(id="settings-panel")
        self.parts: tuple[TargetSettings, ...] = ()
        """The settings that are shown."""
        self.outcomes: dict[str, dict[str, Cell]] = {}
        """Outcomes of changes: target -> key -> cell. Each is shown until another value is staged for the setting."""
        self.of: str | None = None
        """Address of the device that the settings belong to."""
        self.wanted: Callable[[], str | None] = lambda: self.of
        """Returns the address of the selected device. Nothing is staged while the settings of another device are shown.
        """

    def compose(self) -> ComposeResult:
        """Compose the table and the help."""
        yield KeyedTable(settings_columns(), id="settings", empty=SCANNING_TEXT)
        yield SettingHelp()

    @property
    def table(self) -> KeyedTable:
        """The table."""
        return self.query_one(KeyedTable)

    @property
    def _app(self) -> AppInterface:
        return cast("AppInterface", self.app)

    def staged_at(self, target: str) -> Mapping[str, str]:
        """Return the staged values of a target, by key."""
        return self._app.staged.get(target, {})

    def drifts_at(self, target: str) -> Mapping[str, FileDifference]:
        """Return the differences of a target from the state file, by key."""
        return self._app.drifted.at(target)

    def show(self, parts: tuple[TargetSettings, ...], *, of: str | None) -> None:
        """Show these settings of the device at the address `of`."""
        self.parts, self.of = parts, of
        self.fill()

    def fill(self) -> None:
        """Update the rows with staged values and outcomes."""
        rows: list[TableRow] = []
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
        columns = settings_columns(effect=later, wanted=differs)
        keys = [column.key for column in columns]
        for part in self.parts:
            outcomes = self.outcomes.get(part.target, {})
            table = settings_table(
                part.settings,
                part.readings,
                part.scope,
                staged=self.staged_at(part.target),
                outcomes=outcomes,
                wanted={key: drift.wanted for key, drift in drifts[part.target].items()},
                brief=True,
            )
            part_rows = tuple(hosted_rows(render.rows(table.only(*keys)), keys, outcomes))
            if not part.heading:
                rows += part_rows
            elif part_rows:
                rows.append(TableRow(key=part.target, cells=(part.heading,), separator=True))
                rows += [
                    TableRow(key=f"{part.target}{_JOINT}{row.key}", cells=row.cells, dim=row.dim, tone=row.tone)
                    for row in part_rows
                ]
        if columns != self.table.columns:
            self.table.columns = columns
        self.table.rows = tuple(rows)
        self._share_rows()
        self._help()

    def on_resize(self) -> None:
        """Share the rows of the new height between the table and the help."""
        self._share_rows()

    def _share_rows(self) -> None:
        """Give the table the rows that its settings need, and the help all others, but at least `HELP_ROWS`.

        The shares depend on the device alone, so that the table keeps its height while the cursor moves.
        """
        rows = len(self.table.rows) + 1
        least = HELP_ROWS["-short" if self.screen.has_class("-short") else "-tall"]
        self.table.styles.height = max(MIN_TABLE_ROWS, min(rows, self.size.height - least)) if rows > 1 else "1fr"
        self.query_one(SettingHelp).display = rows > 1

    @property
    def place(self) -> tuple[str, str] | None:
        """Target and key of the setting under the cursor; None without one."""
        position = self._position()
        return None if position is None else (position.part.target, position.setting.key)

    def point_at(self, target: str, key: str) -> None:
        """Put the cursor on a setting if it is shown, and update the rows."""
        self.fill()
        for part in self.parts:
            if part.target == target and key in part.readings:
                self.table.cursor = f"{target}{_JOINT}{key}" if part.heading else key

    def show_pending_result(self, target: str, key: str, cell: Cell | None, *, now: str | None = None) -> None:
        """Show `cell` as the state of a change at once; None clears it. `now`: the value read after the change.

        All other readings stay until everything is read again.
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
        """Remove the outcomes of changes."""
        self.outcomes.clear()
        self.fill()

    @on(KeyedTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        """Show the help of the setting under the cursor."""
        position = self._position()
        help = self.query_one(SettingHelp)
        if position is None:
            help.show(None)
        else:
            staged = self.staged_at(position.part.target).get(position.setting.key)
            outcome = self.outcomes.get(position.part.target, {}).get(position.setting.key)
            help.show(position, staged, self._drift_text(position), outcome)

    def _drift_text(self, position: SettingPosition) -> str:
        """Return the value that the state file requires, and why it cannot be set, if so; "" without a difference."""
        drift = self.drifts_at(position.part.target).get(position.setting.key)
        if drift is None or drift.wanted == position.reading.now:
            return ""
        wanted = value_text(position.setting, position.reading, drift.wanted)
        return f"{self._app.drifted.name}, line {drift.line}, requires {wanted}" + (
            f": {drift.why}." if drift.why else "."
        )

    def stage_wanted(self) -> bool:
        """Stage the state file's value for the setting under the cursor; return False if it is already set or staged.

        If it cannot be set, or if setting it destroys data, only show that reason and return True.
        """
        position = self._position()
        if position is None or self.wanted() != self.of or not (text := self._drift_text(position)):
            return False
        drift = self.drifts_at(position.part.target)[position.setting.key]
        if self._staged_value(position) == drift.wanted:
            return False
        if not drift.settable:
            self._app.notify_transient(text)
        elif (staged := self._require_changeable()) is not None:
            self._stage(staged, drift.wanted)
        return True

    def _position(self) -> SettingPosition | None:
        """Return the setting under the cursor."""
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

    def _require_changeable(self) -> SettingPosition | None:
        """Return the setting under the cursor if it can be changed; otherwise show the reason and return None.

        If the table does not have the focus, only focus it and return None.
        """
        table = self.table
        if self.screen.focused is not table:
            if table.rows:
                self.screen.set_focus(table)
            return None
        if self.wanted() != self.of:
            self._app.notify_transient("The settings of the row under the cursor are still being read.")
            return None
        if not self.parts and table.empty:
            self._app.notify_transient(f"There is no setting to choose yet: {table.empty}")
        position = self._position()
        if position is not None and position.reading.availability.why_not is not None:
            self.app.notify(
                f"{position.setting.label} cannot be changed: {position.reading.availability.why_not}.",
                severity="warning",
                markup=False,
            )
            return None
        return position

    def _staged_value(self, position: SettingPosition) -> str | None:
        return self.staged_at(position.part.target).get(position.setting.key, position.reading.now)

    def _stage(self, position: SettingPosition, value: str | None) -> None:
        self.outcomes.get(position.part.target, {}).pop(position.setting.key, None)
        self._app.stage(position.part.target, position.setting.key, None if value == position.reading.now else value)
        self.fill()

    def changeable(self) -> Iterator[tuple[str, Setting]]:
        """Yield the row keys and settings that can be changed."""
        for part in self.parts:
            for setting in part.settings:
                reading = part.readings.get(setting.key)
                if reading is not None and reading.availability.why_not is None:
                    yield f"{part.target}{_JOINT}{setting.key}" if part.heading else setting.key, setting

    def cycle(self, step: int) -> None:
        """Stage the next or previous value."""
        position = self._require_changeable()
        if position is None:
            return
        value = next_value(position.reading, self._staged_value(position), step)
        if value is not None:
            self._stage(position, value)

    def unstage(self) -> None:
        """Unstage the value of the setting."""
        position = self._position()
        if position is not None and self.wanted() == self.of:
            self._stage(position, None)

    @on(KeyedTable.RowSelected)
    def _row_selected(self) -> None:
        if self.screen.is_active:  # Ignore a second Enter before the dialog of the first one is visible.
            self.choose()

    def choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        position = self._require_changeable()
        if position is None:
            return
        from app.tui.devices.staged_changes import value_dialog

        def take(value: str | None) -> None:
            if value is not None:
                self._stage(position, value)

        dialog = value_dialog(position.setting, position.reading, self._staged_value(position))
        self.app.push_screen(dialog, take)


def _with_value(part: TargetSettings, key: str, now: str) -> TargetSettings:
    """Return the part with the value `now` of one setting, and without its effective value, which is unknown yet."""
    reading = part.readings.get(key)
    if reading is None or reading.now == now:
        return part
    return replace(part, readings={**part.readings, key: replace(reading, now=now, effective=None)})


# -- reading the settings of a device ---------------------------------------------------------------------------------

Read = Callable[[Target], Awaitable[Mapping[str, Reading]]]
"""Reads the settings of a target."""


async def parts_of(workbench: Workbench, inventory: Inventory, device: Device, read: Read) -> list[TargetSettings]:
    """Return the settings of a device and those of its queue. Raises RaidbenchError if they cannot be read."""
    queue = inventory.twin(device)
    parts = [await _part(workbench, device, read)]
    return parts if queue is None else [*parts, await _part(workbench, queue, read, f"Queue of {queue.device}")]


async def read_again(
    machine: MachineBackends, shown: Sequence[TargetSettings], moved: Container[Target], target: Target
) -> Mapping[str, Reading]:
    """Return the settings of a target after changes on the targets in `moved`. Do not read known values again.

    Settings of the kernel are always read, because that starts no program. Other unchanged targets keep the `shown`
    readings. A `SingleSettingReader` returns its cached readings, which a change updates. Raises RaidbenchError if they
    cannot be read.
    """
    readings = next((part.readings for part in shown if part.target == str(target)), None)
    if readings is not None and target not in moved and target.backend != KERNEL:
        return readings
    with machine.using_last_scan():
        return await (
            machine.read_cached if isinstance(machine.backend(target), SingleSettingReader) else machine.read
        )(target)


async def _part(workbench: Workbench, device: Device, read: Read, heading: str = "") -> TargetSettings:
    return TargetSettings(
        target=str(device.target),
        heading=heading,
        settings=workbench.hardware.settings(device.target),
        readings=dict(await read(device.target)),
        scope=device.target.scope,
    )


def settings_by_key(parts: Sequence[TargetSettings]) -> dict[str, tuple[Setting, Reading]]:
    """Return the settings of a device by key. Its own settings have priority over those of its queue."""
    return {
        setting.key: (setting, part.readings[setting.key])
        for part in sorted(parts, key=lambda part: not part.heading.startswith("Queue"))
        for setting in part.settings
        if setting.key in part.readings
    }


def vendor_defect(device: Device, error: Exception) -> RaidbenchError:
    """Return the error that reports a crash in a vendor module, so that the workbench continues."""
    return RaidbenchError(
        f"{device.target} cannot be read: its backend stopped with {type(error).__name__}: {error}",
        hint="This is a bug in raidbench or in the vendor module. Please report it.",
    )


def changeable_first(parts: Sequence[TargetSettings]) -> tuple[TargetSettings, ...]:
    """Return `parts`, the queue first if none of the device's own settings can be changed because a tool is missing."""
    if len(parts) < 2 or _is_changeable(parts[0]) or not _is_changeable(parts[1]):
        return tuple(parts)
    device_part, queue = parts
    return queue, replace(device_part, heading=f"Settings of {device_part.target}")


def _is_changeable(part: TargetSettings) -> bool:
    return any(reading.availability.available for reading in part.readings.values())


class SettingHelp(TextPanel):
    """Help on a setting: name, effect, why it is fixed or not effective, its legal values, and the description."""

    def __init__(self) -> None:
        super().__init__(id="setting-help")
        self._height = 0
        self._shown: tuple[SettingPosition | None, str | None, str, Cell | None] = (None, None, "", None)

    def show(
        self,
        position: SettingPosition | None,
        staged: str | None = None,
        file: str = "",
        outcome: Cell | None = None,
    ) -> None:
        """Show another setting; None shows nothing.

        `staged`: its staged value. `file`: text about the state file. `outcome`: the outcome of its last change.
        """
        if (position, staged, file, outcome) != self._shown:
            self._shown = (position, staged, file, outcome)
            self.update_lines()

    def on_resize(self) -> None:
        """Lay out the lines for the new height."""
        if self.size.height != self._height:
            self._height = self.size.height
            self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines. The values come before the description, which is cut on a low terminal.

        If the description does not fit, more of the values are only counted, because the list of Enter has them all.
        """
        lines = self._lay_out(width, value_lines=2)
        if len(lines) > self._height:
            lines = self._lay_out(width, value_lines=1)
        if len(lines) > self._height > 0:
            tone, text = lines[self._height - 1][-1]
            lines[self._height - 1 :] = [((tone, f"{wrap(text, max(1, width - 2))[0]} …"),)]
        return lines

    def _lay_out(self, width: int, *, value_lines: int) -> list[Line]:
        position, staged, file, outcome = self._shown
        if position is None:
            return []
        setting, reading = position.setting, position.reading
        when = f"  {effect_text(setting.effect, position.part.scope)}, {kept_text(setting.persistence)}"
        lines: list[Line] = [(("title", clean(setting.label)), ("label", clean(when)))]
        if reading.availability.why_not is not None:
            lines += _wrap_lines(f"Cannot be changed: {reading.availability.why_not}.", "warning", width)
        if (why := effective_reason_text(setting, reading)) is not None:
            lines += _wrap_lines(why, "warning" if reading.overruled else "label", width)
        lines += _wrap_lines(file, "warning", width) if file else []
        now_text = now_cell(setting, reading).text
        if outcome is not None:
            lines += _wrap_lines(f"{outcome.text}, now {now_text}", render.TONES[outcome.tone], width)
        elif staged is not None and not setting.secret:
            lines += _wrap_lines(f"staged {value_text(setting, reading, staged)}, now {now_text}", "accent", width)
        lines += _values(position, staged, width, value_lines)
        return [*lines, *_wrap_lines(setting.explained, "label", width)]


def _wrap_lines(text: str, tone: str, width: int) -> list[Line]:
    return [((tone, line),) for line in wrap(text, width)]


def _values(position: SettingPosition, staged: str | None, width: int, most: int) -> list[Line]:
    """Return lines with the legal values; if they need more than `most` lines, only the current and the staged one.

    These two are highlighted.
    """
    named = legal_labels(position.setting, position.reading)
    tones = {position.reading.now: "title", staged: "accent"}
    if sum(width_of(label) + 3 for _, label in named) > most * width:
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
