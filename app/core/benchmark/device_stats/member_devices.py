"""The block devices below the device under test, and the role of each in its array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.benchmark.device_stats.caches import CacheDevice, caches_of
from backends.host import Host
from backends.text import clean
from backends.topology import Node, Tree, parse_mountinfo, read_tree
from backends.topology.mounts import file_mount
from backends.topology.stacking import Pools, lvm_name, pool_of, read_bcache, read_pools
from backends.topology.tree import natural
from backends.values import dataclass

_ROLES = (
    ("faulty", "faulty"),
    ("journal", "journal"),
    ("spare", "spare"),
    ("write_mostly", "write-mostly"),
    ("replacement", "replacement"),
)
"""States in md/dev-*/state (drivers/md/md.c, state_show) with the role to show, the most important first."""

_DEEPEST = 8
"""Maximum number of stacked devices to follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A block device below the device under test."""

    device: str
    """Kernel name, as in sysfs."""
    label: str = ""
    """Model of the drive, name of the volume or level of the array."""
    role: str = ""
    """Role in its array when the run starts, as in `MemberStats`."""
    depth: int = 0
    """0 if directly below the device under test, 1 if below such a device, and so on."""
    md: str | None = None
    """Its folder below the sysfs folder of the md array that it belongs to; None if it is not in an md array."""
    counted: bool = True
    """Whether the kernel counts its I/O: by `queue/iostats`, or in any case for device-mapper and bcache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerDevices:
    """The devices below a device, and their caches."""

    members: tuple[Member, ...] = ()
    """All lower devices, each after the device above it."""
    caches: tuple[CacheDevice, ...] = ()
    """Caches of these devices and of the device itself."""


async def find_below(host: Host, disk: str) -> LowerDevices:
    """Return all devices below a disk; none for a plain disk.

    `disk`: kernel name, such as that of an md array, a device-mapper volume, a bcache device or a ZFS volume.
    """
    volume = disk.startswith("zd")
    if not volume and not await host.list(f"/sys/block/{disk}/slaves/*"):
        return LowerDevices()
    tree = await read_tree(host)
    pools = await read_pools(host, tree) if volume else Pools()
    tree = pools.under(tree)
    return await _below(host, tree, tuple(below(tree, disk)), (disk,), pools)


async def find_below_file(host: Host, path: str) -> LowerDevices:
    """Return all devices below a file on ZFS, whose filesystem has no block device; none for any other file."""
    mountinfo = await host.read("/proc/self/mountinfo")
    mount = file_mount(path, parse_mountinfo(mountinfo or ""))
    pool = pool_of(mount) if mount is not None else None
    if pool is None:
        return LowerDevices()
    tree = await read_tree(host)
    pools = await read_pools(host, tree)
    tops = [tree.nodes[name] for name in pools.devices((pool,))]
    devices = [LocatedDevice(node=top, depth=0, above="") for top in tops]
    devices += [
        replace(device, depth=device.depth + 1) for top in tops for device in below(tree, tree.disk_of(top.name))
    ]
    return await _below(host, tree, tuple(devices), (), pools)


async def _below(
    host: Host, tree: Tree, devices: Sequence[LocatedDevice], top: tuple[str, ...], pools: Pools
) -> LowerDevices:
    in_bcache = await read_bcache(host)
    disks = [tree.disk_of(device.node.name) for device in devices]
    wanted = counter_files(disks)
    folders = [f"/sys/block/{device.above}/md" for device in devices]
    wanted += [f"{folder}/{name}" for folder in dict.fromkeys(folders) for name in ("level", "raid_disks")]
    wanted += [
        f"{folder}/dev-{device.node.name}/{name}"
        for folder, device in zip(folders, devices, strict=True)
        for name in ("state", "slot")
    ]
    texts = await host.read_many(list(dict.fromkeys(wanted)))
    roles: dict[str, str] = {}
    for device in devices:
        roles[device.node.name] = _role(device, texts, in_bcache, pools) or _inherited_role(tree, device, roles)
    names = (*top, *(device.node.name for device in devices))
    return LowerDevices(
        members=tuple(_member(tree, device, texts, roles[device.node.name]) for device in devices),
        caches=caches_of(tree, names, in_bcache, zfs=bool(pools.names)),
    )


async def read_roles(host: Host, members: Sequence[Member]) -> dict[str, str]:
    """Return the current roles of md members by kernel name; `removed` for a drive that is no longer a member."""
    folders = {member.device: member.md for member in members if member.md is not None}
    if not folders:
        return {}
    texts = await host.read_many([f"{folder}/{name}" for folder in folders.values() for name in ("state", "slot")])
    roles = {
        device: "removed"
        if (state := texts.get(f"{folder}/state")) is None
        else role_of(state, texts.get(f"{folder}/slot", ""))
        for device, folder in folders.items()
    }
    return {member.device: roles[member.device] or _lasting_role(member) for member in members if member.md is not None}


