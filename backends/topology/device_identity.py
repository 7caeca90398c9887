"""Identity of block devices (interface, model, serial, WWN), and which of them are or may be the same disk. No I/O."""

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
"""Pairs of a part of the resolved sysfs path and the interface that it indicates. The first pair that matches counts.

"""

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
"""Interface by prefix of the kernel name, for devices whose sysfs path does not show it."""

_VIRTUAL_MAKERS = ("QEMU", "VMware", "VBOX", "Msft", "Xen")
"""SCSI vendors, or prefixes of the model, of disks that a hypervisor provides."""


_ZEROS = "0.-: "
"""Characters of which a WWN consists if the manufacturer never set it."""

WITHOUT_SERIAL = ("loop", "zram", "virtio", "md", "dm", "bcache", "zvol", "drbd")
"""Interfaces whose devices often have neither serial number nor WWN.
Device number and disk sequence number distinguish them while the machine runs; a new disk under an old name gets a new
sequence number. A loop device is also distinguished by its backing file. Plans for such devices become invalid at a
reboot.
"""


def interface(node: Node) -> str | None:
    """Return the interface (`sata`, `sas`, `nvme`, `virtio`, ...) from the sysfs path, or else from the name.

    None if unknown.
    """
    path = node.path or ""
    by_path = next((word for part, word in _TRANSPORTS if part in path), None)
    return by_path or next((word for front, word in _NAMES.items() if node.name.startswith(front)), None)


def model(node: Node) -> str | None:
    """Return vendor and model; the vendor `ATA` is left out, because the kernel's translation layer sets it."""
    maker = clean(node.attributes.get("device/vendor", ""))
    product = clean(node.attributes.get("device/model", ""))
    if not maker:
        return product or None
    if maker in ("ATA", "NVMe") or maker.startswith("0x") or product.startswith(maker):
        maker = ""
    return clean(f"{maker} {product}") or None


def medium(node: Node, kind: str | None = None) -> Media:
    """Return the kind of medium of a device with interface `kind`; the medium of a virtual disk is unknown."""
    if kind == "zram":
        return Media.RAM
    if kind in ("loop", "virtio", "xen", "hyper-v") or (model(node) or "").startswith(_VIRTUAL_MAKERS):
        return Media.VIRTUAL
    if kind == "nvme":
        return Media.NVME
    return {"0": Media.SSD, "1": Media.HDD}.get(node.attributes.get("queue/rotational", ""), Media.UNKNOWN)


def serial(node: Node) -> str | None:
    """Return the serial number from sysfs, VPD page 0x80 of SCSI disks, or udev; None if there is none."""
    page = node.attributes.get("device/vpd_pg80", "")
    return (
        clean(node.attributes.get("serial", "") or node.attributes.get("device/serial", ""))
        or clean(page[4:])  # after a header of four bytes (SPC-4, 7.8.20)
        or clean(node.udev.get("ID_SCSI_SERIAL", ""))
        or clean(node.udev.get("ID_SERIAL_SHORT", ""))
        or None
    )


def wwn(node: Node) -> str | None:
    """Return the WWN with its prefix (`naa.`, `eui.`, `uuid.`, `nvme.`), or the UUID of an array or volume, or None.

    The UUID has the prefix `md.`, `dm.` or `bcache.`. An identifier that the kernel built from vendor, model and serial
    number (`t10.`) does not count, nor does one of zeros.
    """
    reported = clean(node.attributes.get("wwid", "") or node.attributes.get("device/wwid", ""))
    if reported.startswith(("naa.", "eui.", "uuid.", "nvme.")) and reported.partition(".")[2].strip(_ZEROS):
        return reported
    for source, front in (("dm/uuid", "dm."), ("md/uuid", "md.")):
        array = clean(node.attributes.get(source, ""))
        # md reports zeros for volumes and containers of external metadata (drivers/md/md.c, uuid_show)
        if array.strip("0-"):
            return front + array
    if node.name.startswith("bcache") and (cached := clean(node.attributes.get("bcache/backing_dev_uuid", ""))):
        return f"bcache.{cached}"  # the backing device has the same folder, so the name decides
    if array := clean(node.udev.get("MD_UUID", "")):
        return f"md.{array}"
    from_udev = clean(node.udev.get("ID_WWN_WITH_EXTENSION", "") or node.udev.get("ID_WWN", ""))
    from_udev = from_udev.removeprefix("0x") if (numbered := from_udev.startswith("0x")) else from_udev
    return None if not from_udev.strip(_ZEROS) else f"naa.{from_udev}" if numbered else from_udev


