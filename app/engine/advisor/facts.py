"""What the advisor knows of a run: values only. What is None or empty is not known, and nothing is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from app.engine.advisor.fronts import FrontCache
from app.engine.fio.job import Job
from app.engine.members.diskstats import DiskCounters
from app.engine.session.figures import CacheFigures, CpuFigures, MemberFigures
from backends.model import Level, Media, Protection, State, Task
from backends.raid import PARITY, full_stripe
from backends.values import dataclass


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
class Measured:
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
    cpu: CpuFigures = field(default_factory=CpuFigures)
    """Processor shares."""
    members: tuple[MemberFigures, ...] = ()
    """What the members of the array did."""
    caches: tuple[CacheFigures, ...] = ()
    """What the caches in the way counted; only of a run that is over."""
    device: DiskCounters | None = None
    """What the kernel counted on the whole disk in the measured time; of a run that goes on, of nearly all of it."""
    cpu_throttles: int = 0
    """Times a processor core slowed down for its temperature."""
    drives_throttled: tuple[str, ...] = ()
    """Drives that slowed down for their temperature, a clause each."""
    sections: tuple[Measured, ...] = ()
    """The same of each section of a job that has several; only of a run that is over."""


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
    front: FrontCache | None = None
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
    measured: Measured | None = None
    """None before the run."""