def _lasting_role(member: Member) -> str:
    """Return `parity` if the member has this role, else "". The md state does not report it, and it cannot change."""
    return "parity" if member.role == "parity" else ""


def role_of(state: str, slot: str = "") -> str:
    """Return the role of a member from its md state; "" for a plain member.

    A spare with a slot number is being rebuilt, and its rebuilt part already serves reads. The `slot` of a real spare
    is `none`.
    """
    tokens = state.replace("\n", ",").split(",")
    role = next((role for word, role in _ROLES if word in tokens), "")
    return "rebuilding" if role == "spare" and slot.strip().isdigit() else role


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDevice:
    """A device with its position below the disk under test."""

    node: Node
    """The device."""
    depth: int
    """0 if directly below the disk under test."""
    above: str
    """Kernel name of the disk directly above the device; "" if there is none."""


def below(tree: Tree, disk: str) -> Iterator[LocatedDevice]:
    """Yield the devices below a disk, each once and after the device above it. No I/O."""
    visited = {disk}

    def walk(above: str, depth: int) -> Iterator[LocatedDevice]:
        top = tree.nodes.get(above)
        names = sorted(top.slaves if top is not None else (), key=natural)
        for name in names:
            node = tree.nodes.get(name)
            if node is None or name in visited or depth > _DEEPEST:
                continue
            visited.add(name)
            yield LocatedDevice(node=node, depth=depth, above=above)
            yield from walk(tree.disk_of(name), depth + 1)

    return walk(disk, 0)


def _member(tree: Tree, device: LocatedDevice, texts: Mapping[str, str], role: str) -> Member:
    name = device.node.name
    folder = f"/sys/block/{device.above}/md/dev-{name}"
    return Member(
        device=name,
        label=_label(tree.nodes.get(tree.disk_of(name), device.node)),
        role=role,
        depth=device.depth,
        md=folder if f"{folder}/state" in texts else None,
        counted=is_counted(tree.disk_of(name), texts),
    )


def counter_files(disks: Iterable[str]) -> list[str]:
    """Return the paths of the files that show whether the kernel counts the I/O of disks."""
    return [f"/sys/block/{disk}/{name}" for disk in disks for name in ("queue/iostats", "stat")]


def is_counted(disk: str, texts: Mapping[str, str]) -> bool:
    """Return whether the kernel counts the I/O of a disk, from the texts of `counter_files`.

    device-mapper and bcache start with `iostats` off and count all the same: bio_start_io_acct does not check it.
    """
    if texts.get(f"/sys/block/{disk}/queue/iostats") != "0":
        return True
    return disk.startswith(("dm-", "bcache")) and any(
        count not in ("", "0") for count in texts.get(f"/sys/block/{disk}/stat", "").split()[:7]
    )


def _role(device: LocatedDevice, texts: Mapping[str, str], in_bcache: Mapping[str, str], pools: Pools) -> str:
    """Return the role of a device in the terms of its layer (md, bcache, ZFS or LVM); "" for a plain member."""
    name, folder = device.node.name, f"/sys/block/{device.above}/md"
    if (state := texts.get(f"{folder}/dev-{name}/state")) is not None:
        last = texts.get(f"{folder}/level") == "raid4" and _is_last(folder, name, texts)
        slot = texts.get(f"{folder}/dev-{name}/slot", "")
        return role_of(state, slot) or ("parity" if last else "")  # RAID 4 has all parity on its last disk
    if device.above.startswith("bcache"):
        return in_bcache.get(name, "")
    if name in pools.vdevs:
        return pools.vdevs[name][0].role
    part = lvm_name(device.node)
    return "" if part is None or part.role == "data" else part.role


def _inherited_role(tree: Tree, device: LocatedDevice, roles: Mapping[str, str]) -> str:
    """Return the role that a device inherits from the device above it; "" if it inherits none.

    A physical volume below an LVM cache is part of the cache. A drive in an array that serves as the cache is a plain
    member of that array.
    """
    above = tree.nodes.get(device.above)
    return "" if above is None or lvm_name(above) is None else roles.get(device.above, "")


def _is_last(folder: str, name: str, texts: Mapping[str, str]) -> bool:
    slot, disks = texts.get(f"{folder}/dev-{name}/slot", ""), texts.get(f"{folder}/raid_disks", "").split(" ")[0]
    return slot.isdigit() and disks.isdigit() and int(slot) == int(disks) - 1


def _label(node: Node) -> str:
    """Return the label of a device: the model of a drive, the name of a volume or the level of an array."""
    attributes = node.attributes
    return clean(attributes.get("device/model") or attributes.get("dm/name") or attributes.get("md/level") or "", 40)
