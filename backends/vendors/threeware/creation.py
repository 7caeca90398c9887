"""Creation of units: free drives, the command, and the search for a created unit. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from backends.host import PromptReply
from backends.model import Drive, Level
from backends.raid import PARITY_IN_SPANS
from backends.reported_words import state_text, word_text
from backends.settings import Setting
from backends.sizes import read_size, size_words
from backends.text import clean
from backends.topology import Node, Topology
from backends.topology.device_identity import identity
from backends.vendors.threeware.inventory import (
    NAME,
    ThreewareCard,
    controller_target,
    inventory_drives,
    level_of,
    node_of,
    running_word,
    unit_target,
)
from backends.vendors.threeware.settings import CHOICES, STORSAVE, WRITE_CACHE, Row, UnitDetails

_TYPES = {
    Level.RAID0: "raid0",
    Level.RAID1: "raid1",
    Level.RAID5: "raid5",
    Level.RAID10: "raid10",
    Level.RAID50: "raid50",
}
"""tw_cli's names for the levels that raidbench creates. It calls a RAID 0 of one drive `single`."""

_STRIPED = (Level.RAID0, Level.RAID5, Level.RAID10, Level.RAID50)
_STRIPS = tuple(kib << 10 for kib in (16, 64, 256))
_STRIP = 64 << 10
"""Default strip size in bytes."""

_GROUPS = range(3, 7)
"""Allowed numbers of drives in each group of a RAID 50."""

_BUSY = ("REBUILDING", "MIGRATING")
"""While a unit or drive has one of these statuses, raidbench creates no unit on the controller."""

_NAMES = re.compile(r"9\d{3}.*", re.ASCII)
"""Pattern of controller models that store the name of a unit: the 9000 series."""

_STORSAVE = re.compile(r"(?:95[59]0|96[59]0|9750).*", re.ASCII)
"""Pattern of controller models with StorSave, from the 9550SX on."""

_MANY = re.compile(r"(?:96[59]0|9750).*", re.ASCII)

_CACHED = {"write-back": True, "write-through": False}

_CREATE_SECONDS = 5.0

_ADD = re.compile(
    r"add type=(?:single|raid0|raid1|raid5|raid10|raid50) disk=\d{1,4}(?::\d{1,4}){0,127}(?: stripe=(?:16|64|256))?"
    r"(?: group=[2-6])?(?: nocache)? name=[A-Za-z0-9][A-Za-z0-9_-]{0,14}(?: storsave=(?:protect|balance|perform))?",
    re.ASCII,
)
_UNIT = re.compile(r"(/c\d{1,3})/u\d{1,4}", re.ASCII)


def candidates(card: ThreewareCard) -> tuple[Candidate, ...]:
    """Return all drives of a controller, with the reasons against each."""
    against = card_exclusion_reasons(card)
    spares = {row["Unit"] for row in card.units if row["UnitType"] == "SPARE"}
    serials = [port.get("Serial") for port in card.ports]
    return tuple(
        Candidate(
            drive=drive.target,
            controller=controller_target(card.name),
            place=port["Place"],
            model=drive.model,
            serial=drive.serial,
            media=drive.media,
            interface=drive.interface,
            size_bytes=drive.size_bytes,
            sector_bytes=drive.logical_block,
            why_not=(*_drive_exclusion_reasons(port, spares, serials), *against),
        )
        for port, drive in inventory_drives(card)
    )


def _drive_exclusion_reasons(port: Row, spares: set[str], serials: list[str | None]) -> tuple[str, ...]:
    """Return the controller's reasons against using a drive."""
    unit = port["Unit"]
    if unit in spares:
        return (f"it is a hot spare ({unit})",)
    if unit != "-":
        return (f"it is in unit {unit}",)
    if port["Status"] != "OK":
        return (f"the controller reports it as {word_text(port['Status'])}",)
    twice = ambiguity_reason(port.get("Serial"), serials)
    return (twice,) if twice else ()


def card_exclusion_reasons(card: ThreewareCard) -> tuple[str, ...]:
    """Return the reasons why no unit can be created on this controller now."""
    model = card.row["Model"]
    reasons = [problem.message.rstrip(".") for problem in card.cut.values()]
    if not _NAMES.fullmatch(model):
        reasons.append(f"a 3ware {model} stores no unit names, so raidbench cannot identify a unit")
    working = [word_text(row["Status"]) for row in (*card.units, *card.ports) if running_word(row["Status"]) in _BUSY]
    reasons += [f"a unit is {working[0]} on the controller"] if working else []
    # Source: TW_MAX_UNITS and TW_MAX_UNITS_9650SE in 3w-9xxx.h and 3w-sas.h.
    most = 32 if _MANY.fullmatch(model) else 16
    if len(card.units) >= most:
        reasons.append(f"the controller has {len(card.units)} units, but Linux sees {most}")
    return tuple(reasons)


