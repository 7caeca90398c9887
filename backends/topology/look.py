"""The whole picture: block devices, mounts, swap, and what uses each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from backends.host import Command, Host
from backends.model import Signature, Use
from backends.text import clean
from backends.topology.mounts import Mount, parse_mountinfo, parse_swaps
from backends.topology.signatures import lsblk_signatures, parse_lsblk, udev_signatures
from backends.topology.tree import Node, Tree, read_tree

SYSTEM_POINTS = ("/", "/boot", "/boot/efi", "/efi", "/usr")
"""Mount points whose disk is the system's: never written to."""

MEMBER_KINDS = {
    "LVM2_member": "lvm",
    "LVM1_member": "lvm",
    "linux_raid_member": "md",
    "isw_raid_member": "md",
    "ddf_raid_member": "md",
    "zfs_member": "zfs",
    "bcache": "bcache",
    "crypto_LUKS": "luks",
    "mpath_member": "multipath",
    "ceph_bluestore": "ceph",
    "drbd": "drbd",
    "VMFS_volume_member": "vmfs",
}
"""libblkid's TYPE of things that are part of something bigger, and the word for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Which block device is what, and who uses it, as far as can be seen without opening anything."""

    tree: Tree
    """Block devices."""
    mounts: tuple[Mount, ...] = ()
    """Mounts of every mount namespace looked at."""
    swaps: tuple[str, ...] = ()
    """Device numbers of block devices that are swap, and paths of swap files."""
    btrfs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kernel names of the devices of each mounted btrfs, by its UUID."""
    pools: tuple[str, ...] = ()
    """Imported ZFS pools."""
    backing: Mapping[str, str | None] = field(default_factory=dict)
    """For each loop device the device number its backing file is, None for a plain file."""
    exported: Mapping[str, str] = field(default_factory=dict)
    """Device numbers that a kernel target exports to the network, with its name."""
    signatures: Mapping[str, tuple[Signature, ...]] = field(default_factory=dict)
    """What udev or lsblk says lies on each device."""
    blind: tuple[str, ...] = ()
    """What could not be looked at, each a sentence; not empty means that use may be hidden."""

    def uses(self, name: str) -> tuple[Use, ...]:
        """All that uses the disk `name`, or the disk of the partition `name`, and any of its partitions."""
        found: list[Use] = []
        for node in self.tree.family(name):
            part = node.name if node.parent is not None else None
            found += [use for use in self._direct(node, part) if use not in found]
        return tuple(found)

    def system_disks(self) -> frozenset[str]:
        """Kernel names of all disks under the running system: /, /boot, /usr and the EFI partition."""
        found: set[str] = set()
        for mount in self.mounts:
            if mount.point not in SYSTEM_POINTS or mount.seen_in:
                continue
            for node in self.mounted_on(mount):
                found.add(self.tree.disk_of(node.name))
                found |= {self.tree.disk_of(under.name) for under in self.tree.below(node.name)}
        return frozenset(found)

    def mounted_on(self, mount: Mount) -> tuple[Node, ...]:
        """The block devices a mount lies on: one, several for btrfs, none for pools and network filesystems."""
        node = self.tree.by_devno(mount.devno)
        if node is not None:
            return (node,)
        sources = {source for source in mount.source.split(":") if source.startswith("/dev/")}
        found = [
            node
            for node in self.tree.nodes.values()
            if node.device in sources or self._mapped(node) in sources
        ]
        if mount.fstype == "btrfs":
            names = {node.name for node in found}
            for members in self.btrfs.values():
                if names & set(members):
                    found = [self.tree.nodes[name] for name in members if name in self.tree.nodes]
        return tuple(found)

    def _mapped(self, node: Node) -> str | None:
        given = node.attributes.get("dm/name")
        return f"/dev/mapper/{given}" if given else None

    def _direct(self, node: Node, part: str | None) -> list[Use]:
        found: list[Use] = []
        system = self.system_disks()
        if part is None and node.name in system:
            found.append(Use(kind="root", detail="the running system lies on it"))
        for mount in self.mounts:
            if any(under.name == node.name for under in self.mounted_on(mount)):
                found.append(Use(kind="mount", detail=f"mounted on {mount.where()}", part=part))
        if node.devno is not None and node.devno in self.swaps:
            found.append(Use(kind="swap", detail="active swap", part=part))
        for holder in node.holders:
            above = self.tree.nodes.get(holder)
            shown = above.shown if above is not None else f"/dev/{clean(holder)}"
            found.append(Use(kind="holder", detail=f"{shown} is built on it", part=part))
        for uuid, members in self.btrfs.items():
            if node.name in members:
                found.append(
                    Use(kind="btrfs", detail=f"device of the mounted btrfs {clean(uuid)}", part=part)
                )
        for loop, devno in self.backing.items():
            if devno is not None and devno == node.devno:
                found.append(Use(kind="loop", detail=f"/dev/{clean(loop)} is set up on it", part=part))
        if node.devno is not None and node.devno in self.exported:
            found.append(Use(kind="export", detail=f"exported by {self.exported[node.devno]}", part=part))
        for signature in self.signatures.get(node.name, ()):
            if signature.kind == "zfs_member" and self.pools:
                detail = f"ZFS member while pools are imported ({', '.join(self.pools)})"
                found.append(Use(kind="zfs", detail=detail, part=part))
        return found


async def look(host: Host, *, everywhere: bool = False) -> Topology:
    """The picture now. `everywhere` looks into the mount namespace of every process, as the guard needs it."""
    tree, own, swaps, btrfs, pools = await asyncio.gather(
        read_tree(host),
        host.read("/proc/self/mountinfo"),
        host.read("/proc/swaps"),
        host.list("/sys/fs/btrfs/*/devices/*"),
        host.list("/proc/spl/kstat/zfs/*/state"),
    )
    blind: list[str] = []
    mounts = list(parse_mountinfo(own or ""))
    if not mounts:
        blind.append("/proc/self/mountinfo could not be read")
    if everywhere:
        others, unseen = await _other_mounts(host)
        mounts += others
        blind += unseen
    if swaps is None:
        blind.append("/proc/swaps could not be read")
    return Topology(
        tree=tree,
        mounts=tuple(mounts),
        swaps=await _swap_numbers(host, parse_swaps(swaps or "")),
        btrfs=_members(btrfs),
        pools=tuple(clean(path.split("/")[5]) for path in pools),
        backing=await _loop_backing(host, tree),
        exported=await _exports(host) if everywhere else {},
        signatures=await _signatures(host, tree),
        blind=tuple(blind),
    )


async def _other_mounts(host: Host) -> tuple[list[Mount], list[str]]:
    """Mounts of every other mount namespace, one process asked per namespace."""
    processes = [path.rsplit("/", 1)[0] for path in await host.list("/proc/[0-9]*/mountinfo")]
    links = await asyncio.gather(
        host.link("/proc/self/ns/mnt"), *(host.link(f"{path}/ns/mnt") for path in processes)
    )
    ours = _namespace(links[0])
    mounts: list[Mount] = []
    hidden = 0
    done = {ours}
    for path, link in zip(processes, links[1:], strict=True):
        if link is None:  # gone meanwhile, a kernel thread, or not ours to see
            hidden += (await host.stat(path)) is not None and not host.is_root
            continue
        space = _namespace(link)
        if space in done:
            continue
        text = await host.read(f"{path}/mountinfo")
        if text:
            name = clean(await host.read(f"{path}/comm") or "?", 32)
            mounts += parse_mountinfo(text, seen_in=f"{name}, process {path.rsplit('/', 1)[1]}")
            done.add(space)
    return mounts, ["mounts of other users' programs cannot be seen without root"] if hidden else []


def _namespace(link: str | None) -> str:
    """`/proc/7/ns/mnt:[4026531841]` as `mnt:[4026531841]`."""
    return (link or "").rsplit("/", 1)[-1]


async def _swap_numbers(host: Host, areas: tuple[str, ...]) -> tuple[str, ...]:
    """Device numbers of swap devices; swap files stay paths."""
    stats = await asyncio.gather(*(host.stat(area) for area in areas))
    return tuple(stat.devno if stat and stat.devno else area for area, stat in zip(areas, stats, strict=True))


def _members(paths: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """`/sys/fs/btrfs/UUID/devices/NAME` lines by UUID."""
    found: dict[str, tuple[str, ...]] = {}
    for path in paths:
        words = path.split("/")
        found[words[4]] = (*found.get(words[4], ()), words[6])
    return found


async def _loop_backing(host: Host, tree: Tree) -> dict[str, str | None]:
    """What each loop device, or zram's backing device, lies on when that is a block device itself."""
    found: dict[str, str | None] = {}
    for node in tree.nodes.values():
        path = node.attributes.get("loop/backing_file") or node.attributes.get("backing_dev")
        if path and path != "none":
            stat = await host.stat(path.removesuffix(" (deleted)"))
            found[node.name] = stat.devno if stat is not None and stat.kind == "block" else None
    return found


