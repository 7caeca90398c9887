"""Rules about the health of arrays, drives and pools: failures, wear, free space and background tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.core.benchmark.task_names import TASKS
from app.features.check.finding import FAULT, NOTE, WARN, Finding, RuleOutput, rule
from app.features.check.snapshot import SystemSnapshot, fact, fact_limit, fact_number
from backends.health import HealthFault, faults_of, health_at, warmest
from backends.model import (
    BROKEN,
    GONE,
    IO_SUSPENDED,
    UNRECOVERABLE,
    Array,
    Controller,
    Drive,
    Health,
    Level,
    State,
    Target,
)
from backends.raid import PARITY
from widgets.text_utils import units

_SLOW_WHEN_FULL = "writes become slow, and fail at 100 %"
_WHEN_FULL = dict.fromkeys((Level.VDO, Level.VDO_POOL), "at 100 % writes fail, and unwritten data is lost")
"""Consequences of a full pool, by level. For all other levels, see `_SLOW_WHEN_FULL`."""

FULL_PERCENT = 80.0
"""A pool is reported if at least this percentage of it is in use.

Above it, ZFS allocates space in a slower way, and thin pools should be extended.
"""

COPYBACK = "copyback"
"""Kind of task with which a controller copies one drive to another."""

_RAIDZ = (Level.RAIDZ1, Level.RAIDZ2, Level.RAIDZ3, Level.DRAID1, Level.DRAID2, Level.DRAID3)
_REDUNDANT = "Redundancy is reduced. Another failure may lose the array."
_REPLACE = "Replace the failed drive, or wait for the rebuild."
_TOOL = "Find the cause with the array's tool, and fix it."
_LVM_TOOL = (
    "Find the cause with `lvs -a -o +lv_health_status` and `dmesg`. lvmraid(7) and lvmthin(7) describe the repair."
)
_COST: Mapping[Level, tuple[str, str]] = {
    **dict.fromkeys(
        (*PARITY, *_RAIDZ), (f"Reads of the missing member are calculated from parity. {_REDUNDANT}", _REPLACE)
    ),
    **dict.fromkeys((Level.RAID1, Level.RAID10), (f"Some data has fewer copies. {_REDUNDANT}", _REPLACE)),
    Level.REPLICATED: (
        "Some copies on the hosts are outdated or disconnected. A failure of this host may lose the newest writes.",
        "Reconnect the other host and wait for the resync. `drbdadm status` shows the missing part.",
    ),
    Level.MULTIPATH: (
        "The disk has lost paths. When the last path fails, all I/O stops.",
        "Check cable, port and controller of the failed path (`multipath -ll`).",
    ),
    Level.THIN_POOL: ("Writes to its logical volumes may stop or fail.", _LVM_TOOL),
    **dict.fromkeys((Level.THIN, Level.VDO_POOL, Level.VDO), ("Writes may stop or fail.", _LVM_TOOL)),
    Level.SNAPSHOT: ("", "Extend it with lvextend(8), or delete it."),
    Level.CACHED: ("Data that is only in the cache may be lost.", _LVM_TOOL),
}
"""Consequence and fix, by level, for an array that is degraded but still serves data."""


@rule(FAULT, "array-degraded", "an array is degraded or failed", "the array's tool")
def array_state(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays that are degraded or failed."""
    for array in snapshot.inventory.arrays:
        if array.state in BROKEN:
            is_gone = array.state in GONE
            why = f": {array.why}" if array.why else ""
            cost, fix = ("", _TOOL) if IO_SUSPENDED in array.why else _COST.get(array.level, ("", _TOOL))
            cost, fix = ("", _TOOL if fix == _REPLACE else fix) if is_gone else (cost, fix)
            yield Finding(
                where=str(array.target),
                message=f"The array is {array.state.value}{why}. {cost}".rstrip(),
                evidence=f"state {array.state.value}",
                do=fix,
            )


