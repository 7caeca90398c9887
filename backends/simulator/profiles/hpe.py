"""Simulated host `hpe`: a DL380 Gen10 with ssacli and arcconf controllers, a DS4700, an ioDrive and an md RAID 0."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backends.simulator.calibration import DRIVES
from backends.simulator.disk import MultipathDisk
from backends.simulator.fusionio import IoMemory
from backends.simulator.md_array import MdArray, MdMember, component_of
from backends.simulator.rack import Clock, Rack
from backends.simulator.smartarray.cards import SmartBay, SmartCard, SmartVolume
from backends.simulator.smcli import DiskSystem, HostDisk
from backends.simulator.volume import Content

SAS, SATA_SSD, X25E, SM883 = "EG000600JWEBH", "MK000480GWXFH", "SSDSA2SH064G1GC INTEL", "MZ7KH960HAJR"
HDD, IODRIVE = "ST3500630NS", "ioDrive 320GB"
"""Drive models."""

SERIES_5 = SmartCard(
    model="Adaptec 5805",
    firmware="5.2-0 (18948)",
    pci="0000:12:00.0",
    cache_mib=512,
    series=True,
    capacitor=False,
    volumes=(),
)
"""Adaptec 5805 without drives."""

SMART_RAID = SmartCard(
    model="Adaptec SmartRAID 3204-8i", firmware="03.01.26.036", pci="0000:37:00.0", cache_mib=4096, volumes=()
)
"""Adaptec SmartRAID without drives. Its firmware follows the same rules as that of the P408i-a."""

_PORTS = ("0000:af:00.0", "0000:af:00.1")
"""PCI addresses of both ports of the Fibre Channel adapter."""

_BOOT = Content(table="gpt", filesystem="xfs", label="root", uuid="6c1f7a52-9b0e-4f38-8d21-3ae5c07b94f6", mount="/")


def hpe_rack(clock: Clock = time.time) -> Rack:
    """Return the simulated host `hpe` in its initial state."""
    strips = (_strips(0, 1024, "/dev/sdd"), _strips(1, 256, "/dev/sdn"), _strips(2, 64, "/dev/sdo"))
    bays = bays_of("0", 8, X25E, "CVEM0058", "A", 0)
    series = replace(SERIES_5, number="1", serial="8C1210DEM05", host=1, bays=bays, volumes=strips)
    bays = bays_of("0", 4, SM883, "S47FNA0M32", "A", 0)
    raid = replace(SMART_RAID, number="2", serial="8A4261DEM32", host=2, bays=bays, volumes=(_ON_SMART_RAID,))
    rack = Rack(
        name="hpe",
        seed=58,
        clock=clock,
        smart={"ssacli": (_p408(),), "arcconf": (series, raid)},
        systems=[_ds4700()],
        flash=[IoMemory(model=IODRIVE, serial="440178", pci="d8:00.0", size_bytes=DRIVES[IODRIVE].size_bytes)],
        sata=dict.fromkeys(("sdf", "sdg", "sdh", "sdi"), HDD),
        md={"md0": _stripes()},
    )
    rack.pathed = luns(rack.systems[0], (("sdj", "sdk"), ("sdl", "sdm")))
    return rack


def bays_of(port: str, count: int, model: str, serials: str, group: str | None, first: int = 1) -> tuple[SmartBay, ...]:
    """Return `count` equal drives: members of the array `group`, or free drives if it is None.

    `port`: first part of each position, such as `2I:1`. `serials`: first part of each serial number. `first`: number of
    the first bay.
    """
    drive = DRIVES[model]
    return tuple(
        SmartBay(
            place=f"{port}:{first + at}",
            serial=f"{serials}{1000 + 37 * (first + at)}",
            model=model,
            size_gb=round(drive.size_bytes / 10**9),
            ssd=drive.media.value == "ssd",
            group=group,
            wwn=f"5{sum(map(ord, serials)) * 7919:07x}{(first + at) * 0x10F3A77:08x}",
        )
        for at in range(count)
    )


def _p408() -> SmartCard:
    """Return a P408i-a with a system array, a mirror of cached SSDs, and four SSDs with Smart Path."""
    system, mirror = bays_of("1I:1", 2, SAS, "S0M3", "A"), bays_of("1I:1", 2, SATA_SSD, "S4EMNX1", "C", 3)
    return SmartCard(
        serial="PEYHC0DRHBN4K1",
        bays=system + mirror + bays_of("2I:1", 4, SATA_SSD, "S4EMNX0", "B"),
        volumes=(
            _volume(1, "A", 558.875, "system", content=_BOOT),
            _volume(2, "B", 894.25, "flash", level="1+0", data_drives=2, acceleration="path"),
            _volume(3, "C", 447.125, "mirror"),
        ),
    )


def _volume(number: int, group: str, size_gib: float, name: str, **settings: Any) -> SmartVolume:
    wwn, device = f"600508b1001c8cc3c673a109dd66dd0{number}", f"/dev/sd{'abc'[number - 1]}"
    return SmartVolume(number=number, group=group, size_gib=size_gib, name=name, wwn=wwn, device=device, **settings)


def _strips(number: int, strip: int, device: str) -> SmartVolume:
    """Return one of the three logical drives on the RAID 5 of eight X25-E SSDs of article F (docs/dev/simulation.md).

    `strip`: its strip size in KiB.
    """
    return SmartVolume(
        number=number,
        level="5",
        size_gib=138.5,
        strip_kib=strip,
        data_drives=7,
        name=f"strip{strip}",
        wwn="",
        device=device,
    )


_ON_SMART_RAID = SmartVolume(
    number=0,
    level="5",
    size_gib=2682.0,
    strip_kib=128,
    data_drives=3,
    name="smartraid",
    wwn="600508b1001ceddd92f18fe3dfe67701",
    device="/dev/sde",
)


def _ds4700() -> DiskSystem:
    """Return the disk system of article F (docs/dev/simulation.md).

    One of its logical drives fits into the cache, the other does not.
    """
    return DiskSystem(
        flush_start=95,
        flush_stop=90,
        volumes=[
            HostDisk(name="fast", wwn="600a0b80002618d6000004d44a2f7a01", gigabytes=200 / 1024),
            HostDisk(name="data", wwn="600a0b80002618d6000004d54a2f7a1c", gigabytes=200.0),
        ],
    )


def luns(system: DiskSystem, paths: Sequence[tuple[str, str]]) -> list[MultipathDisk]:
    """Return the multipath disks of a disk system's logical drives."""
    return [
        MultipathDisk(
            device=f"dm-{number}",
            alias=f"mpath{chr(ord('a') + number)}",
            paths=names,
            hosts=(4, 5),
            pci=_PORTS,
            lun=number,
            wwn=disk.wwn,
            vendor="IBM",
            product=system.product_id,
        )
        for number, (disk, names) in enumerate(zip(system.volumes, paths, strict=True))
    ]


def _stripes() -> MdArray:
    """Return the md RAID 0 of article D (docs/dev/simulation.md): four SATA disks of 500 GB."""
    return MdArray(
        name="md0",
        label="rack-hpe:stripes",
        uuid="7d2c5f10-4e83-4b6a-9f0d-c15a8e2b7d40",
        level="raid0",
        members=[MdMember(name=name) for name in ("sdf", "sdg", "sdh", "sdi")],
        component_kib=component_of(DRIVES[HDD].size_bytes),
        chunk=64 * 1024,
        bitmap=False,
        sequence=1,
    )
