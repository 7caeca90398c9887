"""Who uses which block device: pure functions over what was gathered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from backends.identity import Signature, Use
from backends.text import clean
from backends.topology.device_identity import SameDataDevice, files_of, identity, is_multipath, paths_of, relations
from backends.topology.device_mapper import DeviceRange, Segments, snapshots_of, unreported_ranges
from backends.topology.loop_backing import Backing
from backends.topology.mounts import Mount, unique_points
from backends.topology.quiet_users import QuietUsers
from backends.topology.replicas import unreported_replicas
from backends.topology.stacking import HELD, Pools, layer_uses, lvm_name, pool_of, volume_shown
from backends.topology.tree import Node, Tree, node_path
from backends.values import dataclass

SYSTEM_POINTS = ("/", "/boot", "/boot/efi", "/efi", "/usr")
"""Mount points whose disk is the system's: never written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Which block device is what, and who uses it, as far as can be seen without opening anything."""

    tree: Tree
    """Block devices."""
    tables: Segments = field(default_factory=dict)
    """What device-mapper makes of each of its devices, where it was asked and root may know."""
    mounts: tuple[Mount, ...] = ()
    """All that was seen."""
    mounted: Mapping[str, tuple[Mount, ...]] = field(default_factory=dict)
    """Mounts by the kernel name of the device they lie on, of every mount namespace looked at."""
    system: frozenset[str] = frozenset()
    """Kernel names of the disks under the running system: /, /boot, /usr and the EFI partition."""
    swaps: tuple[str, ...] = ()
    """Device numbers of block devices that are swap, and places of swap files."""
    btrfs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kernel names of the devices of each mounted btrfs, by its UUID."""
    pools: Pools = field(default_factory=Pools)
    """Imported ZFS pools, and what they are made of."""
    datasets: Mapping[str, tuple[Mount, ...]] = field(default_factory=dict)
    """Mounted datasets by their pool."""
    bcache: Mapping[str, str] = field(default_factory=dict)
    """By kernel name, what bcache has as `cache` or `backing` device."""
    loops: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By kernel name, which loop and zram devices lie on it, by their names, each a sentence."""
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other kernel names of disks that the kernel has more than once: paths to them."""
    likely: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Kernel names of disks that may be one all the same, by its own, each with words that say so."""
    backings: Mapping[str, Backing] = field(default_factory=dict)
    """What loop and zram devices keep their data in, and what disks lie on that this machine serves to itself."""
    mapped: Mapping[str, tuple[DeviceRange, ...]] | None = None
    """By kernel name, what each device-mapper device lies on; None where its tables were not asked for."""
    exported: Mapping[str, str] = field(default_factory=dict)
    """Device numbers, and places of files, that a kernel target exports to the network, with its name."""
    quiet: QuietUsers = field(default_factory=QuietUsers)
    """What the kernel uses besides, where it was asked."""
    signatures: Mapping[str, tuple[Signature, ...]] = field(default_factory=dict)
    """What udev or lsblk says lies on each device."""
    blind: tuple[str, ...] = ()
    """What could not be looked at, each a sentence; not empty means that use may be hidden."""

    def uses(self, name: str) -> tuple[Use, ...]:
        """All that uses the disk `name`, or the disk of the partition `name`, and any of its partitions.

        Under whatever name: as another path to the same disk, or what lies beneath it. What is built on several of its
        paths is told once.
        """
        own = [use for node in self.tree.family(name) for use in self._direct(node, node.part)]
        related = self._uses_of_related(name, {use.detail for use in own if use.kind in HELD})
        return tuple(dict.fromkeys((*own, *related, *self._uses_of_files(name))))

    def uses_of_node(self, node: Node) -> tuple[Use, ...]:
        """Return the uses of a disk or partition alone, under its own name."""
        return tuple(self._direct(node, node.part))

    def _uses_of_related(self, name: str, lines: Collection[str]) -> Iterator[Use]:
        """Uses of what is the same disk or lies beneath it, but for what is `lines` to be built on it already."""
        above = set(lines)
        related = self.related(name)
        within = [relation for relation in related if not relation.neighbour]
        ours = {self.tree.disk_of(name), *(node.name for relation in within for node in relation.nodes)}
        for relation in related:
            if relation.stands:
                kind = "loop" if relation.nodes[0].name in self.backings else "holder"
                yield Use(kind=kind, detail=f"{relation.words}, {relation.stands}", elsewhere=True)
            for node in relation.nodes:
                part = None if relation.member or node is relation.nodes[0] else node.part
                direct = [use for use in self._direct(node, part, ours) if use.detail not in above]
                if not relation.member:  # of another path: what is built on both is built once
                    above |= {use.detail for use in direct if use.kind in HELD}
                yield from filter(None, map(relation.translate_use, direct))

    def _uses_of_files(self, name: str) -> Iterator[Use]:
        """Uses of the files that its data are kept in."""
        for file_id, relation in self.files(name).items():
            if file_id in self.swaps:
                yield Use(kind="swap", detail=f"{relation.words}, active swap", elsewhere=True)
            if file_id in self.exported:
                text = f"{relation.words}, exported by {self.exported[file_id]}"
                yield Use(kind="export", detail=text, elsewhere=True)
            if (use := self.quiet.files.get(file_id)) is not None:
                yield replace(use, detail=f"{relation.words}, {use.detail}")

    def above(self, name: str) -> tuple[str, ...]:
        """All that stands on the disk `name` at any height, in words: `md3`, `vg0/mail`, `ZFS pool tank`, then mounts.

        Of another path to the same disk too; what is only a part of a volume is not named.
        """
        own = [node for path in self.paths(name) for node in self.tree.family(path)]
        standing, pools = self._standing_on(own)
        built = [node for node in standing if node not in own and node.parent is None]
        parts = [self.pools.volumes.get(node.name) or volume_shown(node) for node in built]
        parts += [f"ZFS pool {pool}" for pool in pools]
        mounts = [mount for node in standing for mount in self.mounted.get(node.name, ())]
        mounts += [mount for pool in pools for mount in self.datasets.get(pool, ())]
        parts += [f"mounted on {mount.where()}" for mount in unique_points(mounts)]
        parts += ["active swap" for node in standing if node.devno in self.swaps]
        return tuple(dict.fromkeys(filter(None, parts)))

    def _standing_on(self, own: Iterable[Node]) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """The nodes themselves and all that is built on them, nearest first, and the ZFS pools among these."""
        waiting = list(own)
        visited: dict[str, Node] = {}
        pools: dict[str, None] = {}
        while waiting:
            node = waiting.pop(0)
            if node.name in visited:
                continue
            visited[node.name] = node
            pools |= {vdev.pool: None for vdev in self.pools.vdevs.get(node.name, ())}
            volumes = [name for name, of in self.pools.volumes.items() if of.split("/")[0] in pools]
            above = (*node.holders, *node.partitions, *self.loops.get(node.name, ()), *volumes)
            waiting += [self.tree.nodes[item] for item in above if item in self.tree.nodes]
        return tuple(visited.values()), tuple(pools)

    def doubtful(self) -> list[tuple[str, str]]:
        """Return the pairs of disks that are or may be one by what is no proof: a serial number, or a WWN that another
        fact contradicts."""
        pairs = [(name, other) for name, others in (*self.twins.items(), *self.likely.items()) for other in others]
        identities = {name: identity(self.tree.nodes[name]) for pair in pairs for name in pair}
        return [
            (name, other)
            for name, other in pairs
            if name < other
            and (other in self.likely.get(name, {}) or None in (identities[name].wwn, identities[other].wwn))
            and not self._are_paths(name, other)
        ]

    def _are_paths(self, first: str, second: str) -> bool:
        """Return whether a multipath device is built on both."""
        shared = set(self.tree.nodes[first].holders) & set(self.tree.nodes[second].holders)
        return any(is_multipath(self.tree.nodes[name]) for name in shared if name in self.tree.nodes)

    def called(self, name: str) -> str | None:
        """What administrators call a device that has another number at the next boot: `vg0/db`, `crypt1`, `tank/vm`."""
        node = self.tree.nodes[name]
        given = clean(node.attributes.get("dm/name", ""))
        return self.pools.volumes.get(name) or ((volume_shown(node) or given) if given else None)

    def link(self, name: str) -> str | None:
        """Where such a device lies at every boot: `/dev/vg0/db`, `/dev/mapper/crypt1`, `/dev/zvol/tank/vm`."""
        if (volume := self.pools.volumes.get(name)) is not None:
            return f"/dev/zvol/{volume}"
        node, own = self.tree.nodes[name], lvm_name(self.tree.nodes[name])
        whole = own is not None and not own.endings
        return f"/dev/{self.called(name)}" if whole else node.shown if node.shown != node.device else None

    def with_separate(self, pairs: Collection[tuple[str, str]]) -> Topology:
        """Return the topology in which these pairs are two disks each, as was proven."""
        two = {*pairs, *((other, name) for name, other in pairs)}
        twins = {
            name: tuple(other for other in others if (name, other) not in two) for name, others in self.twins.items()
        }
        likely = {
            name: {other: text for other, text in others.items() if (name, other) not in two}
            for name, others in self.likely.items()
        }
        return replace(self, twins=twins, likely=likely)

    def paths(self, name: str) -> tuple[str, ...]:
        """Kernel names of all paths to the disk of `name`, in their order; its own alone where there is one."""
        return paths_of(self.twins, self.tree.disk_of(name))

    def related(self, name: str) -> tuple[SameDataDevice, ...]:
        """All that is the same thing as the disk of `name`, or lies beneath it."""
        return relations(self.tree, self.twins, self.likely, self.backings, self.mapped, name)

    def unreported(self, name: str) -> list[str]:
        """Return what the kernel does not tell of a device, each a sentence without its full stop.

        That is what the tables of device-mapper and DRBD leave out, and, where its data are kept in a file, which
        file is in use.
        """
        unidentified = self.quiet.unidentified if self.files(name) else ()
        return [
            *unreported_ranges(self.tree, self.mapped or {}, name),
            *unreported_replicas(self.tree, name),
            *unidentified,
        ]

    def files(self, name: str) -> Mapping[str, SameDataDevice]:
        """By place, the files that the data of `name` are kept in."""
        return files_of(self._disks_of(name), self.backings)

    def _disks_of(self, name: str) -> set[str]:
        """Return the kernel names of all disks that hold the data of `name` or part of them."""
        related = {self.tree.disk_of(node.name) for relation in self.related(name) for node in relation.nodes}
        return {self.tree.disk_of(name), *related}

    def backing_disks_and_files(self, name: str) -> frozenset[str]:
        """Return the nodes of all disks that hold the data of `name` or part of them, and the files they are kept in.

        Two devices that have any of it in common are not apart.
        """
        names = self._disks_of(name)
        files = {self.backings[disk].path for disk in names if disk in self.backings}
        return frozenset({*(node_path(disk) for disk in names), *files})

    def signatures_of(self, name: str) -> tuple[Signature, ...]:
        """What lies on the disk of `name` and on its partitions, as far as udev or lsblk knows."""
        family = self.tree.family(name)
        return tuple(signature for node in family for signature in self.signatures.get(node.name, ()))

    def _direct(self, node: Node, part: str | None, ours: Collection[str] = ()) -> list[Use]:
        """Uses of one node; that one of `ours` is built or set up on it is none."""
        uses: list[Use] = []
        if node.name in self.system:
            uses.append(Use(kind="root", detail="the running system lies on it"))
        for mount in unique_points(self.mounted.get(node.name, ())):
            uses.append(Use(kind="mount", detail=f"mounted on {mount.where()}", part=part))
        if node.devno is not None and node.devno in self.swaps:
            uses.append(Use(kind="swap", detail="active swap", part=part))
        if node.devno is not None and any(swap.startswith(f"{node.devno}:") for swap in self.swaps):
            uses.append(Use(kind="swap", detail="below an active swap file", part=part))
        if node.devno is not None and node.devno in self.quiet.devices:
            uses.append(Use(kind="mount", detail=self.quiet.devices[node.devno], part=part))
        if snapshots := snapshots_of(self.tree, self.tables, node):
            named = ", ".join(dict.fromkeys(volume_shown(snapshot) or snapshot.shown for snapshot in snapshots))
            many = "s" if len(snapshots) > 1 else ""
            uses.append(Use(kind="snapshot", detail=f"the origin of the active snapshot{many} {named}", part=part))
        uses += layer_uses(self.tree, self.bcache, self.pools, node, part, ours)
        for uuid, members in self.btrfs.items():
            if node.name in members:
                uses.append(Use(kind="btrfs", detail=f"part of the mounted btrfs {clean(uuid)}", part=part))
        on_it = self.loops.get(node.name, {})
        uses += [Use(kind="loop", detail=text, part=part) for loop, text in on_it.items() if loop not in ours]
        if node.devno is not None and node.devno in self.exported:
            uses.append(Use(kind="export", detail=f"exported by {self.exported[node.devno]}", part=part))
        for signature in self.signatures.get(node.name, ()):
            if signature.kind == "zfs_member" and not self.pools.known:
                detail = f"ZFS member while pools are imported ({', '.join(self.pools.names)})"
                uses.append(Use(kind="zfs", detail=detail, part=part))
        return uses


