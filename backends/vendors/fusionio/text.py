"""Parsers for fio-status: `-a` as text, `-fj` as JSON. No I/O; lines that are not understood are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from backends.json_text import document, rows, table, whole_number, word
from backends.text import clean
from backends.tool_output import line_end
from backends.vendors.fusionio.facts import Adapter, Cards, IoVolume, Module

LINES = 4000
"""Maximum number of lines to parse, more than the modules of any machine need."""

MODULE = re.compile(r"fct\d{1,4}", re.ASCII)
VOLUME = re.compile(r"fio[a-z]{1,4}", re.ASCII)

_NUMBER = r"(\d{1,12}(?:\.\d{1,6})?)"
_ADAPTER = re.compile(r"Adapter:[ \t]{0,8}(\S.{0,80})")
_MODULE = re.compile(r"(fct\d{1,4})[ \t]{1,16}(\S.{0,80})", re.ASCII)
_VOLUME = re.compile(r"(fio[a-z]{1,4})[ \t]{1,16}State: ([^,]{1,40})(?:, Type: .{1,60})?", re.ASCII)
_NAMED = re.compile(r"(fct\d{1,4}|fio[a-z]{1,4}):(?:[ \t]|$)", re.ASCII)
_SERIAL = re.compile(r"(?:^|[ ,])SN:([^,\s]{1,40})")
_PRODUCT = re.compile(r"([^:]{2,100}), (?:Product Number|SN):")
_PCI = re.compile(r"PCI:(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b", re.ASCII | re.IGNORECASE)
_FIRMWARE = re.compile(r"Firmware (v\S{1,20}), rev (\d{1,12})", re.ASCII)
_SIZE = re.compile(rf"{_NUMBER} GBytes device size", re.ASCII)
_FORMAT = re.compile(r"Format: (?:v\d{1,6}, )?(\d{1,18}) sectors of (\d{1,6}) bytes", re.ASCII)
_HEAT = re.compile(rf"Internal temperature: {_NUMBER} degC, max {_NUMBER} degC", re.ASCII)
_RESERVE = re.compile(rf"Reserve space status: ([^;]{{1,40}}); Reserves: {_NUMBER}%(?:, warn at {_NUMBER}%)?", re.ASCII)
_LIFE = re.compile(rf"Rated PBW: {_NUMBER} PB(?:, {_NUMBER}% remaining)?", re.ASCII)
_WRITTEN = re.compile(r"Physical bytes written[ \t]{0,8}: (\d{1,3}(?:,\d{3}){0,6})", re.ASCII)
_POWER = re.compile(r"PCIe Bus power: (.{1,60})")


def parse_status(text: str) -> Cards:
    """Return the adapters, modules and volumes in the output of `fio-status -a`; empty if it lists none."""
    driver: str | None = None
    adapters: list[Adapter] = []
    modules: list[Module] = []
    at = ""
    for raw in text.splitlines()[:LINES]:
        line = raw.strip()
        indented = raw[:1] in (" ", "\t")
        if not indented and (match := _ADAPTER.fullmatch(line)):
            adapters.append(Adapter(kind=clean(match[1])))
            at = "adapter"
        elif not indented and (match := _VOLUME.fullmatch(line)):
            at = "volume" if modules else ""
            if modules:
                volume = IoVolume(name=match[1], state=clean(match[2]))
                others = (other for other in modules[-1].volumes if other.name != volume.name)
                modules[-1] = replace(modules[-1], volumes=(*others, volume))
        elif not indented and (match := _MODULE.fullmatch(line)):
            modules.append(Module(name=match[1], state=clean(match[2])))
            at = "module"
        elif not indented and line.startswith("Driver version:"):
            driver = clean(line.partition(":")[2]) or None
        elif at == "adapter":
            adapters[-1] = _add_adapter_line(adapters[-1], line)
        elif at == "module":
            modules[-1] = _add_module_line(modules[-1], line)
        elif at == "volume":
            *rest, last = modules[-1].volumes
            modules[-1] = replace(modules[-1], volumes=(*rest, _add_volume_line(last, line)))
    return Cards(driver=driver, adapters=tuple(adapters), modules=_first_of_each_name(modules))


_FOUND = re.compile(r"^Found (\d{1,4}) ioMemory devices? in this system", re.MULTILINE | re.ASCII)
_NONE = re.compile(r"^No .{1,40} found in this system", re.MULTILINE)


def missing_part(text: str) -> str:
    """Return a clause about the part that is missing from the output of `fio-status -a`.

    "" if the output is complete or reports that there is no module.
    """
    cards, count = parse_status(text), _FOUND.search(text)
    if count is None:
        return "" if _NONE.search(text) and not cards.modules else "it does not report the number of devices"
    if len(cards.modules) < int(count[1]):
        return f"it counts {count[1]} devices and describes {len(cards.modules)}"
    if bare := [module.name for module in cards.modules if module.state == "Attached" and not module.volumes]:
        return f"{bare[0]} is attached, but its block device is missing"
    named = {match[1] for line in text.splitlines()[:LINES] if (match := _NAMED.match(line.strip()))}
    described = {module.name for module in cards.modules}
    described |= {volume.name for module in cards.modules for volume in module.volumes if volume.gigabytes is not None}
    if undescribed := sorted(named - described):
        return f"{undescribed[0]} is named but not described"
    return line_end(text)


def _first_of_each_name(modules: list[Module]) -> tuple[Module, ...]:
    """Return the modules without those whose name occurred before."""
    by_name: dict[str, Module] = {}
    for module in modules:
        by_name.setdefault(module.name, module)
    return tuple(by_name.values())


def _add_adapter_line(adapter: Adapter, line: str) -> Adapter:
    if (match := _NAMED.match(line)) and match[1].startswith("fct"):
        return replace(adapter, modules=tuple(dict.fromkeys((*adapter.modules, match[1]))))
    if adapter.product is None and (product := _PRODUCT.match(line)):
        serial = _SERIAL.search(line)
        return replace(adapter, product=clean(product[1]), serial=clean(serial[1]) if serial else None)
    key, _, value = line.partition(":")
    if key in _ADAPTER_WORDS:
        word: dict[str, Any] = {_ADAPTER_WORDS[key]: clean(value) or None}
        return replace(adapter, **word)
    if match := _POWER.fullmatch(line):
        return replace(adapter, power=clean(match[1]))
    return adapter


_ADAPTER_WORDS = {"External Power": "external_power", "PCIe Power limit threshold": "power_limit"}
_MODULE_WORDS = {"Powerloss protection": "protection", "PCIe negotiated link": "link"}


def _add_module_line(module: Module, line: str) -> Module:
    key, colon, value = line.partition(":")
    if key in _MODULE_WORDS:
        word: dict[str, Any] = {_MODULE_WORDS[key]: clean(value) or None}
        return replace(module, **word)
    if colon and key.upper() in ("WARNING", "ERROR"):
        return replace(module, trouble=(*module.trouble[:9], clean(value, 200)))
    if module.product is None and (product := _PRODUCT.match(line)) and not line.startswith("Located in"):
        serial = _SERIAL.search(line)
        return replace(module, product=clean(product[1]), serial=clean(serial[1]) if serial else None)
    for shape, values in _SHAPES.items():
        if match := shape.match(line):
            return replace(module, **values(match))
    return module


def _add_volume_line(volume: IoVolume, line: str) -> IoVolume:
    if match := _SIZE.match(line):
        return replace(volume, gigabytes=float(match[1]))
    if match := _FORMAT.match(line):
        return replace(volume, sectors=int(match[1]), sector_bytes=int(match[2]))
    return volume


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


_SHAPES: Mapping[re.Pattern[str], Callable[[re.Match[str]], Mapping[str, Any]]] = {
    _PCI: lambda match: {"pci": (f"{match[1]}:{match[2]}" if match[1] else match[2]).lower()},
    _FIRMWARE: lambda match: {"firmware": f"{match[1]}, rev {match[2]}"},
    _FORMAT: lambda match: {"sector_bytes": int(match[2])},
    _HEAT: lambda match: {"celsius": float(match[1]), "celsius_most": float(match[2])},
    _RESERVE: lambda match: {
        "reserve_state": clean(match[1]),
        "reserve_percent": float(match[2]),
        "reserve_warns": _number(match[3]),
    },
    _LIFE: lambda match: {"rated_petabytes": float(match[1]), "life_percent": _number(match[2])},
    _WRITTEN: lambda match: {"written_bytes": int(match[1].replace(",", ""))},
}
"""Patterns of lines about a module, each with the function that returns fields of `Module` from the match."""


_MOST = 64
"""Maximum number of adapters, modules or volumes, more than any machine has slots for."""
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_LABELLED_PCI = re.compile(r"(?:^|\s)([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", re.ASCII | re.IGNORECASE)
_CONNECTED = {"0": "NOT connected", "1": "connected"}

Facts = TypeVar("Facts", Adapter, Module, IoVolume)


def parse_document(text: str) -> Cards:
    """Return the facts in the output of `fio-status -fj`, whose values are all strings; empty if it is no JSON."""
    adapters: list[Adapter] = []
    modules: dict[str, Module] = {}
    for row in rows(table(document(text)).get("adapter"), _MOST):
        row_modules = [
            module for module_row in rows(row.get("iomemory"), _MOST) if (module := _module(module_row)) is not None
        ]
        for module in row_modules:
            modules.setdefault(module.name, module)
        adapters.append(_adapter(row, tuple(dict.fromkeys(module.name for module in row_modules))))
    return Cards(adapters=tuple(adapters), modules=tuple(modules.values()))


def merge_cards(text: Cards, document: Cards) -> Cards:
    """Return the facts of both outputs, `-a` (`text`) and `-fj` (`document`). If both report a value, `text` wins."""
    left = {module.name: module for module in document.modules}
    modules = [_module_of_both(module, left.pop(module.name, None)) for module in text.modules]
    named = {name: adapter for adapter in document.adapters for name in adapter.modules}
    adapters = [
        _fill(adapter, next((named[name] for name in adapter.modules if name in named), None))
        for adapter in text.adapters
    ]
    return Cards(
        driver=text.driver,
        adapters=tuple(adapters) or document.adapters,
        modules=(*modules, *left.values()),
    )


def _module_of_both(module: Module, second: Module | None) -> Module:
    if second is None:
        return module
    volumes = {volume.name: volume for volume in second.volumes}
    both = tuple(_fill(volume, volumes.pop(volume.name, None)) for volume in module.volumes)
    return replace(_fill(module, second), volumes=(*both, *volumes.values()))


def _fill(first: Facts, second: Facts | None) -> Facts:
    """Return the facts in `first`; values that it lacks are taken from `second`."""
    if second is None:
        return first
    missing = {
        field.name: getattr(second, field.name) for field in fields(first) if getattr(first, field.name) in (None, ())
    }
    return replace(first, **missing)


def _adapter(row: Mapping[str, object], modules: tuple[str, ...]) -> Adapter:
    return Adapter(
        kind=word(row.get("board_kind"), 200),
        product=word(row.get("product_name"), 200),
        serial=word(row.get("serial_number"), 200),
        external_power=_CONNECTED.get(word(row.get("external_power_connected"), 200) or ""),
        power_limit=_decimal(row, "power_limit_watts"),
        power=_decimal(row, "bus_watts"),
        modules=modules,
    )


def _module(row: Mapping[str, object]) -> Module | None:
    name = word(row.get("device_name"), 200)
    if name is None or MODULE.fullmatch(name) is None:
        return None
    address = _LABELLED_PCI.search(word(row.get("device_label"), 200) or "")
    return Module(
        name=name,
        product=word(row.get("board_name"), 200),
        pci=address[1].lower() if address else None,
        throttling=word(row.get("write_throttling_state"), 200),
        trouble=tuple(filter(None, (word(row.get("current_errors"), 200), word(row.get("current_warnings"), 200)))),
        volumes=tuple(
            volume for volume_row in rows(row.get("vsu"), _MOST) if (volume := _volume(volume_row)) is not None
        ),
    )


def _volume(row: Mapping[str, object]) -> IoVolume | None:
    name = word(row.get("device_name"), 200)
    if name is None or VOLUME.fullmatch(name) is None:
        return None
    return IoVolume(
        name=name,
        state=word(row.get("vsu_state"), 200),
        size_bytes=whole_number(row.get("size_bytes")),
        sectors=whole_number(row.get("sector_count")),
        sector_bytes=whole_number(row.get("sector_size_bytes")),
    )


def _decimal(row: Mapping[str, object], key: str) -> str | None:
    value = word(row.get(key)) or ""
    return value if _DECIMAL.fullmatch(value) else None
