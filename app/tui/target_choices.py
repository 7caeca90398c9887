"""Rows of selection dialogs: the profiles, and the measurable devices, each with name, size, kind and use."""

from __future__ import annotations

from app.core.fio.profiles import PROFILES
from app.core.presentation.device import kind_text
from app.core.presentation.device_table import use_text
from app.doors import action
from backends.display_names import name_of
from backends.model import Array, Drive, Inventory
from backends.sizes import size_words
from widgets.choice_list import ChoiceItem

_NAME, _KIND, _USE = 24, 10, 16
"""Maximum number of cells for a device's name, kind and use. A row of the dialog has 72."""


def measurable_devices(inventory: Inventory) -> tuple[Array | Drive, ...]:
    """Return the arrays and drives that have a block device: first arrays of controllers, then other arrays, drives."""
    arrays = sorted(inventory.arrays, key=lambda array: array.controller is None)
    listed: tuple[Array | Drive, ...] = (*arrays, *inventory.drives)
    return tuple(device for device in listed if device.device is not None and device.target not in inventory.twins)


def target_items(inventory: Inventory) -> tuple[ChoiceItem, ...]:
    """Return a dialog row for each measurable device."""
    devices = measurable_devices(inventory)
    longest = min(_NAME, max((len(name_of(device)) for device in devices), default=0))
    return tuple(_choice(device, longest) for device in devices)


def workload_items() -> tuple[ChoiceItem, ...]:
    """Return a dialog row for each profile."""
    return tuple(
        ChoiceItem(
            value=profile.name, label=profile.title, help=profile.help, risk="writes" if profile.job.writes else ""
        )
        for profile in PROFILES.values()
    )


def fit_items() -> tuple[ChoiceItem, ...]:
    """Return a dialog row for each program that a folder can be fit for; () without the feature `fit`."""
    choices = action("fit.choices")
    return () if choices is None else tuple(choices())


def _choice(device: Array | Drive, longest: int) -> ChoiceItem:
    used = f"in use: {device.uses[0].kind} {device.uses[0].detail}. " if device.uses else ""
    use = use_text(device.uses)
    model = device.model or "" if isinstance(device, Drive) else ""
    row = f"{_cut(name_of(device), longest):<{longest}}  {size_words(device.size_bytes):>8}"
    return ChoiceItem(
        value=str(device.target),
        label=f"{row}  {_cut(kind_text(device), _KIND):<{_KIND}}  {_cut(model, 20)}".rstrip(),
        help=f"{device.target}: {used}Reading a raw device is safe, writing to it destroys its data.",
        risk=(use if 0 < len(use) <= _USE else "in use") if device.uses else "",
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
