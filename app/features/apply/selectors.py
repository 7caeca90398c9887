"""Finds the devices that match a selector of a settings file, and creates selectors for devices. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.features.apply.settings_file import SELECTS
from backends.model import Array, Controller, Drive, Inventory, kind_of

Thing = Controller | Array | Drive


def all_devices(inventory: Inventory) -> Iterator[Thing]:
    """Yield all devices that may have settings. A disk with several paths is yielded once, as its first path."""
    yield from inventory.controllers
    yield from inventory.arrays
    yield from (drive for drive in inventory.drives if not drive.shown_elsewhere)


def matching_devices(inventory: Inventory, select: Mapping[str, str]) -> tuple[Thing, ...]:
    """Return the devices that a selector matches.

    The Linux disk of a controller's array or drive only matches a selector with an address or a vendor. With other
    selectors, the settings of its request queue are set through the array or drive.
    """
    exact = "address" in select or "vendor" in select
    hidden = frozenset() if exact else inventory.twins
    return tuple(
        device for device in all_devices(inventory) if device.target not in hidden and _is_selected(device, select)
    )


def _is_selected(device: Thing, select: Mapping[str, str]) -> bool:
    if (
        select.get("vendor", device.target.backend) != device.target.backend
    ):  # tested first, because it is fast and a large file has many selectors
        return False
    device_marks = selector_values(device)
    return all(value in device_marks.get(key, ()) for key, value in select.items())


def selector_values(device: Thing) -> dict[str, tuple[str, ...]]:
    """Return the values of a device that a selector may name, by selector key."""
    fields: dict[str, tuple[str | None, ...]] = {
        "address": (str(device.target),),
        "vendor": (device.target.backend,),
        "kind": (kind_of(device),),
    }
    match device:
        case Controller():
            fields |= {"serial": (device.serial,), "model": (device.model,)}
        case Array():
            identity = device.identity
            fields |= {"level": (device.level.value,), "name": (device.name,)}
            fields |= {"wwn": (identity.wwn,), "serial": (identity.serial,)} if identity is not None else {}
        case Drive():
            identity = device.identity
            fields |= {"media": (device.media.value,), "model": (device.model,)}
            fields |= {
                "wwn": (device.wwn, identity.wwn if identity else None),
                "serial": (device.serial, identity.serial if identity else None),
            }
    if not isinstance(device, Controller):
        points = [use.detail.removeprefix("mounted on ") for use in device.uses if use.kind == "mount"]
        folder = device.folder if isinstance(device, Array) else None
        fields["mount"] = (*points, folder)
    return {key: tuple(dict.fromkeys(value for value in values if value)) for key, values in fields.items()}


def unique_selector(inventory: Inventory, device: Thing) -> dict[str, str]:
    """Return a selector that matches only this device: by WWN or serial number if these are unique, else by address."""
    device_marks = selector_values(device)
    for key in ("wwn", "serial"):
        for value in device_marks.get(key, ()):
            select = {"vendor": device.target.backend, "kind": device_marks["kind"][0], key: value}
            if len(value) >= 4 and matching_devices(inventory, select) == (device,):
                return {name: select[name] for name in SELECTS if name in select}
    return {"address": str(device.target)}


def model_selector(device: Thing) -> dict[str, str] | None:
    """Return a selector that matches, on any machine, all devices of the same model, level or media; None if these are
    unknown.
    """
    device_marks = selector_values(device)
    key = next((key for key in ("model", "level", "media") if device_marks.get(key)), None)
    if key is None:
        return None
    return {"vendor": device.target.backend, "kind": device_marks["kind"][0], key: device_marks[key][0]}
