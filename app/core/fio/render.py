"""A job as fio reads it: the text of a job file, and the few words of the command line."""

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
"""Of the section of a job file; of several sections each has its number behind it."""

FILL_BLOCK = 128 * 1024
"""Bytes of one write when a target is filled."""

_MEBI = 1 << 20
_SECTOR = 512


class JobRendering(NamedTuple):
    """What is written to disk and what is started."""

    text: str
    """The job file."""
    argv: tuple[str, ...]
    """Program and words."""


def argv(fio: str, jobfile: str, *, readonly: bool, create: bool = False, interval_ms: int = 250) -> tuple[str, ...]:
    """fio's words before the job file.

    Options stand before the job, else the banner is printed in place of JSON. getopt takes abbreviations on
    the command line (`--bss` is `--bssplit`), so everything about the job is in the file instead.
    """
    arguments = [
        fio,
        "--output-format=json+",  # the histogram of each direction: exact percentiles of every interval
        f"--status-interval={interval_ms}ms",  # always with `ms`: a bare 250 is 250 seconds
        "--eta=never",
        "--thread",  # forked workers call setsid() and go on after fio is killed; threads cannot
        f"--allow_file_create={int(create)}",  # a mistyped /dev name would become a file in memory
    ]
    if readonly:
        arguments.append("--readonly")  # fio itself refuses to write, and to extend a file
    return (*arguments, jobfile)


def section_names(count: int) -> tuple[str, ...]:
    """Names of so many sections of a file, in their order; fio gives them back with the figures."""
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
    """Job file text and argv for `job` on all of `targets` at the same time; `jobfile` is where the text will be.

    Each target has a section, or on a single target each section of the job. Their names in the file are those of
    `section_names`: no name that somebody else chose gets into it.
    fio is given more time than the job's where `steady` has it wait.
    Raises InvalidValueError if a target is too small for the streams, or for several targets and several sections.
    """
    written = _section_options(job, targets, steady)
    names = section_names(len(written))
    # Without a group of its own the figures of a section would be added to those of the first.
    own = [("new_group", 1)] if len(written) > 1 else []
    sections = [_section(name, [*options, *own]) for name, options in zip(names, written, strict=True)]
    # Written data: fio fills buffers with random bytes and changes them before each write (scramble_buffers,
    # the default), so nothing can be compressed; refilling them whole would cost a core per GB/s.
    return JobRendering("".join(sections), argv(fio, jobfile, readonly=not job.writes, interval_ms=interval_ms))


def _section_options(
    job: Job, targets: Sequence[JobTarget], steady: SteadyPlan | None
) -> list[list[tuple[str, object]]]:
    """The options of each section of the file."""
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


SEVERAL_OF_BOTH = "A job of several sections runs on one target: each section would run on each of several"
"""Why such a job is not run on several targets."""

NOT_STEADY = "A job of several sections does not wait for the steady state: each section becomes steady by itself"
"""Why such a job neither starts nor ends by the steady state."""

ONE_SECTION = "Run one of its sections: --section NAME."
"""What to do with a job file whose sections cannot run together."""


def _options(job: Job, target: JobTarget, steady: SteadyPlan | None) -> list[tuple[str, object]]:
    """What fio is told of the job on one target."""
    options = [
        ("filename", target.escaped),
        *_field_options(job),
        *_region_options(job, target),
        *_length_options(job, steady),
        *_rate_options(job),
        # One entry for all jobs of a target: 40 kB a document however many there are.
        ("group_reporting", 1),
        # A run of which one job failed is no measurement: stop the others.
        ("exitall_on_error", 1),
        # The latency of an I/O with its submission, beside the usual one of its completion.
        ("lat_percentiles", 1),
        # The default replays the same blocks in every run, and the second run finds them in the cache.
        ("randrepeat", 0),
        # What an earlier run left in the page cache must not answer.
        ("invalidate", 1),
        # The file is laid out beforehand; a sparse or preallocated extent would answer without the device.
        ("fallocate", "none"),
    ]
    asked = dict(job.extra or ())
    return [*((key, value) for key, value in options if key not in asked), *asked.items()]


