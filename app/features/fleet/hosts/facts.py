"""Facts of a machine for comparison: hardware and settings without names and serial numbers. No I/O.

Kernel names refer to different disks on every host, so devices are identified by model or level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from app.features.check.entries import FindingEntry
from app.features.check.finding import Severity
from app.features.check.presentation import finding_json
from app.features.check.rule_table import RULES
from app.features.check.runner import CheckResult
from backends import json_text
from backends.model import Array, Controller, Drive, Inventory, Target, kind_of
from backends.settings import Reading
from backends.text import clean
from backends.values import dataclass
from backends.version import program_version

Readings = Mapping[Target, Mapping[str, Reading]]

_MOST = 2000
"""Maximum number of facts of one host that are compared. Even a host with a hundred models has fewer."""

_LONG = 2000
"""Maximum number of characters of a message from a host; the rest is cut off."""

_SHOWN = 3
"""Maximum number of addresses that are listed for the rarer values of a fact."""


class FactPart(StrEnum):
    """Kinds of facts, in the order of the output."""

    HARDWARE = "hardware"
    FIRMWARE = "firmware"
    SETTING = "setting"
    SYSTEM = "system"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKey:
    """Identifies a fact that can be compared."""

    part: FactPart
    """Kind of fact."""
    of: str
    """Model of the controllers or drives, or level of the arrays; "" for a fact of the whole machine."""
    key: str
    """Name of the fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactValue:
    """The value of a fact on a host."""

    text: str
    """The value of all devices of this model or level, with counts if they differ: `23 × 128, 1 × 4096`."""
    addresses: tuple[str, ...] = ()
    """Addresses of the devices with rarer values."""


NOWHERE = FactValue(text="none")
"""Value for a host that does not report a fact that other hosts report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts of one host."""

    host: str
    """Name of the host in the request."""
    made_of: Mapping[str, int]
    """Number of controllers and drives of each model, and of arrays of each level."""
    values: Mapping[FactKey, FactValue] = field(default_factory=dict)
    """Values that the host reported, by fact."""


# -- facts of this machine ---------------------------------------------------------------------------------------------


def facts_json(inventory: Inventory, readings: Readings, checked: CheckResult, kernel: str) -> dict[str, Any]:
    """Return the JSON body of `hosts facts`."""
    shown = [drive for drive in inventory.drives if drive.target not in inventory.twins]
    devices: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *shown)
    return {
        "program": program_version(),
        "kernel": kernel or None,
        "things": [_device_json(inventory, device, readings) for device in devices],
        "findings": [
            {
                **finding_json(result),
                "device": checked.devices.get(result.outcome.where),
                "setting": result.outcome.setting or None,
            }
            for result in checked.findings
        ],
    }


def _device_json(inventory: Inventory, device: Controller | Array | Drive, readings: Readings) -> dict[str, Any]:
    values = _effective_values(readings.get(device.target, {}))
    queue = None if isinstance(device, Controller) else inventory.twin(device)
    others = {} if queue is None else _effective_values(readings.get(queue.target, {}))
    of, hardware, firmware = _identity_of(device)
    return {
        "address": str(device.target),
        "kind": kind_of(device),
        "of": of,
        "device": None if isinstance(device, Controller) else device.device,
        "size_bytes": None if isinstance(device, Controller) else device.size_bytes,
        FactPart.HARDWARE.value: hardware,
        FactPart.FIRMWARE.value: firmware,
        FactPart.SETTING.value: {**others, **values},
    }


def _identity_of(device: Controller | Array | Drive) -> tuple[str, dict[str, object], dict[str, object]]:
    """Return the model or level of a device, its hardware facts and its firmware facts."""
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


# -- facts that a host reported ----------------------------------------------------------------------------------------


