"""Simulated host `lsi`: MegaRAID controllers of articles, NVMe drives, and md mirrors of unequal drives."""

from __future__ import annotations

import time
from collections.abc import Sequence

from backends.model import Level
from backends.simulator.calibration import DRIVES
from backends.simulator.controller import MEGACLI, Battery, SimulatedCard
from backends.simulator.disk import FOREIGN, ONLINE, REBUILD, SPARE, SimulatedDrive
from backends.simulator.firmware_rules import naa
from backends.simulator.md_array import MdArray, MdMember, component_of
from backends.simulator.rack import Clock, Rack
from backends.simulator.volume import Content, Volume

M4, S1200, X25E, HDD, NVME = "CTFDDAC256MAG-1G1", "ST800FM0053", "SSDSA2SH064G1GC INTEL", "ST3500630NS", "MZQLB960HAJR"
PM983, SM883 = "MZ1LB960HAJQ", "MZ7KH960HAJR"
"""Drive models."""

SLOW_SECONDS = 8.0
"""Duration of a long command of the slow controller, in seconds."""


_BOOT = Content(table="gpt", filesystem="ext4", label="root", uuid="0d6f1c52-3a7e-4b91-9c55-7f2a86e1b4d0", mount="/")
_OLD = Content(filesystem="xfs", label="bench-old", uuid="5b0c8a4e-91d7-4f0e-8a3b-2c6d1e7f9a10")
_SRV = Content(table="gpt", filesystem="xfs", label="vm", uuid="c1a7e9d4-6b2f-4d38-b0e5-94f3a8d7261c", mount="/srv/vm")


def demo_rack(clock: Clock = time.time) -> Rack:
    """Return the simulated host `lsi` in its initial state, with the controllers of several articles."""
    rack = Rack(
        seed=27,
        clock=clock,
        nvme={"nvme0n1": NVME, "nvme1n1": PM983, "nvme2n1": PM983},
        sata={"sdf": SM883, "sdg": SM883},
        md={array.name: array for array in (_unequal_mirror("md0", "raid10", 1), _unequal_mirror("md1", "raid1", 2))},
    )
    rack.cards = [_card_9280(), _card_9361(), _degraded_card(rack), _card_84016()]
    for card in rack.cards:
        assign_names(rack, card)
    return rack


def assign_names(rack: Rack, card: SimulatedCard) -> None:
    """Assign kernel names and identifiers to all virtual drives of a controller."""
    for volume in card.volumes:
        rack.made += 1
        volume.naa, volume.sequence, volume.device = naa(rack.made), rack.made, rack.free_device()
        volume.created = rack.now() - 86_400.0 * 400


def disks_of(
    enclosure: int | None, slots: Sequence[int], model: str, serials: str, group: int | None
) -> list[SimulatedDrive]:
    """Return drives of one model. `serials`: prefix of their serial numbers. Without a group, the drives are free."""
    return [
        SimulatedDrive(
            enclosure=enclosure,
            slot=slot,
            did=slot + 8,
            model=model,
            serial=f"{serials}{1000 + 37 * slot}",
            wwn=f"5{abs(sum(map(ord, serials))) * 7919 % 0xFFFFFFF:07x}{(slot + 1) * 0x10F3A77:08x}",
            state=ONLINE if group is not None else "good",
            group=group,
            temperature=27 + slot % 7,
        )
        for slot in slots
    ]


def volume_over(
    disks: Sequence[SimulatedDrive],
    name: str,
    level: Level,
    per_span: int,
    *,
    number: int = 0,
    strip_kib: int = 64,
    write_back: bool = False,
    read_ahead: str = "",
    content: Content | None = None,
) -> Volume:
    """Return a virtual drive on all of these drives. With write-back, it also reads ahead by default."""
    volume = Volume(
        number=number,
        group=number,
        name=name,
        level=level,
        places=tuple(disk.place for disk in disks),
        per_span=per_span,
        strip_bytes=strip_kib * 1024,
        write_cache="write-back" if write_back else "write-through",
        read_ahead=read_ahead or ("read-ahead" if write_back else "none"),
        content=content,
    )
    volume.size_bytes = volume.data_drives * disks[0].coerced_bytes
    return volume


