"""Block devices in sysfs: disks, partitions, and the devices above and below them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeVar

from backends.errors import RaidbenchError
from backends.host import STALL, Command, Completed, Host
from backends.text import clean
from backends.topology.signatures import parse_udev
from backends.values import dataclass

T = TypeVar("T")

DISK_ATTRIBUTES = (
    *("dev", "size", "ro", "removable", "hidden", "diskseq", "serial", "wwid", "uuid", "eui", "nguid", "nsid"),
    *("dm/name", "dm/uuid", "md/level", "md/uuid", "md/metadata_version", "md/reshape_position"),
    *("bcache/backing_dev_uuid", "loop/backing_file", "loop/offset", "backing_dev"),
    *("device/model", "device/vendor", "device/rev", "device/serial", "device/firmware_rev", "device/wwid"),
    *("device/vpd_pg80", "device/state", "device/subsysnqn", "device/transport", "device/address"),
    *("queue/rotational", "queue/logical_block_size", "queue/physical_block_size", "queue/scheduler", "queue/zoned"),
)
"""Attributes that are read for every disk in one batch. Most disks have only some of them."""

PARTITION_ATTRIBUTES = ("dev", "size", "ro", "partition", "start")
"""Attributes that are read for every partition."""

_CHARACTERS = (
    "/sys/block/*/device/generic/dev",
    "/sys/block/*/device/bsg/*/dev",
    "/sys/block/nvme*/device/ng*/dev",
    "/sys/block/nvme*/device/nvme*/dev",
    "/sys/block/nvme*/device/dev",
)
"""Files with the numbers of character devices that lead to a disk.

These are SCSI generic (drivers/scsi/sg.c), the block layer's SCSI device (block/bsg.c), an NVMe namespace
(nvme_add_ns_cdev in drivers/nvme/host/core.c), and the controllers of a namespace. `device` of a namespace is its
controller or, with multipath, the subsystem, whose folder contains the controllers.
"""
_HEAD = re.compile(r"(nvme\d+)(n\d+)")
_CONTROLLER = re.compile(r"nvme\d+")
_RAW = "/dev/raw/raw[0-9]*"
"""Raw devices (drivers/char/raw.c, up to Linux 5.13).
Sysfs does not show their disks, so each of them may lead to any disk.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One block device of the kernel."""

    name: str
    """Kernel name; a `/` in it is `!`, as in sysfs."""
    devno: str | None
    """Device number, MAJ:MIN."""
    size_bytes: int | None
    """Size in bytes."""
    parent: str | None = None
    """Disk of a partition; None for a disk."""
    read_only: bool = False
    """Whether the kernel refuses writes."""
    partitions: tuple[str, ...] = ()
    """Kernel names of its partitions."""
    holders: tuple[str, ...] = ()
    """Devices directly built on it: device-mapper, md, bcache."""
    slaves: tuple[str, ...] = ()
    """Devices that it is directly built on."""
    path: str | None = None
    """Its sysfs folder with links resolved, which shows the transport."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The DISK_ATTRIBUTES that could be read."""
    udev: Mapping[str, str] = field(default_factory=dict)
    """Properties in udev's database."""
    characters: tuple[str, ...] = ()
    """MAJ:MIN of the character devices by which programs can also access the disk."""

    @property
    def device(self) -> str:
        """Return the path of its node under /dev."""
        return node_path(self.name)

    @property
    def part(self) -> str | None:
        """Return its name if it is a partition; None for a disk."""
        return None if self.parent is None else self.name

    @property
    def openings(self) -> tuple[str, ...]:
        """Return the keys by which `openers` finds the device: its number, and the numbers of its character devices."""
        return (*((self.devno,) if self.devno else ()), *(f"char {number}" for number in self.characters))

    @property
    def shown(self) -> str:
        """Return the path with the device-mapper name if there is one, because dm numbers can change with each boot."""
        name = clean(self.attributes.get("dm/name", ""))
        return f"/dev/mapper/{name}" if name else self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """All block devices by kernel name."""

    nodes: Mapping[str, Node]
    """Disks and partitions."""
    numbers: Mapping[str, str]
    """Kernel name by MAJ:MIN."""

    def by_devno(self, devno: str) -> Node | None:
        """Return the device with this MAJ:MIN, or None."""
        return self.nodes.get(self.numbers.get(devno, ""))

    def disk_of(self, name: str) -> str:
        """Return the disk of a partition, or the name itself for a disk."""
        node = self.nodes.get(name)
        return node.parent if node is not None and node.parent is not None else name

    def routes(self, name: str) -> tuple[Node, ...]:
        """Return the disk of `name`. For an NVMe namespace with multipath, return its hidden paths as well.

        `nvme4n1` has the paths `nvme4c4n1`, `nvme4c5n1`, ... (nvme_mpath_set_disk_name, drivers/nvme/host/multipath.c).
        """
        disk = self.nodes.get(self.disk_of(name))
        parts = _HEAD.fullmatch(disk.name) if disk is not None else None
        if disk is None or parts is None:
            return (disk,) if disk is not None else ()
        path = re.compile(rf"{parts[1]}c\d+{parts[2]}")
        return (disk, *(node for node in self.nodes.values() if path.fullmatch(node.name)))

    def family(self, name: str) -> tuple[Node, ...]:
        """Return the disk of `name` and all its partitions."""
        disk = self.nodes.get(self.disk_of(name))
        if disk is None:
            return ()
        return (disk, *(self.nodes[part] for part in disk.partitions if part in self.nodes))

    def above(self, name: str) -> tuple[Node, ...]:
        """Return all devices built on `name`, at any level, including partitions."""
        return self._walk(name, lambda node: (*node.holders, *node.partitions))

    def below(self, name: str) -> tuple[Node, ...]:
        """Return all devices that `name` is built on, at any level, including the disks of partitions."""
        return self._walk(name, lambda node: (*node.slaves, *((node.parent,) if node.parent else ())))

    def _walk(self, name: str, step: Callable[[Node], Iterable[str]]) -> tuple[Node, ...]:
        visited: dict[str, Node] = {}
        waiting = list(step(self.nodes[name])) if name in self.nodes else []
        while waiting:
            node = self.nodes.get(waiting.pop(0))
            if node is not None and node.name not in visited and node.name != name:
                visited[node.name] = node
                waiting.extend(step(node))
        return tuple(visited.values())


