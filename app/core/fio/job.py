"""The job and its targets: every field of the workload, and the devices and files that fio opens. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from app.core.fio.extra import Extra
from app.core.fio.fields import FIELDS, FIELDS_BY_KEY, JobField
from app.core.fio.job_problems import problems_of
from app.core.fio.job_values import Arrival, CpuPolicy, DedupeMode, Engine, Pattern, Span, Split, SyncMode
from app.core.fio.sizes import format_size
from backends.errors import InvalidValueError
from backends.helper_device import HelperClaim
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.fio.sections import JobSection

# -- the target that fio opens ----------------------------------------------------------------------------------------

_UNSAFE = "$`;#\\*?[]\"'"


class TargetKind(StrEnum):
    """Kind of a target."""

    FILE = "file"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTarget:
    """A target of a job: a scratch file written completely, or a raw device that the guard has approved.

    Raises InvalidValueError for a path that fio's job file syntax would read as something else.
    """

    path: str
    """Absolute path that fio opens; `/proc/<pid>/fd/N` for a device opened exclusively, never a bare sdX."""
    name: str
    """Name to show instead of the path: `/dev/sdb`, `/srv/scratch.dat`."""
    kind: TargetKind
    """File or block device."""
    size: int
    """Usable size in bytes."""
    logical_block_size: int = 512
    """Smallest unit of direct I/O, in bytes."""
    root: HelperClaim | None = None
    """The root helper's claim on a device that it has opened for reading."""

    def __post_init__(self) -> None:
        shown = clean(self.path)
        if not self.path.startswith("/"):
            raise InvalidValueError(f"{shown} is not an absolute path")
        # fio ends a job file line at ';' and '#', expands '$', and has no quoting: the rest of the path
        # would name another file. (':' is escaped when the job file is written.)
        unsafe = sorted({char for char in self.path if char in _UNSAFE or not char.isprintable()})
        if unsafe or self.path != self.path.strip():
            marks = " ".join(char if char.isprintable() else repr(char) for char in unsafe) or "a blank at the end"
            raise InvalidValueError(
                f"{shown} cannot be used in a fio job file: it contains {marks}",
                hint="Use a path with letters, digits and . _ - / : + @ only.",
            )
        if self.size <= 0:
            raise InvalidValueError(f"{clean(self.name)} has size 0: there is nothing to read")

    @property
    def escaped(self) -> str:
        r"""Return the path for `filename=`: fio splits it at ':' unless it is written `\:`."""
        return self.path.replace(":", r"\:")


# -- the job, with checks, texts and changes of its fields ------------------------------------------------------------

__all__ = [
    "Arrival",
    "Engine",
    "InvalidJobError",
    "Job",
    "JobTarget",
    "Pattern",
    "TargetKind",
    "field_problems",
    "fit_to_block_size",
]


_READING = (Pattern.READ, Pattern.RANDREAD, Pattern.READWRITE, Pattern.RANDRW)
_TRIMMING = (Pattern.TRIM, Pattern.RANDTRIM, Pattern.TRIMWRITE, Pattern.RANDTRIMWRITE)
_SEQUENTIAL = (Pattern.READ, Pattern.WRITE, Pattern.READWRITE, Pattern.TRIM, Pattern.TRIMWRITE)
_AMOUNTS = ("number_ios", "io_size", "passes")
"""Fields that end a job after an amount of I/Os, bytes or passes."""


