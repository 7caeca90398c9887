"""Conversion of a profile to controllers, arrays and drives. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.identity import Identity
from backends.model import (
    Array,
    Controller,
    Drive,
    Fact,
    Health,
    Inventory,
    Level,
    Media,
    Problem,
    Protection,
    Scope,
    State,
    Target,
)
from backends.raid import data_drives
from backends.topology import Node, Topology
from backends.topology.device_identity import exact_size, identity
from backends.vendors import _disk_systems
from backends.vendors._disk_systems import battery_state, level_of
from backends.vendors.smcli.facts import VOLUME_ID, SystemPart, SystemProfile

NAME = "smcli"
"""Prefix of this backend's targets."""

_STATES = {
    "optimal": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "impaired": State.DEGRADED,
    "failed": State.FAILED,
    "offline": State.OFFLINE,
    "missing": State.MISSING,
}
_MODES = {"assigned": State.ONLINE, "unassigned": State.UNASSIGNED, "hot spare": State.SPARE, "standby": State.SPARE}


def system_target(name: str) -> Target:
    """Return the target of a disk system."""
    return Target(backend=NAME, address=name, scope=Scope.CONTROLLER)


def volume_target(system: str, volume: str) -> Target:
    """Return the target of a logical drive."""
    return Target(backend=NAME, address=f"{system}/{volume}", scope=Scope.ARRAY)


def drive_target(system: str, tray_slot: str) -> Target:
    """Return the target of a drive, by enclosure and slot."""
    return Target(backend=NAME, address=f"{system}/drive {tray_slot}")


def inventory(profile: SystemProfile, picture: Topology) -> Inventory:
    """Return a disk system with all its parts."""
    owner = system_target(profile.name)
    lying = {slot: array for array in profile.arrays for slot in array.members}
    return Inventory(
        controllers=(_system(profile, owner),),
        arrays=tuple(_volume(profile, part, owner, picture) for part in _distinct_parts(profile.volumes)),
        drives=tuple(_drive(profile, part, owner, lying.get(part.name)) for part in _distinct_parts(profile.drives)),
        problems=tuple(
            Problem(where=f"{NAME}:{profile.name}", message=text) for text in (profile.cut, profile.twice) if text
        ),
    )


def node_of(volume: SystemPart, picture: Topology) -> Node | None:
    """Return the kernel's disk of a logical drive."""
    return _disk_systems.node_of(volume.wwn(*VOLUME_ID), picture)


def _distinct_parts(records: Iterable[SystemPart]) -> tuple[SystemPart, ...]:
    """Return one record for each name. If several parts share a name, the record has only the name."""
    return tuple({record.name: record for record in records}.values())


def _system(profile: SystemProfile, owner: Target) -> Controller:
    first = profile.controllers[0] if profile.controllers else SystemPart(name="")
    bad = next((battery for battery in profile.batteries if not battery.startswith("Optimal")), None)
    state = None if not profile.batteries else "optimal" if bad is None else battery_state(bad)
    pairs = [(f"Controller in {controller.name}", controller.text_of("status")) for controller in profile.controllers]
    pairs += [("Battery", bad), ("World wide name", profile.wwn)]
    serials = [controller.text_of("serial number") for controller in profile.controllers[1:]]
    pairs += [("Serial numbers", "" if profile.cut else " ".join(filter(None, (*serials, *profile.serials))))]
    return Controller(
        target=owner,
        vendor=NAME,
        model=first.text_of("product id", "board id", "model name"),
        serial=first.text_of("serial number") or (None if profile.cut else profile.wwn),
        firmware=first.text_of("firmware version") or profile.summary.text_of("firmware version"),
        protection=None if state is None else Protection(kind="bbu", state=state),
        facts=Fact.from_rows(pairs),
    )