def tree_of(nodes: Iterable[Node]) -> Tree:
    """Return a tree of these devices."""
    by_name = {node.name: node for node in nodes}
    return Tree(nodes=by_name, numbers={node.devno: node.name for node in by_name.values() if node.devno})


def node_path(name: str) -> str:
    """Return the device node of a kernel name: `cciss!c0d0` is /dev/cciss/c0d0."""
    return "/dev/" + name.replace("!", "/")


def kernel_name(device: str) -> str:
    """Return the kernel name of a device node: /dev/cciss/c0d0 is `cciss!c0d0` in sysfs."""
    return device.removeprefix("/dev/").replace("/", "!")


def number(text: str | None) -> int | None:
    """Return a number from sysfs; None if the text is not a number."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 20 else None


async def page_bytes(host: Host) -> int:
    """Return the kernel's page size, the unit of read-ahead and the stripe cache; 4096 if it is not reported."""
    word = (await host.read("/proc/self/smaps") or "").partition("KernelPageSize:")[2].split(maxsplit=1)[:1]
    kib = number(word[0]) if word else None
    return kib * 1024 if kib else 4096


def bytes_of(sectors: str | None) -> int | None:
    """Return a size from sysfs in bytes. sysfs counts sectors of 512 bytes for every device."""
    count = number(sectors)
    return None if count is None else count * 512


async def read_tree(host: Host, *, guarded: bool = False) -> Tree:
    """Return all block devices. Three rounds read the folders, their attributes, then udev's records and the links.

    `guarded`: also read the character devices of disks and the ranges of md members, for the write guard.
    """
    disks, parts, holders, part_holders, slaves = await asyncio.gather(
        host.list("/sys/block/*"),
        host.list("/sys/block/*/*/partition"),
        host.list("/sys/block/*/holders/*"),
        host.list("/sys/block/*/*/holders/*"),
        host.list("/sys/block/*/slaves/*"),
    )
    members, characters, raw = (
        await asyncio.gather(host.list("/sys/block/md*/md/dev-*/offset"), _characters(host), _raw_devices(host))
        if guarded
        else ((), {}, ())
    )
    folders = [path.rsplit("/", 1)[0] for path in parts]
    wanted = [f"{disk}/{name}" for disk in disks for name in DISK_ATTRIBUTES]
    wanted += [f"{folder}/{name}" for folder in folders for name in PARTITION_ATTRIBUTES]
    shares = [path for offset in members for path in (offset, f"{offset.removesuffix('offset')}size")]
    wanted += shares
    texts = await host.read_many(wanted)
    numbers = {path: devno for path in (*disks, *folders) if (devno := texts.get(f"{path}/dev"))}
    records = await host.read_many([f"/run/udev/data/b{devno}" for devno in numbers.values()])
    links = await asyncio.gather(*(host.link(disk) for disk in disks))
    built = names_by_folder((*holders, *part_holders))
    under = names_by_folder(slaves)
    children: dict[str, list[str]] = {}
    for folder in folders:
        children.setdefault(folder.split("/")[3], []).append(folder.rsplit("/", 1)[1])
    nodes: list[Node] = []
    for path, link in [*zip(disks, links, strict=True), *((folder, None) for folder in folders)]:
        name = path.rsplit("/", 1)[1]
        record = records.get(f"/run/udev/data/b{numbers.get(path)}", "")
        nodes.append(
            _node(
                *(path, texts, record, link, shares),
                partitions=tuple(sorted(children.get(name, ()), key=natural)),
                holders=built.get(name, ()),
                slaves=under.get(name, ()),
                characters=(*characters.get(name, ()), *raw),
            )
        )
    return tree_of(nodes)