def render_layout(
    target: JobTarget, *, direct: bool, create: bool, fio: str = "fio", jobfile: str, interval_ms: int = 250
) -> JobRendering:
    """The job that writes a scratch file of `target.size` bytes in full, in order, with random data."""
    options: list[tuple[str, object]] = [
        ("filename", target.escaped),
        ("rw", "write"),
        ("bs", "1M"),
        ("ioengine", "psync"),
        ("direct", int(direct)),
        ("size", target.size),
        # Extends the file by these very writes; otherwise fio unlinks it and lays it out before it starts.
        ("create_on_open", 1),
        ("fallocate", "none"),
        # Compressible or repeated data would be stored as less than it seems.
        ("refill_buffers", 1),
        ("randrepeat", 0),
        # On the device before a read is measured.
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
    """The job that writes all of the target in order, `loops` times, `block` bytes at once.

    By amount, not by time: a run time would cut it short.
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
    """Return the first byte of the target that the job works on; of several sections the first of all."""
    if job.sections:
        return min(start_of(part, target) for part in job.parts)
    if job.offset_percent is None:
        return job.offset or 0
    return _whole_blocks(job, target.size * job.offset_percent // 100)


def usable_size(job: Job, target: JobTarget) -> int:
    """Return the bytes of the target that the job works on, from `start_of`; of several sections up to the last."""
    if job.sections:
        return max(start_of(part, target) + usable_size(part, target) for part in job.parts) - start_of(job, target)
    rest = max(0, target.size - start_of(job, target))
    if job.size_percent is not None:
        return min(_whole_blocks(job, target.size * job.size_percent // 100), rest)
    return min(job.size, rest) if job.size is not None else rest


def region_of_a_job(job: Job, target: JobTarget) -> int:
    """Return the bytes that each of the job's threads works on, of several the mean.

    Raises InvalidValueError for a target too small.
    """
    placed = dict(_placement(job, target))
    if "size" in placed:
        return placed["size"]
    return usable_size(job, target) - placed["offset_increment"] * (job.numjobs - 1) // 2


def amount_of(job: Job, target: JobTarget | None) -> int | None:
    """Return the bytes after which the job has ended, of all its threads; None where no number of bytes ends it."""
    repeats = (job.passes or 1) * job.numjobs
    if job.io_size is not None:
        return job.io_size * repeats
    return None if job.passes is None or target is None else region_of_a_job(job, target) * repeats


def most_bytes(job: Job, target: JobTarget) -> int | None:
    """Return the bytes that a job that ends by amount moves at most; None for a job that ends by time alone.

    Of several sections their sum; None where one of them ends by time alone.
    """
    if job.sections:
        amounts = [most_bytes(part, target) for part in job.parts]
        return None if None in amounts else sum(count for count in amounts if count is not None)
    counts = [amount_of(job, target), job.number_ios and job.number_ios * max(job.block_sizes) * job.numjobs]
    return min((count for count in counts if count is not None), default=None)


def _whole_blocks(job: Job, size: int) -> int:
    """Return a share of a target, rounded down to whole blocks as fio rounds it."""
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
"""Fields that are written together with others, or with what is known of the target."""

_ONLY: Mapping[str, Callable[[Job], bool]] = {
    "bs": lambda job: job.bssplit is None and job.bsrange is None and job.bs_write is None,
    "rwmixread": lambda job: job.mixed,
    # One bit a block: 270 MB for 8 TiB. Without the map blocks may repeat, as in real life.
    "norandommap": lambda job: not job.sequential,
}
"""Fields that say nothing in some jobs."""


def _field_options(job: Job) -> Iterator[tuple[str, object]]:
    """Fields that are one option of fio each."""
    for field in FIELDS:
        value = getattr(job, field.key)
        says = _ONLY.get(field.key)
        if field.key not in _JOINTLY and value is not None and (says is None or says(job)):
            yield field.fio, field.in_fio(value)
    if job.bs_write is not None:
        yield "bs", f"{format_size(job.bs)},{format_size(job.bs_write)}"
    if job.thinktime_blocks is not None:
        # By completions, a deep queue is refilled during the pause.
        yield "thinktime_blocks_type", "issue"


def _length_options(job: Job, steady: SteadyPlan | None) -> list[tuple[str, object]]:
    """How long it runs: by time, not by amount, unless an amount is named: runs of equal length compare."""
    seconds = job.runtime if steady is None else steady.fio_seconds(job.runtime)
    pairs: list[tuple[str, object]] = [("runtime", f"{seconds}s")] if seconds else []
    if job.ramp:
        pairs.append(("ramp_time", f"{job.ramp}s"))  # its I/Os are dropped by fio
    if not job.ends_by_amount:
        return [("time_based", 1), *pairs]
    if steady is not None and steady.until:
        raise InvalidValueError(
            "A job that ends by amount cannot wait for the steady state", hint="Leave out the wait, or the amount."
        )
    if job.number_ios is not None:
        pairs.append(("number_ios", job.number_ios))
    if job.io_size is not None:
        pairs.append(("io_size", job.io_size))
    if job.passes is None and job.io_size is None and job.number_ios is not None:
        # By itself, it would end with the region although I/Os are left.
        pairs.append(("io_size", job.number_ios * max(job.block_sizes)))
    if job.passes is not None and job.passes > 1:
        pairs.append(("loops", job.passes))
    return pairs


def _rate_options(job: Job) -> list[tuple[str, object]]:
    """What holds the load; fio holds reads and writes each by a rate of its own, and forgets their shares."""
    kind = "rate" if any((job.rate, job.rate_read, job.rate_write)) else "rate_iops"
    reads, writes = _rates_of_sides(job, kind)
    if reads is None and writes is None:
        return []
    if kind == "rate_iops" and job.arrival is not Arrival.POISSON:
        # Evenly, fio counts bytes in units of the smallest block: a mix would come at a lower rate.
        reads, writes = (
            None if count is None else round(count * job.mean_size_of(side) / job.smallest_of(side))
            for side, count in (("read", reads), ("write", writes))
        )
    held = f"{'' if reads is None else reads},{'' if writes is None else writes}" if job.mixed else reads or writes
    poisson = [("rate_process", Arrival.POISSON.value)] if job.arrival is Arrival.POISSON else []
    return [(kind, held), *poisson]


def _rates_of_sides(job: Job, kind: str) -> tuple[int | None, int | None]:
    """Return the rates of reads and of writes, None for no limit."""
    whole: int | None = getattr(job, kind)
    if whole is None:
        return getattr(job, f"{kind}_read"), getattr(job, f"{kind}_write")
    if not job.mixed:
        return (whole, None) if job.reads else (None, whole)
    reads = round(whole * job.rwmixread / 100)
    return reads, whole - reads


def _region_options(job: Job, target: JobTarget) -> list[tuple[str, object]]:
    """Which part of the target each job uses."""
    placed = _placement(job, target)
    whole = placed == [("size", target.size)] and job.size is None and job.size_percent is None
    return [] if whole and target.kind is TargetKind.BLOCK else [*placed]


def _placement(job: Job, target: JobTarget) -> list[tuple[str, int]]:
    """The start of the first job, the distance of the others, and the bytes of each."""
    total = usable_size(job, target)
    first = start_of(job, target)
    start = [("offset", first)] if first else []
    largest = max(job.block_sizes)
    if total < largest:
        where = f" behind {size_words(first)}" if first else ""
        raise InvalidValueError(
            f"{target.name} has {size_words(total)}{where}, less than one block of {format_size(largest)}",
            hint="Choose a smaller block size or a larger file.",
        )
    step = job.offset_increment
    if step is None and job.sequential and job.numjobs > 1:
        # Streams that all read the same blocks are served by the first one's cache: each gets its own part.
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
                f"The last of {job.numjobs} jobs, each {size_words(step)} further, starts beyond the end of"
                f" {target.name}",
                hint="Use fewer jobs or a smaller stream distance.",
            )
        if not job.size_named:  # each job goes on to the end of the target
            return [*start, ("offset_increment", step)]
        return [*start, ("offset_increment", step), ("size", rest)]
    return [*start, ("size", total)]