def identity(node: Node) -> Identity:
    """Return the identity of a disk, which is compared before every write to it."""
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
    """Return the size of a device in bytes from the kernel, or else `number`, the size that a tool reported and may
    have rounded.
    """
    return node.size_bytes if node is not None and node.size_bytes else number


def identity_in(tree: Tree, node: Node) -> Identity:
    """Return the identity of a disk or partition.

    The identity of a partition is that of its disk, with the name, number and size of the partition.
    """
    disk = tree.nodes.get(tree.disk_of(node.name), node)
    return replace(identity(disk), name=node.name, devno=node.devno, size_bytes=node.size_bytes)


def is_distinguishable(device: Identity | None, kind: str | None) -> bool:
    """Return whether a device with this interface cannot be mistaken for another. Its lower layers are not checked."""
    if device is None or device.devno is None:
        return False
    if device.serial or device.wwn:
        return True
    if kind not in WITHOUT_SERIAL or device.diskseq is None:
        return False
    return kind != "loop" or device.backing is not None


def indistinct_reasons(nodes: Iterable[Node]) -> list[str]:
    """Return a reason for each of these lower devices that could be mistaken for another disk."""
    return [
        f"its underlying device {node.device} has no serial number and no WWN, so it may be a different disk"
        for node in nodes
        if node.parent is None and not is_distinguishable(identity(node), interface(node))
    ]


# -- devices that are, or may be, the same disk by another path -------------------------------------------------------

IS = ("mount", "swap", "btrfs", "zfs", "export", "lvm", "bcache", "md", "snapshot", "stratis")
"""Values of `Use.kind` for which `Use.detail` completes "X is ..."."""

LIKELY = "possibly the same disk as"
"""Beginning of `SameDataDevice.text` for a disk with the same WWN, or the same serial number and size."""

SAME = "possibly the same data as"
"""Beginning of `SameDataDevice.text` for a device whose content has the same UUID and is not proven to be a copy."""

_ACROSS = ("mount", "swap", "btrfs", "export", "open", "snapshot")
"""Kinds of use of a member that also concern a device built on it.

A use of another kind may come from another volume of the same group.
"""

_KEEPERS = ("multipathd", "mdmon")
"""Programs that monitor multipath devices and arrays, and always have their paths and members open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameDataDevice:
    """Another device that holds the same data as a given device, or part of it."""

    text: str
    """Text that completes "/dev/sdl is ...": `the same disk as /dev/sdk`."""
    nodes: tuple[Node, ...] = ()
    """Its nodes: the disk and its partitions, or only the member if `member` is True."""
    member: bool = False
    """Whether the given device is built on this one, and so has already claimed it."""
    neighbour: bool = False
    """Whether this device shares sectors with the given device, and is neither below nor above it."""
    claimed: bool = False
    """Whether the kernel refuses to open it exclusively, because the given device has claimed it or its disk."""
    presence_reason: str = ""
    """Reason why it counts as a use even if nothing uses it, as a clause after `text`; "" if only its own uses count.

    """

    def translate_use(self, use: Use, program: str = "") -> Use | None:
        """Return `use`, a use of this device, as a use of the given device; None if it does not affect that device.

        `program`: the program that has it open.
        """
        if self.member and (use.kind not in _ACROSS or program in _KEEPERS):
            return None
        if use.part is not None and use.kind in IS:
            detail = f"{self.text}: {node_path(use.part)} is {use.detail}"
        elif use.kind in IS:
            detail = f"{self.text}, {use.detail}"
        else:
            detail = f"{self.text}: {use.detail}"
        return replace(use, detail=detail, part=None, elsewhere=True)


_ONE_PATH = ("sata", "usb", "mmc")
"""Interfaces with one port per disk, so two nodes are two disks, even if both report the same identity.

