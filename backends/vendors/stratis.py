"""Stratis: pools and filesystems, which are device-mapper's. Shown with what they lie on, nothing is set.

Names are those that udev has of a filesystem (stratisd's rules, 61-stratisd.rules); without them the UUIDs stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.host import Host
from backends.model import Array, Fact, Inventory, Level, Scope, State, Target
from backends.protocol import Vendor
from backends.text import clean
from backends.topology import Node, Topology, scan_topology
from backends.topology.device_identity import identity
from backends.topology.device_mapper import STATUS, Segment, dmsetup_output, segments_by_kernel_name
from backends.topology.stacking import stratis_name, stratis_pool
from backends.values import dataclass
from backends.vendors._read_only import ListingBackend

NAME = "stratis"
"""The prefix of this backend's targets."""

FRONT = "stratis-1-"
"""How the names that stratisd gives device-mapper begin."""

FULL = 0.9
"""A pool that is so full, in data or metadata, needs more disks."""

_SHARE = re.compile(r"(\d{1,18})/(\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGauge:
    """What the thin pool of dm-thin tells of itself (Documentation/admin-guide/device-mapper/thin-provisioning.rst)."""

    metadata: float | None = None
    """Share of the metadata that is used."""
    data: float | None = None
    """Share of the data blocks that are used."""
    trouble: str = ""
    """Why it takes no more writes; "" where it does."""

    @property
    def state(self) -> tuple[State, str]:
        """Return the state, and why it is not in order."""
        if self.trouble:
            return State.FAILED, self.trouble
        for word, share in (("data", self.data), ("metadata", self.metadata)):
            if share is not None and share >= FULL:
                return State.DEGRADED, f"the {word} are {share:.0%} full"
        return (State.OPTIMAL if self.data is not None else State.UNKNOWN), ""


def gauge_of(segments: tuple[Segment, ...]) -> PoolGauge:
    """Return what `dmsetup status` tells of a thin pool."""
    status = segments[0].words if len(segments) == 1 and segments[0].kind == "thin-pool" else ()
    if status[:1] == ("Fail",):
        return PoolGauge(trouble="the thin pool has failed")
    shares = [_share(word) for word in status[1:3]]
    if len(shares) < 2:
        return PoolGauge()
    modes = {"ro": "the thin pool is read-only", "out_of_data_space": "it is full: it takes no more writes"}
    trouble = next((modes[word] for word in status[3:] if word in modes), "")
    return PoolGauge(metadata=shares[0], data=shares[1], trouble=trouble)


def _share(word: str) -> float | None:
    match = _SHARE.fullmatch(word)
    return int(match[1]) / int(match[2]) if match is not None and int(match[2]) else None


class Stratis(ListingBackend):
    """Every pool of one host that is started."""

    async def inventory(self) -> Inventory:
        """Return the pools, each with its filesystems behind it."""
        picture = await scan_topology(self._host)
        nodes = [node for node in picture.tree.nodes.values() if _is_shown(node)]
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


def _is_shown(node: Node) -> bool:
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
        facts=tuple(_used(gauge)),
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
        facts=(Fact(label="Pool", value=pool), *_used(gauge, " of the pool")),
    )


def _disks(node: Node, picture: Topology) -> tuple[Target, ...]:
    """Return the disks and arrays below, through all that Stratis has made of them."""
    tree = picture.tree
    below = [node for node in tree.below(node.name) if not node.name.startswith("dm-") and node.parent is None]
    above_others = {slave for node in below for slave in (lower.name for lower in tree.below(node.name))}
    return tuple(Target(backend="block", address=node.name) for node in below if node.name not in above_others)


def _used(gauge: PoolGauge, whose: str = "") -> Iterator[Fact]:
    for word, share in (("data", gauge.data), ("metadata", gauge.metadata)):
        if share is not None:
            yield Fact(label=f"Used{whose}, {word}", value=f"{share:.1%}")


async def _present(host: Host) -> bool:
    """Return whether device-mapper has a device of Stratis, at the price of their names."""
    paths = await host.list("/sys/block/dm-*")
    names = await host.read_many([f"{path}/dm/name" for path in paths])
    return any(name.startswith(FRONT) for name in names.values())


VENDOR = Vendor(name=NAME, backend=Stratis, present=_present)
"""Found by the registry."""