@rule(FAULT, "drive-failed", "a drive is failed, offline or missing", "its controller's tool, or sysfs")
def drive_state(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that are failed, offline or missing."""
    for drive in snapshot.drives():
        if drive.state in GONE:
            yield Finding(
                where=str(drive.target),
                message=f"The drive is {drive.state.value}.",
                evidence=f"state {drive.state.value}",
                do="Replace the drive, or reinsert it.",
            )


@rule(
    WARN,
    "drive-unusable",
    "a drive has a sector size that the kernel does not support",
    "drivers/scsi/sd.c, sd_read_capacity; sg_format(8)",
)
def unusable_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that the kernel cannot use because of their sector size."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Unusable")) is not None:
            yield Finding(
                where=str(drive.target),
                message="The drive responds, but the kernel cannot use it.",
                evidence=f"Unusable: {text}",
                do="Format the drive with sectors of 512 or 4096 bytes: sg_format(8). This destroys its data.",
            )


@rule(NOTE, "wwn-shared", "two drives report the same WWN", "udev, 60-persistent-storage.rules (links by-id/wwn-)")
def shared_wwns(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that report the same WWN as another drive, but another serial number."""
    first: dict[str, Drive] = {}
    for device in snapshot.drives():
        if device.identity is None or device.wwn is None or device.device is None:
            continue
        other = first.setdefault(device.wwn, device)
        if other.identity is not None and other.identity.has_other_serial(device.identity):
            yield Finding(
                where=str(device.target),
                message=f"The drive reports the same WWN as {other.target}, but another serial number. A link by WWN"
                " may point to either drive.",
                evidence=f"WWN {device.wwn}, serial numbers {other.serial} and {device.serial}",
                do="Address both drives by serial number, such as /dev/disk/by-id/ata-...",
            )


def _drives_with_health(snapshot: SystemSnapshot) -> Iterator[tuple[Drive, Health]]:
    """Yield each drive once, with its health combined from the controller's and the kernel's reports."""
    nodes: set[str] = set()
    for drive in snapshot.drives():
        if drive.device in nodes:
            continue
        nodes |= set() if drive.device is None else {drive.device}
        yield drive, health_at(snapshot.inventory, drive)


def _with_fault(snapshot: SystemSnapshot, fault: HealthFault) -> Iterator[tuple[Drive, Health]]:
    """Yield the drives that have the fault `fault`, with their health."""
    return ((drive, health) for drive, health in _drives_with_health(snapshot) if fault in faults_of(drive, health))


def _has_warning(drive: Drive, cause: str) -> bool:
    """Return whether `critical_warnings` already reports this cause for the drive."""
    return cause in (fact(drive, "Warning") or "")


@rule(
    FAULT,
    "drive-failing",
    "a drive or its controller predicts the drive's failure",
    "ATA and SCSI, SMART status; the controller's tool",
)
def failing_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives whose failure is predicted by the drive or its controller."""
    for drive, health in _with_fault(snapshot, HealthFault.PREDICTS_FAILURE):
        if drive.state in GONE or fact(drive, "Warning") is not None:
            continue  # skip failed drives, and drives that `critical_warnings` reports with the cause
        lines = [f"predicted failures: {health.predictive_errors}"] if health.predictive_errors else []
        yield Finding(
            where=str(drive.target),
            message="The drive or its controller predicts a failure soon.",
            evidence=", ".join((["predicts failure"] if health.predicts_failure else []) + lines),
            do="Back up data that exists only on this drive, then replace the drive.",
        )


@rule(WARN, "drive-locked", "a drive is encrypted and locked", "TCG Storage, locked drives; the controller's tool")
def locked_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that are encrypted and locked."""
    for drive, _ in _with_fault(snapshot, HealthFault.LOCKED):
        yield Finding(
            where=str(drive.target),
            message="The drive is encrypted and locked. It cannot be read or written.",
            evidence="locked",
            do="Unlock the drive with its key in the controller's tool.",
        )


@rule(WARN, "drive-foreign", "a drive has a foreign configuration", "the controller's tool")
def foreign_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives with the configuration of another controller."""
    for drive, _ in _with_fault(snapshot, HealthFault.FOREIGN):
        yield Finding(
            where=str(drive.target),
            message="The drive has a foreign configuration (of another controller). It is neither a member nor a"
            " spare here.",
            evidence="state foreign" if drive.state is State.FOREIGN else "foreign configuration",
            do="Import or clear the foreign configuration with the controller's tool.",
        )


@rule(
    WARN,
    "drive-errors",
    "a drive reports media errors",
    "the controller's counters; NVMe, Media and Data Integrity Errors",
)
def media_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that report media errors."""
    for drive, health in _with_fault(snapshot, HealthFault.MEDIA_ERRORS):
        yield Finding(
            where=str(drive.target),
            message="The drive reports media errors. Some blocks needed retries or were lost.",
            evidence=f"media errors: {health.media_errors}",
            do="Back up data that exists only on this drive, then replace the drive.",
        )


@rule(
    WARN,
    "drive-other-errors",
    "a drive reports 100 or more errors other than media errors",
    "the controller's counters; small counts are usual after hot-plugs and resets",
)
def other_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives with many errors that are not media errors."""
    for drive, health in _with_fault(snapshot, HealthFault.OTHER_ERRORS):
        yield Finding(
            where=str(drive.target),
            message=f"The drive reports {health.other_errors} errors other than media errors. Commands were aborted"
            " or retried.",
            evidence=f"other errors: {health.other_errors}",
            do="If the count grows, check cable, slot and firmware.",
        )


@rule(
    NOTE,
    "drive-copyback",
    "a controller copies a drive to or from another",
    "Broadcom, MegaRAID SAS software user guide, copyback",
)
def copybacks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that a controller copies to or from another drive."""
    things: tuple[Controller | Array, ...] = (*snapshot.inventory.controllers, *snapshot.inventory.arrays)
    targets = {device.target for device in things for task in device.tasks if task.kind == COPYBACK}
    for drive, health in _drives_with_health(snapshot):
        if health.copyback and targets.isdisjoint((drive.array, drive.controller)):
            yield Finding(
                where=str(drive.target),
                message="A copyback to or from another drive is running. It uses drive bandwidth.",
                evidence="copyback",
                do="Wait until it ends.",
            )


@rule(
    FAULT,
    "array-blocks-lost",
    "an array has blocks that its controller could not restore",
    "the controller's tool, unrecoverable media errors",
)
def lost_blocks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays with blocks that their controller could not restore."""
    for array in snapshot.inventory.arrays:
        text = fact(array, UNRECOVERABLE)
        if text is not None and text.lower() not in ("none", "none detected", "no", "0"):
            yield Finding(
                where=str(array.target),
                message="The array has blocks that its controller could not restore. Reads of these blocks fail.",
                evidence=f"{UNRECOVERABLE}: {text}",
                do="Replace the drives with media errors, and restore the affected files from a backup.",
            )


@rule(
    FAULT,
    "drive-warns",
    "an NVMe drive reports a critical warning",
    "NVMe base specification, SMART / Health Information",
)
def critical_warnings(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe drives that report a critical warning."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Warning")) is not None:
            yield Finding(
                where=str(drive.target),
                message=f"The drive reports a critical warning: {text}.",
                evidence=f"Critical Warning: {text}",
                do="If the warning is about temperature, improve cooling. Otherwise replace the drive.",
            )


@rule(
    WARN,
    "drive-worn",
    "80 % of a drive's endurance is used, or its spare blocks are at the threshold",
    "NVMe, Percentage Used and Available Spare",
)
def worn_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield flash drives that have used most of their rated endurance or of their spare blocks."""
    targets: set[Target] = set()
    for drive, health in _with_fault(snapshot, HealthFault.WORN):
        targets.add(drive.target)
        yield Finding(
            where=str(drive.target),
            message=f"The drive has used {health.wear_percent:g} % of its rated endurance.",
            evidence=f"endurance used: {health.wear_percent:g} %",
            do="Plan to replace the drive.",
        )
    for drive in snapshot.drives():
        spare, limit = fact_number(drive, "Spare"), fact_limit(drive, "Spare")
        if drive.target in targets or spare is None or limit is None:
            continue
        if spare <= limit and not _has_warning(drive, "spare"):
            yield Finding(
                where=str(drive.target),
                message=f"The drive has {spare:g} % of its spare blocks left (threshold: {limit:g} %).",
                evidence=f"Spare: {fact(drive, 'Spare')}",
                do="Plan to replace the drive.",
            )


@rule(
    WARN,
    "drive-hot",
    "a drive is at its temperature limit; without a reported limit: HDD 60 °C, SSD 70 °C",
    "NVMe, Warning Composite Temperature Threshold; operating temperatures in data sheets",
)
def hot_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives at their temperature limit, or at the usual limit of such drives if they report none."""
    for drive, health in _with_fault(snapshot, HealthFault.HOT):
        if _has_warning(drive, "temperature"):
            continue
        limit = warmest(drive, health)
        its_own = limit == health.temperature_limit
        yield Finding(
            where=str(drive.target),
            message=f"The drive is at {health.temperature:g} °C. "
            + (
                f"It throttles from {limit:g} °C on."
                if its_own
                else f"It reports no limit; such drives are usually rated up to {limit:g} °C."
            ),
            evidence=f"temperature: {health.temperature:g} °C" + (f" (warns at {limit:g} °C)" if its_own else ""),
            do="Check the cooling of the drive.",
        )


@rule(
    NOTE,
    "drive-throttled",
    "a drive has throttled because of its temperature",
    "NVMe, Thermal Management Temperature transition counts",
)
def throttled_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that report that they have slowed down because of their temperature."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Throttled")) is not None:
            yield Finding(
                where=str(drive.target),
                message=f"The drive has throttled because of its temperature: {text}.",
                evidence=f"Throttled: {text}",
                do="If the count grows, check the cooling of the drive.",
            )


@rule(NOTE, "background-task", "a rebuild, check or patrol read is running", "the array's tool; docs/advice.md")
def background_tasks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield background tasks that are running and use drive bandwidth."""
    things: tuple[Controller | Array, ...] = (*snapshot.inventory.controllers, *snapshot.inventory.arrays)
    for device in things:
        for task in device.tasks:
            if task.paused:
                continue  # `link_rules.paused_rebuilds` reports paused rebuilds; other paused tasks cost nothing
            done = f" ({units.fraction(task.progress)} done)" if task.progress is not None else ""
            name = TASKS.get(task.kind, task.kind)
            yield Finding(
                where=str(device.target),
                message=f"{name[0].upper()}{name[1:]} is running{done}. It uses drive bandwidth.",
                evidence=f"task {task.kind}{done}",
                do="Wait until it ends, or change its rate.",
            )


@rule(WARN, "pool-filling", "a pool is 80 % full", "zpool-list(8); lvmthin(7); lvmvdo(7)")
def full_pools(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield pools that are full to at least `FULL_PERCENT`."""
    for array in snapshot.inventory.arrays:
        for label in ("Full", "Used, data", "Used, metadata"):
            share = fact_number(array, label)
            if share is not None and share >= FULL_PERCENT:
                yield Finding(
                    where=str(array.target),
                    message=f"The pool is {share:g} % full: {_WHEN_FULL.get(array.level, _SLOW_WHEN_FULL)}.",
                    evidence=f"{label}: {fact(array, label)}",
                    do="Free space, or add a disk.",
                )


@rule(
    WARN,
    "array-mismatches",
    "copies or parity of an array do not match",
    "Documentation/admin-guide/md.rst, mismatch_cnt",
)
def mismatches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays whose copies or parity do not match."""
    for array in snapshot.inventory.arrays:
        if (text := fact(array, "Mismatches")) is not None:
            yield Finding(
                where=str(array.target),
                message=f"Copies or parity do not match: {text}.",
                evidence=f"Mismatches: {text}",
                do="Check the health of the drives and repeat the check. If mismatches remain, write repair to"
                " md/sync_action.",
            )