USB bridges of the same make often share a serial number. SATA behind a SAS adapter counts as SAS.
"""


def other_paths(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Return, for every disk that the kernel lists more than once, its other names.

    Disks are the same if they report the same identity or if a multipath device is built on both.
    """
    disks = {node.name: node for node in tree.nodes.values() if _is_disk(node)}
    twins: dict[str, set[str]] = {}
    for name, other in _similar_pairs(disks.values()):
        if identity(disks[name]).same_disk(identity(disks[other])) and not _have_one_path(disks[name], disks[other]):
            twins.setdefault(name, set()).add(other)
    for node in tree.nodes.values():
        if is_multipath(node):
            paths = [path for path in node.slaves if path in disks]
            for name in paths:
                twins.setdefault(name, set()).update(path for path in paths if path != name)
    return {name: tuple(sorted(others)) for name, others in twins.items() if others}


def likely_of(tree: Tree) -> dict[str, dict[str, str]]:
    """Return the reasons why two disks may be the same disk, by kernel name of one disk, then of the other disk."""
    disks = {node.name: node for node in tree.nodes.values() if _is_disk(node)}
    twins = other_paths(tree)
    likely: dict[str, dict[str, str]] = {}
    for name, other in _similar_pairs(disks.values()):
        first, second = identity(disks[name]), identity(disks[other])
        if other in twins.get(name, ()) or not first.perhaps_same_disk(second):
            continue
        if first.has_other_serial(second):
            if _have_one_path(disks[name], disks[other]):
                continue
            text = f"with the same WWN ({first.wwn}) but different serial numbers"
        elif first.serial and (first.serial, first.size_bytes) == (second.serial, second.size_bytes):
            text = f"with the same serial number ({first.serial}) and size"
        else:
            text = f"with the same WWN ({first.wwn})"
        likely.setdefault(name, {})[other] = f"{LIKELY} {node_path(other)}, {text}"
    return likely


def _is_disk(node: Node) -> bool:
    """Return whether the node is a whole disk that can be opened."""
    return node.parent is None and node.attributes.get("hidden") != "1"


def is_multipath(node: Node) -> bool:
    """Return whether the device is a multipath device, according to the UUID that multipathd sets.

    Its members are paths to one disk.
    """
    return node.attributes.get("dm/uuid", "").startswith("mpath-")


def _have_one_path(node: Node, other: Node) -> bool:
    """Return whether both disks have an interface with one path per disk, so that they are different disks."""
    return interface(node) in _ONE_PATH and interface(other) in _ONE_PATH


