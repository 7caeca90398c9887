"""Disks below DRBD devices: from sysfs since DRBD 9 and Linux 3.11, or else from `drbdsetup show`.

The syntax is that of `show` in drbdsetup(8) of DRBD 8.4 and 9: a resource has volumes. A volume has the number of its
device and the disks of its data and metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from backends.host import Host
from backends.system.caching import cache_across_changes
from backends.topology.tree import Node, Tree, kernel_name, run_tool, tree_of
from backends.values import dataclass

SHOW = ("drbdsetup", "show")
"""Command that shows the configuration in the kernel. It needs root."""

MAJOR = "147"
"""Major device number of DRBD (Documentation/admin-guide/devices.txt)."""

_RESOURCE = re.compile(r'resource "?([^"\s{]{1,128})"? \{')
_VOLUME = re.compile(r"volume (\d{1,5}) \{")
_MINOR = re.compile(r"device\s+minor (\d{1,7});")
_DISK = re.compile(r'(meta-)?disk\s+"?(/[^"\s;]{1,250})"?(?: \[.{1,12}\])?;')


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A volume of a DRBD resource on this host."""

    resource: str
    """Name of the resource; not cleaned."""
    volume: int
    """Number of the volume in the resource."""
    minor: int
    """Minor number of the device: 0 is /dev/drbd0."""
    disk: str | None = None
    """Disk with the data; None if the volume is diskless and only its peers have the data."""
    meta: str | None = None
    """Disk with the metadata, if it is not the disk with the data; otherwise None."""


def is_replica(node: Node) -> bool:
    """Return whether the device is a DRBD device."""
    return node.parent is None and re.fullmatch(r"drbd\d{1,7}", node.name) is not None


def parse_show(text: str) -> tuple[Replica, ...]:
    """Return all volumes of this host in the output of `drbdsetup show`. Peers have no device and are left out."""
    replicas: list[Replica] = []
    resource, volume = "", 0
    for line in map(str.strip, text.split("\n")):
        if named := _RESOURCE.match(line):
            resource = named[1]
        elif numbered := _VOLUME.match(line):
            volume = int(numbered[1])
        elif minor := _MINOR.fullmatch(line):
            replicas.append(Replica(resource=resource, volume=volume, minor=int(minor[1])))
        elif (
            (disk := _DISK.fullmatch(line))
            and replicas
            and (replicas[-1].resource, replicas[-1].volume) == (resource, volume)
        ):
            replicas[-1] = replace(replicas[-1], meta=disk[2]) if disk[1] else replace(replicas[-1], disk=disk[2])
    return tuple(replicas)


async def read_replicas(host: Host) -> tuple[Replica, ...] | None:
    """Return the configured volumes; None if drbdsetup fails or its output is truncated."""
    with cache_across_changes():
        done = await run_tool(host, SHOW)
    is_complete = done is not None and done.stdout.count("{") == done.stdout.count("}")
    return parse_show(done.stdout) if done is not None and is_complete else None


async def with_replicas(host: Host, tree: Tree) -> Tree:
    """Return the tree with the lower disks of DRBD devices.

    A diskless device gets the attribute `drbd/disk`: `none`.
    """
    silent = {node.name for node in tree.nodes.values() if is_replica(node) and not node.slaves}
    replicas = await read_replicas(host) if silent else None
    if not replicas:
        return tree
    below: dict[str, tuple[str, ...]] = {}
    for replica in replicas:
        node = tree.by_devno(f"{MAJOR}:{replica.minor}") or tree.nodes.get(f"drbd{replica.minor}")
        if node is not None and node.name in silent:
            paths = [path for path in (replica.disk, replica.meta) if path is not None]
            below[node.name] = tuple([name for path in paths if (name := await _kernel_name(host, tree, path))])
    diskless = {f"drbd{replica.minor}" for replica in replicas if replica.disk is None}
    return tree_of(_join_nodes(tree, below, diskless))


async def _kernel_name(host: Host, tree: Tree, path: str) -> str | None:
    """Return the kernel name of a node below /dev, which may be a link."""
    name = kernel_name(path)
    if name in tree.nodes:
        return name
    stat = await host.stat(path)
    node = tree.by_devno(stat.devno) if stat is not None and stat.devno is not None else None
    return node.name if node is not None else None


def _join_nodes(tree: Tree, below: Mapping[str, tuple[str, ...]], diskless: Iterable[str]) -> Iterable[Node]:
    without = frozenset(diskless)
    for node in tree.nodes.values():
        above = [name for name, names in below.items() if node.name in names]
        attributes = {**node.attributes, "drbd/disk": "none"} if node.name in without else node.attributes
        holders = tuple(dict.fromkeys((*node.holders, *above)))
        yield replace(node, attributes=attributes, slaves=below.get(node.name, node.slaves), holders=holders)


def unreported_replicas(tree: Tree, name: str) -> list[str]:
    """Return a clause for each DRBD device among `name` and the devices below it whose disk is not reported."""
    nodes = (tree.nodes[tree.disk_of(name)], *tree.below(name))
    return [
        f"neither the kernel nor drbdsetup reports the devices below {node.device}"
        for node in nodes
        if is_replica(node) and not node.slaves and node.attributes.get("drbd/disk") != "none"
    ]
