"""Parsers for virtual drives. No I/O; they never raise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from backends.model import State
from backends.sizes import read_size
from backends.subject import find_repeated
from backends.text import clean
from backends.values import dataclass
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue, reported_word
from backends.vendors.megaraid import sizes
from backends.vendors.megaraid.facts import Policies, VirtualDrive
from backends.vendors.megaraid.storcli import vocabulary
from backends.vendors.megaraid.storcli.fields import Data, Fields, cleaned_text, flag, nested_dicts, tables
from backends.vendors.megaraid.storcli.named import refused_volumes
from backends.vendors.megaraid.storcli.properties import cache_bypass
from backends.vendors.megaraid.storcli.topology import (
    Group,
    Place,
    groups,
    parse_place,
    place_text,
    volume,
    volume_path,
)

_PROPERTIES = re.compile(r"vd ?(\d{1,6}) properties", re.IGNORECASE | re.ASCII)
_DRIVES_OF = re.compile(r"pds for vd ?(\d{1,6})", re.IGNORECASE | re.ASCII)
_JOB = re.compile(r"([A-Za-z][A-Za-z /]{0,40}?) ?\((\d{1,3})(?:\.\d+)? ?%\)", re.ASCII)
_NAA = re.compile(r"(?:naa\.)?(?:0x)?([0-9a-f]{16}(?:[0-9a-f]{16})?)", re.IGNORECASE | re.ASCII)


@dataclass(slots=True)
class _VolumeData:
    """Data about all virtual drives in the output of several commands, by number."""

    rows: dict[int, Fields] = field(default_factory=dict)
    properties: dict[int, Fields] = field(default_factory=dict)
    members: dict[int, tuple[str, ...]] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    auto_bgi: dict[int, bool] = field(default_factory=dict)
    per_group: Counter[int | None] = field(default_factory=Counter)
    refused: dict[int, str] = field(default_factory=dict)


def volumes(card: int, *answers: Mapping[str, object]) -> tuple[VirtualDrive, ...]:
    """Return every virtual drive in the output of these commands about one controller, by number.

    `show all` of the controller has the list and the topology, and `vall show all` the properties. Each may have values
    that the other lacks.
    """
    facts = _VolumeData()
    for data in answers:
        for number, group in groups(data).items():
            facts.groups.setdefault(number, group)
        facts.refused |= refused_volumes(data, data.differing if isinstance(data, Data) else ())
        for _, row in tables(data, "dg/vd"):
            pair = volume(row)
            if pair is None:
                continue
            if pair[1] not in facts.rows:
                facts.rows[pair[1]] = row
                facts.per_group[pair[0]] += 1
            elif volume(facts.rows[pair[1]]) != pair or facts.rows[pair[1]].text("type") != row.text("type"):
                facts.refused.setdefault(pair[1], f"two answers differ about virtual drive {pair[1]}")
        facts.properties |= {number: entry for number, entry in _properties(data) if entry}
        facts.members |= {number: tuple(map(place_text, drives)) for number, drives in members(data).items()}
        facts.auto_bgi |= auto_bgi(data)
    listed = [_volume(card, number, facts) for number in sorted(facts.rows.keys() - facts.refused.keys())]
    shared = find_repeated(drive.wwn for drive in listed if drive.wwn is not None)
    for drive in listed:
        if drive.wwn in shared:
            facts.refused[drive.number] = (
                f"virtual drive {drive.number} has the SCSI NAA id of another one, {drive.wwn}"
            )
    believed = [drive for drive in listed if drive.number not in facts.refused]
    refused = [VirtualDrive(card=card, number=number, refused=why) for number, why in facts.refused.items()]
    return tuple(sorted((*believed, *refused), key=lambda drive: drive.number))


def _volume(card: int, number: int, facts: _VolumeData) -> VirtualDrive:
    row, details = facts.rows[number], facts.properties.get(number, Fields({}))
    numbers = volume(row)
    dg = numbers[0] if numbers is not None else None
    group = facts.groups.get(dg) if dg is not None else None
    members = _sort_members(facts.members.get(number, ()), group)
    spans = details.whole("span depth") or (len(group.spans) or None if group is not None else None)
    kind = row.text("type")
    configured, in_force = _policies(row, details)
    state = row.text("state")
    return VirtualDrive(
        card=card,
        number=number,
        group=dg,
        name=row.text("name"),
        level=vocabulary.level(kind, spans),
        level_raw=kind or "",
        spans=spans,
        drives_per_span=_per_span(details, spans, 0 if group is not None and group.missing else len(members)),
        size_bytes=sizes.blocks(
            details.whole("number of blocks"), read_size(row.text("size")), details.whole("block size")
        ),
        strip_bytes=sizes.strip(details.text("strip size")),
        state=vocabulary.VOLUME_STATES.get((state or "").lower(), State.UNKNOWN),
        state_raw=state or "",
        access=reported_word(row.text("access"), vocabulary.ACCESS),
        configured=configured,
        in_force=in_force,
        drive_cache=_drive_cache(details, group),
        auto_bgi=facts.auto_bgi.get(number, details.flag("auto bgi", "autobgi")),
        os_device=_device(details.text("os drive name")),
        wwn=naa(details.text("scsi naa id")),
        drives=members,
        jobs=jobs(details.text("active operations")),
        secured=_is_encrypted(details),
        alone=None if group is None or group.free_space is None else facts.per_group[dg] == 1 and not group.free_space,
        ssd_cache=(kind or "").lower().startswith(("cac", "cachecade")),
        cached=_cached(row.raw("cac")),
        lost=details.flag("bad block exists", "bad blocks exist"),
        cache_bypass=cache_bypass(details),
    )


def _policies(row: Fields, details: Fields) -> tuple[Policies, Policies | None]:
    """Return configured and effective policies, the latter None if not reported separately.

    Version 7 prints only one column of policies and the configured write policy.
    """
    if "currentcache" in row or "defaultcache" in row:
        current, default = row.text("currentcache"), row.text("defaultcache")
        return vocabulary.policies(default or current), vocabulary.policies(current) if current is not None else None
    column = vocabulary.policies(row.text("cache"))
    wanted = reported_word(
        details.text("write cache(initial setting)", "write cache (initial setting)"), vocabulary.WRITE
    )
    if wanted is None or wanted.value == UNKNOWN:
        return column, None
    present = column.write_cache
    # The initial setting is only write-back or write-through; the column also distinguishes always-write-back.
    stronger = present is not None and (wanted.value, present.value) == ("write-back", "always-write-back")
    if present is None or stronger or present.value == wanted.value:
        return Policies(write_cache=present or wanted, read_ahead=column.read_ahead, io_policy=column.io_policy), None
    return Policies(write_cache=wanted, read_ahead=column.read_ahead, io_policy=column.io_policy), column


def _drive_cache(details: Fields, group: Group | None) -> ReportedValue | None:
    policy = details.text("disk cache policy", "drive write cache policy", "drive cache policy")
    return reported_word(policy or (group.drive_cache if group is not None else None), vocabulary.DRIVE_CACHE)


def _per_span(details: Fields, spans: int | None, members: int) -> int | None:
    number = details.whole("number of drives per span")
    if number is not None:
        return number
    total = details.whole("number of drives") or members
    return total // spans if spans and total and not total % spans else None


def _is_encrypted(details: Fields) -> bool | None:
    is_secured = details.flag("secured")
    encryption = details.text("encryption")
    return (
        is_secured
        if is_secured is not None or encryption is None
        else encryption.lower() not in ("none", "no", "disabled")
    )


def _cached(column: object) -> ReportedValue | None:
    """Return whether a CacheCade cache serves the virtual drive; `-` in the column `Cac` means off.

    No recording shows another value.
    """
    column_text = column.strip() if isinstance(column, str) else ""
    return ReportedValue(value="off" if column_text == "-" else "on", raw=clean(column_text)) if column_text else None


def _device(text: str | None) -> str | None:
    return text if text is not None and text.startswith("/dev/") and " " not in text else None


def naa(text: str | None) -> str | None:
    """Return a world wide name in lower case without prefix, or None for other text."""
    match = _NAA.fullmatch(text.strip()) if text is not None else None
    return match[1].lower() if match is not None else None


def _sort_members(members: tuple[str, ...], group: Group | None) -> tuple[str, ...]:
    """Return the members in span order, from the topology, because the tool's list is sorted by slot or not at all."""
    if group is None:
        return members
    return group.drives if not members or sorted(members) == sorted(group.drives) else members


