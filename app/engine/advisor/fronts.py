"""What stands before a device and may answer for it: a cache of the kernel's, or the memory of ZFS."""

from __future__ import annotations

from backends.caches import BCACHE, DM_CACHE, WRITECACHE, read_cache
from backends.host import Host
from backends.text import clean
from backends.values import dataclass

ARC = "arc"
"""The kind of ZFS's memory; `backends.caches` has the others."""

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
    """`arc`, or one of the kinds of `backends.caches`."""
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
    cache = None if disk is None else await read_cache(host, disk)
    return None if cache is None else FrontCache(kind=cache.kind, size_bytes=cache.size_bytes)


async def _arc(host: Host) -> FrontCache:
    texts = await host.read_many((_ARCSTATS, _VERSION))
    rows = [line.split() for line in texts.get(_ARCSTATS, "").splitlines()]
    most = next((int(row[2]) for row in rows if len(row) == 3 and row[0] == "c_max" and row[2].isdigit()), None)
    version = clean(texts.get(_VERSION, ""), 40).split("-")[0].split(".")
    known = tuple(int(part) for part in version[:2] if part.isdigit())
    return FrontCache(kind=ARC, size_bytes=most, passed_by=known >= _DIRECT_SINCE)
