"""From `fio-status -fj` to facts, and what two answers tell together. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from backends.text import clean
from backends.vendors.fusionio.facts import Adapter, Cards, IoVolume, Module
from backends.vendors.fusionio.text import MODULE, VOLUME

_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_PCI = re.compile(r"(?:^|\s)([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", re.ASCII | re.IGNORECASE)
_CONNECTED = {"0": "NOT connected", "1": "connected"}

Known = TypeVar("Known", Adapter, Module, IoVolume)


def parse_document(text: str) -> Cards:
    """What the JSON tells, all of whose values are strings; an empty answer where it is none."""
    start = text.find("{")
    try:
        found = json.loads(text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return Cards()
    adapters: list[Adapter] = []
    modules: dict[str, Module] = {}
    for row in _rows(found, "adapter"):
        own = [one for each in _rows(row, "iomemory") if (one := _module(each)) is not None]
        for one in own:
            modules.setdefault(one.name, one)
        adapters.append(_adapter(row, tuple(dict.fromkeys(one.name for one in own))))
    return Cards(adapters=tuple(adapters), modules=tuple(modules.values()))


def together(text: Cards, document: Cards) -> Cards:
    """Both answers in one; where both tell of the same thing the text counts."""
    others = {one.name: one for one in document.modules}
    modules = [_module_of_both(one, others.pop(one.name, None)) for one in text.modules]
    named = {name: one for one in document.adapters for name in one.modules}
    adapters = [
        _filled(one, next((named[name] for name in one.modules if name in named), None)) for one in text.adapters
    ]
    return Cards(
        driver=text.driver,
        adapters=tuple(adapters) or document.adapters,
        modules=(*modules, *others.values()),
    )


def _module_of_both(one: Module, other: Module | None) -> Module:
    if other is None:
        return one
    volumes = {each.name: each for each in other.volumes}
    both = tuple(_filled(each, volumes.pop(each.name, None)) for each in one.volumes)
    return replace(_filled(one, other), volumes=(*both, *volumes.values()))


def _filled(one: Known, other: Known | None) -> Known:
    """What the one does not tell, from the other."""
    if other is None:
        return one
    missing = {
        field.name: getattr(other, field.name) for field in fields(one) if getattr(one, field.name) in (None, ())
    }
    return replace(one, **missing)


def _adapter(row: dict[str, Any], modules: tuple[str, ...]) -> Adapter:
    return Adapter(
        kind=_word(row, "board_kind"),
        product=_word(row, "product_name"),
        serial=_word(row, "serial_number"),
        external_power=_CONNECTED.get(_word(row, "external_power_connected") or ""),
        power_limit=_decimal(row, "power_limit_watts"),
        power=_decimal(row, "bus_watts"),
        modules=modules,
    )


def _module(row: dict[str, Any]) -> Module | None:
    name = _word(row, "device_name")
    if name is None or MODULE.fullmatch(name) is None:
        return None
    place = _PCI.search(_word(row, "device_label") or "")
    active = _decimal(row, "active_media_pct")
    return Module(
        name=name,
        product=_word(row, "board_name"),
        pci=place[1].lower() if place else None,
        active_percent=None if active is None else float(active),
        throttling=_word(row, "write_throttling_state"),
        trouble=tuple(filter(None, (_word(row, "current_errors"), _word(row, "current_warnings")))),
        volumes=tuple(one for each in _rows(row, "vsu") if (one := _volume(each)) is not None),
    )


def _volume(row: dict[str, Any]) -> IoVolume | None:
    name = _word(row, "device_name")
    if name is None or VOLUME.fullmatch(name) is None:
        return None
    return IoVolume(
        name=name,
        state=_word(row, "vsu_state"),
        kind=_word(row, "vsu_type"),
        size_bytes=_whole(row, "size_bytes"),
        sectors=_whole(row, "sector_count"),
        sector_bytes=_whole(row, "sector_size_bytes"),
    )


def _rows(found: object, key: str) -> Iterator[dict[str, Any]]:
    """The objects in a list of that name."""
    rows = found.get(key) if isinstance(found, dict) else None
    yield from (row for row in rows[:64] if isinstance(row, dict)) if isinstance(rows, list) else ()


def _word(row: dict[str, Any], key: str) -> str | None:
    value = row.get(key)
    return clean(value, 200) or None if isinstance(value, str) else None


def _whole(row: dict[str, Any], key: str) -> int | None:
    value = _word(row, key) or ""
    return int(value) if _WHOLE.fullmatch(value) else None


def _decimal(row: dict[str, Any], key: str) -> str | None:
    value = _word(row, key) or ""
    return value if _DECIMAL.fullmatch(value) else None
