"""Simulated host `arrays`: RAID controllers of each vendor, an HBA, NVMe drives and a volume group, mostly free."""

from __future__ import annotations

import time
from dataclasses import replace

from backends.model import Level
from backends.simulator.calibration import DRIVES
from backends.simulator.controller import MEGACLI, Battery, SimulatedCard
from backends.simulator.disk import FOREIGN, JBOD, SPARE
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.profiles.hpe import SAS, SATA_SSD, SERIES_5, SMART_RAID, X25E, bays_of
from backends.simulator.profiles.lsi import HDD, M4, PM983, S1200, SM883, assign_names, disks_of, volume_over
from backends.simulator.rack import Clock, Rack
from backends.simulator.smartarray.cards import SmartCard, SmartVolume
from backends.simulator.threeware import SimulatedPort, SimulatedThreeware, SimulatedUnit
from backends.simulator.volume import Content

_BOOT = Content(table="gpt", filesystem="ext4", label="root", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4", mount="/")
_OLD = Content(filesystem="ext4", label="old-data", uuid="b83a5e17-64cf-4d02-9f71-25e0d8c6a94b")
_PV = Content(filesystem="LVM2_member", uuid="kQ3v8W-Zr1T-0bYx-Lm5c-Hs9P-ue2D-JdA7fN")

_SHELF = ("sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh", "sdi")
"""Kernel names of the SATA SSDs at the HBA."""

_DATA = ("nvme2n1", "nvme3n1", "nvme4n1", "nvme5n1", "nvme6n1")
"""Physical volumes of the volume group `data`. The last one contains a logical volume."""


def arrays_rack(clock: Clock = time.time) -> Rack:
    """Return the simulated host `arrays` in its initial state."""
    rack = Rack(
        name="arrays",
        seed=73,
        clock=clock,
        nvme=dict.fromkeys(("nvme0n1", "nvme1n1", *_DATA), PM983),
        lying={"nvme0n1": _OLD, "nvme1n1": _PV},
        sata=dict.fromkeys(_SHELF, SM883),
        lvm={"data": _data_group()},
    )
    rack.cards = [_card_9361(), _card_9280()]
    for card in rack.cards:
        assign_names(rack, card)
    bays = bays_of("0", 8, SM883, "S47FNA0M7", None, 0)
    raid = replace(SMART_RAID, number="1", serial="8A4261DEM77", host=3, bays=bays)
    bays = bays_of("0", 8, X25E, "CVEM0077", None, 0)
    series = replace(SERIES_5, number="2", serial="8C1210DEM77", host=4, bays=bays)
    rack.smart = {"ssacli": (_smart_array(),), "arcconf": (raid, series)}
    rack.threeware = [_threeware()]
    return rack


def _data_group() -> LvmGroup:
    """Return a volume group of five NVMe drives, one of which has a logical volume."""
    mail = LvmVolume(name="mail", size_bytes=100 << 30, places=[_DATA[-1]], number=0)
    return LvmGroup(name="data", places=[*_DATA], volumes=[mail])


def _card_9361() -> SimulatedCard:
    """Return a 9361-8i that storcli lists, with six free SAS SSDs and one drive in each state other than free."""
    system = disks_of(252, (10, 11), HDD, "9QG7A", 0)
    disks = disks_of(252, range(9), S1200, "Z3F07", None)
    for disk, state in zip(disks[6:], (SPARE, JBOD, FOREIGN), strict=True):
        disk.state = state
    return SimulatedCard(
        number=0,
        product="AVAGO MegaRAID SAS 9361-8i",
        serial="SV51806320",
        firmware="4.680.00-8519",
        package="24.21.0-0148",
        sas_address="500605b00c7e21a0",
        bus=4,
        host=0,
        cache_mib=1024,
        battery=Battery(kind="cachevault", temperature=30),
        adaptive=False,
        jbod=True,
        strip_minimum=65536,
        disks=[*disks, *system],
        volumes=[volume_over(system, "system", Level.RAID1, 2, strip_kib=256, write_back=True, content=_BOOT)],
    )


def _card_9280() -> SimulatedCard:
    """Return a 9280-24i4e that only MegaCli lists, with eight free SATA SSDs."""
    return SimulatedCard(
        number=1,
        product="LSI MegaRAID SAS 9280-24i4e",
        serial="SV10522871",
        firmware="2.130.403-4660",
        package="12.15.0-0239",
        sas_address="500605b003d91c40",
        bus=6,
        host=1,
        cache_mib=512,
        seen_by=(MEGACLI,),
        battery=Battery(kind="bbu", temperature=33),
        disks=disks_of(245, range(8), M4, "00000000114209", None),
    )


def _smart_array() -> SmartCard:
    """Return a P408i-a that ssacli lists: a mirror with a spare, six free SATA SSDs and one that predicts a failure."""
    mirror, (spare,) = bays_of("1I:1", 2, SAS, "S0M3", "A"), bays_of("1I:1", 1, SAS, "S0M3", "A", 3)
    free, (weak,) = bays_of("2I:1", 6, SATA_SSD, "S4EMNX2", None), bays_of("2I:1", 1, SATA_SSD, "S4EMNX2", None, 7)
    return SmartCard(
        serial="PEYHC0DRHAR7M2",
        host=2,
        bays=(*mirror, replace(spare, spare=True), *free, replace(weak, state="Predictive Failure", used_percent=98.5)),
        volumes=(
            SmartVolume(
                number=1, size_gib=558.875, name="backup", wwn="600508b1001c8cc3c673a109dd66dd11", device="/dev/sdz"
            ),
        ),
    )


def _threeware() -> SimulatedThreeware:
    """Return a 9690SA that tw_cli lists: eight free disks and a spare."""
    ports = [
        SimulatedPort(
            number=at,
            serial=f"9QM7{1000 + 37 * at}",
            model=HDD,
            size_bytes=DRIVES[HDD].size_bytes,
        )
        for at in range(9)
    ]
    spare = SimulatedUnit(number=0, kind="SPARE", ports=(8,), size_gib=465.76, serial="", write=False)
    return SimulatedThreeware(number=2, model="9690SA-8I", ports=ports, units=[spare], pci="0000:18:00.0", host=5)
