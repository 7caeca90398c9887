"""Parsers for physical drives. No I/O; they never raise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from backends.model import Media, State
from backends.sizes import read_size
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid import sizes
from backends.vendors.megaraid.facts import PhysicalDrive
from backends.vendors.megaraid.storcli import vocabulary
from backends.vendors.megaraid.storcli.fields import Data, Fields, celsius, nested_dicts, tables
from backends.vendors.megaraid.storcli.named import refused_drives
from backends.vendors.megaraid.storcli.topology import Place, drive_path, parse_place
from backends.vendors.megaraid.storcli.volumes import members, naa

_SPEED = re.compile(r"\d{1,3}(?:\.\d)? ?G(?:b/s|bps|T/s)", re.IGNORECASE | re.ASCII)
_ERRORS = {"media": "media error count", "other": "other error count", "predictive": "predictive failure count"}


@dataclass(slots=True)
class _DriveData:
    """Data about all drives in the output of several commands, by enclosure and slot."""

    rows: dict[Place, Fields] = field(default_factory=dict)
    details: dict[Place, dict[str, object]] = field(default_factory=dict)
    volumes: dict[Place, set[int]] = field(default_factory=dict)
    refused: dict[Place, str] = field(default_factory=dict)


def drives(card: int, *answers: Mapping[str, object]) -> tuple[PhysicalDrive, ...]:
    """Return every drive in the output of these commands about one controller, sorted by enclosure and slot.

    `show all` of the controller has the list, and `eall/sall show all` the details. Each may have values that the other
    lacks.
    """
    facts = _DriveData()
    for data in answers:
        facts.refused |= refused_drives(data, data.differing if isinstance(data, Data) else ())
        for _, row in tables(data, "eid:slt"):
            at = parse_place(row.raw("eid:slt"))
            if at is not None:
                facts.rows.setdefault(at, row)
        for at, details in _details(data):
            facts.details.setdefault(at, {}).update(details)
        for number, places in members(data).items():
            for at in places:
                facts.volumes.setdefault(at, set()).add(number)
    seats = facts.rows.keys() | facts.details.keys() | facts.refused.keys()
    return tuple(
        PhysicalDrive(card=card, enclosure=at[0], slot=at[1], refused=facts.refused[at])
        if at in facts.refused
        else _drive(card, at, facts)
        for at in sorted(seats, key=_order)
    )


def _drive(card: int, at: Place, facts: _DriveData) -> PhysicalDrive:
    row, details = facts.rows.get(at, Fields({})), Fields(facts.details.get(at, {}))
    state, status = row.text("state"), row.text("status")
    raw = f"{state}/{status}" if state is not None and status is not None else state or ""
    sector = read_size(row.text("sesz") or details.text("logical sector size", "sector size"))
    foreign = (row.text("dg") or "").upper() == "F" or (state or "").lower() in ("frgn", "foreign")
    understood = vocabulary.drive_state(state, status)
    interface = vocabulary.INTERFACES.get((row.text("intf") or "").lower())
    return PhysicalDrive(
        card=card,
        enclosure=at[0],
        slot=at[1],
        device_id=row.whole("did", "pid"),
        group=row.whole("dg"),
        state=State.FOREIGN if foreign and understood is not State.FAILED else understood,
        state_raw=raw,
        foreign=foreign if row else None,
        model=row.text("model") or details.text("model number", "model"),
        serial=details.text("sn", "serial number"),
        firmware=details.text("firmware revision", "firmware revision level"),
        media=_media(row.text("med"), interface),
        interface=interface,
        size_bytes=_size(row, details, sector),
        sector_bytes=sector,
        wwn=naa(details.text("wwn")),
        link=_link(details),
        link_limit=_speed(details.text("device speed", "capable speed", "maximum link rate")),
        temperature_c=celsius(details.text("drive temperature", "temperature(c)", "temperature")),
        errors={name: count for name, key in _ERRORS.items() if (count := details.whole(key)) is not None},
        locked=details.flag("locked"),
        alert=details.flag("s.m.a.r.t alert flagged by drive"),
        copyback=vocabulary.is_copying(state, status),
        volumes=tuple(sorted(facts.volumes.get(at, ()))),
    )


def _media(text: str | None, interface: str | None) -> Media:
    media = vocabulary.MEDIA.get((text or "").lower(), Media.UNKNOWN)
    return Media.NVME if media is Media.SSD and interface == "nvme" else media


def _size(row: Fields, details: Fields, sector: int | None) -> int | None:
    coerced = details.text("coerced size")
    number = sizes.exact(coerced, sector) if coerced is not None else None
    return number if number is not None else read_size(row.text("size"))


def _link(details: Fields) -> str | None:
    """Return the negotiated link speed of a drive. Version 8 reports it for each path."""
    paths = [row.text("negotiated speed") for row in details.rows("path information")]
    speeds = (details.text("link speed", "negotiated physical link rate"), *paths)
    return next(filter(None, map(_speed, speeds)), None)


def _speed(text: str | None) -> str | None:
    """Return a link speed, or None for `Unknown` and other text."""
    return text if text is not None and _SPEED.fullmatch(text) else None


def _details(data: Mapping[str, object]) -> Iterator[tuple[Place, dict[str, object]]]:
    """Yield the details of each drive as one dict. They are nested in JSON, but in consecutive sections in text."""
    for heading, value in nested_dicts(data):
        if "Drive Information" in value and "Drive Detailed Information" in value:
            at = parse_place(Fields(value["Drive Information"]).raw("eid:slt"))
            if at is not None:
                yield at, _flat(value["Drive Detailed Information"])
        elif heading.startswith(("Drive /c", "drive /c")):
            at = drive_path(heading)
            if at is not None:
                yield at, _flat(value)


def _flat(data: object) -> dict[str, object]:
    """Return the values of all nested dicts in one dict. Of a repeated key, the outermost value counts."""
    values: dict[str, object] = {}
    if isinstance(data, Mapping):
        for key, value in data.items():
            if isinstance(value, Mapping):
                for inner, deep in value.items():
                    values.setdefault(str(inner), deep)
            else:
                values[str(key)] = value
    return values


def rebuilds(data: Mapping[str, object]) -> dict[Place, BackgroundOperation]:
    """Return the progress of rebuilding drives from `show rebuild`, by place."""
    by_place: dict[Place, BackgroundOperation] = {}
    for _, row in tables(data, "drive-id"):
        at = drive_path(row.text("drive-id") or "")
        status = row.text("status") or ""
        share = row.whole("progress%", "progress")
        if at is not None and "not in progress" not in status.lower() and (share is not None or status):
            done = share / 100 if share is not None and share <= 100 else None
            by_place[at] = BackgroundOperation(kind="rebuild", progress=done, state=status)
    return by_place


def _order(at: Place) -> tuple[int, int]:
    return -1 if at[0] is None else at[0], -1 if at[1] is None else at[1]
