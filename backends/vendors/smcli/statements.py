"""SMcli statements: those that change a disk system, and those for a new logical drive, which are only shown. No I/O.

The statements for a new logical drive are from IBM's `Command Line Interface and Script Commands Programming Guide` for
the DS3000, DS4000 and DS5000 (create logicalDrive, manual drive select), NetApp's for E-Series (create volumeGroup,
create volume) and Dell's for MD arrays (create virtualDisk). They have not been tried on a disk system.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from re import Pattern

from backends.array_planning import ArrayPlan, ArrayRequest, Candidate, capacity, require_alike, require_shape
from backends.change import ChangeStep
from backends.change_steps import RequestedValue, is_restorable_value, order_by_bounds
from backends.errors import BlockedError, InvalidValueError
from backends.identity import Identity
from backends.model import Drive, Level, State
from backends.settings import Reading, Setting
from backends.text import clean
from backends.vendors._disk_systems import INFINITE
from backends.vendors.smcli.dialects import DELL, IBM, DialectTerms
from backends.vendors.smcli.facts import VOLUME_ID, SystemProfile
from backends.vendors.smcli.readings import (
    BY_KEY,
    CACHE_BLOCK,
    FLUSH_MODIFIER,
    FLUSH_START,
    FLUSH_STOP,
    SEGMENT,
    SystemView,
    value_of,
)


def script_argv(program: str, name: str, statement: str) -> tuple[str, ...]:
    """Return the command line for one statement to a disk system."""
    return (program, "-n", name, "-c", statement)


def step(view: SystemView, key: str, value: str) -> ChangeStep:
    """Return the step with the statement that sets a value on one disk system or logical drive."""
    terms, setting = view.profile.nouns, BY_KEY[key]
    subject = terms.system if view.volume is None else f'{terms.volume} ["{view.volume.name}"]'
    word = setting.value_words.get(value) or (_delay(value, terms.fractions) if setting is FLUSH_MODIFIER else value)
    return ChangeStep(argv=script_argv(view.program, view.profile.name, f"set {subject} {setting.parameter}={word};"))


def _delay(value: str, fractions: bool) -> str:
    """Return seconds in the dialect's notation. IBM's dialect writes fractions in milliseconds, NetApp's as `.25`."""
    if value in ("immediate", INFINITE):
        return value.capitalize()
    if "." not in value:
        return value
    if fractions:
        return value.removeprefix("0")
    return str(round(float(value) * 1000))


def identity(view: SystemView) -> Identity:
    """Return the identity of the disk system or logical drive, by world wide name."""
    if view.volume is None:
        return Identity(name=view.profile.name, wwn=view.profile.wwn)
    return Identity(name=f"{view.profile.name}/{view.volume.name}", wwn=view.volume.wwn(*VOLUME_ID))


def companions_now(view: SystemView, key: str) -> dict[str, str]:
    """Return the other flush threshold's current value, by its key, if `key` is a threshold; else {}."""
    partner = _PARTNERS.get(key)
    beside = None if partner is None else value_of(view.record, BY_KEY[partner])
    return {} if partner is None or beside is None else {partner: beside}


_PARTNERS = {FLUSH_START.setting.key: FLUSH_STOP.setting.key, FLUSH_STOP.setting.key: FLUSH_START.setting.key}
"""The other flush threshold, by the key of each. The stop threshold should not be above the start threshold."""

_PERCENT = re.compile(r"[0-9]{1,2}|100")
_KIB = re.compile(r"[1-9][0-9]{0,3}")
_BEFORE = {CACHE_BLOCK.setting.key: _KIB, SEGMENT.setting.key: _KIB, **dict.fromkeys(_PARTNERS, _PERCENT)}


