"""Rules about the links and firmware of drives, and about the temperature and memory of controllers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.features.check.finding import FAULT, NOTE, WARN, Finding, RuleOutput, UnknownResult, rule
from app.features.check.snapshot import SystemSnapshot, fact, fact_number
from backends.model import Array, Controller, Drive, Media, State
from widgets.text_utils import units

DISK_RATE = 3.0
"""Link speed in Gb/s that is enough for any hard disk: it carries 300 MB/s (Serial ATA, 8b/10b encoding)."""

CONTROLLER_LIMIT = 100.0
"""Temperature in degrees Celsius from which a controller is too hot.

Controllers raise their own alarm at 105 to 115 °C.
"""

CACHE_MODULE_LIMIT = 85.0
"""Maximum temperature of memory chips in degrees Celsius (JEDEC, DRAM case temperature)."""

BATTERY_LIMIT = 60.0
"""Temperature in degrees Celsius from which a battery or capacitor ages fast. Vendors specify 55 to 60 °C at most."""

_RATE = re.compile(r"(\d{1,3}(?:\.\d{1,2})?) ?G", re.ASCII)
_CELSIUS = re.compile(r"(-?\d{1,3}) °C", re.ASCII)
_HEAT = {
    "RAID-on-chip": CONTROLLER_LIMIT,
    "Temperature": CONTROLLER_LIMIT,
    "Cache module temperature": CACHE_MODULE_LIMIT,
}
_BATTERIES = ("Battery", "CacheVault", "Capacitor temperature")


def _rate(drive: Drive, label: str) -> float | None:
    """Return the link speed in Gb/s from the fact with this label; None if it contains none."""
    match = _RATE.match(fact(drive, label) or "")
    return float(match[1]) if match else None


def _link_of(snapshot: SystemSnapshot, drive: Drive) -> tuple[float | None, float | None]:
    """Return the negotiated speed of a drive and the highest speed of its port, in Gb/s."""
    block = snapshot.block_of(drive)
    link = snapshot.links.get(block.name) if block is not None else None
    if link is not None:
        return link.now, link.port
    return _rate(drive, "Link"), None


@rule(
    WARN,
    "drive-link-slow",
    "a SAS or SATA link is slower than drive and port support",
    "Documentation/ABI/testing/sysfs-ata; the controller's tool",
)
def slow_links(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives whose link runs slower than both the drive and its port support."""
    drives = [drive for drive in snapshot.drives() if drive.interface in ("sata", "sas")]
    links = {drive.target: _link_of(snapshot, drive) for drive in drives}
    for drive in drives:
        now, port = links[drive.target]
        if now is None:
            continue
        same_model = [other for other in drives if other.model is not None and other.model == drive.model]
        model_speeds = [links[other.target][0] or 0.0 for other in same_model]
        able = max(_rate(drive, "Link limit") or 0.0, *model_speeds, now)
        if port is None:
            neighbours = [links[other.target][0] or 0.0 for other in drives if other.controller == drive.controller]
            port = max(neighbours) if drive.controller is not None and max(neighbours) > now else None
        yield from _kernel_limit(snapshot, drive)
        if able <= now or (drive.media is Media.HDD and now >= DISK_RATE):
            continue
        if port is None and now >= DISK_RATE:
            yield UnknownResult(
                where=str(drive.target),
                why=f"the link runs at {now:g} Gb/s and the drive supports {able:g} Gb/s; the speed of the port is"
                " not reported",
            )
        elif port is None or port > now:
            yield Finding(
                where=str(drive.target),
                message=f"The link runs at {now:g} Gb/s, but the drive supports {able:g} Gb/s.",
                evidence=f"link {now:g} Gb/s, drive {able:g} Gb/s, port {f'{port:g} Gb/s' if port else 'not reported'}",
                do="Check the cable, the backplane and the slot, then reinsert the drive.",
            )


def _kernel_limit(snapshot: SystemSnapshot, drive: Drive) -> Iterator[Finding]:
    """Yield a finding if the kernel has limited the link of a drive, unless `slow_links` reports the drive itself."""
    block = snapshot.block_of(drive)
    link = snapshot.links.get(block.name) if block is not None else None
    if link is None or not link.allowed or not link.port or link.allowed >= link.port or link.now != link.allowed:
        return
    if drive.media is Media.HDD or (_rate(drive, "Link limit") or 0.0) <= link.allowed:
        yield Finding(
            where=str(drive.target),
            message=f"The kernel has limited the link to {link.allowed:g} Gb/s; the port supports {link.port:g}"
            " Gb/s. The usual cause is link errors.",
            evidence=f"sata_spd_limit or maximum_linkrate {link.allowed:g} Gb/s, hardware {link.port:g} Gb/s",
            do="Check the cable and the backplane; `dmesg` shows the errors. Ignore this finding if you set the"
            " limit yourself.",
        )


