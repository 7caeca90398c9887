"""Thin-provisioned layers below devices: thin volumes, snapshots, VDO, ZFS volumes, sparse files. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from backends.text import clean
from backends.topology.device_mapper import ORIGIN, SECTOR, SNAPSHOT, Segment, Segments, snapshots_of
from backends.topology.mounts import Mount, file_mount
from backends.topology.stacking import MARK, is_volume, lvm_name, lvm_names_below, pool_of
from backends.topology.thin_capacity import ThinCapacity
from backends.topology.tree import Node, Tree, number
from backends.topology.usage import Topology


class ThinKind(StrEnum):
    """Kind of a device that allocates space in other storage when it is written."""

    THIN = "thin"
    """A volume of a thin pool (dm-thin)."""
    SNAPSHOT = SNAPSHOT
    """A classic snapshot (dm-snapshot): writes to it go to its own copy-on-write store."""
    ORIGIN = ORIGIN
    """The origin of classic snapshots: before data is overwritten, it is copied to the store of each snapshot."""
    VDO = "vdo"
    """A deduplicated volume (dm-vdo)."""
    ZVOL = "zvol"
    """A ZFS volume."""
    FILE = "file"
    """A loop device whose data is in a file."""
    UNKNOWN = "unknown"
    """A layer whose kind cannot be read."""


_MAPPED = {kind.value: kind for kind in (ThinKind.THIN, ThinKind.SNAPSHOT, ThinKind.ORIGIN, ThinKind.VDO)} | {
    "snapshot-merge": ThinKind.UNKNOWN
}
"""Kind of the layer by type of device-mapper target, for targets that allocate space in other storage.

A snapshot that is being merged is unknown: both it and its origin change.
"""

_SOLID = ("CRYPT-", "mpath-", "part", "DMRAID-")
"""UUID prefixes of fully allocated device-mapper devices: LUKS, multipath, partitions, BIOS RAID (dmraid)."""


def mount_of(picture: Topology, devno: str, path: str) -> Mount | None:
    """Return the mount that contains a file. `devno`: device number of the file (`st_dev`).

    None if the mount is unknown. Files of btrfs have the device number of their subvolume, which no mount has; their
    mount is found by the path.
    """
    same = [mount for mount in picture.mounts if mount.devno == devno]
    if same:
        return file_mount(path, same) or same[0]
    named = file_mount(path, picture.mounts)
    return named if named is not None and named.fstype == "btrfs" else None


def nodes_on(picture: Topology, devno: str, path: str = "") -> tuple[Node, ...]:
    """Return the block devices of the filesystem that contains the file at `path`; empty if unknown.

    `devno`: device number of the file (`st_dev`).
    """
    node = picture.tree.by_devno(devno)
    if node is not None:
        return (node,)
    mount = mount_of(picture, devno, path)
    if mount is None:
        return ()
    pool = pool_of(mount)
    names = picture.pools.devices([pool]) if pool is not None else ()
    names = names or tuple(name for name, mounts in picture.mounted.items() if mount in mounts)
    return tuple(picture.tree.nodes[name] for name in names if name in picture.tree.nodes)


def thin_below(picture: Topology, tables: Segments, start: Iterable[Node]) -> Iterator[tuple[ThinKind, Node]]:
    """Yield kind and device of all thin-provisioned layers among the devices `start` and all devices below them."""
    waiting = list(start)
    visited: set[str] = set()
    while waiting:
        node = waiting.pop(0)
        if node.name in visited:
            continue
        visited.add(node.name)
        for kind in _kinds(picture, tables, node):
            yield kind, node
        names = (*node.slaves, *((node.parent,) if node.parent else ()))
        waiting += [picture.tree.nodes[name] for name in names if name in picture.tree.nodes]
        backing = picture.backings.get(node.name)
        if backing is not None and backing.devno is not None:
            lower = picture.tree.by_devno(backing.devno)
            waiting += [lower] if lower is not None else []
        elif backing is not None and backing.place is not None:
            waiting += nodes_on(picture, backing.place.rpartition(":")[0], backing.path)


def _kinds(picture: Topology, tables: Segments, node: Node) -> Collection[ThinKind]:
    if is_volume(node):
        return (ThinKind.ZVOL,)
    if node.name in picture.backings and picture.backings[node.name].devno is None:
        return (ThinKind.FILE,) if node.name.startswith("loop") else ()
    if "dm/uuid" not in node.attributes and "dm/name" not in node.attributes:
        return ()
    if node.name in tables:
        return {_MAPPED[part.kind]: None for part in tables[node.name] if part.kind in _MAPPED}
    return _by_mark(picture.tree, node)


def _by_mark(tree: Tree, node: Node) -> Collection[ThinKind]:
    """Return the kinds of layer that LVM's name and UUID of a device show. Used if its table cannot be read."""
    uuid = node.attributes.get("dm/uuid", "")
    if not uuid.startswith(MARK):
        return () if uuid.startswith(_SOLID) else (ThinKind.UNKNOWN,)
    lower_name = lvm_name(node)
    if lower_name is not None and "vpool" in lower_name.endings:
        return (ThinKind.VDO,)
    endings = frozenset(ending for lower_name in lvm_names_below(tree, node) for ending in lower_name.endings)
    kinds = {"tpool": ThinKind.THIN, "cow": ThinKind.SNAPSHOT}
    thin_kinds = [kind for ending, kind in kinds.items() if ending in endings]
    return thin_kinds or ([ThinKind.ORIGIN] if snapshots_of(tree, {}, node) else ())


