"""Racks of any size."""

from __future__ import annotations

from backends.model import Level
from backends.simulator.controller import MEGACLI, STORCLI, Battery, SimulatedCard
from backends.simulator.profiles import lsi as machines
from backends.simulator.rack import Clock, Rack
from backends.simulator.volume import Volume


def rack_of(cards: int, drives: int, volumes: int, clock: Clock | None = None) -> Rack:
    """A rack of any size: every card has `drives` drives in one RAID6 group that `volumes` volumes share."""
    rack = Rack()
    if clock is not None:
        rack.clock = clock
    for number in range(cards):
        disks = machines.disks_of(252, range(drives), machines.S1200, f"Z3F{number:02d}", 0 if volumes else None)
        room = max(1, drives - 2) * disks[0].coerced_bytes // max(1, volumes) // 512 * 512 if disks else 0
        card = SimulatedCard(
            number=number,
            product="AVAGO MegaRAID SAS 9361-8i",
            serial=f"SV6{number:07d}",
            firmware="4.680.00-8519",
            package="24.21.0-0148",
            sas_address=f"500605b00b{number:06x}",
            bus=16 + number,
            host=number,
            cache_mib=2048,
            seen_by=(STORCLI, MEGACLI),
            battery=Battery(kind="cachevault"),
            disks=disks,
            volumes=[
                Volume(
                    number=at,
                    group=0,
                    name=f"v{at}",
                    level=Level.RAID6,
                    places=tuple(disk.place for disk in disks),
                    per_span=drives,
                    size_bytes=room,
                    strip_bytes=256 * 1024,
                    write_cache="write-back",
                )
                for at in range(volumes)
            ],
        )
        rack.cards.append(card)
        machines.assign_names(rack, card)
    return rack
