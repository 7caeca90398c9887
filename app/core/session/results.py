"""What a run measured: plain numbers with their units in the name."""

from __future__ import annotations

from enum import StrEnum

from backends.values import dataclass


class Phase(StrEnum):
    """What a job is doing."""

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
    """Latency in nanoseconds; a percentile is None where too few I/Os carry it."""

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
    """Completed I/Os (those that fio timed, where it says)."""
    total_bytes: int
    """Bytes moved."""
    runtime_s: float
    """Measured seconds."""
    latency_ns: LatencyStats
    """What an I/O takes in all, submission and completion; of the flushes, of a flush."""
    bins: tuple[tuple[int, int], ...] = ()
    """Histogram: (bucket value in ns, count), ascending; merges across runs by adding."""
    completion_ns: LatencyStats | None = None
    """From submission to completion; None where it is not known."""
    submission_ns: LatencyStats | None = None
    """What submitting took; None where it is not known."""


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
    """The lowest bin of `spread`, as `widgets.text_utils.ticks` has them, of ns."""
    spread: tuple[int, ...] = ()
    """I/Os of the interval by their latency, in this bin and those above it: a coarse histogram for a heat map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSample:
    """A part of what a run did in one interval."""

    read: DirectionSample | None = None
    """None if it does not read."""
    write: DirectionSample | None = None
    """None if it does not write."""
    trim: DirectionSample | None = None
    """None if it does not trim."""

    def side(self, name: str) -> DirectionSample | None:
        """Return the sample of `read`, `write` or `trim`; None where the part does not."""
        return {"read": self.read, "write": self.write, "trim": self.trim}.get(name)

    @property
    def transfers(self) -> tuple[DirectionSample, ...]:
        """All directions that the part has."""
        return tuple(sample for sample in (self.read, self.write, self.trim) if sample is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSample(PartSample):
    """One of several targets in one interval."""

    target: str
    """What it is called, as in the start of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSample(PartSample):
    """One of several sections of a job in one interval; without a direction it was not running."""

    name: str
    """Its name, as in the start of the run."""
    phase: Phase | None = None
    """Ramp or measuring; None while it was not running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(PartSample):
    """One interval of a running job."""

    at: float
    """Seconds from the start of the phase it belongs to, to the end of the interval."""
    seconds: float
    """Length of the interval."""
    phase: Phase
    """Ramp, settling or measuring (or laying out, filling)."""
    stalled: bool = False
    """fio fell silent in this interval: some I/O did not come back in time."""
    targets: tuple[TargetSample, ...] = ()
    """Each of several targets, whose sum the rest is; empty of a run on one."""
    sections: tuple[SectionSample, ...] = ()
    """Each section of a job that has several, running or not, whose sum the rest is; empty for a job of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuStats:
    """Processor shares during the measured phase, in percent."""

    fio_percent_of_core: float | None = None
    """CPU time of fio; 100 is one core."""
    host_percent: float | None = None
    """CPU time of the whole host; 100 is all cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStats:
    """One block device below the one under test, from the kernel's counters."""

    device: str
    """Kernel name: `nvme0n1`, `sdb1`."""
    label: str = ""
    """What it is to a person: its target's address or its model."""
    role: str = ""
    """Its role in the array: `write-mostly`, `journal`, `parity`, `spare`, `rebuilding`, `cache`, `origin`,
    `metadata`, `log`; `faulty`, `removed` or `gone` of
    one that failed meanwhile; "" for a plain member."""
    depth: int = 0
    """0 for a member of the device under test, 1 for a member of such a member."""
    read_iops: float | None = None
    """Completed reads per second; None, as all that follows, when the kernel does not count it."""
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
    """The same of the writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """A cache that the I/O of a run went through, by its own counts."""

    device: str
    """What it caches: `vg0/mail`, `bcache0`; `ARC` and `L2ARC` of ZFS, which are those of all pools."""
    share_of_reads: float | None = None
    """Share of the reads that it served, 0..1; None where none was counted."""
    share_of_writes: float | None = None
    """Share of the writes that it took; None where it does not count them."""
    dirty: float | None = None
    """Share of it that was still to be written back at the end, 0..1; None if it does not tell."""
    why_not: str = ""
    """Why neither share is known; "" if one is, or nothing came to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Something that happened below a run: background work of an array, or a write cache that became another."""

    at: float
    """Seconds of the whole run, its ramp included."""
    device: str
    """Kernel name: `md0`."""
    kind: str
    """As kinds of tasks are called (`resync`, `check`, `reshape`), or `write-cache`."""
    before: str = ""
    """What was so before; "" of work that began."""
    after: str = ""
    """What is so now; "" of work that ended."""

    @property
    def moved(self) -> bool:
        """Whether one value took the place of another, where else work began or ended."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What makes figures doubtful or worthless, and what to do about it."""

    key: str
    """Its name in docs/advice.md: `fio-cpu-bound`."""
    message: str
    """A sentence with the numbers in it."""
    do: str = ""
    """What to do next, "" where the sentence says it."""
    about: tuple[str, ...] = ()
    """What it speaks of, for programs: the kinds of background work, or a setting and the value in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateResult:
    """The last rounds of a run against the steady state rule (docs/dev/method.md)."""

    attained: bool
    """Whether both limits hold over a whole window."""
    range_share: float | None
    """Largest minus smallest round by their mean, 0.2 for 20 %; None before there is a window."""
    slope_share: float | None
    """Rise or fall of the linear fit over the window by the mean; None before there is a window."""
    rounds: int
    """Rounds so far."""
    window: int
    """Rounds that are judged together, the last ones."""
    round_s: float
    """Seconds of a round."""
    waited_s: float = 0.0
    """Seconds of settling before measuring began; 0 if the run did not wait: then what was measured is judged."""
    capped: bool = False
    """Measuring began because the wait was at its cap."""
    ended_early: bool = False
    """The run was ended before its time because it was steady."""


class _DirectionFigures:
    """What a run, and each part of it, answers from its figures of each direction."""

    __slots__ = ()

    read: DirectionStats | None
    write: DirectionStats | None
    trim: DirectionStats | None
    sync: DirectionStats | None

    def side(self, name: str) -> DirectionStats | None:
        """Return the figures of `read`, `write`, `trim`, or `sync` for the flushes; None of what was not done."""
        return {"read": self.read, "write": self.write, "trim": self.trim, "sync": self.sync}.get(name)

    @property
    def transfers(self) -> tuple[DirectionStats, ...]:
        """Figures of all directions that did something, without the flushes."""
        return tuple(figures for figures in (self.read, self.write, self.trim) if figures is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures(_DirectionFigures):
    """A part of what a run did."""

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
    """One of several targets that were measured at the same time; its rates are those of the time of the whole run."""

    target: str
    """What it is called, as in the start of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures(PartFigures):
    """One of several sections of a job; its rates are those of its own time, as fio tells them."""

    name: str
    """Its name, as in the start of the run."""
    seconds: float = 0.0
    """Its measured seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures(PartFigures):
    """Sections whose figures fio adds up: counts add up, and each direction has the time of the longest section."""

    sections: tuple[str, ...]
    """The names of its sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(_DirectionFigures):
    """A whole run as fio's last document has it."""

    status: RunStatus
    """How it ended."""
    reason: str | None = None
    """A sentence when it is not ok."""
    hint: str = ""
    """What to do next; "" when nothing helps or nothing is wrong."""
    evidence: str = ""
    """What fio itself said, cleaned, several lines."""
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
    """Processor shares."""
    fio_version: str | None = None
    """`fio-3.33`."""
    warnings: tuple[str, ...] = ()
    """Sentences about what makes the figures doubtful (size clipped, errors passed over)."""
    members: tuple[MemberStats, ...] = ()
    """Devices below the one under test, over the measured phase; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them, over the measured phase; empty if there is none."""
    advice: tuple[Advice, ...] = ()
    """What to mind when reading the figures."""
    steady: SteadyStateResult | None = None
    """Against the steady state rule; None of a run too short for a window of rounds that did not wait for it."""
    filled_bytes: int = 0
    """Bytes written in order before the job, to precondition what is measured; not among its figures."""
    targets: tuple[TargetStats, ...] = ()
    """Each of several targets, whose sum the rest is; empty of a run on one."""
    sections: tuple[SectionFigures, ...] = ()
    """Each section of a job that has several; empty for a job of one. The figures of the run add up the sections that
    ran at the same time. The time of phases that ran one after another is the sum of their times.
    """
    groups: tuple[GroupFigures, ...] = ()
    """The groups of sections, where there is more than one group; empty otherwise."""

    still_s: float | None = None
    """The longest standstill that nothing the job asks for explains, seconds; None without one."""
    happened: tuple[RunEvent, ...] = ()
    """What befell the devices in its course, in the order of time; `warnings` has it in words."""


DIRECTIONS = ("read", "write", "trim")
"""What moves or discards data, in the order to show it."""

SIDES = (*DIRECTIONS, "sync")
"""All that a run may have figures of, in the order to tell them."""
