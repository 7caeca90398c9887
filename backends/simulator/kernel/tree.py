"""What can be read of the simulated host at one moment, and a block device put into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from backends.host import FileStat
from backends.simulator.queue import CACHE, DEPTH, default_queue
from backends.simulator.rack import Rack
from backends.simulator.volume import Content
from backends.values import dataclass

_MAJORS = (8, *range(65, 72), *range(128, 136))
"""Numbers of SCSI disks, sixteen each (Documentation/admin-guide/devices.txt)."""

_STACKED = {
    "read_ahead_kb": "128",
    "nr_requests": "128",
    "scheduler": "none",
    "logical_block_size": "512",
    "physical_block_size": "512",
    "nomerges": "0",
    "rq_affinity": "0",
    "add_random": "0",
    "iostats": "0",
    "write_cache": "write back",
    "zoned": "none",
}
"""The queue of what is built on other devices, as Linux 6.1 begins with it. What its members decide comes besides."""

_DECIDED = {
    **dict.fromkeys(("rotational", "logical_block_size", "physical_block_size"), max),
    "max_hw_sectors_kb": min,
}
"""Files of that queue and which of the members' decides."""

MUTE = "wbt_lat_usec"
"""Of what takes requests as they come this file is there, and reading it gives EINVAL until it was written."""

_EFI = 512 << 20
_START = 1 << 20


@dataclass(slots=True)
class SimulatedSysfs:
    """Everything that can be read of the host at one moment."""

    files: dict[str, str] = field(default_factory=dict)
    """Texts by path."""
    links: dict[str, str] = field(default_factory=dict)
    """Where links lead."""
    nodes: dict[str, FileStat] = field(default_factory=dict)
    """Device nodes."""
    names: dict[str, str] = field(default_factory=dict)
    """Kernel name of the disk by node, partitions too."""
    mute: set[str] = field(default_factory=set)
    """Files that are there and that nobody can read."""
    mounts: list[str] = field(default_factory=lambda: ["25 1 0:22 / /proc rw,relatime shared:1 - proc proc rw"])
    """Lines of /proc/self/mountinfo."""


def scsi_number(name: str) -> tuple[int, int]:
    """Return major and first minor of a SCSI disk by its kernel name."""
    index = -1  # 0 for sda, 26 for sdaa
    for char in name.removeprefix("sd"):
        index = (index + 1) * 26 + ord(char) - ord("a")
    group, within = divmod(index % 256, 16)
    return _MAJORS[group], within * 16 + index // 256 * 256


def put_disk(
    sysfs: SimulatedSysfs,
    rack: Rack,
    name: str,
    folder: str,
    own: Mapping[str, str],
    *,
    rotational: bool,
    flushes: bool,
    sector: int = 512,
) -> None:
    """A disk with its queue."""
    base = f"/sys/block/{name}"
    queue = default_queue(rotational=rotational, flushes=flushes)
    queue |= {"logical_block_size": str(sector), "physical_block_size": str(sector)}
    if name.startswith(("sd", "nvme")):  # drivers that tell the kernel how to end a request that takes too long
        queue["io_timeout"] = "30000"
    queue |= {"nr_requests": own["mq/0/nr_tags"], **rack.queues.get(name, {})}
    depth, _ = queue.pop(DEPTH, None), queue.pop(CACHE, None)
    for key, text in {"ro": "0", "removable": "0", **own}.items():
        sysfs.files[f"{base}/{key}"] = depth if key == f"device/{DEPTH}" and depth is not None else text
    for key, text in queue.items():
        sysfs.files[f"{base}/queue/{key}"] = text
    sysfs.files[f"{folder}/queue/logical_block_size"] = queue["logical_block_size"]
    sysfs.links[base] = folder
    put_node(sysfs, name, name, folder, own["dev"])


