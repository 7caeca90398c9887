"""Parser for `show storageSubsystem profile`: facts of a disk system. Missing parts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.subject import find_repeated, misnamed_reason, twice_reason
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smcli.dialects import DELL, IBM, NETAPP, DialectTerms

_WWN = re.compile(r"[0-9a-z]{2}(?::[0-9a-z]{2}){7,15}|[0-9a-z]{16}(?:[0-9a-z]{16})?", re.ASCII)
"""Pattern of a world wide name. Any letters are accepted: placeholders in recordings are not hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """A controller, an array, a logical drive or a drive, with its rows."""

    name: str
    """Its name or location."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Values of its rows in the profile, by label in lower case. If a label occurs twice, its first row is used."""
    members: tuple[str, ...] = ()
    """Locations of the drives of an array."""

    def text_of(self, *labels: str) -> str | None:
        """Return the value of the first row with one of these labels. A unit in parentheses may follow the label."""
        rows = self.rows.items()
        return next(
            (text for label in labels for key, text in rows if key == label or key.startswith(f"{label} (")), None
        )

    def size(self, *labels: str) -> int | None:
        """Return the size in bytes from the first row with one of these labels."""
        return read_size(self.text_of(*labels))

    def wwn(self, *labels: str) -> str | None:
        """Return the world wide name from the first row with one of these labels, in lower case without colons."""
        match = _WWN.match((self.text_of(*labels) or "").lower())
        return None if match is None else match[0].replace(":", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A disk system with all its parts, as its profile describes it."""

    name: str
    """Its name."""
    nouns: DialectTerms
    """Terms of its dialect."""
    summary: SystemPart
    """Values of the disk system itself."""
    controllers: tuple[SystemPart, ...] = ()
    """Controllers by location."""
    arrays: tuple[SystemPart, ...] = ()
    """Arrays with the locations of their drives."""
    volumes: tuple[SystemPart, ...] = ()
    """Logical drives."""
    drives: tuple[SystemPart, ...] = ()
    """Drives by location."""
    batteries: tuple[str, ...] = ()
    """State of each battery, as the profile prints it: `Optimal`, ..."""
    serials: tuple[str, ...] = ()
    """Serial numbers of enclosures and their components."""
    cut: str = ""
    """Why the profile is truncated, as a sentence; "" if it is complete.

    The sections that it contains are always complete.
    """

    misnamed: str = ""
    """Why the profile is not trusted, as a clause; "" if it is about a single disk system."""
    twice: str = ""
    """Why some parts are not trusted, as a clause; "" if no name occurs twice."""

    @property
    def wwn(self) -> str | None:
        """Return the world wide name of the disk system."""
        return self.summary.wwn(*_SYSTEM_ID)

    @property
    def is_protected(self) -> bool | None:
        """Return whether cached writes survive a power failure; None if no battery is reported."""
        return all(battery.startswith("Optimal") for battery in self.batteries) if self.batteries else None

    @property
    def offline(self) -> SystemPart | None:
        """Return a controller that is not online, or None."""
        parts = (controller for controller in self.controllers if controller.text_of("status") is not None)
        return next(
            (part for part in parts if not (part.text_of("status") or "").startswith(("Online", "Optimal"))), None
        )

    def volume(self, name: str) -> SystemPart | None:
        """Return the logical drive with this name; None if none or several have it."""
        parts = [volume for volume in self.volumes if volume.name == name]
        return parts[0] if len(parts) == 1 else None

    def array_of(self, volume: SystemPart) -> SystemPart | None:
        """Return the array of a logical drive."""
        name = volume.text_of("associated array", "associated volume group", "associated disk group")
        return next((array for array in self.arrays if name is not None and array.name == name), None)


_SYSTEM_ID = tuple(
    f"storage {system} {name}"
    for system in ("subsystem", "array")
    for name in ("world-wide identifier", "worldwide identifier", "worldwide name", "world-wide name")
)
VOLUME_ID = ("logical drive id", "volume world-wide identifier", "volume id", "virtual disk world-wide identifier")
"""Labels of a logical drive's world wide name."""


LINES = 60_000
"""Maximum number of lines to read, more than any profile has."""

_TITLE = re.compile(r"PROFILE FOR STORAGE (?:SUBSYSTEM|ARRAY): (.{1,64}?)(?: \([^)]{0,60}\))?")
_SECTION = re.compile(r"([A-Z][A-Z /&]{2,60}?)-{5,200}")
_PLACE = re.compile(
    r"(?:Drive|Physical Disk) at (?:Enclosure|Tray) (\d{1,4}),(?: Drawer (\d{1,3}),)? Slot (\d{1,4})", re.ASCII
)
_SPOT = re.compile(r"(\d{1,4})[,\s]{1,20}(\d{1,4})", re.ASCII)
_BATTERIES = re.compile(r"\d{1,3} (?:Batteries|Battery Packs) Detected", re.ASCII | re.IGNORECASE)

_SECTIONS = {
    "SUMMARY": "summary",
    "CONTROLLERS": "controllers",
    "RAID CONTROLLER MODULES": "controllers",
    "ARRAYS": "arrays",
    "VOLUME GROUPS": "arrays",
    "DISK GROUPS": "arrays",
    "STANDARD LOGICAL DRIVES": "volumes",
    "STANDARD VOLUMES": "volumes",
    "STANDARD VIRTUAL DISKS": "volumes",
    "DRIVES": "drives",
    "PHYSICAL DISKS": "drives",
    "ENCLOSURES": "enclosures",
    "TRAYS": "enclosures",
}

_HEADS = {
    "controllers": re.compile(r"(?:RAID )?Controller (?:Module )?in (.{1,60})"),
    "arrays": re.compile(
        r"(?:Name:[ \t]{0,60}|(?:Array|Volume Group|Disk Group) )(\S{1,64})(?: \(RAID \d{1,2}\))?",
        re.IGNORECASE | re.ASCII,
    ),
    "volumes": re.compile(r"(?:Logical Drive|Volume|Virtual Disk) name:[ \t]{0,60}(\S.{0,63})", re.IGNORECASE),
}
"""Pattern of the first line of a part, by section of the profile. For a drive this line contains its location."""


@dataclass(slots=True)
class _PartBuilder:
    """A part while it is parsed."""

    name: str
    rows: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)

    def record(self) -> SystemPart:
        return SystemPart(name=self.name, rows=self.rows, members=tuple(self.members))


