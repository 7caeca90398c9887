"""Scan for thin-provisioned storage below a device, and its free space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from backends.host import Host
from backends.json_text import document, rows, table, whole_number, word
from backends.text import clean
from backends.topology.device_mapper import (
    SECTOR,
    STATUS,
    TABLE,
    Segment,
    Segments,
    dmsetup_output,
    parse_segments,
    query_dmsetup,
    segments_by_kernel_name,
    snapshots_of,
)
from backends.topology.scan import scan_topology
from backends.topology.stacking import lvm_name, volume_shown
from backends.topology.thin_capacity import ThinCapacity
from backends.topology.thin_layers import (
    BLOCK,
    GAUGES,
    NOT_REPORTED,
    POOL,
    ThinKind,
    mount_of,
    nodes_on,
    parse_usage,
    thin_below,
    with_usage,
)
from backends.topology.tree import Node, number, run_tool
from backends.topology.usage import Topology

THIN_COUNT = ("--nolocking", "--reportformat", "json", "-a", "-o", "vg_name,lv_name,thin_count")
"""Arguments of lvs that query the number of volumes in each thin pool, both active and inactive."""

_MAPPING = 64
"""Maximum number of metadata bytes per block of a thin volume (thin_metadata_size(8))."""

_EXCEPTION = 16
"""Bytes of metadata in a snapshot's store for each chunk (drivers/md/dm-snap-persistent.c)."""

_IN_PLACE = frozenset({"ext2", "ext3", "ext4", "xfs", "jfs", "tmpfs", "vfat", "exfat"})
"""Filesystems that overwrite data in place. Other filesystems allocate new space first."""


async def capacities_of(host: Host, picture: Topology, start: Collection[Node]) -> tuple[ThinCapacity, ...]:
    """Return every storage from which writes to the devices `start` allocate space, at all layers below them."""
    tree = picture.tree
    tables = picture.tables or segments_by_kernel_name(await query_dmsetup(host, tree, TABLE), tree)
    layers = tuple(thin_below(picture, tables, start))
    mapped = any("dm/name" in node.attributes for _, node in layers)
    status = segments_by_kernel_name(await dmsetup_output(host, STATUS), tree) if mapped else {}
    reader = _Reader(host, picture, tables, status, [node.name for node in start])
    capacities = [replace(room, layer=node.name) for kind, node in layers for room in await reader.of(kind, node)]
    return tuple(room for room in capacities if host.capabilities.harmed or not room.unknown)


async def capacities_at(host: Host, devno: str, path: str = "") -> tuple[ThinCapacity, ...]:
    """Return every storage from which writes to a device, or to the file at `path`, allocate space.

    `devno`: MAJ:MIN of the device, or of the filesystem with the file.
    """
    picture = await scan_topology(host)
    return await capacities_of(host, picture, nodes_on(picture, devno, path))


async def refresh_capacities(host: Host, rooms: Sequence[ThinCapacity]) -> tuple[ThinCapacity, ...]:
    """Return the storage in `rooms` with its current free space."""
    mapped = any(room.kind in GAUGES for room in rooms)
    status = parse_segments(await dmsetup_output(host, STATUS)) if mapped else {}
    capacities = []
    for room in rooms:
        if room.kind in GAUGES:
            capacities.append(with_usage(room, status.get(room.key, ())))
        elif room.kind == ThinKind.ZVOL:
            left = await _zfs_space(host, room.key)
            capacities.append(
                replace(room, unknown=NOT_REPORTED) if left is None else replace(room, free_bytes=left[1])
            )
        else:
            space = await host.space_at(room.key)
            capacities.append(
                replace(room, unknown=NOT_REPORTED) if space is None else replace(room, free_bytes=space.free)
            )
    return tuple(capacities)


