"""MegaRAID firmware rules for changes, which apply to every tool."""

from __future__ import annotations

from collections.abc import Sequence

from backends.model import Level
from backends.simulator.controller import DEFAULTS, FASTPATH, SimulatedCard, is_legal
from backends.simulator.disk import FOREIGN, GOOD, ONLINE, SimulatedDrive
from backends.simulator.rack import Rack
from backends.simulator.volume import BGI_AFTER, SPANNED, Volume

DEMO_KEY = "DEMO0FASTPATH0KEY0OF0THE0SIMULATED0RACK"
"""The only activation key that simulated controllers accept. It enables FastPath."""

INVALID, WRONG_STATE, NO_ROOM, UNFIT, NOT_FOUND, TOOL_MESSAGE = 3, 50, 13, 38, 12, 255
"""Firmware status codes. 255 marks a message of the tool itself."""

RESET_REQUIRED = 89
"""Status code of a change that needs a reboot (0x59)."""

PINNED = 84
"""Status code if the cache holds data of an offline or missing virtual drive (0x54)."""

INCOMPLETE = 59
"""Status code of an incomplete foreign configuration (0x3B)."""

FULL = 26
"""Status code if the controller has its maximum number of virtual drives (0x1A)."""

_NAA = "600605b0"
_MEMBERS = {
    Level.RAID0: (1, 32),
    Level.RAID1: (2, 32),
    Level.RAID5: (3, 32),
    Level.RAID6: (3, 32),
}
"""Minimum and maximum drives of one span."""

_MOST_SPANS, _MOST_IN_VOLUME, _MOST_ON_CARD = 8, 32, 64
"""Maximum spans and drives of a virtual drive, and virtual drives of a controller, as in `show all`."""


