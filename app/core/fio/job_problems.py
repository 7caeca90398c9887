"""Checks of the fields of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from app.core.fio.fields import FIELDS
from app.core.fio.job_values import Arrival, DedupeMode, Engine
from app.core.fio.sizes import format_size
from backends.errors import InvalidValueError
from backends.sizes import size_words

if TYPE_CHECKING:
    from app.core.fio.job import Job

_SECTOR = 512
_LARGEST_BLOCK = 1 << 30
_LARGEST_BUFFERS = 4 << 30
_LONGEST = 7 * 86400
_POLLING = (Engine.IO_URING, Engine.PVSYNC2)

_Problems = Iterator[tuple[str, bool, str]]
"""Results of checks: a field, whether it is valid, and the sentence to show if it is not."""


def problems_of(job: Job) -> dict[str, str]:
    """Return, for each invalid field, the sentence about its first problem."""
    problems: dict[str, str] = {}
    for rules in (_texts, _blocks, _load, _times, _region, _rates, _flushes, _amount, _processors, _data, _ring):
        for key, sound, sentence in rules(job):
            if not sound:
                problems.setdefault(key, sentence)
    return problems


def _texts(job: Job) -> _Problems:
    """Check the fields whose text is passed to fio unchanged."""
    for field in FIELDS:
        if isinstance(value := getattr(job, field.key), str) and not field.choices:
            yield field.key, not (complaint := _parse_problem(field.parse, value)), complaint


def _parse_problem(parse: Callable[[str], object], text: str) -> str:
    try:
        parse(text)
    except InvalidValueError as error:
        return error.message
    return ""


def _sizes(job: Job) -> list[int]:
    if job.bssplit:
        return [size for size, _ in job.bssplit]
    return list(job.bsrange) if job.bsrange else [job.bs, *([job.bs_write] if job.bs_write is not None else [])]


def _blocks(job: Job) -> _Problems:
    sizes = _sizes(job)
    where = "bssplit" if job.bssplit else "bsrange" if job.bsrange else "bs"
    yield where, min(sizes) >= 1, "must be at least one byte"
    yield where, max(sizes) <= _LARGEST_BLOCK, "must be at most 1G"
    if job.bssplit is not None:
        total = sum(percent for _, percent in job.bssplit)
        yield "bssplit", bool(job.bssplit), "must have at least one block size"
        yield "bssplit", total == 100, f"the percentages add up to {total} instead of 100"
        yield "bssplit", len(job.bssplit) <= 64, "fio supports at most 64 block sizes"
    if job.bsrange is not None:
        first, last = job.bsrange
        yield "bsrange", first <= last, "the first size must be the smaller one"
        yield (
            "bsrange",
            first & (first - 1) == 0,
            "the smallest size must be a power of two; otherwise fio draws uneven sizes",
        )
        yield "bsrange", job.bssplit is None, "use a range or a mix of block sizes, not both"
    if job.bs_write is not None:
        yield "bs_write", job.mixed, "needs a job that reads and writes"
        yield "bs_write", job.bssplit is None and job.bsrange is None, "needs a single block size of reads"
        uneven = job.random_distribution is None or job.random_distribution.startswith("zoned")
        yield "bs_write", uneven, "fio ends the job at once with this distribution"
    is_aligned = all(size % _SECTOR == 0 for size in sizes)
    sentence = "direct I/O needs whole sectors: use a multiple of 512 bytes, or switch direct off"
    yield where, is_aligned or not job.direct, sentence
    if job.blockalign is not None:
        yield "blockalign", job.blockalign >= 1, "must be at least one byte"
        yield "blockalign", not job.direct or job.blockalign % _SECTOR == 0, "must be a multiple of 512 bytes"
        yield "blockalign", not job.sequential, "applies to random offsets only"


def _load(job: Job) -> _Problems:
    yield "iodepth", 1 <= job.iodepth <= 65536, "must be 1 to 65536"
    yield "numjobs", 1 <= job.numjobs <= 1024, "must be 1 to 1024"
    largest = max(_sizes(job))
    buffers = largest * job.iodepth * job.numjobs
    sentence = (
        f"{job.numjobs} x {job.iodepth} blocks of {format_size(largest)} need {size_words(buffers)} of memory;"
        " 4 GiB is the limit"
    )
    yield "iodepth", buffers <= _LARGEST_BUFFERS, sentence
    yield "rwmixread", 0 <= job.rwmixread <= 100, "must be a percentage, 0 to 100"


def _times(job: Job) -> _Problems:
    yield "runtime", job.runtime >= 1 or job.ends_by_amount, "must be 1 second to 7 days"
    yield "runtime", 0 <= job.runtime <= _LONGEST, "must be 1 second to 7 days"
    yield "ramp", 0 <= job.ramp <= _LONGEST, "must be 0 to 7 days"
    # fio misbehaves with a ramp longer than the run (axboe/fio#2041).
    yield "ramp", not job.runtime or job.ramp < job.runtime, "the ramp must be shorter than the run time"
    if job.thinktime is not None:
        yield "thinktime", job.thinktime >= 1, "must be at least 1us; leave it empty for none"
        # fio reports nothing during a pause, so a pause must end before it looks like a stall.
        yield "thinktime", job.thinktime <= 10**6, "must be at most 1 second"
    if job.thinktime_blocks is not None:
        yield "thinktime_blocks", job.thinktime_blocks >= 1, "must be at least 1"
        yield "thinktime_blocks", job.thinktime is not None, "needs a think time"


def _region(job: Job) -> _Problems:
    if job.size is not None:
        yield "size", job.size >= max(_sizes(job)), "must be at least one block"
        yield "size_percent", job.size_percent is None, "use a size or a share of the target, not both"
    yield "size_percent", job.size_percent is None or 1 <= job.size_percent <= 100, "must be a percentage, 1 to 100"
    yield "offset", job.offset is None or job.offset >= 0, "must not be negative"
    if job.offset is not None and job.direct:
        yield "offset", job.offset % _SECTOR == 0, "must be a multiple of 512 bytes"
    yield (
        "offset_percent",
        job.offset_percent is None or 0 <= job.offset_percent <= 99,
        "must be a percentage, 0 to 99",
    )
    yield "offset_percent", job.offset_percent is None or job.offset is None, "use a start or a share, not both"
    yield "offset_increment", job.offset_increment is None or job.offset_increment >= 0, "must not be negative"
    yield "randseed", job.randseed is None or 0 <= job.randseed < 1 << 64, "must be 0 to 2^64 - 1"
    if job.percentage_random is not None:
        yield "percentage_random", 0 <= job.percentage_random <= 100, "must be a percentage, 0 to 100"
        yield "percentage_random", not job.sequential, "needs a random pattern"
    if job.random_distribution is not None:
        yield "random_distribution", not job.sequential, "needs a random pattern"
        smallest = min(_sizes(job))
        # fio draws a zipf block number from the count of smallest blocks, but multiplies it by the alignment.
        narrow = job.random_distribution.startswith("zipf") and (job.blockalign or smallest) < smallest
        sentence = (
            "with an alignment below the smallest block, fio's zipf stays in a part of the region: align to "
            f"{format_size(smallest)} or more, or leave the alignment empty"
        )
        yield "random_distribution", not narrow, sentence


def _rates(job: Job) -> _Problems:
    yield "rate_iops", job.rate_iops is None or job.rate_iops >= 1, "must be at least 1; leave it empty for no limit"
    smallest = min(_sizes(job))
    sentence = f"must be at least one block per second, {format_size(smallest)}; leave it empty for no limit"
    yield "rate", job.rate is None or job.rate >= smallest, sentence
    yield "rate", job.rate is None or job.rate_iops is None, "limit I/Os or bytes, not both"
    scarce = min(job.rwmixread, 100 - job.rwmixread) if job.mixed else 0
    if job.rate_iops is not None and scarce > 0:
        least = -(-100 // scarce)
        yield "rate_iops", job.rate_iops >= least, f"must be at least {least}: one read and one write per second"
    yield from _rates_by_direction(job)
    if job.arrival is Arrival.POISSON:
        # With random arrivals, fio divides by the rate of each direction, even one that has no rate.
        yield "arrival", job.has_rate, "needs a fixed rate: set an IOPS limit for reads and writes together"
        # fio reads the rate of a flush, which has none, and crashes (axboe/fio#2028).
        yield "arrival", not job.flushes, "fio crashes if flushes come at random times: use uniform, or no flushes"


def _rates_by_direction(job: Job) -> _Problems:
    """Check the separate rates of reads and writes."""
    counts = {"rate_iops_read": job.rate_iops_read, "rate_iops_write": job.rate_iops_write}
    amounts = {"rate_read": job.rate_read, "rate_write": job.rate_write}
    for key, value in counts.items():
        yield key, value is None or value >= 1, "must be at least 1; leave it empty for no limit"
    for key, value in amounts.items():
        smallest = job.smallest_of(key.removeprefix("rate_"))
        sentence = f"must be at least one block per second, {format_size(smallest)}; leave it empty for no limit"
        yield key, value is None or value >= smallest, sentence
    both = any(value is not None for value in counts.values())
    for key, value in {**counts, **amounts}.items():
        yield key, value is None or job.mixed, "needs a job that reads and writes: use the common limit instead"
        yield (
            key,
            value is None or (job.rate is None and job.rate_iops is None),
            "use the common limit or separate limits, not both",
        )
        yield key, value is None or key in counts or not both, "limit I/Os or bytes, not both"


def _flushes(job: Job) -> _Problems:
    for key, every in (("fsync", job.fsync), ("fdatasync", job.fdatasync)):
        yield (
            key,
            every is None or (every >= 1 and job.writes_data),
            "must be at least 1, and needs a job that writes",
        )
        yield key, every is None or not job.trims, "fio never flushes between trims: use a pattern that writes"
    yield "fdatasync", job.fsync is None or job.fdatasync is None, "use a flush or a data flush, not both"

    yield "sync", job.sync is None or job.writes_data, "needs a job that writes"


_DATA = ("buffer_compress_percentage", "dedupe_percentage", "zero_buffers", "refill_buffers", "buffer_pattern")


def _data(job: Job) -> _Problems:
    """Check the fields about the content of the written data."""
    for key in (*_DATA, "scramble_buffers"):
        yield key, getattr(job, key) is None or job.writes_data, "needs a job that writes"
    for key in ("buffer_compress_percentage", "dedupe_percentage", "dedupe_working_set_percentage"):
        share = getattr(job, key)
        yield key, share is None or 0 <= share <= 100, "must be a percentage, 0 to 100"
    chunk = job.buffer_compress_chunk
    within = chunk is None or 1 <= chunk <= min(_sizes(job))
    yield "buffer_compress_chunk", within, "must be one byte to the smallest block"
    compressed = chunk is None or job.buffer_compress_percentage is not None
    yield "buffer_compress_chunk", compressed, "needs buffer_compress_percentage"
    copied = job.dedupe_mode is None or job.dedupe_percentage is not None
    yield "dedupe_mode", copied, "needs dedupe_percentage"
    working_set = job.dedupe_working_set_percentage is None or job.dedupe_mode is DedupeMode.WORKING_SET
    yield "dedupe_working_set_percentage", working_set, "needs dedupe_mode=working_set"
    others = [key for key in _DATA if key != "zero_buffers" and getattr(job, key) is not None]
    yield "zero_buffers", not job.zero_buffers or not others, f"use zeros or {', '.join(others)}, not both"


RING_OPTIONS = ("sqthread_poll", "sqthread_poll_cpu", "fixedbufs", "registerfiles", "nonvectored", "uncached")
"""Fields of a job that are options of io_uring."""


def _ring(job: Job) -> _Problems:
    """Check the options of the engine io_uring."""
    for key in RING_OPTIONS:
        yield key, getattr(job, key) is None or job.ioengine is Engine.IO_URING, "needs the engine io_uring"
    polled = job.sqthread_poll_cpu is None or job.sqthread_poll is True
    yield "sqthread_poll_cpu", polled, "needs sqthread_poll"
    yield "uncached", not job.uncached or not job.direct, "applies to buffered I/O only: switch direct off"


def _amount(job: Job) -> _Problems:
    yield (
        "number_ios",
        job.number_ios is None or job.number_ios >= 1,
        "must be at least 1; leave it empty to end by time",
    )
    yield "io_size", job.io_size is None or job.io_size >= max(_sizes(job)), "must be at least one block"
    yield "io_size", job.io_size is None or job.number_ios is None, "end after I/Os or after bytes, not both"
    passes = job.passes is None or 1 <= job.passes < 1 << 31
    yield "passes", passes, "must be 1 to 2147483647; leave it empty to end by time"
    # fio also counts the I/Os of the ramp, so the amount of measured I/Os is unknown.
    named = job.number_ios is not None or job.io_size is not None
    yield "ramp", not job.ramp or not named, "not possible for a job that ends by amount: fio counts the ramp's I/Os"


def _processors(job: Job) -> _Problems:
    yield "hipri", not job.hipri or job.ioengine in _POLLING, "needs the engine io_uring or pvsync2"
    yield "hipri", not job.hipri or job.direct, "needs direct I/O"
    policy = job.cpus_allowed_policy is None or job.cpus_allowed is not None
    yield "cpus_allowed_policy", policy, "needs a list of processors"
    nodes = job.numa_cpu_nodes is None or job.cpus_allowed is None
    yield "numa_cpu_nodes", nodes, "use processors or NUMA nodes, not both"
