"""Rules about the health of arrays, drives and pools: failures, wear, free space and background tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.core.benchmark.conditions.facts import TASKS
from app.features.check.finding import FAULT, NOTE, WARN, Finding, RuleOutput, rule
from app.features.check.snapshot import SystemSnapshot, fact, fact_limit, fact_number
from backends.health import HealthFault, faults_of, health_at, warmest
from backends.model import BROKEN, GONE, UNRECOVERABLE, Array, Controller, Drive, Health, Level, State, Target
from backends.raid import PARITY

_SLOW_WHEN_FULL = "writes become slow, and at 100 % they fail"
_WHEN_FULL = dict.fromkeys(
    (Level.VDO, Level.VDO_POOL), "at 100 % it takes no more writes, and what was being written is lost"
)
"""What happens when a pool is full, by its level; `_SLOW_WHEN_FULL` for any other."""

FULL_PERCENT = 80.0
"""Percent of a pool above which writes become slow: ZFS changes how it allocates, and thin pools must be extended."""

COPYBACK = "copyback"
"""Kind of the task of a controller or array that copies one drive to another."""

_RAIDZ = (Level.RAIDZ1, Level.RAIDZ2, Level.RAIDZ3, Level.DRAID1, Level.DRAID2, Level.DRAID3)
_REDUNDANT = "The array has less redundancy than its level promises: another failure may lose it."
_REPLACE = "Replace the failed drive, or let the rebuild end."
_TOOL = "Ask the tool of the array for the cause, and fix that."
_LVM_TOOL = "Fix the cause: lvs -a -o +lv_health_status and dmesg show it, lvmraid(7) and lvmthin(7) the repair."
_COST: Mapping[Level, tuple[str, str]] = {
    **dict.fromkeys((*PARITY, *_RAIDZ), (f"Missing data are computed from parity. {_REDUNDANT}", _REPLACE)),
    **dict.fromkeys((Level.RAID1, Level.RAID10), (f"Some data have fewer copies. {_REDUNDANT}", _REPLACE)),
    Level.REPLICATED: (
        "The copies on the hosts are not all up to date and connected: a failure here may lose the newest writes.",
        "Connect the other host, and let it resynchronise: drbdadm status shows what is missing.",
    ),
    Level.MULTIPATH: (
        "Fewer paths lead to the disk than before, and the last one that fails stops all I/O.",
        "Check the cable, port and controller of the failed path: multipath -ll shows it.",
    ),
    Level.THIN_POOL: ("Writes to its volumes may stop or fail.", _LVM_TOOL),
    **dict.fromkeys((Level.THIN, Level.VDO_POOL, Level.VDO), ("Writes to it may stop or fail.", _LVM_TOOL)),
    Level.SNAPSHOT: ("", "Extend it with lvextend(8), or delete it."),
    Level.CACHED: ("What the cache has not yet written to the disk may be lost.", _LVM_TOOL),
}
"""Cost of a broken array that still serves data, and its fix, by level."""

_SUSPENDED = "suspended"
"""Part of the reason if the device-mapper device of an array is suspended: then no member is missing."""


@rule(FAULT, "array-degraded", "an array is not whole", "the tool of the array")
def array_state(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays that are not complete."""
    for array in snapshot.inventory.arrays:
        if array.state in BROKEN:
            is_gone = array.state in GONE
            why = f": {array.why}" if array.why else ""
            cost, fix = ("", _TOOL) if _SUSPENDED in array.why else _COST.get(array.level, ("", _TOOL))
            cost, fix = ("", _TOOL if fix == _REPLACE else fix) if is_gone else (cost, fix)
            yield Finding(
                where=str(array.target),
                message=f"The array is {array.state.value}{why}. {cost}".rstrip(),
                evidence=f"state {array.state.value}",
                do=fix,
            )


