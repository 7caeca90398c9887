"""Converts the data of a controller to inventory objects and identities. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends import change_steps
from backends.change import Change
from backends.errors import AnotherDeviceError
from backends.identity import Identity
from backends.model import (
    UNRECOVERABLE,
    Array,
    Controller,
    Drive,
    Fact,
    Feature,
    Inventory,
    Problem,
    Protection,
    State,
    Task,
)
from backends.pci import function_of
from backends.sizes import percent_text
from backends.topology import Node, Topology
from backends.topology.device_identity import exact_size, identity
from backends.vendors._cards import BackgroundOperation, value_of, value_text
from backends.vendors.megaraid import effective
from backends.vendors.megaraid.addresses import NAME, card_target, drive_target, volume_target
from backends.vendors.megaraid.choices import strips
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import JBOD, Card, PhysicalDrive, VirtualDrive, shown_facts
from backends.vendors.megaraid.geometry import data_drives, members_of
from backends.vendors.megaraid.presence import drive_node, volume_node


def inventory(prefix: str, contents: CardSnapshot, tool: str, version: str | None, picture: Topology) -> Inventory:
    """Return the inventory of one controller; `prefix` is its address."""
    nodes = tuple(picture.tree.nodes.values())
    arrays = tuple(_array(prefix, contents, volume, picture, nodes) for volume in contents.volumes)
    owners = {slot: volume.number for volume in contents.volumes for slot in volume.drives}
    drives = tuple(_drive(prefix, contents.card, drive, owners, picture, nodes) for drive in contents.drives)
    messages = (*contents.problems, *(f"{problem.rstrip('.')}." for problem in contents.card.problems))
    problems = tuple(Problem(where=f"{NAME}:{prefix}", message=text) for text in dict.fromkeys(messages))
    return Inventory(
        controllers=(_controller(prefix, contents, tool, version),),
        arrays=arrays,
        drives=drives,
        problems=problems,
    )


def _controller(prefix: str, contents: CardSnapshot, tool: str, version: str | None) -> Controller:
    card = contents.card
    return Controller(
        target=card_target(prefix),
        vendor=NAME,
        model=card.model,
        serial=card.serial,
        firmware=card.firmware,
        driver=card.driver,
        pci=function_of(card.pci),
        cache_bytes=card.cache_bytes,
        protection=_protection(card),
        features=tuple(
            Feature(name=option.name, state=option.state.value.replace("not-activated", "not activated"))
            for option in card.options
        ),
        tasks=tuple(map(_task, card.jobs)),
        facts=tuple(_card_facts(contents, tool, version)),
    )


def _protection(card: Card) -> Protection | None:
    if card.backup is not None:
        backup = card.backup
        return Protection(
            kind=backup.kind, state=backup.state.value, temperature=backup.temperature_c, voltage=backup.voltage
        )
    return Protection(kind="none", state="missing") if card.backup_known else None


def volume_tasks(contents: CardSnapshot, volume: VirtualDrive) -> tuple[Task, ...]:
    """Return the background tasks of a virtual drive, including rebuilds of its drives."""
    rebuilds = [job for drive in contents.drives if drive.place in volume.drives for job in drive.jobs]
    return tuple(map(_task, (*volume.jobs, *rebuilds)))


def card_tasks(contents: CardSnapshot) -> tuple[Task, ...]:
    """Return the background tasks of the controller: patrol read, checks, a learn cycle."""
    return tuple(map(_task, contents.card.jobs))


def _task(job: BackgroundOperation) -> Task:
    return Task(kind=job.kind, progress=job.progress, paused=job.state.lower().startswith("paused"))


def _card_facts(contents: CardSnapshot, tool: str, version: str | None) -> Iterable[Fact]:
    """Yield the facts of a controller, without those that truncated output could make incomplete."""
    card = contents.card
    if version or not contents.cut:
        yield Fact(label="Tool", value=" ".join(filter(None, (tool, version))))
    rows = {
        "Firmware package": card.package,
        "PCI address": card.pci,
        "RAID-on-chip": None if card.temperature_c is None else f"{card.temperature_c} °C",
        "Memory errors": f"{card.memory_errors} uncorrectable" if card.memory_errors else None,
        "Strip sizes": None if contents.cut else _range(card),
        "Safe id": card.safe_id,
    }
    yield from (Fact(label=label, value=text) for label, text in rows.items() if text is not None)
    jbod = value_of(card.values.get("jbod"))
    yield from shown_facts({**card.shown, **({JBOD: jbod} if jbod is not None else {})})
    if card.backup is not None:
        name = effective.protection_name(card.backup)
        yield Fact(label=name.capitalize() if name == "battery" else name, value=_backup_text(card))
        yield from (Fact(label=f"{name}: {label}", value=text) for label, text in card.backup.details.items())
    refused = [key for key, yes in card.supports.items() if not yes]
    if refused and not contents.cut:
        yield Fact(label="Not supported", value=", ".join(sorted(refused)))


def _range(card: Card) -> str | None:
    sizes = strips(card)
    return f"{sizes[0].label} to {sizes[-1].label}" if sizes else None


def _backup_text(card: Card) -> str:
    backup = card.backup
    assert backup is not None
    parts = [backup.state.raw or backup.state.value]
    parts += [f"{backup.temperature_c} °C"] if backup.temperature_c is not None else []
    parts += ["learning"] if backup.learning else []
    parts += [f"next learn cycle {backup.next_learn}"] if backup.next_learn is not None else []
    return ", ".join(parts)


def _array(
    prefix: str, contents: CardSnapshot, volume: VirtualDrive, picture: Topology, nodes: tuple[Node, ...]
) -> Array:
    node = volume_node(volume, contents.card, nodes)
    return Array(
        target=volume_target(prefix, volume.number),
        controller=card_target(prefix),
        name=volume.name,
        level=volume.level,
        state=volume.state,
        size_bytes=exact_size(node, None if contents.cut else volume.size_bytes),
        strip_bytes=volume.strip_bytes,
        data_drives=data_drives(volume),
        spans=volume.spans,
        device=node.device if node is not None else volume.os_device,
        members=tuple(drive_target(prefix, slot) for slot in volume.drives),
        identity=identity(node) if node is not None else reported_volume_identity(prefix, contents.card, volume),
        uses=picture.uses(node.name) if node is not None else (),
        tasks=volume_tasks(contents, volume),
        facts=tuple(_volume_facts(contents.card, volume)),
    )


def reported_volume_identity(prefix: str, card: Card, volume: VirtualDrive) -> Identity:
    """Return the identity of a virtual drive without a kernel disk: address, WWN, serial number of the controller."""
    wwn = f"naa.{volume.wwn}" if volume.wwn is not None else None
    return Identity(name=f"{prefix}/v{volume.number}".strip("/").replace("/", "-"), wwn=wwn, serial=card.serial)


def _volume_facts(card: Card, volume: VirtualDrive) -> Iterable[Fact]:
    rows = {
        "Reported as": ", ".join(filter(None, (volume.level_raw, volume.state_raw))),
        "Spans": _spans(volume),
        "Access": value_of(volume.access),
        "Write cache": value_text(value_of(volume.configured.write_cache), effective.write_cache(card, volume)),
        "Read-ahead": value_text(
            value_of(volume.configured.read_ahead),
            effective.reported_difference(volume.configured.read_ahead, volume, "read_ahead"),
        ),
        "I/O policy": value_of(volume.configured.io_policy),
        "Drive cache": value_of(volume.drive_cache),
        "CacheCade": _cachecade(volume),
        "World wide name": volume.wwn,
        "Encrypted": "yes" if volume.secured else None,
        UNRECOVERABLE: "bad blocks" if volume.lost else None,
    }
    return Fact.from_rows(rows.items())


def _spans(volume: VirtualDrive) -> str | None:
    if volume.spans is None or volume.spans < 2:
        return None
    per_span = f", each of {volume.drives_per_span} drives" if volume.drives_per_span is not None else ""
    return f"{volume.spans}{per_span}"


def _cachecade(volume: VirtualDrive) -> str | None:
    """Return the role of the virtual drive in CacheCade as a string for display, or None if it has none."""
    if volume.ssd_cache:
        return "it is a cache of virtual drives"
    word = volume.cached
    return None if word is None or word.value == "off" else f"{word.value} ({word.raw})"


def _drive(
    prefix: str, card: Card, drive: PhysicalDrive, owners: dict[str, int], picture: Topology, nodes: tuple[Node, ...]
) -> Drive:
    owner = owners.get(drive.place, drive.volumes[0] if drive.volumes else None)
    node = drive_node(drive, nodes)
    # The operating system can use a drive that it sees, even if the controller reports the drive as unassigned.
    handed_on = card.makes_arrays is False or node is not None
    return Drive(
        target=drive_target(prefix, drive.place),
        controller=card_target(prefix),
        array=volume_target(prefix, owner) if owner is not None else None,
        model=drive.model,
        serial=drive.serial,
        firmware=drive.firmware,
        wwn=f"naa.{drive.wwn}" if drive.wwn is not None else None,
        media=drive.media,
        interface=drive.interface,
        size_bytes=exact_size(node, drive.size_bytes),
        logical_block=drive.sector_bytes,
        state=State.ONLINE if handed_on and drive.state is State.UNASSIGNED else drive.state,
        health=drive.health,
        device=node.device if node is not None else None,
        identity=identity(node) if node is not None else None,
        uses=picture.uses(node.name) if node is not None else (),
        facts=tuple(_drive_facts(drive)),
    )


def _drive_facts(drive: PhysicalDrive) -> Iterable[Fact]:
    done = [f"{job.kind} {percent_text(job.progress)}" if job.progress is not None else job.kind for job in drive.jobs]
    rows = {
        "Reported as": drive.state_raw,
        "Slot": drive.place,
        "Link": drive.link,
        "Link limit": drive.link_limit if drive.link_limit != drive.link else None,
        "Temperature": None if drive.temperature_c is None else f"{drive.temperature_c} °C",
        "Foreign configuration": "yes" if drive.foreign else None,
        "Errors": ", ".join(f"{count} {name}" for name, count in drive.errors.items() if count) or None,
        "Work": ", ".join(done) or None,
        "Inquiry": drive.inquiry,
    }
    return Fact.from_rows(rows.items())


def card_identity(prefix: str, card: Card) -> Identity:
    """Return the identity of a controller: serial number and model."""
    return Identity(name=prefix.strip("/").replace("/", "-"), serial=card.serial, model=card.model)


def volume_identity(prefix: str, card: Card, volume: VirtualDrive, picture: Topology, *, recreated: bool) -> Identity:
    """Return the identity of a virtual drive: from its block device, or if it has none, from the tool's data.

    With `recreated`, return only the facts that a re-creation does not change: the number and the controller. Use it
    for changes that re-create the virtual drive, and for other changes planned together with them.
    """
    stored = reported_volume_identity(prefix, card, volume)
    if recreated:
        return replace(stored, wwn=None)
    node = volume_node(volume, card, picture.tree.nodes.values())
    return identity(node) if node is not None else stored


def require_same_device(
    change: Change, prefix: str, number: int | None, contents: CardSnapshot, picture: Topology
) -> None:
    """Check that the target of the change is still the one it was planned for.

    Raises AnotherDeviceError if the target or its drives differ from the plan, DeviceGoneError if the virtual drive is
    gone.
    """
    if number is None:
        present = card_identity(prefix, contents.card)
    else:
        volume = contents.volume(number)
        if volume is None:
            raise change_steps.gone_error(change.target)
        if change.members and change.members != members_of(contents, volume.drives):
            raise AnotherDeviceError(f"The drives of {change.target} have changed.", hint="Plan the change again.")
        present = volume_identity(prefix, contents.card, volume, picture, recreated=True)
        if present != change.identity:
            present = volume_identity(prefix, contents.card, volume, picture, recreated=change.key == "strip_size")
    change_steps.require_same_device(change, present)
