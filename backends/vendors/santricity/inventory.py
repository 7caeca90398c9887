"""Inventory objects and identities from the data of the web services. No I/O."""

from __future__ import annotations

from backends.identity import Identity
from backends.model import Array, Controller, Drive, Inventory, Media, Problem, Protection, Scope, State, Target, Task
from backends.raid import data_drives
from backends.reported_words import word_text
from backends.topology import Node, Topology
from backends.topology.device_identity import identity
from backends.vendors._disk_systems import battery_state, level_of, node_of
from backends.vendors._read_only import facts
from backends.vendors.santricity.facts import WebDrive, WebGroup, WebHardware, WebSystem, WebVolume

NAME = "santricity"
"""Prefix of the targets of this backend."""

_STATES = {
    "optimal": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "impaired": State.DEGRADED,
    "failed": State.FAILED,
    "offline": State.OFFLINE,
    "removed": State.MISSING,
    "missing": State.MISSING,
}
_MEDIA = {"hdd": Media.HDD, "ssd": Media.SSD}
_TASKS = {"initializing": "initialisation", "reconstructing": "rebuild", "copyback": "rebuild", "verifying": "check"}


def door_name(door: str) -> str:
    """Return the name of a door: `lab` for `/santricity:/lab`."""
    return door.rpartition("/")[2]


def system_address(system: WebSystem) -> str:
    """Return the address of a disk system, door and system name: `lab/array1`."""
    return f"{door_name(system.door)}/{system.name}"


def volume_target(system: WebSystem, name: str) -> Target:
    """Return the target of a volume."""
    return Target(backend=NAME, address=f"{system_address(system)}/{name}", scope=Scope.ARRAY)


def drive_target(system: WebSystem, tray_slot: str) -> Target:
    """Return the target of a drive, by tray and slot."""
    return Target(backend=NAME, address=f"{system_address(system)}/drive {tray_slot}")


def inventory(
    system: WebSystem,
    volumes: tuple[WebVolume, ...],
    groups: tuple[WebGroup, ...],
    hardware: WebHardware,
    picture: Topology,
) -> Inventory:
    """Return the inventory of one disk system."""
    owner = Target(backend=NAME, address=system_address(system), scope=Scope.CONTROLLER)
    return Inventory(
        controllers=(_controller(system, groups, hardware, owner),),
        arrays=tuple(_array(system, volume, groups, hardware, owner, picture) for volume in volumes),
        drives=tuple(_drive(system, drive, volumes, owner) for drive in hardware.drives),
        problems=problems(system, hardware),
    )


def problems(system: WebSystem, hardware: WebHardware) -> tuple[Problem, ...]:
    """Return the problems of a disk system."""
    where = f"{NAME}:{system_address(system)}"
    findings = []
    if system.out_of_reach:
        status = word_text(system.status)
        message = f"The proxy does not reach {system.name}, which is {status}, so its data is out of date."
        findings.append(Problem(where=where, message=message, hint="Check its network and its controllers."))
    if system.password == "invalid":
        message = f"The proxy has a wrong password for {system.name}, so its settings cannot be changed."
        findings.append(Problem(where=where, message=message, hint="Set the password in the proxy."))
    if (bad := hardware.bad_controller) is not None:
        message = f"The status of controller {bad.place} of {system.name} is {word_text(bad.status)}."
        findings.append(Problem(where=where, message=message, hint="Check it in SANtricity."))
    return tuple(findings)


def _controller(system: WebSystem, groups: tuple[WebGroup, ...], hardware: WebHardware, owner: Target) -> Controller:
    first = hardware.controllers[0] if hardware.controllers else None
    bad = hardware.bad_battery
    serials = (
        *(controller.serial for controller in hardware.controllers),
        *hardware.serials,
        *(group.wwn for group in groups),
    )
    pairs = [
        ("Status", system.status),
        *((f"Controller {controller.place}", controller.status) for controller in hardware.controllers),
        ("Battery", bad),
        ("World wide name", system.wwn),
        ("Serial numbers", " ".join(filter(None, serials))),
    ]
    return Controller(
        target=owner,
        vendor=NAME,
        model=system.model or (first.model if first is not None else None),
        serial=system.serial or system.wwn,
        firmware=system.firmware or (first.firmware if first is not None else None),
        protection=Protection(kind="bbu", state="optimal" if bad is None else battery_state(bad))
        if hardware.batteries
        else None,
        facts=facts(pairs),
    )


