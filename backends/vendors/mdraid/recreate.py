"""Commands that delete an array and re-create it with the same members. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.topology.tree import node_path, number
from backends.vendors.mdraid.facts import ArrayFacts
from backends.vendors.mdraid.readings import bitmap_word

_METADATA = ("1.2", "1.1", "1.0")
"""md metadata versions that have a UUID, a name and a data offset."""

SHAPE = {
    "chunk": "--chunk",
    "layout": "--layout",
    "bitmap": "--bitmap",
    "size": "--size",
    "data_offset": "--data-offset",
    "name": "--name",
}
"""Options of an array in addition to level, UUID and members; values in bytes, options in KiB."""

IN_BYTES = ("chunk", "size", "data_offset")
"""Keys of `SHAPE` that are sizes."""


def shape_of(array: ArrayFacts, name: str | None) -> dict[str, str] | str:
    """Return the parameters of an array, or why they are unknown. `name`: mdadm's name of it."""
    offsets = {device.offset_bytes for device in array.active}
    if len(offsets) != 1 or None in offsets:
        return "the data of its members begin at different places"
    bitmap = bitmap_word(array.attributes) if array.level_word != "raid0" else None
    if array.level_word != "raid0" and bitmap not in ("none", "internal"):
        return "its bitmap is neither none nor internal"
    options = {
        "chunk": None if array.chunk is None else str(array.chunk.now),
        "layout": array.layout_word,
        "bitmap": bitmap,
        "size": str(array.component_bytes) if array.component_bytes else None,
        "data_offset": str(next(iter(offsets))),
        "name": name or None,
    }
    return {key: value for key, value in options.items() if value is not None}


def recreation(
    array: ArrayFacts, *, mdadm: str, device: str, shape: Mapping[str, str]
) -> tuple[tuple[str, ...], ...] | str:
    """Return the commands that stop and re-create the array with members and UUID kept, or why that is not possible.

    `--run` answers mdadm's prompt about members with metadata of an array. `--assume-clean` is not used: a resync
    follows, which makes the copies equal.
    """
    reason = _blocked_reason(array)
    if reason is not None:
        return reason
    parts = [
        mdadm,
        "--create",
        device,
        "--run",
        f"--metadata={array.metadata}",
        f"--level={array.level_word}",
        f"--raid-devices={array.disks}",
        *_options(shape, "chunk", "layout"),
        f"--uuid={array.uuid}",
        *_options(shape, "name", "data_offset", "size", "bitmap"),
    ]
    return ((mdadm, "--stop", device), (*parts, *nodes_of(array)))


def _options(shape: Mapping[str, str], *keys: str) -> list[str]:
    return [f"{SHAPE[key]}={option_value(key, shape[key])}" for key in keys if key in shape]


def option_value(key: str, value: str) -> str:
    """Return the value of an option of `SHAPE`."""
    size = number(value) if key in IN_BYTES else None
    return value if size is None else f"{size // 1024}K"


def nodes_of(array: ArrayFacts) -> tuple[str, ...]:
    """Return the nodes of its members by slot."""
    return tuple(node_path(device.name) for device in array.active)


def devices_in(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the members in a `--create` command: its last arguments."""
    devices: list[str] = []
    for word in reversed(argv):
        if not word.startswith("/dev/"):
            break
        devices.append(word)
    return tuple(reversed(devices))


def _blocked_reason(array: ArrayFacts) -> str | None:
    members = array.active
    if array.metadata not in _METADATA:
        return f"its metadata are {array.metadata or 'not known'}"
    if array.uuid is None:
        return "its UUID is not known"
    if array.disks is None or len(members) != array.disks or len(array.members) != array.disks:
        return "it has missing, spare or failed members"
    if any(member.marks for member in members):
        return "members are marked write-mostly or failfast: take the marks off first"
    return None
