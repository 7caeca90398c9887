"""Layers on block devices: LVM names in device-mapper, Stratis, ZFS pools, bcache, and the role of each lower device.

LVM names a device `VG-LV` or `VG-LV-LAYER`, with every hyphen of VG and LV doubled, and gives it a UUID `LVM-...`
(lvm2: lib/misc/lvm-string.c, dm_build_dm_name). Internal volumes have a reserved ending (_lvname_has_reserved there).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from backends.host import Host
from backends.identity import Use
from backends.system.caching import cache_across_changes
from backends.text import clean
from backends.topology.mounts import Mount
from backends.topology.tree import Node, Tree, bytes_of, kernel_name, natural, read_node, run_tool, tree_of
from backends.values import dataclass

MARK = "LVM-"
"""Prefix of device-mapper UUIDs of logical volumes and their parts (lib/activate/dev_manager.c)."""

CACHE_ORIGIN, WRITECACHE_ORIGIN = "corig", "wcorig"
"""Endings of the origin of dm-cache and of a writecache (lvmcache(7))."""

_NAME = re.compile(r"((?:[^-]|--)+)-((?:[^-]|--)+)(?:-([a-z_]+))?")
_ENDING = re.compile(
    r"_(cdata|cmeta|corig|cpool|cvol|iorig|imeta|mlog|pmspare|rimage|rmeta|mimage|tdata|tmeta|vdata|vorigin|wcorig)"
    r"(?:_[0-9]+)?$"
)

_ROLES = (
    (("cmeta",), "cache metadata"),
    (("cdata", "cvol", "cpool"), "cache"),
    ((CACHE_ORIGIN, WRITECACHE_ORIGIN, "iorig", "real", "vorigin"), "origin"),
    (("tmeta", "rmeta", "imeta"), "metadata"),
    (("cow",), "snapshot"),
    (("mlog",), "log"),
    (("tdata", "vdata", "rimage", "mimage"), "data"),
)
"""Role of a part of a volume, by the endings of its name (`LvmName.endings`); the first match applies."""

_MOST = 4
"""Maximum number of volumes in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvmName:
    """Name of a logical volume or a part of one."""

    group: str
    """Volume group."""
    volume: str
    """Name without the endings of a part: `mail` of `mail_corig`. A cache has the name of its former volume.
    """
    endings: frozenset[str] = frozenset()
    """Endings of a part: `corig`, `rimage`, `real`; empty for a visible volume."""

    @property
    def shown(self) -> str:
        """Return the name for display: `vg0/mail`."""
        return clean(f"{self.group}/{self.volume}")

    @property
    def role(self) -> str:
        """Return the role of the part in its volume: `cache`, `cache metadata`, `origin`, `metadata`, `data`, ...; ""
        for a visible volume.
        """
        return next((word for endings, word in _ROLES if self.endings.intersection(endings)), "")


def lvm_name(node: Node) -> LvmName | None:
    """Return the LVM name of a device; None if the device does not belong to LVM."""
    parts = _NAME.fullmatch(node.attributes.get("dm/name", ""))
    if parts is None or not node.attributes.get("dm/uuid", "").startswith(MARK):
        return None
    volume, endings = parts[2].replace("--", "-"), {parts[3]} if parts[3] else set()
    while (ending := _ENDING.search(volume)) is not None:
        endings.add(ending[1])
        volume = volume[: ending.start()]
    return LvmName(group=parts[1].replace("--", "-"), volume=volume, endings=frozenset(endings))


def lvm_names_below(tree: Tree, node: Node) -> list[LvmName]:
    """Return the LVM names of the devices that a device is directly built on."""
    below = [tree.nodes[slave] for slave in node.slaves if slave in tree.nodes]
    return [name for lower in below if (name := lvm_name(lower)) is not None]


