"""The commands that take an array apart and make it anew of the same members. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.topology.tree import number
from backends.vendors.mdraid.facts import ArrayFacts
from backends.vendors.mdraid.readings import bitmap_word

_METADATA = ("1.2", "1.1", "1.0")
"""md's own metadata that hold a UUID, a name and where data begin."""

SHAPE = {
    "chunk": "--chunk",
    "layout": "--layout",
    "bitmap": "--bitmap",
    "size": "--size",
    "data_offset": "--data-offset",
    "name": "--name",
}
"""What an array is made with besides level, UUID and members, as its options; sizes in bytes, options in KiB."""

IN_BYTES = ("chunk", "size", "data_offset")
"""Those of them that are sizes."""


def shape_of(array: ArrayFacts, name: str | None) -> dict[str, str] | str:
    """What it is made with, or why that cannot be told. `name`: what mdadm calls it."""
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
    """Stop, then create of the same members and with the same UUID; or why that cannot be done.

    `--run` answers the question whether members that bear an array's metadata are to be used. Nothing is assumed to be
    clean: a resync follows, which makes the copies equal.
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
    """The word of an option of `SHAPE`."""
    size = number(value) if key in IN_BYTES else None
    return value if size is None else f"{size // 1024}K"


def nodes_of(array: ArrayFacts) -> tuple[str, ...]:
    """The nodes of its members, by their place."""
    return tuple(f"/dev/{device.name.replace('!', '/')}" for device in array.active)


def devices_in(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The members that a `--create` names: its last words."""
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
