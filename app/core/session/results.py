"""Results of a run as plain numbers. The names of the fields contain their units."""

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
    """How a run ended, or that it is still running."""

    RUNNING = "running"
    OK = "ok"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyStats:
    """Latencies in nanoseconds. A percentile is None if there are too few I/Os for it."""

    mean: float | None = None
    """Arithmetic mean."""
    stddev: float | None = None
    """Standard deviation."""
    min: int | None = None
    """Minimum."""
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
    """Maximum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionStats:
    """Metrics of one direction (read, write, trim, or flushes) over a whole run, from fio's last output."""

    iops: float
    """Completed I/Os per second of the measured time."""
    bytes_per_second: float
    """Bytes per second of the measured time."""
    total_ios: int
    """Number of completed I/Os; only of those whose latency was measured, if fio reports that number."""
    total_bytes: int
    """Bytes transferred."""
    runtime_s: float
    """Measured time in seconds."""
    latency_ns: LatencyStats
    """Total latency of an I/O, from before submission to completion; for flushes the latency of a flush."""
    bins: tuple[tuple[int, int], ...] = ()
    """Latency histogram: pairs of bucket value in ns and count, ascending. Histograms of several runs can be added."""
    completion_ns: LatencyStats | None = None
    """Latency from submission to completion; None if it is not known."""
    submission_ns: LatencyStats | None = None
    """Latency of the submission alone; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionSample:
    """Metrics of one direction in one interval. Percentiles include earlier intervals if this one has too few I/Os."""

    iops: float
    """Completed I/Os per second in the interval."""
    bytes_per_second: float
    """Bytes per second in the interval."""
    ios: int
    """I/Os completed in the interval."""
    p50_ns: int | None = None
    """Median latency; None without I/Os."""
    p99_ns: int | None = None
    """99th percentile of the latency; None with fewer than 100 I/Os."""
    p99_9_ns: int | None = None
    """99.9th percentile of the latency; None with fewer than 1,000 I/Os."""
    max_ns: int | None = None
    """Maximum latency in the interval. It is exact only if the maximum of the whole run rose in this interval."""
    spread_from: int = 0
    """Number of the first latency bin in `spread`. The bins are those of `widgets.text_utils.ticks`, in ns."""
    spread: tuple[int, ...] = ()
    """Number of I/Os per latency bin, from `spread_from` upwards: a coarse histogram for a heat map."""


T = TypeVar("T")


class _Directions(Generic[T]):
    """Access to the metrics of each direction. Base class of the metrics of runs, intervals, targets and sections."""

    __slots__ = ()

    read: T | None
    write: T | None
    trim: T | None

    def side(self, name: str) -> T | None:
        """Return the metrics of `read`, `write`, `trim` or `sync` (flushes); None if there are none."""
        value: T | None = getattr(self, name, None) if name in SIDES else None
        return value

    @property
    def transfers(self) -> tuple[T, ...]:
        """Return the metrics of reads, writes and trims that are not None. Flushes are left out."""
        return tuple(figures for figures in (self.read, self.write, self.trim) if figures is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSample(_Directions[DirectionSample]):
    """Metrics of a run, or of a part of a run, in one interval."""

    read: DirectionSample | None = None
    """Reads; None if nothing is read."""
    write: DirectionSample | None = None
    """Writes; None if nothing is written."""
    trim: DirectionSample | None = None
    """Trims; None if nothing is trimmed."""
    sync: DirectionSample | None = None
    """Flushes; None without them, and during the ramp, in which fio does not count them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSample(PartSample):
    """Metrics of one of several targets in one interval."""

    target: str
    """Name of the target, as in `RunStarted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSample(PartSample):
    """Metrics of one of several sections of a job in one interval. A section without metrics was not running."""

    name: str
    """Name of the section, as in `RunStarted`."""
    phase: Phase | None = None
    """Phase of the section, ramp or measuring; None while the section was not running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(PartSample):
    """Metrics of a running job in one interval."""

    at: float
    """Seconds from the start of the phase to the end of the interval."""
    seconds: float
    """Length of the interval."""
    phase: Phase
    """Phase of the job: ramp, settling, measuring, layout or filling."""
    stalled: bool = False
    """Whether fio reported nothing in this interval because some I/O took too long."""
    targets: tuple[TargetSample, ...] = ()
    """Samples of several targets, whose sum is this sample; empty for a run on one target."""
    sections: tuple[SectionSample, ...] = ()
    """Samples of all sections of a job that has several. The sum of the running ones is this sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuStats:
    """CPU usage during the measured phase, in percent."""

    fio_percent_of_core: float | None = None
    """CPU time of fio; 100 is one whole core."""
    host_percent: float | None = None
    """CPU time of the whole host; 100 means that all cores are busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStats:
    """Metrics of one block device below the device under test, from the kernel's counters."""

    device: str
    """Kernel name: `nvme0n1`, `sdb1`."""
    label: str = ""
    """Name for users: the address of the target or the model."""
    role: str = ""
    """Role: `write-mostly`, `journal`, `parity`, `spare`, `rebuilding`, `cache`, `origin`, `metadata`, `log`.

    A member that failed during the run is `faulty`, `removed` or `gone`. An ordinary member has "".
    """
    depth: int = 0
    """0 for a member of the device under test, 1 for a member of such a member."""
    read_iops: float | None = None
    """Completed reads per second. This and all following metrics are None if the kernel does not report them."""
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
    """Metrics of a cache that the I/O of a run passes, from the cache's own counters."""

    device: str
    """The cached device, such as `vg0/mail` or `bcache0`; or `ARC` and `L2ARC` of ZFS, which serve all pools."""
    share_of_reads: float | None = None
    """Share of the reads that the cache served, 0..1; None if no read was counted."""
    share_of_writes: float | None = None
    """Share of the writes that went to the cache, 0..1; None if the cache does not count them."""
    dirty: float | None = None
    """Share of the cache that was not written back at the end of the interval or run, 0..1; None if not reported."""
    why_not: str = ""
    """Why `share_of_reads` and `share_of_writes` are both unknown; "" if one is known or no I/O reached the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """An event in the devices below a run: background work of an array, or a changed write cache."""

    at: float
    """Seconds since the start of the run, ramp included."""
    device: str
    """Kernel name of the device, such as `md0`."""
    kind: str
    """What happened: the kind of background work (`resync`, `check`, `reshape`), or `write-cache`."""
    before: str = ""
    """The state before; "" if background work began."""
    after: str = ""
    """The state after; "" if background work ended."""

    @property
    def moved(self) -> bool:
        """Return whether a value changed. If not, background work began or ended."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A condition that makes results doubtful or worthless, and the next step."""

    key: str
    """Name of the condition in docs/advice.md, such as `fio-cpu-bound`."""
    message: str
    """A sentence that describes the condition and contains the numbers."""
    do: str = ""
    """The next step; "" if the message contains it."""
    about: tuple[str, ...] = ()
    """What the advice is about, for programs: kinds of background work, or a setting and its effective value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateResult:
    """How the last rounds of a run compare with the steady state rule (docs/dev/method.md)."""

    attained: bool
    """Whether both limits of the rule are met over a full window."""
    range_share: float | None
    """Difference between the largest and smallest round of the window, divided by their mean; 0.2 is 20 %.

    None before the first full window.
    """
    slope_share: float | None
    """Change of the linear fit from start to end of the window, divided by the mean. None before the first full window.
    """
    rounds: int
    """Number of rounds so far."""
    window: int
    """Number of last rounds that are judged together."""
    round_s: float
    """Seconds of a round."""
    waited_s: float = 0.0
    """Seconds of settling before measuring began.

    0: the run did not wait, and the rule applies to the measured part.
    """
    capped: bool = False
    """Whether measuring began because the wait reached its limit."""
    ended_early: bool = False
    """Whether the run ended before its planned time because it was steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures(_Directions[DirectionStats]):
    """Metrics of one part of a run, such as one target or one section."""

    read: DirectionStats | None = None
    """Reads; None if nothing was read."""
    write: DirectionStats | None = None
    """Writes; None if nothing was written."""
    trim: DirectionStats | None = None
    """Trims; None if nothing was trimmed."""
    sync: DirectionStats | None = None
    """Flushes; None without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStats(PartFigures):
    """Metrics of one of several targets that are measured at the same time.

    Rates refer to the measured time of the run.
    """

    target: str
    """Name of the target, as in `RunStarted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures(PartFigures):
    """Metrics of one of several sections of a job. Rates refer to the section's own measured time, as in fio."""

    name: str
    """Name of the section, as in `RunStarted`."""
    seconds: float = 0.0
    """Measured time of the section in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures(PartFigures):
    """Metrics of a group of sections that fio adds up. The time of each direction is that of the longest section."""

    sections: tuple[str, ...]
    """The names of the sections in the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(_Directions[DirectionStats]):
    """The result of a run, from fio's last output."""

    status: RunStatus
    """How the run ended."""
    reason: str | None = None
    """Why the status is not ok, as a sentence."""
    hint: str = ""
    """The next step; "" if there is none."""
    evidence: str = ""
    """fio's own messages, cleaned; may have several lines."""
    seconds: float = 0.0
    """Measured time in seconds."""
    read: DirectionStats | None = None
    """Reads; None if nothing was read."""
    write: DirectionStats | None = None
    """Writes; None if nothing was written."""
    trim: DirectionStats | None = None
    """Trims; None if nothing was trimmed."""
    sync: DirectionStats | None = None
    """Flushes; None without them."""
    cpu: CpuStats = CpuStats()
    """CPU usage."""
    fio_version: str | None = None
    """Version of fio, such as `fio-3.33`."""
    warnings: tuple[str, ...] = ()
    """Sentences about conditions that make the results doubtful (size clipped, errors ignored)."""
    members: tuple[MemberStats, ...] = ()
    """Metrics of the devices below the device under test in the measured phase; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Metrics of the caches among these devices in the measured phase; empty if there is none."""
    advice: tuple[Advice, ...] = ()
    """Conditions that make the results doubtful, each with the next step."""
    steady: SteadyStateResult | None = None
    """Result of the steady state check. None if the run neither waited for the steady state nor lasted a full window.
    """
    filled_bytes: int = 0
    """Bytes written sequentially before the job, to precondition the target. They are not part of the metrics."""
    targets: tuple[TargetStats, ...] = ()
    """Metrics of several targets, whose sum is the result of the run; empty for a run on one target."""
    sections: tuple[SectionFigures, ...] = ()
    """Metrics of each section of a job that has several; empty for a job of one section.

    In the metrics of the run, sections that ran at the same time are added up, and so are the times of consecutive
    phases.
    """
    groups: tuple[GroupFigures, ...] = ()
    """The groups of sections; empty if there is only one group."""

    still_s: float | None = None
    """Seconds of the longest stall that the job itself does not explain; None if there was none."""
    happened: tuple[RunEvent, ...] = ()
    """Events of the devices during the run, in order of time. `warnings` describes them in words."""


DIRECTIONS = ("read", "write", "trim")
"""Directions that move or discard data, in display order."""

SIDES = (*DIRECTIONS, "sync")
"""All kinds of I/O with metrics, in display order."""
