"""Advice rules about kernel caches and ZFS."""

from __future__ import annotations

from math import gcd

from app.core.benchmark.conditions.facts import ARC, RunFacts
from app.core.fio.sizes import format_size
from app.core.session.results import Advice
from backends.sizes import size_words
from backends.topology.stacking import BCACHE, DM_CACHE, WRITECACHE
from widgets.text_utils import units

WARM = 0.9
"""A cache counts as warm if it served at least this share of the reads that its size allows it to serve."""

AMPLIFIED = 1.01
"""Advice is given if at least this many times the requested bytes are moved."""

HIGH_WATERMARK = 50
"""Default high watermark of a writecache in percent (admin-guide/device-mapper/writecache.rst)."""

_OFF = ("off", "zle")
"""Values of `compression` with which ZFS compresses nothing, or only zeros."""


def effective_setting(facts: RunFacts, key: str) -> str | None:
    """Return the effective value of a setting at the start of the run; None if it was not read."""
    policy = facts.before.policies.get(key)
    return None if policy is None else policy.in_force


def is_served_by_cache(facts: RunFacts) -> bool:
    """Return whether the cache in front of the device serves this job, judging by the settings that were read."""
    upstream, job = facts.upstream_cache, facts.job
    if upstream is None or (upstream.is_bypassed and job.direct):
        return False
    mode = effective_setting(facts, "cache_mode")
    match upstream.kind:
        case "arc":
            return job.reads and effective_setting(facts, "primarycache") in (None, "all")
        case "writecache":
            return job.writes_data and effective_setting(facts, "cleaner") != "on"
        case _:
            if mode == "passthrough" or is_bypassed(facts):
                return False
            return job.reads or mode == "write-back"


def is_bypassed(facts: RunFacts) -> bool:
    """Return whether bcache bypasses its cache for this job (check_should_bypass).

    It does so for sequential I/O and for blocks of at least `sequential_cutoff`.
    """
    cutoff = effective_setting(facts, "sequential_cutoff")
    upstream = facts.upstream_cache
    if upstream is None or upstream.kind != BCACHE or cutoff is None or not cutoff.isdigit() or cutoff == "0":
        return False
    return facts.job.sequential or min(facts.job.block_sizes) >= int(cutoff)


def stream_bypasses_cache(facts: RunFacts) -> Advice | None:
    """Return advice if bcache bypasses its cache for this job."""
    if not is_bypassed(facts):
        return None
    cutoff = int(effective_setting(facts, "sequential_cutoff") or 0)
    return Advice(
        key="stream-bypasses-cache",
        message=f"Sequential I/O of {size_words(cutoff)} and more bypasses bcache. Unless the data is already"
        " cached, the run measures the slow disk.",
        do="To measure the cache, set sequential_cutoff to 0. Otherwise report the result as that of the disk.",
    )


def cache_cold(facts: RunFacts) -> Advice | None:
    """Return advice if a cache was cold: it served fewer reads than a warm cache of the same size would serve."""
    upstream, done, area = facts.upstream_cache, facts.measured, facts.area_bytes
    if upstream is None or upstream.kind not in (ARC, DM_CACHE, BCACHE) or not upstream.size_bytes or not area:
        return None
    if done is None or not done.ended or not facts.job.reads or not is_served_by_cache(facts):
        return None
    shares = [cache.share_of_reads for cache in done.caches if cache.share_of_reads is not None]
    could = min(1.0, upstream.size_bytes / area)
    if not shares or max(shares) >= WARM * could:
        return None
    slowly = " several times" if upstream.kind == DM_CACHE else ""
    name = upstream.name_text[:1].upper() + upstream.name_text[1:]
    return Advice(
        key="cache-cold",
        message=f"{name} was still warming up: it served {units.fraction(max(shares))} of the reads, although"
        f" {units.fraction(could)} of the area fits into it.",
        do=f"Read the whole area{slowly} before the run, or lengthen the ramp until the hit rate is constant.",
    )


