"""Which things a selector means. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.features.apply.settings_file import SELECTS
from backends.model import Array, Controller, Drive, Inventory, kind_of

Thing = Controller | Array | Drive


def everything(inventory: Inventory) -> Iterator[Thing]:
    """All things that may have settings; a disk by its first path."""
    yield from inventory.controllers
    yield from inventory.arrays
    yield from (drive for drive in inventory.drives if not drive.shown_elsewhere)


def selected(inventory: Inventory, select: Mapping[str, str]) -> tuple[Thing, ...]:
    """What a selector means.

    Where it names neither an address nor a vendor, a disk that is also an array or a vendor's drive counts once, as
    that: the settings of its queue are reached through it.
    """
    exact = "address" in select or "vendor" in select
    hidden = frozenset() if exact else inventory.twins
    return tuple(
        device for device in everything(inventory) if device.target not in hidden and _is_selected(device, select)
    )


def _is_selected(device: Thing, select: Mapping[str, str]) -> bool:
    if select.get("vendor", device.target.backend) != device.target.backend:  # a file of all selects often
        return False
    device_marks = marks(device)
    return all(value in device_marks.get(key, ()) for key, value in select.items())


def marks(device: Thing) -> dict[str, tuple[str, ...]]:
    """What a thing is known by, by the key of a selector."""
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


def selector_of(inventory: Inventory, device: Thing) -> dict[str, str]:
    """What means this thing and no other: by its WWN or serial number where that does, else by its address."""
    device_marks = marks(device)
    for key in ("wwn", "serial"):
        for value in device_marks.get(key, ()):
            select = {"vendor": device.target.backend, "kind": device_marks["kind"][0], key: value}
            if len(value) >= 4 and selected(inventory, select) == (device,):
                return {name: select[name] for name in SELECTS if name in select}
    return {"address": str(device.target)}


def sort_of(device: Thing) -> dict[str, str] | None:
    """What means all of its sort, on any machine: vendor and model, of arrays the level; None where that is unknown."""
    device_marks = marks(device)
    key = next((key for key in ("model", "level", "media") if device_marks.get(key)), None)
    if key is None:
        return None
    return {"vendor": device.target.backend, "kind": device_marks["kind"][0], key: device_marks[key][0]}