class _Reader:
    """Reader of the free space of each thin-provisioned layer."""

    def __init__(
        self, host: Host, picture: Topology, tables: Segments, status: Segments, start: Collection[str]
    ) -> None:
        self._host = host
        self._start = start
        self._picture = picture
        self._tree = picture.tree
        self._tables = tables
        self._status = status

    async def of(self, kind: ThinKind, node: Node) -> tuple[ThinCapacity, ...]:
        """Return the storage from which the layer `node` of this kind allocates space."""
        match kind:
            case ThinKind.THIN:
                return await self._thin(node)
            case ThinKind.SNAPSHOT:
                return (self._store(node, node, self._stored_bytes(node)),)
            case ThinKind.ORIGIN:
                snapshots = snapshots_of(self._tree, self._tables, node)
                return tuple(self._store(snapshot, node, self._stored_bytes(snapshot)) for snapshot in snapshots)
            case ThinKind.VDO:
                return (self._vdo(node),)
            case ThinKind.ZVOL:
                return await self._zvol(node)
            case ThinKind.FILE:
                return await self._file(node)
            case ThinKind.UNKNOWN:
                why = "dmsetup does not report its devices"
                return (ThinCapacity(kind=kind, place=_display_name(node), key=node.name, unknown=why),)

    def _first_segment(self, segments: Segments, node: Node | None, kind: str) -> Segment | None:
        parts = segments.get(node.name, ()) if node is not None else ()
        return next((part for part in parts if part.kind == kind), None)

    async def _thin(self, node: Node) -> tuple[ThinCapacity, ...]:
        segment = self._first_segment(self._tables, node, ThinKind.THIN)
        pool = self._tree.by_devno(segment.args[0]) if segment is not None and segment.args else None
        pool_segment = self._first_segment(self._tables, pool, POOL)
        block = number(pool_segment.args[2]) if pool_segment is not None and len(pool_segment.args) > 2 else None
        if pool is None or not block:
            return (
                ThinCapacity(
                    kind=ThinKind.THIN,
                    place=f"the thin pool of {_display_name(node)}",
                    key=node.name,
                    unknown=NOT_REPORTED,
                ),
            )
        volumes = [node for node in self._tree.nodes.values() if self._in_pool(node, pool)]
        data = ThinCapacity(
            kind=ThinKind.THIN,
            place=f"the thin pool {_display_name(pool)}",
            key=pool.attributes["dm/name"],
            unit=block * SECTOR,
            takes=block * SECTOR,
            capacity=node.size_bytes or 0,
            held=await self._exclusive_bytes(node, pool, volumes, block),
            beside=tuple(_display_name(volume) for volume in volumes if volume.name != node.name),
        )
        metadata = replace(data, part="metadata", place=f"the metadata of {data.place}", takes=_MAPPING)
        segments = self._status.get(pool.name, ())
        return with_usage(data, segments), with_usage(metadata, segments)

    def _in_pool(self, node: Node, pool: Node) -> bool:
        segment = self._first_segment(self._tables, node, ThinKind.THIN)
        return segment is not None and segment.args[:1] == (pool.devno,)

    async def _exclusive_bytes(self, node: Node, pool: Node, volumes: Sequence[Node], block: int) -> int:
        """Return how many bytes are allocated to the thin volume `node` and not shared with another volume.

        Snapshots share blocks, which are copied when one of them is written. No block is shared if all volumes of the
        pool together have as many blocks as the pool has allocated. If some may be shared, 0 is returned.
        """
        segment = self._first_segment(self._status, pool, POOL)
        used = parse_usage(segment.args[2])[0] if segment is not None and len(segment.args) > 2 else None
        mapped = {volume.name: self._mapped_sectors(volume) for volume in volumes}
        volume_sectors = mapped.get(node.name)
        if used is None or not volume_sectors or None in mapped.values():
            return 0
        together = sum(filter(None, mapped.values()))
        if together != used * block or await _thin_count(self._host, pool) != len(volumes):
            return 0
        return volume_sectors * SECTOR

    def _mapped_sectors(self, node: Node) -> int | None:
        segment = self._first_segment(self._status, node, ThinKind.THIN)
        return number(segment.args[0]) if segment is not None and segment.args else None

    def _store(self, snapshot: Node, written: Node, held: int) -> ThinCapacity:
        segment = self._first_segment(self._tables, snapshot, ThinKind.SNAPSHOT)
        chunk = number(segment.args[3]) if segment is not None and len(segment.args) > 3 else None
        room = ThinCapacity(
            kind=ThinKind.SNAPSHOT,
            place=f"the store of the snapshot {_display_name(snapshot)}",
            key=snapshot.attributes.get("dm/name", ""),
            unit=(chunk or 1) * SECTOR,
            takes=(chunk or 1) * SECTOR + _EXCEPTION,
            capacity=written.size_bytes or 0,
            held=held,
        )
        segments = self._status.get(snapshot.name, ())
        return with_usage(room, segments) if chunk else replace(room, unknown=NOT_REPORTED)

    def _stored_bytes(self, snapshot: Node) -> int:
        """Return the bytes in the store of a snapshot: blocks that were overwritten in the origin or in the
        snapshot.
        """
        segment = self._first_segment(self._status, snapshot, ThinKind.SNAPSHOT)
        used = parse_usage(segment.args[0])[0] if segment is not None and segment.args else None
        extra = number(segment.args[1]) if segment is not None and len(segment.args) > 1 else None
        return max(0, used - extra) * SECTOR if used is not None and extra is not None else 0

    def _vdo(self, node: Node) -> ThinCapacity:
        others = [user for user in self._tree.above(node.name) if user.name not in self._start and volume_shown(user)]
        room = ThinCapacity(
            kind=ThinKind.VDO,
            place=f"the VDO volume {_display_name(node)}",
            key=node.attributes["dm/name"],
            unit=BLOCK,
            takes=BLOCK,
            capacity=node.size_bytes or 0,
            beside=tuple(_display_name(other) for other in others),
        )
        return with_usage(room, self._status.get(node.name, ()))

    async def _zvol(self, node: Node) -> tuple[ThinCapacity, ...]:
        name = self._picture.pools.volumes.get(node.name, "").replace("+", " ")  # udev writes a blank as +
        pool = name.split("/")[0]
        room = ThinCapacity(
            kind=ThinKind.ZVOL, place=f"the ZFS pool {clean(pool)}" if pool else "its ZFS pool", key=name
        )
        fields = await _zfs(self._host, name) if name else {}
        volume, uppermost = fields.get(name, {}), fields.get(pool, {})
        size, written = volume.get("volsize"), volume.get("written", 0)
        left = await _zfs_space(self._host, name, fields)
        if size is None or left is None or "refreservation" not in volume or "used" not in uppermost:
            return (replace(room, unknown="zfs does not report it"),)
        if volume["refreservation"] >= size:
            return ()  # the whole volume is reserved
        others = (
            volume for volume in self._picture.pools.volumes.values() if volume.split("/")[0] == pool and volume != name
        )
        room = replace(room, size_bytes=left[0], free_bytes=left[1], capacity=size, held=written)
        return (replace(room, beside=(*map(clean, others), f"the filesystems of {clean(pool)}")),)

    async def _file(self, node: Node) -> tuple[ThinCapacity, ...]:
        backing = self._picture.backings[node.name]
        stat = await self._host.stat(backing.path) if backing.place is not None else None
        devno = (backing.place or "").rpartition(":")[0]
        mount = mount_of(self._picture, devno, backing.path)
        where = f"the filesystem on {mount.where()}" if mount is not None else "the filesystem"
        room = ThinCapacity(kind=ThinKind.FILE, place=f"{where} below {clean(backing.path, 512)}", key=backing.path)
        space = await self._host.space_at(backing.path) if stat is not None else None
        above = await self._host.space_at(mount.point) if mount is not None else None
        if mount is not None and space is not None and above is not None and above.size == space.size:
            room = replace(room, key=mount.point)  # a user who may not read the file's folder can query the mount point
        if stat is None or stat.place != backing.place or stat.allocated is None or space is None:
            return (replace(room, unknown="the file cannot be read"),)
        in_place = mount is not None and mount.fstype in _IN_PLACE
        if in_place and stat.allocated >= stat.size:
            return ()
        return (
            replace(
                room,
                size_bytes=space.size,
                free_bytes=space.free,
                capacity=min(stat.size, node.size_bytes or stat.size),
                held=stat.allocated if in_place else 0,
            ),
        )


