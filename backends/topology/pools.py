"""Imported ZFS pools: which devices each is made of. sysfs does not know; `zpool status` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.text import clean
from backends.topology.mounts import Mount
from backends.topology.tree import Node, Tree, kernel_name, tree_of
from backends.values import dataclass

STATUS = ("zpool", "status", "-LP")
"""Devices by the paths of their nodes, links resolved (zpool-status(8)); needs no root."""

_IMPORTED = "/proc/spl/kstat/zfs/*/state"
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
        return tuple(name for name, uses in self.vdevs.items() if any(one.pool in wanted for one in uses))

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
    found: list[Vdev] = []
    pool, role, inside = "", "", False
    for line in text.split("\n"):
        front, colon, rest = line.strip().partition(":")
        words = line.split()
        if colon and front == "pool":
            pool, role, inside = rest.strip(), "", False
        elif colon and front in ("config", "errors"):
            inside = bool(pool) and front == "config"
        elif inside and len(words) == 1 and words[0] in _CLASSES:
            role = _CLASSES[words[0]]
        elif inside and words and words[0].startswith("/"):
            found.append(Vdev(pool=pool, path=words[0], role=role))
    return tuple(found)


async def read_pools(host: Host, tree: Tree) -> Pools:
    """The imported pools now; nothing is asked where there is none."""
    states = await host.list(_IMPORTED)
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
    tool = host.which(STATUS[:1])
    if tool is None:
        return None
    try:
        done = await host.run(Command(argv=(tool, *STATUS[1:]), timeout=5))
    except RaidbenchError:
        return None
    return parse_status(done.stdout) if done.returncode == 0 and not done.truncated else None


async def _by_node(host: Host, tree: Tree, vdevs: Iterable[Vdev]) -> dict[str, tuple[Vdev, ...]]:
    found: dict[str, tuple[Vdev, ...]] = {}
    for vdev in vdevs:
        name = kernel_name(vdev.path)
        if name not in tree.nodes:
            stat = await host.stat(vdev.path)
            node = tree.by_devno(stat.devno or "") if stat is not None else None
            name = node.name if node is not None else ""
        if name:
            found[name] = (*found.get(name, ()), vdev)
    return found


async def _volumes(host: Host, tree: Tree) -> dict[str, str]:
    if not any(is_volume(node) for node in tree.nodes.values()):
        return {}
    paths = [path for found in await asyncio.gather(*map(host.list, _ZVOLS)) for path in found]
    links = await asyncio.gather(*map(host.link, paths))
    found: dict[str, str] = {}
    for path, link in zip(paths, links, strict=True):
        name = (link or "").rsplit("/", 1)[-1]
        if name in tree.nodes:
            found[name] = path.removeprefix("/dev/zvol/")
    return found
