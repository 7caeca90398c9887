"""Which fields a storcli or perccli answer shows, by expressions of its own, and which of them the parsers found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from backends.model import Level, Media, State
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.storcli.cards import card
from backends.vendors.megaraid.storcli.document import replies
from backends.vendors.megaraid.storcli.drives import drives
from backends.vendors.megaraid.storcli.volumes import volumes

Fields = Mapping[str, bool]
Row = Mapping[str, Any]

_BLANK = ("", "-", "NA", "N/A", "None")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{16}){1,2}")
_SIZE = r"[\d.]+ (?:[KMGTP]i?)?B"
_TEXT_VOLUME = re.compile(
    rf"(?m)^(?P<DV>(?:-|\d+)/\d+) +(?P<TYPE>[A-Z]\w+) +(?P<State>\w+) +(?P<Access>\w+) .*? (?P<Size>{_SIZE})"
)
_TEXT_CACHE = re.compile(r" ((?:NR|R)(?:AWB|WB|WT)[DC]?|(?:NR|R),(?:AWB|WB|WT)) ")
_TEXT_DRIVE = re.compile(
    rf"(?m)^ ?(?P<EID>\d*:\d+) +\d+ (?P<State>\w+) +\S+ +(?P<Size>{_SIZE}) (?P<Intf>\w+) +(?P<Med>\w+) "
)


def answers_in(text: str) -> tuple[list[VirtualDrive], list[PhysicalDrive], list[Card]]:
    """Everything the parsers find in a recording, of all cards in it."""
    found = replies(text)
    numbers = [reply.card or 0 for reply in found]
    return (
        [one for number, reply in zip(numbers, found, strict=True) for one in volumes(number, reply.data)],
        [one for number, reply in zip(numbers, found, strict=True) for one in drives(number, reply.data)],
        [card(number, reply.data) for number, reply in zip(numbers, found, strict=True) if reply.data],
    )


def _objects(text: str, column: str) -> list[Row]:
    """Innermost JSON objects that have this key."""
    found = []
    for match in re.finditer(r"\{[^{}]*\}", text):
        if f'"{column}"' in match[0]:
            found.append(json.loads(match[0], strict=False))
    return found


def _values(text: str, *keys: str) -> list[str]:
    """What stands behind these keys, in JSON or text, blank values left out."""
    names = "|".join(map(re.escape, keys))
    found = re.findall(rf'"(?:{names})" ?: ?"?([^",\n]*)"?', text) + re.findall(rf"(?m)^(?:{names}) = *(.*)$", text)
    return [value.strip() for value in found if value.strip() not in _BLANK]


def volume_rows(text: str) -> list[Row]:
    """Rows of virtual drives that the text shows."""
    rows = list(_objects(text, "DG/VD"))
    for match in _TEXT_VOLUME.finditer(text):
        cache = _TEXT_CACHE.search(match[0] + " ")
        row = {"DG/VD": match["DV"], "TYPE": match["TYPE"], "State": match["State"], "Access": match["Access"]}
        rows.append(row | {"Size": match["Size"]} | ({"Cache": cache[1]} if cache else {}))
    return rows


def drive_rows(text: str) -> list[Row]:
    """Rows of drives that the text shows."""
    names = {"EID": "EID:Slt"}
    rows = list(_objects(text, "EID:Slt"))
    return rows + [
        {names.get(name, name): value for name, value in match.groupdict().items()}
        for match in _TEXT_DRIVE.finditer(text)
    ]


def _told(word: ReportedValue | None) -> bool:
    return word is not None and word.value != UNKNOWN


def volume_fields(text: str) -> Fields:
    """Fields of virtual drives that the text shows, and whether the result has each as often."""
    rows, (found, _, _) = volume_rows(text), answers_in(text)
    if not rows:
        return {}
    in_rows: dict[str, tuple[str, Callable[[VirtualDrive], bool]]] = {
        "virtual drive": ("DG/VD", lambda one: True),
        "level": ("TYPE", lambda one: one.level is not Level.UNKNOWN),
        "state": ("State", lambda one: one.state is not State.UNKNOWN),
        "access": ("Access", lambda one: _told(one.access)),
        "size": ("Size", lambda one: bool(one.size_bytes)),
        "name": ("Name", lambda one: one.name is not None),
        "write policy": ("Cache", lambda one: _told(one.configured.write_cache)),
        "read policy": ("Cache", lambda one: _told(one.configured.read_ahead)),
        "I/O policy": ("Cache", lambda one: "," in str(rows[0].get("Cache")) or _told(one.configured.io_policy)),
        "policies in force": ("CurrentCache", lambda one: one.in_force is not None),
    }
    below: dict[str, tuple[Sequence[str], Callable[[VirtualDrive], bool]]] = {
        "strip": (("Strip Size",), lambda one: bool(one.strip_bytes)),
        "spans": (("Span Depth",), lambda one: bool(one.spans)),
        "drives per span": (("Number of Drives Per Span", "Number of Drives"), lambda one: bool(one.drives_per_span)),
        "drive cache": (("Disk Cache Policy", "Drive Write Cache Policy"), lambda one: _told(one.drive_cache)),
        "block device": (("OS Drive Name",), lambda one: one.os_device is not None),
        "world wide name": (("SCSI NAA Id",), lambda one: one.wwn is not None),
        "work under way": (("Active Operations",), lambda one: bool(one.jobs)),
        "encryption": (("Encryption", "Secured"), lambda one: one.secured is not None),
    }
    fields = _of_rows(rows, "DG/VD", found, in_rows)
    if found and any(_values(text, "Span Depth")):  # only `vall show all` has properties
        for name, (keys, test) in below.items():
            shown = [value for value in _values(text, *keys) if name != "world wide name" or _HEX.fullmatch(value)]
            fields |= {name: sum(map(test, found)) >= len(shown)} if shown else {}
        fields |= {"drives": all(one.drives for one in found)}
    return fields


def drive_fields(text: str) -> Fields:
    """The same for drives."""
    rows, (_, found, _) = drive_rows(text), answers_in(text)
    if not rows:
        return {}
    in_rows: dict[str, tuple[str, Callable[[PhysicalDrive], bool]]] = {
        "drive": ("EID:Slt", lambda one: True),
        "state": ("State", lambda one: one.state is not State.UNKNOWN),
        "size": ("Size", lambda one: one.size_bytes is not None),
        "model": ("Model", lambda one: one.model is not None),
        "media": ("Med", lambda one: one.media is not Media.UNKNOWN),
        "interface": ("Intf", lambda one: one.interface is not None),
    }
    below: dict[str, tuple[Sequence[str], Callable[[PhysicalDrive], bool]]] = {
        "serial number": (("SN", "Serial Number"), lambda one: one.serial is not None),
        "world wide name": (("WWN",), lambda one: one.wwn is not None),
        "firmware": (("Firmware Revision", "Firmware Revision Level"), lambda one: one.firmware is not None),
        "link speed": (("Link Speed", "Negotiated Speed"), lambda one: one.link is not None),
        "temperature": (("Drive Temperature", "Temperature(C)"), lambda one: one.temperature_c is not None),
        "errors": (("Media Error Count",), lambda one: "media" in one.errors),
    }
    fields = _of_rows(rows, "EID:Slt", found, in_rows)
    detailed = "Detailed Information" in text
    for name, (keys, test) in below.items():
        shown = [value for value in _values(text, *keys) if any(char.isdigit() for char in value)]
        if name == "world wide name":
            shown = [value for value in shown if _HEX.fullmatch(value)]
        if detailed and shown:
            fields[name] = sum(map(test, found)) >= min(len(shown), len(found))
    return fields


def _of_rows(
    rows: Sequence[Row], key: str, found: Sequence[Any], wanted: Mapping[str, tuple[str, Callable[[Any], bool]]]
) -> dict[str, bool]:
    """By how many different things have the column and how many results pass."""
    fields: dict[str, bool] = {}
    for name, (column, test) in wanted.items():
        columns = ("Cache", "DefaultCache") if column == "Cache" else (column,)
        shown = {
            str(row[key]).strip()
            for row in rows
            for one in columns
            if str(row.get(one, "")).strip() not in (*_BLANK, "Unknown", "Unsupported", "UGUnsp")
        }
        if name == "I/O policy" and all("," in str(row.get("DefaultCache", row.get("Cache", ","))) for row in rows):
            continue
        if shown:
            fields[name] = sum(map(test, found)) >= len(shown)
    return fields


def card_fields(text: str) -> Fields:
    """The same for cards; only of answers that are about one."""
    _, _, found = answers_in(text)
    if not _values(text, "Firmware Version", "FW Version"):
        return {}
    tests: dict[str, tuple[Iterable[str], Callable[[Card], bool]]] = {
        "firmware": (("Firmware Version", "FW Version"), lambda one: one.firmware is not None),
        "firmware package": (
            ("Firmware Package Build", "FW Package Build", "Package Version"),
            lambda one: one.package is not None,
        ),
        "driver": (("Driver Name",), lambda one: one.driver is not None),
        "PCI address": (("PCI Address",), lambda one: one.pci is not None),
        "cache size": (("On Board Memory Size", "DDR Memory Size(MiB)"), lambda one: bool(one.cache_bytes)),
        "temperature": (
            ("ROC temperature(Degree Celsius)", "ROC temperature(Degree Celcius)", "Chip temperature(C)"),
            lambda one: one.temperature_c is not None,
        ),
        "options": (("Adv S/W Opt", "Software option"), lambda one: bool(one.options)),
        "strip range": (("Min Strip Size",), lambda one: bool(one.strip_minimum and one.strip_maximum)),
        "supported operations": (("Write Policy", "Support Changing Write Policy"), lambda one: bool(one.supports)),
        "rates": (("Auto Rebuild",), lambda one: ("bgi_rate" in one.values) is (one.makes_arrays is not False)),
        "battery or CacheVault": (
            ("BBU", "Energy Pack"),
            lambda one: one.backup is not None or one.backup_known,
        ),
    }
    fields: dict[str, bool] = {"model": all(one.model is not None for one in found)}
    for name, (keys, test) in tests.items():
        shown = [value for value in _values(text, *keys) if value not in ("0MB", "Unknown")]
        if name == "options" and not shown and "Adv S/W Opt  " in text:
            shown = ["table"]
        if shown:
            fields[name] = any(map(test, found))
    return fields


KINDS: Mapping[str, Callable[[str], Fields]] = {
    "virtual drives": volume_fields,
    "drives": drive_fields,
    "card": card_fields,
}
"""What an answer may be about."""
