"""What the list of devices is sorted by and which columns it has: chosen, and kept for the next time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.config import keep
from app.core.presentation.device_table import COLUMNS, KEYS, ORDERS
from app.tui.devices.device_list import DeviceList
from backends.errors import RaidbenchError
from widgets.choice_list import ChoiceDialog, ChoiceItem

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


class SortColumnsDialog:
    """Asks how the list is to be arranged."""

    def __init__(self, app: AppInterface, devices: DeviceList) -> None:
        self._app = app
        self._list = devices

    def sort(self) -> None:
        """Choose what it is sorted by."""
        items = tuple(ChoiceItem(value=key, label=text) for key, (text, _) in ORDERS.items())
        self._app.push_screen(ChoiceDialog("Sort the list by", items, self._list.listing.order), self._sorted)

    def _sorted(self, order: str | None) -> None:
        if order is not None:
            self._list.sort(order)
            self._keep("devices_order", order)

    async def choose_columns(self) -> None:
        """Choose the columns, one after the other, until somebody leaves the dialog."""
        key: str | None = self._list.shown[0]
        while key is not None:
            shown = self._list.shown
            items = tuple(
                ChoiceItem(value=column.key, label=f"{'*' if column.key in shown else ' '} {column.title}")
                for column in COLUMNS
            )
            dialog = ChoiceDialog("Columns: Enter shows or hides one, Esc ends", items, key)
            key = await self._app.push_screen_wait(dialog)
            if key is not None:
                wanted = tuple(column_key for column_key in KEYS if (column_key in shown) != (column_key == key))
                self._list.choose(wanted or shown)
        self._keep("devices_columns", self._list.shown)

    def _keep(self, key: str, value: str | tuple[str, ...]) -> None:
        """Write a choice into the configuration, for the next time."""
        path = self._app.options.config
        try:
            if path is not None:
                keep(path, key, value)
        except RaidbenchError as error:
            self._app.tell(error)
