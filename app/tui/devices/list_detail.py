"""A list of devices and the selected device, next to the list or in its place."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult

from app.core.presentation.device import capacity_text, kind_text, state_cell
from app.core.presentation.device_tree import DeviceTreeNode, state_reason
from app.tui.devices.detail import DeviceDetail, FactsPane
from app.tui.devices.device_list import DeviceList, expansion_text
from app.tui.devices.settings_panel import SettingsPanel
from app.tui.filtered_screen import FilteredScreen
from app.tui.render import MARKS
from backends.display_names import name_of
from backends.model import Array, Device
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane

TWO_PANES = 118
"""Minimum width of the terminal in columns for the selected device to be shown next to the list.

The list gets three fifths of the width. The remaining columns are enough for the settings of a device.
"""


class ListDetailScreen(FilteredScreen):
    """Base class of the screens that list devices, of this or another host."""

    AUTO_FOCUS = "#devices"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (TWO_PANES, "-beside")]  # noqa: RUF012

    def body(self) -> ComposeResult:
        """Compose the list and the selected device."""
        options = self.workbench_app.options
        with Pane(self.list_title, id="devices-pane"):
            yield DeviceList(options.devices_columns, options.devices_order)
        with Pane("", id="detail-pane"):
            yield self.make_detail()

    @property
    def list_title(self) -> str:
        """Title in the frame of the device list."""
        return "Devices"

    def make_detail(self) -> DeviceDetail:
        """Return the widget for the selected device."""
        return DeviceDetail()

    @property
    def devices(self) -> DeviceList:
        """The list."""
        return self.query_one(DeviceList)

    @property
    def filtered_list(self) -> DeviceList:
        """The list."""
        return self.devices

    @property
    def detail(self) -> DeviceDetail:
        """The selected device."""
        return self.query_one(DeviceDetail)

    @property
    def panel(self) -> SettingsPanel:
        """Settings of the selected device."""
        return self.query_one(SettingsPanel)

    def note(self, text: str) -> None:
        """Set the note in the frame of the list."""
        self.query_one("#devices-pane", Pane).note = text

    def show_title(self, device: Device | None, otherwise: str) -> None:
        """Show the name of the selected device above its settings; for a row without a device, show `otherwise`."""
        self.query_one("#detail-pane", Pane).title = otherwise if device is None else title_text(device)

    def show_hidden_cells(self) -> None:
        """Show the row's values in columns for which there is no room, unless the device is shown next to the list.

        While the device is shown in place of the list, they stay.
        """
        if not self._shows_one_pane:
            self.hint("")
        elif self.devices.size:
            self.hint(self.devices.hidden_text)

    @property
    def is_inside(self) -> bool:
        """Whether the selected device has the focus, also if it is in the pane of facts next to it."""
        return self.detail.holds_focus or isinstance(self.focused, FactsPane)

    @property
    def _shows_one_pane(self) -> bool:
        """Whether the list and the device do not fit next to each other."""
        return self.size.width < TWO_PANES

    # Textual calls the handlers of every class in the MRO, so a handler must not call super().

    def on_resize(self, event: events.Resize) -> None:
        """Keep the focused part visible."""
        self.set_class(self.detail.holds_focus, "-inside")
        self.call_after_refresh(self.show_hidden_cells)

    def on_descendant_focus(self) -> None:
        """If the list and the device do not fit next to each other, show the one that has the focus."""
        self.set_class(self.detail.holds_focus, "-inside")

    @on(KeyedTable.RowSelected, "#devices")
    def _row_selected(self) -> None:
        self.enter_row()

    def enter_row(self) -> None:
        """Handle Enter on a row: go to its device."""
        self.go_inside()

    def go_inside(self) -> None:
        """Focus the selected device."""
        self.devices.pin_cursor()
        self.add_class("-inside")
        self.set_focus(self.detail.entrance)

    def leave_inside(self) -> None:
        """Return to the list."""
        self.remove_class("-inside")
        self.set_focus(self.devices)

    def action_into(self) -> None:
        """Expand the row, or go to the device."""
        if not self.detail.holds_focus and not self.devices.open_branch():
            self.go_inside()

    def action_back(self) -> None:
        """Go back one step: from the device to the list, from the filter, to the parent row, or out of the list."""
        if self.clear_filter():
            return
        if self.is_inside:
            self.leave_inside()
        elif not self.devices.close_branch():
            self.leave_list()

    def leave_list(self) -> None:
        """Go back one step from the top of the list."""
        super().action_back()

    def action_tab(self) -> None:
        """Show the next tab of the device."""
        self.detail.next_tab()
        if self._shows_one_pane and not self.detail.holds_focus:
            self.go_inside()

    def action_unfold(self) -> None:
        """Expand every array, or collapse those without faulty devices."""
        self.leave_inside()
        self.say(expansion_text(self.devices.toggle_all()))


def title_text(device: Device) -> str:
    """Return name, level, size and state of a device."""
    branch = DeviceTreeNode(device=device, why=state_reason(device) if isinstance(device, Array) else "")
    state = state_cell(branch)
    sign = "" if state.mark is None else f"{MARKS[state.mark]} "
    parts = (name_of(device), kind_text(device), capacity_text(device), f"{sign}{state.text}".strip())
    return " · ".join(filter(None, parts))
