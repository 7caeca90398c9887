"""Renderer for fio: the text of the job file and the arguments of the command line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from app.core.fio.fields import FIELDS
from app.core.fio.job import Arrival, Engine, Job, JobTarget, TargetKind
from app.core.fio.sizes import format_size
from app.core.session.event_types import SteadyPlan
from backends.errors import InvalidValueError
from backends.sizes import size_words

JOB_NAME = "raidbench"
"""Name of the section in a job file. With several sections, each name gets a number."""

FILL_BLOCK = 128 * 1024
"""Bytes of one write when a target is filled."""

_MEBI = 1 << 20
_SECTOR = 512


class JobRendering(NamedTuple):
    """A job file and the command that runs it."""

    text: str
    """Content of the job file."""
    argv: tuple[str, ...]
    """Program and arguments."""


def argv(fio: str, jobfile: str, *, readonly: bool, create: bool = False, interval_ms: int = 250) -> tuple[str, ...]:
    """Return fio's command line for a job file.

    Options precede the job file, otherwise fio prints its banner in place of JSON. getopt accepts abbreviations on the
    command line (`--bss` is `--bssplit`), so the job's own options are in the file only.
    """
    arguments = [
        fio,
        "--output-format=json+",  # includes latency histograms, for exact percentiles of every interval
        f"--status-interval={interval_ms}ms",  # always with `ms`: fio reads a bare 250 as seconds
        "--eta=never",
        "--thread",  # forked workers call setsid() and survive a killed fio; threads do not
        f"--allow_file_create={int(create)}",  # a mistyped /dev name would become a file in memory, as /dev is a tmpfs
    ]
    if readonly:
        arguments.append("--readonly")  # fio itself refuses to write, and to extend a file
    return (*arguments, jobfile)


def section_names(count: int) -> tuple[str, ...]:
    """Return names for `count` sections of a job file, in order. fio repeats the names in its results."""
    return (JOB_NAME,) if count == 1 else tuple(f"{JOB_NAME}-{number}" for number in range(1, count + 1))


def render(
    job: Job,
    targets: Sequence[JobTarget],
    *,
    fio: str = "fio",
    jobfile: str,
    interval_ms: int = 250,
    steady: SteadyPlan | None = None,
) -> JobRendering:
    """Return job file text and argv for running `job` on all of `targets` at the same time.

    `jobfile`: path at which the text will be saved. Each target has a section; on a single target each section of the
    job has one. Section names come from `section_names`, so no name that a user chose gets into the file. With a
    `steady` plan that waits, fio gets a longer run time than the job's. Raises InvalidValueError if a target is too
    small for the streams, or for several targets combined with several sections.
    """
    written = _section_options(job, targets, steady)
    names = section_names(len(written))
    # If a section had no group of its own, fio would add its results to those of the first section.
    group = [("new_group", 1)] if len(written) > 1 else []
    sections = [_section(name, [*options, *group]) for name, options in zip(names, written, strict=True)]
    # Written data: fio fills buffers with random bytes and changes them before each write (scramble_buffers,
    # the default), so nothing can be compressed; refilling them completely would cost a core per GB/s.
    return JobRendering("".join(sections), argv(fio, jobfile, readonly=not job.writes, interval_ms=interval_ms))


def _section_options(
    job: Job, targets: Sequence[JobTarget], steady: SteadyPlan | None
) -> list[list[tuple[str, object]]]:
    """Return the options of each section of the file."""
    if not job.sections:
        return [_options(job, target, steady) for target in targets]
    if len(targets) > 1:
        raise InvalidValueError(SEVERAL_OF_BOTH, hint=ONE_SECTION)
    if steady is not None and (steady.until or steady.end_early):
        raise InvalidValueError(NOT_STEADY, hint=ONE_SECTION)
    return [
        [*_options(section.job, targets[0], None), *([("stonewall", 1)] if section.waits else [])]
        for section in job.sections
    ]


SEVERAL_OF_BOTH = "A job with several sections can run on one target only"
"""Reason why a job with several sections does not run on several targets."""

NOT_STEADY = "A job with several sections cannot wait for the steady state"
"""Reason why a job with several sections neither waits for the steady state nor ends with it."""

ONE_SECTION = "Run one of its sections: --section NAME."
"""Hint for a job file whose sections cannot run together."""


def _options(job: Job, target: JobTarget, steady: SteadyPlan | None) -> list[tuple[str, object]]:
    """Return fio's options for the job on one target."""
    options = [
        ("filename", target.escaped),
        *_field_options(job),
        *_region_options(job, target),
        *_length_options(job, steady),
        *_rate_options(job),
        # One entry for all jobs of a target keeps a document at 40 kB, whatever the number of jobs.
        ("group_reporting", 1),
        # A run with a failed job is no measurement: stop the other jobs.
        ("exitall_on_error", 1),
        # Total latency (submission and completion), in addition to the default completion latency.
        ("lat_percentiles", 1),
        # By default fio uses the same random blocks in every run, so the second run would find them in the cache.
        ("randrepeat", 0),
        # Data from an earlier run in the page cache must not serve the reads.
        ("invalidate", 1),
        # The file is laid out beforehand; reads of a sparse or preallocated extent would skip the device.
        ("fallocate", "none"),
    ]
    extra = dict(job.extra or ())
    return [*((key, value) for key, value in options if key not in extra), *extra.items()]


