"""Converts the data of a controller to inventory objects and identities. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends import raid
from backends.change_steps import LOOK_AGAIN
from backends.identity import Identity, Use
from backends.model import UNRECOVERABLE, Array, Controller, Drive, Fact, Inventory, Problem, Protection, State, Task
from backends.reported_words import plain_words
from backends.topology import Node, Topology
from backends.topology.device_identity import exact_size, identity
from backends.vendors._cards import UNKNOWN, ReportedValue, value_of, value_text
from backends.vendors.smartarray import effective
from backends.vendors.smartarray.addresses import NAME, card_target, drive_target, volume_target
from backends.vendors.smartarray.facts import BayDrive, CardText, LogicalDrive, RaidCard
from backends.vendors.smartarray.matching import drive_node, volume_node

_THREE_COPIES = re.compile(r"adm|triple", re.ASCII | re.IGNORECASE)
"""Matches the tools' names of RAID 1 and 10 with three copies: `1 (ADM)`, `RAID 10 (Triple)`."""


def inventory(prefix: str, text: CardText, pci: str | None, tool: str, picture: Topology) -> Inventory:
    """Return the inventory of one controller; `prefix` is its address."""
    nodes = tuple(picture.tree.nodes.values())
    return Inventory(
        controllers=(_controller(prefix, text.card, pci, tool),),
        arrays=tuple(_array(prefix, text, volume, pci, picture, nodes) for volume in text.volumes),
        drives=tuple(_drive(prefix, text, drive, picture, nodes) for drive in text.drives),
        problems=(
            *(Problem(where=f"{NAME}:{prefix}", message=message) for message in dict.fromkeys(text.card.problems)),
            *(cut for cut in (truncation_of(prefix, text),) if cut is not None),
        ),
    )


def truncation_of(prefix: str, text: CardText) -> Problem | None:
    """Return a problem if the output about the controller was truncated, else None."""
    return Problem(where=f"{NAME}:{prefix}", message=f"{text.cut}.", hint=LOOK_AGAIN) if text.cut else None


def card_identity(prefix: str, card: RaidCard) -> Identity:
    """Return the identity of a controller: serial number and model."""
    return Identity(name=prefix.strip("/").replace("/", "-"), serial=card.serial, model=card.model)


def volume_identity(prefix: str, text: CardText, volume: LogicalDrive, node: Node | None) -> Identity:
    """Return the identity of a logical drive: from its block device, or if it has none, from the tool's data."""
    if node is not None:
        return identity(node)
    wwn = f"naa.{volume.wwn}" if volume.wwn is not None else None
    return Identity(name=f"{prefix}/ld{volume.number}".strip("/").replace("/", "-"), wwn=wwn, serial=text.card.serial)


def drive_identity(prefix: str, drive: BayDrive) -> Identity:
    """Return the identity of a drive: serial number, model and place."""
    name = f"{prefix}/{drive.place}".strip("/").replace("/", "-")
    return Identity(name=name, serial=drive.serial, model=drive.model)


def _controller(prefix: str, card: RaidCard, pci: str | None, tool: str) -> Controller:
    return Controller(
        target=card_target(prefix),
        vendor=NAME,
        model=card.model,
        serial=card.serial,
        firmware=card.firmware,
        driver=card.driver,
        pci=pci,
        cache_bytes=card.cache_bytes,
        protection=_protection(card),
        facts=tuple(_card_facts(card, tool)),
    )


def _protection(card: RaidCard) -> Protection | None:
    if card.power is None:
        return None
    state = {True: "optimal", None: "unknown"}.get(card.power.healthy, "failed")
    if card.power.healthy is False and "charg" in card.power.state.lower():
        state = "charging"
    return Protection(
        kind=card.power.kind,
        state="missing" if card.power.kind == "none" else state,
        temperature=card.capacitor_c,
    )


def _card_facts(card: RaidCard, tool: str) -> Iterable[Fact]:
    rows = {
        "Tool": tool,
        "Reported as": card.state_raw,
        "Mode": card.mode,
        "Cache state": None if card.cache_state is None else card.cache_state + effective.cache_reason_text(card),
        "Cache power": None if card.power is None else card.power.state,
        "Temperature": None if card.temperature_c is None else f"{card.temperature_c} °C",
        "Capacitor temperature": None if card.capacitor_c is None else f"{card.capacitor_c} °C",
        "Cache module temperature": None if card.cache_module_c is None else f"{card.cache_module_c} °C",
        "Configuration": None if card.locked is None else "locked by the controller",
    }
    return Fact.from_rows(rows.items())