class InvalidJobError(InvalidValueError):
    """Error for invalid fields of a job; `fields` has a sentence for each, to be shown next to the field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{key}: {problem}" for key, problem in problems.items()))
        self.fields: Mapping[str, str] = dict(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A workload. Sizes are in bytes, times in seconds.

    Raises InvalidJobError if the fields do not fit together.
    """

    rw: Pattern = Pattern.RANDREAD
    """Sequential or random; reads, writes or trims."""
    bs: int = 4096
    """Bytes of one I/O; no effect if `bssplit` or `bsrange` is set."""
    bs_write: int | None = None
    """Bytes of one write of a mixed pattern; None for the size of a read."""
    bssplit: Split | None = None
    """Block sizes with percentages that add up to 100."""
    bsrange: Span | None = None
    """The smallest and the largest block size; all multiples of the smallest between them occur."""
    blockalign: int | None = None
    """Number of bytes of which random offsets are multiples; None for fio's default, the smallest block size."""
    iodepth: int = 1
    """Number of I/Os that each job keeps in flight."""
    numjobs: int = 1
    """Number of identical threads that run at the same time."""
    rwmixread: int = 50
    """Percent of reads in a mixed pattern."""
    runtime: int = 60
    """Seconds of measuring after the ramp. 0 means no limit, which only a job that ends by amount may have."""
    ramp: int = 10
    """Seconds of warm-up before measuring."""
    size: int | None = None
    """Bytes of the target to use, from its start or `offset`; None for all of it."""
    size_percent: int | None = None
    """Percent of the target to use, instead of `size`."""
    offset: int | None = None
    """Bytes to skip at the start of the target."""
    offset_percent: int | None = None
    """Percent of the target to skip at its start, instead of `offset`."""
    ioengine: Engine = Engine.LIBAIO
    """I/O engine of fio, which passes the requests to the kernel."""
    direct: bool = True
    """Whether I/O bypasses the page cache."""
    rate_iops: int | None = None
    """Maximum I/Os per second of each job, for reads and writes together; None for no limit.

    If trims and writes alternate, the limit applies to the trims and to the writes separately.
    """
    arrival: Arrival | None = None
    """When rate-limited requests arrive; None for evenly spaced requests."""
    rate: int | None = None
    """Maximum bytes per second of each job, for reads and writes together; None for no limit."""
    rate_iops_read: int | None = None
    """Maximum reads per second of each job with a mixed pattern; None for no limit."""
    rate_iops_write: int | None = None
    """Maximum writes per second of each job with a mixed pattern; None for no limit."""
    rate_read: int | None = None
    """Maximum bytes that each job with a mixed pattern reads per second; None for no limit."""
    rate_write: int | None = None
    """Maximum bytes that each job with a mixed pattern writes per second; None for no limit."""
    thinktime: int | None = None
    """Length of each pause of a job, in microseconds; None for no pauses."""
    thinktime_blocks: int | None = None
    """Number of I/Os between two pauses; None for one I/O."""
    random_distribution: str | None = None
    """Distribution of random I/Os in fio's syntax (`zipf:1.1`); None for uniform."""
    percentage_random: int | None = None
    """Percent of random I/Os in a random pattern; None for all."""
    offset_increment: int | None = None
    """Bytes between the starts of the jobs; None to divide the target among sequential jobs."""
    norandommap: bool = True
    """Whether random blocks may repeat before every block was used once."""
    randseed: int | None = None
    """Seed of the random offsets; None for a seed drawn by fio."""
    fsync: int | None = None
    """Number of writes between two fsync calls; None for no such calls."""
    fdatasync: int | None = None
    """Number of writes between two fdatasync calls; None for no such calls."""
    number_ios: int | None = None
    """Number of I/Os after which each job ends; None for no limit."""
    io_size: int | None = None
    """Number of bytes after which each job ends; None for no limit."""
    passes: int | None = None
    """Number of times that each job processes its region, or `io_size` bytes, before it ends; None for no limit."""
    hipri: bool | None = None
    """Whether jobs poll for completions; None for interrupts."""
    cpus_allowed: str | None = None
    """Processors that jobs may use; None for all."""
    cpus_allowed_policy: CpuPolicy | None = None
    """Whether each job may use all of `cpus_allowed` or only one of them; None for fio's default, all."""
    numa_cpu_nodes: str | None = None
    """NUMA nodes whose processors jobs use; None for all."""
    numa_mem_policy: str | None = None
    """NUMA policy for the buffers; None for the kernel's choice."""
    sync: SyncMode | None = None
    """How the target is opened for synchronous writes; None for normal writes."""
    buffer_compress_percentage: int | None = None
    """Percent of the written data that compression can remove; None for fio's default, random data."""
    buffer_compress_chunk: int | None = None
    """Size in bytes of the blocks to which `buffer_compress_percentage` applies; None for fio's default, 512."""
    dedupe_percentage: int | None = None
    """Percent of the written blocks that are copies; None for fio's default, none."""
    dedupe_mode: DedupeMode | None = None
    """Which earlier block a duplicate copies; None for fio's default, the previous block."""
    dedupe_working_set_percentage: int | None = None
    """Size of the working set of copies, in percent of the target; None for fio's default, 5."""
    zero_buffers: bool | None = None
    """Whether zeros are written; None for random data."""
    refill_buffers: bool | None = None
    """Whether every write has new random data; None for fio's default, the same data again."""
    scramble_buffers: bool | None = None
    """False if the data stay the same; None for fio's default, where a few bytes change with every write."""
    buffer_pattern: str | None = None
    """Pattern of the data in fio's syntax; None for random data."""
    sqthread_poll: bool | None = None
    """Whether a kernel thread submits the requests of io_uring; None for no."""
    sqthread_poll_cpu: int | None = None
    """Processor of the kernel thread of `sqthread_poll`; None for any."""
    fixedbufs: bool | None = None
    """Whether io_uring maps the buffers into the kernel once, instead of for each request; None for no."""
    registerfiles: bool | None = None
    """Whether the target is registered with the ring of io_uring once; None for no."""
    nonvectored: bool | None = None
    """False for vectored requests of io_uring; None for fio's default, which depends on the kernel."""
    uncached: bool | None = None
    """Whether the kernel drops data from the page cache after the I/O; None for no."""
    extra: Extra | None = None
    """Rare options of fio with their values, passed on unchanged."""

    def __post_init__(self) -> None:
        if problems := problems_of(self):
            raise InvalidJobError(problems)

    @property
    def sections(self) -> tuple[JobSection, ...]:
        """Return the sections of a job that has several; empty for a job of one section."""
        return ()

    @property
    def parts(self) -> tuple[Job, ...]:
        """Return the job of each section; for a job of one section, the job itself."""
        return (self,)

    @property
    def reads(self) -> bool:
        """Return whether the job, or any of its sections, reads."""
        return any(part.rw in _READING for part in self.parts)

    @property
    def writes(self) -> bool:
        """Return whether the job, or any of its sections, writes or trims, so that data on the target are lost."""
        return any(part.rw not in (Pattern.READ, Pattern.RANDREAD) for part in self.parts)

    @property
    def trims(self) -> bool:
        """Return whether the job, or any of its sections, trims."""
        return any(part.rw in _TRIMMING for part in self.parts)

    @property
    def writes_data(self) -> bool:
        """Return whether the job, or any of its sections, writes data: alone, mixed with reads, or after trims."""
        return any(part.writes and part.rw not in (Pattern.TRIM, Pattern.RANDTRIM) for part in self.parts)

    @property
    def size_named(self) -> bool:
        """Return whether the job, or every one of its sections, sets how much of the target it uses."""
        return all(part.size is not None or part.size_percent is not None for part in self.parts)

    @property
    def mixed(self) -> bool:
        """Return whether the job reads and writes, in one section or in several."""
        return self.reads and self.writes

    @property
    def sequential(self) -> bool:
        """Return whether offsets are sequential, in every section."""
        return all(part.rw in _SEQUENTIAL for part in self.parts)

    @property
    def block_sizes(self) -> tuple[int, ...]:
        """Return all used block sizes in bytes, ascending."""
        return tuple(sorted({size for part in self.parts for size, percent in part.shares if percent}))

    @property
    def shares(self) -> Split:
        """Return all block sizes with their percentages; for a range, a sample of its sizes."""
        if self.bssplit is not None:
            return self.bssplit
        if self.bsrange is not None:
            first, last = self.bsrange
            parts = min(10, max(1, last // first))
            sizes = [first + (last - first) * index // max(1, parts - 1) // first * first for index in range(parts)]
            return tuple((size, 100 // parts + (index < 100 % parts)) for index, size in enumerate([*sizes[:-1], last]))
        if self.bs_write is not None and self.mixed:
            return ((self.bs, self.rwmixread), (self.bs_write, 100 - self.rwmixread))
        return ((self.bs, 100),)

    def mean_size_of(self, direction: str) -> float:
        """Return the mean size in bytes of the I/Os in `direction` (`read` or `write`)."""
        if self.bssplit is not None:
            return sum(size * percent for size, percent in self.bssplit) / 100
        if self.bsrange is not None:
            return sum(self.bsrange) / 2
        return float(self.bs if direction == "read" or self.bs_write is None else self.bs_write)

    def smallest_of(self, direction: str) -> int:
        """Return the size in bytes of the smallest I/O in `direction` (`read` or `write`)."""
        if self.bssplit is None and self.bsrange is None:
            return int(self.mean_size_of(direction))
        return self.block_sizes[0]

    @property
    def whole_rate_iops(self) -> int | None:
        """Return the maximum I/Os per second of each job; None if some of its I/Os have no limit of this kind."""
        if self.rate_iops_read is not None and self.rate_iops_write is not None:
            return self.rate_iops_read + self.rate_iops_write
        return self.rate_iops

    @property
    def whole_rate(self) -> int | None:
        """Return the maximum bytes per second of each job; None if some of its I/Os have no limit of this kind."""
        if self.rate_read is not None and self.rate_write is not None:
            return self.rate_read + self.rate_write
        return self.rate

    @property
    def has_rate(self) -> bool:
        """Return whether the rate of all I/Os in all sections is limited, so that the job measures latency."""
        return all(part.whole_rate_iops is not None or part.whole_rate is not None for part in self.parts)

    @property
    def idle_s(self) -> float:
        """Return the longest pause, in seconds, that a job of any section makes between two I/Os."""
        pauses = ((part.thinktime or 0) / 1e6 for part in self.parts)
        return max(*pauses, *(1 / part.whole_rate_iops if part.whole_rate_iops else 0.0 for part in self.parts))

    @property
    def flushes(self) -> bool:
        """Return whether the job, or any of its sections, flushes while it writes."""
        return any(part.fsync is not None or part.fdatasync is not None for part in self.parts)

    @property
    def preallocates(self) -> bool:
        """Return whether the job writes into a scratch file that is preallocated instead of written beforehand."""
        native = ("fallocate", "native")
        return not self.reads and all(native in (part.extra or ()) for part in self.parts)

    @property
    def is_durable(self) -> bool:
        """Return whether writes of any section reach stable media: by flushes, or because writes are synchronous."""
        return self.flushes or any(part.sync is not None for part in self.parts)

    @property
    def ends_by_amount(self) -> bool:
        """Return whether the job, or any of its sections, may end before its run time."""
        return any(getattr(part, key) is not None for part in self.parts for key in _AMOUNTS)

    @property
    def reach(self) -> int | None:
        """Return the byte of the target at which the used region ends; None if it depends on the target's size."""
        if self.size is None or self.offset_percent is not None:
            return None
        return (self.offset or 0) + self.size

    @property
    def longest_s(self) -> float | None:
        """Return the seconds of ramp and run time; None for a job without a time limit."""
        return float(self.ramp + self.runtime) if self.runtime else None

    @property
    def required_alignment(self) -> int:
        """Return the largest logical block size in bytes to which all direct I/O is aligned; 1 without direct I/O."""
        direct = (part for part in self.parts if part.direct)
        return min((_power_of_two_in(math.gcd(*part.block_sizes, part.blockalign or 0)) for part in direct), default=1)

    @property
    def queue(self) -> int:
        """Return the number of I/Os that all jobs together keep in flight."""
        return self.numjobs * (self.iodepth if self.keeps_a_queue else 1)

    @property
    def keeps_a_queue(self) -> bool:
        """Return whether each section can have several I/Os in flight per job. Trims cannot, with any engine."""
        trims = (Pattern.TRIM, Pattern.RANDTRIM)
        return all(part.ioengine.keeps_a_queue and part.rw not in trims for part in self.parts)

    def describe(self) -> str:
        """Return a description of the job in one line: `4k random read · QD 64 · 1 job · 60 s · direct`."""
        sizes = self.block_sizes
        blocks = format_size(sizes[0]) if len(sizes) == 1 else f"{format_size(sizes[0])}-{format_size(sizes[-1])}"
        if self.bs_write is not None and self.mixed:
            blocks = f"{format_size(self.bs)}/{format_size(self.bs_write)}"
        order = "sequential" if self.sequential else "random"
        action = f"{self.rwmixread}/{100 - self.rwmixread} read/write" if self.mixed else _action(self)
        parts = [
            f"{blocks} {order} {action}",
            f"QD {self.iodepth}",
            f"{self.numjobs} job" + ("s" if self.numjobs > 1 else ""),
            f"{self.runtime} s" if self.runtime else "no time limit",
            "direct" if self.direct else "buffered",
            *(text.format(field.format(value)) for field, text, value in self._described_fields()),
        ]
        return " · ".join(parts)

    def _described_fields(self) -> Iterator[tuple[JobField, str, object]]:
        """Yield the fields that `describe` mentions: each field, the text that describes it, and its value."""
        for key, text in _WORDS.items():
            if (value := getattr(self, key)) not in (None, Engine.LIBAIO):
                yield FIELDS_BY_KEY[key], _ONCE.get(key, text) if value == _FEWEST.get(key) else text, value

    def texts(self) -> dict[str, str]:
        """Return every field as text that `from_fields` reads; "" for None."""
        values = {field.key: getattr(self, field.key) for field in FIELDS}
        return {field.key: "" if values[field.key] is None else field.format(values[field.key]) for field in FIELDS}

    def with_fields(self, texts: Mapping[str, str]) -> Job:
        """Return a copy of the job with the fields in `texts` set; see `from_fields` for the rules and errors."""
        return Job.from_fields(texts, self)

    @classmethod
    def from_fields(cls, texts: Mapping[str, str], base: Job | None = None) -> Job:
        """Return the job that the texts of a form or command line describe; `base` has the values of missing fields.

        Unless the texts set a ramp, it is shortened if the run time is no longer than the ramp, and removed if the job
        ends by amount. If the base has several sections, each section is changed. Raises InvalidJobError with a
        sentence for each invalid field.
        """
        if base is not None and base.sections:
            return base.with_fields(texts)
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for key, text in texts.items():
            if (field := FIELDS_BY_KEY.get(key)) is None:
                problems[clean(key, 40)] = "unknown field"
            elif not text.strip() and field.optional:
                values[key] = None
            elif not text.strip():
                problems[key] = "is required"
            else:
                try:
                    values[key] = field.parse(text)
                except InvalidValueError as error:
                    problems[key] = f"{error.message}. {error.hint}" if error.hint else error.message
        if problems:
            raise InvalidJobError(problems)
        start = base or cls()
        if "ramp" not in values and 0 < values.get("runtime", 0) <= start.ramp:
            values["ramp"] = values["runtime"] // 3
        if "ramp" not in values and any(values.get(key) is not None for key in _AMOUNTS):
            values["ramp"] = 0
        return replace(start, **values)


_WORDS = {
    "blockalign": "aligned to {}",
    "rate_iops": "at most {} IOPS a job",
    "rate": "at most {}/s a job",
    "rate_iops_read": "at most {} reads/s a job",
    "rate_iops_write": "at most {} writes/s a job",
    "rate_read": "reads at most {}/s a job",
    "rate_write": "writes at most {}/s a job",
    "arrival": "Poisson arrivals",
    "thinktime": "pauses of {}",
    "random_distribution": "{}",
    "percentage_random": "{} % at random",
    "fsync": "flush every {} writes",
    "fdatasync": "data flush every {} writes",
    "number_ios": "ends after {} I/Os a job",
    "io_size": "ends after {} a job",
    "passes": "ends after {} x its region",
    "ioengine": "{}",
    "hipri": "polling",
    "cpus_allowed": "on CPUs {}",
    "numa_cpu_nodes": "on NUMA nodes {}",
    "numa_mem_policy": "memory {}",
    "size": "first {}",
    "sync": "{} writes",
    "buffer_compress_percentage": "{} % compressible",
    "buffer_compress_chunk": "compressible over {}",
    "dedupe_percentage": "{} % duplicates",
    "dedupe_mode": "duplicates by {}",
    "dedupe_working_set_percentage": "duplicates of {} % of the target",
    "zero_buffers": "zeros",
    "refill_buffers": "refilled buffers",
    "scramble_buffers": "unscrambled buffers",
    "buffer_pattern": "pattern {}",
    "sqthread_poll": "submission thread",
    "sqthread_poll_cpu": "submission on CPU {}",
    "fixedbufs": "fixed buffers",
    "registerfiles": "registered files",
    "nonvectored": "vectored requests",
    "uncached": "uncached",
    "size_percent": "first {} %",
    "offset": "from {}",
    "offset_percent": "from {} %",
    "offset_increment": "jobs {} apart",
    "extra": "{}",
}
"""Text that describes a field if it is set, by the key of the field; {} is its value."""

_FEWEST = {"passes": 1, "offset_increment": 0}
_ONCE = {"passes": "ends after its region", "offset_increment": "all jobs in one place"}
"""Text that describes a field if it has its smallest value, by the key of the field."""


_GIVES_WAY: Mapping[str, tuple[str, ...]] = {
    "bs": ("bs_write", "bssplit", "bsrange"),
    "size": ("size_percent",),
    "size_percent": ("size",),
    "offset": ("offset_percent",),
    "offset_percent": ("offset",),
    "rate_iops": ("rate_iops_read", "rate_iops_write"),
    "rate": ("rate_read", "rate_write"),
}
"""For each field, the fields of a base job that are emptied when it is set."""


def with_replaced_fields(texts: Mapping[str, str], base: Job) -> dict[str, str]:
    """Return the texts, with an empty text added for each field of `base` that they replace."""
    empty = {other for key in texts for other in _GIVES_WAY.get(key, ()) if getattr(base, other) is not None}
    return {**dict.fromkeys(sorted(empty), ""), **texts}


def field_problems(texts: Mapping[str, str], base: Job | None = None) -> Mapping[str, str]:
    """Return a sentence for each invalid field, by key; empty if the texts describe a valid job. Never raises."""
    try:
        Job.from_fields(texts, base)
    except InvalidJobError as error:
        return error.fields
    return {}


def fit_to_flushes(job: Job) -> tuple[Job, tuple[str, ...]]:
    """Return the job, at queue depth 1 with psync instead of libaio if it flushes, and notes about the flush latency.

    With libaio, fio flushes while the previous write is still in flight, so a flush seems to take about twice as long.
    Measured on one machine, the median is 7.7 to 8.1 us, against 3.9 to 4.2 us with psync, which flushes after the
    write has completed.
    """
    if not job.flushes or job.ioengine is not Engine.LIBAIO:
        return job, ()
    if job.iodepth == 1:
        note = (
            "Measured with the engine psync, because with libaio a flush overlaps the write in flight and "
            "has a different latency"
        )
        return replace(job, ioengine=Engine.PSYNC), (note,)
    note = (
        f"At queue depth {job.iodepth} each flush overlaps writes in flight. For the latency of a flush alone, "
        "use queue depth 1"
    )
    return job, (note,)


def fit_to_block_size(job: Job, logical_block_size: int) -> tuple[Job, tuple[str, ...]]:
    """Return the job changed so that a device with this logical block size can serve it, and notes about the changes.

    A 4Kn device refuses smaller direct I/Os with EINVAL. The percentages of sizes that are rounded up to the same size
    are added.
    """
    if not job.direct or job.required_alignment >= logical_block_size:
        return job, ()

    def up(size: int) -> int:
        return -(-size // logical_block_size) * logical_block_size

    split: Split | None = None
    if job.bssplit is not None:
        shares: dict[int, int] = {}
        for size, percent in job.bssplit:
            shares[up(size)] = shares.get(up(size), 0) + percent
        split = tuple(sorted(shares.items()))
    changed = replace(
        job,
        bs=up(job.bs),
        bs_write=None if job.bs_write is None else up(job.bs_write),
        bssplit=split,
        bsrange=None if job.bsrange is None else (up(job.bsrange[0]), up(job.bsrange[1])),
        blockalign=None if job.blockalign is None else up(job.blockalign),
    )
    note = (
        f"The device supports direct I/O only in units of {logical_block_size} bytes. Smaller or unaligned "
        "block sizes and offsets were rounded up, so do not compare the results with a 512-byte device"
    )
    return changed, (note,)


def _action(job: Job) -> str:
    if job.trims:
        return "trim and write" if job.writes_data else "trim"
    return "read" if job.reads else "write"


def _power_of_two_in(number: int) -> int:
    return number & -number
