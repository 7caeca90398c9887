"""Simulated host `ssds`: 24 SATA SSDs at a SAS adapter, eight at a RAID controller, all free, and a DS3400."""

from __future__ import annotations

import time

from backends.simulator.controller import Battery, SimulatedCard
from backends.simulator.profiles.hpe import luns
from backends.simulator.profiles.lsi import NVME, X25E, disks_of
from backends.simulator.rack import Clock, Rack
from backends.simulator.smcli import DiskSystem, HostDisk
from backends.simulator.volume import Content

SSD = "SATA SSD 64GB"
"""Drive model. Article B (docs/dev/simulation.md) does not name it."""

DISKS = tuple(f"sd{chr(ord('a') + number)}" for number in range(24))
"""Kernel names of the drives."""


_ROOT = Content(table="gpt", filesystem="ext4", label="root", uuid="6f0e2b91-47d3-4c8a-b5e6-19a8d7c3f254", mount="/")


def ssds_rack(clock: Clock = time.time) -> Rack:
    """Return the simulated host `ssds` in its initial state."""
    rack = Rack(
        name="ssds",
        seed=82,
        clock=clock,
        nvme={"nvme0n1": NVME},
        lying={"nvme0n1": _ROOT},
        sata=dict.fromkeys(DISKS, SSD),
    )
    rack.cards = [_rs2bl080()]
    rack.systems = [_ds3400()]
    rack.pathed = luns(rack.systems[0], (("sdy", "sdz"), ("sdaa", "sdab")))
    return rack


def _rs2bl080() -> SimulatedCard:
    """Return the RS2BL080 of article F (docs/dev/simulation.md) with eight free X25-E."""
    return SimulatedCard(
        number=0,
        product="Intel(R) RAID Controller RS2BL080",
        serial="SV02311957",
        firmware="2.130.403-4660",
        package="12.15.0-0239",
        sas_address="5001e67bfe0f12a6",
        bus=6,
        host=0,
        cache_mib=512,
        battery=Battery(kind="bbu", temperature=35),
        disks=disks_of(252, range(8), X25E, "CVEM0080", None),
    )


def _ds3400() -> DiskSystem:
    """Return the disk system of article F (docs/dev/simulation.md).

    It has one logical drive per segment size, because changing the segment size of a logical drive takes hours.
    """
    return DiskSystem(
        name="DS3400_A",
        wwn="600a0b8000301f6e000000004b1c2d40",
        blocks=(4, 16),
        drives=12,
        product_id="1726-4xx  FAStT",
        product="IBM DS3400",
        drive="EG000600JWEBH",
        cache_mib=512,
        volumes=[
            HostDisk(name="seg128", wwn="600a0b8000301f6e000004d44b1c2e01", segment_kib=128),
            HostDisk(name="seg256", wwn="600a0b8000301f6e000004d54b1c2e1c", segment_kib=256),
        ],
    )
