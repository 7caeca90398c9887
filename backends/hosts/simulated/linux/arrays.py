"""Arrays of the kernel's RAID driver."""

from __future__ import annotations

from backends.hosts.simulated.linux.tree import Kernel, put_node
from backends.hosts.simulated.md_array import MdArray
from backends.hosts.simulated.mdadm import spelled
from backends.hosts.simulated.rack import Rack
from backends.model import Media


def put_array(found: Kernel, rack: Rack, array: MdArray) -> None:
    """An array of the kernel's RAID driver, and how it hangs together with its members."""
    name, now = array.name, rack.now()
    number = f"9:{name.removeprefix('md')}"
    spinning = any((drive := rack.drive(one.name)) is not None and drive.media is Media.HDD for one in array.members)
    folder, base = f"/sys/devices/virtual/block/{name}", f"/sys/block/{name}"
    own = {
        "dev": number,
        "size": str(array.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(40 + array.sequence),
    }
    queue = {
        "read_ahead_kb": str(array.chunk * len(array.members) // 512 or 128),
        "nr_requests": "128",
        "rotational": "1" if spinning else "0",
        "scheduler": "none",
        "logical_block_size": "512",
        "physical_block_size": "4096",
        "max_sectors_kb": "512",
        "max_hw_sectors_kb": "2147483647",
        "nomerges": "0",
        "rq_affinity": "0",
        "add_random": "0",
        "iostats": "1",
        "write_cache": "write back",
        "zoned": "none",
    }
    queue |= rack.queues.get(name, {})
    for kind, texts in (("", own), ("queue/", queue), ("md/", array.files(now))):
        found.files |= {f"{base}/{kind}{key}": text for key, text in texts.items()}
    found.files[f"{folder}/queue/logical_block_size"] = "512"
    found.links[base] = folder
    put_node(found, name, name, folder, number)
    for member in array.members:
        found.links[f"{base}/slaves/{member.name}"] = f"/sys/block/{member.name}"
        found.links[f"/sys/block/{member.name}/holders/{name}"] = folder
    record = {"MD_LEVEL": array.level, "MD_METADATA": "1.2", "MD_UUID": spelled(array.uuid), "MD_NAME": array.label}
    found.files[f"/run/udev/data/b{number}"] = "\n".join(f"E:{key}={text}" for key, text in record.items())


def mdstat(rack: Rack) -> str:
    """The text of /proc/mdstat."""
    levels = sorted({"raid1", "raid10", *(array.level for array in rack.md.values())})
    lines = [f"Personalities : {' '.join(f'[{level}]' for level in levels)}"]
    for array in rack.md.values():
        lines += array.stat_lines(rack.now())
    return "\n".join([*lines, "unused devices: <none>", ""])
