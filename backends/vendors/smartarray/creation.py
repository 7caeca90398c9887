"""Free drives, commands that create a logical drive on them, and the search for created ones. No I/O."""

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
from backends.model import Level, State
from backends.raid import PARITY, PARITY_IN_SPANS
from backends.reported_words import state_text
from backends.sizes import size_words
from backends.text import clean
from backends.topology import Topology
from backends.vendors.smartarray.addresses import card_target, drive_target, volume_target
from backends.vendors.smartarray.dialect import ArrayTool, NewLogical
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive
from backends.vendors.smartarray.matching import drive_node, volume_node

_STRIP = 256 << 10
"""Default strip size in bytes, which is that of both tools."""

_STRIPS = tuple(kib << 10 for kib in (8, 16, 32, 64, 128, 256, 512, 1024))
"""All strip sizes in bytes. The controller reports which ones it supports (Smart Array 8 to 1024 KiB, Adaptec 16 to
1024)."""

_BUSY = ("rebuild", "migration")
"""Background operations that block the creation of arrays on the whole controller while they run."""

_USUAL = {"acceleration": "none", "write_cache": "write-through", "read_cache": "off"}
"""Default policies of a logical drive, chosen for benchmarks. Policies that a controller does not have are ignored."""

_CREATE_SECONDS = 5.0
"""Seconds that a change takes, because the tool queries all controllers before and after it."""


def candidates(prefix: str, text: CardText, tool: ArrayTool, picture: Topology) -> tuple[Candidate, ...]:
    """Return every drive without a kernel disk, each with the reasons why it cannot be used for a new array."""
    nodes = tuple(picture.tree.nodes.values())
    card = card_exclusion_reasons(text)
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
            why_not=(*drive_exclusion_reasons(text, drive, tool), *card),
        )
        for drive in text.drives
        if drive_node(drive, nodes) is None
    )


def drive_exclusion_reasons(text: CardText, drive: BayDrive, tool: ArrayTool) -> tuple[str, ...]:
    """Return every reason why the controller cannot create a logical drive on a drive."""
    used = [volume.number for volume in text.volumes if drive.place in volume.drives]
    reasons: list[str] = []
    if drive.state is State.SPARE:
        reasons.append(f"it is {state_text(drive.state, drive.state_raw)}")
    elif used:
        reasons.append(f"it is in logical drive {used[0]}")
    elif drive.array is not None:
        reasons.append(f"it is in array {drive.array}")
    elif not tool.is_free(drive):
        card_state = ", ".join(filter(None, (drive.use_raw, drive.state_raw)))
        reasons.append(f"the controller reports it as {state_text(drive.state, card_state)}")
    if not reasons and (serial_reason := ambiguity_reason(drive.serial, (drive.serial for drive in text.drives))):
        reasons.append(serial_reason)
    return tuple(reasons)


def card_exclusion_reasons(text: CardText) -> tuple[str, ...]:
    """Return the reasons why this controller cannot create any logical drive now."""
    reasons = [text.cut] if text.cut else []
    reasons += ["the controller is in HBA mode and has no arrays"] if text.card.passes_through else []
    reasons += [text.card.locked.rstrip(".")] if text.card.locked else []
    working = [job.kind for volume in text.volumes for job in volume.jobs if job.kind in _BUSY]
    working += ["rebuild" for drive in text.drives if drive.state is State.REBUILDING]
    reasons += [f"a {working[0]} is running on the controller"] if working else []
    return tuple(reasons)


