"""Pools of ZFS as the kernel tells them: the module, its mounts, and volumes as disks."""

from __future__ import annotations

from backends.racks.linux.tree import Kernel, put_stacked
from backends.racks.rack import Rack
from backends.racks.zfs.pool import VOLUME, Dataset

_MAJOR, _MINORS = 230, 16
"""Numbers of volumes, sixteen each (zvol_major; include/sys/fs/zfs.h, ZVOL_MINORS)."""

_QUEUE = {
    "rotational": "0",
    "iostats": "1",
    "nomerges": "2",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "16384",
}
"""What OpenZFS 2.1 gives the queue of a volume, which takes requests as they come (os/linux/zfs/zvol_os.c)."""


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
    devno = f"{_MAJOR}:{number}"
    put_stacked(
        found,
        rack,
        dataset.node,
        devno,
        size_bytes=dataset.size_bytes,
        sequence=80 + number // _MINORS,
        queue={**_QUEUE, "physical_block_size": str(dataset.block_bytes)},
        own={},
        below=(),
    )
    found.files[f"/run/udev/data/b{devno}"] = f"S:zvol/{name}"
    found.links[f"/dev/zvol/{name}"] = f"/dev/{dataset.node}"