def lvm_texts(tree: Tree, node: Node) -> dict[str, str]:
    """Return, for each volume group that uses a device, a phrase that completes "X is ...".

    The key is the first holder of that group. Examples: `a physical volume of vg0 (cache of vg0/mail)`, `the origin of
    vg0/mail`.
    """
    node_name = lvm_name(node)
    groups: dict[str, dict[str, list[str]]] = {}
    first: dict[str, str] = {}
    for holder in sorted(node.holders, key=natural):
        above = tree.nodes.get(holder)
        name = lvm_name(above) if above is not None else None
        if above is None or name is None:
            continue
        role = (node_name if node_name is not None and node_name.group == name.group else name).role
        first.setdefault(name.group, holder)
        groups.setdefault(name.group, {}).setdefault("" if role == "data" else role, []).extend(
            _visible_volumes(tree, above)
        )
    return {first[group]: _volume_text(group, roles, node_name) for group, roles in groups.items()}


def lvm_holders(tree: Tree, node: Node) -> frozenset[str]:
    """Return the kernel names of those holders of a device that belong to LVM. Their uses are in `lvm_texts`."""
    named = ((holder, tree.nodes.get(holder)) for holder in node.holders)
    return frozenset(holder for holder, above in named if above is not None and lvm_name(above) is not None)


def _visible_volumes(tree: Tree, node: Node) -> list[str]:
    """Return the names of the visible volumes among the device `node` and the devices above it.

    If there is none, return the name of `node` only.
    """
    nodes = (node, *tree.above(node.name))
    names = [name for node in nodes if (name := lvm_name(node)) is not None]
    return [name.shown for name in names if not name.endings] or [names[0].shown]


def _volume_text(group: str, roles: dict[str, list[str]], node_name: LvmName | None) -> str:
    lines = [f"{role} of {_names_text(names)}" if role else _names_text(names) for role, names in sorted(roles.items())]
    if node_name is not None and node_name.group == group:
        return f"the {lines[0]}" if node_name.role and node_name.role != "data" else f"a part of {lines[0]}"
    return f"a physical volume of {clean(group)} ({', '.join(lines)})"


def _names_text(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _MOST} more" if len(unique) > _MOST else ""
    return ", ".join(unique[:_MOST]) + more


# -- Stratis: pools and filesystems by stratisd's device-mapper names -------------------------------------------------

_STRATIS = re.compile(r"stratis-1-(private-)?([0-9a-f]{32})-([a-z0-9-]{1,80})")
"""Names `stratis-1-POOL-thin-fs-FILESYSTEM`, `stratis-1-private-POOL-thinpool-pool`, `stratis-1-private-DISK-crypt`.

Source: stratisd, src/engine/strat_engine/names.rs.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratisName:
    """Parsed device-mapper name of a Stratis filesystem or of a part of a Stratis pool."""

    uuid: str
    """UUID of the pool; for an encrypted disk, UUID of that disk."""
    role: str
    """`thin-fs-UUID`, `thinpool-pool`, `physical-originsub`, `crypt`, ..."""
    private: bool
    """Whether it is an internal part of a pool."""

    @property
    def is_pool(self) -> bool:
        """Return whether the name is that of the thin pool in which a pool's filesystems allocate space."""
        return self.private and self.role == "thinpool-pool"


def stratis_name(node: Node) -> StratisName | None:
    """Return the Stratis name of a device; None if the device does not belong to Stratis."""
    parts = _STRATIS.fullmatch(node.attributes.get("dm/name", ""))
    return None if parts is None else StratisName(uuid=parts[2], role=parts[3], private=parts[1] is not None)


def stratis_pool(tree: Tree, node: Node) -> str:
    """Return the pool name of a Stratis device from udev's record of a filesystem, or else the UUID of the pool."""
    names = [
        relative.udev.get("STRATIS_POOL_NAME", "")
        for relative in (node, *tree.above(node.name), *tree.below(node.name))
    ]
    parts = [
        part for relative in (node, *tree.above(node.name)) if (part := stratis_name(relative)) and part.role != "crypt"
    ]
    return clean(next(filter(None, names), parts[0].uuid if parts else "")) or "of an unknown name"


