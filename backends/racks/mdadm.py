"""mdadm of the simulated host: what it tells of arrays and their members, and what it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from backends.racks.linux.tree import scsi_number
from backends.racks.md_array import OFFSET_SECTORS, MdArray
from backends.racks.md_making import MdRequest, created, failed, stopped, zeroed
from backends.racks.printed import Said, day
from backends.racks.rack import Rack

_OPTION = re.compile(r"--([a-z-]+)=(.*)")
_FLAG = re.compile(r"--([a-z-]+)")
_WORK = {
    "recover": ("recovering", "Rebuild"),
    "resync": ("resyncing", "Resync"),
    "reshape": ("reshaping", "Reshape"),
    "check": ("checking", "Check"),
}
"""Background work in the words of `--detail`: in the state, and before its progress."""

_QUICK = 0.02
"""Seconds of an answer."""


def mdadm_said(rack: Rack, words: Sequence[str]) -> Said:
    """What it prints, and what it does to the arrays."""
    verb, *rest = words or ("",)
    devices = tuple(word.removeprefix("/dev/") for word in rest if word.startswith("/dev/"))
    options = {found[1]: found[2] for word in rest if (found := _OPTION.fullmatch(word))}
    flags = frozenset(found[1] for word in rest if (found := _FLAG.fullmatch(word)))
    name = devices[0] if devices else ""
    match verb:
        case "--create":
            return created(rack, MdRequest(name=name, members=devices[1:], options=options, flags=flags))
        case "--stop":
            return stopped(rack, name)
        case "--zero-superblock" if devices:
            return zeroed(rack, devices)
        case "--examine" if devices:
            return _examined(rack, devices, export="export" in flags)
        case "--detail" | "--grow" if name not in rack.md:
            doing = "cannot open" if verb == "--detail" else "error opening"
            return failed(f"{doing} /dev/{name}: No such file or directory")
        case "--detail":
            return _export(rack.md[name]) if "export" in flags else _detail(rack, rack.md[name])
        case "--grow":
            return _grow(rack, rack.md[name], options)
        case _:
            return failed(f"{verb} is not known here")


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
    return Said(text="".join(f"{key}={value}\n" for key, value in rows.items()), seconds=_QUICK)


def _detail(rack: Rack, array: MdArray) -> Said:
    """`--detail` in its columns."""
    count, lost, done = len(array.members), array.lost, f"{int(array.progress(rack.now()) * 100)}% complete"
    what, heading = _WORK.get(array.work, ("", ""))
    states = ["clean", *(["degraded"] if lost else []), *([what] if what else [])]
    rows: list[tuple[str, str]] = [
        ("Version", "1.2"),
        ("Creation Time", _moment(array.created)),
        ("Raid Level", array.level),
        ("Array Size", _size(array.size_bytes // 1024)),
        *([("Used Dev Size", _size(array.component_kib))] if array.redundant else []),
        ("Raid Devices", str(count)),
        ("Total Devices", str(count)),
        ("Persistence", "Superblock is persistent"),
        *([("Intent Bitmap", "Internal")] if array.bitmap else []),
        ("Update Time", _moment(rack.now())),
        ("State", ", ".join(states)),
        ("Active Devices", str(count - lost)),
        ("Working Devices", str(count)),
        ("Failed Devices", "0"),
        ("Spare Devices", str(lost)),
        *_geometry(array),
        ("Consistency Policy", array.files(rack.now())["consistency_policy"]),
        *([(f"{heading} Status", done)] if what else []),
        ("Name", array.label),
        ("UUID", spelled(array.uuid)),
        ("Events", "18"),
    ]
    lines = [f"/dev/{array.name}:", *(f"{key:>18} : {value}" for key, value in rows), ""]
    lines.append("    Number   Major   Minor   RaidDevice State")
    for slot, member in enumerate(array.members):
        state = "spare rebuilding" if slot >= count - lost else "active sync"
        major, minor = _numbers(rack, member.name)
        lines.append(f"{slot:8}{major:8}{minor:9}{slot:9}      {state}   /dev/{member.name}")
    return Said(text="\n".join([*lines, ""]), seconds=_QUICK)


def _numbers(rack: Rack, name: str) -> tuple[int, int]:
    """Major and minor of a member."""
    if name in rack.md:
        return 9, int(name.removeprefix("md"))
    if name in rack.nvme:
        return 259, 16 * list(rack.nvme).index(name)
    return scsi_number(name)


def _examined(rack: Rack, names: Sequence[str], *, export: bool) -> Said:
    """The metadata on members; those of a stopped array stay where they are."""
    answers = [_metadata(rack, name, export=export) for name in names]
    return Said(text="".join(one.text for one in answers), code=max(one.code for one in answers), seconds=_QUICK)


def _metadata(rack: Rack, name: str, *, export: bool) -> Said:
    array = rack.superblock(name)
    if array is None:
        return failed(f"No md superblock detected on /dev/{name}.")
    slot = next(at for at, member in enumerate(array.members) if member.name == name)
    own = spelled(blake2b(f"{array.uuid} {slot}".encode(), digest_size=16).hexdigest())
    if export:
        told = {
            "MD_LEVEL": array.level,
            "MD_DEVICES": len(array.members),
            "MD_NAME": array.label,
            "MD_ARRAY_SIZE": f"{array.size_bytes / 1e9:.2f}GB",
            "MD_UUID": spelled(array.uuid),
            "MD_UPDATE_TIME": int(array.created),
            "MD_DEV_UUID": own,
            "MD_EVENTS": 18,
        }
        return Said(text="".join(f"{key}={value}\n" for key, value in told.items()))
    rows = [
        ("Version", "1.2"),
        ("Array UUID", spelled(array.uuid)),
        ("Name", array.label),
        ("Creation Time", _moment(array.created)),
        ("Raid Level", array.level),
        ("Raid Devices", str(len(array.members))),
        ("Data Offset", f"{OFFSET_SECTORS} sectors"),
        ("Unused Space", f"before={OFFSET_SECTORS - 88} sectors, after=0 sectors"),
        ("Device UUID", own),
        *_geometry(array),
        ("Device Role", f"Active device {slot}"),
        ("Array State", f"{'A' * len(array.members)} ('A' == active, '.' == missing, 'R' == replacing)"),
    ]
    return Said(text=f"/dev/{name}:\n" + "".join(f"{key:>15} : {value}\n" for key, value in rows))


def _geometry(array: MdArray) -> list[tuple[str, str]]:
    """Layout and chunk, where the level has them."""
    if not array.chunk:
        return []
    layout = "left-symmetric" if array.level in ("raid5", "raid6") else f"{array.arrangement}={array.copies}"
    shown = [] if array.level == "raid0" else [("Layout", layout)]
    return [*shown, ("Chunk Size", f"{array.chunk // 1024}K")]


def _size(kib: int) -> str:
    return f"{kib} ({kib / (1 << 20):.2f} GiB {kib * 1024 / 1e9:.2f} GB)"


def _moment(seconds: float) -> str:
    return day(seconds, "%a %b %d %H:%M:%S %Y")


def _grow(rack: Rack, array: MdArray, options: dict[str, str]) -> Said:
    if bitmap := options.get("bitmap"):
        array.bitmap = bitmap == "internal"
        return Said(text="", seconds=0.2)
    if chunk := options.get("chunk"):
        if array.work:
            return failed(f"/dev/{array.name} is performing resync/recovery and cannot be reshaped")
        if array.level != "raid0" and (array.level != "raid10" or array.layout >> 8 != 1):
            return failed("Cannot change chunk size of this array")
        array.old_chunk, array.chunk = array.chunk, int(chunk.removesuffix("K")) * 1024
        array.begin("reshape", rack.now())
        return Said(text="", seconds=0.5)
    return failed("nothing that this array can be changed in was named")
