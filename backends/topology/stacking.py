"""What layers make of block devices: LVM by the names it gives device-mapper, imported ZFS pools, and what a device
is to the layer that has it.

LVM: name `VG-LV` or `VG-LV-LAYER` with every hyphen of VG and LV doubled, UUID `LVM-...` (lvm2: lib/misc/lvm-
string.c, dm_build_dm_name). What is not for users has one of the reserved endings (lib/misc/lvm-string.c,
_lvname_has_reserved).
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
"""With what device-mapper's UUIDs of volumes and their parts begin (lib/activate/dev_manager.c)."""

CACHE_ORIGIN, WRITECACHE_ORIGIN = "corig", "wcorig"
"""Endings of what is cached by dm-cache, or by a writecache (lvmcache(7))."""

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
"""What a part is for, by its endings and layer; the first that applies."""

_MOST = 4
"""Volumes that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvmName:
    """A volume, or a part of one."""

    group: str
    """Its volume group."""
    volume: str
    """Without what marks a part: `mail` of `mail_corig`; a cache's own name is its volume's before it was one."""
    endings: frozenset[str] = frozenset()
    """What marks it as a part: `corig`, `rimage`, `real`; empty for a volume that users see."""

    @property
    def shown(self) -> str:
        """`vg0/mail`."""
        return clean(f"{self.group}/{self.volume}")

    @property
    def role(self) -> str:
        """`cache`, `cache metadata`, `origin`, `metadata`, `data`, ...; "" for what users see."""
        return next((word for endings, word in _ROLES if self.endings.intersection(endings)), "")


def lvm_name(node: Node) -> LvmName | None:
    """What LVM calls a device; None for one that is not its own."""
    parts = _NAME.fullmatch(node.attributes.get("dm/name", ""))
    if parts is None or not node.attributes.get("dm/uuid", "").startswith(MARK):
        return None
    volume, endings = parts[2].replace("--", "-"), {parts[3]} if parts[3] else set()
    while (ending := _ENDING.search(volume)) is not None:
        endings.add(ending[1])
        volume = volume[: ending.start()]
    return LvmName(group=parts[1].replace("--", "-"), volume=volume, endings=frozenset(endings))


def lvm_names_below(tree: Tree, node: Node) -> list[LvmName]:
    """Return what LVM calls the devices that a device is directly built on, of those that are its own."""
    below = [tree.nodes[slave] for slave in node.slaves if slave in tree.nodes]
    return [name for lower in below if (name := lvm_name(lower)) is not None]


def lvm_words(tree: Tree, node: Node) -> dict[str, str]:
    """What completes "X is ..." for what LVM built on a device, each with the first holder that shows it.

    `a physical volume of vg0 (cache of vg0/mail)`, `the origin of vg0/mail`.
    """
    own = lvm_name(node)
    groups: dict[str, dict[str, list[str]]] = {}
    first: dict[str, str] = {}
    for holder in sorted(node.holders, key=natural):
        above = tree.nodes.get(holder)
        name = lvm_name(above) if above is not None else None
        if above is None or name is None:
            continue
        role = (own if own is not None and own.group == name.group else name).role
        first.setdefault(name.group, holder)
        groups.setdefault(name.group, {}).setdefault("" if role == "data" else role, []).extend(
            _visible_volumes(tree, above)
        )
    return {first[group]: _volume_text(group, roles, own) for group, roles in groups.items()}


def lvm_holders(tree: Tree, node: Node) -> frozenset[str]:
    """Those of its holders that `lvm_words` tells of."""
    named = ((holder, tree.nodes.get(holder)) for holder in node.holders)
    return frozenset(holder for holder, above in named if above is not None and lvm_name(above) is not None)


def _visible_volumes(tree: Tree, node: Node) -> list[str]:
    """Volumes that users see: the device itself, or those above it; its own name where none is active."""
    nodes = (node, *tree.above(node.name))
    names = [name for node in nodes if (name := lvm_name(node)) is not None]
    return [name.shown for name in names if not name.endings] or [names[0].shown]


def _volume_text(group: str, roles: dict[str, list[str]], own: LvmName | None) -> str:
    lines = [f"{role} of {_listed(names)}" if role else _listed(names) for role, names in sorted(roles.items())]
    if own is not None and own.group == group:
        return f"the {lines[0]}" if own.role and own.role != "data" else f"a part of {lines[0]}"
    return f"a physical volume of {clean(group)} ({', '.join(lines)})"


def _listed(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    more = f" and {len(once) - _MOST} more" if len(once) > _MOST else ""
    return ", ".join(once[:_MOST]) + more


# -- Stratis: pools and filesystems by the names that stratisd gives device-mapper ------------------------------------

_STRATIS = re.compile(r"stratis-1-(private-)?([0-9a-f]{32})-([a-z0-9-]{1,80})")
"""`stratis-1-POOL-thin-fs-FILESYSTEM`, `stratis-1-private-POOL-thinpool-pool`, `stratis-1-private-DISK-crypt`
(stratisd: src/engine/strat_engine/names.rs)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratisName:
    """A filesystem of Stratis, or a part of a pool."""

    uuid: str
    """That of the pool; of an encrypted disk its own."""
    role: str
    """`thin-fs-UUID`, `thinpool-pool`, `physical-originsub`, `crypt`, ..."""
    private: bool
    """Whether it is a part of a pool that is not for users."""

    @property
    def is_pool(self) -> bool:
        """Return whether it is what the filesystems of a pool take their space from."""
        return self.private and self.role == "thinpool-pool"