async def _characters(host: Host) -> dict[str, tuple[str, ...]]:
    """Return the numbers of the character devices that lead to each disk, by kernel name of the disk."""
    listed = await asyncio.gather(*map(host.list, _CHARACTERS))
    numbers = await host.read_many([path for paths in listed for path in paths])
    by_disk: dict[str, tuple[str, ...]] = {}
    for path, devno in numbers.items():
        disk, last = path.split("/")[3], path.split("/")[-2]
        sibling = last.startswith("ng") and last[2:] != disk[4:]  # a different namespace of the same controller
        namespace = last.startswith("nvme") and _CONTROLLER.fullmatch(last) is None
        if not sibling and not namespace:
            by_disk[disk] = tuple(dict.fromkeys((*by_disk.get(disk, ()), devno)))
    return by_disk


async def _raw_devices(host: Host) -> tuple[str, ...]:
    """Return the numbers of all raw devices."""
    stats = await asyncio.gather(*map(host.stat, await host.list(_RAW)))
    return tuple(stat.devno for stat in stats if stat is not None and stat.kind == "char" and stat.devno is not None)


async def read_node(host: Host, name: str) -> Node | None:
    """Return a disk without its holders and slaves, to check whether it is still the same disk; None if it is gone."""
    path = f"/sys/block/{name}"
    texts, link = await asyncio.gather(
        host.read_many([f"{path}/{attribute}" for attribute in DISK_ATTRIBUTES]), host.link(path)
    )
    devno = texts.get(f"{path}/dev")
    if devno is None:
        return None
    return _node(path, texts, await host.read(f"/run/udev/data/b{devno}") or "", link)


def _node(
    path: str,
    texts: Mapping[str, str],
    record: str,
    link: str | None,
    shares: Iterable[str] = (),
    *,
    partitions: tuple[str, ...] = (),
    holders: tuple[str, ...] = (),
    slaves: tuple[str, ...] = (),
    characters: tuple[str, ...] = (),
) -> Node:
    """Return the device with the sysfs folder `path`, from the contents of sysfs files (`texts`) and its udev `record`.

    `shares`: paths of the files with the offset and the size of the data on each md member, of all md arrays.
    """
    names = (*DISK_ATTRIBUTES, *PARTITION_ATTRIBUTES)
    attributes = {name: texts[key] for name in names if (key := f"{path}/{name}") in texts}
    attributes |= {
        key.removeprefix(f"{path}/"): texts[key] for key in shares if key in texts and key.startswith(f"{path}/")
    }
    return Node(
        name=path.rsplit("/", 1)[1],
        devno=attributes.get("dev"),
        size_bytes=bytes_of(attributes.get("size")),
        parent=path.split("/")[3] if path.count("/") > 3 else None,
        read_only=attributes.get("ro") == "1",
        partitions=partitions,
        holders=holders,
        slaves=slaves,
        path=link,
        attributes=attributes,
        udev=parse_udev(record),
        characters=characters,
    )


def grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    """Return the second values of the pairs, grouped by the first value."""
    groups: dict[str, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def names_by_folder(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the last parts of paths by the folder two levels above: `.../sda1/holders/dm-0` gives {`sda1`:
    (`dm-0`,)}.
    """
    return grouped((tokens[-3], tokens[-1]) for tokens in (path.split("/") for path in paths))


def natural(name: str) -> tuple[int, str]:
    """Return the sort key of a kernel name: sda2 before sda10."""
    return len(name), name


async def run_tool(
    host: Host, argv: tuple[str, ...], *, seconds: float = 5, stall: float | None = STALL
) -> Completed | None:
    """Return the result of an installed program; None if it is missing, fails, times out or its output is truncated."""
    tool = host.which(argv[:1])
    if tool is None:
        return None
    try:
        done = await host.run(Command(argv=(tool, *argv[1:]), timeout=seconds, stall=stall))
    except RaidbenchError:
        return None
    return done if done.returncode == 0 and not done.truncated else None
