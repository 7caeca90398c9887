"""Conversion of the output of zpool and zfs to controllers and arrays: module, pools, filesystems, volumes. No I/O.

There may be thousands of filesystems, so only those directly below a pool and those with their own values are listed.
The pool has a fact with the number of the other filesystems. All volumes are listed, because each of them is a block
device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.identity import Identity
from backends.model import Array, Controller, Fact, Level, Scope, State, Target
from backends.sizes import size_words
from backends.text import clean
from backends.topology import Topology, kernel_name, node_path
from backends.topology.device_identity import identity
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.zfs.facts import ListedDataset, ZfsKind
from backends.vendors.zfs.parameters import ModuleView
from backends.vendors.zfs.status import STATES, PoolStatus

NAME = "zfs"
"""Prefix of this backend's targets."""

MODULE = Target(backend=NAME, address="/module", scope=Scope.CONTROLLER)
"""The kernel module. No pool name begins with a slash."""

_MODELS = {True: "ZFS volume", False: "ZFS filesystem"}

MOST = 100
"""Maximum number of listed filesystems per pool."""

_LEVELS = {
    "disk": Level.RAID0,
    "raidz1": Level.RAIDZ1,
    "raidz2": Level.RAIDZ2,
    "raidz3": Level.RAIDZ3,
    "draid1": Level.DRAID1,
    "draid2": Level.DRAID2,
    "draid3": Level.DRAID3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolScan:
    """Result of one scan."""

    pools: Mapping[str, Mapping[str, str]]
    """Values of `zpool list`, by pool."""
    statuses: Mapping[str, PoolStatus]
    """Output of `zpool status`, by pool."""
    datasets: tuple[ListedDataset, ...]
    """All filesystems and volumes."""
    own_values: frozenset[str]
    """Names of the datasets on which a setting has its own value, instead of an inherited one."""
    nodes: Mapping[str, str]
    """Block devices of the volumes, by name."""
    module: ModuleView
    """State of the module."""


def target_of(name: str) -> Target:
    """Return the `Target` of the pool, filesystem or volume with this name."""
    return Target(backend=NAME, address=name, scope=Scope.ARRAY)


def select_listed(listing: PoolScan) -> tuple[ListedDataset, ...]:
    """Return the datasets to list, ordered by name within each pool."""
    datasets: list[ListedDataset] = []
    counts: dict[str, int] = {}
    for dataset in listing.datasets:
        if dataset.kind is ZfsKind.FILESYSTEM:
            if dataset.name.count("/") > 1 and dataset.name not in listing.own_values:
                continue
            counts[dataset.pool] = counts.get(dataset.pool, 0) + 1
            if counts[dataset.pool] > MOST:
                continue
        datasets.append(dataset)
    return tuple(datasets)


def controller(module: ModuleView) -> Controller:
    """Return the kernel module as a controller, whose cache is the ARC."""
    return Controller(
        target=MODULE,
        vendor=NAME,
        model="OpenZFS",
        driver=f"zfs {module.version}" if module.version else "zfs",
        cache_bytes=module.arc.get("c_max"),
    )


def arrays(listing: PoolScan, picture: Topology) -> Iterator[Array]:
    """Yield all listed datasets as arrays."""
    shown = select_listed(listing)
    for dataset in shown:
        status = listing.statuses.get(dataset.pool)
        members = _members(status, picture) if status is not None else ()
        if dataset.kind is ZfsKind.POOL:
            every, listed = ([member.pool for member in datasets] for datasets in (listing.datasets, shown))
            hidden = every.count(dataset.pool) - listed.count(dataset.pool)
            yield _pool(dataset, listing, status, members, hidden)
        else:
            yield _dataset(dataset, listing, status, members, picture)


def plain_arrays(states: Mapping[str, str], picture: Topology, why: str) -> Iterator[Array]:
    """Yield the pools and volumes that the kernel reports, if zpool and zfs fail.

    `states`: contents of the kernel's state files, by path. `why`: message about the failure of zpool or zfs.
    """
    pools, why = picture.pools, why.rstrip(".")
    for path, text in states.items():
        name = path.split("/")[5]
        disks = (picture.tree.disk_of(device) for device in pools.devices((clean(name),)))
        yield Array(
            target=target_of(name),
            controller=MODULE,
            name=clean(name),
            state=STATES.get(text.strip(), State.UNKNOWN),
            why=why,
            members=tuple(dict.fromkeys(Target(backend="block", address=disk) for disk in disks)),
        )
    for kernel, name in pools.volumes.items():
        node = picture.tree.nodes[kernel]
        yield Array(
            target=target_of(name),
            controller=MODULE,
            name=clean(name),
            level=Level.ZVOL,
            size_bytes=node.size_bytes,
            why=why,
            device=node.device,
            link=f"/dev/zvol/{clean(name)}",
            identity=identity(node),
            uses=picture.uses(kernel),
        )


def _pool(
    dataset: ListedDataset, listing: PoolScan, status: PoolStatus | None, members: tuple[Target, ...], hidden: int
) -> Array:
    properties = listing.pools.get(dataset.name, {})
    return Array(
        target=target_of(dataset.name),
        controller=MODULE,
        name=clean(dataset.name),
        level=_level(status),
        state=status.state if status is not None else State.UNKNOWN,
        size_bytes=number(properties.get("size")),
        why=status.why if status is not None else "",
        folder=dataset.mountpoint,
        members=members,
        identity=Identity(name=clean(dataset.name), model="ZFS pool", serial=clean(properties.get("guid", "")) or None),
        tasks=status.tasks if status is not None else (),
        facts=tuple(_pool_facts(dataset, properties, status, hidden)),
    )


def _pool_facts(
    dataset: ListedDataset, properties: Mapping[str, str], status: PoolStatus | None, hidden: int
) -> Iterator[Fact]:
    if status is not None and status.layout:
        shapes = dict.fromkeys(top.draid for top in status.tops if top.draid)
        yield Fact(label="Layout", value=f"{status.layout} ({'; '.join(shapes)})" if shapes else status.layout)
    if (full := number(properties.get("capacity"))) is not None:
        yield Fact(label="Full", value=f"{full} %")
    yield from _mount_facts(dataset)
    if hidden:
        hidden_text = f"{hidden} more without local values of these settings"
        yield Fact(label="Filesystems", value=hidden_text)
    if status is None:
        return
    for label in ("status", "action", "scan", "expand", "remove", "checkpoint", "errors"):
        if text := status.texts.get(label):
            yield Fact(label=label.capitalize(), value=clean(text, 400))
    for vdev in status.vdevs:
        kind = f"{vdev.role} {'device' if vdev.is_leaf else 'group'}".strip()
        label = "distributed spare" if vdev.is_distributed_spare else kind
        yield Fact(label=label.capitalize(), value=f"{clean(vdev.name, 100)} {vdev.condition}")


def _dataset(
    dataset: ListedDataset,
    listing: PoolScan,
    status: PoolStatus | None,
    members: tuple[Target, ...],
    picture: Topology,
) -> Array:
    device = listing.nodes.get(dataset.name)
    node = picture.tree.nodes.get(kernel_name(device)) if device is not None else None
    volume = dataset.kind is ZfsKind.VOLUME
    return Array(
        target=target_of(dataset.name),
        controller=MODULE,
        name=clean(dataset.name),
        level=Level.ZVOL if volume else Level.FILESYSTEM,
        state=status.state if status is not None else State.UNKNOWN,
        size_bytes=dataset.size_bytes,
        device=device,
        link=f"/dev/zvol/{clean(dataset.name)}" if device is not None else None,
        folder=dataset.mountpoint,
        members=members if volume else (),
        identity=identity(node) if node is not None else Identity(name=clean(dataset.name), model=_MODELS[volume]),
        uses=picture.uses(node.name) if node is not None else (),
        facts=tuple(_dataset_facts(dataset, device)),
    )


def _dataset_facts(dataset: ListedDataset, device: str | None) -> Iterator[Fact]:
    yield from _mount_facts(dataset)
    if dataset.kind is ZfsKind.VOLUME:
        if dataset.block_bytes:
            yield Fact(label="Block", value=size_words(dataset.block_bytes))
        if device is None:
            yield Fact(label="Block device", value="unknown: udev created no link below /dev/zvol")


def _mount_facts(dataset: ListedDataset) -> Iterator[Fact]:
    if dataset.mountpoint is not None:
        yield Fact(label="Mounted on", value=clean(dataset.mountpoint, 300))


def _level(status: PoolStatus | None) -> Level:
    """Return the RAID level of a pool. A stripe over mirrors counts as RAID 10."""
    tops = status.tops if status is not None else ()
    kinds = {top.kind for top in tops}
    if kinds == {"mirror"}:
        return Level.RAID1 if len(tops) == 1 else Level.RAID10
    if len(kinds) == 1:
        return _LEVELS.get(kinds.pop(), Level.UNKNOWN)
    return Level.UNKNOWN


def _members(status: PoolStatus, picture: Topology) -> tuple[Target, ...]:
    """Return the targets of the disks or other kernel devices that store the pool."""
    names = (kernel_name(leaf.name) for leaf in status.leaves())
    disks = (picture.tree.disk_of(name) for name in names if name in picture.tree.nodes)
    return tuple(dict.fromkeys(Target(backend="block", address=disk) for disk in disks))


def link_of(name: str) -> str:
    """Return udev's link to a volume's block device. In the link, a space is a plus sign (cmd/zvol_id)."""
    return f"/dev/zvol/{name.replace(' ', '+')}"


def node_of(link: str | None) -> str | None:
    """Return the block device to which a link below /dev/zvol points; None if there is no link or no such device."""
    name = (link or "").rpartition("/")[2]
    return node_path(name) if re.fullmatch(r"zd\d{1,9}", name, re.ASCII) else None
