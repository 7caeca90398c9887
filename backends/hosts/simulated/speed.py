"""What the load model needs to know of the things of a rack, in the state in force."""

from __future__ import annotations

from backends.hosts.simulated.calibration import CARDS, DRIVES, MIB
from backends.hosts.simulated.fusionio import IoMemory
from backends.hosts.simulated.load import Layout
from backends.hosts.simulated.md_array import MdArray
from backends.hosts.simulated.smartarray.cards import SmartCard, SmartVolume
from backends.hosts.simulated.smcli import DiskSystem, HostDisk
from backends.model import Level

_LEVELS = {
    "0": Level.RAID0,
    "1": Level.RAID1,
    "1+0": Level.RAID10,
    "5": Level.RAID5,
    "6": Level.RAID6,
    "50": Level.RAID50,
    "60": Level.RAID60,
}
"""By ssacli's and SMcli's words."""


def of_logical_drive(card: SmartCard, volume: SmartVolume) -> Layout:
    """A logical drive of a Smart Array or Adaptec card. The share of the cache that is for reads is what may be hit."""
    members = [bay for bay in card.bays if bay.group == volume.group]
    reads = 100 if card.series else int(card.values["cacheratio"].partition("/")[0])
    cached = volume.read_cache if card.series else volume.acceleration == "cache" and reads > 0
    return Layout(
        card=CARDS[card.model],
        drive=DRIVES[members[0].model],
        level=_LEVELS[volume.level],
        drives=len(members),
        spans=2 if volume.level in ("50", "60") else len(members) // 2 if volume.level == "1+0" else 1,
        strip_bytes=volume.strip_kib * 1024,
        write_back=card.writes_back(volume),
        cached=cached,
        fastpath=not card.series and volume.acceleration == "path",
        drive_cache="on" if all(bay.own_cache for bay in members) else "off",
        cache_bytes=card.cache_mib * MIB * reads // 100,
        size_bytes=volume.size_bytes,
    )


def of_lun(system: DiskSystem, one: HostDisk) -> Layout:
    """A logical drive of a disk system."""
    return Layout(
        card=CARDS[system.product],
        drive=DRIVES[system.drive],
        level=_LEVELS[one.level],
        drives=system.drives,
        strip_bytes=one.segment_kib * 1024,
        write_back=system.writes_back(one),
        read_ahead=one.prefetch,
        cached=one.read_cache,
        cache_bytes=system.cache_mib * MIB,
        size_bytes=one.size_bytes,
    )


def of_flash(card: IoMemory) -> Layout:
    """An ioMemory module."""
    return Layout(card=None, drive=DRIVES[card.model], size_bytes=card.size_bytes)


def of_striped(array: MdArray, model: str) -> Layout:
    """An md array of equal drives."""
    return Layout(
        card=None,
        drive=DRIVES[model],
        level=Level(array.level),
        drives=len(array.members),
        strip_bytes=array.chunk or 65536,
        size_bytes=array.size_bytes,
    )
