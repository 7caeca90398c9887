"""Conversion of sysfs attributes to a `Drive`. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.model import Drive, Fact, Scope, State, Target
from backends.text import clean, parse_choices
from backends.topology import Node, Topology, node_path
from backends.topology.device_identity import identity, interface, medium, model, serial, wwn
from backends.topology.tree import number

NO_DRIVES = ("dm-", "sr", "fd", "ram", "mtdblock")
"""Prefixes of devices that are not listed. md arrays, bcache, DRBD and ZFS volumes are listed: they have queue
settings.
"""

_STATES = {
    **dict.fromkeys(("running", "live"), State.ONLINE),
    **dict.fromkeys(("offline", "transport-offline", "blocked", "dead", "connecting"), State.OFFLINE),
    **dict.fromkeys(("deleted", "cancel", "deleting", "deleting (no IO)"), State.MISSING),
}
"""The model's state for each SCSI and NVMe device state (drivers/scsi/scsi_sysfs.c, drivers/nvme/host/sysfs.c)."""


def is_drive(node: Node) -> bool:
    """Return whether a node is listed as a drive.

    Not listed are `NO_DRIVES`, partitions, hidden paths, and loop, zram, md and other devices that are not set up.
    """
    if node.parent is not None or node.attributes.get("hidden") == "1":
        return False
    if node.name.startswith(NO_DRIVES):
        return False
    if node.name.startswith("loop"):
        return "loop/backing_file" in node.attributes
    if node.name.startswith(("zram", "nbd", "rbd", "md", "bcache", "zd", "drbd")):
        return bool(node.size_bytes)
    return True


def drive(node: Node, picture: Topology) -> Drive:
    """Return a kernel disk as a drive of the inventory."""
    attributes = node.attributes
    kind = interface(node)
    current, _ = parse_choices(attributes.get("queue/scheduler", ""))
    state = _STATES.get(attributes.get("device/state", ""), State.UNKNOWN)
    if state is State.UNKNOWN and "device/state" not in attributes:
        state = State.ONLINE
    backing = attributes.get("loop/backing_file")
    paths = picture.paths(node.name)
    return Drive(
        target=Target(backend="block", address=node.name, scope=Scope.DRIVE),
        model=model(node),
        serial=serial(node),
        firmware=clean(attributes.get("device/firmware_rev", "") or attributes.get("device/rev", "")) or None,
        wwn=wwn(node),
        media=medium(node, kind),
        interface=kind,
        size_bytes=node.size_bytes,
        logical_block=number(attributes.get("queue/logical_block_size")),
        physical_block=number(attributes.get("queue/physical_block_size")),
        state=state,
        device=node.device,
        paths=tuple(map(node_path, paths)) if len(paths) > 1 else (),
        read_only=node.read_only,
        scheduler=current,
        identity=identity(node),
        uses=picture.uses(node.name),
        above=picture.above(node.name),
        signatures=picture.signatures_of(node.name),
        partitions=node.partitions,
        backing=clean(backing, 512) if backing else None,
        facts=_facts(node, attributes),
    )


def _facts(node: Node, attributes: Mapping[str, str]) -> tuple[Fact, ...]:
    zoned = attributes.get("queue/zoned", "none")
    rows = (
        ("Rotational", {"0": "no", "1": "yes"}.get(attributes.get("queue/rotational", ""))),
        ("Zoned", clean(zoned) if zoned != "none" else None),
        ("Removable", "yes" if attributes.get("removable") == "1" else None),
        ("Path", clean(node.udev.get("ID_PATH", ""))),
    )
    return Fact.from_rows(rows)
