"""Recovery hint for an array whose re-creation was interrupted: its members often still have it, including data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.change import Change
from backends.errors import RaidbenchError
from backends.host import STALL, Command, Host
from backends.vendors.mdraid.details import WHOLE_EXAMINE, misnamed_examine
from backends.vendors.mdraid.facts import parse_uuid
from backends.vendors.mdraid.plans import GEOMETRY
from backends.vendors.mdraid.recreate import option_value

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
"""Parameters of the array in the superblock of a member."""

_NODE = re.compile(r"/dev/[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9+_./-]{0,127}")
_COPIES = re.compile(r"(near|far|offset)=(\d{1,3})", re.ASCII)


async def assembly_hint(host: Host, mdadm: str, device: str, change: Change) -> str | None:
    """Return the hint to assemble an array that a change stopped and did not re-create, if its members agree.

    mdadm writes all metadata at once near its end (Create.c, write_init_super). Before that the members have the old
    array, afterwards the new one. None if they have neither, or if the change names neither its members nor the array.
    """
    uuid = parse_uuid((change.identity.wwn or "").removeprefix("md.")) if change.identity is not None else None
    option = GEOMETRY.get(change.key)
    if uuid is None or option is None or not change.members or not all(map(_NODE.fullmatch, change.members)):
        return None
    examined = [await _examine(host, mdadm, member) for member in change.members]
    fields = {"uuid": uuid, "devices": str(len(change.members))}
    shape = {key: option_value(key, text) for key, text in change.companions.items() if key in _SHAPE_KEYS}
    for value, state_text in ((change.before, "as it was, with its data"), (change.after, "as it was to become")):
        wanted = {**fields, **shape, option: option_value(option, value or "")}
        alike = len({record.get("level") for record in examined}) == 1
        if alike and all(wanted.items() <= record.items() for record in examined):
            nodes = " ".join(change.members)
            return f"Its members hold it {state_text}. Bring it back with: mdadm --assemble {device} {nodes}"
    return None


async def _examine(host: Host, mdadm: str, member: str) -> Mapping[str, str]:
    try:
        done = await host.run(Command(argv=(mdadm, "--examine", member), timeout=20, stall=STALL))
    except RaidbenchError:
        return {}
    if WHOLE_EXAMINE.lost(done) or misnamed_examine(done.stdout, member):
        return {}
    return parse_examined(done.stdout)


def parse_examined(text: str) -> dict[str, str]:
    """Return the array's parameters in `mdadm --examine`, by options and values of `mdadm --create`."""
    by_option: dict[str, str] = {}
    for name, value in _LINE.findall(text[:20_000]):
        copies = _COPIES.fullmatch(value)
        if name == "Layout" and copies:
            value = f"{copies[1][0]}{copies[2]}"
        if name == "Data Offset" and value.endswith(" sectors"):
            value = f"{int(value.removesuffix(' sectors')) // 2}K"
        by_option[_NAMES[name]] = value
    return by_option
