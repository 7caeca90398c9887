"""Results of a run as plain numbers, with the units in their names."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from backends.values import dataclass


class Phase(StrEnum):
    """Phase of a job."""

    PREPARING = "preparing"
    LAYOUT = "laying out file"
    FILLING = "filling"
    RAMP = "ramp"
    SETTLING = "settling"
    MEASURING = "measuring"
    STOPPING = "stopping"
    DONE = "done"


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyStats:
    """Latency in nanoseconds; a percentile is None if there are too few I/Os for it."""

    mean: float | None = None
    """Arithmetic mean."""
    stddev: float | None = None
    """Standard deviation."""
    min: int | None = None
    """Smallest."""
    p50: int | None = None
    """Median."""
    p95: int | None = None
    """95th percentile."""
    p99: int | None = None
    """99th percentile."""
    p99_9: int | None = None
    """99.9th percentile."""
    p99_99: int | None = None
    """99.99th percentile."""
    p99_999: int | None = None
    """99.999th percentile."""
    p99_9999: int | None = None
    """99.9999th percentile."""
    max: int | None = None
    """Largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionStats:
    """One direction (read, write, trim, or the flushes) of a whole run, from fio's last document."""

    iops: float
    """Completed I/Os per second over the measured time."""
    bytes_per_second: float
    """Bytes per second over the measured time."""
    total_ios: int
    """Completed I/Os (those that fio timed, if it reports them)."""
    total_bytes: int
    """Bytes moved."""
    runtime_s: float
    """Measured seconds."""
    latency_ns: LatencyStats
    """Total latency of an I/O, submission and completion; for flushes that of a flush."""
    bins: tuple[tuple[int, int], ...] = ()
    """Histogram: (bucket value in ns, count), ascending; histograms of several runs can be added."""
    completion_ns: LatencyStats | None = None
    """Latency from submission to completion; None if it is not known."""
    submission_ns: LatencyStats | None = None
    """Latency of the submission; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionSample:
    """One direction in one interval."""

    iops: float
    """Completed I/Os per second in the interval."""
    bytes_per_second: float
    """Bytes per second in the interval."""
    ios: int
    """I/Os completed in the interval."""
    p50_ns: int | None = None
    """Median latency; None without I/Os."""
    p99_ns: int | None = None
    """None with fewer than 100 I/Os in the window."""
    p99_9_ns: int | None = None
    """None with fewer than 1,000 I/Os in the window."""
    max_ns: int | None = None
    """Largest latency of the interval (exact if the run's maximum rose in it)."""
    spread_from: int = 0
    """The lowest bin of `spread`, for ns, as in `widgets.text_utils.ticks`."""
    spread: tuple[int, ...] = ()
    """I/Os of the interval per latency bin, from that bin upwards: a coarse histogram for a heat map."""


T = TypeVar("T")


class _Directions(Generic[T]):
    """Accessors for the metrics of each direction, shared by a run, an interval and their parts."""

    __slots__ = ()

    read: T | None
    write: T | None
    trim: T | None

    def side(self, name: str) -> T | None:
        """Return the metrics of `read`, `write` or `trim`, or `sync` (flushes); None if there are none."""
        value: T | None = getattr(self, name, None) if name in SIDES else None
        return value

    @property
    def transfers(self) -> tuple[T, ...]:
        """Return the metrics of all directions that there are, without the flushes."""
        return tuple(figures for figures in (self.read, self.write, self.trim) if figures is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSample(_Directions[DirectionSample]):
    """One interval of a part of a run."""

    read: DirectionSample | None = None
    """None if it does not read."""
    write: DirectionSample | None = None
    """None if it does not write."""
    trim: DirectionSample | None = None
    """None if it does not trim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSample(PartSample):
    """One interval of one of several targets."""

    target: str
    """Its name, as at the start of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSample(PartSample):
    """One interval of one of several sections of a job; a section without a direction was not running."""

    name: str
    """Its name, as at the start of the run."""
    phase: Phase | None = None
    """Ramp or measuring; None while it was not running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(PartSample):
    """One interval of a running job."""

    at: float
    """Seconds from the start of its phase to the end of the interval."""
    seconds: float
    """Length of the interval."""
    phase: Phase
    """Ramp, settling or measuring (or layout, filling)."""
    stalled: bool = False
    """Whether fio reported nothing in this interval, because some I/O took too long."""
    targets: tuple[TargetSample, ...] = ()
    """Each of several targets, which add up to this sample; empty for a run on one target."""
    sections: tuple[SectionSample, ...] = ()
    """Each section of a job that has several, running or not; the running ones add up to this sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuStats:
    """CPU shares during the measured phase, in percent."""

    fio_percent_of_core: float | None = None
    """CPU time of fio; 100 is one core."""
    host_percent: float | None = None
    """CPU time of the whole host; 100 is all cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStats:
    """Metrics of one block device below the device under test, from the kernel's counters."""

    device: str
    """Kernel name: `nvme0n1`, `sdb1`."""
    label: str = ""
    """Its name for users: its target's address or its model."""
    role: str = ""
    """Its role: `write-mostly`, `journal`, `parity`, `spare`, `rebuilding`, `cache`, `origin`, `metadata`, `log`.

    `faulty`, `removed` or `gone` if it failed during the run; "" for an ordinary member.
    """
    depth: int = 0
    """0 for a member of the device under test, 1 for a member of such a member."""
    read_iops: float | None = None
    """Completed reads per second; None, like all that follow, if the kernel does not count them."""
    write_iops: float | None = None
    """Completed writes per second."""
    read_bytes_per_second: float | None = None
    """Bytes read per second."""
    write_bytes_per_second: float | None = None
    """Bytes written per second."""
    utilisation: float | None = None
    """Share of the time with I/O in flight, 0..1."""
    queue: float | None = None
    """Mean number of requests in flight."""
    share_of_reads: float | None = None
    """Share of the reads of all members of the same depth, 0..1; None when there were none."""
    share_of_writes: float | None = None
    """Share of the writes of all members of the same depth, 0..1; None when there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """Metrics of a cache in the I/O path of a run, from its own counters."""

    device: str
    """The cached device: `vg0/mail`, `bcache0`; `ARC` and `L2ARC` of ZFS, which serve all pools."""
    share_of_reads: float | None = None
    """Share of the reads that the cache served, 0..1; None if no read was counted."""
    share_of_writes: float | None = None
    """Share of the writes that the cache took; None if it does not count them."""
    dirty: float | None = None
    """Share of the cache that was not written back yet at the end, 0..1; None if it is not reported."""
    why_not: str = ""
    """Why neither share is known; "" if one is known, or no I/O reached the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """An event below a run: background work of an array, or a changed write cache."""

    at: float
    """Seconds of the run, ramp included."""
    device: str
    """Kernel name: `md0`."""
    kind: str
    """The kind of a task (`resync`, `check`, `reshape`), or `write-cache`."""
    before: str = ""
    """The state before; "" for work that began."""
    after: str = ""
    """The state after; "" for work that ended."""

    @property
    def moved(self) -> bool:
        """Return whether a value changed, instead of work that began or ended."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A condition that makes results doubtful or worthless, and the next step."""

    key: str
    """Its name in docs/advice.md: `fio-cpu-bound`."""
    message: str
    """A sentence with the numbers in it."""
    do: str = ""
    """The next step; "" if the sentence says it."""
    about: tuple[str, ...] = ()
    """Its subject for programs: the kinds of background work, or a setting and its effective value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateResult:
    """The last rounds of a run compared with the steady state rule (docs/dev/method.md)."""

    attained: bool
    """Whether both limits hold over a full window."""
    range_share: float | None
    """Largest minus smallest round by their mean, 0.2 for 20 %; None before the first full window."""
    slope_share: float | None
    """Rise or fall of the linear fit over the window by the mean; None before the first full window."""
    rounds: int
    """Rounds so far."""
    window: int
    """Number of last rounds that are judged together."""
    round_s: float
    """Seconds of a round."""
    waited_s: float = 0.0
    """Seconds of settling before measuring began; 0 if the run did not wait, so that the measured part is judged."""
    capped: bool = False
    """Whether measuring began because the wait reached its limit."""
    ended_early: bool = False
    """Whether the run ended before its planned time because it was steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures(_Directions[DirectionStats]):
    """Metrics of a part of a run."""

    read: DirectionStats | None = None
    """None if nothing was read."""
    write: DirectionStats | None = None
    """None if nothing was written."""
    trim: DirectionStats | None = None
    """None if nothing was trimmed."""
    sync: DirectionStats | None = None
    """Flushes; None without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStats(PartFigures):
    """Metrics of one of several targets measured at the same time; rates are over the time of the whole run."""

    target: str
    """Its name, as at the start of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures(PartFigures):
    """Metrics of one of several sections of a job; rates are over the section's own time, as in fio."""

    name: str
    """Its name, as at the start of the run."""
    seconds: float = 0.0
    """Its measured seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures(PartFigures):
    """Sections that fio adds up: counts are added, and each direction has the time of the longest section."""

    sections: tuple[str, ...]
    """The names of its sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(_Directions[DirectionStats]):
    """The result of a run, from fio's last document."""

    status: RunStatus
    """How it ended."""
    reason: str | None = None
    """A sentence if it is not ok."""
    hint: str = ""
    """The next step; "" if there is none, or nothing is wrong."""
    evidence: str = ""
    """fio's own messages, cleaned, several lines."""
    seconds: float = 0.0
    """Measured seconds."""
    read: DirectionStats | None = None
    """None if nothing was read."""
    write: DirectionStats | None = None
    """None if nothing was written."""
    trim: DirectionStats | None = None
    """None if nothing was trimmed."""
    sync: DirectionStats | None = None
    """Flushes; None without them."""
    cpu: CpuStats = CpuStats()
    """CPU shares."""
    fio_version: str | None = None
    """`fio-3.33`."""
    warnings: tuple[str, ...] = ()
    """Sentences about conditions that make the results doubtful (size clipped, errors ignored)."""
    members: tuple[MemberStats, ...] = ()
    """Devices below the one under test, over the measured phase; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them, over the measured phase; empty if there is none."""
    advice: tuple[Advice, ...] = ()
    """Conditions to consider when reading the results."""
    steady: SteadyStateResult | None = None
    """The steady state result; None for a run that did not wait for it and is too short for a window of rounds."""
    filled_bytes: int = 0
    """Bytes written in order before the job, to precondition the target; not part of the metrics."""
    targets: tuple[TargetStats, ...] = ()
    """Each of several targets, which add up to the run; empty for a run on one target."""
    sections: tuple[SectionFigures, ...] = ()
    """Each section of a job that has several; empty for a job of one section.

    The metrics of the run add up the sections that ran at the same time. The times of consecutive phases are added.
    """
    groups: tuple[GroupFigures, ...] = ()
    """The groups of sections if there is more than one group; empty otherwise."""

    still_s: float | None = None
    """Seconds of the longest stall that the job does not explain; None without one."""
    happened: tuple[RunEvent, ...] = ()
    """Events of the devices during the run, in order of time; `warnings` has them in words."""


DIRECTIONS = ("read", "write", "trim")
"""Directions that move or discard data, in display order."""

SIDES = (*DIRECTIONS, "sync")
"""All kinds of I/O with metrics, in display order."""