def _stratis_text(tree: Tree, node: Node, holders: Iterable[str]) -> str | None:
    """Return the phrase that completes "X is ..." for a device of a Stratis pool; None for any other device."""
    stratis = stratis_name(node)
    above = (tree.nodes[holder] for holder in holders if holder in tree.nodes)
    parts = [node for node in above if (name := stratis_name(node)) is not None and name.private]
    if stratis is not None and stratis.private:
        return f"a part of the Stratis pool {stratis_pool(tree, node)}"
    return f"a part of the Stratis pool {stratis_pool(tree, parts[0])}" if parts else None


# -- imported ZFS pools and their devices, which `zpool status` reports and sysfs does not ----------------------------

STATUS = ("zpool", "status", "-LP")
"""Command that lists the devices of all pools by path, with links resolved (zpool-status(8)). It does not need root."""

IMPORTED = "/proc/spl/kstat/zfs/*/state"
"""One file per imported pool (OpenZFS 0.8 and later; module/zfs/spa_stats.c)."""

_CLASSES = {
    "logs": "log",
    "cache": "cache",
    "spares": "spare",
    "special": "special",
    "dedup": "dedup",
}
"""Role of the vdevs below each heading of `zpool status`, for vdevs without normal data (cmd/zpool/zpool_main.c:
print_logs and others).
"""

_ZVOLS = ("/dev/zvol/*/*", "/dev/zvol/*/*/*", "/dev/zvol/*/*/*/*", "/dev/zvol/*/*/*/*/*")
"""Patterns of the links to ZFS volumes, by pool and name (udev/rules.d/60-zvol.rules)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vdev:
    """A device that a pool uses."""

    pool: str
    """Name of the pool."""
    path: str
    """Path of the device node or file."""
    role: str = ""
    """`log`, `cache`, `spare`, `special`, `dedup`; "" for data."""

    @property
    def text(self) -> str:
        """Return the phrase that completes "X is ..."."""
        return f"part of the ZFS pool {clean(self.pool)}" + (f" ({self.role})" if self.role else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """All imported pools."""

    names: tuple[str, ...] = ()
    """Names of the pools."""
    known: bool = True
    """Whether the devices of the pools are known."""
    vdevs: Mapping[str, tuple[Vdev, ...]] = field(default_factory=dict)
    """Vdevs by kernel name of their device. A device has several vdevs if several pools share it as a spare."""
    volumes: Mapping[str, str] = field(default_factory=dict)
    """ZFS name of each volume (`tank/vm`), by kernel name (`zd0`)."""

    def devices(self, pools: Iterable[str]) -> tuple[str, ...]:
        """Return kernel names of the devices of these pools."""
        wanted = frozenset(pools)
        return tuple(name for name, uses in self.vdevs.items() if any(use.pool in wanted for use in uses))

    def of_volume(self, name: str) -> tuple[str, ...]:
        """Return the pool of the volume with this kernel name; all pools if its pool is not known."""
        return (self.volumes[name].split("/")[0],) if name in self.volumes else self.names

    def under(self, tree: Tree) -> Tree:
        """Return `tree` with the devices of each pool placed below the pool's volumes. sysfs does not show this."""
        if not self.vdevs:
            return tree
        return tree_of(
            replace(node, slaves=self.devices(self.of_volume(node.name))) if is_volume(node) else node
            for node in tree.nodes.values()
        )


def pool_of(mount: Mount) -> str | None:
    """Return the name of the ZFS pool of a mounted dataset; None for a mount of another filesystem."""
    return mount.source.split("/")[0] if mount.fstype == "zfs" else None


def is_volume(node: Node) -> bool:
    """Return whether the node is the block device of a ZFS volume."""
    return node.parent is None and node.name.startswith("zd") and node.name[2:].isdigit()


