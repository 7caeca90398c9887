"""Backend that lists device-mapper devices by name, with facts from their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from backends.model import Array, Fact, Inventory, Level, Scope, State, Target
from backends.protocol import RootReads
from backends.sizes import percent_text
from backends.text import clean
from backends.topology import Node, Topology, scan_topology
from backends.topology.device_identity import identity
from backends.topology.device_mapper import STATUS, TABLE, Segment, dmsetup_output, segments_by_kernel_name
from backends.topology.stacking import MARK, lvm_name
from backends.topology.thin_layers import parse_usage
from backends.topology.tree import number
from backends.vendors._read_only import ListingBackend

NAME = "dm"
"""Prefix of this backend's targets."""

_KINDS = (("mpath-", "multipath"), ("CRYPT-", "crypt"))
"""UUID prefixes that multipathd and cryptsetup set, each with the type of target that it means."""

_INNER = (MARK, "stratis-1-private", "stratis-1-")
"""UUID prefixes of devices that this backend does not list: they are internal to another layer, or listed by another
module.
"""

_PARTITION = re.compile(r"part\d+-", re.ASCII)
"""UUID prefix of a partition that kpartx created on another device. lsblk shows it as a partition too."""

_LEVELS = {
    "crypt": Level.CRYPT,
    "multipath": Level.MULTIPATH,
    "linear": Level.CONCAT,
    "striped": Level.RAID0,
    "mirror": Level.RAID1,
    "thin-pool": Level.THIN_POOL,
    "vdo": Level.VDO,
}
_WITH_STATUS = ("multipath", "cache", "integrity", "raid", "thin-pool", "vdo", "verity")
"""Types of targets that report their state in `dmsetup status` (Documentation/admin-guide/device-mapper)."""

_PATH = re.compile(r"(\d+:\d+) ([AF]) ", re.ASCII)
"""Pattern of a path in the status of a multipath target: device number, then `A` (active) or `F` (failed)
(drivers/md/dm-mpath.c: multipath_status).
"""


class Dm(ListingBackend):
    """Backend for the device-mapper devices of a host."""

    async def inventory(self) -> Inventory:
        """Return the devices by name.

        Their type and options are included if the device-mapper tables can be read, which needs root.
        """
        picture = await scan_topology(self._host)
        nodes = [node for node in picture.tree.nodes.values() if _is_listed(node)]
        if not nodes:
            return Inventory()
        tables = segments_by_kernel_name(await dmsetup_output(self._host, TABLE), picture.tree)
        has_status = any(_kind(node, tables.get(node.name, ())) in _WITH_STATUS for node in nodes)
        states = segments_by_kernel_name(await dmsetup_output(self._host, STATUS), picture.tree) if has_status else {}
        nodes.sort(key=lambda node: node.attributes["dm/name"])
        return Inventory(
            arrays=tuple(_array(node, picture, tables.get(node.name, ()), states.get(node.name, ())) for node in nodes)
        )


def _is_listed(node: Node) -> bool:
    uuid = node.attributes.get("dm/uuid", "")
    inner = uuid.startswith(_INNER) or _PARTITION.match(uuid) is not None
    return bool(clean(node.attributes.get("dm/name", ""))) and not inner


def target_of(name: str) -> Target:
    """Return the `Target` of the device with this name, such as `crypt1`."""
    return Target(backend=NAME, address=clean(name), scope=Scope.ARRAY)


def _kind(node: Node, table: Iterable[Segment]) -> str:
    """Return the type of the device: `crypt`, `multipath`, `linear`, ...; "" if it is unknown or mixed."""
    kinds = {part.kind for part in table}
    uuid = node.attributes.get("dm/uuid", "")
    kind_by_uuid = next((kind for front, kind in _KINDS if uuid.startswith(front)), "")
    return kinds.pop() if len(kinds) == 1 else kind_by_uuid


def _array(node: Node, picture: Topology, table: tuple[Segment, ...], states: tuple[Segment, ...]) -> Array:
    kind, name = _kind(node, table), clean(node.attributes["dm/name"])
    paths = _paths(picture, states)
    state, why = _health(kind, paths, states)
    return Array(
        target=target_of(name),
        name=name,
        level=_LEVELS.get(kind, Level.MAPPED),
        state=state,
        why=why,
        size_bytes=node.size_bytes,
        device=node.device,
        link=f"/dev/mapper/{name}",
        members=tuple(dict.fromkeys(_members(node, picture))),
        identity=identity(node),
        uses=picture.uses(node.name),
        above=picture.above(node.name),
        facts=tuple(Fact(label=label, value=clean(value, 256)) for label, value in _lines(kind, table, paths) if value)
        + tuple(Fact(label=f"Used, {word}", value=percent_text(share, 1)) for word, share in _usage_shares(states)),
    )