def plan_array(request: ArrayRequest, text: CardText, tool: ArrayTool, usage: str) -> ArrayPlan:
    """Return the plan with the tool's commands that create the logical drive.

    `usage`: result of `ArrayTool.creation_usage`. Raises InvalidValueError for a layout or policy that the controller
    does not support, BlockedError while the controller cannot create any logical drive.
    """
    warnings = require_alike(request.drives)
    data = require_shape(request)
    spans = spans_of(request.level, len(request.drives), request.spans)
    if request.level is Level.RAID1 and len(request.drives) != 2:
        raise InvalidValueError(
            "RAID1 on this controller has exactly two drives.", hint="Use RAID10 for four and more drives."
        )
    if request.level is Level.RAID10 and spans != len(request.drives) // 2:
        raise InvalidValueError("RAID10 on this controller always consists of pairs.", hint="Omit --spans.")
    if (reasons := card_exclusion_reasons(text)) != ():
        raise BlockedError(f"No array can be created on this controller: {reasons[0]}.")
    strip = request.strip_bytes or _STRIP
    if strip not in _STRIPS:
        raise InvalidValueError(
            f"The controller does not support strips of {size_words(strip)}.",
            hint=f"Supported here: {', '.join(map(size_words, _STRIPS))}.",
        )
    policies = creation_policies(request.policies, tool.creation_choices(text, usage), _USUAL)
    grouped = spans if request.level in PARITY_IN_SPANS else None
    new = NewLogical(
        level=request.level,
        places=tuple(drive.place for drive in request.drives),
        strip_bytes=strip,
        parity_groups=grouped,
        policies=policies,
        name=request.name,
    )
    steps = tuple(ChangeStep(argv=line) for line in tool.create(text, new, usage))
    if not all(tool.is_creation_or_deletion(text.card.number, step.argv) for step in steps):
        raise BlockedError("raidbench does not run the command that would create it.")
    wanted = replace(request, strip_bytes=strip, spans=grouped, policies=policies)
    return ArrayPlan(
        request=wanted,
        maker=tool.tool.rpartition("/")[2],
        steps=steps,
        size_bytes=capacity(wanted, data),
        data_drives=data,
        seconds=_CREATE_SECONDS * len(steps),
        initialising=_initialising(wanted, text.card.family),
        warnings=warnings,
    )


def _initialising(request: ArrayRequest, family: Family) -> str:
    if request.level not in PARITY:
        return "No initialisation is needed before a benchmark."
    if family is Family.SERIES:
        return (
            "Quick initialisation: the array is usable immediately. Until a verification with repair ends, every "
            "write uses the whole stripe and is slower."
        )
    return (
        "Parity is initialised in the background. Until it ends, every write uses the whole stripe (HPE). Wait "
        "until the task has ended."
    )


def existing_volume_ids(text: CardText) -> tuple[str, ...]:
    """Return a permanent id of each logical drive: its unique identifier, else the serial numbers of its drives."""
    return tuple(sorted(_lasting(text, volume) for volume in text.volumes))


def find_made(
    array: CreatedArray, text: CardText, tool: ArrayTool, picture: Topology, *, prefix: str, pci: str | None
) -> ArrayMatch:
    """Find a recorded array among the controller's logical drives (see `ArrayCreator.find_made`).

    `text`: the controller's state, just read. `prefix` and `pci`: the controller's address and its PCI address.
    """
    nodes = tuple(picture.tree.nodes.values())

    def card_array(volume: LogicalDrive) -> ControllerArray:
        group_drives = [drive for drive in text.drives if volume.array is not None and drive.array == volume.array]
        added = next((drive for drive in group_drives if drive.place not in volume.drives), None)
        has_all_members = volume.width in (None, len(volume.drives))
        return ControllerArray(
            called=f"logical drive {volume.number}",
            target=volume_target(prefix, volume.number),
            drives=volume.drives if has_all_members else (),
            claimed=tuple(drive.place for drive in group_drives),
            level=volume.level,
            strip_bytes=volume.strip_bytes,
            spans=volume.parity_groups,
            name=volume.name,
            lasting=_lasting(text, volume),
            added="" if added is None else f"{added.place} was added as {added.state.value}",
            node=volume_node(volume, text.card.family, pci, nodes),
            remove=tuple(ChangeStep(argv=line) for line in tool.delete(text, volume.number)),
        )

    card = ControllerArrays(
        drives=tuple(_drive(drive) for drive in text.drives),
        arrays=tuple(card_array(volume) for volume in text.volumes),
        cut=f"{text.cut}." if text.cut else "",
        kind="logical drive",
        lock=tool.lock_name,
    )
    return find_on_controller(array, card)


def _drive(drive: BayDrive) -> ControllerDrive:
    part_of = ""
    if drive.array is not None:
        part_of = f"is in array {clean(drive.array, 40)}"
    elif drive.state in PARTS:
        part_of = f"is {state_text(drive.state, drive.state_raw)}"
    return ControllerDrive(place=drive.place, serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _lasting(text: CardText, volume: LogicalDrive) -> str:
    serials = {drive.place: drive.serial or "" for drive in text.drives}
    return lasting_id(volume.wwn, [serials.get(bay, "") or bay for bay in volume.drives], f"number {volume.number}")