def plan_array(request: ArrayRequest, card: ThreewareCard, program: str) -> ArrayPlan:
    """Return the plan with tw_cli's command. Raises InvalidValueError, BlockedError."""
    warnings = require_alike(request.drives)
    count = len(request.drives)
    if request.level not in _TYPES:
        level_names = ", ".join(level.name for level in _TYPES)
        raise InvalidValueError(
            f"raidbench cannot create {request.level.name} with tw_cli.", hint=f"Supported here: {level_names}."
        )
    data = require_shape(request)
    spans = spans_of(request.level, count, request.spans)
    if request.level is Level.RAID1 and count != 2:
        raise InvalidValueError(
            "RAID1 on this controller has exactly two drives.", hint="Use RAID10 for four and more drives."
        )
    if request.level is Level.RAID10 and spans != count // 2:
        raise InvalidValueError("RAID10 on this controller always consists of pairs.", hint="Omit --spans.")
    if request.level is Level.RAID50 and count // spans not in _GROUPS:
        raise InvalidValueError(
            f"{count} drives in {spans} spans are {count // spans} in each span. A RAID50 on this controller has 3 "
            "to 6.",
            hint="Choose other spans.",
        )
    if (reasons := card_exclusion_reasons(card)) != ():
        raise BlockedError(f"No array can be created on this controller: {reasons[0]}.")
    strip = (request.strip_bytes or _STRIP) if request.level in _STRIPED and count > 1 else None
    if strip is not None and strip not in _STRIPS:
        raise InvalidValueError(
            f"The controller does not support strips of {size_words(strip)}.",
            hint=f"Supported here: {', '.join(map(size_words, _STRIPS))}.",
        )
    policies = _policies(request, card)
    warnings += tuple(setting.risk_text for setting in _risks(policies, card))
    wanted = replace(
        request, strip_bytes=strip, spans=spans if request.level in PARITY_IN_SPANS else None, policies=policies
    )
    return ArrayPlan(
        request=wanted,
        maker=program.rpartition("/")[2],
        steps=(ChangeStep(argv=_add_argv(wanted, card.name, program)),),
        size_bytes=capacity(wanted, data),
        data_drives=data,
        seconds=_CREATE_SECONDS,
        initialising=_initialising(wanted),
        warnings=warnings,
    )


def _policies(request: ArrayRequest, card: ThreewareCard) -> dict[str, str]:
    """Return the policies to set at creation.

    Raises InvalidValueError, or BlockedError if the controller would ignore one.
    """
    legal: dict[str, Sequence[str]] = {"write_cache": tuple(_CACHED)}
    if _STORSAVE.fullmatch(card.row["Model"]):
        legal["storsave"] = CHOICES["storsave"]
    policies = creation_policies(request.policies, legal, {"write_cache": "write-through"})
    if policies["write_cache"] == "write-back" and (why := card.uncached_reason):
        raise BlockedError(f"The unit would not cache writes: {why}.", hint="Create it with write-through.")
    return policies


def _risks(policies: dict[str, str], card: ThreewareCard) -> list[Setting]:
    settings: list[Setting] = []
    if policies["write_cache"] == "write-back" and not card.is_protected:
        settings.append(WRITE_CACHE)
    if policies.get("storsave") == "perform":
        settings.append(STORSAVE)
    return settings


