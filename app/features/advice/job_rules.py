"""Advice rules about the job itself. Most of them need no results."""

from __future__ import annotations

from math import gcd

from app.core.benchmark.conditions.facts import RunFacts
from app.core.fio.job_values import Engine
from app.core.fio.sizes import format_size
from app.core.session.event_types import ROUND_S, WINDOW
from app.core.session.results import Advice
from backends.model import Media
from backends.sizes import size_words
from widgets.text_utils import units

ENOUGH_S = WINDOW * ROUND_S
"""Minimum measured seconds for a verdict whether the results are steady."""

FLASH_PAGE = 4096
"""Minimum size of a flash page in bytes. Smaller writes need a read-modify-write, even if sectors are smaller."""

MISALIGNED_SHARE = 0.05
"""Advice is given if at least this share of the requests begins or ends inside a sector."""

MAP_SHARE = 0.01
"""Advice is given if fio's random map takes more than this share of the memory."""

MAP_BYTES = 128 << 20
"""Advice is given if fio's random map takes more than this number of bytes; used if the memory size is unknown."""


def page_cache(facts: RunFacts) -> Advice | None:
    """Return advice if the I/O is buffered, so that it uses the page cache. A flush after each write empties it."""
    job = facts.job
    if job.direct or (not job.reads and all(1 in (part.fsync, part.fdatasync) for part in job.parts)):
        return None
    fits = ""
    if facts.area_bytes and facts.memory_bytes and facts.area_bytes < facts.memory_bytes:
        fits = (
            f", and the area of {size_words(facts.area_bytes)} fits into the memory of {size_words(facts.memory_bytes)}"
        )
    return Advice(
        key="page-cache",
        message=f"The I/O is buffered and uses the page cache. The run measures memory{fits}.",
        do="Set direct to yes.",
    )


def sync_depth(facts: RunFacts) -> Advice | None:
    """Return advice if the engine keeps only one I/O in flight per job, so that the queue depth has no effect."""
    job = facts.job
    if job.iodepth < 2:
        return None
    why = ""
    if not job.ioengine.keeps_a_queue:
        why = f"The engine {job.ioengine} keeps one I/O in flight per job"
    elif not job.keeps_a_queue:
        why = "fio keeps one trim in flight per job"
    elif not job.direct and job.ioengine is Engine.LIBAIO:
        why = "Without direct I/O, libaio keeps one I/O in flight per job"
    if not why:
        return None
    engines = "" if job.trims else "libaio or io_uring with direct I/O, or "
    return Advice(
        key="sync-depth",
        message=f"{why}. The queue depth {job.iodepth} has no effect; the actual depth is {job.numjobs}.",
        do=f"Use {engines}more jobs instead of a higher queue depth.",
    )


def too_short(facts: RunFacts) -> Advice | None:
    """Return advice if the run is too short for a verdict whether the results are steady."""
    seconds = float(facts.job.runtime)
    if facts.measured is not None and facts.measured.ended:
        seconds = ENOUGH_S if facts.measured.settled else facts.measured.seconds
    if seconds >= ENOUGH_S * 0.98 or not seconds:
        return None
    return Advice(
        key="too-short",
        message=f"A run of {units.duration(seconds)} is too short for a steady-state verdict, which needs {WINDOW}"
        f" rounds of {ROUND_S} s.",
        do=f"Use a run time of at least {ENOUGH_S} s.",
    )


def same_seed(facts: RunFacts) -> Advice | None:
    """Return advice if a fixed seed makes all runs read the same blocks, and a cache may still hold them."""
    job = facts.job
    cache = facts.cache_bytes or 0
    if job.randseed is None or job.sequential or not job.reads:
        return None
    if job.direct and (not cache or not facts.area_bytes or facts.area_bytes >= 4 * cache):
        return None
    cache_text = f"the {size_words(cache)} cache of the controller" if job.direct else "the page cache"
    return Advice(
        key="same-seed",
        message=f"Seed {job.randseed} selects the same blocks in each run. Later runs may read blocks of earlier"
        f" runs from {cache_text}.",
        do="Leave the seed empty, or use an area of at least four times the cache.",
    )


def same_blocks(facts: RunFacts) -> Advice | None:
    """Return advice if several sequential jobs start so close together that they read or write the same blocks."""
    job = facts.job
    if not job.sequential or job.numjobs < 2 or job.offset_increment is None:
        return None
    if job.offset_increment >= max(job.block_sizes) * job.iodepth:
        return None
    return Advice(
        key="same-blocks",
        message=f"{job.numjobs} sequential jobs start {format_size(job.offset_increment) or 0} apart. All jobs"
        " except the first read blocks that are already cached.",
        do="Leave the stream distance empty: each job then gets a part of the area.",
    )


def random_map(facts: RunFacts) -> Advice | None:
    """Return advice if fio's random map needs much memory. The map has one bit per block for each job."""
    job = facts.job
    if job.norandommap or job.sequential or not facts.area_bytes:
        return None
    taken = facts.area_bytes // min(job.block_sizes) // 8 * job.numjobs
    limit = MAP_BYTES if facts.memory_bytes is None else int(facts.memory_bytes * MAP_SHARE)
    if taken <= limit:
        return None
    return Advice(
        key="random-map",
        message=f"The random map of fio takes {size_words(taken)} of memory, and searching it takes time.",
        do="Set norandommap to yes. On a large area, blocks rarely repeat.",
    )


def sector_misaligned(facts: RunFacts) -> Advice | None:
    """Return advice if many requests begin or end inside a physical sector or a flash page."""
    job = facts.job
    unit = facts.physical_block or 512
    flash = facts.media in (Media.SSD, Media.NVME)
    unit = max(unit, FLASH_PAGE) if flash else unit
    if not job.direct or not (job.reads or job.writes_data) or (job.sequential and not job.writes_data):
        return None
    share = misaligned_share(facts, unit)
    if share < MISALIGNED_SHARE:
        return None
    part = f"page of flash ({size_words(unit)} at least)" if flash else f"sector of {size_words(unit)}"
    cost = "must read, modify and write it" if job.writes_data else "transfer more than requested"
    return Advice(
        key="sector-misaligned",
        message=f"{units.fraction(share)} of the requests begin or end inside a {part}. The drives {cost}.",
        do="Set the alignment to 4k. Do not compare aligned with unaligned results.",
    )


def misaligned_share(facts: RunFacts, unit: int) -> float:
    """Return the share of the requests, from 0 to 1, that do not both begin and end at multiples of `unit`.

    fio chooses offsets that are multiples of the alignment, which is the smallest block size unless it is set.
    """
    job = facts.job
    split = job.shares
    step = job.blockalign or min(size for size, percent in split if percent)
    begins = gcd(step, unit) / unit
    return 1 - sum(percent / 100 * begins for size, percent in split if size % unit == 0)
