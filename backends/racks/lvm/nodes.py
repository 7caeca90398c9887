"""Volumes as the kernel's block devices: what they are built on, and what is built on their physical volumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.racks.linux.tree import Kernel, put_node, put_stacked
from backends.racks.lvm.volumes import DmNode, LvmGroup, LvmVolume
from backends.racks.rack import Rack

_LISTED = 70
"""Sequence numbers of their disks begin here."""


def put_group(found: Kernel, rack: Rack, group: LvmGroup) -> None:
    """All volumes of a group, and its mark on the physical volumes."""
    for volume in group.volumes:
        for node in _from_beneath(volume.nodes(rack.now())):
            name, number = node.kernel, f"254:{node.number}"
            own = node.number == volume.number
            told = {"dm/name": group.dm_name(node), "dm/uuid": group.dm_uuid(node), "dm/suspended": "0"}
            ahead = volume.queue_sectors if own else 256
            folder = put_stacked(
                found,
                rack,
                name,
                number,
                size_bytes=node.size_bytes,
                sequence=_LISTED + node.number,
                queue={"read_ahead_kb": str(ahead // 2), **(_blocks(volume) if own else {})},
                own=told,
                below=node.slaves,
            )
            aliases = [f"mapper/{told['dm/name']}", *([f"{group.name}/{node.name}"] if own else [])]
            for alias in aliases:
                put_node(found, alias, name, folder, number)
                found.links[f"/dev/{alias}"] = f"/dev/{name}"
            record = [f"E:DM_NAME={told['dm/name']}", f"E:DM_UUID={told['dm/uuid']}"]
            record += [f"E:DM_VG_NAME={group.name}", f"E:DM_LV_NAME={volume.name}"] if own else []
            found.files[f"/run/udev/data/b{number}"] = "\n".join(record)
    for place in group.places:
        devno = found.files[f"/sys/block/{place}/dev"]
        path = f"/run/udev/data/b{devno}"
        marks = ("E:ID_FS_TYPE=LVM2_member", f"E:ID_FS_UUID={group.uuid_of(place)}")
        found.files[path] = "\n".join(filter(None, (found.files.get(path, ""), *marks)))


def _from_beneath(nodes: Iterable[DmNode]) -> Iterator[DmNode]:
    """Each after what it lies on."""
    left = {node.kernel: node for node in nodes}
    while left:
        ready = [name for name, node in left.items() if not left.keys() & node.slaves]
        yield from (left.pop(name) for name in ready)


def _blocks(volume: LvmVolume) -> dict[str, str]:
    """A writecache takes blocks of its own size and none smaller (drivers/md/dm-writecache.c, writecache_io_hints)."""
    if volume.kind != "writecache":
        return {}
    return dict.fromkeys(("logical_block_size", "physical_block_size"), str(volume.chunk_bytes))
