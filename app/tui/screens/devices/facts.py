"""What is known of a device, as the facts panel shows it. Pure."""

from __future__ import annotations

from app.engine.view.arrangement import Thing, reason
from backends.model import Array, Controller, Drive
from widgets.details import Fact, FactGroup
from widgets.plain import units


def facts(thing: Thing) -> tuple[FactGroup, ...]:
    """What is known about a thing."""
    match thing:
        case Drive():
            return _drive_facts(thing)
        case Array():
            return _array_facts(thing)
        case Controller():
            return _controller_facts(thing)


def _drive_facts(drive: Drive) -> tuple[FactGroup, ...]:
    sectors = None
    if drive.logical_block or drive.physical_block:
        sectors = f"{drive.logical_block or '?'} logical, {drive.physical_block or '?'} physical"
    rows = [
        ("Model", drive.model),
        ("Serial", drive.serial),
        ("WWN", drive.wwn),
        ("Firmware", drive.firmware),
        ("Device", drive.device),
        ("Size", units.size(drive.size_bytes) if drive.size_bytes is not None else None),
        ("Sectors", sectors),
        ("Media", _media(drive)),
        ("Scheduler", drive.scheduler),
        ("Backing file", drive.backing),
        ("Access", "read-only" if drive.read_only else None),
        ("Member of", str(drive.array) if drive.array is not None else None),
        ("Controller", str(drive.controller) if drive.controller is not None else None),
        *((fact.label, fact.value) for fact in drive.facts),
    ]
    used = [
        Fact(label=use.kind, value=f"{use.part}: {use.detail}" if use.part else use.detail, tone="warning")
        for use in drive.uses
    ]
    found = [
        Fact(label=sign.kind, value=" ".join(filter(None, (sign.part, sign.label, units.size(sign.size_bytes)))))
        for sign in drive.signatures
    ]
    groups = [FactGroup(heading=str(drive.target), facts=_known(rows))]
    if found:
        groups.append(FactGroup(heading="On it", facts=tuple(found)))
    groups.append(
        FactGroup(heading="In use", facts=tuple(used) or (Fact(label="", value="not in use, as far as can be seen"),))
    )
    return tuple(groups)


def _media(drive: Drive) -> str:
    words = (drive.interface, str(drive.media) if drive.media != "unknown" else "")
    return " ".join(dict.fromkeys(filter(None, words)))


def _array_facts(array: Array) -> tuple[FactGroup, ...]:
    full = array.strip_bytes * array.data_drives if array.strip_bytes and array.data_drives else None
    told = {fact.label for fact in array.facts}
    rows = [
        ("Name", array.name),
        ("Level", str(array.level)),
        ("State", ": ".join(filter(None, (str(array.state), reason(array))))),
        ("Size", units.size(array.size_bytes) if array.size_bytes is not None else None),
        ("Strip", units.size(array.strip_bytes) if array.strip_bytes else None),
        ("Full stripe", units.size(full) if full and "Full stripe" not in told else None),
        ("Data drives", str(array.data_drives) if array.data_drives else None),
        ("Device", array.device),
        ("Members", ", ".join(str(member) for member in array.members) or None),
        *((fact.label, fact.value) for fact in array.facts),
    ]
    used = tuple(Fact(label=use.kind, value=use.detail, tone="warning") for use in array.uses)
    groups = [FactGroup(heading=str(array.target), facts=_known(rows))]
    if used:
        groups.append(FactGroup(heading="In use", facts=used))
    return tuple(groups)


def _controller_facts(controller: Controller) -> tuple[FactGroup, ...]:
    protection = controller.protection
    rows = [
        ("Model", controller.model),
        ("Serial", controller.serial),
        ("Firmware", controller.firmware),
        ("Driver", controller.driver),
        ("PCI address", controller.pci),
        ("Cache", units.size(controller.cache_bytes) if controller.cache_bytes else None),
        ("Protection", f"{protection.kind} {protection.state}" if protection else None),
        *((feature.name, feature.state) for feature in controller.features),
        *((fact.label, fact.value) for fact in controller.facts if fact.label != "PCI address"),
    ]
    return (FactGroup(heading=str(controller.target), facts=_known(rows)),)


def _known(rows: list[tuple[str, str | None]]) -> tuple[Fact, ...]:
    return tuple(Fact(label=label, value=value) for label, value in rows if value)
