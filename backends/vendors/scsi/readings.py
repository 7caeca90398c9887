"""Conversion of the drive's and the kernel's values to readings of the settings. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.host import WriteDenied
from backends.settings import Availability, Choice, Reading, Span, available_unless, offer
from backends.values import dataclass
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.hdparm import Flag
from backends.vendors.scsi.sdparm import Field
from backends.vendors.scsi.settings import (
    APM_OFF,
    BITS,
    LOOK_AHEAD_CHOICES,
    OPTIONS,
    QUIET,
    READ_CACHE_CHOICES,
    SETTINGS,
    cache_choices,
)
from backends.vendors.scsi.smartctl import SmartAnswer

SATA_TAGS = 32
"""Number of tags of native command queueing (SATA 3.1, 13.6; include/linux/libata.h, ATA_MAX_QUEUE)."""

VOLUME_CACHE = "this is a virtual drive of a RAID controller, which owns the cache"
VOLUME_WORDS = "this is a virtual drive of a RAID controller. Set its drives through the controller"
"""Reason why the drive settings of a RAID volume cannot be changed, as a clause and an instruction."""

_ON = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All values of a disk at one moment."""

    disk: Disk
    """Values from sysfs."""
    tool: str | None = None
    """Path of hdparm for an ATA drive, or of sdparm for a SCSI drive; None if it is not installed."""
    flags: Mapping[str, Flag] = field(default_factory=dict)
    """Values from hdparm."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """Values from sdparm."""
    silent: str | None = None
    """Reason why the drive's values are unknown; None if it returned values."""
    rights: str | None = None
    """Reason why the tool cannot be run for a change; None if it can be run."""
    writable: Mapping[str, str | None] = field(default_factory=dict)
    """Reason why a file in sysfs cannot be written, by path; None if it can be written."""
    health: SmartAnswer | None = None
    """Values from smartctl, if it was queried."""
    saves: bool = True
    """Whether the drive may be able to save the mode page. It is False after a failure."""

    @property
    def protection(self) -> str | None:
        """Return the evidence that cached data survives a power failure, as a clause; None if there is none."""
        loss = self.health.power_loss if self.health is not None else None
        return loss.sentence() if loss is not None and loss.is_good else None


def readings(view: View) -> dict[str, Reading]:
    """Return the readings of all settings by key, in display order."""
    return {setting.key: _READERS[setting.key](view) for setting in SETTINGS}


def switch(view: View, key: str) -> tuple[bool | None, str | None]:
    """Return the drive's value of an on/off setting (True for on), and what the tool prints for it.

    Both are None if not reported.
    """
    if view.disk.kind is Kind.ATA:
        flag = view.flags.get(OPTIONS.get(key, ""))
        if flag is None:
            return None, None
        return {0: False, 1: True}.get(flag.number) if flag.number is not None else None, flag.raw
    name, inverted = BITS[key]
    bit = view.fields.get(name)
    return (None, None) if bit is None else (bit.now is not inverted, f"{name} {bit.raw}")


def _drive_cache(view: View) -> Reading:
    disk = view.disk
    choices = cache_choices(view.protection)
    if disk.kind is Kind.VOLUME:
        return _blocked_reading(VOLUME_CACHE, choices)
    value, raw = switch(view, "drive_cache")
    against, unsettled = _blocked_reason(view, "drive_cache"), _unsettled_reason(view, "drive_cache")
    if view.tool is None or view.silent is not None:  # use the value that the kernel assumes
        value, raw = disk.caches_by_kernel, disk.cache_type
        if value is None:
            unsettled = "the kernel does not report whether the drive caches writes"
    effective, why = _flushes(disk, value)
    return Reading(
        now=_word(value, raw),
        raw=raw,
        effective=effective,
        why_effective=why,
        choices=choices,
        availability=available_unless(against, unsettled),
    )


def _flushes(disk: Disk, caching: bool | None) -> tuple[str | None, str | None]:
    """Return the state in effect and the reason, if the kernel's flushes do not match the drive's cache; otherwise
    (None, None).
    """
    if caching is None or disk.flushed is None or caching is disk.flushed:
        return None, None
    if caching:
        return (
            "without flushes",
            "the kernel assumes no write cache (queue/write_cache is write through) and sends no flushes, so a "
            "power failure loses the drive's cached data",
        )
    return (
        "with flushes",
        "the kernel still assumes a write cache (queue/write_cache is write back) and sends flushes until a rescan: "
        f"echo 1 > {disk.device_file('rescan')}",
    )