def legal_companions(key: str) -> dict[str, Pattern[str]]:
    """Return, by key, the pattern of the other threshold's value if `key` is a flush threshold, else {}."""
    return {_PARTNERS[key]: _PERCENT} if key in _PARTNERS else {}


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Return an old value, whether or not it is offered now. Raises InvalidValueError."""
    legal = _BEFORE.get(setting.key)
    if legal is None:
        return is_restorable_value(setting, now, value)
    if not legal.fullmatch(value):
        raise InvalidValueError(f"The old value of {setting.label} cannot have been {clean(value, 40)}.")
    return value


def order_thresholds(view: SystemView, values: Mapping[str, str]) -> list[str]:
    """Return the keys in an order in which the stop threshold is never above the start threshold, if possible."""
    now = {key: value_of(view.record, BY_KEY[key]) for key in _PARTNERS}
    return order_by_bounds(values, now, (FLUSH_STOP.setting.key, FLUSH_START.setting.key))


def with_value(view: SystemView, key: str, value: str) -> SystemView:
    """Return the expected state after `key`, if it is a flush threshold, is set to `value`."""
    if key not in _PARTNERS:
        return view
    label = BY_KEY[key].labels[0]
    rows = {name: text for name, text in view.record.rows.items() if not name.startswith(label)} | {label: value}
    return replace(view, profile=replace(view.profile, summary=replace(view.record, rows=rows)))


def threshold_warning(view: SystemView, key: str, value: str) -> str:
    """Return a warning if the stop threshold would be above the start threshold; "" otherwise."""
    partner = _PARTNERS.get(key)
    partner_value = None if partner is None else value_of(view.record, BY_KEY[partner])
    if partner_value is None or not partner_value.isdecimal():
        return ""
    start, stop = (value, partner_value) if key == FLUSH_START.setting.key else (partner_value, value)
    if int(stop) <= int(start):
        return ""
    return f"The flush would stop at {stop} %, which is above its start at {start} %. The disk system may refuse that."


def require_room(view: SystemView, request: RequestedValue, companions: Mapping[str, str]) -> None:
    """Raise BlockedError if a flush threshold cannot be restored because the other one has been changed since."""
    key, partner = request.setting.key, _PARTNERS.get(request.setting.key)
    if partner is None or request.value == request.now.now or not threshold_warning(view, key, request.value):
        return
    now = value_of(view.record, BY_KEY[partner])
    if companions.get(partner) == now:
        return
    raise BlockedError(
        f"{request.setting.label} of {request.target} cannot be restored to {request.value} % while "
        f"{BY_KEY[partner].setting.label.lower()} {now} %.",
        hint=f"It was {companions[partner]} % then. Undo that change first." if partner in companions else "",
    )


LEVELS = {Level.RAID0: "0", Level.RAID1: "1", Level.RAID10: "1", Level.RAID5: "5", Level.RAID6: "6"}
"""Numbers of RAID levels in statements. RAID 10 is `1`, because a RAID 1 over more than two drives is striped."""

SEGMENTS = tuple(8 << 10 << step for step in range(7))
"""Segment sizes in bytes that the statements accept, 8 to 512 KiB."""

INITIALISES = 30e6
"""Approximate initialisation speed in bytes per second and drive. It is only used to estimate the duration."""

BY_HAND = (
    "A disk system needs hours to create and initialise a logical drive, so raidbench only shows the statements. "
    "Run them manually, then scan the devices again."
)

_WHY_NOT = {
    State.ONLINE: "it is in an array",
    State.SPARE: "it is a hot spare",
}


def candidates(drives: tuple[Drive, ...], cut: str) -> tuple[Candidate, ...]:
    """Return the drives of a disk system, with the reasons against each. `cut`: why its profile is truncated."""
    serials = [drive.serial for drive in drives]
    return tuple(_candidate(drive, serials.count(drive.serial) > 1, cut) for drive in drives)


def _candidate(drive: Drive, twice: bool, cut: str) -> Candidate:
    reasons = [cut] if cut else []
    if drive.array is not None:
        reasons.append(f"it is in {drive.array}")
    elif drive.state is not State.UNASSIGNED:
        reasons.append(_WHY_NOT.get(drive.state, f"it is {drive.state.value}"))
    if not drive.serial or twice:
        reasons.append("its serial number is missing or not unique")
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


def plan_logical_drive(request: ArrayRequest, profile: SystemProfile, program: str) -> ArrayPlan:
    """Return the plan for a logical drive, with statements in the dialect of the disk system.

    Raises InvalidValueError.
    """
    warnings = require_alike(request.drives)
    if request.level not in LEVELS:
        raise InvalidValueError(
            f"A disk system does not support {request.level.name}.", hint="Supported levels: RAID0, 1, 10, 5 and 6."
        )
    if request.policies or request.spans is not None:
        raise InvalidValueError(
            "A logical drive takes no spans and no policies at creation.",
            hint="Set them after the logical drive exists.",
        )
    if request.strip_bytes not in (None, *SEGMENTS):
        raise InvalidValueError(
            f"The disk system does not support a segment of {request.strip_bytes} bytes.",
            hint="Use 8k, 16k, 32k, 64k, 128k, 256k or 512k.",
        )
    data = require_shape(request)
    strip = None if request.level is Level.RAID1 else request.strip_bytes
    wanted = ArrayRequest(
        level=request.level, drives=request.drives, strip_bytes=strip, name=request.name, token=request.token
    )
    size = min((drive.size_bytes or 0 for drive in request.drives), default=0)
    return ArrayPlan(
        request=wanted,
        maker="SMcli",
        steps=tuple(
            ChangeStep(argv=script_argv(program, profile.name, statement))
            for statement in _statements(wanted, profile.nouns)
        ),
        size_bytes=capacity(wanted, data),
        data_drives=data,
        seconds=size / INITIALISES,
        initialising="The disk system initialises it in the background. This time includes the initialisation.",
        warnings=warnings,
        by_hand=BY_HAND,
    )


def _statements(request: ArrayRequest, terms: DialectTerms) -> tuple[str, ...]:
    places = " ".join(drive.place for drive in request.drives)
    segment = "" if request.strip_bytes is None else f" segmentSize={request.strip_bytes // 1024}"
    level, name = LEVELS[request.level], request.name
    if terms in (IBM, DELL):
        drives = "drives" if terms is IBM else "physicalDisks"
        return (f'create {terms.volume} {drives}=({places}) raidLevel={level} userLabel="{name}"{segment};',)
    return (
        f'create volumeGroup drives=({places}) raidLevel={level} userLabel="{name}";',
        f'create volume volumeGroup="{name}" userLabel="{name}"{segment};',
    )
