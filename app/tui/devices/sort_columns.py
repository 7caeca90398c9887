"""Dialogs for order and columns of the device list, which save the choice in the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.config import save_key
from app.core.presentation.device_table import COLUMNS, KEYS, ORDERS
from app.tui.devices.device_list import DeviceList
from backends.errors import RaidbenchError
from widgets.choice_list import ChoiceDialog, ChoiceItem

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


def choose_order(app: AppInterface, devices: DeviceList) -> None:
    """Ask for the order of the device list."""

    def sort(order: str | None) -> None:
        if order is not None:
            devices.sort(order)
            _keep(app, "devices_order", order)

    items = tuple(ChoiceItem(value=key, label=text) for key, (text, _) in ORDERS.items())
    app.push_screen(ChoiceDialog("Sort the list by", items, devices.listing.order), sort)


async def choose_columns(app: AppInterface, devices: DeviceList) -> None:
    """Ask which columns to show, one at a time, until the user leaves the dialog."""
    key: str | None = devices.shown[0]
    while key is not None:
        shown = devices.shown
        items = tuple(
            ChoiceItem(value=column.key, label=f"{'*' if column.key in shown else ' '} {column.title}")
            for column in COLUMNS
        )
        key = await app.push_screen_wait(ChoiceDialog("Columns: Enter shows or hides one, Esc closes", items, key))
        if key is not None:
            wanted = tuple(column_key for column_key in KEYS if (column_key in shown) != (column_key == key))
            devices.choose(wanted or shown)
    _keep(app, "devices_columns", devices.shown)


def _keep(app: AppInterface, key: str, value: str | tuple[str, ...]) -> None:
    """Save a choice in the configuration."""
    path = app.options.config
    try:
        if path is not None:
            save_key(path, key, value)
    except RaidbenchError as error:
        app.show_error(error)
