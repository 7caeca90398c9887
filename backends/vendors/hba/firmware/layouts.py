"""Parsers for the binary answers of a MegaRAID controller. No I/O; an answer that is too short raises ValueError.

The layouts are little-endian and packed. Offsets are those of `mfi_ctrl_info`, `mfi_ld_info` and others in FreeBSD's
sys/dev/mfi/mfireg.h. After byte 358 of a physical drive they are those of `MR_PD_INFO` in
drivers/scsi/megaraid/megaraid_sas.h.
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
"""Default block size in bytes."""

NO_DRIVE = 0xFFFF
"""Device id that stands for a missing drive in a group, or for no enclosure."""

_COMPONENTS, _COMPONENT, _COMPONENT_LIMIT = 184, 72, 8


@dataclass(frozen=True, slots=True)
class FirmwareDrive:
    """An entry in the list of physical drives."""

    device_id: int
    """Device id."""
    enclosure: int | None
    """Device id of its enclosure; None if it is in none."""
    slot: int
    """Slot number."""
    kind: int
    """SCSI device type: 0 is a disk, 13 an enclosure."""

    @property
    def order(self) -> tuple[int, int]:
        """Return the sort key: enclosure and slot. Drives without an enclosure come first."""
        return (-1 if self.enclosure is None else self.enclosure, self.slot)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Drive groups, and the virtual drives on them."""

    groups: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Device id and state of each member of a drive group, by the group's reference; NO_DRIVE for a missing drive."""
    spans: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """References of the drive groups of each virtual drive in span order, by target id."""

    def members(self, volume: int) -> tuple[int, ...]:
        """Return the device ids of a virtual drive's members, without missing ones."""
        members = (member for ref in self.spans.get(volume, ()) for member in self.groups.get(ref, ()))
        return tuple(device for device, _ in members if device != NO_DRIVE)

    def state(self, device_id: int) -> int | None:
        """Return the state of a drive in its group; None if it is in no group."""
        members = (member for group in self.groups.values() for member in group)
        return next((state for device, state in members if device == device_id), None)


def card(data: bytes, host_number: int) -> Card:
    """Return the controller from `mfi_ctrl_info`, without its battery."""
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
    """Return whether `mfi_ctrl_info` reports a battery or capacitor."""
    _need(data, 1460, "controller")
    return bool(_u32(data, 1456) & 1)


def rates(data: bytes) -> dict[str, str]:
    """Return rates in percent and the flush interval in seconds from `mfi_ctrl_props`, by setting key."""
    _need(data, 14, "properties")
    return {key: str(data[at]) for key, at in codes.RATES.items()}


def battery(data: bytes) -> CacheProtection | None:
    """Return the battery from `mfi_bbu_status`, or None if there is none."""
    _need(data, 12, "battery")
    kind, status = data[0], _u32(data, 8)
    if kind == 0:
        return None
    milliamperes = int.from_bytes(data[4:6], "little", signed=True)
    return codes.backup(kind, status, _u16(data, 6), milliamperes, _u16(data, 2))


def volume_numbers(data: bytes) -> tuple[int, ...]:
    """Return the target ids from `mfi_ld_list`."""
    _need(data, 8, "virtual drive list")
    count = min(_u32(data, 0), (len(data) - 8) // 16)
    return tuple(data[8 + 16 * at] for at in range(count))


def volume(data: bytes) -> VirtualDrive:
    """Return the virtual drive from `mfi_ld_info`, without its members."""
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
    """Return the drives and enclosures from `mfi_pd_list`."""
    _need(data, 8, "drive list")
    count = min(_u32(data, 4), (len(data) - 8) // 24)
    lines = (struct.unpack_from("<HHBBB", data, 8 + 24 * at) for at in range(count))
    return tuple(
        FirmwareDrive(device, None if enclosure == NO_DRIVE else enclosure, slot, kind)
        for device, enclosure, _, slot, kind in lines
    )


def drive(data: bytes, address: FirmwareDrive) -> PhysicalDrive:
    """Return the drive at `address` from `mfi_pd_info`.

    If the answer is about a different or a missing drive, only the address is returned, without facts.
    """
    _need(data, 406, "drive")
    unanswered = PhysicalDrive(card=0, enclosure=address.enclosure, slot=address.slot, device_id=address.device_id)
    inquiry = data[4:100]
    silent = inquiry[0] == 0x7F  # SPC: peripheral qualifier and type of a missing device
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
    """Return the size of `mfi_config_data` in bytes, from its header."""
    _need(data, 32, "configuration")
    return _u32(data, 0)


def configuration(data: bytes) -> Configuration:
    """Return the configuration from `mfi_config_data`.

    The size next to each count is the size of one record. An emulator writes the size of all records there instead. The
    records then seem to exceed the total size, so these sizes are divided by the counts.
    """
    _need(data, 32, "configuration")
    total_size, arrays, array_size, drives, drive_size, spares, spare_size = struct.unpack_from("<IHHHHHH", data)
    if 32 + arrays * array_size + drives * drive_size + spares * spare_size > total_size:
        array_size, drive_size = array_size // max(arrays, 1), drive_size // max(drives, 1)
    start = 32 + arrays * array_size
    _need(data, start + drives * drive_size, "configuration")
    if (arrays and array_size < 32) or (drives and drive_size < 64):
        raise ValueError("the configuration has records that are too short")
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
    """Return the version of the firmware component `wanted`; None if it is not listed."""
    count = min(_u32(data, 180), _COMPONENT_LIMIT)
    for at in (_COMPONENTS + number * _COMPONENT for number in range(count)):
        if _text(data, at, 8) == wanted:
            return _text(data, at + 8, 32)
    return None


def _text(data: bytes, at: int, length: int) -> str | None:
    """Return the string in a padded field without control characters, or None if it is empty."""
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
