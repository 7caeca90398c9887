"""The fields of a job, declared once for the form, the command line, sweep axes and job files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from app.core.fio import job_values as values
from app.core.fio.extra import format_extra, parse_extra
from app.core.fio.job_values import Arrival, DedupeMode, Engine, Pattern, SyncMode
from app.core.fio.sizes import parse_size
from app.core.session.unit_labels import within_sentence
from backends.units import text_in_unit
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobField:
    """A field of a job: its name on the command line, its texts, its parser and its formatter."""

    key: str
    """Name of the attribute of `Job`; `--rate-iops` on the command line is `rate_iops` here."""
    label: str
    """Label in a form."""
    help: str
    """Help text of one sentence."""
    parse: Callable[[str], object]
    """Converts text to a value. Raises InvalidValueError for an illegal text."""
    format: Callable[[object], str] = str
    """Converts a value to text that `parse` reads."""
    choices: tuple[str, ...] = ()
    """All legal values; empty for free text."""
    optional: bool = False
    """Whether an empty text is legal and means None."""
    unit: str = ""
    """Unit of a number that is written without a unit; "" if it is obvious or always part of the text."""
    option: str = ""
    """Name of fio's option for the field; "" if it is the same as `key`."""

    @property
    def fio(self) -> str:
        """Return the name of fio's option for the field."""
        return self.option or self.key

    @property
    def metavar(self) -> str:
        """Return the placeholder (metavar) for the field's value in help texts; VALUE for types without a name."""
        if self.is_size:
            return "SIZE"
        if self.parse is values.parse_number:
            return "PERCENT" if self.unit == "%" else "N"
        return {"s": "SECONDS"}.get(self.unit, _METAVARS.get(self.key, "VALUE"))

    @property
    def is_size(self) -> bool:
        """Return whether the value is in bytes."""
        return self.parse is parse_size

    @property
    def is_flag(self) -> bool:
        """Return whether the value is yes or no."""
        return self.format is values.format_flag

    def in_fio(self, value: object) -> str:
        """Return the value as it is written in a job file."""
        match value:
            case bool():
                return str(int(value))
            case SyncMode() if value is SyncMode.SYNC:  # compared by type, because the engine sync has the same text
                return "1"  # the only spelling that every fio version knows
            case StrEnum():
                return value.value
            case _:
                return self.format(value)


_METAVARS = {
    "bssplit": "SIZE/PERCENT:...",
    "bsrange": "SIZE-SIZE",
    "thinktime": "DURATION",
    "random_distribution": "DISTRIBUTION",
    "cpus_allowed": "CPU,...",
    "numa_cpu_nodes": "NODE,...",
    "numa_mem_policy": "POLICY",
    "buffer_pattern": "PATTERN",
    "extra": "OPTION=VALUE...",
}
"""The placeholders (metavars) of fields that are neither sizes nor numbers, by key."""


def field_text(key: str, text: str) -> str:
    """Return a field and its value as part of a sentence: `queue depth 8`, `read share 70 %`."""
    return f"{within_sentence(FIELDS_BY_KEY[key].label)} {text_in_unit(text, unit_of(key))}"


def unit_of(key: str) -> str:
    """Return the unit of a field's number that is written without a unit; "" if it is obvious."""
    return FIELDS_BY_KEY[key].unit


def _size(key: str, label: str, about: str, *, optional: bool = False) -> JobField:
    return JobField(
        key=key,
        label=label,
        help=about,
        parse=parse_size,
        format=values.format_bytes,
        optional=optional,
    )


def _count(key: str, label: str, about: str, *, optional: bool = False, unit: str = "") -> JobField:
    return JobField(key=key, label=label, help=about, parse=values.parse_number, optional=optional, unit=unit)


def _flag(key: str, label: str, about: str) -> JobField:
    return JobField(
        key=key, label=label, help=about, parse=values.parse_flag, format=values.format_flag, choices=("yes", "no")
    )


def _optional_flag(
    key: str, label: str, about: str, parse: Callable[[str], object] = values.parse_yes_or_none
) -> JobField:
    return replace(_flag(key, label, about), parse=parse, optional=True)


def _choice(
    key: str, label: str, about: str, kind: type[StrEnum], description: str, *, optional: bool = False, **more: Any
) -> JobField:
    parse = values.one_of(kind, description)
    return JobField(key=key, label=label, help=about, parse=parse, choices=tuple(kind), optional=optional, **more)


def _optional(key: str, label: str, about: str, parse: Callable[[str], object], **more: Any) -> JobField:
    return JobField(key=key, label=label, help=about, parse=parse, optional=True, **more)


_OF_ONE = "Limit the {1} of each mixed job to this many {0} per second (default: no limit)."

