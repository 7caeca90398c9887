"""Arrays, drives and pools: what has failed, wears out, fills up or is at work."""

from __future__ import annotations

from app.engine.advisor.condition_rules import TASKS
from app.engine.check.finding import Flaw, Said
from app.engine.check.sight import Sight, fact, fact_limit, fact_number
from backends.model import BROKEN, GONE, Array, Controller, Drive, Level, State

WORN = 80.0
"""Percent of the rated endurance from which a drive is worth a word."""

_SLOW = "writes become slow, and at 100 % they fail"
_AT_THE_END = dict.fromkeys(
    (Level.VDO, Level.VDO_POOL), "at 100 % it takes no more writes, and what was being written is lost"
)
"""What becomes of a pool, by its kind where that is not the usual."""

FULL = 80.0
"""Percent of a pool from which writes become slow: ZFS changes how it allocates, thin pools must be extended."""


def array_state(sight: Sight) -> Said:
    """Arrays that are not whole."""
    for array in sight.inventory.arrays:
        if array.state in BROKEN:
            gone = array.state in GONE
            why = f": {array.why}" if array.why else ""
            yield Flaw(
                where=str(array.target),
                message=f"The array is {array.state.value}{why}."
                + ("" if gone else " What is missing is computed, and one more failure may lose it."),
                evidence=f"state {array.state.value}",
                do="Bring it back into order." if gone else "Replace the drive, or let the rebuild end.",
            )


def drive_state(sight: Sight) -> Said:
    """Drives that are gone."""
    for drive in sight.inventory.drives:
        if drive.state in GONE and drive.target not in sight.inventory.twins:
            yield Flaw(
                where=str(drive.target),
                message=f"The drive is {drive.state.value}.",
                evidence=f"state {drive.state.value}",
                do="Replace it, or plug it in again.",
            )


def unusable(sight: Sight) -> Said:
    """Drives of which the kernel cannot use a single block."""
    for drive in sight.inventory.drives:
        if (told := fact(drive, "Unusable")) is not None and drive.target not in sight.inventory.twins:
            yield Flaw(
                where=str(drive.target),
                message="The drive answers, but the kernel cannot use it.",
                evidence=f"Unusable: {told}",
                do="Format it with sectors of 512 or 4096 bytes, which destroys what is on it: sg_format(8).",
            )


def shared_wwn(sight: Sight) -> Said:
    """Disks that report the WWN of another disk."""
    first: dict[str, Drive] = {}
    for thing in sight.things():
        if not isinstance(thing, Drive) or thing.identity is None or thing.wwn is None or thing.device is None:
            continue
        other = first.setdefault(thing.wwn, thing)
        if other.identity is not None and other.identity.has_other_serial(thing.identity):
            yield Flaw(
                where=str(thing.target),
                message=f"The drive reports the WWN of {other.target}, and another serial number: links by WWN lead to"
                " either.",
                evidence=f"WWN {thing.wwn}, serial numbers {other.serial} and {thing.serial}",
                do="Name both by their serial numbers, such as /dev/disk/by-id/ata-...",
            )


def foreign(sight: Sight) -> Said:
    """Drives with the configuration of another card."""
    for drive in sight.inventory.drives:
        if drive.state is State.FOREIGN:
            yield Flaw(
                where=str(drive.target),
                message="The drive has the configuration of another card: it is no spare, and nothing is stored on it.",
                evidence="state foreign",
                do="Import or clear the foreign configuration in the card's tool.",
            )


def errors(sight: Sight) -> Said:
    """Drives that lost data or say that they will fail."""
    for drive in sight.inventory.drives:
        if drive.target in sight.inventory.twins:
            continue
        told = fact(drive, "Errors") or ""
        media = fact_number(drive, "Media errors")
        if media or "media" in told or "predict" in told.lower():
            label = "Media errors" if media else "Errors"
            yield Flaw(
                where=str(drive.target),
                message="The drive has met errors of its media: reads are repeated, and some may not succeed.",
                evidence=f"{label}: {fact(drive, label)}",
                do="Copy what is only there, and replace it.",
            )


