"""A list of devices and the selected one: beside it where there is room, else over it."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult

from app.core.presentation.device import capacity_text, kind_text, state_cell
from app.core.presentation.device_tree import DeviceTreeNode, state_reason
from app.tui.base import WorkbenchScreen
from app.tui.devices.detail import DeviceDetail
from app.tui.devices.device_list import DeviceList, unfolded_text
from app.tui.devices.settings_panel import SettingsPanel
from app.tui.render import MARKS
from backends.display_names import name_of
from backends.model import Array, Device
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane

BESIDE = 118
"""Columns from which the device is shown beside the list: three fifths of them hold how a device is tuned."""


class ListDetailScreen(WorkbenchScreen):
    """What the screens of devices have in common, whoever's devices they are."""

    AUTO_FOCUS = "#devices"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (BESIDE, "-beside")]  # noqa: RUF012

    def body(self) -> ComposeResult:
        """The list; the selected device."""
        options = self.workbench_app.options
        with Pane(self.list_title, id="devices-pane"):
            yield DeviceList(options.devices_columns, options.devices_order)
        with Pane("", id="detail-pane"):
            yield self.make_detail()

    @property
    def list_title(self) -> str:
        """What stands above the list."""
        return "Devices"

    def make_detail(self) -> DeviceDetail:
        """What shows the selected device."""
        return DeviceDetail()

    @property
    def devices(self) -> DeviceList:
        """The list."""
        return self.query_one(DeviceList)

    @property
    def detail(self) -> DeviceDetail:
        """The selected device."""
        return self.query_one(DeviceDetail)

    @property
    def panel(self) -> SettingsPanel:
        """Its settings."""
        return self.query_one(SettingsPanel)

    def note(self, text: str) -> None:
        """What stands in the frame of the list."""
        self.query_one("#devices-pane", Pane).note = text

    def show_title(self, device: Device | None, otherwise: str) -> None:
        """Name the selected device above it; of a row about none, `otherwise`."""
        self.query_one("#detail-pane", Pane).title = otherwise if device is None else title_text(device)

    def show_hidden_cells(self) -> None:
        """What the row has no column for, where the device is not shown beside the list."""
        self.hint(self.devices.beside if self._one_of_them and not self.detail.holds_focus else "")

    @property
    def _one_of_them(self) -> bool:
        """Whether there is room for the list or the device only."""
        return self.size.width < BESIDE

    # Textual calls the handlers of every class of a screen, the nearest first: none of them calls the next.

    def on_resize(self, event: events.Resize) -> None:
        """Whatever has the keys stays in sight."""
        self.set_class(self.detail.holds_focus, "-inside")
        self.call_after_refresh(self.show_hidden_cells)

    def on_descendant_focus(self) -> None:
        """Where there is room for one only, it is the one with the keys."""
        self.set_class(self.detail.holds_focus, "-inside")
        self.show_hidden_cells()

    @on(KeyedTable.RowSelected, "#devices")
    def _row_selected(self) -> None:
        self.enter_row()

    def enter_row(self) -> None:
        """What Enter on a row does: it goes into its device."""
        self.go_inside()

    def go_inside(self) -> None:
        """To the device that is selected."""
        self.devices.pin_cursor()
        self.add_class("-inside")
        self.set_focus(self.detail.entrance)

    def leave_inside(self) -> None:
        """Back to the list."""
        self.remove_class("-inside")
        self.set_focus(self.devices)

    def action_into(self) -> None:
        """Open the branch, or go into the device."""
        if not self.detail.holds_focus and not self.devices.open_branch():
            self.go_inside()

    def action_back(self) -> None:
        """One step back: out of the device, out of the branch, out of the list."""
        if self.detail.holds_focus:
            self.leave_inside()
        elif not self.devices.close_branch():
            self.leave_list()

    def leave_list(self) -> None:
        """One step back from the top of the list."""
        super().action_back()

    def action_tab(self) -> None:
        """Show the next tab of the device."""
        self.detail.next_tab()
        if self._one_of_them and not self.detail.holds_focus:
            self.go_inside()

    def action_unfold(self) -> None:
        """Show every member of every array, or again only what wants a look."""
        self.leave_inside()
        self.say(unfolded_text(self.devices.toggle_all()))


def title_text(device: Device) -> str:
    """Name, level, size and state of a device."""
    branch = DeviceTreeNode(device=device, why=state_reason(device) if isinstance(device, Array) else "")
    state = state_cell(branch)
    sign = "" if state.mark is None else f"{MARKS[state.mark]} "
    parts = (name_of(device), kind_text(device), capacity_text(device), f"{sign}{state.text}".strip())
    return " · ".join(filter(None, parts))