class RefusalError(Exception):
    """Refusal by the firmware or by the tool."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        """Status code."""
        self.text = text
        """Message."""


def set_volume(card: SimulatedCard, volume: Volume, key: str, value: str) -> None:
    """Set `write_cache`, `read_ahead`, `io_policy`, `drive_cache`, `access`, `cache_bypass` or `auto_bgi`.

    Raises RefusalError if the virtual drive or controller does not allow it.
    """
    if card.state(volume) == "offline":
        raise RefusalError(WRONG_STATE, "device state doesn't support requested command")
    if key == "read_ahead" and value == "adaptive" and not card.adaptive:
        raise RefusalError(151, "Adaptive Read Ahead is not supported")
    if key == "drive_cache" and card.blocks_ssd_cache and card.is_on_flash(volume) and value != volume.drive_cache:
        raise RefusalError(TOOL_MESSAGE, "SSD Pd is present")
    setattr(volume, key, value == "on" if key == "auto_bgi" else value)


def set_card(card: SimulatedCard, key: str, value: str) -> None:
    """Set a rate, `flush`, `patrol_mode`, `check_mode`, `perf` or a property. Raises RefusalError if out of range."""
    match key:
        case _ if key in DEFAULTS:
            if not is_legal(key, value):
                raise RefusalError(INVALID, "value out of range")
            card.properties[key] = value
        case "patrol_mode":
            card.patrol = value
        case "check_mode":
            card.check = value
        case "perf":
            if value not in ("0", "1"):
                raise RefusalError(INVALID, "invalid performance mode")
            card.perf_mode = int(value)
        case _:
            number = int(value) if value.isascii() and value.isdigit() and len(value) < 6 else -1
            if not 0 <= number <= (255 if key == "flush" else 100):
                raise RefusalError(INVALID, "value out of range")
            card.rates[key] = number


def delete(rack: Rack, card: SimulatedCard, number: int, *, force: bool) -> Volume:
    """Delete a virtual drive. Raises RefusalError if it does not exist, or has contents and `force` is False."""
    volume = card.volume(number)
    if volume is None:
        raise RefusalError(TOOL_MESSAGE, "Invalid VD number")
    if volume.content is not None and not force:
        raise RefusalError(TOOL_MESSAGE, "VD has OS/FS, use force")
    card.volumes.remove(volume)
    if all(other.group != volume.group for other in card.volumes):
        for disk in card.members(volume):
            disk.group = None
            if disk.state in (ONLINE, "rebuild"):
                disk.state = GOOD
    if volume.device:
        rack.forget_disk(volume.device)
    return volume


def create(
    rack: Rack,
    card: SimulatedCard,
    volume: Volume,
    *,
    share: int | None = None,
) -> Volume:
    """Create a virtual drive on free drives and return it.

    `volume` has the requested settings; this function assigns number, size, device and names. `share`: size in bytes,
    or None to use the drives completely. Raises RefusalError if the firmware does not allow it.
    """
    if card.pinned:
        raise RefusalError(PINNED, "Controller has LD cache pinned")
    if len(card.volumes) >= _MOST_ON_CARD:
        raise RefusalError(FULL, "maximum number of virtual drives reached")
    disks = [_free(card, position) for position in volume.places]
    if len(set(volume.places)) != len(disks):
        raise RefusalError(INVALID, "a drive is named twice")
    _check_shape(volume)
    if not card.strip_minimum <= volume.strip_bytes <= card.strip_maximum or volume.strip_bytes % 512:
        raise RefusalError(INVALID, "invalid strip size")
    if volume.read_ahead == "adaptive" and not card.adaptive:
        raise RefusalError(151, "Adaptive Read Ahead is not supported")
    if len({(disk.type.interface, disk.type.media) for disk in disks}) > 1:
        raise RefusalError(UNFIT, "drives of different kinds cannot be mixed")
    maximum = volume.data_drives * min(disk.coerced_bytes for disk in disks)
    if share is not None and share > maximum:
        raise RefusalError(NO_ROOM, "disk doesn't have enough capacity")
    volume.size_bytes = maximum if share is None else share
    volume.number = next(number for number in range(1024) if card.volume(number) is None)
    used = {other.group for other in card.volumes}
    volume.group = next(number for number in range(1024) if number not in used)
    volume.device = rack.free_device()
    rack.made += 1
    volume.naa, volume.sequence = naa(rack.made), rack.made
    volume.created = rack.now()
    for disk in disks:
        disk.state, disk.group = ONLINE, volume.group
    if volume.auto_bgi and len(disks) >= {Level.RAID5: 5, Level.RAID6: 7}.get(volume.level, 1000):
        volume.bgi_since = rack.now() + BGI_AFTER
    card.volumes.append(volume)
    card.volumes.sort(key=lambda other: other.number)
    return volume


def naa(made: int) -> str:
    """Return the NAA identifier of the n-th created volume, 32 hex digits."""
    return f"{_NAA}{made * 0x1F0D3A5B7 & 0xFFFFFFFFFFFF:012x}{made * 2654435761 & 0xFFFFFFFFFFFF:012x}"


def _free(card: SimulatedCard, position: str) -> SimulatedDrive:
    """Return a free drive. Raises RefusalError if there is none at this position."""
    disk = card.disk(position)
    if disk is None:
        raise RefusalError(NOT_FOUND, f"drive {position} not found")
    if disk.state == FOREIGN:
        raise RefusalError(INCOMPLETE, "Incomplete foreign configuration")
    if disk.state != GOOD:
        text = "The specified physical disk does not have the appropriate attributes to complete the requested command"
        raise RefusalError(UNFIT, text)
    return disk


def _check_shape(volume: Volume) -> None:
    """Check the number of drives and spans, and set the default span size. Raises RefusalError if they do not fit."""
    count = len(volume.places)
    level = SPANNED.get(volume.level, volume.level)
    volume.per_span = volume.per_span or (2 if volume.level is Level.RAID10 else count)
    spans, rest = divmod(count, volume.per_span)
    least, most = _MEMBERS.get(level, (1000, 0))
    uneven = rest or (level is Level.RAID1 and volume.per_span % 2)
    many = spans > _MOST_SPANS or count > _MOST_IN_VOLUME
    if uneven or many or (spans > 1) != (volume.level in SPANNED) or not least <= volume.per_span <= most:
        raise RefusalError(INVALID, "invalid number of drives for this RAID level")


def apply_key(card: SimulatedCard, key: str, *, preview: bool) -> Sequence[str]:
    """Apply an activation key. Return the options that it enables, which become active after a reboot.

    `preview`: do not apply the key. Raises RefusalError if the key is invalid or was applied before.
    """
    if key != DEMO_KEY or not card.can_fastpath:
        raise RefusalError(INVALID, "Invalid activation key")
    if FASTPATH in (*card.options, *card.pending):
        raise RefusalError(INVALID, "The activation key has been applied already")
    if not preview:
        card.pending = (*card.pending, FASTPATH)
    return (FASTPATH,)
