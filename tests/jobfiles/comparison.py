"""Where the job that raidbench runs differs from the one that fio would run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.jobfiles.meaning import Effective

OWN: Mapping[str, str] = {
    "group_reporting": "one entry of figures for all clones of a job",
    "lat_percentiles": "the latency of an I/O is measured with its submission",
    "exitall_on_error": "a run of which one job failed is no measurement",
    "randrepeat": "a second run on the same blocks would be answered by the cache",
    "fallocate": "a preallocated extent would answer without the device",
}
"""Options that raidbench sets by itself in each job whose file leaves fio's default, and why."""

LABELS = frozenset(
    {
        *("name", "description", "filename", "directory", "filename_format", "thread", "allow_file_create"),
        "percentile_list",  # computed from the histogram, whatever fio prints
    }
)
"""Options that name things or say where a job runs: they change nothing that is measured."""

_FOLLOWING = frozenset({"stonewall", "new_group"})
"""How sections follow each other is compared by itself; groups only change which figures stand together."""

NEVER_BY_NOTE = frozenset(
    (
        *("rw", "bs", "rwmixread", "rate", "rate_iops", "direct", "sync", "ioengine", "iodepth", "numjobs"),
        *("time_based", "stonewall", "size, io_size, number_ios or loops"),
    )
)
"""Options that are the load itself: raidbench runs them as they are or refuses the file."""

_BLOCKS = frozenset({"bs", "bsrange", "bssplit"})
_REGION = frozenset({"size", "offset", "offset_increment", "filesize"})
_LENGTH = frozenset({"io_size", "number_ios", "loops", "time_based", "runtime"})

_QUEUED = ("libaio", "io_uring", "posixaio")

_RELEVANT: Mapping[str, Callable[[Effective], bool]] = {
    "rwmixread": lambda job: job.mixed,
    "norandommap": lambda job: job.random,
    "randseed": lambda job: job.random,
    "random_distribution": lambda job: job.random,
    "percentage_random": lambda job: job.random,
    "random_generator": lambda job: job.random,
    "allrandrepeat": lambda job: job.random,
    "softrandommap": lambda job: job.random and not job.number("norandommap"),
    "ba": lambda job: job.random,
    "fsync": lambda job: job.writes,
    "fdatasync": lambda job: job.writes,
    "end_fsync": lambda job: job.writes,
    "fsync_on_close": lambda job: job.writes,
    "sync": lambda job: job.writes,
    "sync_file_range": lambda job: job.writes,
    "refill_buffers": lambda job: job.writes,
    "scramble_buffers": lambda job: job.writes,
    "zero_buffers": lambda job: job.writes,
    "buffer_compress_percentage": lambda job: job.writes,
    "buffer_compress_chunk": lambda job: job.writes and job.number("buffer_compress_percentage") > 0,
    "dedupe_percentage": lambda job: job.writes,
    "dedupe_mode": lambda job: job.writes and job.number("dedupe_percentage") > 0,
    "dedupe_working_set_percentage": lambda job: job.writes and str(job.value("dedupe_mode")) == "working_set",
    "dedupe_global": lambda job: job.writes and str(job.value("dedupe_mode")) == "working_set",
    "thinktime_blocks": lambda job: job.number("thinktime") > 0,
    "thinktime_blocks_type": lambda job: job.number("thinktime") > 0 and _depth(job) > 1,
    "thinktime_spin": lambda job: job.number("thinktime") > 0,
    "thinktime_iotime": lambda job: job.number("thinktime") > 0,
    "rate_process": lambda job: any(job.value(key) for key in ("rate", "rate_iops")),
    "rate_cycle": lambda job: any(job.value(key) for key in ("rate_min", "rate_iops_min")),
    "rate_ignore_thinktime": lambda job: job.number("thinktime") > 0,
    "iodepth": lambda job: job.value("ioengine") in _QUEUED,
    "iodepth_batch": lambda job: _depth(job) > 1,
    "iodepth_batch_complete_min": lambda job: _depth(job) > 1,
    "iodepth_batch_complete_max": lambda job: _depth(job) > 1,
    "iodepth_low": lambda job: _depth(job) > 1,
    "cpus_allowed_policy": lambda job: bool(job.value("cpus_allowed")),
    "exitall": lambda job: job.number("numjobs") > 1,
    "offset_increment": lambda job: job.number("numjobs") > 1,
    "cmd_type": lambda job: job.value("ioengine") == "io_uring_cmd",
    "nonvectored": lambda job: job.value("ioengine") == "io_uring",
}
"""When an option changes what fio does; options that are absent here always do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An option by which the two jobs differ."""

    option: str
    theirs: object
    """fio's value for the file."""
    ours: object
    """The value in raidbench's own job."""

    def __str__(self) -> str:
        return f"{self.option}: fio {_shown(self.theirs)}, raidbench {_shown(self.ours)}"