def _read_cache(view: View) -> Reading:
    if view.disk.kind is Kind.ATA:
        return _blocked_reading(
            "an ATA drive has a switch only for look-ahead, not for its read cache", READ_CACHE_CHOICES
        )
    return _plain_switch(view, "read_cache", READ_CACHE_CHOICES)


def _plain_switch(view: View, key: str, choices: tuple[Choice, ...]) -> Reading:
    if view.disk.kind is Kind.VOLUME:
        return _blocked_reading(VOLUME_WORDS, choices)
    value, raw = switch(view, key)
    return Reading(
        now=_word(value, raw),
        raw=raw,
        choices=choices,
        availability=available_unless(_blocked_reason(view, key), _unsettled_reason(view, key)),
    )


def _apm(view: View) -> Reading:
    span = Span(minimum=1, maximum=APM_OFF)
    number, raw, against = _level(view, "apm")
    return Reading(
        now=number, raw=raw, span=span, availability=available_unless(against, _unsettled_reason(view, "apm"))
    )


def _acoustic(view: View) -> Reading:
    number, raw, against = _level(view, "acoustic")
    is_common = number in (None, "unknown", *(choice.value for choice in QUIET))
    present = () if is_common or number is None else (offer(number, "The current value."),)
    availability = available_unless(against, _unsettled_reason(view, "acoustic"))
    return Reading(now=number, raw=raw, choices=(*QUIET, *present), availability=availability)


def _level(view: View, key: str) -> tuple[str | None, str | None, str | None]:
    """Return the value of a setting that only ATA drives have, what hdparm prints for it, and why it cannot be changed.

    Each is None if there is none.
    """
    match view.disk.kind:
        case Kind.VOLUME:
            return None, None, VOLUME_WORDS
        case Kind.SCSI:
            return None, None, "only ATA drives have this setting"
        case Kind.ATA:
            flag = view.flags.get(OPTIONS[key])
            if flag is None or not flag.is_supported:
                return None, flag.raw if flag else None, _blocked_reason(view, key)
            number = "unknown" if flag.number is None else str(flag.number)
            return number, flag.raw, _blocked_reason(view, key)


def _queue_depth(view: View) -> Reading:
    disk = view.disk
    now = disk.queue_depth
    top = disk.host_depth or now
    if top is not None and disk.kind is Kind.ATA:
        top = min(top, SATA_TAGS)
    if now is None or top is None:
        return Reading(now=None, availability=Availability(why_not="the kernel does not report the queue depth"))
    return Reading(
        now=str(now),
        raw=str(now),
        span=Span(minimum=1, maximum=max(top, now), unit="commands"),
        availability=Availability(why_not=view.writable.get(disk.device_file("queue_depth"))),
    )


def _blocked_reason(view: View, key: str) -> str | None:
    """Return why a switch of the drive cannot be changed; None if it can be changed."""
    disk = view.disk
    if view.tool is None:
        if key == "drive_cache" and disk.cache_path is not None:
            return view.writable.get(disk.cache_path)
        return f"{'hdparm' if disk.kind is Kind.ATA else 'sdparm'} is not installed"
    if view.rights is not None:
        return view.rights
    if view.silent is not None:
        return None if view.silent is WriteDenied.NEEDS_ROOT else view.silent
    if disk.kind is Kind.ATA:
        flag = view.flags.get(OPTIONS[key])
        return None if flag is None or flag.is_supported else "the drive does not have this setting"
    bit = view.fields.get(BITS[key][0])
    if bit is None:
        return "the drive's caching page does not have this setting"
    return "the drive does not allow changing it" if bit.changeable is False else None


def _unsettled_reason(view: View, key: str) -> str | None:
    """Return why the current value of a switch is unknown; None if it is known, or the drive was not queried."""
    queried = view.tool is not None and view.rights is None and view.silent is None
    if queried and view.disk.kind is Kind.ATA and view.flags.get(OPTIONS[key]) is None:
        return "hdparm does not report this setting"
    return None


def _word(value: bool | None, raw: str | None) -> str | None:
    """Return `on` or `off` for `value`.

    Without a value, return `unknown` if the tool printed something unexpected (`raw`), and None if the drive does not
    have or report the switch.
    """
    if value is not None:
        return _ON[value]
    return None if raw in (None, "not supported") else "unknown"


def _blocked_reading(reason: str, choices: tuple[Choice, ...]) -> Reading:
    return Reading(now=None, choices=choices, availability=Availability(why_not=reason))


_READERS = {
    "drive_cache": _drive_cache,
    "read_look_ahead": lambda view: _plain_switch(view, "read_look_ahead", LOOK_AHEAD_CHOICES),
    "read_cache": _read_cache,
    "queue_depth": _queue_depth,
    "apm": _apm,
    "acoustic": _acoustic,
}
