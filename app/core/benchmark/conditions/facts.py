"""What is known of a run: values only. What is None or empty is not known, and no rule says anything about it."""

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
"""The kind of ZFS's memory; `backends.topology.stacking` has the others."""

_WORDS = {
    ARC: "the ZFS cache in memory (ARC)",
    DM_CACHE: "the dm-cache",
    WRITECACHE: "the dm-writecache",
    BCACHE: "the bcache cache",
}

TASKS = {
    "patrol-read": "patrol read",
    "consistency-check": "a consistency check",
    "initialisation": "an initialisation",
    "rebuild": "a rebuild",
    "resync": "a resync",
    "recovery": "a recovery",
    "check": "a check",
    "repair": "a repair",
    "reshape": "a reshape",
    "migration": "a migration",
    "flush": "a flush of the cache",
    "merge": "the merge of a snapshot",
    "removal": "the removal of a device",
    "trim": "a trim",
    "checkpoint-discard": "the deletion of a checkpoint",
}
"""What background work is called in a sentence, by the kind of task."""

_BETWEEN = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How an array lays out its data."""

    level: Level
    """RAID level."""
    state: State = State.UNKNOWN
    """Its state."""
    strip_bytes: int | None = None
    """Bytes per member per stripe."""
    data_drives: int | None = None
    """Members that carry data in one stripe; of one span where there are several."""

    @property
    def parity(self) -> int:
        """Strips of parity in a stripe, 0 of levels without."""
        return PARITY.get(self.level, 0)

    @property
    def full_stripe(self) -> int | None:
        """Bytes of data in a stripe, None if not known."""
        return full_stripe(self.strip_bytes, self.data_drives)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A setting at one moment."""

    label: str
    """Its name for people."""
    now: str
    """What is set."""
    effective: str | None = None
    """What is in force where that differs."""
    why: str | None = None
    """Why it differs."""

    @property
    def in_force(self) -> str:
        """What counts."""
        return self.effective or self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The state of the device at one moment."""

    tasks: tuple[Task, ...] = ()
    """Background work of the array and of its controller."""
    policies: Mapping[str, Policy] = field(default_factory=dict)
    """Settings of the array and of its block device by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSoFar:
    """What was measured so far, or in all."""

    ended: bool = False
    """Whether the run is over."""
    settled: bool = False
    """Whether it was waited until the figures were steady, or they are known to have been."""
    seconds: float = 0.0
    """Measured seconds, without the ramp."""
    left: float | None = None
    """Seconds still to come."""
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
    """Bytes read and written in the ramp, and while it was waited for the figures to settle."""
    in_flight: float | None = None
    """I/Os, flushes included, that were under way on average: IOPS by mean latency; None while it goes on."""
    rounds: tuple[float, ...] = ()
    """Mean IOPS of rounds of ten seconds, oldest first."""
    cpu: CpuStats = field(default_factory=CpuStats)
    """Processor shares."""
    members: tuple[MemberStats, ...] = ()
    """What the members of the array did."""
    caches: tuple[CacheStats, ...] = ()
    """What the caches in the way counted; only of a run that is over."""
    device: DiskCounters | None = None
    """What the kernel counted on the whole disk in the measured time; of a run that goes on, of nearly all of it."""
    cpu_throttles: int = 0
    """Times a processor core slowed down for its temperature."""
    drives_throttled: tuple[str, ...] = ()
    """Drives that slowed down for their temperature, a clause each."""
    sections: tuple[MeasuredSoFar, ...] = ()
    """The same of each section of a job that has several; only of a run that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamCache:
    """A cache before a device."""

    kind: str
    """`arc`, or one of the kinds of `backends.topology.stacking`."""
    size_bytes: int | None = None
    """What it may hold."""
    passed_by: bool = False
    """Whether direct I/O does not go through it."""

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return _WORDS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A run: the job, what it is done on, and how that goes."""

    job: Job
    """The workload."""
    name: str = ""
    """What is measured, as shown."""
    scratch: bool = False
    """Whether it is a file."""
    area_bytes: int | None = None
    """Bytes of the target that the job uses."""
    written: bool | None = None
    """Whether the area holds data: False where it is known to hold none, None where nobody knows."""
    content: bool = True
    """Whether anything is known to lie on the device: a filesystem, a partition, a use."""
    media: Media = Media.UNKNOWN
    """What stores the bits."""
    physical_block: int | None = None
    """Physical sector in bytes, the largest of the members'."""
    array: Geometry | None = None
    """Its layout, None of a plain disk."""
    cache_bytes: int | None = None
    """Cache of the controller."""
    protection: Protection | None = None
    """What keeps that cache alive."""
    front: UpstreamCache | None = None
    """A cache of the kernel's before the device, or the memory of ZFS."""
    memory_bytes: int | None = None
    """The host's memory."""
    cores: int = 0
    """Logical CPUs, 0 if not known."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """Frequency governors with the number of CPUs under each."""
    takes: int | None = None
    """Requests that the device, or all of its members together, takes at a time."""
    takes_why: str = ""
    """Where that number comes from."""
    before: Condition = Condition()
    """As it was when the run began."""
    after: Condition | None = None
    """As it was at its end."""
    measured: MeasuredSoFar | None = None
    """None before the run."""


Advisor = Callable[[RunFacts], tuple[Advice, ...]]
"""Returns the advice on a run at this moment, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLocation:
    """Where a job is, or would be, done."""

    job: Job
    """The workload."""
    name: str
    """What it is called."""
    device: str | None
    """Node of the disk beneath, None if unknown."""
    area_bytes: int | None
    """Bytes of the target in use."""
    scratch: bool
    """Whether it is a file."""
    whole_disk: bool = True
    """Whether the target is the disk itself; False of a partition."""
    holes: bool = False
    """Whether it is a file that is not filled and will not be."""


# -- of several targets that are measured at the same time, as of one --------------------------------------------------


def combine_facts(facts: Sequence[RunFacts]) -> RunFacts:
    """The facts of all: amounts add up, and of what differs from one to the other nothing is known."""
    first = facts[0]
    if len(facts) == 1:
        return first
    areas, takes = [item.area_bytes for item in facts], [item.takes for item in facts]
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
        front=_common_value([item.front for item in facts]),
        takes=_sum(takes),
        takes_why=f"its {len(facts)} targets together" if None not in takes else "",
        before=Condition(tasks=tuple(tasks.values())),
    )


def policies_of(readings: Mapping[str, tuple[str, Reading]]) -> dict[str, Policy]:
    """Settings by key, from their labels and readings; what is not reported is left out."""
    return {
        key: Policy(label=label, now=reading.now, effective=reading.effective, why=reading.why_effective)
        for key, (label, reading) in readings.items()
        if reading.now is not None
    }


def common_policies(readings: Sequence[Mapping[str, tuple[str, Reading]]]) -> dict[str, Policy]:
    """Settings by key, as far as they are the same on all."""
    policies = [policies_of(reading) for reading in readings]
    return {key: policy for key, policy in policies[0].items() if all(others.get(key) == policy for others in policies)}


def join_texts(texts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """By key, the texts of several targets in their order, once where they are alike."""
    keys = dict.fromkeys(key for record in texts for key in record)
    return {key: _BETWEEN.join(dict.fromkeys(record[key] for record in texts if key in record)) for key in keys}


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _common_value(values: Sequence[T]) -> T | None:
    return values[0] if all(value == values[0] for value in values) else None