def _array(
    system: WebSystem,
    volume: WebVolume,
    groups: tuple[WebGroup, ...],
    hardware: WebHardware,
    owner: Target,
    picture: Topology,
) -> Array:
    group = next((group for group in groups if group.id == volume.group), None)
    drives = [drive for drive in hardware.drives if volume.group is not None and drive.group == volume.group]
    # A pool spreads each stripe over only some of its drives, so the number of its drives must not be used for the
    # width of a stripe. Mirrors have two copies.
    members = 0 if group is not None and group.pool else sum(not drive.spare for drive in drives)
    level = level_of((volume.level or "").removeprefix("raid"), members)
    node = node_of(volume.wwn, picture)
    return Array(
        target=volume_target(system, volume.name),
        controller=owner,
        name=volume.name,
        level=level,
        state=_STATES.get(volume.status or "", State.UNKNOWN),
        size_bytes=volume.size_bytes,
        strip_bytes=volume.segment_bytes,
        data_drives=data_drives(level, members),
        spans=1 if members else None,
        device=node.device if node is not None else None,
        members=tuple(drive_target(system, drive.place) for drive in drives),
        identity=_identity(system, volume, node),
        tasks=() if volume.action in (None, "none") else (Task(kind=_TASKS.get(volume.action, volume.action)),),
        facts=facts(_volume_rows(volume, group, hardware)),
    )


def _identity(system: WebSystem, volume: WebVolume, node: Node | None) -> Identity | None:
    if node is not None:
        return identity(node)
    return volume_identity(system, volume) if volume.wwn is not None else None


def _volume_rows(volume: WebVolume, group: WebGroup | None, hardware: WebHardware) -> list[tuple[str, str | None]]:
    names = {controller.id: controller.place for controller in hardware.controllers}
    owned, preferred = names.get(volume.owner or ""), names.get(volume.preferred or "")
    return [
        ("Volume group", None) if group is None else ("Pool" if group.pool else "Volume group", group.name),
        ("Owner", owned),
        ("Preferred owner", preferred if preferred != owned else None),
        ("Thin", "yes" if volume.thin else None),
    ]


def volume_identity(system: WebSystem, volume: WebVolume) -> Identity:
    """Return the identity of a volume, which is the same on any host."""
    wwn = None if volume.wwn is None else f"naa.{volume.wwn}"
    return Identity(name=f"{system_address(system)}/{volume.name}", wwn=wwn)


def _drive(system: WebSystem, drive: WebDrive, volumes: tuple[WebVolume, ...], owner: Target) -> Drive:
    state = _STATES.get(drive.status or "", State.UNKNOWN)
    mode = State.SPARE if drive.spare else State.ONLINE if drive.group is not None else State.UNASSIGNED
    volume = next((volume for volume in volumes if drive.group is not None and volume.group == drive.group), None)
    return Drive(
        target=drive_target(system, drive.place),
        controller=owner,
        array=volume_target(system, volume.name) if volume is not None else None,
        model=drive.model,
        serial=drive.serial,
        firmware=drive.firmware,
        wwn=None if drive.wwn is None else f"naa.{drive.wwn[:16]}",
        media=_MEDIA.get(drive.media or "", Media.UNKNOWN),
        interface=(drive.interface or "").lower() or None,
        size_bytes=drive.size_bytes,
        state=mode if state is State.OPTIMAL else state,
        health=drive.health,
        facts=facts([("Place", drive.place.replace(",", ":"))]),
    )