def stratis_name(node: Node) -> StratisName | None:
    """Return what Stratis calls a device; None for one that is not its own."""
    parts = _STRATIS.fullmatch(node.attributes.get("dm/name", ""))
    return None if parts is None else StratisName(uuid=parts[2], role=parts[3], private=parts[1] is not None)


def stratis_pool(tree: Tree, node: Node) -> str:
    """Return the name of the pool of a device of Stratis, which udev knows of its filesystems; else its UUID."""
    names = [
        relative.udev.get("STRATIS_POOL_NAME", "")
        for relative in (node, *tree.above(node.name), *tree.below(node.name))
    ]
    own = [
        part for relative in (node, *tree.above(node.name)) if (part := stratis_name(relative)) and part.role != "crypt"
    ]
    return clean(next(filter(None, names), own[0].uuid if own else "")) or "of an unknown name"


def _stratis_text(tree: Tree, node: Node, holders: Iterable[str]) -> str | None:
    """Return what completes "X is ..." for a part of a pool; None for anything else."""
    own = stratis_name(node)
    above = (tree.nodes[holder] for holder in holders if holder in tree.nodes)
    parts = [node for node in above if (name := stratis_name(node)) is not None and name.private]
    if own is not None and own.private:
        return f"a part of the Stratis pool {stratis_pool(tree, node)}"
    return f"a part of the Stratis pool {stratis_pool(tree, parts[0])}" if parts else None


# -- imported ZFS pools: which devices each is made of. sysfs does not know; `zpool status` does ----------------------

STATUS = ("zpool", "status", "-LP")
"""Devices by the paths of their nodes, links resolved (zpool-status(8)); needs no root."""

IMPORTED = "/proc/spl/kstat/zfs/*/state"
"""One for every imported pool (OpenZFS 0.8 and later; module/zfs/spa_stats.c)."""

_CLASSES = {
    "logs": "log",
    "cache": "cache",
    "spares": "spare",
    "special": "special",
    "dedup": "dedup",
}
"""Headings of a pool's parts that do not hold its data as any other (cmd/zpool/zpool_main.c: print_logs and others)."""

