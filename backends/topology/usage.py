"""Uses of block devices, derived from a scan. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from backends.identity import HOLDER_KINDS, Signature, Use
from backends.text import clean
from backends.topology.device_identity import SameDataDevice, files_of, identity, is_multipath, paths_of, relations
from backends.topology.device_mapper import DeviceRange, Segments, snapshots_of, unreported_ranges
from backends.topology.loop_backing import Backing
from backends.topology.mounts import Mount, unique_points
from backends.topology.quiet_users import QuietUsers
from backends.topology.replicas import unreported_replicas
from backends.topology.stacking import Pools, layer_uses, lvm_name, pool_of, volume_shown
from backends.topology.tree import Node, Tree, node_path
from backends.values import dataclass

SYSTEM_POINTS = ("/", "/boot", "/boot/efi", "/efi", "/usr")
"""Mount points of the running system. Their disks are never written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Block devices and their uses, as far as they are visible without opening a device."""

    tree: Tree
    """Block devices."""
    tables: Segments = field(default_factory=dict)
    """Device-mapper tables by kernel name. Reading them needs root; empty if they were not read."""
    mounts: tuple[Mount, ...] = ()
    """All visible mounts."""
    mounted: Mapping[str, tuple[Mount, ...]] = field(default_factory=dict)
    """Mounts of all mount namespaces that were read, by kernel name of the mounted device."""
    system: frozenset[str] = frozenset()
    """Kernel names of the disks that contain the running system: /, /boot, /usr and the EFI partition."""
    swaps: tuple[str, ...] = ()
    """Device numbers of swap devices, and IDs of swap files."""
    btrfs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kernel names of the devices of each mounted btrfs, by UUID."""
    pools: Pools = field(default_factory=Pools)
    """Imported ZFS pools and their devices."""
    datasets: Mapping[str, tuple[Mount, ...]] = field(default_factory=dict)
    """Mounted ZFS datasets, by name of their pool."""
    bcache: Mapping[str, str] = field(default_factory=dict)
    """Role of each bcache disk, `cache` or `backing`, by kernel name."""
    loops: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Descriptions, as for `Use.detail`, of loop and zram devices that store data on a device.

    The keys are the kernel name of the device, then that of the loop or zram device.
    """
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kernel names of the other paths to each disk, by kernel name of the disk."""
    likely: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Reasons why two disks may be the same disk, by kernel name of one disk, then of the other disk."""
    backings: Mapping[str, Backing] = field(default_factory=dict)
    """Backing file or device of loop and zram devices, and of disks that this machine serves to itself, by kernel name.

    """
    mapped: Mapping[str, tuple[DeviceRange, ...]] | None = None
    """Ranges of lower devices that each device-mapper device uses, by its kernel name.

    None if the tables were not read.
    """
    exported: Mapping[str, str] = field(default_factory=dict)
    """Names of the targets that export a device or file, joined into one string, by device number or file ID."""
    quiet: QuietUsers = field(default_factory=QuietUsers)
    """Uses by the kernel that mounts, holders and open files do not show, such as journals.

    Empty if they were not read.
    """
    signatures: Mapping[str, tuple[Signature, ...]] = field(default_factory=dict)
    """Content of each device as reported by udev or lsblk."""
    blind: tuple[str, ...] = ()
    """Reasons why checks failed, each a sentence without its full stop. If there are any, some uses may be missing."""

    def uses(self, name: str) -> tuple[Use, ...]:
        """Return all uses of a disk and of its partitions. `name`: kernel name of the disk or of one of its partitions.

        Uses of other paths to the same disk and of lower devices count as well. Devices built on several paths are
        listed once.
        """
        direct = [use for node in self.tree.family(name) for use in self._direct(node, node.part)]
        related = self._uses_of_related(name, {use.detail for use in direct if use.kind in HOLDER_KINDS})
        return tuple(dict.fromkeys((*direct, *related, *self._uses_of_files(name))))

    def uses_of_node(self, node: Node) -> tuple[Use, ...]:
        """Return the uses of the disk or partition `node` only, without uses of its partitions or of other
        paths to it.
        """
        return tuple(self._direct(node, node.part))

    def _uses_of_related(self, name: str, lines: Collection[str]) -> Iterator[Use]:
        """Yield uses of other paths to the disk of `name` and of lower devices. `lines`: details of uses to
        leave out.
        """
        above = set(lines)
        related = self.related(name)
        within = [relation for relation in related if not relation.neighbour]
        ours = {self.tree.disk_of(name), *(node.name for relation in within for node in relation.nodes)}
        for relation in related:
            if relation.presence_reason:
                kind = "loop" if relation.nodes[0].name in self.backings else "holder"
                yield Use(kind=kind, detail=f"{relation.text}, {relation.presence_reason}", elsewhere=True)
            for node in relation.nodes:
                part = None if relation.member or node is relation.nodes[0] else node.part
                direct = [use for use in self._direct(node, part, ours) if use.detail not in above]
                if not relation.member:  # another path: a device built on both is listed once
                    above |= {use.detail for use in direct if use.kind in HOLDER_KINDS}
                yield from filter(None, map(relation.translate_use, direct))

    def _uses_of_files(self, name: str) -> Iterator[Use]:
        """Yield uses of the files in which the data of `name` is stored."""
        for file_id, relation in self.files(name).items():
            if file_id in self.swaps:
                yield Use(kind="swap", detail=f"{relation.text}, active swap", elsewhere=True)
            if file_id in self.exported:
                text = f"{relation.text}, exported by {self.exported[file_id]}"
                yield Use(kind="export", detail=text, elsewhere=True)
            if (use := self.quiet.files.get(file_id)) is not None:
                yield replace(use, detail=f"{relation.text}, {use.detail}")

    def above(self, name: str) -> tuple[str, ...]:
        """Return descriptions of the dependents of disk `name`: `md3`, `vg0/mail`, `ZFS pool tank`, `mounted on /srv`.

        Devices above another path to the same disk are included; internal parts of a volume are not.
        """
        family = [node for path in self.paths(name) for node in self.tree.family(path)]
        nodes, pools = self._with_dependents(family)
        built = [node for node in nodes if node not in family and node.parent is None]
        parts = [self.pools.volumes.get(node.name) or volume_shown(node) for node in built]
        parts += [f"ZFS pool {pool}" for pool in pools]
        mounts = [mount for node in nodes for mount in self.mounted.get(node.name, ())]
        mounts += [mount for pool in pools for mount in self.datasets.get(pool, ())]
        parts += [f"mounted on {mount.where()}" for mount in unique_points(mounts)]
        parts += ["active swap" for node in nodes if node.devno in self.swaps]
        return tuple(dict.fromkeys(filter(None, parts)))

    def _with_dependents(self, nodes: Iterable[Node]) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """Return `nodes` with all devices above them, nearest first, and the names of the ZFS pools that use any of
        these.
        """
        waiting = list(nodes)
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

    def doubtful_pairs(self) -> list[tuple[str, str]]:
        """Return pairs of disks that may be the same disk.

        Either only their serial numbers indicate it, or their WWNs do and another identifier contradicts it.
        """
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
        """Return whether both disks (kernel names) are paths of one multipath device."""
        shared = set(self.tree.nodes[first].holders) & set(self.tree.nodes[second].holders)
        return any(is_multipath(self.tree.nodes[name]) for name in shared if name in self.tree.nodes)

    def stable_name(self, name: str) -> str | None:
        """Return the name that administrators use (`vg0/db`, `crypt1`), if the kernel name can change.
        Otherwise, return None.
        """
        node = self.tree.nodes[name]
        dm_name = clean(node.attributes.get("dm/name", ""))
        return self.pools.volumes.get(name) or ((volume_shown(node) or dm_name) if dm_name else None)

    def link(self, name: str) -> str | None:
        """Return the path with the name from `stable_name`, such as `/dev/vg0/db` or `/dev/zvol/tank/vm`.

        None if there is none.
        """
        if (volume := self.pools.volumes.get(name)) is not None:
            return f"/dev/zvol/{volume}"
        node, lvm = self.tree.nodes[name], lvm_name(self.tree.nodes[name])
        is_visible = lvm is not None and not lvm.endings
        return f"/dev/{self.stable_name(name)}" if is_visible else node.shown if node.shown != node.device else None

    def with_separate(self, pairs: Collection[tuple[str, str]]) -> Topology:
        """Return a copy of this topology in which the two disks of each pair count as different disks."""
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
        """Return the kernel names of all paths to the disk of `name`, in natural order."""
        return paths_of(self.twins, self.tree.disk_of(name))

    def related(self, name: str) -> tuple[SameDataDevice, ...]:
        """Return every other device that is the same disk as the disk of `name`, or a layer below it."""
        return relations(self.tree, self.twins, self.likely, self.backings, self.mapped, name)

    def unreported_reasons(self, name: str) -> list[str]:
        """Return the reasons why the layers of a device are not fully known, each a sentence without its full stop.

        They name the ranges that device-mapper does not report, and the disks that DRBD does not report. If the data is
        in a file, they also name the used files that cannot be identified: one of those may be this file.
        """
        unidentified = self.quiet.unidentified if self.files(name) else ()
        return [
            *unreported_ranges(self.tree, self.mapped or {}, name),
            *unreported_replicas(self.tree, name),
            *unidentified,
        ]

    def files(self, name: str) -> Mapping[str, SameDataDevice]:
        """Return, by file ID, the files in which the data of `name` is stored."""
        return files_of(self._disks_of(name), self.backings)

    def _disks_of(self, name: str) -> set[str]:
        """Return the kernel names of all disks that hold data of the device `name`."""
        related = {self.tree.disk_of(node.name) for relation in self.related(name) for node in relation.nodes}
        return {self.tree.disk_of(name), *related}

    def backing_disks_and_files(self, name: str) -> frozenset[str]:
        """Return the /dev paths of all disks, and the paths of their backing files, that hold data of `name`.

        Two devices that have one of them in common are not independent of each other.
        """
        names = self._disks_of(name)
        files = {self.backings[disk].path for disk in names if disk in self.backings}
        return frozenset({*(node_path(disk) for disk in names), *files})

    def signatures_of(self, name: str) -> tuple[Signature, ...]:
        """Return the content of the disk of `name` and its partitions, as reported by udev or lsblk."""
        family = self.tree.family(name)
        return tuple(signature for node in family for signature in self.signatures.get(node.name, ()))

    def _direct(self, node: Node, part: str | None, ours: Collection[str] = ()) -> list[Use]:
        """Return the uses of one node, except uses by devices whose kernel names are in `ours`.

        `part`: name of the partition for `Use.part`.
        """
        uses: list[Use] = []
        if node.name in self.system:
            uses.append(Use(kind="root", detail="the running system is on it"))
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
    """Return the block devices of the mounted filesystem; empty for ZFS, network and memory filesystems.

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
    """Return the paths by which the source of a mount may name this device."""
    dm_name = node.attributes.get("dm/name")
    return (node.device, f"/dev/mapper/{dm_name}") if dm_name else (node.device,)