def _health(kind: str, paths: Mapping[str, str], states: Sequence[Segment]) -> tuple[State, str]:
    """Return the state of a device, and the reason for a state that is not optimal, or ""."""
    if kind == "multipath" and states and not paths:
        return State.FAILED, "no path is left"
    if why := next(filter(None, map(_failure, states)), ""):
        return State.FAILED, why
    if why := next(filter(None, map(_failed_devices_text, states)), ""):
        return State.DEGRADED, why
    failed = [path for path, state in paths.items() if state == "failed"]
    if not failed:
        return State.OPTIMAL, ""
    why = f"{len(failed)} of {len(paths)} paths failed"
    return (State.FAILED if len(failed) == len(paths) else State.DEGRADED), why


def _failure(part: Segment) -> str:
    """Return the reason why a device-mapper target has failed, from its status; "" if it works or reports no state."""
    status = part.args
    if part.kind in ("cache", "thin-pool") and status[:1] == ("Fail",):
        return f"its {part.kind.replace('-', ' ')} has failed"
    if part.kind in ("cache", "thin-pool") and "ro" in status[3:]:
        return f"its {part.kind.replace('-', ' ')} is read-only: the metadata is damaged"
    if part.kind == "vdo" and status[1:2] == ("read-only",):
        return "VDO is read-only: it ran full, or its metadata is damaged"
    if part.kind == "verity" and status[:1] == ("C",):
        return "its data do not match their checksums"
    return ""


def _usage_shares(states: Iterable[Segment]) -> Iterator[tuple[str, float]]:
    """Yield label and used part (0 to 1) of the data and metadata of a thin pool, or of the data of a VDO volume."""
    for part in states:
        status = part.args
        if part.kind == "thin-pool" and len(status) > 2:
            pairs = [("metadata", *parse_usage(status[1])), ("data", *parse_usage(status[2]))]
        elif part.kind == "vdo" and len(status) > 6:
            pairs = [("data", number(status[5]), number(status[6]))]
        else:
            continue
        yield from ((word, used / total) for word, used, total in pairs if used is not None and total)


def _failed_devices_text(part: Segment) -> str:
    """Return the number of failed devices of a dm-raid target as a clause; "" if none has failed."""
    letters = part.args[2] if part.kind == "raid" and len(part.args) > 2 else ""
    return f"{letters.count('D')} of {len(letters)} devices have failed" if "D" in letters else ""


def _members(node: Node, picture: Topology) -> Iterator[Target]:
    """Yield the targets of the devices directly below this one: of backend `lvm`, `dm` or `block`.

    For a partition, this is the target of its disk.
    """
    for name in node.slaves:
        disk = picture.tree.nodes.get(picture.tree.disk_of(name))
        if disk is None:
            continue
        volume = lvm_name(disk)
        if volume is not None:
            yield Target(backend="lvm", address=volume.shown, scope=Scope.ARRAY)
        elif _is_listed(disk):
            yield target_of(disk.attributes["dm/name"])
        else:
            yield Target(backend="block", address=disk.name)


def _paths(picture: Topology, states: Iterable[Segment]) -> Mapping[str, str]:
    """Return the state of each path, `active` or `failed`, by device node."""
    states_by_node: dict[str, str] = {}
    for devno, letter in _PATH.findall("".join(f"{' '.join(part.args)} " for part in states)):
        node = picture.tree.by_devno(devno)
        states_by_node[node.device if node is not None else devno] = {"A": "active", "F": "failed"}[letter]
    return states_by_node


def _lines(kind: str, table: tuple[Segment, ...], paths: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if kind and kind not in _LEVELS:
        yield "Target", kind
    first = table[0].args if table else ()
    if kind == "crypt" and first:
        yield "Cipher", first[0]
        yield "Options", ", ".join(first[6:])  # the options follow CIPHER KEY IV DEVICE OFFSET COUNT (dm-crypt.rst)
    if kind == "multipath" and first:
        yield "Policy", _selector(first)
    if len(table) > 1:
        yield "Segments", str(len(table))
    for at, (path, state) in enumerate(paths.items(), 1):
        yield f"Path {at}", f"{path}, {state}"


def _selector(args: tuple[str, ...]) -> str:
    """Return the path selector, such as `service-time`, from the arguments of a multipath target.

    Before it are the features, the hardware handler, the number of path groups and the number of the first group.
    """
    try:
        at = 1 + int(args[0])
        at += 1 + int(args[at])
        return args[at + 2] if int(args[at]) else ""
    except (ValueError, IndexError):
        return ""


ROOT_READS: RootReads = {("dmsetup",): (TABLE, STATUS, ("status",))}
"""Commands that the root helper runs for a user. All of them only read."""