async def _exports(host: Host) -> dict[str, str]:
    """Devices that the NVMe target exports: it opens them without claiming them (drivers/nvme/target)."""
    found: dict[str, str] = {}
    paths = await host.list("/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path")
    for path, text in (await host.read_many(paths)).items():
        stat = await host.stat(text)
        if stat is not None and stat.devno is not None:
            found[stat.devno] = f"the NVMe target {clean(path.split('/')[6])}"
    return found


async def _signatures(host: Host, tree: Tree) -> dict[str, tuple[Signature, ...]]:
    """From udev's database; from lsblk where there is none; nothing where there is neither."""
    rows: Mapping[str, Mapping[str, str]] = {}
    if not any(node.udev for node in tree.nodes.values()):
        tool = host.which(("lsblk",))
        if tool is not None:
            done = await host.run(Command(argv=(tool, "-J", "-b", "-O"), timeout=20))
            rows = parse_lsblk(done.stdout)
    found: dict[str, tuple[Signature, ...]] = {}
    for node in tree.nodes.values():
        part = node.name if node.parent is not None else None
        row = rows.get(node.name, {})
        known = udev_signatures(node.udev, part, node.size_bytes) or lsblk_signatures(
            row, part, node.size_bytes
        )
        if known:
            found[node.name] = known
    return found
