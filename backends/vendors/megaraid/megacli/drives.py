"""Parsers for physical drives: -PDList, and the members in -LdPdInfo. No I/O; they never raise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from backends.model import Media, State
from backends.subject import find_repeated, twice_reason
from backends.text import clean
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid.facts import COPYBACK, PhysicalDrive
from backends.vendors.megaraid.megacli.progress import parse_ongoing
from backends.vendors.megaraid.megacli.text import Line, degrees, lines, parse_yes, value_or_none, whole, wwn
from backends.vendors.megaraid.sizes import exact

_STATES = {
    "online": State.ONLINE,
    "jbod": State.ONLINE,
    "unconfigured(good)": State.UNASSIGNED,
    "unconfigured good": State.UNASSIGNED,
    "unconfigured(bad)": State.FAILED,
    "unconfigured bad": State.FAILED,
    "hotspare": State.SPARE,
    "hot spare": State.SPARE,
    "global hotspare": State.SPARE,
    "dedicated hotspare": State.SPARE,
    "rebuild": State.REBUILDING,
    "copyback": State.ONLINE,
    "failed": State.FAILED,
    "offline": State.OFFLINE,
    "missing": State.MISSING,
}
"""States by the text of `Firmware state` up to the first comma (`Online, Spun Up`)."""

_MEDIA = {"hard disk device": Media.HDD, "solid state device": Media.SSD}
_INTERFACES = {"sas": "sas", "sata": "sata", "nvme": "nvme"}
_COUNTERS = {
    "media error count": "media",
    "other error count": "other",
    "predictive failure count": "predictive",
}
_MAKERS = frozenset(
    ("ATA", "FUJITSU", "HGST", "HITACHI", "HP", "IBM-ESXS", "INTEL", "KIOXIA", "LENOVO-X", "MAXTOR", "MICRON")
) | frozenset(("SAMSUNG", "SEAGATE", "SMART", "STEC", "TOSHIBA", "WDC"))
"""T10 vendor ids, the first 8 characters of a SCSI inquiry. A SATA drive has its serial number there, which equals none
of them."""

_POSITION = re.compile(r"DiskGroup: ?([0-9]{1,6}),", re.ASCII | re.IGNORECASE)
_CARD = re.compile(r"Adapter #([0-9]{1,6})$", re.ASCII | re.IGNORECASE)
_ENDS = ("virtual drive", "virtual disk", "cachecade virtual drive", "span", "pd", "physical disk", "exit code")


@dataclass(slots=True)
class Record:
    """Lines about one drive."""

    card: int
    """Number of the controller that lists it."""
    fields: dict[str, Line] = field(default_factory=dict)
    """First line with each key."""
    jobs: list[BackgroundOperation] = field(default_factory=list)
    """Operations of `Ongoing Progresses`."""

    def take(self, line: Line) -> None:
        """Store a line."""
        self.fields.setdefault(line.key, line)
        if job := parse_ongoing(line):
            self.jobs.append(job)

    def value(self, *keys: str) -> str:
        """Return the value of the first of `keys` that has one, or ""."""
        return next((self.fields[key].value for key in keys if key in self.fields and self.fields[key].value), "")


def records(text: str, card: int) -> Iterator[Record]:
    """Yield the drives in the output in order. `card` is their controller until the output names another one."""
    current: Record | None = None
    for line in lines(text):
        if not line.key and (named := _CARD.match(line.value)):
            card = int(named[1])
        if (
            (not line.key and _CARD.match(line.value))
            or line.key in _ENDS
            or line.key == "enclosure device id"
            or (line.key == "slot number" and current is not None and "slot number" in current.fields)
        ):
            if current is not None:
                yield current
            current = Record(card) if line.key in ("enclosure device id", "slot number") else None
        elif line.key == "slot number" and current is None:
            current = Record(card)
        if current is not None and line.key:
            current.take(line)
    if current is not None:
        yield current


def parse_drives(text: str, card: int = 0) -> tuple[PhysicalDrive, ...]:
    """Return the drives of -PDList in order; drives without a slot number are left out.

    A drive that the output lists more than once is returned once, as refused.
    """
    drives = [drive_record for record in records(text, card) if (drive_record := drive(record)).slot is not None]
    twice = find_repeated((drive_record.card, drive_record.place) for drive_record in drives)
    once = {
        (drive_record.card, drive_record.place): PhysicalDrive(
            card=drive_record.card,
            enclosure=drive_record.enclosure,
            slot=drive_record.slot,
            refused=twice_reason(f"drive {drive_record.place}"),
        )
        if (drive_record.card, drive_record.place) in twice
        else drive_record
        for drive_record in drives
    }
    return tuple(once.values())


def drive(record: Record) -> PhysicalDrive:
    """Return one drive. Values that are implausible or not reported are None or unknown."""
    value = record.value
    state_raw = value("firmware state")
    foreign = {"foreign": True, "none": False}.get(value("foreign state").lower())
    state = _STATES.get(state_raw.partition(",")[0].strip().lower(), State.UNKNOWN)
    position = _POSITION.search(value("drive's position", "drive's postion"))  # versions 8.0x misspell the label
    sector = whole(value("logical sector size")) or whole(value("sector size"))
    level = value_or_none(value("device firmware level"))
    inquiry = record.fields.get("inquiry data")
    interface = _INTERFACES.get(value("pd type").lower())
    model, serial, firmware = identify(inquiry.raw, level, interface) if inquiry else (None, None, None)
    counters = {name: whole(value(key)) for key, name in _COUNTERS.items()}
    return PhysicalDrive(
        card=record.card,
        enclosure=whole(value("enclosure device id")),
        slot=whole(value("slot number")),
        device_id=whole(value("device id")),
        group=int(position[1]) if position else None,
        state=State.FOREIGN if foreign and state is State.UNASSIGNED else state,
        state_raw=state_raw,
        foreign=foreign,
        model=model,
        serial=serial,
        firmware=firmware or level,
        media=_MEDIA.get(value("media type").lower(), Media.UNKNOWN),
        interface=interface,
        size_bytes=exact(value("coerced size"), sector) or exact(value("raw size"), sector),
        sector_bytes=sector or None,
        wwn=wwn(value("wwn")),
        link=value_or_none(value("link speed")),
        link_limit=value_or_none(value("device speed")),
        temperature_c=degrees(value("drive temperature")),
        errors={name: count for name, count in counters.items() if count is not None},
        locked={"locked": True, "unlocked": False}.get(value("locked").lower()),
        alert=parse_yes(value("drive has flagged a s.m.a.r.t alert")),
        copyback=state_raw.lower().startswith(COPYBACK) or None,
        inquiry=value_or_none(inquiry.value) if inquiry else None,
        jobs=tuple(record.jobs),
    )


def identify(raw: str, level: str | None, interface: str | None = None) -> tuple[str | None, str | None, str | None]:
    """Return model, serial number and firmware from an inquiry string; None for each that is uncertain.

    A SCSI inquiry has 8 characters of vendor, 16 of product and 4 of revision, then the serial number. The string of a
    SATA drive has 20 characters of serial number, 40 of model and 8 of firmware. The layout is recognised by the
    position of the separately reported firmware level, by a known vendor at the start, or, for a drive reported as
    SATA, by the blank after its model. Drives of IBM and Lenovo have other characters after the serial number, so for
    them no serial number is returned.
    """
    text = raw.rstrip()
    if not text.isascii() or not text.isprintable():
        return None, None, None
    wide = 60 < len(text) <= 68
    is_split = interface == "sata" and text[59:60] == " " and " " not in text[60:]
    if wide and (is_split if level is None else text[60:].strip().endswith(level)):
        return _part(text[20:60]), _part(text[:20]), _part(text[60:68])
    vendor, revision, rest = text[:8].strip(), text[24:28].strip(), text[28:].strip()
    if len(text) > 28 and (vendor in _MAKERS if level is None else revision == level and vendor):
        serial = rest if 0 < len(rest) <= 20 and " " not in rest and revision and revision not in rest else None
        return _part(text[8:24]), serial, _part(revision)
    return None, None, None


def _part(text: str) -> str | None:
    return value_or_none(clean(text))
