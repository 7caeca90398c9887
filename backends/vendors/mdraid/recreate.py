"""Commands that re-create an array with the same members, and a recovery hint after an interruption.

After an interrupted re-creation, the members often still contain the old array, including its data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.change import Change
from backends.errors import RaidbenchError
from backends.host import STALL, Command, Host
from backends.topology.tree import node_path, number
from backends.vendors.mdraid.details import WHOLE_EXAMINE, misnamed_examine
from backends.vendors.mdraid.facts import ArrayFacts, parse_uuid
from backends.vendors.mdraid.readings import bitmap_word

GEOMETRY = {"chunk_size": "chunk", "layout": "layout"}
"""Key in `SHAPE` of each setting whose change moves all data."""

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
"""Options of mdadm by parameter of an array, in addition to level, UUID and members.
Sizes are stored in bytes, and passed to mdadm in KiB.
"""

IN_BYTES = ("chunk", "size", "data_offset")
"""Keys of `SHAPE` that are sizes."""


def shape_of(array: ArrayFacts, name: str | None) -> dict[str, str] | str:
    """Return the parameters of an array by key of `SHAPE`, or the reason why they are unknown.

    `name`: mdadm's name of the array.
    """
    offsets = {device.offset_bytes for device in array.active}
    if len(offsets) != 1 or None in offsets:
        return "the data offsets of its members differ"
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
    """Return the commands that stop and re-create the array with its members and UUID, or why that is not possible.

    `--run` suppresses mdadm's prompt about members that already belong to an array. `--assume-clean` is not used, so a
    resync makes the copies equal.
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
    """Return a value as mdadm's option expects it: sizes in KiB, other values unchanged."""
    size = number(value) if key in IN_BYTES else None
    return value if size is None else f"{size // 1024}K"


def nodes_of(array: ArrayFacts) -> tuple[str, ...]:
    """Return the nodes of the array's members, in the order of their slots."""
    return tuple(node_path(device.name) for device in array.active)


def devices_in(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the nodes of the members in the arguments of `mdadm --create`, which are the last arguments."""
    devices: list[str] = []
    for word in reversed(argv):
        if not word.startswith("/dev/"):
            break
        devices.append(word)
    return tuple(reversed(devices))


def _blocked_reason(array: ArrayFacts) -> str | None:
    members = array.active
    if array.metadata not in _METADATA:
        return f"its metadata is {array.metadata or 'not known'}"
    if array.uuid is None:
        return "its UUID is not known"
    if array.disks is None or len(members) != array.disks or len(array.members) != array.disks:
        return "it has missing, spare or failed members"
    if any(member.marks for member in members):
        return "members are marked write-mostly or failfast. Remove the marks first"
    return None


# -- hint after an interrupted re-creation ----------------------------------------------------------------------------

_LINE = re.compile(
    r"^ *(Array UUID|Raid Level|Raid Devices|Layout|Chunk Size|Data Offset) : ([^\n]{1,80}?) *$", re.MULTILINE
)
_NAMES = {
    "Array UUID": "uuid",
    "Raid Level": "level",
    "Raid Devices": "devices",
    "Layout": "layout",
    "Chunk Size": "chunk",
    "Data Offset": "data_offset",
}
_SHAPE_KEYS = ("layout", "chunk", "data_offset")
"""Parameters of the array that `mdadm --examine` reports from the superblock of a member."""

_NODE = re.compile(r"/dev/[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9+_./-]{0,127}")
_COPIES = re.compile(r"(near|far|offset)=(\d{1,3})", re.ASCII)


async def assembly_hint(host: Host, mdadm: str, device: str, change: Change) -> str | None:
    """Return a hint how to assemble an array that a change stopped and did not re-create; None if there is none.

    Near its end mdadm writes the metadata of all members at once (Create.c, write_init_super). Before that, the members
    contain the old array, and afterwards the new one. Return None if they contain neither, or if the change does not
    record the members and the UUID of the array.
    """
    uuid = parse_uuid((change.identity.wwn or "").removeprefix("md.")) if change.identity is not None else None
    option = GEOMETRY.get(change.key)
    if uuid is None or option is None or not change.members or not all(map(_NODE.fullmatch, change.members)):
        return None
    examined = [await _examine(host, mdadm, member) for member in change.members]
    fields = {"uuid": uuid, "devices": str(len(change.members))}
    shape = {key: option_value(key, text) for key, text in change.companions.items() if key in _SHAPE_KEYS}
    for value, state_text in (
        (change.before, "in its old form, with its data"),
        (change.after, "with the new settings"),
    ):
        wanted = {**fields, **shape, option: option_value(option, value or "")}
        alike = len({record.get("level") for record in examined}) == 1
        if alike and all(wanted.items() <= record.items() for record in examined):
            nodes = " ".join(change.members)
            return f"Its members contain the array {state_text}. Assemble it with: mdadm --assemble {device} {nodes}"
    return None


async def _examine(host: Host, mdadm: str, member: str) -> Mapping[str, str]:
    try:
        done = await host.run(Command(argv=(mdadm, "--examine", member), timeout=20, stall=STALL))
    except RaidbenchError:
        return {}
    if WHOLE_EXAMINE.lost(done) or misnamed_examine(done.stdout, member):
        return {}
    return parse_examine(done.stdout)


def parse_examine(text: str) -> dict[str, str]:
    """Return the parameters of the array from the output of `mdadm --examine`, in the format of `mdadm --create`."""
    by_option: dict[str, str] = {}
    for name, value in _LINE.findall(text[:20_000]):
        copies = _COPIES.fullmatch(value)
        if name == "Layout" and copies:
            value = f"{copies[1][0]}{copies[2]}"
        if name == "Data Offset" and value.endswith(" sectors"):
            value = f"{int(value.removesuffix(' sectors')) // 2}K"
        by_option[_NAMES[name]] = value
    return by_option
