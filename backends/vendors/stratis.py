"""Stratis: pools and filesystems on device-mapper, listed with the disks below; no settings.

Names come from the properties that udev has for a filesystem (stratisd's rules, 61-stratisd.rules). Without them, UUIDs
are used as names.
"""

from __future__ import annotations

from collections.abc import Iterator

from backends.host import Host
from backends.model import Array, Fact, Inventory, Level, Scope, State, Target
from backends.protocol import Vendor
from backends.sizes import percent_text
from backends.text import clean
from backends.topology import Node, Topology, scan_topology
from backends.topology.device_identity import identity
from backends.topology.device_mapper import STATUS, Segment, dmsetup_output, segments_by_kernel_name
from backends.topology.stacking import stratis_name, stratis_pool
from backends.topology.thin_layers import parse_usage
from backends.values import dataclass
from backends.vendors._read_only import ListingBackend

NAME = "stratis"
"""Prefix of this backend's targets."""

FRONT = "stratis-1-"
"""Prefix of stratisd's device-mapper names."""

FULL = 0.9
"""Used share of a pool's data or metadata space, from 0 to 1, at which the pool counts as degraded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGauge:
    """State of a dm-thin pool (Documentation/admin-guide/device-mapper/thin-provisioning.rst)."""

    metadata: float | None = None
    """Used part of the metadata, from 0 to 1."""
    data: float | None = None
    """Used part of the data blocks, from 0 to 1."""
    trouble: str = ""
    """Why the pool accepts no writes; "" if it does."""

    @property
    def state(self) -> tuple[State, str]:
        """Return the state, and the reason if the pool is failed or degraded, or ""."""
        if self.trouble:
            return State.FAILED, self.trouble
        for word, share in (("data", self.data), ("metadata", self.metadata)):
            if share is not None and share >= FULL:
                return State.DEGRADED, f"the {word} are {percent_text(share)} full"
        return (State.OPTIMAL if self.data is not None else State.UNKNOWN), ""


def gauge_of(segments: tuple[Segment, ...]) -> PoolGauge:
    """Return the state of a thin pool from `dmsetup status`."""
    status = segments[0].args if len(segments) == 1 and segments[0].kind == "thin-pool" else ()
    if status[:1] == ("Fail",):
        return PoolGauge(trouble="the thin pool has failed")
    shares = [_share(word) for word in status[1:3]]
    if len(shares) < 2:
        return PoolGauge()
    modes = {"ro": "the thin pool is read-only", "out_of_data_space": "it is full and accepts no more writes"}
    trouble = next((modes[word] for word in status[3:] if word in modes), "")
    return PoolGauge(metadata=shares[0], data=shares[1], trouble=trouble)


def _share(word: str) -> float | None:
    used, total = parse_usage(word)
    return used / total if used is not None and total else None


class Stratis(ListingBackend):
    """The started Stratis pools of a host, and their filesystems."""

    async def inventory(self) -> Inventory:
        """Return the pools, each followed by its filesystems."""
        picture = await scan_topology(self._host)
        nodes = [node for node in picture.tree.nodes.values() if _is_listed(node)]
        if not nodes:
            return Inventory()
        states = segments_by_kernel_name(await dmsetup_output(self._host, STATUS), picture.tree)
        gauges = {node.name: gauge_of(states.get(node.name, ())) for node in nodes}
        nodes.sort(key=lambda node: (stratis_pool(picture.tree, node), not _is_pool(node), node.name))
        return Inventory(
            arrays=tuple(
                _pool(node, gauges[node.name], picture) if _is_pool(node) else _filesystem(node, gauges, picture)
                for node in nodes
            )
        )


def _is_pool(node: Node) -> bool:
    name = stratis_name(node)
    return name is not None and name.is_pool


def _is_listed(node: Node) -> bool:
    name = stratis_name(node)
    return name is not None and (name.is_pool or not name.private)


def _pool(node: Node, gauge: PoolGauge, picture: Topology) -> Array:
    name = stratis_pool(picture.tree, node)
    state, why = gauge.state
    return Array(
        target=Target(backend=NAME, address=name, scope=Scope.ARRAY),
        name=name,
        level=Level.THIN_POOL,
        state=state,
        why=why,
        size_bytes=node.size_bytes,
        members=_disks(node, picture),
        above=picture.above(node.name),
        facts=tuple(_usage_facts(gauge)),
    )


def _filesystem(node: Node, gauges: dict[str, PoolGauge], picture: Topology) -> Array:
    pool, filesystem_name = stratis_pool(picture.tree, node), clean(node.udev.get("STRATIS_FS_NAME", ""))
    name = stratis_name(node)
    label = filesystem_name or (name.role.removeprefix("thin-fs-") if name is not None else node.name)
    gauge = next((gauges[below.name] for below in picture.tree.below(node.name) if below.name in gauges), PoolGauge())
    state, why = gauge.state
    is_linked = filesystem_name and node.udev.get("STRATIS_POOL_NAME")
    return Array(
        target=Target(backend=NAME, address=f"{pool}/{label}", scope=Scope.ARRAY),
        name=f"{pool}/{label}",
        level=Level.THIN,
        state=state if state in (State.FAILED, State.UNKNOWN) else State.OPTIMAL,
        why=why if state is State.FAILED else "",
        size_bytes=node.size_bytes,
        device=node.device,
        link=f"/dev/stratis/{pool}/{label}" if is_linked else node.shown,
        members=_disks(node, picture),
        identity=identity(node),
        uses=picture.uses(node.name),
        above=picture.above(node.name),
        facts=(Fact(label="Pool", value=pool), *_usage_facts(gauge, " of the pool")),
    )


def _disks(node: Node, picture: Topology) -> tuple[Target, ...]:
    """Return the disks and arrays on which a Stratis device is stored, below all device-mapper layers."""
    tree = picture.tree
    below = [node for node in tree.below(node.name) if not node.name.startswith("dm-") and node.parent is None]
    above_others = {slave for node in below for slave in (lower.name for lower in tree.below(node.name))}
    return tuple(Target(backend="block", address=node.name) for node in below if node.name not in above_others)


def _usage_facts(gauge: PoolGauge, whose: str = "") -> Iterator[Fact]:
    for word, share in (("data", gauge.data), ("metadata", gauge.metadata)):
        if share is not None:
            yield Fact(label=f"Used{whose}, {word}", value=percent_text(share, 1))


async def _present(host: Host) -> bool:
    """Return whether the host has a device-mapper device whose name starts with stratisd's prefix."""
    paths = await host.list("/sys/block/dm-*")
    names = await host.read_many([f"{path}/dm/name" for path in paths])
    return any(name.startswith(FRONT) for name in names.values())


VENDOR = Vendor(name=NAME, backend=Stratis, present=_present)
"""Registry entry."""
