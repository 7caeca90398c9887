"""Display names of devices as administrators use them. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.model import KERNEL, MAPPER, Array, Controller, Device, Drive, Inventory

_MAPPED = "/dev/mapper/"
_ON_A_CARD = re.compile(r"/c\d+(?:/[a-z]\d+)+|/(?:slot|arc|aac)\d+[a-zA-Z]?/ld\d+")


def name_of(device: Device) -> str:
    """Return the display name: `c0`, `ssd`, `e245:s10`, `sda`, `md0`, `vg0/db`.

    It is never a number that may belong to another device after a reboot.
    """
    address = device.target.address
    match device:
        case Array() if device.device != f"/dev/{address}" and device.name:
            return device.name  # not for md arrays, which administrators call by the kernel's name
        case Drive() | Array() if device.controller is not None:
            address = address.removeprefix(f"{device.controller.address.rstrip('/')}/")
        case _:
            pass
    return address.strip("/").replace("/", ":")


def find_by_name(inventory: Inventory, name: str) -> tuple[Device, ...]:
    """Return all devices with a display name, each once."""
    twins = inventory.twins
    return tuple(device for device in inventory.devices if name_of(device) == name and device.target not in twins)


def addresses(inventory: Inventory, device: Device) -> tuple[str, ...]:
    """Return every address of a device: its own first, then the kernel's, the vendor's and the nodes of all paths."""
    return tuple(dict.fromkeys((str(device.target), *_others(inventory, device))))


def _others(inventory: Inventory, device: Device) -> Iterator[str]:
    if isinstance(device, Controller) or device.device is None:
        return
    nodes = {device.device, *(device.paths if isinstance(device, Drive) else ())}
    yield from (str(view.target) for node in sorted(nodes) for view in inventory.at(node))
    if isinstance(device, Array) and device.link is not None:
        yield from (f"{MAPPER}:{device.called}",) if device.link.startswith(_MAPPED) else ()
        yield f"{KERNEL}:{device.device.removeprefix('/dev/')}"


def is_behind_controller(text: str) -> bool:
    """Return whether a text has the form of an address behind a controller: `/c0/v1`, `/slot0/ld1`."""
    return _ON_A_CARD.fullmatch(text) is not None


def is_path(text: str) -> bool:
    """Return whether a target names a folder or file, not a device node or an address behind a controller."""
    return text.startswith(("/", "./", "../", "~/")) and not (text.startswith("/dev/") or is_behind_controller(text))