def render_layout(
    target: JobTarget, *, direct: bool, create: bool, fio: str = "fio", jobfile: str, interval_ms: int = 250
) -> JobRendering:
    """Return the job that writes a scratch file of `target.size` bytes completely, in order, with random data."""
    options: list[tuple[str, object]] = [
        ("filename", target.escaped),
        ("rw", "write"),
        ("bs", "1M"),
        ("ioengine", "psync"),
        ("direct", int(direct)),
        ("size", target.size),
        # The writes of this job extend the file. Without the option, fio unlinks it and lays it out before the job.
        ("create_on_open", 1),
        ("fallocate", "none"),
        # Compressible or repeated data would take less space on the device than the file size.
        ("refill_buffers", 1),
        ("randrepeat", 0),
        # The data must be on the device before a read is measured.
        ("end_fsync", 1),
        ("group_reporting", 1),
    ]
    return JobRendering(
        _section(JOB_NAME, options), argv(fio, jobfile, readonly=False, create=create, interval_ms=interval_ms)
    )


def render_fill(
    target: JobTarget,
    *,
    loops: int,
    engine: Engine,
    block: int = FILL_BLOCK,
    fio: str = "fio",
    jobfile: str,
    interval_ms: int = 250,
) -> JobRendering:
    """Return the job that writes all of the target in order, `loops` times, with `block` bytes per write.

    The job ends by amount, because a run time could end it too early.
    """
    options: list[tuple[str, object]] = [
        ("filename", target.escaped),
        ("rw", "write"),
        ("bs", format_size(block)),
        ("ioengine", engine.value),
        ("iodepth", 32),
        ("direct", 1),
        ("size", "100%" if target.kind is TargetKind.BLOCK else target.size),
        ("loops", loops),
        ("fallocate", "none"),
        ("randrepeat", 0),
        ("end_fsync", 1),
        ("group_reporting", 1),
    ]
    return JobRendering(_section(JOB_NAME, options), argv(fio, jobfile, readonly=False, interval_ms=interval_ms))