_ZVOLS = ("/dev/zvol/*/*", "/dev/zvol/*/*/*", "/dev/zvol/*/*/*/*", "/dev/zvol/*/*/*/*/*")
"""Links to volumes, by pool and name (udev/rules.d/60-zvol.rules)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vdev:
    """A device that a pool uses."""

    pool: str
    """Name of the pool."""
    path: str
    """Its node, or a file."""
    role: str = ""
    """`log`, `cache`, `spare`, `special`, `dedup`; "" for one that holds data."""

    @property
    def words(self) -> str:
        """What completes "X is ..."."""
        return f"part of the ZFS pool {clean(self.pool)}" + (f" ({self.role})" if self.role else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """All pools that are imported."""

    names: tuple[str, ...] = ()
    """Their names."""
    known: bool = True
    """Whether their devices are known."""
    vdevs: Mapping[str, tuple[Vdev, ...]] = field(default_factory=dict)
    """By kernel name of a device, what it is in which pools: a spare may be shared."""
    volumes: Mapping[str, str] = field(default_factory=dict)
    """By kernel name of a volume (`zd0`), its name: `tank/vm`."""

    def devices(self, pools: Iterable[str]) -> tuple[str, ...]:
        """Kernel names of what these pools are made of."""
        wanted = frozenset(pools)
        return tuple(name for name, uses in self.vdevs.items() if any(use.pool in wanted for use in uses))

    def of_volume(self, name: str) -> tuple[str, ...]:
        """The pool that a volume lies in; all of them where that is not known."""
        return (self.volumes[name].split("/")[0],) if name in self.volumes else self.names

    def under(self, tree: Tree) -> Tree:
        """The tree with the devices of their pools below the volumes, which the kernel does not tell."""
        if not self.vdevs:
            return tree
        return tree_of(
            replace(node, slaves=self.devices(self.of_volume(node.name))) if is_volume(node) else node
            for node in tree.nodes.values()
        )


def pool_of(mount: Mount) -> str | None:
    """The pool that a mounted dataset lies in; a mount's source is its name. None of any other filesystem."""
    return mount.source.split("/")[0] if mount.fstype == "zfs" else None


def is_volume(node: Node) -> bool:
    """Whether it is the block device of a ZFS volume."""
    return node.parent is None and node.name.startswith("zd") and node.name[2:].isdigit()


def parse_status(text: str) -> tuple[Vdev, ...]:
    """Every device of every pool that `zpool status -LP` lists. The order of the lines is all there is to go by."""
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
    """The imported pools now; nothing is asked where there is none."""
    states = await host.list(IMPORTED)
    if not states:
        return Pools()
    names = tuple(dict.fromkeys(path.split("/")[5] for path in states))
    vdevs = await _status(host)
    missing = set(names) - {vdev.pool for vdev in vdevs or ()}
    return Pools(
        names=tuple(map(clean, names)),
        known=vdevs is not None and not missing,
        vdevs=await _by_node(host, tree, vdevs or ()),
        volumes=await _volumes(host, tree),
    )


async def _status(host: Host) -> tuple[Vdev, ...] | None:
    with cache_across_changes():
        done = await run_tool(host, STATUS)
    return None if done is None else parse_status(done.stdout)


async def _by_node(host: Host, tree: Tree, vdevs: Iterable[Vdev]) -> dict[str, tuple[Vdev, ...]]:
    matches: dict[str, tuple[Vdev, ...]] = {}
    for vdev in vdevs:
        name = kernel_name(vdev.path)
        if name not in tree.nodes:
            stat = await host.stat(vdev.path)
            node = tree.by_devno(stat.devno or "") if stat is not None else None
            name = node.name if node is not None else ""
        if name:
            matches[name] = (*matches.get(name, ()), vdev)
    return matches


async def _volumes(host: Host, tree: Tree) -> dict[str, str]:
    if not any(is_volume(node) for node in tree.nodes.values()):
        return {}
    paths = [path for links_found in await asyncio.gather(*map(host.list, _ZVOLS)) for path in links_found]
    links = await asyncio.gather(*map(host.link, paths))
    matches: dict[str, str] = {}
    for path, link in zip(paths, links, strict=True):
        name = (link or "").rsplit("/", 1)[-1]
        if name in tree.nodes:
            matches[name] = path.removeprefix("/dev/zvol/")
    return matches


# -- what a device is to the layer that has it: physical volume, cache, backing device, disk of a container -----------


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSignature:
    """A signature of what is a part of something bigger."""

    words: str
    """What completes "X holds ...", or "X is ..."."""
    verb: str = "holds"
    """Which of the two."""
    named: str = ""
    """The same with the name of what it is a part of, where the signature's label has it."""
    remove: str
    """Programs that take the mark away."""
    layer: str = ""
    """The kind of use that tells of it while it is in use."""

    def text(self, label: str | None) -> str:
        """Return what completes "X holds ...", with a name if there is one."""
        return self.named.format(label) if label and self.named else self.words


