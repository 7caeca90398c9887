"""The statements that would make a logical drive of unassigned drives: shown, and never run from here. Pure.

Words by IBM's `Command Line Interface and Script Commands Programming Guide` for the DS3000, DS4000 and DS5000 (create
logicalDrive, manual drive select), NetApp's for E-Series (create volumeGroup, create volume) and Dell's for MD arrays
(create virtualDisk). What a disk system answers to them is not known here.
"""

from __future__ import annotations

from backends.change import Write
from backends.errors import InvalidValueError
from backends.making import ArrayPlan, ArrayWish, Candidate, capacity, require_alike, require_shape
from backends.model import Drive, Level, State
from backends.vendors.smcli.facts import SystemProfile
from backends.vendors.smcli.statements import asked
from backends.vendors.smcli.words import DELL, IBM, Nouns

LEVELS = {Level.RAID0: "0", Level.RAID1: "1", Level.RAID10: "1", Level.RAID5: "5", Level.RAID6: "6"}
"""What a disk system calls them: RAID 1 over more than two drives is striped."""

SEGMENTS = tuple(8 << 10 << step for step in range(7))
"""Bytes of a segment that the statements take, 8 to 512 KiB."""

INITIALISES = 30e6
"""Bytes a second on each drive that a disk system spares for initialising, about; for the estimate alone."""

BY_HAND = (
    "A disk system takes hours to make and initialise a logical drive, so raidbench shows the statements and runs none "
    "of them: run them by hand, and look again."
)

_WHY_NOT = {
    State.ONLINE: "an array has it",
    State.SPARE: "it is a hot spare",
}


def candidates(drives: tuple[Drive, ...], cut: str) -> tuple[Candidate, ...]:
    """The drives of a disk system, with what it says against each. `cut`: why its profile is not whole."""
    serials = [drive.serial for drive in drives]
    return tuple(_candidate(drive, serials.count(drive.serial) > 1, cut) for drive in drives)


def _candidate(drive: Drive, twice: bool, cut: str) -> Candidate:
    reasons = [cut] if cut else []
    if drive.array is not None:
        reasons.append(f"it is in {drive.array}")
    elif drive.state is not State.UNASSIGNED:
        reasons.append(_WHY_NOT.get(drive.state, f"it is {drive.state.value}"))
    if not drive.serial or twice:
        reasons.append("its serial number is not told, or another drive has it too")
    return Candidate(
        drive=drive.target,
        controller=drive.controller,
        place=drive.target.address.partition("/drive ")[2],
        model=drive.model,
        serial=drive.serial,
        media=drive.media,
        interface=drive.interface,
        size_bytes=drive.size_bytes,
        sector_bytes=drive.logical_block,
        why_not=tuple(reasons),
    )


def plan_logical_drive(wish: ArrayWish, profile: SystemProfile, program: str) -> ArrayPlan:
    """The statements in the dialect that the disk system was asked in. Raises InvalidValueError."""
    warnings = require_alike(wish.drives)
    if wish.level not in LEVELS:
        raise InvalidValueError(f"A disk system makes no {wish.level.name}.", hint="RAID0, 1, 10, 5 and 6 it makes.")
    if wish.policies or wish.spans is not None:
        raise InvalidValueError("A logical drive has no spans, and no policies at birth.", hint="Set them afterwards.")
    if wish.strip_bytes not in (None, *SEGMENTS):
        raise InvalidValueError(
            f"A segment of {wish.strip_bytes} bytes cannot be made.", hint="8k, 16k, 32k and so on to 512k."
        )
    data = require_shape(wish)
    strip = None if wish.level is Level.RAID1 else wish.strip_bytes
    made = ArrayWish(level=wish.level, drives=wish.drives, strip_bytes=strip, name=wish.name, token=wish.token)
    size = min((drive.size_bytes or 0 for drive in wish.drives), default=0)
    return ArrayPlan(
        wish=made,
        maker="SMcli",
        steps=tuple(
            Write(argv=asked(program, profile.name, statement)) for statement in _statements(made, profile.nouns)
        ),
        size_bytes=capacity(made, data),
        data_drives=data,
        seconds=size / INITIALISES,
        initialising="The disk system initialises it in the background, which is in this time.",
        warnings=warnings,
        by_hand=BY_HAND,
    )


def _statements(wish: ArrayWish, nouns: Nouns) -> tuple[str, ...]:
    places = " ".join(drive.place for drive in wish.drives)
    segment = "" if wish.strip_bytes is None else f" segmentSize={wish.strip_bytes // 1024}"
    level, name = LEVELS[wish.level], wish.name
    if nouns in (IBM, DELL):
        drives = "drives" if nouns is IBM else "physicalDisks"
        return (f'create {nouns.volume} {drives}=({places}) raidLevel={level} userLabel="{name}"{segment};',)
    return (
        f'create volumeGroup drives=({places}) raidLevel={level} userLabel="{name}";',
        f'create volume volumeGroup="{name}" userLabel="{name}"{segment};',
    )