def parse_status(text: str) -> tuple[Vdev, ...]:
    """Return the devices of all pools in the output of `zpool status -LP`, in the printed order."""
    vdevs: list[Vdev] = []
    pool, role, inside = "", "", False
    for line in text.split("\n"):
        front, colon, rest = line.strip().partition(":")
        tokens = line.split()
        if colon and front == "pool":
            pool, role, inside = rest.strip(), "", False
        elif colon and front in ("config", "errors"):
            inside = bool(pool) and front == "config"
        elif inside and len(tokens) == 1 and tokens[0] in _CLASSES:
            role = _CLASSES[tokens[0]]
        elif inside and tokens and tokens[0].startswith("/"):
            vdevs.append(Vdev(pool=pool, path=tokens[0], role=role))
    return tuple(vdevs)


async def read_pools(host: Host, tree: Tree) -> Pools:
    """Return the imported pools. If there are none, no program is started."""
    states = await host.list(IMPORTED)
    if not states:
        return Pools()
    names = tuple(dict.fromkeys(path.split("/")[5] for path in states))
    with cache_across_changes():
        done = await run_tool(host, STATUS)
    vdevs = None if done is None else parse_status(done.stdout)
    missing = set(names) - {vdev.pool for vdev in vdevs or ()}
    return Pools(
        names=tuple(map(clean, names)),
        known=vdevs is not None and not missing,
        vdevs=await _by_node(host, tree, vdevs or ()),
        volumes=await _volumes(host, tree),
    )


async def _by_node(host: Host, tree: Tree, vdevs: Iterable[Vdev]) -> dict[str, tuple[Vdev, ...]]:
    by_name: dict[str, tuple[Vdev, ...]] = {}
    for vdev in vdevs:
        name = kernel_name(vdev.path)
        if name not in tree.nodes:
            stat = await host.stat(vdev.path)
            node = tree.by_devno(stat.devno or "") if stat is not None else None
            name = node.name if node is not None else ""
        if name:
            by_name[name] = (*by_name.get(name, ()), vdev)
    return by_name


async def _volumes(host: Host, tree: Tree) -> dict[str, str]:
    if not any(is_volume(node) for node in tree.nodes.values()):
        return {}
    paths = [path for group in await asyncio.gather(*map(host.list, _ZVOLS)) for path in group]
    links = await asyncio.gather(*map(host.link, paths))
    volumes: dict[str, str] = {}
    for path, link in zip(paths, links, strict=True):
        name = (link or "").rsplit("/", 1)[-1]
        if name in tree.nodes:
            volumes[name] = path.removeprefix("/dev/zvol/")
    return volumes


# -- role of a device in the layer above: physical volume, cache, backing device, disk of a container -----------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSignature:
    """Signature of a device that is part of an array, pool or group."""

    phrase: str
    """Phrase that completes "X holds ..." or "X is ..."."""
    verb: str = "holds"
    """Verb before `phrase`: `holds` or `is`."""
    labelled_phrase: str = ""
    """`phrase` with a placeholder for the label of the signature; "" if the label has no meaning."""
    remove: str
    """Programs that remove the signature."""
    layer: str = ""
    """Value of `Use.kind` that shows this membership while the array, pool or group is active."""

    def text(self, label: str | None) -> str:
        """Return the phrase that completes "X holds ..." or "X is ...", with the signature's label if there is one."""
        return self.labelled_phrase.format(label) if label and self.labelled_phrase else self.phrase


SET = MemberSignature(verb="is", phrase="a member of a RAID or multipath set", remove="mdadm --zero-superblock, wipefs")
"""Meaning of the signature of a member of an array or container, or of a path of a multipath device."""

_PV = MemberSignature(
    layer="lvm", phrase="a physical volume", labelled_phrase="a physical volume of {}", remove="pvremove"
)

