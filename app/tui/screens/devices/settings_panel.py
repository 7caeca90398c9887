"""The settings of the selected thing, and what is staged in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from app.engine.view.setting import COLUMNS, settings_table
from app.engine.view.table import Cell, Table
from app.tui import render
from app.tui.screens.devices.rows import SHOWN, next_value
from app.tui.screens.devices.setting_help import Explained, SettingHelp
from backends.model import Scope
from backends.settings import Reading, Setting
from backends.values import dataclass
from widgets.keyed_table import KeyedTable, TableColumn, TableRow

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

LEAST = {"setting": 16, "now": 12, "staged": 10}
"""Cells to which these columns are cut before the risk would be; what is left over goes to the first of them."""

_JOINT = "|"
"""Between target and key in the row keys of a part that is not the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
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
class Spot:
    """The setting under the cursor."""

    part: Part
    """Where it belongs."""
    setting: Setting
    """What it is."""
    reading: Reading
    """What it says."""


def settings_columns() -> tuple[TableColumn, ...]:
    """The columns of the table of settings."""
    columns = render.columns(Table(columns=COLUMNS).only(*SHOWN))
    return tuple(replace(column, least=LEAST.get(column.key)) for column in columns)


class SettingsPanel(Vertical):
    """A table of settings over a word of help. An array shows its block device's queue settings, too."""

    def __init__(self) -> None:
        super().__init__(id="settings-panel")
        self.parts: tuple[Part, ...] = ()
        """What is shown."""
        self.outcomes: dict[str, dict[str, Cell]] = {}
        """How changes ended: target -> key -> words; shown until something else is staged there."""

    def compose(self) -> ComposeResult:
        """Table and help."""
        yield KeyedTable(settings_columns(), id="settings", empty="looking for hardware ...")
        yield SettingHelp()

    @property
    def table(self) -> KeyedTable:
        """The table."""
        return self.query_one(KeyedTable)

    @property
    def _app(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    def show(self, parts: tuple[Part, ...]) -> None:
        """Show these settings."""
        self.parts = parts
        self.fill()

    def fill(self) -> None:
        """Bring the rows up to date with what is staged and what became of it."""
        rows: list[TableRow] = []
        for part in self.parts:
            staged = self._app.staged.get(part.target, {})
            ended = self.outcomes.get(part.target, {})
            table = settings_table(part.settings, part.readings, part.scope, staged=staged, outcomes=ended)
            own = render.rows(table.only(*SHOWN))
            if not part.heading:
                rows += own
            elif own:
                rows.append(TableRow(key=part.target, cells=(part.heading,), separator=True))
                rows += [
                    TableRow(key=f"{part.target}{_JOINT}{row.key}", cells=row.cells, dim=row.dim, tone=row.tone)
                    for row in own
                ]
        self.table.rows = tuple(rows)
        self._help()

    @on(KeyedTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        """What the setting under the cursor is about."""
        spot = self._spot()
        self.query_one(SettingHelp).show(
            None
            if spot is None
            else Explained(
                spot.setting,
                spot.reading,
                spot.part.scope,
                self._app.staged.get(spot.part.target, {}).get(spot.setting.key),
            )
        )

    def _spot(self) -> Spot | None:
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
                return Spot(part, setting, reading)
        return None

    def _changeable(self) -> Spot | None:
        """The setting under the cursor, if it may be changed; says why not. From elsewhere the table is entered."""
        table = self.table
        if self.screen.focused is not table:
            if table.rows:
                self.screen.set_focus(table)
            return None
        spot = self._spot()
        if spot is not None and spot.reading.availability.why_not is not None:
            self.app.notify(
                f"{spot.setting.label} cannot be changed: {spot.reading.availability.why_not}.",
                severity="warning",
                markup=False,
            )
            return None
        return spot

    def _staged(self, spot: Spot) -> str | None:
        return self._app.staged.get(spot.part.target, {}).get(spot.setting.key, spot.reading.now)

    def _stage(self, spot: Spot, value: str | None) -> None:
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
        value = next_value(spot.reading, self._staged(spot), step)
        if value is not None:
            self._stage(spot, value)

    def unstage(self) -> None:
        """Take the staged value of the setting back."""
        spot = self._spot()
        if spot is not None:
            self._stage(spot, None)

    @on(KeyedTable.RowSelected)
    def _row_selected(self) -> None:
        self.choose()

    def choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        spot = self._changeable()
        if spot is not None:
            from app.tui.screens.devices.asking import dialog

            self.app.push_screen(dialog(spot.setting, spot.reading, self._staged(spot)), self._chosen(spot))

    def _chosen(self, spot: Spot) -> Callable[[str | None], None]:
        def take(value: str | None) -> None:
            if value is not None:
                self._stage(spot, value)

        return take