def mount_nodes(tree: Tree, mount: Mount) -> tuple[Node, ...]:
    """The block devices a mount lies on; none for pools, network and memory filesystems.

    btrfs and other multi-device filesystems have an anonymous device number; their source names a device.
    """
    node = tree.by_devno(mount.devno)
    if node is not None:
        return (node,)
    sources = {source for source in mount.source.split(":") if source.startswith("/dev/")}
    if not sources:
        return ()
    return tuple(node for node in tree.nodes.values() if sources & set(_names(node)))


def _names(node: Node) -> tuple[str, ...]:
    """Paths under which a device may be named as a mount's source."""
    given = node.attributes.get("dm/name")
    return (node.device, f"/dev/mapper/{given}") if given else (node.device,)


def mounted_by_node(
    tree: Tree, mounts: Iterable[Mount], btrfs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[Mount, ...]]:
    """Every mount under the names of all devices it lies on, the further devices of a btrfs included."""
    matches: dict[str, tuple[Mount, ...]] = {}
    for mount in mounts:
        names = {node.name for node in mount_nodes(tree, mount)}
        if mount.fstype == "btrfs":
            for members in btrfs.values():
                if names & set(members):
                    names |= set(members) & set(tree.nodes)
        for name in names:
            if mount not in matches.get(name, ()):
                matches[name] = (*matches.get(name, ()), mount)
    return matches


def system_disks(
    tree: Tree, mounted: Mapping[str, tuple[Mount, ...]], mounts: Iterable[Mount] = (), pools: Pools | None = None
) -> frozenset[str]:
    """The devices and disks under /, /boot, /usr and the EFI partition, through all layers; `mounts`: also of pools."""
    names = [name for name, own in mounted.items() if any(mount.point in SYSTEM_POINTS for mount in own)]
    booted = {pool_of(mount) for mount in mounts if mount.point in SYSTEM_POINTS} - {None}
    names += [] if pools is None else pools.devices(pool for pool in booted if pool is not None)
    matches: set[str] = set()
    for name in names:
        matches.add(tree.disk_of(name))
        matches |= {tree.disk_of(under.name) for under in tree.below(name)}
    return frozenset(matches)
