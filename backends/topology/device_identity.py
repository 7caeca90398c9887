"""What a block device is called and hangs from (model, serial, WWN, identity), and which are one disk, surely or
possibly. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations

from backends.identity import Identity, Use
from backends.model import Media
from backends.text import clean
from backends.topology.device_mapper import DeviceRange, is_mapped
from backends.topology.loop_backing import Backing
from backends.topology.ranges import RangeMap
from backends.topology.stacking import container_kind
from backends.topology.tree import Node, Tree, natural, node_path
from backends.values import dataclass

_TRANSPORTS = (
    ("/nvme", "nvme"),
    ("/usb", "usb"),
    ("/ata", "sata"),
    ("/end_device-", "sas"),
    ("/rport-", "fibre channel"),
    ("/session", "iscsi"),
    ("/mmc_host/", "mmc"),
    ("/virtio", "virtio"),
    ("/vmbus", "hyper-v"),
    ("/VMBUS:", "hyper-v"),
    ("/host", "scsi"),
    ("/virtual/block/loop", "loop"),
    ("/virtual/block/zram", "zram"),
)
"""Part of the resolved sysfs path and the interface it means; the first that fits wins."""

_NAMES = {
    "nvme": "nvme",
    "loop": "loop",
    "zram": "zram",
    "vd": "virtio",
    "xvd": "xen",
    "mmcblk": "mmc",
    "md": "md",
    "dm-": "dm",
    "bcache": "bcache",
    "zd": "zvol",
    "drbd": "drbd",
}
"""Beginning of the kernel name and the interface it means, when the path tells nothing."""

_VIRTUAL_MAKERS = ("QEMU", "VMware", "VBOX", "Msft", "Xen")
"""SCSI vendors and model beginnings of virtual machines' disks."""


_ZEROS = "0.-: "
"""Characters of a WWN that its maker never gave."""

NOBODYS = ("loop", "zram", "virtio", "md", "dm", "bcache", "zvol", "drbd")
"""Interfaces whose devices often have neither serial number nor WWN. Device number and disk sequence number tell
them apart as long as the machine runs (a new disk under an old name gets a new one), a loop device its backing file
besides; no plan for them outlives a reboot."""


def interface(node: Node) -> str | None:
    """`sata`, `sas`, `nvme`, `virtio`, ...: from where it hangs, else from its name; None if neither tells."""
    path = node.path or ""
    by_path = next((word for part, word in _TRANSPORTS if part in path), None)
    return by_path or next((word for front, word in _NAMES.items() if node.name.startswith(front)), None)


def model(node: Node) -> str | None:
    """Vendor and model; the vendor `ATA` is only the translation layer's own word."""
    maker = clean(node.attributes.get("device/vendor", ""))
    product = clean(node.attributes.get("device/model", ""))
    if maker in ("ATA", "NVMe") or maker.startswith("0x") or product.startswith(maker):
        maker = ""
    return clean(f"{maker} {product}") or None


def medium(node: Node, kind: str | None = None) -> Media:
    """What stores the bits, `kind` being its interface; of a virtual disk nobody knows."""
    if kind == "zram":
        return Media.RAM
    if kind in ("loop", "virtio", "xen", "hyper-v") or (model(node) or "").startswith(_VIRTUAL_MAKERS):
        return Media.VIRTUAL
    if kind == "nvme":
        return Media.NVME
    return {"0": Media.SSD, "1": Media.HDD}.get(node.attributes.get("queue/rotational", ""), Media.UNKNOWN)


def serial(node: Node) -> str | None:
    """Serial number: sysfs where it has one, VPD page 0x80 of SCSI disks, else udev's word."""
    plain = clean(node.attributes.get("serial", "") or node.attributes.get("device/serial", ""))
    page = node.attributes.get("device/vpd_pg80", "")
    vital = clean(page[4:]) if len(page) > 4 else ""  # four bytes of header come first (SPC-4, 7.8.20)
    from_udev = clean(node.udev.get("ID_SCSI_SERIAL", "")) or clean(node.udev.get("ID_SERIAL_SHORT", ""))
    return plain or vital or from_udev or None


