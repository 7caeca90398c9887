"""What promises more room than there is, and what lies beneath anything: thin volumes, snapshots, VDO, ZFS volumes,
files with holes. Pure.
"""

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
    """What it is that takes room elsewhere when it is written to."""

    THIN = "thin"
    """A volume of a thin pool (dm-thin)."""
    SNAPSHOT = SNAPSHOT
    """A classic snapshot (dm-snapshot): what is written to it is kept in its store."""
    ORIGIN = ORIGIN
    """What classic snapshots were taken of: what is overwritten is copied to the store of each first."""
    VDO = "vdo"
    """A volume that stores each block once (dm-vdo)."""
    ZVOL = "zvol"
    """A ZFS volume."""
    FILE = "file"
    """A loop device on a file."""
    UNKNOWN = "unknown"
    """Nothing tells what it is."""


_MAPPED = {kind.value: kind for kind in (ThinKind.THIN, ThinKind.SNAPSHOT, ThinKind.ORIGIN, ThinKind.VDO)} | {
    "snapshot-merge": ThinKind.UNKNOWN
}
"""Targets of device-mapper that take room elsewhere; while a snapshot is merged both sides change."""

_SOLID = ("CRYPT-", "mpath-", "part", "DMRAID-")
"""With what the UUIDs of mapped devices begin that have all of their room: LUKS, multipath and its partitions."""


def mount_of(picture: Topology, devno: str, path: str) -> Mount | None:
    """The mount that a file lies on, by the number that it tells (`st_dev`); None where that is not known.

    Files of btrfs have the number of their subvolume, which no mount has: there the path tells.
    """
    same = [mount for mount in picture.mounts if mount.devno == devno]
    if same:
        return file_mount(path, same) or same[0]
    named = file_mount(path, picture.mounts)
    return named if named is not None and named.fstype == "btrfs" else None


def nodes_on(picture: Topology, devno: str, path: str = "") -> tuple[Node, ...]:
    """The devices that a file system lies on, by the number that its file at `path` tells; none where none is known."""
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
    """All such things in what these devices are and lie on, through any number of steps."""
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
    """Where the kernel's table cannot be read: LVM marks the parts of what it made, others say what they are."""
    uuid = node.attributes.get("dm/uuid", "")
    if not uuid.startswith(MARK):
        return () if uuid.startswith(_SOLID) else (ThinKind.UNKNOWN,)
    own = lvm_name(node)
    if own is not None and "vpool" in own.endings:
        return (ThinKind.VDO,)
    endings = frozenset(ending for name in lvm_names_below(tree, node) for ending in name.endings)
    kinds = {"tpool": ThinKind.THIN, "cow": ThinKind.SNAPSHOT}
    thin_kinds = [kind for ending, kind in kinds.items() if ending in endings]
    return thin_kinds or ([ThinKind.ORIGIN] if snapshots_of(tree, {}, node) else ())


# -- how full a thin pool, a snapshot's store or a VDO volume is, by the words of `dmsetup status` --------------------

POOL = "thin-pool"
"""The target of a thin pool."""

BLOCK = 4096
"""Bytes of a block of dm-thin's metadata, and of VDO."""

UNTOLD = "nothing tells"
"""Why it is not known."""


def parse_usage(text: str) -> tuple[int | None, int | None]:
    """`12/256` as its two numbers."""
    used, _, total = text.partition("/")
    return number(used), number(total)


Gauge = tuple[int | None, int | None, int, str]
"""Used, total, bytes of its unit, and what is wrong with it."""


def _pool(room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """`TRANSACTION META/META DATA/DATA ROOT MODE ...` (the kernel's thin-provisioning.rst)."""
    if len(args) < 4:
        return None, None, 1, clean(f"it says {' '.join(args)}", 80) if args else ""
    bad = [literal for literal in ("ro", "out_of_data_space", "needs_check") if literal in args[4:]]
    at, block = (1, BLOCK) if room.part else (2, room.unit)
    return *parse_usage(args[at]), block, f"the pool is in trouble ({', '.join(bad)})" if bad else ""


def _store(_room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """`USED/TOTAL METADATA` in sectors, or a word of what befell it (dm-snap.c, snapshot_status)."""
    if len(args) < 2:
        return None, None, SECTOR, clean(f"it says {' '.join(args)}", 80) if args else ""
    return *parse_usage(args[0]), SECTOR, ""


def _vdo(_room: ThinCapacity, args: Sequence[str]) -> Gauge:
    """`DEVICE MODE RECOVERY INDEX COMPRESSION USED TOTAL` in blocks (the kernel's vdo.rst)."""
    if len(args) < 7:
        return None, None, BLOCK, ""
    return number(args[5]), number(args[6]), BLOCK, "" if args[1] == "normal" else clean(f"it is {args[1]}", 40)


GAUGES = {
    ThinKind.THIN.value: (POOL, _pool),
    ThinKind.SNAPSHOT.value: (ThinKind.SNAPSHOT.value, _store),
    ThinKind.VDO.value: (ThinKind.VDO.value, _vdo),
}


def with_usage(room: ThinCapacity, segments: Sequence[Segment]) -> ThinCapacity:
    """A room of device-mapper with what its status tells."""
    kinds, gauge = GAUGES[room.kind]
    args = next((part.words for part in segments if part.kind == kinds), None)
    used, total, block, trouble = gauge(room, args or ())
    if args is None or trouble or used is None or not total:
        return replace(room, unknown=trouble or UNTOLD)
    return replace(room, size_bytes=total * block, free_bytes=max(0, total - used) * block)
