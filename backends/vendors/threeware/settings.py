"""Settings of a unit, and parsers for the tables and lines of tw_cli. No I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from backends.settings import Risk, unconfirmed
from backends.subject import find_repeated, misnamed_reason, twice_reason
from backends.text import clean
from backends.values import dataclass

# -- parsers for tables: rows by column names. No I/O; unknown lines are left out -------------------------------------

LINES = 4000
"""Maximum number of lines to read, more than any controller prints."""

_RULE = re.compile(r"-{10,200}")
_NAME = re.compile(r"\S{1,24}")
_FIRST = re.compile(r"(?:[cup]\d{1,4}|bbu)", re.ASCII)

Row = Mapping[str, str]


def rows(text: str, *columns: str) -> tuple[Row, ...]:
    """Return the rows of the tables with these columns, except rows that have the same name."""
    complete_rows = [row for row in _rows(text) if all(column in row for column in columns)]
    twice = find_repeated(next(iter(row.values())) for row in complete_rows)
    return tuple(row for row in complete_rows if next(iter(row.values())) not in twice)


def repeated_names_reason(text: str, *columns: str) -> str:
    """Return why rows of the tables with these columns are left out, as a clause; "" if none are."""
    names = (next(iter(row.values())) for row in _rows(text) if all(column in row for column in columns))
    twice = sorted(find_repeated(names))
    return twice_reason(" and ".join(twice)) if twice else ""


def _rows(text: str) -> Iterator[Row]:
    """Yield the rows of all tables.

    Titles are above a dashed line. Widths vary by version, so each cell is read from the position of its title.
    """
    lines = [line for raw in text.splitlines()[:LINES] if (line := raw.rstrip()[:400]).strip()]
    columns: list[tuple[str, int]] = []
    for line, following in pairwise([*lines, ""]):
        if _RULE.fullmatch(following.strip()):
            columns = [(match[0], match.start()) for match in _NAME.finditer(line)]
        elif columns and not _RULE.fullmatch(line.strip()):
            cells = _cells(line, [start for _, start in columns])
            row = {name: clean(cell) for (name, _), cell in zip(reversed(columns), reversed(cells), strict=True)}
            if _FIRST.fullmatch(row[columns[0][0]]):
                yield {name: row[name] for name in dict.fromkeys(name for name, _ in columns)}


def _cells(line: str, starts: list[int]) -> list[str]:
    """Return the cells of a line, split at the positions of the titles.

    If a word crosses a boundary, the line is split into words, provided that their number is right.
    """
    if any(len(line[start - 1 : start + 1].strip()) == 2 for start in starts[1:]):
        tokens = line.split()
        return tokens if len(tokens) == len(starts) else [""] * len(starts)
    return [line[start:end] for start, end in pairwise([*starts, len(line)])]


# -- settings of a unit -----------------------------------------------------------------------------------------------

_GUIDE = " (3ware 9650SE/9690SA/9750 CLI Guide)."


WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="With write-back, a write is acknowledged when it is in the controller's memory. While an installed battery "
    "is not ready, the controller forces the cache off." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power failure loses acknowledged writes if no battery protects the controller's memory.",
)
READ_CACHE = unconfirmed(
    key="read_cache",
    label="Read cache",
    help="off, basic, or intelligent, which reads ahead during sequential reads." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="Read-ahead helps sequential load and may cost random load.",
)
AUTO_VERIFY = unconfirmed(
    key="auto_verify",
    label="Auto-verify",
    help="Whether the controller verifies the unit automatically on a schedule." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A verification slows other I/O. Without verification, media errors are found late.",
)

STORSAVE = unconfirmed(
    key="storsave",
    label="StorSave",
    help="Trade-off between speed and safety while the write cache is on. With protect, the cache is off while the "
    "unit is degraded, and flushed data reaches the medium. balance is in between. With perform, there is no "
    "write journal, and the battery does not protect this unit. Controllers before the 9550SX do not have it." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="With perform a power failure loses acknowledged writes, even with a battery.",
)
QUEUING = unconfirmed(
    key="qpolicy",
    label="Command queuing",
    help="Whether the controller sends several commands at once to drives that support it (NCQ)." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="If it is off, drives process random load in order of arrival.",
)

UNIT_SETTINGS = (WRITE_CACHE, READ_CACHE, AUTO_VERIFY, STORSAVE, QUEUING)
"""Settings of a unit, in display order."""

WORDS = {
    "write_cache": "cache",
    "read_cache": "rdcache",
    "auto_verify": "autoverify",
    "storsave": "storsave",
    "qpolicy": "qpolicy",
}
"""Argument of `set`, by setting key."""

QUIET = ("write_cache", "storsave")
"""Settings for which the guide documents `quiet`. tw_cli may show a prompt before it sets these, not for others."""

_UNIT = re.compile(r"^\s*(/c\d{1,3}/u\d{1,4})(?=\s)", re.ASCII | re.MULTILINE)
_POLICY = re.compile(r"policy\s*=\s*(\w{1,20})", re.ASCII | re.IGNORECASE)


def policy(key: str, text: str, where: str = "") -> str | None:
    """Return the value in a line such as `/c0/u0 Storsave Policy = protection`; None if no or several such lines exist.

    `where`: the queried unit, which the line has to name; "" accepts any unit.
    """
    matches = list(_POLICY.finditer(text[:4000]))
    units = _UNIT.findall(text[:4000])
    if len(matches) != 1 or (where and misnamed_reason(where, units, once=False, required=False)):
        return None
    word = matches[0][1].lower()
    return next((name for name in CHOICES[key] if word.startswith(name)), None)


CHOICES = {
    "read_cache": ("off", "basic", "intelligent"),
    "auto_verify": ("on", "off"),
    "storsave": ("protect", "balance", "perform"),
    "qpolicy": ("on", "off"),
}
"""Choices of the settings that have the same choices on every unit."""

TOOL_WORDS = {"write-back": "on", "write-through": "off"}
"""tw_cli's names for values, by raidbench's names, where the two differ."""

_CACHE = re.compile(r"(?:R([ib]))?(W)?", re.ASCII)


def values(cache: str, verify: str) -> dict[str, str | None]:
    """Return the values of the columns Cache and AVrfy, by setting key; None if not reported.

    `RiW` means an intelligent read cache and a write cache, `Rb` only a basic read cache, `W` only a write cache.
    Controllers that report only the write cache print `ON`. `OFF` means no cache.
    """
    write_back = "write-back" if cache == "ON" else None
    match = _CACHE.fullmatch("" if cache == "OFF" else cache) if cache else None
    read = None if match is None else {"i": "intelligent", "b": "basic", None: "off"}[match[1]]
    write = None if match is None else "write-back" if match[2] else "write-through"
    return {
        "write_cache": write_back or write,
        "read_cache": read,
        "auto_verify": {"ON": "on", "OFF": "off"}.get(verify),
    }


_VALUE = re.compile(r"(/c\d{1,3}/[up]\d{1,4})\s+(\S[^=]{0,60}?)\s*=\s*(.*)", re.ASCII)
_PART = re.compile(r"(u\d{1,4}(?:-\d{1,4}){0,2})\s+(\S+)\s.*", re.ASCII)
_PORT = re.compile(r"\sp\d{1,4}(?=\s|$)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDetails:
    """The output of `show all` about a unit."""

    name: str | None = None
    """Its name, or None."""
    serial: str | None = None
    """Its own serial number, unique to every created unit; None for controllers before the 9000 series."""
    volumes: int = 1
    """Number of volumes into which it is divided. Each of them is a kernel disk."""
    ports: tuple[str, ...] = ()
    """Ports of its drives, in order."""
    groups: int | None = None
    """Number of groups over which it stripes (RAID-10, RAID-50), or None."""
    lost: str = ""
    """Missing part of the output, as a clause; "" if it is complete."""


def port_serial(text: str, port: str) -> str | None:
    """Return the serial number of a drive such as `/c0/p3`, "" if the drive has none; None if not reported."""
    values = _values(text, port)
    return values.get("serial", values.get("serial number"))


def parse_unit_details(text: str, unit: str, ports: Collection[str]) -> UnitDetails:
    """Return the details of a unit such as `/c0/u3`. `ports`: ports that the list of drives assigns to it."""
    values = _values(text, unit)
    number = unit.rpartition("/")[2]
    ports_shown: list[str] = []
    parts: dict[str, str] = {}
    for raw in text.splitlines()[:LINES]:
        row = _PART.fullmatch(raw.strip()[:400])
        if row is None or row[1].partition("-")[0] != number:
            continue
        parts.setdefault(row[1], row[2])
        ports_shown += [match[0].strip() for match in _PORT.finditer(row[0])]
    groups = sum(name.count("-") == 1 and kind != "DISK" for name, kind in parts.items())
    missing = "" if "name" in values else "its name is not reported"
    if not missing and (number not in parts or not set(ports) <= set(ports_shown)):
        missing = "the list of its drives is incomplete"
    volumes = values.get("volume(s)", "1")
    return UnitDetails(
        name=values.get("name") or None,
        serial=values.get("serial number") or None,
        volumes=int(volumes) if volumes.isascii() and volumes.isdigit() and len(volumes) < 5 else 0,
        ports=tuple(dict.fromkeys(ports_shown)),
        groups=groups or None,
        lost=missing,
    )


def _values(text: str, where: str) -> dict[str, str]:
    """Return the values of one device by label in lower case. A label whose lines contradict each other is left out."""
    by_label: dict[str, str] = {}
    twice: set[str] = set()
    for raw in text.splitlines()[:LINES]:
        line = _VALUE.fullmatch(raw.strip()[:400])
        if line is not None and line[1] == where:
            label, value = line[2].lower(), clean(line[3].strip(), 80)
            if by_label.setdefault(label, value) != value:
                twice.add(label)
    return {label: value for label, value in by_label.items() if label not in twice}