@rule(FAULT, "drive-failed", "a drive is failed, offline or missing", "its card's tool, or sysfs")
def drive_state(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that are failed, offline or missing."""
    for drive in snapshot.drives():
        if drive.state in GONE:
            yield Finding(
                where=str(drive.target),
                message=f"The drive is {drive.state.value}.",
                evidence=f"state {drive.state.value}",
                do="Replace it, or plug it in again.",
            )


@rule(
    WARN,
    "drive-unusable",
    "a drive has sectors that the kernel does not take",
    "drivers/scsi/sd.c, sd_read_capacity; sg_format(8)",
)
def unusable_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives of which the kernel cannot use any block."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Unusable")) is not None:
            yield Finding(
                where=str(drive.target),
                message="The drive answers, but the kernel cannot use it.",
                evidence=f"Unusable: {text}",
                do="Format it with sectors of 512 or 4096 bytes, which destroys what is on it: sg_format(8).",
            )


@rule(NOTE, "wwn-shared", "two drives report one WWN", "udev, 60-persistent-storage.rules (links by-id/wwn-)")
def shared_wwns(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that report the WWN of another drive."""
    first: dict[str, Drive] = {}
    for device in snapshot.drives():
        if device.identity is None or device.wwn is None or device.device is None:
            continue
        other = first.setdefault(device.wwn, device)
        if other.identity is not None and other.identity.has_other_serial(device.identity):
            yield Finding(
                where=str(device.target),
                message=f"The drive reports the WWN of {other.target}, and another serial number: links by WWN lead to"
                " either.",
                evidence=f"WWN {device.wwn}, serial numbers {other.serial} and {device.serial}",
                do="Name both by their serial numbers, such as /dev/disk/by-id/ata-...",
            )


def _drives_with_health(snapshot: SystemSnapshot) -> Iterator[tuple[Drive, Health]]:
    """Yield each drive once, with the combined health of all its views."""
    nodes: set[str] = set()
    for drive in snapshot.drives():
        if drive.device in nodes:
            continue
        nodes |= set() if drive.device is None else {drive.device}
        yield drive, health_at(snapshot.inventory, drive)


def _with_fault(snapshot: SystemSnapshot, fault: HealthFault) -> Iterator[tuple[Drive, Health]]:
    """Yield the drives that have this fault, with their health."""
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
            continue  # the drive has already failed, or `critical_warnings` reports it with the cause
        lines = [f"predicted failures: {health.predictive_errors}"] if health.predictive_errors else []
        yield Finding(
            where=str(drive.target),
            message="The drive will fail soon: the drive itself or its controller predicts it.",
            evidence=", ".join((["predicts failure"] if health.predicts_failure else []) + lines),
            do="Replace it, and copy first what is stored nowhere else.",
        )


@rule(WARN, "drive-locked", "a drive is encrypted and locked", "TCG Storage, locked drives; the controller's tool")
def locked_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that are encrypted and locked."""
    for drive, _ in _with_fault(snapshot, HealthFault.LOCKED):
        yield Finding(
            where=str(drive.target),
            message="The drive is encrypted and locked: nothing on it can be read or written.",
            evidence="locked",
            do="Unlock it with its key in the tool of the controller.",
        )


@rule(WARN, "drive-foreign", "a drive has the configuration of another card", "the card's tool")
def foreign_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives with the configuration of another controller."""
    for drive, _ in _with_fault(snapshot, HealthFault.FOREIGN):
        yield Finding(
            where=str(drive.target),
            message="The drive has the configuration of another card: it is no spare, and nothing is stored on it.",
            evidence="state foreign" if drive.state is State.FOREIGN else "foreign configuration",
            do="Import or clear the foreign configuration in the card's tool.",
        )


@rule(
    WARN, "drive-errors", "a drive has had media errors", "the card's counters; NVMe, Media and Data Integrity Errors"
)
def media_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives with failed reads or writes of the medium."""
    for drive, health in _with_fault(snapshot, HealthFault.MEDIA_ERRORS):
        yield Finding(
            where=str(drive.target),
            message="The drive has had media errors: some blocks were read only after retries, or were lost.",
            evidence=f"media errors: {health.media_errors}",
            do="Copy what is stored only there, and replace the drive.",
        )


@rule(
    WARN,
    "drive-other-errors",
    "a drive has had 100 errors that are not of its medium",
    "the controller's counters; small counts are usual after hot-plugs and resets",
)
def other_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives with many errors that are not media errors."""
    for drive, health in _with_fault(snapshot, HealthFault.OTHER_ERRORS):
        yield Finding(
            where=str(drive.target),
            message=f"The drive has had {health.other_errors} errors that are not of its medium: commands were aborted"
            " or repeated.",
            evidence=f"other errors: {health.other_errors}",
            do="Check cable, slot and firmware if the count grows.",
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
                message="The controller copies the drive to or from another drive: the drives serve the copy as well.",
                evidence="copyback",
                do="Wait for its end.",
            )


@rule(
    FAULT,
    "array-blocks-lost",
    "a controller could not restore blocks of an array",
    "the controller's tool, unrecoverable media errors",
)
def lost_blocks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays with blocks that their controller could not restore."""
    for array in snapshot.inventory.arrays:
        text = fact(array, UNRECOVERABLE)
        if text is not None and text.lower() not in ("none", "none detected", "no", "0"):
            yield Finding(
                where=str(array.target),
                message="The array has blocks that its controller could not restore: reads of them fail.",
                evidence=f"{UNRECOVERABLE}: {text}",
                do="Restore the files on these blocks from a backup, and replace the drives with media errors.",
            )


@rule(
    FAULT,
    "drive-warns",
    "an NVMe drive raises its critical warning",
    "NVMe base specification, SMART / Health Information",
)
def critical_warnings(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe drives that raise their critical warning."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Warning")) is not None:
            yield Finding(
                where=str(drive.target),
                message=f"The drive warns: {text}.",
                evidence=f"Critical Warning: {text}",
                do="Replace it, or cool it where it is about the temperature.",
            )


@rule(
    WARN,
    "drive-worn",
    "80 % of a drive's endurance is used, or its spare is at its threshold",
    "NVMe, Percentage Used and Available Spare",
)
def worn_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield flash drives near the end of their rated endurance or of their spare blocks."""
    targets: set[Target] = set()
    for drive, health in _with_fault(snapshot, HealthFault.WORN):
        targets.add(drive.target)
        yield Finding(
            where=str(drive.target),
            message=f"{health.wear_percent:g} % of the rated endurance is used.",
            evidence=f"endurance used: {health.wear_percent:g} %",
            do="Plan its replacement.",
        )
    for drive in snapshot.drives():
        spare, limit = fact_number(drive, "Spare"), fact_limit(drive, "Spare")
        if drive.target in targets or spare is None or limit is None:
            continue
        if spare <= limit and not _has_warning(drive, "spare"):
            yield Finding(
                where=str(drive.target),
                message=f"{spare:g} % of the spare blocks are left, and the drive warns from {limit:g} % on.",
                evidence=f"Spare: {fact(drive, 'Spare')}",
                do="Plan its replacement.",
            )


@rule(
    WARN,
    "drive-hot",
    "a drive is as warm as its own limit; without one: HDD 60 °C, SSD 70 °C",
    "NVMe, Warning Composite Temperature Threshold; operating temperatures in data sheets",
)
def hot_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives at their own temperature limit, or at the usual limit if they report none."""
    for drive, health in _with_fault(snapshot, HealthFault.HOT):
        if _has_warning(drive, "temperature"):
            continue
        limit = warmest(drive, health)
        its_own = limit == health.temperature_limit
        yield Finding(
            where=str(drive.target),
            message=f"The drive has {health.temperature:g} °C and "
            + (
                f"warns at {limit:g} °C: it slows down to cool."
                if its_own
                else f"reports no limit: drives of its kind are made for less than {limit:g} °C."
            ),
            evidence=f"temperature: {health.temperature:g} °C" + (f" (warns at {limit:g} °C)" if its_own else ""),
            do="Check its cooling.",
        )


@rule(
    NOTE,
    "drive-throttled",
    "a drive has slowed down for its temperature",
    "NVMe, Thermal Management Temperature transition counts",
)
def throttled_drives(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that have ever slowed down because of their temperature."""
    for drive in snapshot.drives():
        if (text := fact(drive, "Throttled")) is not None:
            yield Finding(
                where=str(drive.target),
                message=f"The drive has slowed down for its temperature: {text}.",
                evidence=f"Throttled: {text}",
                do="See to its cooling if the count grows.",
            )


@rule(NOTE, "background-task", "a rebuild, check or patrol read is under way", "the tool of the array; docs/advice.md")
def background_tasks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield background tasks that share the drives."""
    things: tuple[Controller | Array, ...] = (*snapshot.inventory.controllers, *snapshot.inventory.arrays)
    for device in things:
        for task in device.tasks:
            if task.paused:
                continue  # link_rules.paused_rebuilds reports a paused rebuild; a paused check costs nothing
            done = f" ({task.progress:.0%} done)" if task.progress is not None else ""
            name = TASKS.get(task.kind, task.kind)
            yield Finding(
                where=str(device.target),
                message=f"{name[0].upper()}{name[1:]} is under way{done}: the drives serve it as well.",
                evidence=f"task {task.kind}{done}",
                do="Wait for its end, or change its rate.",
            )


@rule(WARN, "pool-filling", "a pool is 80 % full", "zpool-list(8); lvmthin(7); lvmvdo(7)")
def full_pools(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield pools that are nearly full."""
    for array in snapshot.inventory.arrays:
        for label in ("Full", "Used, data", "Used, metadata"):
            share = fact_number(array, label)
            if share is not None and share >= FULL_PERCENT:
                yield Finding(
                    where=str(array.target),
                    message=f"It is {share:g} % full: {_WHEN_FULL.get(array.level, _SLOW_WHEN_FULL)}.",
                    evidence=f"{label}: {fact(array, label)}",
                    do="Make room, or add a disk.",
                )


@rule(
    WARN,
    "array-mismatches",
    "copies or parity of an array do not agree",
    "Documentation/admin-guide/md.rst, mismatch_cnt",
)
def mismatches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays whose copies or parity do not agree."""
    for array in snapshot.inventory.arrays:
        if (text := fact(array, "Mismatches")) is not None:
            yield Finding(
                where=str(array.target),
                message=f"Copies or parity do not agree: {text}.",
                evidence=f"Mismatches: {text}",
                do="Run a check again; what stays is repaired with sync_action repair, after a look at the drives.",
            )