def differences(theirs: Effective, ours: Effective, size: int) -> tuple[Difference, ...]:
    """Every option by which raidbench's job differs from fio's on a target of `size` bytes."""
    found = [
        Difference(name, theirs.value(name), ours.value(name))
        for name in sorted(theirs.given | ours.given)
        if name not in LABELS | _FOLLOWING | _BLOCKS | _REGION | _LENGTH
        and _tells(name, theirs, ours)
        and not _alike(name, theirs, ours)
        and not (name in OWN and _alike_values(theirs.value(name), _DEFAULT_OF_OWN[name]))
    ]
    for place in theirs.directions:
        if theirs.blocks(place) != ours.blocks(place):
            found.append(Difference("bs", theirs.blocks(place), ours.blocks(place)))
    return (*found, *_region(theirs, ours, size), *_length(theirs, ours, size))


_DEFAULT_OF_OWN: Mapping[str, object] = {
    "group_reporting": 0,
    "lat_percentiles": 0,
    "exitall_on_error": 0,
    "randrepeat": 1,
    "fallocate": "native",
}


def _tells(name: str, theirs: Effective, ours: Effective) -> bool:
    relevant = _RELEVANT.get(name)
    return relevant is None or relevant(theirs) or relevant(ours)


def _alike(name: str, theirs: Effective, ours: Effective) -> bool:
    one, other = (job.value(name) or 0 for job in (theirs, ours))
    if one == other:
        return True
    sides = [_sides(value) for value in (one, other)]
    if sides[0] is not None and sides[1] is not None:
        return all(_alike_values(sides[0][place], sides[1][place]) for place in theirs.directions)
    return _alike_values(one, other)


def _sides(value: object) -> tuple[object, ...] | None:
    """The values for reads, writes and trims; None for an option that has no such sides."""
    if isinstance(value, tuple) and len(value) == 3:
        return value
    return (0, 0, 0) if value == 0 else None


def _alike_values(one: object, other: object) -> bool:
    if one == other or (not one and not other):
        return True
    first, second = (_numbers(str(value)) for value in (one, other))
    return first is not None and first == second


def _numbers(text: str) -> list[float] | None:
    """The numbers of a list or of a word with numbers (`zipf:1.20`); None for anything else."""
    try:
        return [float(part) for part in re.split("[:,/]", text)]
    except ValueError:
        return None


def _depth(job: Effective) -> int:
    return job.number("iodepth") if job.value("ioengine") in _QUEUED else 1


def _region(theirs: Effective, ours: Effective, size: int) -> tuple[Difference, ...]:
    found = []
    one, other = theirs.region(size), ours.region(size)
    if one[0] != other[0]:
        found.append(Difference("offset", one[0], other[0]))
    if theirs.number("numjobs") > 1 and theirs.number("offset_increment") != ours.number("offset_increment"):
        found.append(Difference("offset_increment", theirs.number("offset_increment"), ours.number("offset_increment")))
    # Where an amount ends the job before the region does and the place is the same, the end tells more than the region.
    if one[1] != other[1] and (theirs.random or theirs.ends_after(size) * _block(theirs) >= one[1]):
        found.append(Difference("size", one[1], other[1]))
    return tuple(found)


def _length(theirs: Effective, ours: Effective, size: int) -> tuple[Difference, ...]:
    found = []
    if theirs.timed != ours.timed:
        found.append(Difference("time_based", theirs.timed, ours.timed))
    if theirs.number("runtime") != ours.number("runtime"):
        found.append(Difference("runtime", theirs.number("runtime"), ours.number("runtime")))
    one, other = theirs.ends_after(size), ours.ends_after(size)
    if one != other and not abs(one - other) <= 1:
        found.append(Difference("size, io_size, number_ios or loops", one, other))
    return tuple(found)


def _block(job: Effective) -> float:
    return sum(job.mean_block(place) for place in job.directions) / max(len(job.directions), 1)


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
