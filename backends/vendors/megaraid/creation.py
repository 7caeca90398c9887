"""Free drives of a MegaRAID card, the commands that make an array of them, and the search for an array made here."""

from __future__ import annotations

from backends.array_planning import (
    ArrayMatch,
    ArrayPlan,
    ArrayRequest,
    Candidate,
    CreatedArray,
    capacity,
    creation_policies,
    require_alike,
    require_shape,
    spans_of,
)
from backends.change import ChangeStep
from backends.controller_arrays import (
    PARTS,
    ControllerArray,
    ControllerArrays,
    ControllerDrive,
    ambiguity_reason,
    find_on_controller,
    lasting_id,
)
from backends.errors import BlockedError, InvalidValueError
from backends.health import FOREIGN, reasons_against
from backends.model import Level, State
from backends.sizes import size_words
from backends.text import clean
from backends.topology import Topology
from backends.vendors.megaraid.addresses import card_target, drive_target, volume_target
from backends.vendors.megaraid.choices import BIRTH, FASTPATH_PARTS, strips
from backends.vendors.megaraid.dialect import CardSnapshot, Dialect, NewVolume
from backends.vendors.megaraid.effective import CardView
from backends.vendors.megaraid.facts import GOOD, PRESERVED, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.plans import creation
from backends.vendors.megaraid.presence import drive_node, volume_node

_STRIP = 256 << 10
"""Bytes, where nobody says: what today's cards take unless told."""

_MOST_ON_CARD, _MOST_IN_VOLUME, _MOST_SPANS = 64, 32, 8
"""Virtual drives of a card, drives of one, and its spans (MegaRAID SAS Software User Guide)."""

_BUSY = ("rebuild", "migration", "copyback")
"""Work beside which nothing is made."""

_CREATE_SECONDS = 0.4
"""`add vd` on a 9361."""


def candidates(prefix: str, contents: CardSnapshot, picture: Topology) -> tuple[Candidate, ...]:
    """Every drive of the card, the free ones first said to be so by the card alone."""
    nodes = tuple(picture.tree.nodes.values())
    card = card_exclusion_reasons(contents)
    return tuple(
        Candidate(
            drive=drive_target(prefix, drive.place),
            controller=card_target(prefix),
            place=drive.place,
            model=drive.model,
            serial=drive.serial,
            media=drive.media,
            interface=drive.interface,
            size_bytes=drive.size_bytes,
            sector_bytes=drive.sector_bytes,
            why_not=(*drive_exclusion_reasons(contents, drive), *card),
        )
        for drive in contents.drives
        if drive_node(drive, nodes) is None and contents.card.makes_arrays is not False
    )


def drive_exclusion_reasons(contents: CardSnapshot, drive: PhysicalDrive) -> tuple[str, ...]:
    """Every reason of the card's own against making an array of a drive."""
    used = [volume.number for volume in contents.volumes if drive.place in volume.drives] or list(drive.volumes)
    reasons: list[str] = []
    if used:
        reasons.append(f"it is in virtual drive {used[0]}")
    elif drive.group is not None:
        reasons.append(f"it is in drive group {drive.group}")
    if drive.foreign or drive.state is State.FOREIGN:
        reasons.append(FOREIGN)
    elif drive.state is State.SPARE:
        reasons.append(f"it is a hot spare ({drive.state_raw})")
    elif not reasons and (drive.state is not State.UNASSIGNED or not GOOD.fullmatch(drive.state_raw)):
        reasons.append(f"the card calls it {drive.state_raw or 'nothing that is known'}")
    if drive.jobs:
        reasons.append(f"{drive.jobs[0].kind} is under way on it")
    reasons += [reason for reason in reasons_against(drive.health) if reason not in reasons]
    if not reasons and (twice := ambiguity_reason(drive.serial, (drive.serial for drive in contents.drives))):
        reasons.append(twice)
    return tuple(reasons)


def card_exclusion_reasons(contents: CardSnapshot) -> tuple[str, ...]:
    """What stands against making anything on this card now."""
    reasons = [contents.cut.rstrip(".")] if contents.cut else []
    jobs = [job for volume in contents.volumes for job in volume.jobs]
    jobs += [job for drive in contents.drives for job in drive.jobs]
    working = [job.kind for job in jobs if job.kind in _BUSY]
    reasons += [f"a {working[0]} is under way on the card"] if working else []
    reasons += [problem.rstrip(".") for problem in contents.card.problems if problem.startswith(PRESERVED)]
    if len(contents.volumes) >= _MOST_ON_CARD:
        reasons.append(f"the card has {len(contents.volumes)} virtual drives, and takes {_MOST_ON_CARD}")
    return tuple(reasons)


