"""Readable files of a simulated host, and functions that add a block device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from backends.host import FileStat
from backends.simulator.queue import CACHE, DEPTH, default_queue
from backends.simulator.rack import Rack
from backends.simulator.volume import Content
from backends.values import dataclass

_MAJORS = (8, *range(65, 72), *range(128, 136))
"""Device majors of SCSI disks, with 16 disks each (Documentation/admin-guide/devices.txt)."""

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
"""Default queue settings of a stacked device in Linux 6.1. The settings that follow from its members are added to
these."""

_DECIDED = {
    **dict.fromkeys(("rotational", "logical_block_size", "physical_block_size"), max),
    "max_hw_sectors_kb": min,
}
"""Queue limits of a stacked device, each with the function that derives it from the members' limits."""

MUTE = "wbt_lat_usec"
"""Queue file that a stacked device has, but that returns EINVAL until it has been written."""

_EFI = 512 << 20
_START = 1 << 20


@dataclass(slots=True)
class SimulatedSysfs:
    """Everything that programs can read of a host at one moment."""

    files: dict[str, str] = field(default_factory=dict)
    """Contents of files by path."""
    links: dict[str, str] = field(default_factory=dict)
    """Link targets by path."""
    nodes: dict[str, FileStat] = field(default_factory=dict)
    """Device nodes by path."""
    names: dict[str, str] = field(default_factory=dict)
    """Kernel name of the disk by device node; device nodes of partitions are included."""
    mute: set[str] = field(default_factory=set)
    """Files that exist but cannot be read."""
    mounts: list[str] = field(default_factory=lambda: ["25 1 0:22 / /proc rw,relatime shared:1 - proc proc rw"])
    """Lines of /proc/self/mountinfo."""


def scsi_number(name: str) -> tuple[int, int]:
    """Return the major and the first minor device number of a SCSI disk."""
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
    extra: Mapping[str, str],
    *,
    rotational: bool,
    flushes: bool,
    sector: int = 512,
) -> None:
    """Add a disk with its request queue. `extra`: its additional files."""
    base = f"/sys/block/{name}"
    queue = default_queue(rotational=rotational, flushes=flushes)
    queue |= {"logical_block_size": str(sector), "physical_block_size": str(sector)}
    if name.startswith(("sd", "nvme")):  # only these drivers have a timeout handler
        queue["io_timeout"] = "30000"
    queue |= {"nr_requests": extra["mq/0/nr_tags"], **rack.queues.get(name, {})}
    depth, _ = queue.pop(DEPTH, None), queue.pop(CACHE, None)
    for key, text in {"ro": "0", "removable": "0", **extra}.items():
        sysfs.files[f"{base}/{key}"] = depth if key == f"device/{DEPTH}" and depth is not None else text
    for key, text in queue.items():
        sysfs.files[f"{base}/queue/{key}"] = text
    sysfs.files[f"{folder}/queue/logical_block_size"] = queue["logical_block_size"]
    sysfs.links[base] = folder
    put_node(sysfs, name, name, folder, extra["dev"])