HELD = ("holder", "lvm", "bcache", "md", "stratis")
"""Kinds of use that say what is built on a device."""

SET = MemberSignature(verb="is", words="a member of a RAID or multipath set", remove="mdadm --zero-superblock, wipefs")
"""Of an array, a container or a path: such a signature says which."""

_PV = MemberSignature(layer="lvm", words="a physical volume", named="a physical volume of {}", remove="pvremove")

MARKS = {
    "LVM2_member": _PV,
    "LVM1_member": _PV,
    "bcache": MemberSignature(layer="bcache", words="a backing or cache device of bcache", remove="wipefs"),
    "zfs_member": MemberSignature(
        layer="zfs", words="a part of a ZFS pool", named="a part of the ZFS pool {}", remove="zpool labelclear"
    ),
    "isw_raid_member": replace(SET, layer="md"),
    "ddf_raid_member": replace(SET, layer="md"),
    "mpath_member": SET,
    "ceph_bluestore": MemberSignature(words="a part of a Ceph cluster", remove="ceph-volume lvm zap"),
    "drbd": SET,
    "stratis": MemberSignature(layer="stratis", words="a part of a Stratis pool", remove="wipefs"),
    "VMFS_volume_member": MemberSignature(words="a part of a VMFS volume", remove="wipefs"),
}
"""What libblkid's TYPE says of a part of something bigger."""


def mark_of(kind: str) -> MemberSignature | None:
    """What a signature marks, in use or not, which claims it again at the next chance; None for what stands alone."""
    return MARKS.get(kind) or (SET if kind.endswith("_raid_member") else None)


def layer_uses(
    tree: Tree, bcache: Mapping[str, str], pools: Pools, node: Node, part: str | None, ours: Collection[str]
) -> Iterator[Use]:
    """What has a device, each layer by its own name; what is built on it by one of `ours` is left out."""
    built = replace(node, holders=tuple(holder for holder in node.holders if holder not in ours))
    for text in lvm_words(tree, built).values():
        yield Use(kind="lvm", detail=text, part=part)
    names = lvm_holders(tree, built)
    if (pool := _stratis_text(tree, node, built.holders)) is not None:
        yield Use(kind="stratis", detail=pool, part=part)
        names |= frozenset(holder for holder in built.holders if _is_of_stratis(tree, holder))
    for holder in built.holders:
        if holder not in names:
            yield _holder_use(tree, bcache.get(node.name), holder, part)
    if not node.holders and node.name in bcache:
        detail = {
            "cache": "a cache device of bcache, of a set without a backing device",
            "backing": "the backing device of a bcache device that does not run",
        }[bcache[node.name]]
        yield Use(kind="bcache", detail=detail, part=part)
    for vdev in pools.vdevs.get(node.name, ()):
        yield Use(kind="zfs", detail=vdev.words, part=part)


def _is_of_stratis(tree: Tree, name: str) -> bool:
    return name in tree.nodes and stratis_name(tree.nodes[name]) is not None


def _holder_use(tree: Tree, in_bcache: str | None, holder: str, part: str | None) -> Use:
    above = tree.nodes.get(holder)
    if in_bcache is not None and holder.startswith("bcache"):
        return Use(kind="bcache", detail=f"the {in_bcache} device of {clean(holder)}", part=part)
    if above is not None and (kind := container_kind(above)) is not None:
        return Use(kind="md", detail=f"a disk of the container {above.device} ({kind})", part=part)
    shown = above.shown if above is not None else f"/dev/{clean(holder)}"
    return Use(kind="holder", detail=f"{shown} is built on it", part=part)


def container_kind(node: Node) -> str | None:
    """`imsm`, `ddf`: of an md device that is a container of such disks; None of anything else.

    A container reads `external:imsm`, a volume in it `external:/md127/0` (drivers/md/md.c: metadata_show).
    """
    front, colon, kind = node.attributes.get("md/metadata_version", "").partition(":")
    return clean(kind, 16) if front == "external" and colon and kind[:1] not in ("/", "-") else None