def plan_array(request: ArrayRequest, contents: CardSnapshot, dialect: Dialect) -> ArrayPlan:
    """What makes the array, in the words of the card's own tool. Raises InvalidValueError, BlockedError."""
    warnings = require_alike(request.drives)
    data = require_shape(request)
    spans = spans_of(request.level, len(request.drives), request.spans)
    drives_per_span = len(request.drives) // spans
    if drives_per_span > _MOST_IN_VOLUME or spans > _MOST_SPANS or len(request.drives) > _MOST_IN_VOLUME:
        raise InvalidValueError(
            f"{len(request.drives)} drives in {spans} spans are more than a card takes: {_MOST_IN_VOLUME} in "
            f"{_MOST_SPANS} spans."
        )
    if (reasons := card_exclusion_reasons(contents)) != ():
        raise BlockedError(f"Nothing can be made on this card: {reasons[0]}.")
    strip = request.strip_bytes or _STRIP
    legal = [int(choice.value) for choice in strips(contents.card)]
    if legal and strip not in legal:
        raise InvalidValueError(
            f"The card makes no strips of {size_words(strip)}.", hint=f"It makes {', '.join(map(size_words, legal))}."
        )
    policies = creation_policies(request.policies, creation_choices(contents, dialect), FASTPATH_PARTS)
    new = NewVolume(
        level=request.level.value,
        drives=tuple(drive.place for drive in request.drives),
        drives_per_span=drives_per_span if spans > 1 else None,
        strip_bytes=strip,
        write_cache=policies["write_cache"],
        read_ahead=policies["read_ahead"],
        io_policy=policies.get("io_policy", ""),
        drive_cache=policies.get("drive_cache"),
        name=request.name,
        size_bytes=None,
    )
    number = next(
        number for number in range(_MOST_ON_CARD + 1) if all(number != volume.number for volume in contents.volumes)
    )
    steps = creation(CardView(contents=contents, dialect=dialect), number, new)
    wanted = ArrayRequest(
        level=request.level,
        drives=request.drives,
        strip_bytes=strip,
        spans=spans if spans > 1 else None,
        name=request.name,
        policies=policies,
    )
    return ArrayPlan(
        request=wanted,
        maker=dialect.tool.rpartition("/")[2],
        steps=steps,
        size_bytes=capacity(wanted, data),
        data_drives=data,
        seconds=_CREATE_SECONDS * len(steps),
        initialising=_initialising(wanted),
        begins_later=_begins(wanted) is True,
        warnings=warnings,
    )


def creation_choices(contents: CardSnapshot, dialect: Dialect) -> dict[str, tuple[str, ...]]:
    """What can be said of a virtual drive when it is made: values by the keys of its settings.

    As far as the tool has a word for them, and the card that choice.
    """

    def says(key: str, value: str) -> bool:
        try:
            return bool(dialect.set_volume(contents.card.number, 0, key, value))
        except InvalidValueError:
            return False

    legal = {key: tuple(value for value in values if says(key, value)) for key, values in BIRTH.items()}
    unsaid = [key for key in ("io_policy", "drive_cache") if contents.card.supports.get(key) is False]
    return {key: values for key, values in legal.items() if values and key not in unsaid}


def _begins(request: ArrayRequest) -> bool | None:
    """Whether most cards begin a background initialisation by themselves; None where there is nothing to initialise."""
    least = {Level.RAID5: 5, Level.RAID50: 5, Level.RAID6: 7, Level.RAID60: 7}.get(request.level)
    return None if least is None else len(request.drives) // (request.spans or 1) >= least


def _initialising(request: ArrayRequest) -> str:
    by_itself = _begins(request)
    if by_itself is None:
        return "Nothing has to be initialised before it is measured."
    begins = "begins by itself five minutes later" if by_itself else "does not begin by itself on most cards"
    return (
        f"Background initialisation {begins}, and is measured along with the load while it runs: "
        "set auto_bgi=off on the array, or initialise it in full first."
    )


def existing_volume_ids(contents: CardSnapshot) -> tuple[str, ...]:
    """What lasts of each virtual drive of a card: its world wide name, else the serial numbers of its drives."""
    return tuple(sorted(_lasting(contents, volume) for volume in contents.volumes))


def find_made(
    array: CreatedArray, contents: CardSnapshot, dialect: Dialect, picture: Topology, *, prefix: str, lock: str
) -> ArrayMatch:
    """What is there now of an array; see `BuildsArrays.find_made`.

    `contents`: the card, asked anew; `prefix` and `lock`: its address, and its lock between programs.
    """
    card = ControllerArrays(
        drives=tuple(_drive(drive) for drive in contents.drives),
        arrays=tuple(_array(volume, contents, dialect, picture, prefix) for volume in contents.volumes),
        cut=contents.cut,
        kind="virtual drive",
        named_at_creation=dialect.names_on_create,
        lock=lock,
    )
    return find_on_controller(array, card)


def _drive(drive: PhysicalDrive) -> ControllerDrive:
    part_of = ""
    if drive.foreign:
        part_of = "carries a foreign configuration"
    elif drive.group is not None or drive.state in PARTS:
        part_of = f"is {clean(drive.state_raw or drive.state.value, 40)}"
    return ControllerDrive(place=drive.place, serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _array(
    volume: VirtualDrive, contents: CardSnapshot, dialect: Dialect, picture: Topology, prefix: str
) -> ControllerArray:
    beside = [drive for drive in contents.drives if drive.group is not None and drive.group == volume.group]
    added = next((drive for drive in beside if drive.place not in volume.drives), None)
    commands = dialect.flatten(dialect.delete(contents.card.number, volume.number))
    return ControllerArray(
        called=f"virtual drive {volume.number}",
        target=volume_target(prefix, volume.number),
        drives=volume.drives,
        claimed=tuple(drive.place for drive in contents.drives if volume.number in drive.volumes),
        level=volume.level,
        strip_bytes=volume.strip_bytes,
        spans=volume.spans,
        name=volume.name,
        lasting=_lasting(contents, volume),
        added="" if added is None else f"{added.place} was added to them as {added.state.value}",
        node=volume_node(volume, contents.card, picture.tree.nodes.values()),
        remove=tuple(ChangeStep(argv=argv) for argv in commands),
    )


def _lasting(contents: CardSnapshot, volume: VirtualDrive) -> str:
    serials = {drive.place: drive.serial or "" for drive in contents.drives}
    return lasting_id(volume.wwn, [serials.get(slot, "") or slot for slot in volume.drives], f"number {volume.number}")