def put_stacked(
    sysfs: SimulatedSysfs,
    rack: Rack,
    name: str,
    devno: str,
    *,
    size_bytes: int,
    sequence: int,
    queue: Mapping[str, str],
    extra: Mapping[str, str],
    below: Sequence[str],
) -> str:
    """Add a device that is built on others and has no I/O scheduler. Return its folder in sysfs.

    `below`: kernel names of its members, which must already be present. `queue`, `extra`: additional files of the
    device's queue folder and of its own folder.
    """
    folder, base = f"/sys/devices/virtual/block/{name}", f"/sys/block/{name}"
    texts = {
        "dev": devno,
        "size": str(size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(sequence),
        **extra,
    }
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
    """Return the queue limits of a stacked device, derived from its members `below`.

    The device is rotational if a member is. It has the largest block size and the smallest request size of its members.
    The kernel derives limits only at assembly, so later changes to members have no effect.
    """
    if not below:
        return {}
    limits = {
        key: str(decide(int(sysfs.files[f"/sys/block/{name}/queue/{key}"]) for name in below))
        for key, decide in _DECIDED.items()
    }
    return {**limits, "max_sectors_kb": limits["max_hw_sectors_kb"]}


def put_node(sysfs: SimulatedSysfs, name: str, disk: str, folder: str, devno: str) -> None:
    """Add the device node `/dev/NAME` with its links. `disk`: kernel name of the disk that it belongs to."""
    sysfs.links[f"/sys/dev/block/{devno}"] = folder
    sysfs.links[f"/dev/{name}"] = f"/dev/{name}"
    sysfs.nodes[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)
    sysfs.names[f"/dev/{name}"] = disk


def put_record(sysfs: SimulatedSysfs, name: str, lines: Sequence[str], content: Content | None = None) -> None:
    """Add the udev record and the contents of a disk that is already in `sysfs`."""
    devno = sysfs.nodes[f"/dev/{name}"].devno or ""
    content_lines = _put_content(sysfs, name, devno, content) if content is not None else []
    sysfs.files[f"/run/udev/data/b{devno}"] = "\n".join([*lines, *content_lines])


def _put_content(sysfs: SimulatedSysfs, name: str, devno: str, content: Content) -> list[str]:
    """Add partitions, filesystems and mounts, and return the lines for the disk's udev record."""
    folder, size_bytes = sysfs.links[f"/sys/block/{name}"], int(sysfs.files[f"/sys/block/{name}/size"]) * 512
    major, minor = map(int, devno.split(":"))
    if content.table is None:
        if content.mount is not None:
            _mount(sysfs, devno, content, name)
        return _filesystem(content)
    partitions = [(Content(filesystem="vfat", label="EFI", uuid="7A1C-93F0", mount="/boot/efi"), _EFI)]
    partitions = partitions if content.mount == "/" else []
    partitions.append((content, size_bytes - sum(size for _, size in partitions) - 2 * _START))
    start = _START
    for number, (partition, size) in enumerate(partitions, start=1):
        part_name, part_devno = f"{name}{'p' if name[-1].isdigit() else ''}{number}", f"{major}:{minor + number}"
        base = f"/sys/block/{name}/{part_name}"
        texts = {
            "dev": part_devno,
            "size": str(size // 512),
            "ro": "0",
            "partition": str(number),
            "start": str(start // 512),
        }
        sysfs.files |= {f"{base}/{key}": text for key, text in texts.items()}
        sysfs.files[f"{folder}/{part_name}/partition"] = str(number)
        put_node(sysfs, part_name, name, f"{folder}/{part_name}", part_devno)
        sysfs.files[f"/run/udev/data/b{part_devno}"] = "\n".join(_filesystem(partition))
        if partition.mount is not None:
            _mount(sysfs, part_devno, partition, part_name)
        start += size
    return [f"E:ID_PART_TABLE_TYPE={content.table}", f"E:ID_PART_TABLE_UUID={content.uuid[::-1]}"]


def _filesystem(content: Content) -> list[str]:
    return [
        f"E:ID_FS_TYPE={content.filesystem}",
        f"E:ID_FS_LABEL_ENC={content.label}",
        f"E:ID_FS_UUID={content.uuid}",
    ]


def _mount(sysfs: SimulatedSysfs, devno: str, content: Content, name: str) -> None:
    index = len(sysfs.mounts)
    mount_text = f"{devno} / {content.mount} rw,relatime shared:{index}"
    sysfs.mounts.append(f"{30 + index} 25 {mount_text} - {content.filesystem} /dev/{name} rw")


def member_record(rack: Rack, name: str) -> list[str]:
    """Return the udev record lines of a member of a running or stopped md array, or of a disk of a bcache device."""
    if (
        cached := next((device for device in rack.bcache.values() if name in (device.backing, device.cache)), None)
    ) is not None:
        return ["E:ID_FS_TYPE=bcache", f"E:ID_FS_UUID={cached.uuid if name == cached.backing else cached.set_uuid}"]
    array = rack.superblock(name)
    if array is None:
        return []
    return ["E:ID_FS_TYPE=linux_raid_member", f"E:ID_FS_UUID={array.uuid}", f"E:ID_FS_LABEL_ENC={array.label}"]
