"""Looks for what a device takes room from as it is written, and how much of that is left."""

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
    POOL,
    UNTOLD,
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
"""What lvs is asked: how many volumes each thin pool has, active or not."""

_MAPPING = 64
"""Bytes of metadata that a block of a thin volume takes at most (thin_metadata_size(8))."""

_EXCEPTION = 16
"""Bytes of a snapshot's store that a piece takes besides itself (drivers/md/dm-snap-persistent.c)."""

_IN_PLACE = frozenset({"ext2", "ext3", "ext4", "xfs", "jfs", "tmpfs", "vfat", "exfat"})
"""File systems that write again where something lies already; the others take new room first."""


async def capacities_of(host: Host, picture: Topology, start: Collection[Node]) -> tuple[ThinCapacity, ...]:
    """What writing to these devices takes room from, through all that they lie on."""
    tree = picture.tree
    tables = picture.tables or segments_by_kernel_name(await query_dmsetup(host, tree, TABLE), tree)
    layers = tuple(thin_below(picture, tables, start))
    mapped = any("dm/name" in node.attributes for _, node in layers)
    status = segments_by_kernel_name(await dmsetup_output(host, STATUS), tree) if mapped else {}
    reader = _Reader(host, picture, tables, status, [node.name for node in start])
    capacities = [replace(room, layer=node.name) for kind, node in layers for room in await reader.of(kind, node)]
    return tuple(room for room in capacities if host.capabilities.harmed or not room.unknown)


async def capacities_at(host: Host, devno: str, path: str = "") -> tuple[ThinCapacity, ...]:
    """The same for a device by its number, or for what a file at `path` lies on, by that of its file system."""
    picture = await scan_topology(host)
    return await capacities_of(host, picture, nodes_on(picture, devno, path))


async def refresh_capacities(host: Host, rooms: Sequence[ThinCapacity]) -> tuple[ThinCapacity, ...]:
    """The same with what is left of each now."""
    mapped = any(room.kind in GAUGES for room in rooms)
    status = parse_segments(await dmsetup_output(host, STATUS)) if mapped else {}
    capacities = []
    for room in rooms:
        if room.kind in GAUGES:
            capacities.append(with_usage(room, status.get(room.key, ())))
        elif room.kind == ThinKind.ZVOL:
            left = await _left_for(host, room.key)
            capacities.append(replace(room, unknown=UNTOLD) if left is None else replace(room, free_bytes=left[1]))
        else:
            space = await host.space_at(room.key)
            capacities.append(replace(room, unknown=UNTOLD) if space is None else replace(room, free_bytes=space.free))
    return tuple(capacities)