def start_of(job: Job, target: JobTarget) -> int:
    """Return the first byte of the target that the job uses; with several sections the lowest of all."""
    if job.sections:
        return min(start_of(part, target) for part in job.parts)
    if job.offset_percent is None:
        return job.offset or 0
    return _whole_blocks(job, target.size * job.offset_percent // 100)


def usable_size(job: Job, target: JobTarget) -> int:
    """Return the size in bytes of the region that the job uses, from `start_of` to the highest end of any section."""
    if job.sections:
        return max(start_of(part, target) + usable_size(part, target) for part in job.parts) - start_of(job, target)
    rest = max(0, target.size - start_of(job, target))
    if job.size_percent is not None:
        return min(_whole_blocks(job, target.size * job.size_percent // 100), rest)
    return min(job.size, rest) if job.size is not None else rest


def region_of_a_job(job: Job, target: JobTarget) -> int:
    """Return how many bytes of the target each thread of the job uses; the mean if threads differ.

    Raises InvalidValueError if the target is too small.
    """
    placed = dict(_placement(job, target))
    if "size" in placed:
        return placed["size"]
    return usable_size(job, target) - placed["offset_increment"] * (job.numjobs - 1) // 2


def amount_of(job: Job, target: JobTarget | None) -> int | None:
    """Return the bytes after which the job ends, for all threads together; None if no amount of bytes ends it."""
    repeats = (job.passes or 1) * job.numjobs
    if job.io_size is not None:
        return job.io_size * repeats
    return None if job.passes is None or target is None else region_of_a_job(job, target) * repeats


def most_bytes(job: Job, target: JobTarget) -> int | None:
    """Return the maximum bytes that the job moves before it ends by amount; None if it ends only by time.

    For several sections this is their sum, or None if one of them ends only by time.
    """
    if job.sections:
        amounts = [most_bytes(part, target) for part in job.parts]
        return None if None in amounts else sum(count for count in amounts if count is not None)
    counts = [amount_of(job, target), job.number_ios and job.number_ios * max(job.block_sizes) * job.numjobs]
    return min((count for count in counts if count is not None), default=None)


def _whole_blocks(job: Job, size: int) -> int:
    """Return a size in bytes, rounded down to whole blocks as fio does."""
    unit = math.lcm(min(job.block_sizes), _SECTOR)
    return size // unit * unit


def _section(name: str, options: Sequence[tuple[str, object]]) -> str:
    return "\n".join([f"[{name}]", *(f"{key}={value}" for key, value in options)]) + "\n"


_JOINTLY = frozenset(
    (
        *("size", "size_percent", "offset", "offset_percent", "offset_increment"),
        *("runtime", "ramp", "number_ios", "io_size", "passes"),
        *("rate_iops", "rate", "rate_iops_read", "rate_iops_write", "rate_read", "rate_write", "arrival"),
        *("bs_write", "extra"),
    )
)
"""Fields that are rendered together with other fields, or that depend on the target."""

_ONLY: Mapping[str, Callable[[Job], bool]] = {
    "bs": lambda job: job.bssplit is None and job.bsrange is None and job.bs_write is None,
    "rwmixread": lambda job: job.mixed,
    # fio's map of used blocks takes one bit per block: 270 MB for 8 TiB. Without it blocks repeat, as in real
    # workloads.
    "norandommap": lambda job: not job.sequential,
}
"""Fields that have no effect in some jobs, each with the condition under which it has an effect."""


def _field_options(job: Job) -> Iterator[tuple[str, object]]:
    """Yield the options (name, value) for the fields that correspond to exactly one option of fio."""
    for field in FIELDS:
        value = getattr(job, field.key)
        says = _ONLY.get(field.key)
        if field.key not in _JOINTLY and value is not None and (says is None or says(job)):
            yield field.fio, field.in_fio(value)
    if job.bs_write is not None:
        yield "bs", f"{format_size(job.bs)},{format_size(job.bs_write)}"
    if job.thinktime_blocks is not None:
        # If fio counted completions, it would refill a deep queue during the pause.
        yield "thinktime_blocks_type", "issue"


def _length_options(job: Job, steady: SteadyPlan | None) -> list[tuple[str, object]]:
    """Return the options that end the job: by time, so that runs are equally long, unless the job sets an amount."""
    seconds = job.runtime if steady is None else steady.fio_seconds(job.runtime)
    pairs: list[tuple[str, object]] = [("runtime", f"{seconds}s")] if seconds else []
    if job.ramp:
        pairs.append(("ramp_time", f"{job.ramp}s"))  # fio discards the results of the ramp
    if not job.ends_by_amount:
        return [("time_based", 1), *pairs]
    if steady is not None and steady.until:
        raise InvalidValueError(
            "A job that ends by amount cannot wait for the steady state",
            hint=("Leave out the steady state, or the amount."),
        )
    if job.number_ios is not None:
        pairs.append(("number_ios", job.number_ios))
    if job.io_size is not None:
        pairs.append(("io_size", job.io_size))
    if job.passes is None and job.io_size is None and job.number_ios is not None:
        # With number_ios alone fio ends at the end of the region, even if I/Os are left.
        pairs.append(("io_size", job.number_ios * max(job.block_sizes)))
    if job.passes is not None and job.passes > 1:
        pairs.append(("loops", job.passes))
    return pairs


def _rate_options(job: Job) -> list[tuple[str, object]]:
    """Return the options that limit the rate. fio limits reads and writes separately and ignores the read/write mix."""
    kind = "rate" if any((job.rate, job.rate_read, job.rate_write)) else "rate_iops"
    reads, writes = _rates_of_sides(job, kind)
    if reads is None and writes is None:
        return []
    if kind == "rate_iops" and job.arrival is not Arrival.POISSON:
        # Without Poisson arrivals fio counts I/Os in units of the smallest block, so a mix would stay below the limit.
        reads, writes = (
            None if count is None else round(count * job.mean_size_of(side) / job.smallest_of(side))
            for side, count in (("read", reads), ("write", writes))
        )
    held = f"{'' if reads is None else reads},{'' if writes is None else writes}" if job.mixed else reads or writes
    poisson = [("rate_process", Arrival.POISSON.value)] if job.arrival is Arrival.POISSON else []
    return [(kind, held), *poisson]


def _rates_of_sides(job: Job, kind: str) -> tuple[int | None, int | None]:
    """Return the rate limits of reads and of writes; None for no limit. `kind`: `rate` or `rate_iops`."""
    limit: int | None = getattr(job, kind)
    if limit is None:
        return getattr(job, f"{kind}_read"), getattr(job, f"{kind}_write")
    if not job.mixed:
        return (limit, None) if job.reads else (None, limit)
    reads = round(limit * job.rwmixread / 100)
    return reads, limit - reads


def _region_options(job: Job, target: JobTarget) -> list[tuple[str, object]]:
    """Return the options that select the part of the target that each thread of the job uses."""
    placed = _placement(job, target)
    uses_all = placed == [("size", target.size)] and job.size is None and job.size_percent is None
    return [] if uses_all and target.kind is TargetKind.BLOCK else [*placed]


def _placement(job: Job, target: JobTarget) -> list[tuple[str, int]]:
    """Return fio's options for the start of the first job, the distance between jobs, and the size of each job."""
    total = usable_size(job, target)
    first = start_of(job, target)
    start = [("offset", first)] if first else []
    largest = max(job.block_sizes)
    if total < largest:
        where = f" after {size_words(first)}" if first else ""
        raise InvalidValueError(
            f"{target.name} has {size_words(total)}{where}, which is less than one block of {format_size(largest)}",
            hint="Use a smaller block size or a larger file.",
        )
    step = job.offset_increment
    if step is None and job.sequential and job.numjobs > 1:
        # If all streams read the same blocks, later ones would hit data that the first one cached. Each gets its own
        # part.
        unit = _MEBI if total // job.numjobs >= 16 * _MEBI and _MEBI % largest == 0 else largest
        step = total // job.numjobs // unit * unit
        if step == 0:
            raise InvalidValueError(
                f"{target.name} is too small for {job.numjobs} sequential streams",
                hint="Use fewer jobs or a larger file.",
            )
        return [*start, ("offset_increment", step), ("size", step)]
    if step:
        rest = total - step * (job.numjobs - 1)
        if rest < largest:
            raise InvalidValueError(
                (
                    f"{job.numjobs} jobs start {size_words(step)} apart, so the last one starts beyond the end of "
                    f"{target.name}"
                ),
                hint="Use fewer jobs or a smaller stream distance.",
            )
        if not job.size_named:  # without a size, fio lets each job use the rest of the target
            return [*start, ("offset_increment", step)]
        return [*start, ("offset_increment", step), ("size", rest)]
    return [*start, ("size", total)]