def host_facts(host: str, document: Mapping[str, Any]) -> HostFacts:
    """Return the facts that a host reported with `hosts facts`; malformed parts are left out."""
    devices = list(json_text.rows(document.get("things")))
    made_of = Counter(_device_kind(record) for record in devices)
    values = {
        FactKey(part=FactPart.HARDWARE, of=of, key="number"): FactValue(text=str(number))
        for of, number in made_of.items()
    }
    values |= _count_values(_pieces(devices))
    for key in ("kernel", "program"):
        version = json_text.word(document.get(key))
        values[FactKey(part=FactPart.SYSTEM, of="", key=key)] = FactValue(text=version or "unknown")
    places: dict[str, list[str]] = {}
    for entry in findings_of(document):
        places.setdefault(entry.rule, []).append(entry.where)
    for rule, addresses in places.items():
        values[FactKey(part=FactPart.CHECK, of="", key=rule)] = FactValue(
            text=str(len(addresses)), addresses=tuple(sorted(addresses)[:_SHOWN])
        )
    return HostFacts(host=host, made_of=dict(made_of), values=values)


def findings_of(document: Mapping[str, Any]) -> Iterator[FindingEntry]:
    """Yield the findings of a host, without a change: settings of other hosts cannot be staged.

    An older raidbench reports only the rule and the address. Then the summary of the rule is the message.
    """
    for finding in json_text.rows(document.get("findings")):
        name, where = (json_text.word(finding.get(key)) or "unknown" for key in ("id", "where"))
        rule, severity = RULES.get(name), finding.get("severity")
        what = "a rule unknown to this version" if rule is None else rule.what
        change = json_text.table(finding.get("change"))
        target, key, value = (json_text.word(change.get(part)) for part in ("target", "key", "value"))
        do = json_text.word(finding.get("do"), _LONG) or ""
        fix = f"{key}={value}" if target and key and value else ""
        fixes = (f"raidbench set {target} {fix}", do) if fix else (do, "")
        lines = (
            ("evidence", json_text.word(finding.get("evidence"), _LONG) or ""),
            *zip(("fix", ""), fixes, strict=True),
        )
        key = key or json_text.word(finding.get("setting"))
        yield FindingEntry(
            severity=next(
                (known for known in Severity if known == severity), Severity.WARN if rule is None else rule.severity
            ),
            where=where,
            message=json_text.word(finding.get("message"), _LONG) or f"{name}: {what}",
            lines=tuple((label, text) for label, text in lines if text),
            rule=name,
            fix=fix,
            device=json_text.word(finding.get("device")) or (where if "device" not in finding else ""),
            setting=None if key is None else (target or where, key),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTarget:
    """An array or a drive of a host that can be measured."""

    address: str
    """Address, such as `md:md0`."""
    of: str
    """Model of the drive, or level of the array."""
    kind: str
    """Kind of device: array or drive."""
    size_bytes: int | None
    """Size; None if it is unknown."""


def targets_of(document: Mapping[str, Any]) -> Iterator[HostTarget]:
    """Yield the arrays and drives of a host that have a block device. An older raidbench does not report which have."""
    for record in json_text.rows(document.get("things")):
        address, kind = json_text.word(record.get("address"), 300), json_text.word(record.get("kind")) or ""
        has_node = "device" not in record or json_text.word(record.get("device")) is not None
        if address is not None and has_node and kind != "controller":
            yield HostTarget(
                address=address,
                of=_device_kind(record),
                kind=kind,
                size_bytes=json_text.whole_number(record.get("size_bytes")),
            )


def _device_kind(record: Mapping[str, object]) -> str:
    return json_text.word(record.get("of")) or "unknown"


def _pieces(devices: Iterable[Mapping[str, object]]) -> Iterator[tuple[FactKey, str, str]]:
    """Yield each fact of each device: key, value and address."""
    for record in devices:
        of, address = _device_kind(record), json_text.word(record.get("address")) or "unknown"
        for part in (FactPart.HARDWARE, FactPart.FIRMWARE, FactPart.SETTING):
            for key, value in json_text.table(record.get(part.value)).items():
                if isinstance(value, str | int) and not isinstance(value, bool):
                    yield FactKey(part=part, of=of, key=clean(key, 60)), clean(str(value), 200), address


def _count_values(pieces: Iterable[tuple[FactKey, str, str]]) -> dict[FactKey, FactValue]:
    """Return one value per fact, which combines the values of all devices with the same key."""
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