class _Reader:
    """Reads how much each layer has left."""

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
        match kind:
            case ThinKind.THIN:
                return await self._thin(node)
            case ThinKind.SNAPSHOT:
                return (self._store(node, node, self._kept(node)),)
            case ThinKind.ORIGIN:
                snapshots = snapshots_of(self._tree, self._tables, node)
                return tuple(self._store(snapshot, node, self._kept(snapshot)) for snapshot in snapshots)
            case ThinKind.VDO:
                return (self._vdo(node),)
            case ThinKind.ZVOL:
                return await self._zvol(node)
            case ThinKind.FILE:
                return await self._file(node)
            case ThinKind.UNKNOWN:
                why = "dmsetup does not tell what it is made of"
                return (ThinCapacity(kind=kind, place=_named(node), key=node.name, unknown=why),)

    def _first(self, segments: Segments, node: Node | None, kind: str) -> Segment | None:
        parts = segments.get(node.name, ()) if node is not None else ()
        return next((part for part in parts if part.kind == kind), None)

    async def _thin(self, node: Node) -> tuple[ThinCapacity, ...]:
        own = self._first(self._tables, node, ThinKind.THIN)
        pool = self._tree.by_devno(own.words[0]) if own is not None and own.words else None
        made = self._first(self._tables, pool, POOL)
        block = number(made.words[2]) if made is not None and len(made.words) > 2 else None
        if pool is None or not block:
            return (
                ThinCapacity(
                    kind=ThinKind.THIN, place=f"the thin pool of {_named(node)}", key=node.name, unknown=UNTOLD
                ),
            )
        volumes = [node for node in self._tree.nodes.values() if self._in_pool(node, pool)]
        data = ThinCapacity(
            kind=ThinKind.THIN,
            place=f"the thin pool {_named(pool)}",
            key=pool.attributes["dm/name"],
            unit=block * SECTOR,
            takes=block * SECTOR,
            capacity=node.size_bytes or 0,
            held=await self._alone(node, pool, volumes, block),
            beside=tuple(_named(volume) for volume in volumes if volume.name != node.name),
        )
        metadata = replace(data, part="metadata", place=f"the metadata of {data.place}", takes=_MAPPING)
        segments = self._status.get(pool.name, ())
        return with_usage(data, segments), with_usage(metadata, segments)

    def _in_pool(self, node: Node, pool: Node) -> bool:
        own = self._first(self._tables, node, ThinKind.THIN)
        return own is not None and own.words[:1] == (pool.devno,)

    async def _alone(self, node: Node, pool: Node, volumes: Sequence[Node], block: int) -> int:
        """Bytes of a volume that lie in the pool and belong to it alone.

        Snapshots have blocks in common, which are copied when one of them is written to. There are none where all
        volumes of the pool together have as many blocks as it has given out.
        """
        segment = self._first(self._status, pool, POOL)
        used = parse_usage(segment.words[2])[0] if segment is not None and len(segment.words) > 2 else None
        mapped = {volume.name: self._mapped(volume) for volume in volumes}
        own = mapped.get(node.name)
        if used is None or not own or None in mapped.values():
            return 0
        together = sum(filter(None, mapped.values()))
        if together != used * block or await _count(self._host, pool) != len(volumes):
            return 0
        return own * SECTOR

    def _mapped(self, node: Node) -> int | None:
        segment = self._first(self._status, node, ThinKind.THIN)
        return number(segment.words[0]) if segment is not None and segment.words else None

    def _store(self, snapshot: Node, written: Node, held: int) -> ThinCapacity:
        made = self._first(self._tables, snapshot, ThinKind.SNAPSHOT)
        chunk = number(made.words[3]) if made is not None and len(made.words) > 3 else None
        room = ThinCapacity(
            kind=ThinKind.SNAPSHOT,
            place=f"the store of the snapshot {_named(snapshot)}",
            key=snapshot.attributes.get("dm/name", ""),
            unit=(chunk or 1) * SECTOR,
            takes=(chunk or 1) * SECTOR + _EXCEPTION,
            capacity=written.size_bytes or 0,
            held=held,
        )
        segments = self._status.get(snapshot.name, ())
        return with_usage(room, segments) if chunk else replace(room, unknown=UNTOLD)

    def _kept(self, snapshot: Node) -> int:
        """Bytes that lie in its store already: of what was overwritten here or there."""
        segment = self._first(self._status, snapshot, ThinKind.SNAPSHOT)
        used = parse_usage(segment.words[0])[0] if segment is not None and segment.words else None
        extra = number(segment.words[1]) if segment is not None and len(segment.words) > 1 else None
        return max(0, used - extra) * SECTOR if used is not None and extra is not None else 0

    def _vdo(self, node: Node) -> ThinCapacity:
        others = [user for user in self._tree.above(node.name) if user.name not in self._start and volume_shown(user)]
        room = ThinCapacity(
            kind=ThinKind.VDO,
            place=f"the VDO volume {_named(node)}",
            key=node.attributes["dm/name"],
            unit=BLOCK,
            takes=BLOCK,
            capacity=node.size_bytes or 0,
            beside=tuple(_named(other) for other in others),
        )
        return with_usage(room, self._status.get(node.name, ()))

    async def _zvol(self, node: Node) -> tuple[ThinCapacity, ...]:
        name = self._picture.pools.volumes.get(node.name, "").replace("+", " ")  # as udev writes a blank
        pool = name.split("/")[0]
        room = ThinCapacity(
            kind=ThinKind.ZVOL, place=f"the ZFS pool {clean(pool)}" if pool else "its ZFS pool", key=name
        )
        fields = await _zfs(self._host, name) if name else {}
        volume, uppermost = fields.get(name, {}), fields.get(pool, {})
        size, written = volume.get("volsize"), volume.get("written", 0)
        left = await _left_for(self._host, name, fields)
        if size is None or left is None or "refreservation" not in volume or "used" not in uppermost:
            return (replace(room, unknown="zfs does not tell"),)
        if volume["refreservation"] >= size:
            return ()  # all of it is set aside for it, whatever else is written
        others = (
            volume for volume in self._picture.pools.volumes.values() if volume.split("/")[0] == pool and volume != name
        )
        room = replace(room, size_bytes=left[0], free_bytes=left[1], capacity=size, held=written)
        return (replace(room, beside=(*map(clean, others), f"the file systems of {clean(pool)}")),)

    async def _file(self, node: Node) -> tuple[ThinCapacity, ...]:
        backing = self._picture.backings[node.name]
        stat = await self._host.stat(backing.path) if backing.place is not None else None
        devno = (backing.place or "").rpartition(":")[0]
        mount = mount_of(self._picture, devno, backing.path)
        where = f"the file system on {mount.where()}" if mount is not None else "the file system"
        room = ThinCapacity(
            kind=ThinKind.FILE, place=f"{where} that {clean(backing.path, 512)} lies on", key=backing.path
        )
        space = await self._host.space_at(backing.path) if stat is not None else None
        above = await self._host.space_at(mount.point) if mount is not None else None
        if mount is not None and space is not None and above is not None and above.size == space.size:
            room = replace(room, key=mount.point)  # a user may ask there who may not see the file
        if stat is None or stat.place != backing.place or stat.allocated is None or space is None:
            return (replace(room, unknown="the file cannot be looked at"),)
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


