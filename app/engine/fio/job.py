"""A job: what to measure, as a value that is valid or does not exist."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.engine.fio.fields import FIELDS, Arrival, Engine, Pattern, Split
from app.engine.fio.sizes import format_size
from app.engine.fio.target import JobTarget, TargetKind
from backends.errors import InvalidValueError
from backends.text import clean

__all__ = ["Arrival", "Engine", "InvalidJobError", "Job", "JobTarget", "Pattern", "TargetKind", "check", "fit"]

_SECTOR = 512
_LARGEST_BLOCK = 1 << 30
_LARGEST_BUFFERS = 4 << 30
_LONGEST = 7 * 86400


class InvalidJobError(InvalidValueError):
    """Fields that do not make a job; `fields` has a sentence for each, for a form to show at the field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{key}: {problem}" for key, problem in problems.items()))
        self.fields: Mapping[str, str] = dict(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A workload. Sizes are bytes, times seconds.

    Raises InvalidJobError when the fields do not fit together.
    """

    rw: Pattern = Pattern.RANDREAD
    """Sequential or random, reads, writes or both."""
    bs: int = 4096
    """Bytes of one I/O; of no effect beside `bssplit`."""
    bssplit: Split | None = None
    """Block sizes with percentages that add up to 100."""
    blockalign: int | None = None
    """Random offsets are multiples of it; None is fio's default, the smallest block size."""
    iodepth: int = 1
    """I/Os each job keeps in flight."""
    numjobs: int = 1
    """Threads doing the same at once."""
    rwmixread: int = 50
    """Percent of reads of a mixed pattern."""
    runtime: int = 60
    """Measured seconds, after the ramp."""
    ramp: int = 10
    """Seconds of warm-up before."""
    size: int | None = None
    """Bytes of the target to use, from its start; None is all of it."""
    ioengine: Engine = Engine.LIBAIO
    """How requests reach the kernel."""
    direct: bool = True
    """Past the page cache."""
    rate_iops: int | None = None
    """Limit of I/Os per second and job, reads and writes together."""
    arrival: Arrival | None = None
    """When the requests of a held rate come; None is evenly."""
    offset_increment: int | None = None
    """Bytes between the starts of the jobs; None shares the target out between sequential jobs."""
    norandommap: bool = True
    """Random blocks may repeat before all were touched."""
    randseed: int | None = None
    """Seed of the random offsets; None lets fio draw one."""
    fsync: int | None = None
    """Writes between two fsync calls; None for none."""

    def __post_init__(self) -> None:
        if problems := _problems(self):
            raise InvalidJobError(problems)

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.rw not in (Pattern.WRITE, Pattern.RANDWRITE)

    @property
    def writes(self) -> bool:
        """Whether it writes, so whether the data of the target are lost."""
        return self.rw not in (Pattern.READ, Pattern.RANDREAD)

    @property
    def mixed(self) -> bool:
        """Whether it reads and writes."""
        return self.reads and self.writes

    @property
    def sequential(self) -> bool:
        """Whether offsets follow each other."""
        return self.rw in (Pattern.READ, Pattern.WRITE, Pattern.READWRITE)

    @property
    def block_sizes(self) -> tuple[int, ...]:
        """All block sizes in use, ascending, bytes."""
        if self.bssplit is None:
            return (self.bs,)
        return tuple(sorted({size for size, percent in self.bssplit if percent}))

    @property
    def mean_block_size(self) -> float:
        """Bytes of an average I/O."""
        if self.bssplit is None:
            return float(self.bs)
        return sum(size * percent for size, percent in self.bssplit) / 100

    @property
    def required_alignment(self) -> int:
        """The largest logical block size of a device that can serve this job, bytes; 1 without direct I/O."""
        if not self.direct:
            return 1
        return _power_of_two_in(math.gcd(*self.block_sizes, self.blockalign or 0))

    @property
    def queue(self) -> int:
        """I/Os in flight altogether."""
        return self.numjobs * (self.iodepth if self.ioengine.keeps_a_queue else 1)

    def describe(self) -> str:
        """One line: `4k random read · QD 64 · 1 job · 60 s · direct`."""
        sizes = self.block_sizes
        blocks = format_size(sizes[0]) if len(sizes) == 1 else f"{format_size(sizes[0])}-{format_size(sizes[-1])}"
        order = "sequential" if self.sequential else "random"
        what = f"{self.rwmixread}/{100 - self.rwmixread} read/write" if self.mixed else _action(self)
        parts = [
            f"{blocks} {order} {what}",
            f"QD {self.iodepth}",
            f"{self.numjobs} job" + ("s" if self.numjobs > 1 else ""),
            f"{self.runtime} s",
            "direct" if self.direct else "buffered",
        ]
        if self.blockalign is not None:
            parts.append(f"aligned to {format_size(self.blockalign)}")
        if self.rate_iops is not None:
            parts.append(f"at most {self.rate_iops} IOPS a job")
        if self.arrival is Arrival.POISSON:
            parts.append("Poisson arrivals")
        if self.fsync is not None:
            parts.append(f"flush every {self.fsync} writes")
        if self.ioengine is not Engine.LIBAIO:
            parts.append(self.ioengine)
        if self.size is not None:
            parts.append(f"first {format_size(self.size)}")
        return " · ".join(parts)

    def texts(self) -> dict[str, str]:
        """Every field as text that `from_fields` reads back; "" where there is none."""
        values = {field.key: getattr(self, field.key) for field in FIELDS}
        return {field.key: "" if values[field.key] is None else field.format(values[field.key]) for field in FIELDS}

    @classmethod
    def from_fields(cls, texts: Mapping[str, str], base: Job | None = None) -> Job:
        """The job that texts of a form or command line ask for; absent fields are those of `base`.

        A run time as short as the base's ramp shortens the ramp too, unless the texts name one.
        Raises InvalidJobError with a sentence for each field that is wrong.
        """
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        known = {field.key: field for field in FIELDS}
        for key, text in texts.items():
            if (field := known.get(key)) is None:
                problems[clean(key, 40)] = "there is no such field"
            elif not text.strip() and field.optional:
                values[key] = None
            elif not text.strip():
                problems[key] = "is needed"
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
        return replace(start, **values)


def check(texts: Mapping[str, str], base: Job | None = None) -> Mapping[str, str]:
    """A sentence for each field that is wrong; empty when the texts make a job. Never raises."""
    try:
        Job.from_fields(texts, base)
    except InvalidJobError as error:
        return error.fields
    return {}


def fit(job: Job, logical_block_size: int) -> tuple[Job, tuple[str, ...]]:
    """The job as a device with this logical block size can serve it, and sentences saying what was changed.

    A 4Kn device refuses smaller direct I/Os with EINVAL; their share is given to the smallest size it takes.
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
    align = None if job.blockalign is None else up(job.blockalign)
    changed = replace(job, bs=up(job.bs), bssplit=split, blockalign=align)
    note = (
        f"The device takes direct I/O in units of {logical_block_size} bytes only: smaller or uneven"
        f" block sizes"
        f" and offsets were rounded up to it, so figures are not comparable with those of a 512-byte device"
    )
    return changed, (note,)


def _action(job: Job) -> str:
    return "read" if job.reads else "write"


def _power_of_two_in(number: int) -> int:
    return number & -number


def _problems(job: Job) -> dict[str, str]:
    """What is wrong with each field, first complaint first."""
    found: dict[str, str] = {}

    def need(key: str, condition: bool, sentence: str) -> None:
        if not condition:
            found.setdefault(key, sentence)

    sizes = [size for size, _ in job.bssplit] if job.bssplit else [job.bs]
    where = "bssplit" if job.bssplit else "bs"
    need(where, min(sizes) >= 1, "a block has at least one byte")
    need(where, max(sizes) <= _LARGEST_BLOCK, "a block larger than 1G is not sensible")
    if job.bssplit is not None:
        total = sum(percent for _, percent in job.bssplit)
        need("bssplit", bool(job.bssplit), "name at least one block size")
        need("bssplit", total == 100, f"the percentages add up to {total}, not 100")
        need("bssplit", len(job.bssplit) <= 64, "fio takes at most 64 block sizes")
    if job.direct:
        need(
            where,
            all(size % _SECTOR == 0 for size in sizes),
            "direct I/O moves whole sectors: use a multiple of 512 bytes, or switch direct off",
        )
    if job.blockalign is not None:
        need("blockalign", job.blockalign >= 1, "must be at least one byte")
        need("blockalign", not job.direct or job.blockalign % _SECTOR == 0, "must be a multiple of 512 bytes")
        need("blockalign", not job.sequential, "only random offsets can be aligned")
    need("iodepth", 1 <= job.iodepth <= 65536, "between 1 and 65536")
    need("numjobs", 1 <= job.numjobs <= 1024, "between 1 and 1024")
    buffers = max(sizes) * job.iodepth * job.numjobs
    need(
        "iodepth",
        buffers <= _LARGEST_BUFFERS,
        f"{job.numjobs} x {job.iodepth} blocks of {format_size(max(sizes))} need"
        f" {buffers / (1 << 30):.0f} GiB of memory; 4 GiB is the limit",
    )
    need("rwmixread", 0 <= job.rwmixread <= 100, "a percentage, 0 to 100")
    need("runtime", 1 <= job.runtime <= _LONGEST, "between 1 second and 7 days")
    need("ramp", 0 <= job.ramp <= _LONGEST, "between 0 and 7 days")
    # axboe/fio#2041: a ramp longer than the run misbehaves.
    need("ramp", job.ramp < max(job.runtime, 1), "the ramp must be shorter than the run time")
    if job.size is not None:
        need("size", job.size >= max(sizes), "must hold at least one block")
    need("rate_iops", job.rate_iops is None or job.rate_iops >= 1, "at least 1; leave it empty for no limit")
    scarce = min(job.rwmixread, 100 - job.rwmixread) if job.mixed else 0
    if job.rate_iops is not None and scarce > 0:
        least = -(-100 // scarce)
        need("rate_iops", job.rate_iops >= least, f"at least {least}, for one read and one write a second")
    if job.arrival is Arrival.POISSON:
        need("arrival", job.rate_iops is not None, "only of a held rate: name an IOPS limit")
        # axboe/fio#2028: fio looks up the rate of a flush where there is none.
        need("arrival", job.fsync is None, "fio crashes when flushes come at random: take uniform, or no flushes")
    need("offset_increment", job.offset_increment is None or job.offset_increment >= 0, "cannot be negative")
    need("randseed", job.randseed is None or 0 <= job.randseed < 1 << 64, "between 0 and 2^64 - 1")
    need(
        "fsync",
        job.fsync is None or (job.fsync >= 1 and job.writes),
        "at least 1, and only for jobs that write",
    )
    return found
