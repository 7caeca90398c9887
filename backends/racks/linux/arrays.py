"""Arrays of the kernel's RAID driver."""

from __future__ import annotations

from backends.racks.linux.metadata import built_on
from backends.racks.linux.tree import Kernel, put_stacked
from backends.racks.md_array import MdArray
from backends.racks.mdadm import spelled
from backends.racks.rack import Rack


def put_array(found: Kernel, rack: Rack, array: MdArray) -> None:
    """An array of the kernel's RAID driver, and how it hangs together with its members."""
    name, now = array.name, rack.now()
    number = f"9:{name.removeprefix('md')}"
    put_stacked(
        found,
        rack,
        name,
        number,
        size_bytes=array.size_bytes,
        sequence=40 + array.sequence,
        queue={"read_ahead_kb": str(array.chunk * len(array.members) // 512 or 128), "iostats": "1"},
        own={f"md/{key}": text for key, text in array.files(now).items()},
        below=tuple(member.name for member in array.members),
    )
    record = {"MD_LEVEL": array.level, "MD_METADATA": "1.2", "MD_UUID": spelled(array.uuid), "MD_NAME": array.label}
    lines = [*(f"E:{key}={text}" for key, text in record.items()), *built_on(rack, name)]
    found.files[f"/run/udev/data/b{number}"] = "\n".join(lines)


def mdstat(rack: Rack) -> str:
    """The text of /proc/mdstat."""
    levels = sorted({"raid1", "raid10", *(array.level for array in rack.md.values())})
    lines = [f"Personalities : {' '.join(f'[{level}]' for level in levels)}"]
    for array in rack.md.values():
        lines += array.stat_lines(rack.now())
    return "\n".join([*lines, "unused devices: <none>", ""])
