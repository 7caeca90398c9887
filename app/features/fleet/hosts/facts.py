"""What a machine has and how it is set, without what is its own (names, serial numbers), for comparing. Pure.

Kernel names mean other disks on every host, so things are told by what they are: a model, a level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from app.features.check.runner import CheckResult
from backends import json_text
from backends.model import Array, Controller, Drive, Inventory, Target, kind_of
from backends.settings import Reading
from backends.text import clean
from backends.values import dataclass
from backends.version import program_version

Readings = Mapping[Target, Mapping[str, Reading]]

_MOST = 2000
"""Points of one host that are compared: one with a hundred models has fewer."""

_SHOWN = 3
"""Addresses that are named of those with a rarer value."""


class FactPart(StrEnum):
    """What kind of fact differs, in the order of what is told."""

    HARDWARE = "hardware"
    FIRMWARE = "firmware"
    SETTING = "setting"
    SYSTEM = "system"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKey:
    """One thing that can be compared."""

    part: FactPart
    """What kind of fact it is."""
    of: str
    """What it is a fact of: a model, a level; "" for the machine."""
    key: str
    """Which fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactValue:
    """What a host has there."""

    text: str
    """All values of things that are the same, counted where they differ: `23 × 128, 1 × 4096`."""
    addresses: tuple[str, ...] = ()
    """Where the rarer values are."""


NOWHERE = FactValue(text="none")
"""What a host has that tells nothing of a point that others have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """One host, for comparing."""

    host: str
    """Its name, as it was asked."""
    made_of: Mapping[str, int]
    """Its role: how many controllers and drives of each model it has, and arrays of each level."""
    values: Mapping[FactKey, FactValue] = field(default_factory=dict)
    """What it has, by what can be compared."""


# -- of this machine ---------------------------------------------------------------------------------------------------


def facts_json(inventory: Inventory, readings: Readings, checked: CheckResult, kernel: str) -> dict[str, Any]:
    """The body of `hosts facts`."""
    shown = [drive for drive in inventory.drives if drive.target not in inventory.twins]
    things: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *shown)
    return {
        "program": program_version(),
        "kernel": kernel or None,
        "things": [_device_json(inventory, device, readings) for device in things],
        "findings": [{"id": ruling.rule.id, "where": ruling.outcome.where} for ruling in checked.findings],
    }


def _device_json(inventory: Inventory, device: Controller | Array | Drive, readings: Readings) -> dict[str, Any]:
    own = _effective_values(readings.get(device.target, {}))
    queue = None if isinstance(device, Controller) else inventory.twin(device)
    others = {} if queue is None else _effective_values(readings.get(queue.target, {}))
    of, hardware, firmware = _identity_of(device)
    return {
        "address": str(device.target),
        "kind": kind_of(device),
        "of": of,
        FactPart.HARDWARE.value: hardware,
        FactPart.FIRMWARE.value: firmware,
        FactPart.SETTING.value: {**others, **own},
    }


def _identity_of(device: Controller | Array | Drive) -> tuple[str, dict[str, object], dict[str, object]]:
    """What it is, its hardware, its firmware."""
    match device:
        case Controller():
            guard = device.protection
            hardware: dict[str, object] = {
                "cache_bytes": device.cache_bytes,
                "protection": None if guard is None else f"{guard.kind} {guard.state}",
                "features": ", ".join(sorted(f"{feature.name} {feature.state}" for feature in device.features)) or None,
            }
            return device.model or device.vendor, hardware, {"firmware": device.firmware, "driver": device.driver}
        case Array():
            sizes = {"size_bytes": device.size_bytes, "strip_bytes": device.strip_bytes}
            return f"{device.level.value} of {len(device.members)}", {"state": device.state.value, **sizes}, {}
        case Drive():
            hardware = {"state": device.state.value, "size_bytes": device.size_bytes, "interface": device.interface}
            return device.model or (device.interface or "drive"), hardware, {"firmware": device.firmware}


def _effective_values(readings: Mapping[str, Reading]) -> dict[str, str | None]:
    return {
        key: reading.now if reading.effective is None else reading.effective
        for key, reading in readings.items()
        if reading.now is not None or reading.effective is not None
    }


# -- of a host that told them ------------------------------------------------------------------------------------------


def host_facts(host: str, document: Mapping[str, Any]) -> HostFacts:
    """What a host told by `hosts facts`; what is not as it should be is left out."""
    things = list(json_text.rows(document.get("things")))
    made_of = Counter(_device_kind(record) for record in things)
    values = {
        FactKey(part=FactPart.HARDWARE, of=of, key="number"): FactValue(text=str(number))
        for of, number in made_of.items()
    }
    values |= _count_values(_pieces(things))
    for key in ("kernel", "program"):
        version = json_text.word(document.get(key))
        values[FactKey(part=FactPart.SYSTEM, of="", key=key)] = FactValue(text=version or "unknown")
    places: dict[str, list[str]] = {}
    for rule, where in findings_of(document):
        places.setdefault(rule, []).append(where)
    for rule, addresses in places.items():
        values[FactKey(part=FactPart.CHECK, of="", key=rule)] = FactValue(
            text=str(len(addresses)), addresses=tuple(sorted(addresses)[:_SHOWN])
        )
    return HostFacts(host=host, made_of=dict(made_of), values=values)


def findings_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rule and the place of each finding of a host."""
    for finding in json_text.rows(document.get("findings")):
        yield json_text.word(finding.get("id")) or "unknown", json_text.word(finding.get("where")) or "unknown"


def _device_kind(record: Mapping[str, object]) -> str:
    return json_text.word(record.get("of")) or "unknown"


def _pieces(things: Iterable[Mapping[str, object]]) -> Iterator[tuple[FactKey, str, str]]:
    """Each fact of each thing: what it is, its value, the address."""
    for record in things:
        of, address = _device_kind(record), json_text.word(record.get("address")) or "unknown"
        for part in (FactPart.HARDWARE, FactPart.FIRMWARE, FactPart.SETTING):
            for key, value in json_text.table(record.get(part.value)).items():
                if isinstance(value, str | int) and not isinstance(value, bool):
                    yield FactKey(part=part, of=of, key=clean(key, 60)), clean(str(value), 200), address


def _count_values(pieces: Iterable[tuple[FactKey, str, str]]) -> dict[FactKey, FactValue]:
    """Values of all things that are the same, together."""
    by_point: dict[FactKey, dict[str, list[str]]] = {}
    for point, value, address in pieces:
        if point not in by_point and len(by_point) >= _MOST:
            continue
        by_point.setdefault(point, {}).setdefault(value, []).append(address)
    return {point: _value(by_value) for point, by_value in by_point.items()}


def _value(by_value: Mapping[str, list[str]]) -> FactValue:
    ordered = sorted(by_value.items(), key=lambda item: (-len(item[1]), item[0]))
    if len(ordered) == 1:
        return FactValue(text=ordered[0][0])
    rarer = [address for _, addresses in ordered[1:] for address in addresses]
    return FactValue(
        text=", ".join(f"{len(addresses)} × {value}" for value, addresses in ordered),
        addresses=tuple(rarer[:_SHOWN]),
    )