def wwn(node: Node) -> str | None:
    """World wide name with its prefix (`naa.`, `eui.`, `uuid.`, `nvme.`), of what is built its UUID (`md.`, `dm.`,
    `bcache.`).

    An identifier that the kernel made of vendor, model and serial number (`t10.`) is none, nor is one of zeros.
    """
    own = clean(node.attributes.get("wwid", "") or node.attributes.get("device/wwid", ""))
    if own.startswith(("naa.", "eui.", "uuid.", "nvme.")) and own.partition(".")[2].strip(_ZEROS):
        return own
    for source, front in (("dm/uuid", "dm."), ("md/uuid", "md.")):
        array = clean(node.attributes.get(source, ""))
        if array.strip("0-"):  # all volumes and containers of foreign metadata read zeros (drivers/md/md.c, uuid_show)
            return front + array
    if node.name.startswith("bcache") and (cached := clean(node.attributes.get("bcache/backing_dev_uuid", ""))):
        return f"bcache.{cached}"  # below the backing device's own name lies the same folder
    if array := clean(node.udev.get("MD_UUID", "")):
        return f"md.{array}"
    from_udev = clean(node.udev.get("ID_WWN_WITH_EXTENSION", "") or node.udev.get("ID_WWN", ""))
    from_udev = from_udev.removeprefix("0x") if (numbered := from_udev.startswith("0x")) else from_udev
    return None if not from_udev.strip(_ZEROS) else f"naa.{from_udev}" if numbered else from_udev


def identity(node: Node) -> Identity:
    """What is compared before every write to a disk."""
    backing = node.attributes.get("loop/backing_file")
    return Identity(
        name=node.name,
        wwn=wwn(node),
        serial=serial(node),
        model=model(node),
        size_bytes=node.size_bytes,
        devno=node.devno,
        diskseq=node.attributes.get("diskseq"),
        backing=clean(backing, 512) if backing else None,
    )


def exact_size(node: Node | None, number: int | None) -> int | None:
    """Bytes of what a tool tells of, which rounds them (`number`): those of the kernel's disk where it is one."""
    return node.size_bytes if node is not None and node.size_bytes else number


def identity_in(tree: Tree, node: Node) -> Identity:
    """The same for a disk or a partition: a partition is its disk's, with its own name, numbers and size."""
    disk = tree.nodes.get(tree.disk_of(node.name), node)
    return replace(identity(disk), name=node.name, devno=node.devno, size_bytes=node.size_bytes)


def is_told_apart(own: Identity | None, kind: str | None) -> bool:
    """Whether a device of such an interface cannot be taken for another one. What it lies on is another question."""
    if own is None or own.devno is None:
        return False
    if own.serial or own.wwn:
        return True
    if kind not in NOBODYS or own.diskseq is None:
        return False
    return kind != "loop" or own.backing is not None


def nameless(nodes: Iterable[Node]) -> list[str]:
    """Which of the devices that another one lies on could be taken for others: it has no identity then either."""
    return [
        f"{node.device}, which it lies on, reports neither serial number nor WWN, and may be another disk again"
        for node in nodes
        if node.parent is None and not is_told_apart(identity(node), interface(node))
    ]


# -- which devices are one disk by another path, and which possibly are -----------------------------------------------

IS = ("mount", "swap", "btrfs", "zfs", "export", "lvm", "bcache", "md", "snapshot", "stratis")
"""Kinds of use whose detail completes "X is ..."."""

LIKELY = "possibly the same disk as"
"""How the words begin for a disk of the same serial number and size that is listed apart."""

SAME = "possibly the same data as"
"""The first words about a device whose content has the same UUID, if nothing proves that it is a copy."""

_ACROSS = ("mount", "swap", "btrfs", "export", "open", "snapshot")
"""Uses of a member that concern what is built of it. That the system or something else is built on the member too, as
volumes of one group are, does not."""

