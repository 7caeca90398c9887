"""Which fields a MegaCli answer shows, by expressions of its own, and which of them the parsers found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from backends.model import Level, Media, State
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.facts import PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.megacli.adapter import parse_adapter, parse_battery
from backends.vendors.megaraid.megacli.drives import parse_drives
from backends.vendors.megaraid.megacli.volumes import parse_volumes

T = TypeVar("T")

KINDS = ("volumes", "drives", "card", "battery")
"""What an answer may be about; one answer may be about several."""


def found_fields(text: str, kind: str) -> Mapping[str, bool]:
    """Fields that the text shows, and whether the result has each of them as often; empty if it shows none."""
    return {"volumes": _volumes, "drives": _drives, "card": _card, "battery": _battery}[kind](text)


def _shown(pattern: str, text: str) -> list[str]:
    return re.findall(rf"(?im)^[ \t]*(?:{pattern})[ \t\r]*$", text)


def _told(word: ReportedValue | None) -> bool:
    return word is not None and word.value != UNKNOWN


def _volumes(text: str) -> Mapping[str, bool]:
    found = parse_volumes(text)
    head = re.split(r"(?im)^[ \t]*(?:PD: \d+ Information|Physical Disk: ?\d+)", text)
    own = text if len(head) == 1 else "\n".join(_without_drives(text))
    count: dict[str, tuple[str, Callable[[VirtualDrive], bool]]] = {
        "virtual drive": (r"(?:CacheCade )?Virtual (?:Drive|Disk): \d+ ?\(.*", lambda each: True),
        "name": (r"Name *:[ \t]*\S.*", lambda each: each.name is not None),
        "level": (r"RAID Level *:.*", lambda each: each.level is not Level.UNKNOWN),
        "size": (r"Size *:.*[GMT]B", lambda each: bool(each.size_bytes)),
        "strip": (r"Stripe? Size *:.*", lambda each: bool(each.strip_bytes)),
        "state": (r"State *:.*", lambda each: each.state is not State.UNKNOWN),
        "drives per span": (r"Number Of Drives(?: per span)? *:.*", lambda each: bool(each.drives_per_span)),
        "spans": (r"Span Depth *:.*", lambda each: bool(each.spans)),
        "write policy": (r"Default Cache Policy:.*Write.*", lambda each: _told(each.configured.write_cache)),
        "read policy": (r"Default Cache Policy:.*Read.*", lambda each: _told(each.configured.read_ahead)),
        "I/O policy": (r"Default Cache Policy:.*(?:Direct|Cached).*", lambda each: _told(each.configured.io_policy)),
        "policies in force": (
            r"Current Cache Policy:.*",
            lambda each: each.in_force is not None and _told(each.in_force.write_cache),
        ),
        "bad battery policy": (r"Default Cache Policy:.*Bad BBU.*", lambda each: each.bad_bbu_write_back is not None),
        "access": (r"(?:Current )?Access Policy *:.*", lambda each: _told(each.access)),
        "drive cache": (r"Disk Cache Policy *:.*", lambda each: _told(each.drive_cache)),
    }
    fields = _counted(own, found, count)
    members = len(_shown(r"Slot Number: ?\d+", text))
    if fields and members:
        fields["members"] = sum(len(each.drives) for each in found) == members
    return fields


def _without_drives(text: str) -> Iterable[str]:
    inside = False
    for row in text.split("\n"):
        if re.match(r"(?i)[ \t]*(?:PD: \d+ Information|Physical Disk: ?\d+|Enclosure Device ID)", row):
            inside = True
        elif re.match(r"(?i)[ \t]*(?:Span: \d+ - |Virtual D\w+: \d+ \()", row):
            inside = False
        if not inside:
            yield row


def _drives(text: str) -> Mapping[str, bool]:
    count: dict[str, tuple[str, Callable[[PhysicalDrive], bool]]] = {
        "drive": (r"Slot Number: ?\d+", lambda each: each.slot is not None),
        "enclosure": (r"Enclosure Device ID: ?\d+", lambda each: each.enclosure is not None),
        "device id": (r"Device Id: ?\d+", lambda each: each.device_id is not None),
        "group": (r"Drive's pos\w+: DiskGroup.*", lambda each: each.group is not None),
        "state": (r"Firmware state: ?.*\S.*", lambda each: each.state is not State.UNKNOWN),
        "size": (r"Coerced Size: ?.*\S.*", lambda each: bool(each.size_bytes)),
        "WWN": (r"WWN: ?[0-9A-Fa-f]{16}", lambda each: each.wwn is not None),
        "media": (r"Media Type: ?.*\S.*", lambda each: each.media is not Media.UNKNOWN),
        "interface": (r"PD Type: ?.*\S.*", lambda each: each.interface is not None),
        "link": (r"Link Speed: ?\d.*", lambda each: each.link is not None),
        "temperature": (r"Drive Temperature *: ?\d+ ?C.*", lambda each: each.temperature_c is not None),
        "media errors": (r"Media Error Count: ?\d+", lambda each: "media" in each.errors),
        "other errors": (r"Other Error Count: ?\d+", lambda each: "other" in each.errors),
        "predicted failures": (r"Predictive Failure Count: ?\d+", lambda each: "predictive" in each.errors),
        "inquiry": (r"Inquiry Data: ?.*\S.*", lambda each: each.inquiry is not None),
        "firmware": (r"Device Firmware Level: ?\S+", lambda each: each.firmware is not None),
    }
    return _counted(text, parse_drives(text), count)


def _counted(text: str, found: tuple[T, ...], count: Mapping[str, tuple[str, Callable[[T], bool]]]) -> dict[str, bool]:
    first = next(iter(count.values()))[0]
    if not _shown(first, text):
        return {}
    shown = {name: len(_shown(pattern, text)) for name, (pattern, _) in count.items()}
    return {name: sum(map(has, found)) >= shown[name] for name, (_, has) in count.items() if shown[name]}


def _card(text: str) -> Mapping[str, bool]:
    if not _shown(r"Product Name *:.*\S.*", text):
        return {}
    card = parse_adapter(text, 0)
    has = {
        "model": (r"Product Name *:.*\S.*", card.model is not None),
        "serial": (r"Serial No *: *\S.*", card.serial is not None),
        "firmware": (r"FW Version *: *\S.*", card.firmware is not None),
        "package": (r"FW Package Build *: *\S.*", card.package is not None),
        "cache": (r"Memory Size *: *\d+MB", card.cache_bytes is not None),
        "temperature": (r"ROC temperature *: *\d+.*", card.temperature_c is not None),
        "rebuild rate": (r"Rebuild Rate *: *\d+%", _told(card.values.get("rebuild_rate"))),
        "cc rate": (r"Check Consistency Rate *: *\d+%", _told(card.values.get("cc_rate"))),
        "flush interval": (r"Cache Flush Interval *: *\d+s", _told(card.values.get("cache_flush_interval"))),
        "strip range": (r"Max Stripe? Size *:.*", card.strip_maximum is not None and card.strip_minimum is not None),
        "operations": (r"Disk Cache Policy *: *(?:Yes|No)", "drive_cache" in card.supports),
    }
    return {name: found for name, (pattern, found) in has.items() if _shown(pattern, text)}


def _battery(text: str) -> Mapping[str, bool]:
    if not _shown(r"BatteryType:.*\S.*", text):
        return {}
    battery = parse_battery(text)
    has = {
        "type": (r"BatteryType:.*\S.*", battery is not None),
        "state": (r"Battery State *: *\S.*", battery is not None and battery.state.value != UNKNOWN),
        "health": (r"Battery Replacement required *: *(?:Yes|No)", battery is not None and battery.healthy is not None),
        "temperature": (r"Temperature: *\d+ C", battery is not None and battery.temperature_c is not None),
        "learning": (r"Learn Cycle Active *: *(?:Yes|No)", battery is not None and battery.learning is not None),
        "next learn": (r"Next Learn time *: *\S.*", battery is not None and battery.next_learn is not None),
        "charge": (r"Relative State of Charge *: *\d+ %", battery is not None and "Charge" in battery.details),
    }
    return {name: found for name, (pattern, found) in has.items() if _shown(pattern, text)}
