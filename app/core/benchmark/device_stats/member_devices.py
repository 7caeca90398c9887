"""Which block devices lie below the one under test, and what each is for in its array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
"""Words of md/dev-*/state (drivers/md/md.c, state_show) and ours, the one that matters most first."""

_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A block device below the one under test."""

    device: str
    """Kernel name, as sysfs has it."""
    label: str = ""
    """Its model, its volume's name or its level."""
    role: str = ""
    """What it is for when the run begins, as in `MemberFigures`."""
    depth: int = 0
    """0 directly below, 1 below such a one."""
    md: str | None = None
    """Its folder in the md array that it is a member of; None in whatever else."""
    counted: bool = True
    """Whether the kernel keeps count of it: `queue/iostats`, and device-mapper and bcache whatever stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerDevices:
    """What lies below a device."""

    members: tuple[Member, ...] = ()
    """All of it, each after what it is below."""
    caches: tuple[CacheDevice, ...] = ()
    """Caches among them, that device included."""


async def find_below(host: Host, disk: str) -> LowerDevices:
    """All devices below a disk; nothing for a plain one.

    `disk`: kernel name of an md array, a device-mapper volume, a bcache device, a ZFS volume ...
    """
    volume = disk.startswith("zd")
    if not volume and not await host.list(f"/sys/block/{disk}/slaves/*"):
        return LowerDevices()
    tree = await read_tree(host)
    pools = await read_pools(host, tree) if volume else Pools()
    tree = pools.under(tree)
    return await _below(host, tree, tuple(below(tree, disk)), (disk,), pools)


async def find_below_file(host: Host, path: str) -> LowerDevices:
    """The same for a file on a ZFS filesystem, which the kernel knows of no device for; nothing for any other."""
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
    wanted = [f"/sys/block/{disk}/{name}" for disk in disks for name in ("queue/iostats", "stat")]
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
    """The roles of md members now, by kernel name; `removed` for one that is in its array no more."""
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
    """What md's words for the state do not tell and does not change."""
    return "parity" if member.role == "parity" else ""


def role_of(state: str, slot: str = "") -> str:
    """The role that md's words for a member's state tell; "" for a plain member.

    A spare that has a place is being rebuilt: what is rebuilt already is read there (`slot`: `none` for a real one).
    """
    tokens = state.replace("\n", ",").split(",")
    role = next((role for word, role in _ROLES if word in tokens), "")
    return "rebuilding" if role == "spare" and slot.strip().isdigit() else role


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDevice:
    """A device, and where it lies."""

    node: Node
    """The device."""
    depth: int
    """0 directly below the disk under test."""
    above: str
    """Kernel name of the disk it is a part of."""


def below(tree: Tree, disk: str) -> Iterator[LocatedDevice]:
    """The devices below a disk, deepest after what they are below; each once. No I/O."""
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
        counted=_counted(tree.disk_of(name), texts),
    )


def _counted(disk: str, texts: Mapping[str, str]) -> bool:
    """device-mapper and bcache begin with `iostats` off and count all the same (bio_start_io_acct asks for nothing)."""
    if texts.get(f"/sys/block/{disk}/queue/iostats") != "0":
        return True
    return disk.startswith(("dm-", "bcache")) and any(
        word not in ("", "0") for word in texts.get(f"/sys/block/{disk}/stat", "").split()[:7]
    )


def _role(device: LocatedDevice, texts: Mapping[str, str], in_bcache: Mapping[str, str], pools: Pools) -> str:
    """What a device is for, in the words of the layer that it is a part of; "" for a plain member."""
    name, folder = device.node.name, f"/sys/block/{device.above}/md"
    if (state := texts.get(f"{folder}/dev-{name}/state")) is not None:
        last = texts.get(f"{folder}/level") == "raid4" and _is_last(folder, name, texts)
        slot = texts.get(f"{folder}/dev-{name}/slot", "")
        return role_of(state, slot) or ("parity" if last else "")  # RAID 4 keeps it all on its last disk
    if device.above.startswith("bcache"):
        return in_bcache.get(name, "")
    if name in pools.vdevs:
        return pools.vdevs[name][0].role
    part = lvm_name(device.node)
    return "" if part is None or part.role == "data" else part.role


def _inherited_role(tree: Tree, device: LocatedDevice, roles: Mapping[str, str]) -> str:
    """A physical volume below a cache is the cache; a disk of an array that is one is a plain member of it."""
    above = tree.nodes.get(device.above)
    return "" if above is None or lvm_name(above) is None else roles.get(device.above, "")


def _is_last(folder: str, name: str, texts: Mapping[str, str]) -> bool:
    slot, disks = texts.get(f"{folder}/dev-{name}/slot", ""), texts.get(f"{folder}/raid_disks", "").split(" ")[0]
    return slot.isdigit() and disks.isdigit() and int(slot) == int(disks) - 1


def _label(node: Node) -> str:
    """What a person calls it: the model of a disk, the name of a volume, the level of an array."""
    attributes = node.attributes
    return clean(attributes.get("device/model") or attributes.get("dm/name") or attributes.get("md/level") or "", 40)