_KEEPERS = ("multipathd", "mdmon")
"""Programs that keep the paths or members of what they look after open all the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameDataDevice:
    """Another device that holds the same data, or part of them."""

    words: str
    """What completes "/dev/sdl is ...": `the same disk as /dev/sdk`."""
    nodes: tuple[Node, ...] = ()
    """The disk and its partitions; of what something is built on, the member alone."""
    member: bool = False
    """Whether the device is built on it, and so has claimed it already."""
    neighbour: bool = False
    """Whether it shares sectors with the device and is neither below nor above it."""
    claimed: bool = False
    """Whether the kernel gives it to nobody: the device has claimed it, or its whole disk is claimed."""
    stands: str = ""
    """Why its presence alone is a use, a clause that follows `words`; "" where only its own uses count."""

    @property
    def free_standing(self) -> bool:
        """Return whether it can be claimed if nobody else has claimed it."""
        return bool(self.nodes) and not self.member and not self.claimed

    def translate_use(self, use: Use, program: str = "") -> Use | None:
        """Return a use of the other device, by a program, as one of this; None for one that does not concern it."""
        if self.member and (use.kind not in _ACROSS or program in _KEEPERS):
            return None
        if use.part is not None and use.kind in IS:
            detail = f"{self.words}: {node_path(use.part)} is {use.detail}"
        elif use.kind in IS:
            detail = f"{self.words}, {use.detail}"
        else:
            detail = f"{self.words}: {use.detail}"
        return replace(use, detail=detail, part=None, elsewhere=True)


_ONE_PATH = ("sata", "usb", "mmc")
"""Interfaces on which a disk has one port, so that two nodes are two disks, whatever they report of themselves: bridges
of one make often have one number. SATA behind a SAS adapter counts as SAS."""


def other_paths(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Return, for every disk that the kernel has more than once, its other names.

    That is told by what the disk reports, or by a multipath device that is built on both.
    """
    disks = {node.name: node for node in tree.nodes.values() if _is_disk(node)}
    matches: dict[str, set[str]] = {}
    for name, other in _alike(disks.values()):
        if identity(disks[name]).same_disk(identity(disks[other])) and not _have_one_path(disks[name], disks[other]):
            matches.setdefault(name, set()).add(other)
    for node in tree.nodes.values():
        if is_multipath(node):
            paths = [path for path in node.slaves if path in disks]
            for name in paths:
                matches.setdefault(name, set()).update(path for path in paths if path != name)
    return {name: tuple(sorted(others)) for name, others in matches.items() if others}


def likely_of(tree: Tree) -> dict[str, dict[str, str]]:
    """Return, for every disk that may be one with others though they are listed apart, those with words that say so."""
    disks = {node.name: node for node in tree.nodes.values() if _is_disk(node)}
    twins = other_paths(tree)
    matches: dict[str, dict[str, str]] = {}
    for name, other in _alike(disks.values()):
        own, its = identity(disks[name]), identity(disks[other])
        if other in twins.get(name, ()) or not own.perhaps_same_disk(its):
            continue
        if own.has_other_serial(its):
            if _have_one_path(disks[name], disks[other]):
                continue
            text = f"with one WWN ({own.wwn}) and other serial numbers"
        elif own.serial and (own.serial, own.size_bytes) == (its.serial, its.size_bytes):
            text = f"with one serial number ({own.serial}) and size"
        else:
            text = f"with one WWN ({own.wwn})"
        matches.setdefault(name, {})[other] = f"{LIKELY} {node_path(other)}, {text}"
    return matches


def _is_disk(node: Node) -> bool:
    """Return whether it is a whole disk that can be opened."""
    return node.parent is None and node.attributes.get("hidden") != "1"


def is_multipath(node: Node) -> bool:
    """Return whether it is a multipath device: what it is built on are paths to one disk (multipathd names it so)."""
    return node.attributes.get("dm/uuid", "").startswith("mpath-")


def _have_one_path(node: Node, other: Node) -> bool:
    """Return whether both hang from where a disk has one path, so that they are two."""
    return interface(node) in _ONE_PATH and interface(other) in _ONE_PATH