def _properties(data: Mapping[str, object]) -> Iterator[tuple[int, Fields]]:
    """Yield the number and the properties of each virtual drive.

    Version 7 prints them under `VD5 Properties`, version 8 under `VD Properties` next to `VD Info`.
    """
    for heading, value in nested_dicts(data):
        number = _number(_PROPERTIES, heading)
        if number is not None:
            yield number, Fields(value)
        elif "VD Info" in value:
            numbers = volume(Fields(value["VD Info"]))
            if numbers is not None:
                yield numbers[1], Fields(value.get("VD Properties"))


def members(data: Mapping[str, object]) -> dict[int, list[Place]]:
    """Return the members' enclosures and slots by virtual drive.

    Version 7 prints them under `PDs for VD 5`, version 8 under `PDs` next to `VD Info`.
    """
    return data.parse_once(_members) if isinstance(data, Data) else _members(data)


def _members(data: Mapping[str, object]) -> dict[int, list[Place]]:
    by_volume: dict[int, list[Place]] = {}
    for heading, value in nested_dicts(data):
        number = _number(_DRIVES_OF, heading)
        if number is not None:
            _add_member(by_volume, number, value)
        elif "VD Info" in value and isinstance(value.get("PDs"), list):
            numbers = volume(Fields(value["VD Info"]))
            rows = value["PDs"]
            assert isinstance(rows, list)
            for row in rows:
                if numbers is not None:
                    _add_member(by_volume, numbers[1], row)
    return by_volume


