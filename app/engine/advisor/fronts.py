"""What stands before a device and may answer for it: a cache of the kernel's, or the memory of ZFS."""

from __future__ import annotations

from backends.host import Host
from backends.text import clean
from backends.values import dataclass

ARC, DM_CACHE, WRITECACHE, BCACHE = "arc", "dm-cache", "writecache", "bcache"
"""Kinds."""

_SECTOR = 512
_ARCSTATS, _VERSION = "/proc/spl/kstat/zfs/arcstats", "/sys/module/zfs/version"
_DIRECT_SINCE = (2, 3)
"""OpenZFS from which direct I/O passes by the ARC (zfsprops(7), `direct`)."""

_WORDS = {
    ARC: "ZFS's cache in memory (ARC)",
    DM_CACHE: "the dm-cache",
    WRITECACHE: "the writecache",
    BCACHE: "the cache of bcache",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontCache:
    """A cache before a device."""

    kind: str
    """One of the kinds above."""
    size_bytes: int | None = None
    """What it may hold."""
    passed_by: bool = False
    """Whether direct I/O does not go through it."""

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return _WORDS[self.kind]


async def front_of(host: Host, disk: str | None, *, on_zfs: bool) -> FrontCache | None:
    """The cache before a disk, by its kernel name; `on_zfs`: for a file on a dataset. None where there is none."""
    if on_zfs or (disk or "").startswith("zd"):
        return await _arc(host)
    if disk is None or not disk.startswith(("dm-", "bcache")):
        return None
    parts = {path.rpartition("/")[2] for path in await host.list(f"/sys/block/{disk}/slaves/*")}
    return await (_bcache if disk.startswith("bcache") else _lvm)(host, sorted(parts))


async def _arc(host: Host) -> FrontCache:
    texts = await host.read_many((_ARCSTATS, _VERSION))
    rows = [line.split() for line in texts.get(_ARCSTATS, "").splitlines()]
    most = next((int(row[2]) for row in rows if len(row) == 3 and row[0] == "c_max" and row[2].isdigit()), None)
    version = clean(texts.get(_VERSION, ""), 40).split("-")[0].split(".")
    known = tuple(int(part) for part in version[:2] if part.isdigit())
    return FrontCache(kind=ARC, size_bytes=most, passed_by=known >= _DIRECT_SINCE)


async def _bcache(host: Host, parts: list[str]) -> FrontCache | None:
    """Only a cache device has a set."""
    caches = [one for one in parts if await host.list(f"/sys/block/{one}/bcache/set")]
    return FrontCache(kind=BCACHE, size_bytes=await _sizes(host, caches)) if caches else None


async def _lvm(host: Host, parts: list[str]) -> FrontCache | None:
    """LVM's names tell what its hidden volumes are for (lvmcache(7))."""
    names = await host.read_many([f"/sys/block/{one}/dm/name" for one in parts])
    ends = {one: names.get(f"/sys/block/{one}/dm/name", "").strip().rpartition("_")[2] for one in parts}
    for kind, slow, fast in ((DM_CACHE, "corig", ("cvol-cdata", "cdata")), (WRITECACHE, "wcorig", ("cvol",))):
        if slow in ends.values():
            return FrontCache(
                kind=kind, size_bytes=await _sizes(host, [one for one, end in ends.items() if end in fast])
            )
    return None


async def _sizes(host: Host, disks: list[str]) -> int | None:
    texts = await host.read_many([f"/sys/block/{one}/size" for one in disks])
    counts = [int(text) for text in texts.values() if text.strip().isdigit()]
    return sum(counts) * _SECTOR if counts and len(counts) == len(disks) else None