def _display_name(node: Node) -> str:
    """Return the name for display, such as `vg0/pool`. A part of a volume has the name of the volume."""
    name = lvm_name(node)
    return name.shown if name is not None else volume_shown(node) or clean(node.name)


async def _thin_count(host: Host, pool: Node) -> int | None:
    """Return the number of volumes in a thin pool of LVM, including inactive volumes; None if lvs does not
    report it.
    """
    done = await run_tool(host, ("lvs", *THIN_COUNT), stall=None)
    for report in rows(table(document(done.stdout)).get("report")) if done is not None else ():
        for row in rows(report.get("lv")):
            if f"{word(row.get('vg_name'))}/{word(row.get('lv_name'))}" == _display_name(pool):
                return whole_number(word(row.get("thin_count")))
    return None


async def _zfs(host: Host, name: str) -> Mapping[str, Mapping[str, int]]:
    """Return the sizes of a ZFS volume and its pool in bytes, by dataset name and property; empty if zfs fails."""
    keys = "available,used,refreservation,volsize,written"
    argv = ("zfs", "get", "-Hp", "-o", "name,property,value", keys, *dict.fromkeys((name.split("/")[0], name)))
    done = await run_tool(host, argv, stall=None)
    properties: dict[str, dict[str, int]] = {}
    for line in done.stdout.split("\n") if done is not None else ():
        cells = line.split("\t")
        count = number(cells[2]) if len(cells) == 3 else None
        if count is not None:
            properties.setdefault(cells[0], {})[cells[1]] = count
    return properties


async def _zfs_space(
    host: Host, name: str, fields: Mapping[str, Mapping[str, int]] | None = None
) -> tuple[int, int] | None:
    """Return the size of a volume's ZFS pool and the space available to the volume, in bytes.

    None if zfs does not report them.
    """
    properties = await _zfs(host, name) if fields is None else fields
    pool, volume = properties.get(name.split("/")[0], {}), properties.get(name, {})
    if "available" not in volume or "available" not in pool or "used" not in pool:
        return None
    return pool["available"] + pool["used"], volume["available"]