# -- usage of thin pools, snapshot stores and VDO volumes from `dmsetup status` ---------------------------------------

POOL = "thin-pool"
"""Type of the device-mapper target of a thin pool."""

BLOCK = 4096
"""Size in bytes of a metadata block of dm-thin, and of a block of VDO."""

NOT_REPORTED = "no source reports it"
"""Reason for unknown usage."""


def parse_usage(text: str) -> tuple[int | None, int | None]:
    """Return the used and the total number from a string such as `12/256`; None for each that is missing."""
    used, _, total = text.partition("/")
    return number(used), number(total)


Gauge = tuple[int | None, int | None, int, str]
"""Usage of a storage: used units, all units (None if not reported), bytes per unit, and a fault ("" for none)."""


def _pool(room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """Return the usage from `TRANSACTION META/META DATA/DATA ROOT MODE ...` (the kernel's thin-provisioning.rst)."""
    if len(args) < 4:
        return None, None, 1, clean(f"it reports {' '.join(args)}", 80) if args else ""
    bad = [literal for literal in ("ro", "out_of_data_space", "needs_check") if literal in args[4:]]
    at, block = (1, BLOCK) if room.part else (2, room.unit)
    return *parse_usage(args[at]), block, f"the pool reports a fault ({', '.join(bad)})" if bad else ""


def _store(_room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """Return the usage from `USED/TOTAL METADATA` in sectors, or the fault (dm-snap.c, snapshot_status)."""
    if len(args) < 2:
        return None, None, SECTOR, clean(f"it reports {' '.join(args)}", 80) if args else ""
    return *parse_usage(args[0]), SECTOR, ""


def _vdo(_room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """Return the usage from `DEVICE MODE RECOVERY INDEX COMPRESSION USED TOTAL` in blocks (the kernel's vdo.rst)."""
    if len(args) < 7:
        return None, None, BLOCK, ""
    return number(args[5]), number(args[6]), BLOCK, "" if args[1] == "normal" else clean(f"it is {args[1]}", 40)


GAUGES = {
    ThinKind.THIN.value: (POOL, _pool),
    ThinKind.SNAPSHOT.value: (ThinKind.SNAPSHOT.value, _store),
    ThinKind.VDO.value: (ThinKind.VDO.value, _vdo),
}


def with_usage(room: ThinCapacity, segments: Sequence[Segment]) -> ThinCapacity:
    """Return the storage with the free space from `segments`, the status of its device-mapper device."""
    kinds, gauge = GAUGES[room.kind]
    args = next((part.args for part in segments if part.kind == kinds), None)
    used, total, block, trouble = gauge(room, args or ())
    if args is None or trouble or used is None or not total:
        return replace(room, unknown=trouble or NOT_REPORTED)
    return replace(room, size_bytes=total * block, free_bytes=max(0, total - used) * block)