def _similar_pairs(nodes: Iterable[Node]) -> list[tuple[str, str]]:
    """Return the pairs of disks (kernel names) that report the same WWN, or the same serial number and size."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in nodes:
        if identifier := wwn(node):
            groups.setdefault((identifier,), []).append(node.name)
        if node.size_bytes and (number := serial(node)):
            groups.setdefault((number, node.size_bytes), []).append(node.name)
    return list(dict.fromkeys(pair for names in groups.values() for pair in permutations(names, 2)))


def paths_of(twins: Mapping[str, tuple[str, ...]], disk: str) -> tuple[str, ...]:
    """Return all names of a disk in natural order, including its own; the first one is displayed."""
    names = {disk: None}
    waiting = [disk]
    while waiting:
        new = [other for other in twins.get(waiting.pop(), ()) if other not in names]
        names |= dict.fromkeys(new)
        waiting += new
    return tuple(sorted(names, key=natural))


def relations(
    tree: Tree,
    twins: Mapping[str, tuple[str, ...]],
    likely: Mapping[str, Mapping[str, str]],
    backings: Mapping[str, Backing],
    mapped: Mapping[str, tuple[DeviceRange, ...]] | None,
    name: str,
) -> tuple[SameDataDevice, ...]:
    """Return every other device that is the same disk as the disk of `name`, or below it, through any number of steps.

    `mapped`: the tables of device-mapper. If they were not read (None), devices that share sectors are missing.
    """
    start = tree.disk_of(name)
    related: dict[str, SameDataDevice] = {}
    visited = {start}
    waiting: list[tuple[str, str]] = []

    def descend(top: str, way: str) -> None:
        for node in tree.below(top):
            disk = tree.disk_of(node.name)
            if node.name != start and node.name not in related:
                related[node.name] = SameDataDevice(text=f"{way}built on {node.shown}", nodes=(node,), member=True)
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
            is_claimed = backing is not None and backing.claims and other == _disk_of_backing(tree, backing)
            related[other] = SameDataDevice(text=way + text, nodes=tree.family(other), claimed=is_claimed)
            waiting.append((other, f"{way}{text}, "))
            descend(other, f"{way}{text}, ")
    covered = {node.name for relation in related.values() for node in relation.nodes}
    neighbours = () if mapped is None else _neighbours(tree, RangeMap(tree, mapped, backings), name)
    return (*related.values(), *(relation for relation in neighbours if relation.nodes[0].name not in covered))


def _neighbours(tree: Tree, layout: RangeMap, name: str) -> Iterator[SameDataDevice]:
    """Yield the devices that may share a sector with the device `name` and are neither below nor above it.

    A partition or a device-mapper device counts as a use only if something uses it. It is locked and opened together
    with the device. Once something is built on the whole disk, the kernel refuses to open its partitions exclusively,
    so nothing else can use them that way. A loop device or an array counts as a use even if nothing uses it, because it
    was attached on purpose.
    """
    below = layout.layers(name)
    family = {node.name for node in tree.family(name)}
    for node in tree.nodes.values():
        # An md container has no data of its own, so it shares no sectors.
        if node.name in below or node.name in family or not node.size_bytes or container_kind(node) is not None:
            continue
        layers = layout.layers(node.name)
        if not below.isdisjoint(layers) and family.isdisjoint(layers) and (shared := layout.meeting(name, node.name)):
            text = f"on the same part of {tree.nodes[shared].device} as {node.shown}"
            silent = node.parent is not None or is_mapped(node.name)
            nodes = (node,) if node.parent is not None else tree.family(node.name)
            claimed = node.parent is not None and bool(tree.nodes[node.parent].holders)
            presence_reason = "" if silent else "which is set up there"
            yield SameDataDevice(
                text=text, nodes=nodes, neighbour=True, claimed=claimed, presence_reason=presence_reason
            )


def _next(
    tree: Tree,
    twins: Mapping[str, tuple[str, ...]],
    likely: Mapping[str, Mapping[str, str]],
    backings: Mapping[str, Backing],
    disk: str,
) -> Iterator[tuple[str, str]]:
    """Yield kernel name and relation of each disk that is or may be `disk`, shares its backing, or is its backing."""
    for other in twins.get(disk, ()):
        yield other, f"the same disk as {node_path(other)}"
    yield from likely.get(disk, {}).items()
    backing = backings.get(disk)
    if backing is None:
        return
    same = [backing.devno, backing.place]
    for other, other_backing in backings.items():
        if other != disk and any(same) and [other_backing.devno, other_backing.place] == same:
            yield other, f"set up on the same data as {node_path(other)}"
    lower = tree.by_devno(backing.devno) if backing.devno is not None else None
    if lower is not None:
        yield tree.disk_of(lower.name), f"set up on {lower.device}"


def _disk_of_backing(tree: Tree, backing: Backing) -> str | None:
    """Return the kernel name of the disk that a backing device is, or is a partition of."""
    lower = tree.by_devno(backing.devno) if backing.devno is not None else None
    return tree.disk_of(lower.name) if lower is not None else None


def files_of(disks: Iterable[str], backings: Mapping[str, Backing]) -> dict[str, SameDataDevice]:
    """Return, by file ID, the files in which these devices store their data."""
    used = [backings[disk] for disk in disks if disk in backings]
    return {
        backing.place: SameDataDevice(text=f"set up on {clean(backing.path, 512)}")
        for backing in used
        if backing.place is not None
    }