def _volume(profile: SystemProfile, volume: SystemPart, owner: Target, picture: Topology) -> Array:
    array = profile.array_of(volume)
    members = array.members if array is not None else ()
    level_number = (volume.text_of("raid level") or "").removeprefix("RAID ")
    level = Level.UNKNOWN if array is None and profile.cut else level_of(level_number, len(members))
    node = node_of(volume, picture)
    state = volume.text_of("logical drive status", "volume status", "virtual disk status")
    pairs = [
        ("Array", array.name if array is not None else None),
        ("Owner", volume.text_of("current owner")),
        ("Preferred owner", volume.text_of("preferred owner")),
    ]
    if pairs[1][1] == pairs[2][1]:
        del pairs[2]
    return Array(
        target=volume_target(profile.name, volume.name),
        controller=owner,
        name=volume.name,
        level=level,
        state=_state(state, _STATES),
        size_bytes=exact_size(node, volume.size("capacity")),
        strip_bytes=volume.size("segment size"),
        data_drives=data_drives(level, len(members)),
        spans=1 if members else None,
        device=node.device if node is not None else None,
        members=tuple(drive_target(profile.name, slot) for slot in members),
        identity=identity(node) if node is not None else _identity_by_wwn(volume),
        facts=Fact.from_rows(pairs),
    )


def _identity_by_wwn(volume: SystemPart) -> Identity | None:
    """Return the identity of a logical drive without a kernel disk on this host, from its world wide name, or None."""
    wwn = volume.wwn(*VOLUME_ID)
    return None if wwn is None else Identity(name=volume.name, wwn=f"naa.{wwn}")


def _drive(profile: SystemProfile, drive: SystemPart, owner: Target, array: SystemPart | None) -> Drive:
    volumes = [volume for volume in profile.volumes if array is not None and profile.array_of(volume) is array]
    media = (drive.text_of("media type", "drive media type") or "").lower()
    health = _health(drive)
    state = State.OPTIMAL if health.predicts_failure else _state(drive.text_of("status"), _STATES)
    mode = _state(drive.text_of("mode"), _MODES)
    pairs = [
        ("Place", drive.name.replace(",", ":")),
        ("Data rate", drive.text_of("current data rate")),
        ("Speed", drive.text_of("speed")),
        ("Path redundancy", drive.text_of("drive path redundancy")),
    ]
    return Drive(
        target=drive_target(profile.name, drive.name),
        controller=owner,
        array=volume_target(profile.name, volumes[0].name) if volumes else None,
        model=drive.text_of("product id"),
        serial=drive.text_of("serial number"),
        firmware=drive.text_of("drive firmware version", "firmware version"),
        wwn=None if (wwn := drive.wwn("world-wide identifier", "world-wide name")) is None else f"naa.{wwn[:16]}",
        media=Media.HDD if "hard" in media else Media.SSD if "solid" in media else Media.UNKNOWN,
        interface=(drive.text_of("interface type", "drive interface type") or "").lower() or None,
        size_bytes=drive.size("raw capacity", "usable capacity"),
        state=mode if state is State.OPTIMAL and mode is not State.UNKNOWN else state,
        health=health,
        facts=Fact.from_rows(pairs),
    )


def _health(drive: SystemPart) -> Health:
    """Return the health of a drive. A drive that needs a key for reading or writing is locked."""
    status = (drive.text_of("status") or "").lower()
    announced = any(word in status for word in ("impending", "predictive"))
    used = _SHARE.match(drive.text_of("percent endurance used", "percentage endurance used") or "")
    accessible = {"yes": True, "no": False}.get((drive.text_of("read/write accessible") or "").lower())
    return Health(
        predicts_failure=True if announced else False if status.startswith("optimal") else None,
        wear_percent=None if used is None else float(used[1]),
        locked=None if accessible is None else not accessible,
    )


_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?) ?%", re.ASCII)


def _state(text: str | None, table: dict[str, State]) -> State:
    """Return the state from `table` whose key is the beginning of the status `text`, ignoring case; else UNKNOWN."""
    status = (text or "").lower()
    return next((state for word, state in table.items() if status.startswith(word)), State.UNKNOWN)