def _alike(nodes: Iterable[Node]) -> list[tuple[str, str]]:
    """Return the pairs of disks that have a WWN, or a serial number and size, in common."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in nodes:
        own = identity(node)
        if own.wwn:
            groups.setdefault((own.wwn,), []).append(node.name)
        if own.serial and own.size_bytes:
            groups.setdefault((own.serial, own.size_bytes), []).append(node.name)
    return list(dict.fromkeys(pair for names in groups.values() for pair in permutations(names, 2)))


def paths_of(twins: Mapping[str, tuple[str, ...]], disk: str) -> tuple[str, ...]:
    """All names of a disk, its own included, in natural order: the first is what everybody calls it by."""
    matches = {disk: None}
    waiting = [disk]
    while waiting:
        new = [other for other in twins.get(waiting.pop(), ()) if other not in matches]
        matches |= dict.fromkeys(new)
        waiting += new
    return tuple(sorted(matches, key=natural))


def relations(
    tree: Tree,
    twins: Mapping[str, tuple[str, ...]],
    likely: Mapping[str, Mapping[str, str]],
    backings: Mapping[str, Backing],
    mapped: Mapping[str, tuple[DeviceRange, ...]] | None,
    name: str,
) -> tuple[SameDataDevice, ...]:
    """All that is the same thing as the disk of `name`, or lies beneath it, through any number of steps.

    `mapped`: what device-mapper's tables say; None where nobody asked, and so nobody is told what lies beside it.
    """
    start = tree.disk_of(name)
    matches: dict[str, SameDataDevice] = {}
    visited = {start}
    waiting: list[tuple[str, str]] = []

    def descend(top: str, way: str) -> None:
        for node in tree.below(top):
            disk = tree.disk_of(node.name)
            if node.name != start and node.name not in matches:
                matches[node.name] = SameDataDevice(words=f"{way}built on {node.shown}", nodes=(node,), member=True)
            if disk not in visited:
                visited.add(disk)
                waiting.append((disk, f"{way}built on {node_path(disk)}, "))

    waiting.append((start, ""))
    descend(name, "")
    while waiting:
        disk, way = waiting.pop(0)
        for other, text in _next(tree, twins, likely, backings, disk):
            if other in visited:
                continue
            visited.add(other)
            backing = backings.get(disk)
            own = backing is not None and backing.claims and other == _disk_of_backing(tree, backing)
            matches[other] = SameDataDevice(words=way + text, nodes=tree.family(other), claimed=own)
            waiting.append((other, f"{way}{text}, "))
            descend(other, f"{way}{text}, ")
    covered = {node.name for relation in matches.values() for node in relation.nodes}
    beside = () if mapped is None else _neighbours(tree, RangeMap(tree, mapped, backings), name)
    return (*matches.values(), *(relation for relation in beside if relation.nodes[0].name not in covered))


def _neighbours(tree: Tree, layout: RangeMap, name: str) -> Iterator[SameDataDevice]:
    """Yield the devices that may share a sector with a device and are neither below nor above it.

    A partition or a device-mapper device is in use only if something uses it; it is locked and opened with the device.
    The kernel refuses to open a partition exclusively once something is built on the whole disk, so nobody uses it that
    way then. A loop device or an array counts as a use even if nothing uses it, because it is attached on purpose.
    """
    own = layout.layers(name)
    family = {node.name for node in tree.family(name)}
    for node in tree.nodes.values():
        # a container of md has no data of its own
        if node.name in own or node.name in family or not node.size_bytes or container_kind(node) is not None:
            continue
        layers = layout.layers(node.name)
        if not own.isdisjoint(layers) and family.isdisjoint(layers) and (shared := layout.meeting(name, node.name)):
            text = f"on the same part of {tree.nodes[shared].device} as {node.shown}"
            silent = node.parent is not None or is_mapped(node.name)
            nodes = (node,) if node.parent is not None else tree.family(node.name)
            claimed = node.parent is not None and bool(tree.nodes[node.parent].holders)
            stands = "" if silent else "which is set up there"
            yield SameDataDevice(words=text, nodes=nodes, neighbour=True, claimed=claimed, stands=stands)


def _next(
    tree: Tree,
    twins: Mapping[str, tuple[str, ...]],
    likely: Mapping[str, Mapping[str, str]],
    backings: Mapping[str, Backing],
    disk: str,
) -> Iterator[tuple[str, str]]:
    """Disks that are one step away, with the words for it."""
    for other in twins.get(disk, ()):
        yield other, f"the same disk as {node_path(other)}"
    yield from likely.get(disk, {}).items()
    own = backings.get(disk)
    if own is None:
        return
    same = [own.devno, own.place]
    for other, backing in backings.items():
        if other != disk and any(same) and [backing.devno, backing.place] == same:
            yield other, f"set up on the same data as {node_path(other)}"
    lower = tree.by_devno(own.devno) if own.devno is not None else None
    if lower is not None:
        yield tree.disk_of(lower.name), f"set up on {lower.device}"


def _disk_of_backing(tree: Tree, backing: Backing) -> str | None:
    """Return the kernel name of the disk that a backing device is, or is a partition of."""
    lower = tree.by_devno(backing.devno) if backing.devno is not None else None
    return tree.disk_of(lower.name) if lower is not None else None


def files_of(disks: Iterable[str], backings: Mapping[str, Backing]) -> dict[str, SameDataDevice]:
    """By place, the files that these devices keep their data in."""
    own = [backings[disk] for disk in disks if disk in backings]
    return {
        backing.place: SameDataDevice(words=f"set up on {clean(backing.path, 512)}")
        for backing in own
        if backing.place is not None
    }