MARKS = {
    "LVM2_member": _PV,
    "LVM1_member": _PV,
    "bcache": MemberSignature(layer="bcache", phrase="a backing or cache device of bcache", remove="wipefs"),
    "zfs_member": MemberSignature(
        layer="zfs",
        phrase="a part of a ZFS pool",
        labelled_phrase="a part of the ZFS pool {}",
        remove="zpool labelclear",
    ),
    "isw_raid_member": replace(SET, layer="md"),
    "ddf_raid_member": replace(SET, layer="md"),
    "mpath_member": SET,
    "ceph_bluestore": MemberSignature(phrase="a part of a Ceph cluster", remove="ceph-volume lvm zap"),
    "drbd": SET,
    "stratis": MemberSignature(layer="stratis", phrase="a part of a Stratis pool", remove="wipefs"),
    "VMFS_volume_member": MemberSignature(phrase="a part of a VMFS volume", remove="wipefs"),
}
"""Meaning of the signatures of devices that are part of an array, pool or group, by libblkid's TYPE."""


def mark_of(kind: str) -> MemberSignature | None:
    """Return the meaning of a signature that makes a device part of an array, pool or group.

    None for others, such as a filesystem.
    """
    return MARKS.get(kind) or (SET if kind.endswith("_raid_member") else None)


def layer_uses(
    tree: Tree, bcache: Mapping[str, str], pools: Pools, node: Node, part: str | None, ours: Collection[str]
) -> Iterator[Use]:
    """Yield the uses of `node` by LVM, Stratis, md, bcache, ZFS and other holders.

    Holders in `ours` (kernel names) do not count.
    """
    built = replace(node, holders=tuple(holder for holder in node.holders if holder not in ours))
    for text in lvm_texts(tree, built).values():
        yield Use(kind="lvm", detail=text, part=part)
    names = lvm_holders(tree, built)
    if (pool := _stratis_text(tree, node, built.holders)) is not None:
        yield Use(kind="stratis", detail=pool, part=part)
        above = [tree.nodes[holder] for holder in built.holders if holder in tree.nodes]
        names |= frozenset(holder.name for holder in above if stratis_name(holder) is not None)
    for holder in built.holders:
        if holder not in names:
            yield _holder_use(tree, bcache.get(node.name), holder, part)
    if not node.holders and node.name in bcache:
        detail = {
            "cache": "a cache device of bcache, of a set without a backing device",
            "backing": "the backing device of a bcache device that is not running",
        }[bcache[node.name]]
        yield Use(kind="bcache", detail=detail, part=part)
    for vdev in pools.vdevs.get(node.name, ()):
        yield Use(kind="zfs", detail=vdev.text, part=part)


def _holder_use(tree: Tree, in_bcache: str | None, holder: str, part: str | None) -> Use:
    above = tree.nodes.get(holder)
    if in_bcache is not None and holder.startswith("bcache"):
        return Use(kind="bcache", detail=f"the {in_bcache} device of {clean(holder)}", part=part)
    if above is not None and (kind := container_kind(above)) is not None:
        return Use(kind="md", detail=f"a disk of the container {above.device} ({kind})", part=part)
    shown = above.shown if above is not None else f"/dev/{clean(holder)}"
    return Use(kind="holder", detail=f"{shown} is built on it", part=part)


def container_kind(node: Node) -> str | None:
    """Return the kind of metadata of an md container (`imsm`, `ddf`, ...); None for other devices.

    The metadata version of a container is `external:imsm`, that of a volume in it `external:/md127/0` (drivers/md/md.c:
    metadata_show).
    """
    front, colon, kind = node.attributes.get("md/metadata_version", "").partition(":")
    return clean(kind, 16) if front == "external" and colon and kind[:1] not in ("/", "-") else None


