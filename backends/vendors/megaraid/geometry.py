"""Number of data drives of a virtual drive, and whether it can be deleted and re-created exactly. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from backends import raid
from backends.model import Level, State
from backends.reported_words import reported_text, state_text
from backends.values import dataclass
from backends.vendors._cards import UNKNOWN, value_of
from backends.vendors.megaraid.dialect import CardSnapshot, NewVolume
from backends.vendors.megaraid.facts import PRESERVED, VirtualDrive

SPANNED = (Level.RAID10, Level.RAID50, Level.RAID60)
"""Levels with spans."""


def data_drives(volume: VirtualDrive) -> int | None:
    """Return the number of drives with data in one full stripe over all spans, or None if not all drives are known.

    A RAID 1 of more than two drives is striped over pairs, so half of its drives hold data (MegaRAID SAS Software User
    Guide, RAID 1).
    """
    return raid.data_drives(volume.level, _drives(volume), spans=volume.spans, copies=2)


def _drives(volume: VirtualDrive) -> int | None:
    """Return the number of drives, calculated from the reported number in each span; None if unknown.

    The tool's list of drives omits missing ones, so it is only used for an optimal virtual drive.
    """
    spans = volume.spans or (None if volume.level in SPANNED else 1)
    if spans and volume.drives_per_span:
        return spans * volume.drives_per_span
    return len(volume.drives) or None if volume.state is State.OPTIMAL else None


@dataclass(frozen=True, slots=True)
class VolumeGeometry:
    """Definition that exactly re-creates a virtual drive, or the reason why that is impossible."""

    new: NewVolume | None = None
    """The definition; None if an exact re-creation is impossible."""
    why_not: str | None = None
    """The reason as a clause; None if there is a definition."""


def shape(contents: CardSnapshot, volume: VirtualDrive) -> VolumeGeometry:
    """Return the definition that re-creates this virtual drive exactly, or the reason why that is impossible."""
    reason = (
        _card_reason(contents)
        or _kind_reason(volume)
        or _state_reason(contents, volume)
        or _spans_reason(volume)
        or _size_reason(contents, volume)
        or _spares_reason(contents, volume)
        or _policies_reason(volume)
    )
    if reason is not None:
        return VolumeGeometry(why_not=reason)
    policies = volume.configured
    assert volume.strip_bytes is not None
    return VolumeGeometry(
        new=NewVolume(
            level=volume.level.value,
            drives=volume.drives,
            drives_per_span=volume.drives_per_span if volume.level in SPANNED else None,
            strip_bytes=volume.strip_bytes,
            write_cache=value_of(policies.write_cache) or "",
            read_ahead=value_of(policies.read_ahead) or "",
            io_policy=value_of(policies.io_policy) or "",
            drive_cache=value_of(volume.drive_cache),
            name=volume.name,
        )
    )


def companions_of(new: NewVolume) -> dict[str, str]:
    """Return the level, policies and name that a re-created virtual drive gets back, by key."""
    spans = None if new.drives_per_span is None else str(new.drives_per_span)
    companions = {
        "level": new.level,
        "drives_per_span": spans,
        "write_cache": new.write_cache or None,
        "read_ahead": new.read_ahead or None,
        "io_policy": new.io_policy or None,
        "drive_cache": new.drive_cache,
        "name": new.name,
    }
    return {key: value for key, value in companions.items() if value is not None}


def members_of(contents: CardSnapshot, places: Sequence[str]) -> tuple[str, ...]:
    """Return the serial numbers of the drives at these places, or () if a serial number is missing or not unique."""
    serials = {drive.place: drive.serial for drive in contents.drives}
    serial_numbers = [serial for slot in places if (serial := serials.get(slot))]
    everywhere = [serial for serial in serials.values() if serial]
    unambiguous = len(serial_numbers) == len(places) and all(everywhere.count(serial) == 1 for serial in serial_numbers)
    return tuple(serial_numbers) if unambiguous else ()


def _card_reason(contents: CardSnapshot) -> str | None:
    """Return why the controller would not re-create any virtual drive, or None.

    It refuses to create one while it has preserved cache (code 84, 0x54).
    """
    has_preserved = any(problem.startswith(PRESERVED) for problem in contents.card.problems)
    return f"{PRESERVED[:1].lower()}{PRESERVED[1:]}, so it creates no array" if has_preserved else None


def _kind_reason(volume: VirtualDrive) -> str | None:
    if volume.ssd_cache:
        return "it is a CacheCade cache"
    if volume.level in (Level.UNKNOWN, Level.JBOD, Level.CONCAT, Level.RAID4):
        return f"its level ({volume.level_raw or 'not reported'}) cannot be re-created"
    if volume.secured:
        return "it is encrypted: the key cannot be re-created"
    if volume.strip_bytes is None:
        return "the tool does not report its strip size"
    if volume.access is not None and volume.access.value != "read-write":
        return f"its access policy is {reported_text(volume.access.value, volume.access.raw)}"
    return None


def _state_reason(contents: CardSnapshot, volume: VirtualDrive) -> str | None:
    if volume.state is not State.OPTIMAL:
        return f"it is {state_text(volume.state, volume.state_raw)}"
    if volume.jobs:
        return f"{volume.jobs[0].kind} is running"
    busy = [drive for drive in contents.drives if drive.place in volume.drives and drive.state is not State.ONLINE]
    return f"its drive {busy[0].place} is {state_text(busy[0].state, busy[0].state_raw)}" if busy else None


def _spans_reason(volume: VirtualDrive) -> str | None:
    if not volume.drives:
        return "the tool does not report its drives"
    if any(slot.startswith(":") or slot.endswith((":", "?")) for slot in volume.drives):
        return "one of its drives has no enclosure and slot"
    spans, drives_each = volume.spans, volume.drives_per_span
    if volume.level in SPANNED:
        if spans is None or drives_each is None or spans * drives_each != len(volume.drives) or spans < 1:
            return "its spans are not understood"
    elif spans is not None and spans > 1:
        return "its spans are not understood"
    elif drives_each is not None and drives_each != len(volume.drives):
        return f"it has {drives_each} drives, but the tool lists {len(volume.drives)}"
    return None


def _size_reason(contents: CardSnapshot, volume: VirtualDrive) -> str | None:
    """Return why a virtual drive would have another size after its re-creation, or None.

    Only a virtual drive that takes its drives completely can be allocated with the same size again.
    """
    others = [
        drive.number for drive in contents.volumes if drive.group == volume.group and drive.number != volume.number
    ]
    if volume.group is None:
        return "the tool does not report its drive group"
    if others:
        return f"it shares its drives with virtual drive {others[0]}"
    if volume.alone is False:
        return "it does not use its drives completely, so its size would change"
    if volume.alone is None:
        sizes = [drive.size_bytes for drive in contents.drives if drive.place in volume.drives]
        data_count = data_drives(volume)
        known_sizes = [size for size in sizes if size]
        if len(known_sizes) != len(volume.drives) or not data_count or not volume.size_bytes:
            return "it may not use its drives completely"
        if volume.size_bytes < 0.99 * data_count * min(known_sizes):
            return "it does not use its drives completely, so its size would change"
    return None


def _spares_reason(contents: CardSnapshot, volume: VirtualDrive) -> str | None:
    spares = [drive for drive in contents.drives if drive.state is State.SPARE and drive.group == volume.group]
    return f"it has a dedicated hot spare, {spares[0].place}, which would be lost" if spares else None


def _policies_reason(volume: VirtualDrive) -> str | None:
    policies = volume.configured
    for label, word in (("write policy", policies.write_cache), ("read policy", policies.read_ahead)):
        if value_of(word) in (None, UNKNOWN):
            return f"its {label} is not understood"
    if value_of(policies.io_policy) == UNKNOWN:
        return "its I/O policy is not understood"
    if value_of(volume.drive_cache) == UNKNOWN:
        return "the policy for its drives' caches is not understood"
    return None
