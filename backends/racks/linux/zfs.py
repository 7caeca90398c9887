"""Pools of ZFS as the kernel tells them: the module, its mounts, and volumes as disks."""

from __future__ import annotations

from backends.racks.linux.tree import Kernel, put_disk
from backends.racks.rack import Rack
from backends.racks.zfs.pool import VOLUME, Dataset

_MAJOR, _MINORS = 230, 16
"""Numbers of volumes, sixteen each (zvol_major; include/sys/fs/zfs.h, ZVOL_MINORS)."""


def put_pools(found: Kernel, rack: Rack, mounts: list[str]) -> None:
    """All of it."""
    if rack.zfs is None:
        return
    found.files |= rack.zfs.files(rack.arc_counts())
    at = 0
    for pool in rack.pools.values():
        found.files[f"/proc/spl/kstat/zfs/{pool.name}/state"] = "ONLINE"
        for name, dataset in pool.datasets.items():
            if dataset.kind == VOLUME:
                _put_volume(found, rack, name, dataset)
            elif dataset.mountpoint:
                at += 1
                where = f"0:{40 + at} / {dataset.mountpoint} rw,relatime shared:{400 + at}"
                mounts.append(f"{400 + at} 25 {where} - zfs {name} rw,xattr,noacl")


def _put_volume(found: Kernel, rack: Rack, name: str, dataset: Dataset) -> None:
    number = int(dataset.node.removeprefix("zd"))
    folder = f"/sys/devices/virtual/block/{dataset.node}"
    own = {
        "dev": f"{_MAJOR}:{number}",
        "size": str(dataset.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(80 + number // _MINORS),
        "mq/0/nr_tags": "128",
    }
    put_disk(found, rack, dataset.node, folder, own, rotational=False, flushes=True)
    found.files |= {
        f"/sys/block/{dataset.node}/queue/physical_block_size": str(dataset.block_bytes),
        f"/run/udev/data/b{own['dev']}": f"S:zvol/{name}",
    }
    found.links[f"/dev/zvol/{name}"] = f"/dev/{dataset.node}"