@rule(NOTE, "firmware-mixed", "members of the same model have different firmware", "the controller's tool, or sysfs")
def mixed_firmware(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays with members of the same model that have different firmware."""
    for array in snapshot.inventory.arrays:
        models: dict[str, dict[str, int]] = {}
        for member in snapshot.members(array):
            views = [device for device in (member, *snapshot.views(member)) if isinstance(device, Drive)]
            model = next((drive.model for drive in views if drive.model), None)
            version = _firmware_of(snapshot, member) or next(
                (drive.firmware for drive in views if drive.firmware), None
            )
            if model and version:
                versions = models.setdefault(model, {})
                versions[version] = versions.get(version, 0) + 1
        for model, versions in models.items():
            if len(versions) > 1:
                text = ", ".join(f"{count} x {version}" for version, count in sorted(versions.items()))
                yield Finding(
                    where=str(array.target),
                    message=f"Members of model {model} have different firmware.",
                    evidence=f"firmware {text}",
                    do="Install the same firmware on all members. The vendor's release notes show whether it matters.",
                )


def _firmware_of(snapshot: SystemSnapshot, drive: Drive) -> str | None:
    """Return the firmware version that the kernel reports. For some disks, it is shorter than the tool's version."""
    block = snapshot.block_of(drive)
    files = block.attributes if block is not None else {}
    return files.get("device/rev") or files.get("device/firmware_rev") or None


@rule(
    FAULT,
    "card-memory-errors",
    "the memory of a controller reports uncorrectable errors",
    "the controller's tool, Memory Uncorrectable Errors",
)
def memory_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose memory reports uncorrectable errors."""
    for card in snapshot.inventory.controllers:
        if fact_number(card, "Memory errors"):
            yield Finding(
                where=str(card.target),
                message="The memory of the controller reports uncorrectable errors. Data in its cache may be corrupt.",
                evidence=f"Memory errors: {fact(card, 'Memory errors')}",
                do="Replace the memory module or the controller, then run a consistency check of its arrays.",
            )


@rule(WARN, "card-hot", "a controller is at 100 °C, or its cache module at 85 °C", "the controller's tool, temperature")
def hot_controllers(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers that are too hot."""
    for card in snapshot.inventory.controllers:
        for label, limit in _HEAT.items():
            yield from _too_hot(card, label, limit, "controller" if limit == CONTROLLER_LIMIT else "cache module")


@rule(WARN, "battery-hot", "a battery or capacitor is at 60 °C", "the controller's tool, temperature")
def hot_batteries(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose battery or capacitor is too hot."""
    for card in snapshot.inventory.controllers:
        for label in _BATTERIES:
            yield from _too_hot(card, label, BATTERY_LIMIT, "battery or capacitor")


def _too_hot(card: Controller, label: str, limit: float, part: str) -> Iterator[Finding]:
    match = _CELSIUS.search(fact(card, label) or "")
    if match and float(match[1]) >= limit:
        yield Finding(
            where=str(card.target),
            message=f"The {part} is too hot: {match[1]} °C (limit: {limit:g} °C).",
            evidence=f"{label}: {match[1]} °C",
            do="Check the fans and the airflow over the controller.",
        )


@rule(WARN, "write-throttled", "an ioMemory drive throttles writes", "fio-status, write throttling")
def throttled_writes(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that report that they throttle writes."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Write throttling")) is not None:
            yield Finding(
                where=str(drive.target),
                message=f"The drive throttles writes: {text}.",
                evidence=f"Write throttling: {text}",
                do="Check its temperature, its external power and its remaining spare flash.",
            )


@rule(
    WARN,
    "rebuild-paused",
    "a rebuild is paused or frozen",
    "the array's tool; Documentation/admin-guide/md.rst, sync_action",
)
def paused_rebuilds(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays and controllers whose rebuild is paused or frozen."""
    things: tuple[Controller | Array, ...] = (*snapshot.inventory.controllers, *snapshot.inventory.arrays)
    for device in things:
        for task in device.tasks:
            if task.paused and task.kind not in ("patrol-read", "consistency-check"):
                done = "" if task.progress is None else f" at {units.fraction(task.progress)}"
                yield _paused_finding(
                    str(device.target), f"The {task.kind} is paused{done}", f"task {task.kind}, paused{done}"
                )
    for array in snapshot.inventory.arrays:
        text = fact(array, "Task") or ""
        if text.startswith("frozen") and array.state in (State.DEGRADED, State.REBUILDING):
            yield _paused_finding(str(array.target), "The rebuild is frozen", f"Task: {text}")


def _paused_finding(where: str, message: str, evidence: str) -> Finding:
    return Finding(
        where=where,
        message=f"{message}. Redundancy stays reduced until you resume it.",
        evidence=evidence,
        do="Resume it with the array's tool. For md, write idle to md/sync_action.",
    )
