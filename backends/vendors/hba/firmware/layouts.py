"""From the bytes that a MegaRAID card answers to what it says. Pure; raises ValueError on an answer too short.

Little-endian and packed. Offsets follow `mfi_ctrl_info`, `mfi_ld_info` and the rest of FreeBSD's sys/dev/mfi/mfireg.h;
what lies behind byte 358 of a physical drive follows `MR_PD_INFO` of drivers/scsi/megaraid/megaraid_sas.h.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import field

from backends.model import Media
from backends.text import clean
from backends.values import dataclass
from backends.vendors.hba.firmware import codes
from backends.vendors.megaraid.facts import CacheProtection, Card, PhysicalDrive, VirtualDrive, ddf_level

SECTOR = 512
"""Bytes of a block where the firmware does not say otherwise."""

NO_DRIVE = 0xFFFF
"""Device id of a drive that is missing from its group, or of an enclosure that there is not."""

_COMPONENTS, _COMPONENT, _COMPONENT_LIMIT = 184, 72, 8


@dataclass(frozen=True, slots=True)
class FirmwareDrive:
    """A line of the list of physical drives."""

    device_id: int
    """How the firmware names it."""
    enclosure: int | None
    """Device id of its enclosure; None if it is in none."""
    slot: int
    """Slot."""
    kind: int
    """SCSI device type: 0 is a disk, 13 an enclosure."""

    @property
    def order(self) -> tuple[int, int]:
        """By enclosure and slot; those in none first."""
        return (-1 if self.enclosure is None else self.enclosure, self.slot)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which drives make which virtual drive."""

    groups: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """(device id, state) of each place of a drive group, by its reference; NO_DRIVE where the drive is missing."""
    spans: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """References of the groups a virtual drive lies on in the order of its spans, by its target id."""

    def members(self, volume: int) -> tuple[int, ...]:
        """Device ids of a virtual drive's members, those missing left out."""
        members = (member for ref in self.spans.get(volume, ()) for member in self.groups.get(ref, ()))
        return tuple(device for device, _ in members if device != NO_DRIVE)

    def state(self, device_id: int) -> int | None:
        """State of a drive in its group, None if it is in none."""
        members = (member for group in self.groups.values() for member in group)
        return next((state for device, state in members if device == device_id), None)


def card(data: bytes, host_number: int) -> Card:
    """`mfi_ctrl_info`: the card, without its battery."""
    _need(data, 1600, "controller")
    memory_mb = _u16(data, 1488)
    lowest, highest = data[1512], data[1513]
    offered = _u32(data, 1508)
    return Card(
        number=0,
        model=_text(data, 1344, 80),
        serial=_text(data, 1424, 32),
        firmware=_component(data, "APP"),
        package=_text(data, 1600, 96),
        host_number=host_number,
        cache_bytes=memory_mb << 20 if memory_mb else None,
        backup_known=not has_battery(data),
        supports={key: bool(offered & bit) for key, bit in codes.OPERATIONS.items()} if offered else {},
        strip_minimum=SECTOR << lowest if 0 < lowest < 32 else None,
        strip_maximum=SECTOR << highest if 0 < highest < 32 else None,
    )


def has_battery(data: bytes) -> bool:
    """Whether `mfi_ctrl_info` says that a battery or capacitor is fitted."""
    _need(data, 1460, "controller")
    return bool(_u32(data, 1456) & 1)


def rates(data: bytes) -> dict[str, str]:
    """`mfi_ctrl_props`: rates in percent and the flush interval in seconds, by the keys of megaraid's settings."""
    _need(data, 14, "properties")
    return {key: str(data[at]) for key, at in codes.RATES.items()}


def battery(data: bytes) -> CacheProtection | None:
    """`mfi_bbu_status`; None if it says that there is none."""
    _need(data, 12, "battery")
    kind, status = data[0], _u32(data, 8)
    if kind == 0:
        return None
    milliamperes = int.from_bytes(data[4:6], "little", signed=True)
    return codes.backup(kind, status, _u16(data, 6), milliamperes, _u16(data, 2))