FIELDS: tuple[JobField, ...] = (
    _choice("rw", "Pattern", "Order of the I/O. Trims destroy data.", Pattern, "an I/O pattern"),
    _size("bs", "Block size", "Block size, such as 4k or 1M."),
    _optional(
        "bssplit",
        "Block size mix",
        "Mix of block sizes with percentages, such as 512/10:4k/60:64k/30.",
        values.parse_split,
        format=values.format_split,
    ),
    _size(
        "bs_write",
        "Block size of writes",
        "Block size of writes in a mixed job (default: that of reads).",
        optional=True,
    ),
    _optional(
        "bsrange",
        "Block size range",
        "Range of block sizes, all equally frequent, such as 4k-64k.",
        values.parse_span,
        format=values.format_span,
    ),
    _size(
        "blockalign",
        "Alignment",
        "Alignment of random offsets (default: the smallest block size).",
        optional=True,
    ),
    _count("iodepth", "Queue depth", "Queue depth of each job."),
    _count("numjobs", "Jobs", "Number of identical jobs that run in parallel."),
    _count("rwmixread", "Read share", "Share of reads in a mixed job.", unit="%"),
    JobField(
        key="runtime",
        label="Run time",
        help="Measured time after the ramp. 0 means no limit for a job that ends by amount.",
        parse=values.parse_seconds,
        unit="s",
    ),
    JobField(
        key="ramp",
        label="Ramp",
        help="Warm-up time before the measurement.",
        parse=values.parse_seconds,
        unit="s",
        option="ramp_time",
    ),
    _size("size", "Region", "Size of the used region of the target (default: all of it).", optional=True),
    _count(
        "size_percent", "Region share", "Size of the used region in percent of the target.", optional=True, unit="%"
    ),
    _size("offset", "Start", "Start of the used region (default: the start of the target).", optional=True),
    _count(
        "offset_percent", "Start share", "Start of the used region in percent of the target.", optional=True, unit="%"
    ),
    _choice("ioengine", "I/O engine", "fio engine that submits the I/O.", Engine, "an I/O engine raidbench uses"),
    _flag("direct", "Direct I/O", "Bypass the page cache. Buffered I/O measures memory."),
    _count(
        "rate_iops",
        "IOPS limit",
        "Limit each job to this many I/Os per second, reads and writes together (default: no limit).",
        optional=True,
    ),
    _size(
        "rate",
        "Rate limit",
        "Limit each job to this many bytes per second, reads and writes together, such as 20M.",
        optional=True,
    ),
    _count("rate_iops_read", "IOPS limit of reads", _OF_ONE.format("I/Os", "reads"), optional=True),
    _count("rate_iops_write", "IOPS limit of writes", _OF_ONE.format("I/Os", "writes"), optional=True),
    _size("rate_read", "Rate limit of reads", _OF_ONE.format("bytes", "reads"), optional=True),
    _size("rate_write", "Rate limit of writes", _OF_ONE.format("bytes", "writes"), optional=True),
    _optional(
        "arrival",
        "Arrivals",
        "Arrival of requests at a limited rate: uniform, or random as from many users (poisson).",
        values.parse_arrival,
        choices=tuple(Arrival),
        option="rate_process",
    ),
    _optional(
        "thinktime",
        "Think time",
        "Pause of each job between its blocks, such as 500us or 2ms.",
        values.parse_microseconds,
        format=values.format_microseconds,
    ),
    _count("thinktime_blocks", "I/Os per pause", "Number of I/Os between two pauses (default: 1).", optional=True),
    _optional(
        "random_distribution",
        "Distribution",
        "Distribution of random offsets: zipf:1.1, pareto:0.9, normal:20, zoned:60/10:40/90 (default: uniform).",
        values.parse_distribution,
    ),
    _count(
        "percentage_random",
        "Random share",
        "Share of random offsets in a random pattern. The other I/Os are sequential.",
        optional=True,
        unit="%",
    ),
    _size(
        "offset_increment",
        "Stream distance",
        "Distance between the start offsets of jobs (default: sequential jobs share the target).",
        optional=True,
    ),
    _flag(
        "norandommap",
        "No random map",
        "Do not track which blocks were used. The map of an 8 TiB array needs 270 MB.",
    ),
    _count("randseed", "Random seed", "Seed of the random offsets (default: a new one for each run).", optional=True),
    _count(
        "fsync", "Flush every", "Call fsync after this many writes, as databases do (default: never).", optional=True
    ),
    _count(
        "fdatasync",
        "Data flush every",
        "Call fdatasync after this many writes (default: never). It does not flush file timestamps.",
        optional=True,
    ),
    _count("number_ios", "End after I/Os", "End each job after this many I/Os, or at its run time.", optional=True),
    _size(
        "io_size",
        "End after bytes",
        "End each job after this many bytes, or at its run time.",
        optional=True,
    ),
    _count(
        "passes",
        "End after passes",
        "End each job after this many passes over its region (or --io-size), or at its run time.",
        optional=True,
    ),
    _optional_flag("hipri", "Polling", "Poll for completions instead of waiting for interrupts (io_uring, pvsync2)."),
    _optional("cpus_allowed", "Processors", "CPUs that the jobs may use, such as 0-3,8.", values.parse_list),
    _choice(
        "cpus_allowed_policy",
        "CPU sharing",
        "Run all jobs on all of these CPUs (shared), or each job on one of them (split).",
        values.CpuPolicy,
        "a way to share processors",
        optional=True,
    ),
    _optional(
        "numa_cpu_nodes",
        "NUMA nodes",
        "NUMA nodes whose CPUs run the jobs: 0, 0-1, all.",
        values.parse_nodes,
    ),
    _optional(
        "numa_mem_policy",
        "NUMA memory",
        "Memory policy of the I/O buffers: local, bind:0, prefer:1, interleave:0-1.",
        values.parse_memory_policy,
    ),
    _optional(
        "sync",
        "Synchronous writes",
        "Open the target with O_SYNC (sync) or O_DSYNC (dsync), so that a write completes only on stable media.",
        values.parse_sync,
        choices=tuple(SyncMode),
    ),
    _count(
        "buffer_compress_percentage",
        "Compressible",
        "Share of the written data that compression can remove.",
        optional=True,
        unit="%",
    ),
    _size(
        "buffer_compress_chunk",
        "Compressible chunk",
        "Size of the blocks to which the compressible share applies (default: 512).",
        optional=True,
    ),
    _count(
        "dedupe_percentage",
        "Duplicates",
        "Share of the written blocks that are copies of earlier blocks.",
        optional=True,
        unit="%",
    ),
    _choice(
        "dedupe_mode",
        "Duplicate source",
        "Copy the previous block (repeat) or any block of a working set (working_set).",
        DedupeMode,
        "a mode of duplicates",
        optional=True,
    ),
    _count(
        "dedupe_working_set_percentage",
        "Duplicate set",
        "Size of the working set of duplicates in percent of the target (default: 5).",
        optional=True,
        unit="%",
    ),
    _optional_flag("zero_buffers", "Zeros", "Write zeros only."),
    _optional_flag("refill_buffers", "Refill buffers", "Fill the buffer with new random data before every write."),
    _optional_flag(
        "scramble_buffers",
        "Scramble buffers",
        "Change a few bytes of the buffer before every write (default: yes).",
        values.parse_no_or_none,
    ),
    _optional(
        "buffer_pattern",
        "Data pattern",
        'Pattern to write: 0xdeadbeef, 1234 or "text". File names are refused.',
        values.parse_buffer_pattern,
    ),
    _optional_flag("sqthread_poll", "Submission thread", "Submit requests from a kernel thread (io_uring)."),
    _count("sqthread_poll_cpu", "Submission CPU", "CPU of the submission thread (io_uring).", optional=True),
    _optional_flag("fixedbufs", "Fixed buffers", "Map the I/O buffers into the kernel once (io_uring)."),
    _optional_flag("registerfiles", "Registered files", "Register the target file with the ring once (io_uring)."),
    _optional_flag(
        "nonvectored",
        "Non-vectored",
        "Use non-vectored requests if the kernel supports them (io_uring; default: yes).",
        values.parse_no_or_none,
    ),
    _optional_flag("uncached", "Uncached", "Drop the data from the page cache after buffered I/O (io_uring)."),
    _optional(
        "extra",
        "More options",
        "More fio options in fio's own syntax: iodepth_low=8 end_fsync=1.",
        parse_extra,
        format=format_extra,
    ),
)
"""All fields, in the order of a job file. Forms and help texts show them by `GROUPS`."""

