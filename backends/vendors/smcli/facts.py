"""Facts of a disk system, and the parser of `show storageSubsystem profile`. What it lacks is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.subject import misnamed_reason, repeated, twice_reason
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smcli.dialects import DELL, IBM, NETAPP, DialectTerms

_WWN = re.compile(r"[0-9a-z]{2}(?::[0-9a-z]{2}){7,15}|[0-9a-z]{16}(?:[0-9a-z]{16})?", re.ASCII)
"""Any letters: what stands for one in a recording is not hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """A controller, an array, a logical drive or a drive, with its rows."""

    name: str
    """Its name, or its place."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """What it says, by labels in small letters; the first of a label counts."""
    members: tuple[str, ...] = ()
    """Places of the drives of an array."""

    def text_of(self, *labels: str) -> str | None:
        """The first row of one of these labels; its unit may follow in brackets."""
        rows = self.rows.items()
        return next(
            (text for label in labels for key, text in rows if key == label or key.startswith(f"{label} (")), None
        )

    def size(self, *labels: str) -> int | None:
        """Bytes in such a row."""
        return read_size(self.text_of(*labels))

    def wwn(self, *labels: str) -> str | None:
        """World wide name in such a row, in small letters without colons."""
        match = _WWN.match((self.text_of(*labels) or "").lower())
        return None if match is None else match[0].replace(":", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A whole disk system."""

    name: str
    """Its name."""
    nouns: DialectTerms
    """What its dialect calls things."""
    summary: SystemPart
    """What holds for all of it."""
    controllers: tuple[SystemPart, ...] = ()
    """Its controllers, by place."""
    arrays: tuple[SystemPart, ...] = ()
    """Arrays, each with the drives it is made of."""
    volumes: tuple[SystemPart, ...] = ()
    """Logical drives."""
    drives: tuple[SystemPart, ...] = ()
    """Drives, by place."""
    batteries: tuple[str, ...] = ()
    """State of each battery in its own words."""
    serials: tuple[str, ...] = ()
    """Serial numbers of enclosures and what is in them."""
    cut: str = ""
    """Why it is only the beginning, as a sentence; "" where it is all. No section of it is half of one."""

    misnamed: str = ""
    """Why nothing of it is believed, as a clause; "" where it is about one disk system."""
    twice: str = ""
    """Why nothing is believed of something in it, as a clause; "" where nothing is there twice."""

    @property
    def wwn(self) -> str | None:
        """World wide name of the disk system."""
        return self.summary.wwn(*_SYSTEM_ID)

    @property
    def protected(self) -> bool | None:
        """Whether cached writes outlive a power cut; None if no battery is told of."""
        return all(battery.startswith("Optimal") for battery in self.batteries) if self.batteries else None

    @property
    def offline(self) -> SystemPart | None:
        """A controller that is not online."""
        parts = (controller for controller in self.controllers if controller.text_of("status") is not None)
        return next(
            (part for part in parts if not (part.text_of("status") or "").startswith(("Online", "Optimal"))), None
        )

    def volume(self, name: str) -> SystemPart | None:
        """The logical drive of a name; None if none or several have it."""
        parts = [volume for volume in self.volumes if volume.name == name]
        return parts[0] if len(parts) == 1 else None

    def array_of(self, volume: SystemPart) -> SystemPart | None:
        """The array that a logical drive lies on."""
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
"""More than the profile of any disk system has; what follows is not read."""

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
"""How a thing begins, by section; drives by their place."""


@dataclass(slots=True)
class _Being:
    """A record while it is read."""

    name: str
    rows: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)

    def record(self) -> SystemPart:
        return SystemPart(name=self.name, rows=self.rows, members=tuple(self.members))


def parse_profile(text: str) -> SystemProfile | None:
    """The disk system that it tells of; None where it tells of none."""
    lines = [raw.strip() for raw in text.splitlines()[:LINES]]
    titles = [match for line in lines if (match := _TITLE.fullmatch(line))]
    if not titles:
        return None
    title = titles[0]
    beings: dict[str, list[_Being]] = {name: [] for name in ("controllers", "arrays", "volumes", "drives")}
    summary = _Being(clean(title[1]))
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
        elif section in beings:
            listing = _read_part_line(beings[section], section, line, listing)
    twice = {name: repeated(being.name for being in same_kind) for name, same_kind in beings.items()}
    for name, same_kind in beings.items():
        beings[name] = [_Being(being.name) if being.name in twice[name] else being for being in same_kind]
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
        controllers=_records(beings["controllers"]),
        arrays=_records(beings["arrays"]),
        volumes=_records(beings["volumes"]),
        drives=_records(beings["drives"]),
    )


def _records(beings: Iterable[_Being]) -> tuple[SystemPart, ...]:
    return tuple(being.record() for being in beings)


def whole_sections(text: str) -> str:
    """The beginning of half a profile: the last section of it may go on."""
    lines = text.splitlines(keepends=True)
    heads = [at for at, line in enumerate(lines) if _SECTION.fullmatch(line.strip())]
    return "".join(lines[: heads[-1] if heads else 0])


def _read_part_line(beings: list[_Being], section: str, line: str, listing: bool) -> bool:
    """One line of a section; whether the lines that follow list the drives of an array."""
    drive_match = _PLACE.fullmatch(line)
    if section == "drives":
        if drive_match is not None:
            beings.append(_Being(_spot(drive_match)))
        elif beings:
            _row(beings[-1], line)
        return False
    head = _HEADS[section].fullmatch(line)
    if head is not None:
        beings.append(_Being(clean(head[1])))
        return False
    if not beings:
        return False
    if section == "arrays" and line.lower().startswith(("associated drives", "associated physical disks")):
        return True
    if listing and (spot := drive_match or _SPOT.fullmatch(line)) is not None:
        beings[-1].members[_spot(spot)] = None
        return True
    _row(beings[-1], line)
    return listing and ":" not in line


def _spot(drive_match: re.Match[str]) -> str:
    """`0,4`: enclosure and slot, the drawer between them where there is one."""
    return ",".join(part for part in drive_match.groups() if part is not None)


def _row(being: _Being, line: str) -> None:
    key, colon, value = line.partition(":")
    label = " ".join(key.lower().split())
    if colon and 0 < len(label) <= 80 and len(being.rows) < 200:
        being.rows.setdefault(clean(label), clean(value, 200))