def _named(node: Node) -> str:
    """`vg0/pool`, of a part of a volume too."""
    name = lvm_name(node)
    return name.shown if name is not None else volume_shown(node) or clean(node.name)


async def _count(host: Host, pool: Node) -> int | None:
    """How many volumes an LVM thin pool has, those that are not active among them; None where nothing tells."""
    done = await run_tool(host, ("lvs", *THIN_COUNT), stall=None)
    for report in rows(table(document(done.stdout)).get("report")) if done is not None else ():
        for row in rows(report.get("lv")):
            if f"{word(row.get('vg_name'))}/{word(row.get('lv_name'))}" == _named(pool):
                return whole_number(word(row.get("thin_count")))
    return None


async def _zfs(host: Host, name: str) -> Mapping[str, Mapping[str, int]]:
    """Figures of a volume and of its pool, in bytes, by name and property; nothing where zfs gives no answer."""
    keys = "available,used,refreservation,volsize,written"
    argv = ("zfs", "get", "-Hp", "-o", "name,property,value", keys, *dict.fromkeys((name.split("/")[0], name)))
    done = await run_tool(host, argv, stall=None)
    matches: dict[str, dict[str, int]] = {}
    for line in done.stdout.split("\n") if done is not None else ():
        cells = line.split("\t")
        count = number(cells[2]) if len(cells) == 3 else None
        if count is not None:
            matches.setdefault(cells[0], {})[cells[1]] = count
    return matches


async def _left_for(
    host: Host, name: str, fields: Mapping[str, Mapping[str, int]] | None = None
) -> tuple[int, int] | None:
    """What a volume of ZFS and all beside it may have, and what is left for it, in bytes; None where nothing tells."""
    matches = await _zfs(host, name) if fields is None else fields
    pool, own = matches.get(name.split("/")[0], {}), matches.get(name, {})
    if "available" not in own or "available" not in pool or "used" not in pool:
        return None
    return pool["available"] + pool["used"], own["available"]