def _add_member(matches: dict[int, list[Place]], number: int, row: object) -> None:
    # Try the usual spelling first: a large chassis has thousands of these rows.
    usual = row.get("EID:Slt") if isinstance(row, dict) else None
    at = parse_place(usual if usual is not None else Fields(row).raw("eid:slt"))
    if at is not None:
        matches.setdefault(number, []).append(at)


@lru_cache(maxsize=4096)
def _number(pattern: re.Pattern[str], heading: str) -> int | None:
    match = pattern.fullmatch(heading.strip())
    return int(match[1]) if match is not None else None


def jobs(text: str | None) -> tuple[BackgroundOperation, ...]:
    """Return the operations in `Consistency Check (36%)`, separated by commas; () for `None`."""
    if text is None or text.lower() == "none":
        return ()
    operations = []
    for part in text.split(","):
        match = _JOB.fullmatch(part.strip())
        name = match[1] if match is not None else part.strip()
        kind = vocabulary.JOBS.get(name.lower().strip(), name)
        share = int(match[2]) / 100 if match is not None and int(match[2]) <= 100 else None
        operations.append(BackgroundOperation(kind=kind, progress=share))
    return tuple(operations)


def auto_bgi(data: Mapping[str, object]) -> dict[int, bool]:
    """Return whether background initialisation starts automatically, by virtual drive, from `show autobgi`.

    The output has a column of that name, or one column with the property's name and one with its value.
    """
    by_volume: dict[int, set[bool]] = {}
    for heading, row in tables(data, "vd"):
        number = row.whole("vd")
        number = volume_path(heading) if number is None else number
        value = row.text("autobgi", "auto bgi")
        if value is None and (row.text("property", "operation") or "").lower().replace(" ", "") == "autobgi":
            value = row.text("value", "status")
        on = flag(cleaned_text(value))
        if number is not None and on is not None:
            by_volume.setdefault(number, set()).add(on)
    return {number: states.pop() for number, states in by_volume.items() if len(states) == 1}