async def read_bcache(host: Host) -> dict[str, str]:
    """Return the role of each bcache disk, `cache` or `backing`, by kernel name.

    Detached and stopped disks are included. A cache device has a link to its set, a backing device a file `running`
    (drivers/md/bcache: super.c, sysfs.c).
    """
    if not await host.list("/sys/fs/bcache/register"):
        return {}
    patterns = [f"/sys/block/{depth}/bcache/{name}" for name in ("running", "set") for depth in ("*", "*/*")]
    roles: dict[str, str] = {}
    for paths in await asyncio.gather(*map(host.list, patterns)):
        for path in paths:
            name = path.split("/")[-3]
            if not name.startswith("bcache"):  # /sys/block/bcache0/bcache is a link to the backing disk's folder
                roles[name] = "cache" if path.endswith("/set") else "backing"
    return roles


def volume_shown(node: Node) -> str | None:
    """Return the displayed name of a layered device: `vg0/mail`, `md3`, `bcache0`; None for a part of a volume."""
    name = lvm_name(node)
    if name is not None:
        return None if name.endings else name.shown
    if container_kind(node) is not None:
        return f"the container {node.name}"
    if (part := stratis_name(node)) is not None:
        names = node.udev.get("STRATIS_POOL_NAME", ""), node.udev.get("STRATIS_FS_NAME", "")
        return None if part.private else f"stratis/{clean('/'.join(names))}" if all(names) else f"stratis/{part.uuid}"
    return clean(node.attributes.get("dm/name", "")) or node.name.replace("!", "/")


# -- cache devices, by LVM's names and bcache's roles ------------------------------------------------------------------

DM_CACHE, WRITECACHE, BCACHE = "dm-cache", "writecache", "bcache"
"""Values of `Cache.kind`."""

_CACHE_KINDS = {CACHE_ORIGIN: DM_CACHE, WRITECACHE_ORIGIN: WRITECACHE}
"""Kind of cache, by the ending that LVM gives to the name of the slow volume behind the cache (lvmcache(7))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Cache in front of a slow device."""

    kind: str
    """`DM_CACHE`, `WRITECACHE` or `BCACHE`."""
    parts: tuple[Node, ...]
    """Devices with cached data, without metadata devices."""

    @property
    def size_bytes(self) -> int | None:
        """Return the total capacity of the cache in bytes; None if the size of a part is unknown."""
        sizes = [part.size_bytes for part in self.parts]
        return sum(filter(None, sizes)) if sizes and None not in sizes else None


def cache_of(name: str, under: Iterable[Node], bcache: Mapping[str, str]) -> Cache | None:
    """Return the cache of the device `name`, or None. `under`: all devices below it.

    `bcache`: the result of `read_bcache`. No I/O.
    """
    parts = tuple(under)
    if name.startswith("bcache"):
        caches = tuple(part for part in parts if bcache.get(part.name) == "cache")
        return Cache(kind=BCACHE, parts=caches) if caches else None
    named = [(part, part_name) for part in parts if (part_name := lvm_name(part)) is not None]
    kind = next(
        (kind for _, part_name in named for ending, kind in _CACHE_KINDS.items() if ending in part_name.endings), None
    )
    return (
        None
        if kind is None
        else Cache(kind=kind, parts=tuple(part for part, part_name in named if part_name.role == "cache"))
    )


async def read_cache(host: Host, disk: str) -> Cache | None:
    """Read the devices below the disk with this kernel name, and return the cache of the disk, or None."""
    if not disk.startswith(("dm-", "bcache")):
        return None
    names = sorted(path.rpartition("/")[2] for path in await host.list(f"/sys/block/{disk}/slaves/*"))
    nodes = await asyncio.gather(*(_read_part(host, name) for name in names))
    bcache = await read_bcache(host) if disk.startswith("bcache") else {}
    return cache_of(disk, nodes, bcache)


async def _read_part(host: Host, name: str) -> Node:
    """Return the disk or partition with this kernel name. The sysfs folder of a partition is below that of its disk."""
    if (node := await read_node(host, name)) is not None:
        return node
    texts = await host.read_many(await host.list(f"/sys/block/*/{name}/size"))
    return Node(name=name, devno=None, size_bytes=bytes_of(next(iter(texts.values()), None)))