def writecache_fills(facts: RunFacts) -> Advice | None:
    """Return advice if a writecache filled up to its high watermark during the run, so that it began to write back."""
    upstream, done, area = facts.upstream_cache, facts.measured, facts.area_bytes
    if (
        upstream is None
        or upstream.kind != WRITECACHE
        or not upstream.size_bytes
        or done is None
        or not facts.job.writes_data
    ):
        return None
    text = effective_setting(facts, "high_watermark") or ""
    high = int(text) if text.isdigit() else HIGH_WATERMARK
    room = upstream.size_bytes * high // 100
    written = done.written_bytes + (0 if facts.job.reads else done.ramp_bytes)
    if min(written, area or written) <= room:
        return None
    return Advice(
        key="writecache-fills",
        message=f"The run wrote {size_words(written)}. Above {size_words(room)} (high watermark {high} %), the"
        " writecache flushes to the slow device, which then limits the throughput.",
        do=f"To measure the cache, write less than {size_words(room)}. To measure sustained writes, use a ramp that"
        " fills the cache.",
    )


def zfs_block_size(facts: RunFacts) -> Advice | None:
    """Return advice if random I/O is smaller than the ZFS blocks, or not aligned to them."""
    job = facts.job
    name = next((key for key in ("volblocksize", "recordsize") if effective_setting(facts, key) is not None), None)
    text = effective_setting(facts, name or "") or ""
    if name is None or not text.isdigit() or not int(text) or job.sequential:
        return None
    block = int(text)
    times = amplification(job.blockalign or min(job.block_sizes), job.shares, block)
    if times < AMPLIFIED:
        return None
    reasons = [
        *(["a read fetches every touched block completely"] if job.reads else []),
        *(
            ["a write reads partially changed blocks (unless the ARC has them) and rewrites them completely"]
            if job.writes_data
            else []
        ),
    ]
    return Advice(
        key="zfs-block-size",
        message=f"{name} is {format_size(block)}: {' and '.join(reasons)}. In total, {units.three(times)} times the"
        " requested bytes are moved.",
        do=f"Use blocks of {format_size(block)}, or a dataset with the block size of the application"
        + (
            " (recordsize applies to new files)." if name == "recordsize" else " (volblocksize applies to new volumes)."
        ),
    )


def amplification(align: int, split: tuple[tuple[int, int], ...], block: int) -> float:
    """Return the ratio of the bytes in all touched blocks to the requested bytes.

    `align`: number of bytes of which all offsets are multiples; `split`: sizes of the I/Os with their percentages;
    `block`: size of a block in bytes.
    """
    step = gcd(align, block)
    offsets = range(0, block, step)
    touched = asked = 0.0
    for size, percent in split:
        blocks = sum(-(-(offset + size) // block) for offset in offsets) / len(offsets)
        touched += percent * blocks * block
        asked += percent * size
    return touched / asked


def zfs_sync(facts: RunFacts) -> Advice | None:
    """Return advice if ZFS treats no writes, or all writes, as synchronous."""
    word, job = effective_setting(facts, "sync"), facts.job
    if not job.writes_data or effective_setting(facts, "logbias") is None:
        return None
    if word == "disabled" and job.is_durable:
        return Advice(
            key="zfs-sync",
            message="sync is disabled: flushes and synchronous writes return at once. A power loss loses their data.",
            do="To measure durable writes, set sync to standard.",
        )
    if word == "always":
        return Advice(
            key="zfs-sync",
            message="sync is always: every write waits for the intent log. Without a log device, the log is on the"
            " disks of the pool.",
            do="To measure asynchronous writes, set sync to standard.",
        )
    return None


def zfs_compression(facts: RunFacts) -> Advice | None:
    """Return advice if ZFS compresses data, but the job writes zeros or data that cannot be compressed."""
    word = effective_setting(facts, "compression")
    if word is None or word in _OFF or not facts.job.writes_data or effective_setting(facts, "logbias") is None:
        return None
    job = facts.job
    if job.zero_buffers:
        return Advice(
            key="zfs-compression",
            message=f"compression is {word}, and the job writes zeros. ZFS stores them as holes and writes no data"
            " to the disks.",
            do="Set buffer_compress_percentage instead of zero_buffers.",
        )
    if job.buffer_compress_percentage or job.buffer_pattern is not None:
        return None
    return Advice(
        key="zfs-compression",
        message=f"compression is {word}, but the data of fio is random and cannot be compressed.",
        do="Set buffer_compress_percentage to the compressibility of your data. Real data may need fewer bytes.",
    )