def warns(sight: Sight) -> Said:
    """NVMe drives that raise their critical warning."""
    for drive in sight.inventory.drives:
        if (told := fact(drive, "Warning")) is not None and drive.target not in sight.inventory.twins:
            yield Flaw(
                where=str(drive.target),
                message=f"The drive warns: {told}.",
                evidence=f"Critical Warning: {told}",
                do="Replace it, or cool it where it is about the temperature.",
            )


def worn(sight: Sight) -> Said:
    """Flash near the end of its rated endurance, or of its spare blocks."""
    for drive in sight.inventory.drives:
        if drive.target in sight.inventory.twins:
            continue
        used, spare, limit = (
            fact_number(drive, "Endurance used"),
            fact_number(drive, "Spare"),
            fact_limit(drive, "Spare"),
        )
        if used is not None and used >= WORN:
            said, label = f"{used:g} % of the rated endurance is used", "Endurance used"
        elif spare is not None and limit is not None and spare <= limit:
            said, label = f"{spare:g} % of the spare blocks are left, and the drive warns from {limit:g} % on", "Spare"
        else:
            continue
        yield Flaw(
            where=str(drive.target),
            message=f"{said[0].upper()}{said[1:]}.",
            evidence=f"{label}: {fact(drive, label)}",
            do="Plan its replacement.",
        )


def hot(sight: Sight) -> Said:
    """Drives as warm as their own limit."""
    for drive in sight.inventory.drives:
        now, limit = fact_number(drive, "Temperature"), fact_limit(drive, "Temperature")
        told = fact(drive, "Temperature") or ""
        if now is None or limit is None or now < limit or "at most" in told:
            continue  # "at most" is the warmest that it has been
        if drive.target not in sight.inventory.twins:
            yield Flaw(
                where=str(drive.target),
                message=f"The drive has {now:g} °C and warns at {limit:g} °C: it slows down to cool.",
                evidence=f"Temperature: {told}",
                do="See to its cooling.",
            )


def throttled(sight: Sight) -> Said:
    """Drives that have slowed down for their temperature since they were made."""
    for drive in sight.inventory.drives:
        if (told := fact(drive, "Throttled")) is not None and drive.target not in sight.inventory.twins:
            yield Flaw(
                where=str(drive.target),
                message=f"The drive has slowed down for its temperature: {told}.",
                evidence=f"Throttled: {told}",
                do="See to its cooling if the count grows.",
            )


def tasks(sight: Sight) -> Said:
    """Background work that shares the drives."""
    things: tuple[Controller | Array, ...] = (*sight.inventory.controllers, *sight.inventory.arrays)
    for thing in things:
        for task in thing.tasks:
            if task.paused:
                continue  # link_rules.paused reports a rebuild that is interrupted; a check that waits costs nothing
            done = f" ({task.progress:.0%} done)" if task.progress is not None else ""
            name = TASKS.get(task.kind, task.kind)
            yield Flaw(
                where=str(thing.target),
                message=f"{name[0].upper()}{name[1:]} is under way{done}: the drives serve it as well.",
                evidence=f"task {task.kind}{done}",
                do="Wait for its end, or change its rate.",
            )


def filling(sight: Sight) -> Said:
    """Pools that are nearly full."""
    for array in sight.inventory.arrays:
        for label in ("Full", "Used, data", "Used, metadata"):
            share = fact_number(array, label)
            if share is not None and share >= FULL:
                yield Flaw(
                    where=str(array.target),
                    message=f"It is {share:g} % full: {_AT_THE_END.get(array.level, _SLOW)}.",
                    evidence=f"{label}: {fact(array, label)}",
                    do="Make room, or add a disk.",
                )


def mismatches(sight: Sight) -> Said:
    """Arrays whose copies or parity do not agree."""
    for array in sight.inventory.arrays:
        if (told := fact(array, "Mismatches")) is not None:
            yield Flaw(
                where=str(array.target),
                message=f"Copies or parity do not agree: {told}.",
                evidence=f"Mismatches: {told}",
                do="Run a check again; what stays is repaired with sync_action repair, after a look at the drives.",
            )