def put_stacked(
    sysfs: SimulatedSysfs,
    rack: Rack,
    name: str,
    devno: str,
    *,
    size_bytes: int,
    sequence: int,
    queue: Mapping[str, str],
    own: Mapping[str, str],
    below: Sequence[str],
) -> str:
    """A device built on others (`below`, which are there already); it passes requests on as they come. Its folder.

    `queue`, `own`: files of its queue and of its folder besides those that all have.
    """
    folder, base = f"/sys/devices/virtual/block/{name}", f"/sys/block/{name}"
    texts = {"dev": devno, "size": str(size_bytes // 512), "ro": "0", "removable": "0", "diskseq": str(sequence), **own}
    sysfs.files |= {f"{base}/{key}": text for key, text in texts.items()}
    merged = {**_STACKED, **_limits(sysfs, below), **queue, **rack.queues.get(name, {})}
    sysfs.files |= {f"{base}/queue/{key}": text for key, text in merged.items()}
    if f"{base}/queue/{MUTE}" not in sysfs.files:
        sysfs.mute.add(f"{base}/queue/{MUTE}")
    sysfs.files[f"{folder}/queue/logical_block_size"] = merged["logical_block_size"]
    sysfs.links[base] = folder
    put_node(sysfs, name, name, folder, devno)
    for member in below:
        sysfs.links[f"{base}/slaves/{member}"] = f"/sys/block/{member}"
        sysfs.links[f"/sys/block/{member}/holders/{name}"] = folder
    return folder


def _limits(sysfs: SimulatedSysfs, below: Sequence[str]) -> dict[str, str]:
    """What members decide: one that turns makes a disk that turns, blocks are the largest, requests the smallest.

    What is set on a member later moves nothing of it: its limits are stacked once, when it is put together.
    """
    if not below:
        return {}
    own = {
        key: str(decide(int(sysfs.files[f"/sys/block/{name}/queue/{key}"]) for name in below))
        for key, decide in _DECIDED.items()
    }
    return {**own, "max_sectors_kb": own["max_hw_sectors_kb"]}


def put_node(sysfs: SimulatedSysfs, name: str, disk: str, folder: str, devno: str) -> None:
    """A device node."""
    sysfs.links[f"/sys/dev/block/{devno}"] = folder
    sysfs.links[f"/dev/{name}"] = f"/dev/{name}"
    sysfs.nodes[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)
    sysfs.names[f"/dev/{name}"] = disk


def put_record(sysfs: SimulatedSysfs, name: str, lines: Sequence[str], content: Content | None = None) -> None:
    """Write udev's record of a disk that is there already, and put its content on it."""
    devno = sysfs.nodes[f"/dev/{name}"].devno or ""
    own = _put_content(sysfs, name, devno, content) if content is not None else []
    sysfs.files[f"/run/udev/data/b{devno}"] = "\n".join([*lines, *own])


def _put_content(sysfs: SimulatedSysfs, name: str, number: str, content: Content) -> list[str]:
    """Put partitions, filesystems and mounts; return the lines of the disk's own record."""
    folder, size_bytes = sysfs.links[f"/sys/block/{name}"], int(sysfs.files[f"/sys/block/{name}/size"]) * 512
    major, minor = map(int, number.split(":"))
    if content.table is None:
        if content.mount is not None:
            _mount(sysfs, number, content, name)
        return _filesystem(content)
    partitions = [(Content(filesystem="vfat", label="EFI", uuid="7A1C-93F0", mount="/boot/efi"), _EFI)]
    partitions = partitions if content.mount == "/" else []
    partitions.append((content, size_bytes - sum(size for _, size in partitions) - 2 * _START))
    start = _START
    for at, (partition, size) in enumerate(partitions, start=1):
        part_name, devno = f"{name}{'p' if name[-1].isdigit() else ''}{at}", f"{major}:{minor + at}"
        base = f"/sys/block/{name}/{part_name}"
        texts = {"dev": devno, "size": str(size // 512), "ro": "0", "partition": str(at), "start": str(start // 512)}
        sysfs.files |= {f"{base}/{key}": text for key, text in texts.items()}
        sysfs.files[f"{folder}/{part_name}/partition"] = str(at)
        put_node(sysfs, part_name, name, f"{folder}/{part_name}", devno)
        sysfs.files[f"/run/udev/data/b{devno}"] = "\n".join(_filesystem(partition))
        if partition.mount is not None:
            _mount(sysfs, devno, partition, part_name)
        start += size
    return [f"E:ID_PART_TABLE_TYPE={content.table}", f"E:ID_PART_TABLE_UUID={content.uuid[::-1]}"]


def _filesystem(content: Content) -> list[str]:
    return [
        f"E:ID_FS_TYPE={content.filesystem}",
        f"E:ID_FS_LABEL_ENC={content.label}",
        f"E:ID_FS_UUID={content.uuid}",
    ]


def _mount(sysfs: SimulatedSysfs, devno: str, content: Content, name: str) -> None:
    at = len(sysfs.mounts)
    where = f"{devno} / {content.mount} rw,relatime shared:{at}"
    sysfs.mounts.append(f"{30 + at} 25 {where} - {content.filesystem} /dev/{name} rw")


def member_record(rack: Rack, name: str) -> list[str]:
    """Lines of its record: of a member of an array, whether that runs or not, and of the disks of a bcache device."""
    if (
        cached := next((device for device in rack.bcache.values() if name in (device.backing, device.cache)), None)
    ) is not None:
        return ["E:ID_FS_TYPE=bcache", f"E:ID_FS_UUID={cached.uuid if name == cached.backing else cached.set_uuid}"]
    array = rack.superblock(name)
    if array is None:
        return []
    return ["E:ID_FS_TYPE=linux_raid_member", f"E:ID_FS_UUID={array.uuid}", f"E:ID_FS_LABEL_ENC={array.label}"]
