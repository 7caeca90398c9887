"""What tw_cli tells of one unit or one port, in lines such as `/c0/u0 name = db`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from backends.text import clean
from backends.values import dataclass
from backends.vendors.threeware.settings import LINES

_VALUE = re.compile(r"(/c\d{1,3}/[up]\d{1,4})\s+(\S[^=]{0,60}?)\s*=\s*(.*)", re.ASCII)
_PART = re.compile(r"(u\d{1,4}(?:-\d{1,4}){0,2})\s+(\S+)\s.*", re.ASCII)
_PORT = re.compile(r"\sp\d{1,4}(?=\s|$)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTold:
    """What `show all` tells of a unit."""

    name: str | None = None
    """Its name; None where it has none."""
    serial: str | None = None
    """Its own serial number, new with every unit that is made; None where the card gives none (before the 9000)."""
    volumes: int = 1
    """Volumes that it is divided into, each of them a disk of the kernel."""
    ports: tuple[str, ...] = ()
    """The ports of its drives, in order."""
    groups: int | None = None
    """Units that it is a stripe over (RAID-10, RAID-50); None where it is none."""
    lost: str = ""
    """What it lacks of a whole answer, as `Whole.lost` says; "" where nothing."""


def port_serial(text: str, port: str) -> str | None:
    """The serial number of the drive at `/c0/p3`, "" where it has none; None where the answer does not say."""
    values = _values(text, port)
    return values.get("serial", values.get("serial number"))


def unit_told(text: str, unit: str, ports: Collection[str]) -> UnitTold:
    """What is told of `/c0/u3`, of which the list of drives names `ports`."""
    values = _values(text, unit)
    number = unit.rpartition("/")[2]
    found: list[str] = []
    parts: dict[str, str] = {}
    for raw in text.splitlines()[:LINES]:
        row = _PART.fullmatch(raw.strip()[:400])
        if row is None or row[1].partition("-")[0] != number:
            continue
        parts.setdefault(row[1], row[2])
        found += [match[0].strip() for match in _PORT.finditer(row[0])]
    groups = sum(name.count("-") == 1 and kind != "DISK" for name, kind in parts.items())
    lost = "" if "name" in values else "its name is not told"
    if not lost and (number not in parts or not set(ports) <= set(found)):
        lost = "rows of its drives are missing"
    volumes = values.get("volume(s)", "1")
    return UnitTold(
        name=values.get("name") or None,
        serial=values.get("serial number") or None,
        volumes=int(volumes) if volumes.isascii() and volumes.isdigit() and len(volumes) < 5 else 0,
        ports=tuple(dict.fromkeys(found)),
        groups=groups or None,
        lost=lost,
    )


def _values(text: str, where: str) -> dict[str, str]:
    """By label in small letters, of one thing, without those of which two lines differ."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for raw in text.splitlines()[:LINES]:
        line = _VALUE.fullmatch(raw.strip()[:400])
        if line is not None and line[1] == where:
            label, value = line[2].lower(), clean(line[3].strip(), 80)
            if found.setdefault(label, value) != value:
                twice.add(label)
    return {label: value for label, value in found.items() if label not in twice}