async def read_bcache(host: Host) -> dict[str, str]:
    """By kernel name, the devices that bcache has: `cache` or `backing`, attached, running or not.

    Below a cache device is a link to its set, below a backing one `running` (drivers/md/bcache: super.c, sysfs.c).
    """
    if not await host.list("/sys/fs/bcache/register"):
        return {}
    patterns = [f"/sys/block/{depth}/bcache/{name}" for name in ("running", "set") for depth in ("*", "*/*")]
    matches: dict[str, str] = {}
    for paths in await asyncio.gather(*map(host.list, patterns)):
        for path in paths:
            name = path.split("/")[-3]
            if not name.startswith("bcache"):  # which links to its backing device's folder
                matches[name] = "cache" if path.endswith("/set") else "backing"
    return matches


def volume_shown(node: Node) -> str | None:
    """What people call something built on disks: `vg0/mail`, `md3`, `bcache0`; None for a part of a volume."""
    name = lvm_name(node)
    if name is not None:
        return None if name.endings else name.shown
    if container_kind(node) is not None:
        return f"the container {node.name}"
    if (part := stratis_name(node)) is not None:
        names = node.udev.get("STRATIS_POOL_NAME", ""), node.udev.get("STRATIS_FS_NAME", "")
        return None if part.private else f"stratis/{clean('/'.join(names))}" if all(names) else f"stratis/{part.uuid}"
    return clean(node.attributes.get("dm/name", "")) or node.name.replace("!", "/")


# -- the cache before a device: which of its parts it is, as LVM and bcache mark them ---------------------------------

DM_CACHE, WRITECACHE, BCACHE = "dm-cache", "writecache", "bcache"
"""Kinds."""

_CACHE_KINDS = {CACHE_ORIGIN: DM_CACHE, WRITECACHE_ORIGIN: WRITECACHE}
"""By what LVM calls the slow part (lvmcache(7))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """What stands before the slow part of a device."""

    kind: str
    """One of the kinds above."""
    parts: tuple[Node, ...]
    """The devices that hold what is cached, metadata left out."""

    @property
    def size_bytes(self) -> int | None:
        """What it may hold; None if one of its parts does not tell."""
        sizes = [part.size_bytes for part in self.parts]
        return sum(filter(None, sizes)) if sizes and None not in sizes else None


def cache_of(name: str, under: Iterable[Node], bcache: Mapping[str, str]) -> Cache | None:
    """The cache of a device, by its kernel name and what it lies on; None where it has none. Pure.

    `bcache`: what bcache has as `cache` or `backing` device, as `read_bcache` tells.
    """
    parts = tuple(under)
    if name.startswith("bcache"):
        caches = tuple(part for part in parts if bcache.get(part.name) == "cache")
        return Cache(kind=BCACHE, parts=caches) if caches else None
    named = [(part, own) for part in parts if (own := lvm_name(part)) is not None]
    kind = next((kind for _, own in named for ending, kind in _CACHE_KINDS.items() if ending in own.endings), None)
    return None if kind is None else Cache(kind=kind, parts=tuple(part for part, own in named if own.role == "cache"))


async def read_cache(host: Host, disk: str) -> Cache | None:
    """The same of a disk by its kernel name, at the price of reading what it lies on."""
    if not disk.startswith(("dm-", "bcache")):
        return None
    names = sorted(path.rpartition("/")[2] for path in await host.list(f"/sys/block/{disk}/slaves/*"))
    nodes = await asyncio.gather(*(_read_part(host, name) for name in names))
    bcache = await read_bcache(host) if disk.startswith("bcache") else {}
    return cache_of(disk, nodes, bcache)


async def _read_part(host: Host, name: str) -> Node:
    """A disk, or a partition, which has its folder below that of its disk."""
    if (node := await read_node(host, name)) is not None:
        return node
    texts = await host.read_many(await host.list(f"/sys/block/*/{name}/size"))
    return Node(name=name, devno=None, size_bytes=bytes_of(next(iter(texts.values()), None)))