def volume_numbers(data: bytes) -> tuple[int, ...]:
    """`mfi_ld_list`: the target ids."""
    _need(data, 8, "virtual drive list")
    count = min(_u32(data, 0), (len(data) - 8) // 16)
    return tuple(data[8 + 16 * at] for at in range(count))


def volume(data: bytes) -> VirtualDrive:
    """`mfi_ld_info`, without its members."""
    _need(data, 264, "virtual drive")
    level, qualifier, secondary, strip, drives, spans, state = data[32:39]
    default, access, disk_cache, current = data[20:24]
    return VirtualDrive(
        card=0,
        number=data[0],
        name=_text(data, 4, 16),
        level=ddf_level(level, secondary, spans),
        level_raw=f"Primary-{level}, Secondary-{secondary}, RAID Level Qualifier-{qualifier}",
        spans=spans or 1,
        drives_per_span=drives or None,
        size_bytes=_u64(data, 256) * SECTOR or None,
        strip_bytes=SECTOR << strip if 0 < strip < 32 else None,
        state=codes.volume_state(state)[0],
        state_raw=codes.volume_state(state)[1],
        access=codes.access(access),
        configured=codes.policies(default),
        in_force=codes.policies(current),
        drive_cache=codes.drive_cache(disk_cache),
        bad_bbu_write_back=bool(default & codes.WRITE_BACK_WITH_BAD_BATTERY),
        jobs=codes.volume_jobs(data[264:300]),
    )


def places(data: bytes) -> tuple[FirmwareDrive, ...]:
    """`mfi_pd_list`."""
    _need(data, 8, "drive list")
    count = min(_u32(data, 4), (len(data) - 8) // 24)
    lines = (struct.unpack_from("<HHBBB", data, 8 + 24 * at) for at in range(count))
    return tuple(
        FirmwareDrive(device, None if enclosure == NO_DRIVE else enclosure, slot, kind)
        for device, enclosure, _, slot, kind in lines
    )


def drive(data: bytes, address: FirmwareDrive) -> PhysicalDrive:
    """`mfi_pd_info` of the drive at `address`; what it does not say of this very drive stays unknown."""
    _need(data, 406, "drive")
    unanswered = PhysicalDrive(card=0, enclosure=address.enclosure, slot=address.slot, device_id=address.device_id)
    inquiry = data[4:100]
    silent = inquiry[0] == 0x7F  # no such device there, says SPC's peripheral qualifier
    if _u16(data, 0) != address.device_id or silent:
        return unanswered
    block = _u16(data, 404) or SECTOR
    state, raw = codes.drive_state(_u16(data, 184))
    maker, product = _text(inquiry, 8, 8), _text(inquiry, 16, 16)
    kind = _u16(data, 188)
    temperature = data[402]
    return PhysicalDrive(
        card=0,
        enclosure=address.enclosure,
        slot=address.slot,
        device_id=address.device_id,
        state=state,
        state_raw=raw,
        foreign=bool(kind & codes.FOREIGN),
        model=product if maker in (None, "ATA") else " ".join(filter(None, (maker, product))),
        serial=_text(inquiry, 36, 20),
        firmware=_text(inquiry, 32, 4),
        media={0: Media.HDD, 1: Media.SSD}.get(data[370], Media.UNKNOWN),
        interface=codes.INTERFACES.get(kind >> 12),
        size_bytes=_u64(data, 248) * block or None,
        sector_bytes=_u16(data, 404) or None,
        link=codes.LINKS.get(data[187]),
        temperature_c=temperature if 0 < temperature < 128 else None,
        errors={"media": _u32(data, 168), "other": _u32(data, 172), "predictive": _u32(data, 176)},
        jobs=codes.drive_jobs(data[260:292]),
    )


def configuration_size(data: bytes) -> int:
    """Bytes of the whole `mfi_config_data`, as its head says."""
    _need(data, 32, "configuration")
    return _u32(data, 0)


def configuration(data: bytes) -> Configuration:
    """`mfi_config_data`.

    The size beside each count is that of one record; an emulator says that of all of them together, which the size of
    the whole gives away.
    """
    _need(data, 32, "configuration")
    whole, arrays, array_size, drives, drive_size, spares, spare_size = struct.unpack_from("<IHHHHHH", data)
    if 32 + arrays * array_size + drives * drive_size + spares * spare_size > whole:
        array_size, drive_size = array_size // max(arrays, 1), drive_size // max(drives, 1)
    start = 32 + arrays * array_size
    _need(data, start + drives * drive_size, "configuration")
    if (arrays and array_size < 32) or (drives and drive_size < 64):
        raise ValueError("the configuration has records shorter than they can be")
    groups = (_group(data[32 + at * array_size :][:array_size]) for at in range(arrays))
    lines = (_spans(data[start + at * drive_size :][:drive_size]) for at in range(drives))
    return Configuration(dict(groups), dict(lines))


def _group(record: bytes) -> tuple[int, tuple[tuple[int, int], ...]]:
    count = min(record[8], (len(record) - 32) // 8)
    members = (struct.unpack_from("<HHH", record, 32 + 8 * at) for at in range(count))
    return _u16(record, 10), tuple((device, state) for device, _, state in members)


def _spans(record: bytes) -> tuple[int, tuple[int, ...]]:
    count = min(record[37] or 1, (len(record) - 64) // 24)
    return record[0], tuple(_u16(record, 64 + 24 * at + 16) for at in range(count))


def _component(data: bytes, wanted: str) -> str | None:
    """Version of a part of the firmware."""
    count = min(_u32(data, 180), _COMPONENT_LIMIT)
    for at in (_COMPONENTS + number * _COMPONENT for number in range(count)):
        if _text(data, at, 8) == wanted:
            return _text(data, at + 8, 32)
    return None


def _text(data: bytes, at: int, length: int) -> str | None:
    """A padded field, cleaned; None if it is empty."""
    return clean(data[at : at + length].partition(b"\0")[0].decode("ascii", "replace")) or None


def _need(data: bytes, length: int, subject: str) -> None:
    if len(data) < length:
        raise ValueError(f"the answer about the {subject} has {len(data)} bytes, {length} are needed")


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")