def parse_profile(text: str) -> SystemProfile | None:
    """Return the disk system that the output describes, or None."""
    lines = [raw.strip() for raw in text.splitlines()[:LINES]]
    titles = [match for line in lines if (match := _TITLE.fullmatch(line))]
    if not titles:
        return None
    title = titles[0]
    parts: dict[str, list[_PartBuilder]] = {name: [] for name in ("controllers", "arrays", "volumes", "drives")}
    summary = _PartBuilder(clean(title[1]))
    batteries: list[str] = []
    serials: dict[str, None] = {}
    section, nouns, powered, listing = "", IBM if "SUBSYSTEM" in title[0] else NETAPP, False, False
    for line in lines:
        if heading := _SECTION.fullmatch(line):
            section, powered, listing = _SECTIONS.get(heading[1].strip(), ""), False, False
            nouns = DELL if heading[1].strip() == "STANDARD VIRTUAL DISKS" else nouns
        elif section == "summary":
            _row(summary, line)
        elif section == "enclosures":
            if line.endswith("Detected"):
                powered = _BATTERIES.fullmatch(line) is not None
            key, colon, value = line.partition(":")
            if key.lower() == "serial number" and value.strip():
                serials[clean(value).removeprefix("SN ").strip()] = None
            if powered and colon and key.lower() in ("status", "battery status"):
                batteries.append(clean(value))
        elif section in parts:
            listing = _read_part_line(parts[section], section, line, listing)
    twice = {name: find_repeated(part.name for part in same_kind) for name, same_kind in parts.items()}
    for name, same_kind in parts.items():
        parts[name] = [_PartBuilder(part.name) if part.name in twice[name] else part for part in same_kind]
    named = [f"{kind.removesuffix('s')} {name}" for kind, names in twice.items() for name in sorted(names)]
    misnamed = misnamed_reason(summary.name, (clean(title[1]) for title in titles))
    return SystemProfile(
        name=summary.name,
        misnamed=misnamed,
        twice=twice_reason(" and ".join(named)) if named else "",
        nouns=nouns,
        summary=summary.record(),
        batteries=tuple(batteries),
        serials=tuple(serials),
        controllers=_records(parts["controllers"]),
        arrays=_records(parts["arrays"]),
        volumes=_records(parts["volumes"]),
        drives=_records(parts["drives"]),
    )


def _records(parts: Iterable[_PartBuilder]) -> tuple[SystemPart, ...]:
    return tuple(part.record() for part in parts)


def complete_sections(text: str) -> str:
    """Return the complete sections of a truncated profile.

    The last section is left out, because it may be incomplete.
    """
    lines = text.splitlines(keepends=True)
    heads = [at for at, line in enumerate(lines) if _SECTION.fullmatch(line.strip())]
    return "".join(lines[: heads[-1] if heads else 0])


def _read_part_line(parts: list[_PartBuilder], section: str, line: str, listing: bool) -> bool:
    """Parse one line of a section, and return whether the next lines list the drives of an array."""
    drive_match = _PLACE.fullmatch(line)
    if section == "drives":
        if drive_match is not None:
            parts.append(_PartBuilder(_spot(drive_match)))
        elif parts:
            _row(parts[-1], line)
        return False
    head = _HEADS[section].fullmatch(line)
    if head is not None:
        parts.append(_PartBuilder(clean(head[1])))
        return False
    if not parts:
        return False
    if section == "arrays" and line.lower().startswith(("associated drives", "associated physical disks")):
        return True
    if listing and (spot := drive_match or _SPOT.fullmatch(line)) is not None:
        parts[-1].members[_spot(spot)] = None
        return True
    _row(parts[-1], line)
    return listing and ":" not in line


def _spot(drive_match: re.Match[str]) -> str:
    """Return the location of a drive, `0,4`: enclosure and slot, with the drawer in between if there is one."""
    return ",".join(part for part in drive_match.groups() if part is not None)


def _row(part: _PartBuilder, line: str) -> None:
    key, colon, value = line.partition(":")
    label = " ".join(key.lower().split())
    if colon and 0 < len(label) <= 80 and len(part.rows) < 200:
        part.rows.setdefault(clean(label), clean(value, 200))
