"""mdadm of the simulated host: what it tells of arrays and their members, and what it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.racks.md_array import OFFSET_SECTORS, MdArray, MdMember, component_of
from backends.racks.printed import Said
from backends.racks.rack import Rack

_LAYOUTS = {"n2": 258, "f2": 513, "o2": 66049}
_OPTION = re.compile(r"--([a-z-]+)=(.*)")


def mdadm_said(rack: Rack, words: Sequence[str]) -> Said:
    """What it prints, and what it does to the arrays."""
    verb, *rest = words or ("",)
    devices = [word.removeprefix("/dev/") for word in rest if word.startswith("/dev/")]
    options = {found[1]: found[2] for word in rest if (found := _OPTION.fullmatch(word))}
    name = devices[0] if devices else ""
    if verb == "--create":
        return _create(rack, name, devices[1:], options)
    if verb == "--examine":
        return _examine(rack, name)
    array = rack.md.get(name)
    if array is None:
        return _failed(f"error opening /dev/{name}: No such file or directory")
    match verb:
        case "--detail":
            return _export(array)
        case "--grow":
            return _grow(rack, array, options)
        case "--stop":
            rack.stopped[name] = rack.md.pop(name)
            return Said(text=f"mdadm: stopped /dev/{name}\n", seconds=0.3)
        case _:
            return _failed(f"{verb} is not known here")


def spelled(uuid: str) -> str:
    """The kernel's UUID as mdadm spells it."""
    digits = uuid.replace("-", "")
    return ":".join(digits[at : at + 8] for at in range(0, 32, 8))


def _export(array: MdArray) -> Said:
    rows = {
        "MD_LEVEL": array.level,
        "MD_DEVICES": str(len(array.members)),
        "MD_METADATA": "1.2",
        "MD_UUID": spelled(array.uuid),
        "MD_NAME": array.label,
    }
    for slot, member in enumerate(array.members):
        own = f"MD_DEVICE_dev_{member.name}"
        rows |= {f"{own}_ROLE": str(slot), f"{own}_DEV": f"/dev/{member.name}"}
    return Said(text="".join(f"{key}={value}\n" for key, value in rows.items()), seconds=0.02)


def _examine(rack: Rack, name: str) -> Said:
    """The metadata on a member; those of a stopped array stay where they are."""
    arrays = (*rack.md.values(), *rack.stopped.values())
    array = next((one for one in arrays if name in {member.name for member in one.members}), None)
    if array is None:
        return _failed(f"No md superblock detected on /dev/{name}.")
    copies = {number: word for word, number in _LAYOUTS.items()}.get(array.layout, "n2")
    words = {"n": "near", "f": "far", "o": "offset"}
    rows = [
        ("Version", "1.2"),
        ("Array UUID", spelled(array.uuid)),
        ("Name", array.label),
        ("Raid Level", array.level),
        ("Raid Devices", str(len(array.members))),
        ("Data Offset", f"{OFFSET_SECTORS} sectors"),
        ("Unused Space", f"before={OFFSET_SECTORS - 88} sectors, after=0 sectors"),
        *(
            (("Layout", f"{words[copies[0]]}={copies[1]}"), ("Chunk Size", f"{array.chunk // 1024}K"))
            if array.chunk
            else ()
        ),
        ("Array State", f"{'A' * len(array.members)} ('A' == active, '.' == missing, 'R' == replacing)"),
    ]
    return Said(text=f"/dev/{name}:\n" + "".join(f"{key:>15} : {value}\n" for key, value in rows), seconds=0.02)


def _grow(rack: Rack, array: MdArray, options: dict[str, str]) -> Said:
    if bitmap := options.get("bitmap"):
        array.bitmap = bitmap == "internal"
        return Said(text="", seconds=0.2)
    if chunk := options.get("chunk"):
        if array.work:
            return _failed(f"/dev/{array.name} is performing resync/recovery and cannot be reshaped")
        if array.level != "raid0" and (array.level != "raid10" or array.layout >> 8 != 1):
            return _failed("Cannot change chunk size of this array")
        array.old_chunk, array.chunk = array.chunk, int(chunk.removesuffix("K")) * 1024
        array.begin("reshape", rack.now())
        return Said(text="", seconds=0.5)
    return _failed("nothing that this array can be changed in was named")


def _create(rack: Rack, name: str, members: list[str], options: dict[str, str]) -> Said:
    taken = {member.name: array.name for array in rack.md.values() for member in array.members}
    used = next((one for one in members if one in taken or rack.drive(one) is None), None)
    if used is not None or name in rack.md:
        return _failed(f"cannot open /dev/{used or name}: Device or resource busy")
    level = options.get("level", "raid1")
    whole = min((drive.size_bytes for one in members if (drive := rack.drive(one)) is not None), default=0)
    component = int(options.get("size", "0K").removesuffix("K")) or component_of(whole)
    rack.made += 1
    digits = options.get("uuid", f"{rack.made:032x}").replace(":", "")
    array = MdArray(
        name=name,
        label=options.get("name", name),
        uuid=f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}",
        level=level,
        members=[MdMember(name=one) for one in members],
        component_kib=component,
        chunk=int(options.get("chunk", "0K").removesuffix("K")) * 1024,
        layout=_LAYOUTS.get(options.get("layout", ""), 0),
        bitmap=options.get("bitmap") == "internal",
        sequence=rack.made,
    )
    if array.redundant:
        array.begin("resync", rack.now())
    rack.stopped.pop(name, None)
    rack.md[name] = array
    return Said(text=f"mdadm: array /dev/{name} started.\n", seconds=0.8)


def _failed(words: str) -> Said:
    return Said(text=f"mdadm: {words}\n", code=1)
