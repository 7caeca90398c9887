"""Free drives of a controller, commands that create an array on them, and the search for created arrays."""

from __future__ import annotations

from dataclasses import replace

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
from backends.reported_words import state_text
from backends.sizes import size_words
from backends.topology import Topology
from backends.vendors.megaraid.addresses import card_target, drive_target, volume_target
from backends.vendors.megaraid.choices import BIRTH, FASTPATH_PARTS, strips
from backends.vendors.megaraid.dialect import CardSnapshot, Dialect, NewVolume
from backends.vendors.megaraid.effective import CardView
from backends.vendors.megaraid.facts import GOOD, PRESERVED, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.plans import creation
from backends.vendors.megaraid.presence import drive_node, volume_node

_STRIP = 256 << 10
"""Default strip size in bytes, which is also the firmware default of current controllers."""

_MOST_ON_CARD, _MOST_IN_VOLUME, _MOST_SPANS = 64, 32, 8
"""Maximum numbers of virtual drives on a controller, of drives in a virtual drive, and of spans (MegaRAID SAS Software
User Guide)."""

_BUSY = ("rebuild", "migration", "copyback")
"""Background operations that block the creation of arrays on the whole controller while they run."""

_CREATE_SECONDS = 0.4
"""Seconds that `add vd` takes on a 9361."""


def candidates(prefix: str, contents: CardSnapshot, picture: Topology) -> tuple[Candidate, ...]:
    """Return every drive without a kernel disk, each with the reasons why it cannot be used for a new array."""
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
    """Return every reason why the controller cannot create an array on a drive."""
    used = [volume.number for volume in contents.volumes if drive.place in volume.drives] or list(drive.volumes)
    reasons: list[str] = []
    if used:
        reasons.append(f"it is in virtual drive {used[0]}")
    elif drive.group is not None:
        reasons.append(f"it is in drive group {drive.group}")
    if drive.foreign or drive.state is State.FOREIGN:
        reasons.append(FOREIGN)
    elif drive.state is State.SPARE:
        reasons.append(f"it is {state_text(drive.state, drive.state_raw)}")
    elif not reasons and (drive.state is not State.UNASSIGNED or not GOOD.fullmatch(drive.state_raw)):
        reasons.append(f"the controller reports it as {state_text(drive.state, drive.state_raw)}")
    if drive.jobs:
        reasons.append(f"{drive.jobs[0].kind} is running on it")
    reasons += [reason for reason in reasons_against(drive.health) if reason not in reasons]
    if not reasons and (serial_reason := ambiguity_reason(drive.serial, (drive.serial for drive in contents.drives))):
        reasons.append(serial_reason)
    return tuple(reasons)


def card_exclusion_reasons(contents: CardSnapshot) -> tuple[str, ...]:
    """Return the reasons why this controller cannot create any array now."""
    reasons = [contents.cut.rstrip(".")] if contents.cut else []
    jobs = [job for volume in contents.volumes for job in volume.jobs]
    jobs += [job for drive in contents.drives for job in drive.jobs]
    working = [job.kind for job in jobs if job.kind in _BUSY]
    reasons += [f"a {working[0]} is running on the controller"] if working else []
    reasons += [problem.rstrip(".") for problem in contents.card.problems if problem.startswith(PRESERVED)]
    if len(contents.volumes) >= _MOST_ON_CARD:
        reasons.append(f"the controller has {len(contents.volumes)} virtual drives and supports {_MOST_ON_CARD}")
    return tuple(reasons)


