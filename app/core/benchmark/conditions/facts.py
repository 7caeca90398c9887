"""Facts about a run, as plain values. None or empty means unknown; the advice rules skip unknown values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from app.core.benchmark.device_stats.diskstats import DiskCounters
from app.core.fio.job import Job
from app.core.session.results import Advice, CacheStats, CpuStats, MemberStats
from backends.model import Level, Media, Protection, State, Task
from backends.raid import PARITY, full_stripe
from backends.settings import Reading
from backends.topology.stacking import BCACHE, DM_CACHE, WRITECACHE
from backends.values import dataclass

T = TypeVar("T")

ARC = "arc"
"""The kind of the ZFS cache in memory. The other kinds are in `backends.topology.stacking`."""

_CACHE_NAMES = {
    ARC: "the ZFS cache in memory (ARC)",
    DM_CACHE: "the dm-cache",
    WRITECACHE: "the dm-writecache",
    BCACHE: "the bcache cache",
}

_BETWEEN = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The data layout of an array."""

    level: Level
    """RAID level."""
    state: State = State.UNKNOWN
    """State of the array."""
    strip_bytes: int | None = None
    """Strip size (md: chunk size) in bytes."""
    data_drives: int | None = None
    """Number of members with data in one stripe, which is within one span if the array has several."""

    @property
    def parity(self) -> int:
        """Return the number of parity strips in a stripe, 0 for levels without parity."""
        return PARITY.get(self.level, 0)

    @property
    def full_stripe(self) -> int | None:
        """Return the bytes of data in a stripe, or None if unknown."""
        return full_stripe(self.strip_bytes, self.data_drives)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The value of a setting at one moment."""

    label: str
    """Name of the setting, as shown."""
    now: str
    """The configured value."""
    effective: str | None = None
    """The effective value, or None if it is the configured one."""
    why: str | None = None
    """Why the effective value differs from the configured one; None if it does not, or if unknown."""

    @property
    def in_force(self) -> str:
        """Return the effective value."""
        return self.effective or self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The state of a device at one moment."""

    tasks: tuple[Task, ...] = ()
    """Background tasks of the array and of its controller."""
    policies: Mapping[str, Policy] = field(default_factory=dict)
    """Settings of the array and of its block device, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSoFar:
    """The measured values of a run: up to now, or of the complete run."""

    ended: bool = False
    """Whether the run is over."""
    settled: bool = False
    """Whether the run waited until the results were steady, or they are known to have been steady."""
    seconds: float = 0.0
    """Measured seconds, without the ramp."""
    left: float | None = None
    """Remaining seconds of the measured phase; None if unknown."""
    reads: int = 0
    """Completed reads."""
    writes: int = 0
    """Completed writes."""
    read_bytes: int = 0
    """Bytes read."""
    written_bytes: int = 0
    """Bytes written."""
    trims: int = 0
    """Completed trims."""
    trimmed_bytes: int = 0
    """Bytes trimmed."""
    ramp_bytes: int = 0
    """Bytes read and written during the ramp and while the run waited for steady results."""
    in_flight: float | None = None
    """Mean number of I/Os in flight, including flushes: IOPS times mean latency. None until the run has ended."""
    rounds: tuple[float, ...] = ()
    """Mean IOPS of each round of ten seconds, oldest first."""
    cpu: CpuStats = field(default_factory=CpuStats)
    """CPU use."""
    members: tuple[MemberStats, ...] = ()
    """Metrics of the members of the array."""
    caches: tuple[CacheStats, ...] = ()
    """Hit counts of the caches between the job and the drives; empty until the run has ended."""
    device: DiskCounters | None = None
    """Kernel counters of the complete disk in the measured time. During a run the last seconds may be missing."""
    cpu_throttles: int = 0
    """Number of times that a CPU core was throttled because of its temperature."""
    drives_throttled: tuple[str, ...] = ()
    """A clause for each drive that reached its warning temperature."""
    sections: tuple[MeasuredSoFar, ...] = ()
    """Measured values of each section of a job with several; empty until the run has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamCache:
    """A cache of the kernel in front of a device."""

    kind: str
    """`arc`, or one of the kinds of `backends.topology.stacking`."""
    size_bytes: int | None = None
    """Maximum size in bytes; None if unknown."""
    is_bypassed: bool = False
    """Whether direct I/O bypasses it."""

    @property
    def name_text(self) -> str:
        """Return the name of the cache for use in a sentence."""
        return _CACHE_NAMES[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The facts about a run: its job, its targets and its progress."""

    job: Job
    """The fio parameters."""
    name: str = ""
    """Display name of the target."""
    scratch: bool = False
    """Whether the target is a file."""
    area_bytes: int | None = None
    """Bytes of the target that the job uses."""
    written: bool | None = None
    """Whether the area that the job uses is fully written: False if known to be unwritten, None if unknown."""
    content: bool = True
    """Whether the device may have content or users, such as a filesystem; False if it is known to have none."""
    media: Media = Media.UNKNOWN
    """Kind of media of the device or of its members."""
    physical_block: int | None = None
    """Physical sector size in bytes, the largest of all members."""
    array: Geometry | None = None
    """Layout of the array, or None for a plain disk."""
    cache_bytes: int | None = None
    """Cache size of the controller in bytes."""
    protection: Protection | None = None
    """Battery or capacitor that protects the cache of the controller."""
    upstream_cache: UpstreamCache | None = None
    """Cache of the kernel in front of the device, or the ZFS cache in memory."""
    memory_bytes: int | None = None
    """Memory of the host in bytes."""
    cores: int = 0
    """Logical CPUs, 0 if not known."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """Number of CPUs by frequency governor."""
    queue_limit: int | None = None
    """Maximum number of requests that the device, or all of its members together, accept at a time."""
    queue_limit_source: str = ""
    """Source of `queue_limit`: a file of the kernel, for example; "" if unknown."""
    before: Condition = Condition()
    """Condition of the device when the run started."""
    after: Condition | None = None
    """Condition of the device when the run ended, or None before that."""
    measured: MeasuredSoFar | None = None
    """Measured values, or None before the run."""


Advisor = Callable[[RunFacts], tuple[Advice, ...]]
"""Function that returns the advice for the current facts of a run, the most severe first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLocation:
    """The target that a job uses, or would use."""

    job: Job
    """The fio parameters."""
    name: str
    """Name of the target."""
    device: str | None
    """Device node of the disk, or of the disk below a file; None if unknown."""
    area_bytes: int | None
    """Bytes of the target that the job uses."""
    scratch: bool
    """Whether the target is a file."""
    whole_disk: bool = True
    """Whether the target is the disk itself; False for a partition."""
    holes: bool = False
    """Whether the target is a file that is not filled and will not be filled before the run."""


# -- facts of several targets that one run measures together -----------------------------------------------------------


def combine_facts(facts: Sequence[RunFacts]) -> RunFacts:
    """Return common facts of all targets of a run: amounts are added, and values that differ become unknown."""
    first = facts[0]
    if len(facts) == 1:
        return first
    areas, limits = [item.area_bytes for item in facts], [item.queue_limit for item in facts]
    written = {item.written for item in facts}
    tasks = {task.kind: task for item in facts for task in item.before.tasks}
    job = first.job
    if not job.sections:  # a job of several sections is refused on several targets
        job = replace(job, numjobs=job.numjobs * len(facts))
    return replace(
        first,
        job=job,
        name=_BETWEEN.join(item.name for item in facts),
        scratch=any(item.scratch for item in facts),
        area_bytes=_sum(areas),
        written=False if False in written else _common_value(list(written)),
        content=any(item.content for item in facts),
        media=_common_value([item.media for item in facts]) or Media.UNKNOWN,
        physical_block=max(item.physical_block or 0 for item in facts) or None,
        array=_common_value([item.array for item in facts]),
        cache_bytes=_common_value([item.cache_bytes for item in facts]),
        protection=_common_value([item.protection for item in facts]),
        upstream_cache=_common_value([item.upstream_cache for item in facts]),
        queue_limit=_sum(limits),
        queue_limit_source=f"its {len(facts)} targets together" if None not in limits else "",
        before=Condition(tasks=tuple(tasks.values())),
    )


def policies_of(readings: Mapping[str, tuple[str, Reading]]) -> dict[str, Policy]:
    """Return settings by key, from their labels and readings, without settings that have no reported value."""
    return {
        key: Policy(label=label, now=reading.now, effective=reading.effective, why=reading.why_effective)
        for key, (label, reading) in readings.items()
        if reading.now is not None
    }


def common_policies(readings: Sequence[Mapping[str, tuple[str, Reading]]]) -> dict[str, Policy]:
    """Return the settings that have the same value on all targets, by key."""
    policies = [policies_of(reading) for reading in readings]
    return {key: policy for key, policy in policies[0].items() if all(other.get(key) == policy for other in policies)}


def join_texts(texts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the texts of several targets by key, joined in the order of the targets. Equal texts appear once."""
    keys = dict.fromkeys(key for record in texts for key in record)
    return {key: _BETWEEN.join(dict.fromkeys(record[key] for record in texts if key in record)) for key in keys}


def _sum(values: Sequence[int | None]) -> int | None:
    amounts = [value for value in values if value is not None]
    return sum(amounts) if len(amounts) == len(values) else None


def _common_value(values: Sequence[T]) -> T | None:
    return values[0] if all(value == values[0] for value in values) else None