def _unequal_mirror(name: str, level: str, number: int) -> MdArray:
    """Return the md mirror of article C (docs/dev/simulation.md): an NVMe and a SATA SSD."""
    return MdArray(
        name=name,
        label=f"rack-demo:{'unequal' if level == 'raid10' else 'mirror'}",
        uuid=f"4be4a19c-7c0e-4d2f-9b61-0c8a5d3e7f0{number}",
        level=level,
        members=[MdMember(name=f"nvme{number}n1"), MdMember(name=("sdf", "sdg")[number - 1])],
        component_kib=component_of(DRIVES[SM883].size_bytes),
        chunk=512 * 1024 if level == "raid10" else 0,
        layout=258 if level == "raid10" else 0,
        sequence=number,
    )


def _card_9280() -> SimulatedCard:
    """Return the 9280-24i4e of article A (docs/dev/simulation.md). FastPath is not activated.

    Volume 1 is a RAID 5 of three SATA SSDs.
    """
    fast, system = disks_of(245, (1, 2, 3), M4, "000000001142092", 1), disks_of(245, (8, 9), HDD, "9QG5K", 0)
    disks = (
        fast
        + system
        + disks_of(245, (4,), M4, "000000001142093", None)
        + disks_of(245, (10, 11, 12), HDD, "9QG6R", None)
    )
    disks[-3].state, disks[-1].state, disks[-2].media_errors = SPARE, FOREIGN, 3
    return SimulatedCard(
        number=0,
        product="LSI MegaRAID SAS 9280-24i4e",
        serial="SV10418263",
        firmware="2.120.43-1223",
        package="12.12.0-0090",
        sas_address="500605b003c1a7e0",
        bus=3,
        host=0,
        cache_mib=512,
        battery=Battery(kind="bbu", temperature=34),
        disks=sorted(disks, key=lambda disk: disk.slot),
        volumes=[
            volume_over(system, "system", Level.RAID1, 2, write_back=True, read_ahead="adaptive", content=_BOOT),
            volume_over(fast, "ssd", Level.RAID5, 3, number=1),
        ],
    )


def _card_9361() -> SimulatedCard:
    """Return the 9361-8i of article E (docs/dev/simulation.md) with six SAS SSDs.

    It refuses to change the drive cache of these SSDs, but with exit status 0.
    """
    disks = disks_of(252, range(6), S1200, "Z3F04", 0)
    return SimulatedCard(
        number=1,
        product="AVAGO MegaRAID SAS 9361-8i",
        serial="SV50214877",
        firmware="4.660.00-8102",
        package="24.7.0-0026",
        sas_address="500605b00a3f11c0",
        bus=4,
        host=1,
        cache_mib=1024,
        battery=Battery(kind="cachevault", temperature=29),
        adaptive=False,
        blocks_ssd_cache=True,
        strip_minimum=65536,
        disks=disks,
        volumes=[volume_over(disks, "flash", Level.RAID10, 2, strip_kib=256, content=_OLD)],
    )


def _degraded_card(rack: Rack) -> SimulatedCard:
    """Return the RS2BL080 of article F (docs/dev/simulation.md) with eight X25-E.

    It is in use and rebuilding, and its battery has failed.
    """
    disks = disks_of(252, range(8), X25E, "CVEM0042", 0)
    volume = volume_over(disks, "vmstore", Level.RAID5, 8, strip_kib=256, write_back=True, content=_SRV)
    volume.drive_cache = "off"
    lost = disks[5]
    lost.state, lost.media_errors = REBUILD, 0
    lost.rebuild_from, lost.rebuild_since = 0.37, rack.now()
    return SimulatedCard(
        number=2,
        product="Intel(R) RAID Controller RS2BL080",
        serial="SV02311904",
        firmware="2.130.403-4660",
        package="12.15.0-0239",
        sas_address="5001e67bfe0f11c2",
        bus=6,
        host=2,
        cache_mib=512,
        battery=Battery(kind="bbu", state="failed", temperature=41),
        disks=disks,
        volumes=[volume],
    )


def _card_84016() -> SimulatedCard:
    """Return the 84016E of article F (docs/dev/simulation.md). Only MegaCli lists it, and commands for it are slow."""
    disks = disks_of(28, range(8), X25E, "CVEM9280", 0)
    volume = volume_over(disks, "archive", Level.RAID10, 2, strip_kib=128, write_back=True)
    volume.drive_cache = "off"
    return SimulatedCard(
        number=3,
        product="MegaRAID SAS 84016E",
        serial="P102233407",
        firmware="1.40.242-1176",
        package="11.0.1-0048",
        sas_address="500605b0002a41f0",
        bus=8,
        host=3,
        cache_mib=256,
        seen_by=(MEGACLI,),
        battery=Battery(kind="bbu", temperature=36),
        options=(),
        can_fastpath=False,
        slow=SLOW_SECONDS,
        disks=disks,
        volumes=[volume],
    )