def _add_argv(request: ArrayRequest, card: str, program: str) -> tuple[str, ...]:
    """Return the command that creates the unit.

    It never contains `noscan`, which would hide the unit from the kernel.
    """
    kind = "single" if len(request.drives) == 1 else _TYPES[request.level]
    drives_each = {Level.RAID10: 2, Level.RAID50: len(request.drives) // (request.spans or 1)}.get(request.level)
    return (
        program,
        f"/{card}",
        "add",
        f"type={kind}",
        f"disk={':'.join(drive.place.removeprefix('p') for drive in request.drives)}",
        *((f"stripe={request.strip_bytes >> 10}",) if request.strip_bytes else ()),
        *((f"group={drives_each}",) if drives_each else ()),
        *(() if _CACHED[request.policies["write_cache"]] else ("nocache",)),
        f"name={request.name}",
        *((f"storsave={request.policies['storsave']}",) if "storsave" in request.policies else ()),
    )


def _initialising(request: ArrayRequest) -> str:
    verified = "AutoVerify is on, so a scheduled verification may affect a benchmark."
    drives_each = len(request.drives) // (request.spans or 1)
    if request.level in (Level.RAID5, Level.RAID50) and drives_each >= 5:
        return (
            "The controller initialises it in the background, which affects a benchmark. Wait until the task has "
            f"ended. {verified}"
        )
    return f"No initialisation is needed before a benchmark. {verified}"


# -- validation of steps, and the prompt of tw_cli --------------------------------------------------------------------


def is_creation_step(card: str, program: str, argv: tuple[str, ...]) -> bool:
    """Return whether a command only creates a unit on the controller `card` (`c0`), or only deletes one there."""
    if len(argv) < 3 or argv[0] != program:
        return False
    unit = _UNIT.fullmatch(argv[1])
    if unit is not None:
        return unit[1] == f"/{card}" and argv[2:] == ("del",)
    return argv[1] == f"/{card}" and _ADD.fullmatch(" ".join(argv[2:])) is not None


def reply_to(argv: tuple[str, ...]) -> PromptReply | None:
    """Return the prompt that tw_cli shows before a deletion, which names the unit, and the answer to it.

    None for a command without a prompt.
    """
    if argv[2:] != ("del",):
        return None
    question = (
        f"Deleting {argv[1]} will cause the data on the unit to be permanently lost. Do you want to continue ? Y|N [N]:"
    )
    return PromptReply(question=question, answer="Y")


def card_lock(card: ThreewareCard) -> str:
    """Return the name of the lock for changes of a controller."""
    return f"{NAME}-{card.name}"


def existing_volume_ids(card: ThreewareCard, units: Mapping[str, UnitDetails]) -> tuple[str, ...]:
    """Return a lasting id of each unit: its own serial number, else the serial numbers of its drives."""
    return tuple(sorted(_lasting_id(card, row, units[row["Unit"]]) for row in card.units))


def find_made(
    array: CreatedArray,
    card: ThreewareCard,
    units: Mapping[str, UnitDetails],
    picture: Topology,
    *,
    program: str,
    cards: int,
) -> ArrayMatch:
    """Return the match for a created array; see `ArrayCreator.find_made`.

    `card`, `units`: the controller and the details of its units, as just read. `cards`: number of controllers of the
    host.
    """
    cut = next((problem.message for problem in card.cut.values()), "")

    def card_array(row: Row) -> ControllerArray:
        unit, unit_details = row["Unit"], units[row["Unit"]]
        listed = tuple(port["Place"] for port, _ in inventory_drives(card) if port["Unit"] == unit)
        return ControllerArray(
            called=f"unit {unit.removeprefix('u')}",
            target=unit_target(card.name, unit),
            drives=unit_details.ports if set(unit_details.ports) == set(listed) else (),
            claimed=listed,
            level=Level.RAID0 if row["UnitType"] == "SINGLE" else level_of(row),
            strip_bytes=read_size(row.get("Stripe")),
            spans=unit_details.groups,
            name=unit_details.name,
            lasting=_lasting_id(card, row, unit_details),
            added=""
            if unit_details.volumes == 1
            else f"it is divided into {unit_details.volumes or 'an unknown number of'} volumes",
            node=_node(row, unit_details, picture, cards),
            remove=(ChangeStep(argv=(program, f"/{card.name}/{unit}", "del")),),
        )

    return find_on_controller(
        array,
        ControllerArrays(
            drives=tuple(_drive(card, port, drive) for port, drive in inventory_drives(card)),
            arrays=tuple(card_array(row) for row in card.units),
            cut=cut,
            kind="unit",
            lock=card_lock(card),
        ),
    )


def _node(row: Row, unit_details: UnitDetails, picture: Topology, cards: int) -> Node | None:
    """Return the kernel's disk of a unit, or None if it is not certain.

    Units of different controllers may have the same number, and so the disk of another unit could be found. Therefore
    the serial number must match if the disk reports one, or if there is more than one controller.
    """
    node = node_of(row, picture)
    serial = None if node is None else identity(node).serial
    if serial is None:
        return node if cards == 1 else None
    return node if serial == unit_details.serial else None


def _drive(card: ThreewareCard, port: Row, drive: Drive) -> ControllerDrive:
    part_of = ""
    if port["Unit"] != "-" and all(row["Unit"] != port["Unit"] for row in card.units):
        part_of = f"is in unit {clean(port['Unit'], 20)}"
    elif drive.state in PARTS:
        part_of = f"is {state_text(drive.state, port['Status'])}"
    return ControllerDrive(place=port["Place"], serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _lasting_id(card: ThreewareCard, row: Row, unit_details: UnitDetails) -> str:
    serials = [port.get("Serial") or port["Place"] for port, _ in inventory_drives(card) if port["Unit"] == row["Unit"]]
    return f"unit {unit_details.serial}" if unit_details.serial else lasting_id(None, serials, f"number {row['Unit']}")