def plan_array(request: ArrayRequest, contents: CardSnapshot, dialect: Dialect) -> ArrayPlan:
    """Return the plan with the tool's commands that create the array.

    Raises InvalidValueError for a layout or policy that the controller does not support, BlockedError while the
    controller cannot create any array.
    """
    warnings = require_alike(request.drives)
    data = require_shape(request)
    spans = spans_of(request.level, len(request.drives), request.spans)
    drives_per_span = len(request.drives) // spans
    if drives_per_span > _MOST_IN_VOLUME or spans > _MOST_SPANS or len(request.drives) > _MOST_IN_VOLUME:
        raise InvalidValueError(
            f"{len(request.drives)} drives in {spans} spans exceed the limit of the controller: {_MOST_IN_VOLUME} "
            f"drives in {_MOST_SPANS} spans."
        )
    if (reasons := card_exclusion_reasons(contents)) != ():
        raise BlockedError(f"No array can be created on this controller: {reasons[0]}.")
    strip = request.strip_bytes or _STRIP
    legal = [int(choice.value) for choice in strips(contents.card)]
    if legal and strip not in legal:
        raise InvalidValueError(
            f"The controller does not support strips of {size_words(strip)}.",
            hint=f"Supported here: {', '.join(map(size_words, legal))}.",
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
    )
    number = next(
        number for number in range(_MOST_ON_CARD + 1) if all(number != volume.number for volume in contents.volumes)
    )
    steps = creation(CardView(contents=contents, dialect=dialect), number, new)
    wanted = replace(request, strip_bytes=strip, spans=spans if spans > 1 else None, policies=policies)
    return ArrayPlan(
        request=wanted,
        maker=dialect.tool.rpartition("/")[2],
        steps=steps,
        size_bytes=capacity(wanted, data),
        data_drives=data,
        seconds=_CREATE_SECONDS * len(steps),
        initialising=_initialising(wanted),
        begins_later=_starts_automatically(wanted) is True,
        warnings=warnings,
    )


def creation_choices(contents: CardSnapshot, dialect: Dialect) -> dict[str, tuple[str, ...]]:
    """Return the values to choose from at creation for each policy, by setting key.

    Policies and values that the tool or the controller does not support are left out.
    """

    def has_command(key: str, value: str) -> bool:
        try:
            return bool(dialect.set_volume(contents.card.number, 0, key, value))
        except InvalidValueError:
            return False

    legal = {key: tuple(value for value in values if has_command(key, value)) for key, values in BIRTH.items()}
    unsupported = [key for key in ("io_policy", "drive_cache") if contents.card.supports.get(key) is False]
    return {key: values for key, values in legal.items() if values and key not in unsupported}


def _starts_automatically(request: ArrayRequest) -> bool | None:
    """Return whether most controllers automatically start a background initialisation of the new array.

    None for a RAID level that has no such initialisation.
    """
    least = {Level.RAID5: 5, Level.RAID50: 5, Level.RAID6: 7, Level.RAID60: 7}.get(request.level)
    return None if least is None else len(request.drives) // (request.spans or 1) >= least


def _initialising(request: ArrayRequest) -> str:
    is_automatic = _starts_automatically(request)
    if is_automatic is None:
        return "No initialisation is needed before a benchmark."
    begins = (
        "starts automatically after five minutes"
        if is_automatic
        else "does not start automatically on most controllers"
    )
    return (
        f"Background initialisation {begins} and affects a benchmark while it runs. Set auto_bgi=off on the array, "
        "or initialise it completely first."
    )


def existing_volume_ids(contents: CardSnapshot) -> tuple[str, ...]:
    """Return a permanent id of each virtual drive: its world wide name, else the serial numbers of its drives."""
    return tuple(sorted(_lasting(contents, volume) for volume in contents.volumes))


def find_made(
    array: CreatedArray, contents: CardSnapshot, dialect: Dialect, picture: Topology, *, prefix: str, lock: str
) -> ArrayMatch:
    """Find a recorded array among the controller's virtual drives (see `ArrayCreator.find_made`).

    `contents`: the controller's state, just read. `prefix`: its address. `lock`: name of its lock between processes.
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
        part_of = f"is {state_text(drive.state, drive.state_raw)}"
    return ControllerDrive(place=drive.place, serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _array(
    volume: VirtualDrive, contents: CardSnapshot, dialect: Dialect, picture: Topology, prefix: str
) -> ControllerArray:
    group_drives = [drive for drive in contents.drives if drive.group is not None and drive.group == volume.group]
    added = next((drive for drive in group_drives if drive.place not in volume.drives), None)
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
        added="" if added is None else f"{added.place} was added as {added.state.value}",
        node=volume_node(volume, contents.card, picture.tree.nodes.values()),
        remove=tuple(ChangeStep(argv=argv) for argv in commands),
    )


def _lasting(contents: CardSnapshot, volume: VirtualDrive) -> str:
    serials = {drive.place: drive.serial or "" for drive in contents.drives}
    return lasting_id(volume.wwn, [serials.get(slot, "") or slot for slot in volume.drives], f"number {volume.number}")
