"""Devices and settings as text for people."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence

from app.cli.options import is_terminal
from app.cli.output import lines, paint, say, sign
from app.cli.render import DIM_MARK, table_lines
from app.cli.tables import Align, Column, table
from app.engine.view import setting as view
from app.engine.view.arrangement import Branch, arranged
from backends.identity import Use
from backends.model import Array, Controller, Drive, Inventory, Scope
from backends.settings import Reading, Setting
from backends.text import clean
from widgets.plain import units

_COLUMNS = (
    Column(title="Address"),
    Column(title="Kind"),
    Column(title="Size", align=Align.POINT),
    Column(title="State"),
    Column(title="Device"),
    Column(title="Model", shrinks=True),
    Column(title="In use", shrinks=True),
)


def terminal_width() -> int | None:
    """Columns of the terminal standard output goes to, None when it goes elsewhere: then nothing is cut."""
    import sys

    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def devices_table(inventory: Inventory, host: str, *, simulated: bool) -> None:
    """The tree: controllers, their arrays, their drives."""
    twins = inventory.twins
    counts = (
        (len(inventory.controllers), "controller"),
        (len(inventory.arrays), "array"),
        (sum(drive.target not in twins for drive in inventory.drives), "drive"),
    )
    facts = [clean(host), *(units.plural(count, word) for count, word in counts if count)]
    say(" · ".join(["SIMULATED", *facts] if simulated else facts))
    rows = list(_tree(inventory))
    if rows:
        head, *body = table(_COLUMNS, rows, terminal_width())
        lines([paint(head, "bold"), *body])
    else:
        say("Nothing was found. `raidbench doctor` says why.")


def _tree(inventory: Inventory) -> Iterator[list[str]]:
    """Rows in the order of the tree, each thing once."""
    return (row for branch in arranged(inventory) for row in _rows(branch, 0))


def _rows(branch: Branch, depth: int) -> Iterator[list[str]]:
    match branch.thing:
        case Controller() as controller:
            yield _controller(controller)
        case Array() as array:
            yield _array(array, depth, branch.why)
        case Drive() as drive:
            yield _drive(drive, depth, branch.role)
    for below in branch.below:
        yield from _rows(below, depth + 1)


def _controller(found: Controller) -> list[str]:
    guard = found.protection
    state = "" if guard is None else "no battery" if guard.kind == "none" else f"{guard.kind} {guard.state}"
    cache = "" if found.cache_bytes is None else units.size(found.cache_bytes)
    return [str(found.target), "controller", cache, clean(state), "", clean(found.model or ""), ""]


def _array(found: Array, depth: int, why: str) -> list[str]:
    name = clean(found.name or "")
    return [
        "  " * depth + clean(str(found.target)),
        found.level.value,
        units.size(found.size_bytes),
        sign(found.state.value) + (f": {clean(why)}" if why else ""),
        found.device or "",
        name,
        in_use(found.uses),
    ]


def _drive(found: Drive, depth: int, role: str) -> list[str]:
    kind = found.media.value if found.interface in (None, found.media.value) else f"{found.media} {found.interface}"
    return [
        "  " * depth + clean(str(found.target)),
        clean(kind),
        units.size(found.size_bytes),
        sign(found.state.value) if not role else clean(role),
        found.device or "",
        clean(found.model or found.backing or ""),
        in_use(found.uses),
    ]


def in_use(uses: tuple[Use, ...]) -> str:
    """What uses it, each thing once."""
    return ", ".join(dict.fromkeys(clean(use.detail) for use in uses))


Page = tuple[str, tuple[Setting, ...], Mapping[str, Reading]]
"""A heading, settings and their values."""


def target_page(found: Controller | Array | Drive, parts: Sequence[Page]) -> None:
    """Facts first, then the settings, then why some cannot be changed: its own, then those of its queue."""
    facts = [(label, clean(text)) for label, text in _facts(found) if text]
    wide = max(len(label) for label, _ in facts)
    lines([paint(clean(str(found.target)), "bold"), *(f"  {label:<{wide}}  {text}" for label, text in facts)])
    shown = [part for part in parts if any(each.key in part[2] for each in part[1])]
    for heading, declared, readings in shown:
        _settings_page(heading, declared, readings, found.target.scope)
    if not shown:
        lines(["", "It has no settings that raidbench can change."])


def _settings_page(heading: str, declared: tuple[Setting, ...], readings: Mapping[str, Reading], scope: Scope) -> None:
    shown = view.settings_table(declared, readings, scope, heading=heading)
    lines(["", *table_lines(shown.only("setting", "key", "now", "may-be", "effect", "risk"), terminal_width())])
    reasons = [
        f"{DIM_MARK} {', '.join(keys)}: {clean(reason, 300)}" for reason, keys in view.why_not(declared, readings)
    ]
    if reasons:
        lines(["", "Cannot be changed:", *reasons])


def _facts(found: Controller | Array | Drive) -> Iterator[tuple[str, str]]:
    extra = ((fact.label, fact.value) for fact in found.facts if fact.label != "PCI address")
    match found:
        case Controller():
            yield "Model", found.model or ""
            yield "Serial", found.serial or ""
            yield "Firmware", found.firmware or ""
            yield "Driver", found.driver or ""
            yield "PCI address", found.pci or ""
            yield "Cache", "" if found.cache_bytes is None else units.size(found.cache_bytes)
            if found.protection is not None:
                yield "Protection", f"{found.protection.kind}: {found.protection.state}"
            yield "Features", ", ".join(f"{feature.name} {feature.state}" for feature in found.features)
        case Array():
            yield "Name", found.name or ""
            yield "Level", found.level.value
            yield "State", found.state.value
            yield "Device", found.device or ""
            yield "Size", units.size(found.size_bytes)
            yield "Strip", "" if found.strip_bytes is None else units.size(found.strip_bytes)
            if found.strip_bytes is not None and found.data_drives:
                yield "Full stripe", units.size(found.strip_bytes * found.data_drives)
            yield "Members", ", ".join(str(member) for member in found.members)
            yield "In use", in_use(found.uses)
        case Drive():
            yield "Model", found.model or ""
            yield "Serial", found.serial or ""
            yield "WWN", found.wwn or ""
            yield "Firmware", found.firmware or ""
            yield "Kind", " · ".join(filter(None, (found.media.value, found.interface)))
            yield "State", found.state.value + (", read-only" if found.read_only else "")
            yield "Device", found.device or ""
            yield "Member of", "" if found.array is None else str(found.array)
            yield "Controller", "" if found.controller is None else str(found.controller)
            yield "Size", units.size(found.size_bytes)
            sectors = (found.logical_block, found.physical_block)
            yield "Sectors", " / ".join(units.size(sector) for sector in sectors if sector is not None)
            yield "Backing file", found.backing or ""
            yield "Partitions", ", ".join(found.partitions)
            signatures = (" ".join(filter(None, (mark.part, mark.kind, mark.label))) for mark in found.signatures)
            yield "Contents", ", ".join(signatures)
            yield "In use", in_use(found.uses)
    yield from extra
