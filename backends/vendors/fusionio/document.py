"""From `fio-status -fj` to facts, and what two answers tell together. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TypeVar

from backends.json_text import document, rows, table, whole, word
from backends.vendors.fusionio.facts import Adapter, Cards, IoVolume, Module
from backends.vendors.fusionio.text import MODULE, VOLUME

_MOST = 64
"""Cards, modules or volumes of one: more than a machine has room for."""
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_PCI = re.compile(r"(?:^|\s)([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", re.ASCII | re.IGNORECASE)
_CONNECTED = {"0": "NOT connected", "1": "connected"}

Known = TypeVar("Known", Adapter, Module, IoVolume)


def parse_document(text: str) -> Cards:
    """What the JSON tells, all of whose values are strings; an empty answer where it is none."""
    adapters: list[Adapter] = []
    modules: dict[str, Module] = {}
    for row in rows(table(document(text)).get("adapter"), _MOST):
        own = [one for each in rows(row.get("iomemory"), _MOST) if (one := _module(each)) is not None]
        for one in own:
            modules.setdefault(one.name, one)
        adapters.append(_adapter(row, tuple(dict.fromkeys(one.name for one in own))))
    return Cards(adapters=tuple(adapters), modules=tuple(modules.values()))


def together(text: Cards, document: Cards) -> Cards:
    """Both answers in one; where both tell of the same thing the text counts."""
    others = {module.name: module for module in document.modules}
    modules = [_module_of_both(module, others.pop(module.name, None)) for module in text.modules]
    named = {name: adapter for adapter in document.adapters for name in adapter.modules}
    adapters = [
        _filled(adapter, next((named[name] for name in adapter.modules if name in named), None))
        for adapter in text.adapters
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
    place = _PCI.search(word(row.get("device_label"), 200) or "")
    active = _decimal(row, "active_media_pct")
    return Module(
        name=name,
        product=word(row.get("board_name"), 200),
        pci=place[1].lower() if place else None,
        active_percent=None if active is None else float(active),
        throttling=word(row.get("write_throttling_state"), 200),
        trouble=tuple(filter(None, (word(row.get("current_errors"), 200), word(row.get("current_warnings"), 200)))),
        volumes=tuple(one for each in rows(row.get("vsu"), _MOST) if (one := _volume(each)) is not None),
    )


def _volume(row: Mapping[str, object]) -> IoVolume | None:
    name = word(row.get("device_name"), 200)
    if name is None or VOLUME.fullmatch(name) is None:
        return None
    return IoVolume(
        name=name,
        state=word(row.get("vsu_state"), 200),
        kind=word(row.get("vsu_type"), 200),
        size_bytes=whole(row.get("size_bytes")),
        sectors=whole(row.get("sector_count")),
        sector_bytes=whole(row.get("sector_size_bytes")),
    )


def _decimal(row: Mapping[str, object], key: str) -> str | None:
    value = word(row.get(key)) or ""
    return value if _DECIMAL.fullmatch(value) else None
