"""A sweep's plan, before anything is known of the machine. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.session.sweep_steps import PublishedFigure, PublishedRows, Rank, RateSeries, Saturation
from backends.errors import InvalidValueError
from backends.model import Level
from backends.values import dataclass

MOST_VALUES = 64
"""Values of one axis."""


class PlanError(InvalidValueError):
    """The plan cannot be used as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingAxis:
    """Values that a setting takes one after the other."""

    target: str
    """Role of what has it."""
    setting: str
    """Its key."""
    values: tuple[str, ...]
    """In the order of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAxis:
    """Values that a field of the job takes; `profile` stands for whole workloads."""

    job: str
    """A field of the job, or `profile`."""
    values: tuple[str, ...]
    """In the order of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAxis:
    """Arrays that are made one after the other of the same drives."""

    role: str
    """What the array of the moment is called in the plan."""
    levels: tuple[Level, ...]
    """In the order of the table; what others are compared with is the first."""
    strips: tuple[int, ...] = ()
    """Strips in bytes, each with each level that has one; () for the maker's usual one."""
    spans: Mapping[Level, tuple[int, ...]] = field(default_factory=dict)
    """Spans by level, each with each strip: () for every number that its drives leave; the usual where not named."""
    layouts: tuple[str, ...] = ()
    """Layouts of RAID 10 in mdadm's words (`f2`); () for the usual one."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Policies at birth of a card's arrays, by the keys of their settings."""
    drives: tuple[str, ...] = ()
    """What they are made of, in this order, as `raidbench array create` takes them; () for `pool`."""
    members: int = 0
    """How many drives of the pool."""
    members_of: Mapping[Level, int] = field(default_factory=dict)
    """How many of them a level takes, the first ones; one that is not named takes all."""
    pool: str = ""
    """Free drives by their words: `unassigned ssd of c1`, `nvme of kernel`."""
    assume_clean: bool = False
    """Whether md is told that copies and parity are right; a pass over the whole array then makes them so."""

    def count(self, level: Level) -> int:
        """Return how many drives an array of a level is made of."""
        if level is Level.JBOD:
            return 1
        return self.members_of.get(level) or len(self.drives) or self.members


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A named combination of settings."""

    name: str
    """What its row is called."""
    settings: tuple[tuple[str, str, str], ...] = ()
    """(role, key, value)."""
    measure: str | None = None
    """Role of what is measured, None for that of the plan."""
    against: str | None = None
    """Name of the set-up it is compared with, None for the first."""
    needs: tuple[str, ...] = ()
    """Features that have to be active."""
    lacks: tuple[str, ...] = ()
    """Features that must not be active."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A named job."""

    name: str
    """What its column is called."""
    profile: str | None = None
    """The workload it begins with, None for that of the plan."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Fields of the job that differ from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRule:
    """Combinations that are left out: all that is named has to match."""

    reason: str
    """A sentence."""
    setups: tuple[str, ...] = ()
    """Names of set-ups."""
    workloads: tuple[str, ...] = ()
    """Names of workloads."""
    settings: tuple[tuple[str, str, str], ...] = ()
    """(role, key, value)."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Fields of the job."""
    levels: tuple[Level, ...] = ()
    """Levels of the arrays that are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturePlan:
    """Where a feature belongs."""

    target: str
    """Role of the controller."""
    key: str | None = None
    """Activation key, for a simulated rack only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """A plan as its file has it; nothing is known of the machine yet."""

    title: str
    """For people."""
    about: str = ""
    """What it is for."""
    source: str = ""
    """The file's text."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """Roles and their addresses, "" for those that have to be named when it is started."""
    measure: str = ""
    """Role of what is measured."""
    repeats: int = 3
    """Runs of each cell."""
    pairs: int = 6
    """Fresh pairs that confirm a winner; 0 for none."""
    rest: int = 5
    """Seconds of quiet before each run."""
    rank: Rank = Rank.IOPS
    """What is best."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within it is none, percent."""
    seed: int | None = None
    """Decides the random orders; None draws one."""
    profile: str | None = None
    """The workload to begin with."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Fields of the job that differ from it."""
    setups: tuple[SetUp, ...] = ()
    """Rows by name; none means the settings as they are."""
    workloads: tuple[Workload, ...] = ()
    """Columns by name; none means the plan's job."""
    axes: tuple[SettingAxis | JobAxis, ...] = ()
    """What is combined with what."""
    levels: LevelAxis | None = None
    """Arrays that are made to be measured."""
    skips: tuple[SkipRule, ...] = ()
    """Combinations left out."""
    features: Mapping[str, FeaturePlan] = field(default_factory=dict)
    """Features that set-ups need or must not have."""
    saturation: Saturation | None = None
    """The search for a queue depth: the most IOPS within a latency limit, or the plateau."""
    curve: RateSeries | None = None
    """The throughput-latency curve after it."""
    published: tuple[PublishedFigure, ...] = ()
    """What others measured of its set-ups and workloads."""
    published_rows: PublishedRows | None = None
    """The rows of their table; None for the first kind that fits."""