FIELDS_BY_KEY: Mapping[str, JobField] = {field.key: field for field in FIELDS}

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Load": (
        *("rw", "bs", "iodepth", "numjobs", "rwmixread", "bssplit", "bs_write", "bsrange", "blockalign"),
        "random_distribution",
        *("percentage_random", "offset_increment", "norandommap", "randseed", "fsync", "fdatasync", "sync"),
    ),
    "Duration and amount": (
        *("runtime", "ramp", "size", "size_percent", "offset", "offset_percent"),
        *("number_ios", "io_size", "passes"),
    ),
    "Rate and arrival": (
        *("rate_iops", "rate", "rate_iops_read", "rate_iops_write", "rate_read", "rate_write"),
        *("arrival", "thinktime", "thinktime_blocks"),
    ),
    "Engine, CPUs and memory": (
        *("ioengine", "direct", "hipri", "cpus_allowed", "cpus_allowed_policy"),
        *("numa_cpu_nodes", "numa_mem_policy"),
        *("sqthread_poll", "sqthread_poll_cpu", "fixedbufs", "registerfiles", "nonvectored", "uncached", "extra"),
    ),
    "Written data": (
        *("buffer_compress_percentage", "buffer_compress_chunk", "dedupe_percentage", "dedupe_mode"),
        *("dedupe_working_set_percentage", "zero_buffers", "refill_buffers", "scramble_buffers", "buffer_pattern"),
    ),
}
"""Keys of all fields, grouped by the heading under which forms and help texts show them."""

COMMON = frozenset(("rw", "bs", "iodepth", "numjobs", "rwmixread", "runtime", "ramp", "size", "ioengine", "direct"))
"""Keys of the fields that most jobs set; a form shows other fields only if their value is not the default."""
