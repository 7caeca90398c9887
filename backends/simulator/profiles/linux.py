"""Simulated host `linux`: no RAID controller; NVMe, SATA, multipath, md, LVM, bcache and ZFS."""

from __future__ import annotations

import time

from backends.simulator.bcache import BcacheDevice
from backends.simulator.caches import CacheCounts
from backends.simulator.calibration import DRIVES
from backends.simulator.disk import MultipathDisk
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.md_array import MdArray, MdMember, component_of
from backends.simulator.profiles.lsi import NVME, PM983, S1200, SM883
from backends.simulator.rack import Clock, Rack
from backends.simulator.volume import Content
from backends.simulator.zfs.module import ZfsModule
from backends.simulator.zfs.pool import VOLUME, Dataset, ZfsPool

HDD = "ST3500630NS"
_GIB = 1 << 30
_SHELF = ("0000:12:00.0", "0000:37:00.0")
"""PCI addresses of the two adapters to which the shelf with the multipath disks is connected."""

_TANK = ("sdn", "sdo")
"""Kernel names of the disks of the ZFS pool."""

_GUID = 1_246_913_570_020_144_321

_ROOT = Content(table="gpt", filesystem="ext4", label="root", uuid="e4b0c7d2-58f1-4a93-8c6e-2d97f01b3a65", mount="/")


def linux_rack(clock: Clock = time.time) -> Rack:
    """Return the simulated host `linux` in its initial state."""
    return Rack(
        name="linux",
        seed=61,
        clock=clock,
        nvme={"nvme0n1": NVME, **dict.fromkeys(("nvme1n1", "nvme2n1", "nvme3n1", "nvme4n1"), PM983)},
        lying={"nvme0n1": _ROOT, **{disk: _member_content(at) for at, disk in enumerate(_TANK)}},
        sata={"sda": SM883, "sdb": SM883, **dict.fromkeys((*(f"sd{name}" for name in "cdefklm"), *_TANK), HDD)},
        md={
            "md0": _array("md0", "raid1", ("sda", "sdb"), SM883, 1),
            "md1": _array("md1", "raid10", ("sdc", "sdd", "sde", "sdf"), HDD, 2),
            "md2": _array("md2", "raid0", ("nvme1n1", "nvme2n1"), PM983, 3),
            "md3": _array("md3", "raid1", ("sdk", "sdl"), HDD, 4),
        },
        lvm={"vg0": _volume_group()},
        bcache={
            "bcache0": BcacheDevice(
                name="bcache0",
                backing="sdm",
                cache="nvme4n1",
                uuid="3c3f9c0e-3bd7-4c4e-9a51-2d1b0f8f6f0a",
                set_uuid="8d0f4a86-1c2e-4d7b-b4e3-5f6a7c9d0e21",
            )
        },
        caches={"bcache0": CacheCounts(held_bytes=120.0 * _GIB)},
        pathed=[_multipath_disk(at) for at in range(2)],
        pools={"tank": _tank_pool()},
        zfs=ZfsModule(memory_bytes=98_955_508 * 1024),
    )


def _array(name: str, level: str, members: tuple[str, ...], model: str, number: int) -> MdArray:
    return MdArray(
        name=name,
        label=f"rack-linux:{name}",
        uuid=f"9a3e6f07-52cd-4b18-8e40-17d5c2f0ab3{number}",
        level=level,
        members=[MdMember(name=member) for member in members],
        component_kib=component_of(DRIVES[model].size_bytes),
        chunk=0 if level == "raid1" else 512 * 1024,
        layout=258 if level == "raid10" else 0,
        bitmap=level != "raid0",
        sequence=number,
    )


def _member_content(number: int) -> Content:
    """Return the contents of a disk of the pool: partitions, as zpool creates them on a complete disk."""
    return Content(table="gpt", filesystem="zfs_member", label="tank", uuid=f"88051276{_GUID}{number}")


def _tank_pool() -> ZfsPool:
    """Return a mirrored pool with a zvol and a filesystem that has a local property value."""
    datasets = {
        "tank": Dataset(guid=_GUID + 11, values={"compression": "lz4"}, mountpoint="/tank"),
        "tank/files": Dataset(guid=_GUID + 12, values={"atime": "off"}, mountpoint="/tank/files"),
        "tank/vm": Dataset(guid=_GUID + 13, kind=VOLUME, size_bytes=100 << 30, node="zd0"),
    }
    return ZfsPool(
        name="tank",
        guid=_GUID,
        mirrors=[list(_TANK)],
        size_bytes=498_216_206_336,
        datasets=datasets,
    )


def _volume_group() -> LvmGroup:
    """Return a volume group of hard disks, with an NVMe drive as the cache."""
    slow, fast = ["md3"], "nvme3n1"
    return LvmGroup(
        name="vg0",
        places=[*slow, fast],
        volumes=[
            LvmVolume(
                name="db",
                kind="writecache",
                size_bytes=120 * _GIB,
                places=slow[:],
                number=2,
                fast="fastdb",
                fast_place=fast,
                fast_bytes=40 * _GIB,
                chunk_bytes=4096,
            ),
            LvmVolume(
                name="mail",
                kind="cache",
                size_bytes=200 * _GIB,
                places=slow[:],
                number=5,
                fast="fastmail",
                fast_place=fast,
                fast_bytes=80 * _GIB,
                counts=CacheCounts(held_bytes=24.0 * _GIB),
            ),
            LvmVolume(name="spare", size_bytes=50 * _GIB, places=slow[:], number=10),
        ],
    )


def _multipath_disk(number: int) -> MultipathDisk:
    """Return a multipath SAS SSD in a shelf with two expanders."""
    return MultipathDisk(
        device=f"dm-{number}",
        alias=f"mpath{chr(ord('a') + number)}",
        paths=(("sdg", "sdi"), ("sdh", "sdj"))[number],
        hosts=(1, 2),
        pci=_SHELF,
        lun=number,
        wwn=f"5000c5003014f0{number:02x}",
        vendor="SEAGATE",
        product=S1200,
        model=S1200,
        rev="0004",
        transport="sas",
    )
