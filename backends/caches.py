"""The cache before a device: which of its parts it is, as LVM and bcache mark them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from backends.host import Host
from backends.topology.stacking import CACHE_ORIGIN, WRITECACHE_ORIGIN, lvm_name, read_bcache
from backends.topology.tree import Node, bytes_of, read_node
from backends.values import dataclass

DM_CACHE, WRITECACHE, BCACHE = "dm-cache", "writecache", "bcache"
"""Kinds."""

_KINDS = {CACHE_ORIGIN: DM_CACHE, WRITECACHE_ORIGIN: WRITECACHE}
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
    kind = next((kind for _, own in named for ending, kind in _KINDS.items() if ending in own.endings), None)
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
