"""Caches above and below the device of a run. Their hit counters are read at its start, during it and at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.core.benchmark.device_stats.cache_counters import BCACHE as BCACHE_COUNTS
from app.core.benchmark.device_stats.cache_counters import CacheHitCounters, of_arc, of_bcache, parse_status, since
from app.core.session.results import CacheStats
from backends.errors import RaidbenchError
from backends.host import STALL, Command, Host
from backends.text import clean
from backends.topology.stacking import BCACHE, Cache, cache_of, is_volume, volume_shown
from backends.topology.tree import Node, Tree
from backends.values import dataclass

ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
"""File with the counters of the ZFS caches, for all pools together."""

STATUS = ("dmsetup", "status")
"""Command that reports the counters of all device-mapper targets. Needs root."""

SLOW_EVERY = 20
"""Number of member readings between two readings of `dmsetup` or arcstats: five seconds at four a second."""

LAGS = "no reads counted yet: the kernel updates the bcache counters only every 14 s"
"""Reason why a short run has no hit rate (drivers/md/bcache/stats.c: accounting_delay; measured as 13.6 s)."""


@dataclass(frozen=True, slots=True)
class CacheDevice:
    """A cache that counts its hits."""

    kind: str
    """`dm`, `bcache`, `arc`, `l2arc`."""
    key: str
    """Device-mapper name or kernel name of the cached device."""
    shown: str
    """Name of the cached device, as shown: `vg0/mail`, `bcache0`. `ARC` or `L2ARC` for ZFS."""


def caches_of(
    tree: Tree, names: Iterable[str], bcache: Mapping[str, str], *, zfs: bool = False
) -> tuple[CacheDevice, ...]:
    """Return the caches of the named devices, each once. No I/O.

    `bcache`: the devices that bcache uses, with their role (`cache` or `backing`). `zfs`: whether a target is in a
    ZFS pool.
    """
    nodes = [tree.nodes[name] for name in dict.fromkeys(names) if name in tree.nodes]
    cached = [(node, cache) for node in nodes if (cache := _cache(tree, node, bcache)) is not None]
    devices = [
        CacheDevice("dm", name, _shown(node))
        for node, cache in cached
        if cache.kind != BCACHE and (name := node.attributes.get("dm/name"))
    ]
    devices += [CacheDevice("bcache", node.name, _shown(node)) for node, cache in cached if cache.kind == BCACHE]
    if zfs or any(is_volume(node) for node in nodes):
        devices += [CacheDevice("arc", "arc", "ARC"), CacheDevice("l2arc", "l2arc", "L2ARC")]
    return tuple(devices)


def _cache(tree: Tree, node: Node, bcache: Mapping[str, str]) -> Cache | None:
    return cache_of(node.name, (tree.nodes[slave] for slave in node.slaves if slave in tree.nodes), bcache)


def _shown(node: Node) -> str:
    return volume_shown(node) or clean(node.attributes.get("dm/name", "")) or node.name


class CacheMeter:
    """Reads the hit counters of caches. Does no I/O if there are none."""

    def __init__(self, host: Host, caches: Sequence[CacheDevice]) -> None:
        self._host = host
        self._caches = tuple(caches)
        self._before: dict[CacheDevice, CacheHitCounters] = {}
        self._now: dict[CacheDevice, CacheHitCounters] = {}
        self._moved: dict[CacheDevice, CacheHitCounters] = {}
        self._why: dict[CacheDevice, str] = {}
        self._taken = 0

    async def begin(self) -> None:
        """Read the counters from which the hit rates are computed."""
        self._before, self._now, self._moved, self._taken = await self._read(self._caches), {}, {}, 0

    async def take(self) -> tuple[CacheStats, ...]:
        """Return hit rates since `begin`. The slow sources (`dmsetup`, arcstats) are read every `SLOW_EVERY` calls."""
        self._taken += 1
        self._note(
            await self._read(
                [cache for cache in self._caches if cache.kind == "bcache" or not self._taken % SLOW_EVERY]
            )
        )
        return self._figures() if self._now else ()

    async def total(self) -> tuple[CacheStats, ...]:
        """Read all counters, and return the hit rates since `begin`."""
        self._note(await self._read(self._caches))
        return self._figures()

    def _note(self, read: Mapping[CacheDevice, CacheHitCounters]) -> None:
        for cache, counts in read.items():
            if cache.kind == "bcache" and counts != self._now.get(cache, self._before.get(cache)):
                self._moved.setdefault(cache, counts)
            self._now[cache] = counts

    def _figures(self) -> tuple[CacheStats, ...]:
        pairs = [(cache, self._figure(cache)) for cache in self._caches]
        return tuple(stats for cache, stats in pairs if cache.kind != "l2arc" or stats.share_of_reads is not None)

    def _figure(self, cache: CacheDevice) -> CacheStats:
        before, now = self._before.get(cache), self._now.get(cache)
        if cache.kind == "bcache":  # counted in steps: start at the end of the step that began before the run
            before = self._moved.get(cache)
        done = CacheHitCounters() if before is None or now is None else since(before, now)
        reads, writes = _share(done.read_hits, done.reads), _share(done.write_hits, done.writes)
        why = self._why.get(cache, "") or (LAGS if cache.kind == "bcache" else "")
        if not why and None not in (before, now) and done.reads is None:
            why = "this kernel does not count its hits"
        return CacheStats(
            device=cache.shown,
            share_of_reads=reads,
            share_of_writes=writes,
            dirty=None if now is None else now.dirty,
            why_not=why if reads is None and writes is None else "",
        )

    async def _read(self, caches: Sequence[CacheDevice]) -> dict[CacheDevice, CacheHitCounters]:
        """Return the current counters by cache. A cache without counters is left out; `_why` then has the reason."""
        counters: dict[CacheDevice, CacheHitCounters] = {}
        kinds = {cache.kind for cache in caches}
        status, why = await self._status() if "dm" in kinds else ({}, "")
        arc = of_arc(await self._host.read(ARCSTATS) or "") if "arc" in kinds else (None, None)
        for cache in caches:
            match cache.kind:
                case "dm":
                    counts = status.get(cache.key)
                    self._why[cache] = why or ("dmsetup does not report it" if counts is None else "")
                case "bcache":
                    counts = await self._bcache(cache.key)
                case _:
                    counts = arc[cache.kind == "l2arc"]
                    self._why[cache] = "ZFS does not report it" if counts is None else ""
            if counts is not None:
                counters[cache] = counts
        return counters

    async def _bcache(self, name: str) -> CacheHitCounters | None:
        folder = f"/sys/block/{name}/bcache/stats_total"
        texts = await self._host.read_many([f"{folder}/{count}" for count in BCACHE_COUNTS])
        return of_bcache({path.rsplit("/", 1)[1]: text for path, text in texts.items()})

    async def _status(self) -> tuple[Mapping[str, CacheHitCounters], str]:
        tool = self._host.which(STATUS[:1])
        if tool is None:
            return {}, "dmsetup is not installed"
        try:
            done = await self._host.run(Command(argv=(tool, *STATUS[1:]), timeout=10, stall=STALL))
        except RaidbenchError as error:
            return {}, error.message.rstrip(".")
        if done.returncode:
            return {}, "dmsetup failed" if self._host.is_root else "dmsetup needs root"
        return parse_status(done.stdout), ""


def _share(part: int | None, total: int | None) -> float | None:
    return min(1.0, part / total) if total and part is not None else None