def _array(
    prefix: str, text: CardText, volume: LogicalDrive, pci: str | None, picture: Topology, nodes: tuple[Node, ...]
) -> Array:
    node = volume_node(volume, text.card.family, pci, nodes)
    return Array(
        target=volume_target(prefix, volume.number),
        controller=card_target(prefix),
        name=volume.name,
        level=volume.level,
        state=volume.state,
        size_bytes=exact_size(node, volume.size_bytes),
        strip_bytes=volume.strip_bytes,
        data_drives=_data_drives(volume, counted=not text.cut),
        spans=volume.parity_groups,
        why=""
        if volume.state_raw.lower() in ("ok", "okay", "optimal", volume.state.value)
        else plain_words(volume.state_raw),
        device=node.device if node is not None else None,
        members=tuple(drive_target(prefix, bay) for bay in volume.drives),
        identity=volume_identity(prefix, text, volume, node),
        uses=picture.uses(node.name) if node is not None else (),
        tasks=tasks(volume),
        facts=tuple(_volume_facts(text, volume, node)),
    )


def tasks(volume: LogicalDrive) -> tuple[Task, ...]:
    """Return the background tasks of a logical drive."""
    return tuple(Task(kind=job.kind, progress=job.progress) for job in volume.jobs)


def _data_drives(volume: LogicalDrive, *, counted: bool) -> int | None:
    """Return the number of data drives, by the reported full stripe or else by the number of drives.

    `counted`: whether all drives are listed; if not, the number of drives is not used.

    The reported full stripe of a RAID 50 or 60 covers only one parity group (ssacli: 512 KB for 6 drives in 2 groups
    with strips of 256 KB). It cannot be used if the number of groups is not reported.
    """
    if volume.strip_bytes and volume.stripe_bytes and volume.stripe_bytes % volume.strip_bytes == 0:
        groups = volume.parity_groups if volume.level in raid.PARITY_IN_SPANS else 1
        return volume.stripe_bytes // volume.strip_bytes * groups if groups else None
    count = (volume.width or len(volume.drives)) if counted else 0
    copies = 3 if _THREE_COPIES.search(volume.level_raw) else None
    return raid.data_drives(volume.level, count, spans=volume.parity_groups, copies=copies)


def _volume_facts(text: CardText, volume: LogicalDrive, node: Node | None) -> Iterable[Fact]:
    card = text.card
    group = text.group(volume.array)
    rows = {
        "Reported as": ", ".join(filter(None, (volume.level_raw, volume.state_raw))),
        "Array": volume.array,
        "Acceleration": _value_text(volume.acceleration),
        "Write cache": value_text(value_of(effective.write_policy(card, volume)), effective.write_cache(card, volume)),
        "Read cache": value_text(value_of(volume.read_cache), effective.read_cache(volume)),
        "Unprotected": effective.unprotected_reason(card, volume),
        "Smart Path": value_of(group.smart_path) if group is not None else None,
        "SSD cache": volume.ssd_cache,
        "World wide name": volume.wwn,
        UNRECOVERABLE: volume.lost,
        "Device reported by the tool": volume.device if node is None else None,
    }
    return Fact.from_rows(rows.items())


def _value_text(phrase: ReportedValue | None) -> str | None:
    """Return the value as raidbench names it, or `unknown` with the tool's text; None if not reported."""
    return None if phrase is None else f"unknown: {phrase.raw}" if phrase.value == UNKNOWN else phrase.value


def _drive(prefix: str, text: CardText, drive: BayDrive, picture: Topology, nodes: tuple[Node, ...]) -> Drive:
    node = drive_node(drive, nodes)
    owner = next((volume for volume in text.volumes if drive.place in volume.drives), None)
    used = () if node is None else picture.uses(node.name)
    if node is not None and owner is not None:
        used = (*used, Use(kind="raid", detail=f"a member of {volume_target(prefix, owner.number)}"))
    return Drive(
        target=drive_target(prefix, drive.place),
        controller=card_target(prefix),
        array=volume_target(prefix, owner.number) if owner is not None else None,
        model=drive.model,
        serial=drive.serial,
        firmware=drive.firmware,
        wwn=f"naa.{drive.wwn}" if drive.wwn is not None else None,
        media=drive.media,
        interface=drive.interface,
        size_bytes=exact_size(node, drive.size_bytes),
        logical_block=drive.sector_bytes,
        physical_block=drive.physical_bytes,
        state=State.ONLINE if node is not None and drive.state is State.UNASSIGNED else drive.state,
        health=drive.health,
        device=node.device if node is not None else None,
        identity=identity(node) if node is not None else None,
        uses=used,
        facts=tuple(_drive_facts(drive)),
    )


def _drive_facts(drive: BayDrive) -> Iterable[Fact]:
    rows = {
        "Reported as": drive.state_raw,
        "Slot": drive.place,
        "Location": drive.slot,
        "Array": drive.array,
        "Drive cache": value_of(drive.write_cache),
        "Temperature": None if drive.health.temperature is None else f"{drive.health.temperature:g} °C",
        "Link": drive.link,
        "Link limit": drive.link_limit if drive.link_limit != drive.link else None,
        "Life left": drive.usage_left,
    }
    return Fact.from_rows(rows.items())