def mounted_by_node(
    tree: Tree, mounts: Iterable[Mount], btrfs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[Mount, ...]]:
    """Return the mounts by kernel name of each of their devices. A btrfs is listed under all of its devices."""
    by_name: dict[str, tuple[Mount, ...]] = {}
    for mount in mounts:
        names = {node.name for node in mount_nodes(tree, mount)}
        if mount.fstype == "btrfs":
            for members in btrfs.values():
                if names & set(members):
                    names |= set(members) & set(tree.nodes)
        for name in names:
            if mount not in by_name.get(name, ()):
                by_name[name] = (*by_name.get(name, ()), mount)
    return by_name


def system_disks(
    tree: Tree, mounted: Mapping[str, tuple[Mount, ...]], mounts: Iterable[Mount] = (), pools: Pools | None = None
) -> frozenset[str]:
    """Return the kernel names of all disks below /, /boot, /usr and the EFI partition, at all layers.

    `mounts` and `pools`: needed to find a system on ZFS.
    """
    names = [
        name for name, device_mounts in mounted.items() if any(mount.point in SYSTEM_POINTS for mount in device_mounts)
    ]
    booted = {pool_of(mount) for mount in mounts if mount.point in SYSTEM_POINTS} - {None}
    names += [] if pools is None else pools.devices(pool for pool in booted if pool is not None)
    disks: set[str] = set()
    for name in names:
        disks.add(tree.disk_of(name))
        disks |= {tree.disk_of(under.name) for under in tree.below(name)}
    return frozenset(disks)
