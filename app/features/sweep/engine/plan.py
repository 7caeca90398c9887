"""Data types of a sweep plan, independent of the machine. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.session.sweep_steps import PublishedFigure, PublishedRows, Rank, RateSeries, Saturation
from backends.errors import InvalidValueError
from backends.model import Level
from backends.values import dataclass

MOST_VALUES = 64
"""Maximum number of values of one axis."""


class PlanError(InvalidValueError):
    """The plan is not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingAxis:
    """Values of a setting that a sweep compares."""

    target: str
    """Role of the target that has the setting."""
    setting: str
    """Key of the setting."""
    values: tuple[str, ...]
    """Values in the order of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAxis:
    """Values of a job field that a sweep compares. The values of `profile` are names of workloads."""

    job: str
    """A field of the job, or `profile`."""
    values: tuple[str, ...]
    """Values in the order of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAxis:
    """Arrays that are created one after the other from the same drives."""

    role: str
    """Role by which the plan refers to the array that currently exists."""
    levels: tuple[Level, ...]
    """RAID levels in the order of the result; the first is the baseline."""
    strips: tuple[int, ...] = ()
    """Strip sizes in bytes, each combined with every striped level; () for the default."""
    spans: Mapping[Level, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of spans by level, each combined with every strip size.

    () means every possible number. A level without an entry has the default.
    """
    layouts: tuple[str, ...] = ()
    """Layouts of RAID 10 as in mdadm (`f2`); () for the default."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Initial policies of a controller's arrays, by setting key."""
    drives: tuple[str, ...] = ()
    """Drives in order, as for `raidbench array create`; () if they are chosen from `pool`."""
    members: int = 0
    """Number of drives to choose from the pool; 0 if `drives` lists them."""
    members_of: Mapping[Level, int] = field(default_factory=dict)
    """Number of drives by level, counted from the first drive. A level without an entry uses all drives."""
    pool: str = ""
    """Description of free drives: `unassigned ssd of c1`, `nvme of kernel`."""
    assume_clean: bool = False
    """Whether md skips the initial sync; the array is then written completely to make copies and parity correct."""

    def count(self, level: Level) -> int:
        """Return the number of drives in an array of a level."""
        if level is Level.JBOD:
            return 1
        return self.members_of.get(level) or len(self.drives) or self.members


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A named combination of settings."""

    name: str
    """Name of the set-up, and of its row in the result."""
    settings: tuple[tuple[str, str, str], ...] = ()
    """(role, key, value) of each setting."""
    measure: str | None = None
    """Role of the benchmark target; None for the plan's benchmark target."""
    against: str | None = None
    """Name of the set-up that is its baseline; None for the first set-up of the plan."""
    needs: tuple[str, ...] = ()
    """Features that must be active for the set-up."""
    lacks: tuple[str, ...] = ()
    """Features that must not be active for the set-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A named job."""

    name: str
    """Name of the workload, and of its column in the result."""
    profile: str | None = None
    """Profile that the workload is based on; None for the plan's profile."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Fields of the job that differ from the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRule:
    """Rule that leaves out every combination that matches all of its conditions."""

    reason: str
    """Reason why the combinations are left out, as a sentence."""
    setups: tuple[str, ...] = ()
    """Set-ups that match, by name; () for all."""
    workloads: tuple[str, ...] = ()
    """Workloads that match, by name; () for all."""
    settings: tuple[tuple[str, str, str], ...] = ()
    """(role, key, value) of each setting that the combination must have."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Values of job fields, all of which must match."""
    levels: tuple[Level, ...] = ()
    """Levels of created arrays that match; () for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturePlan:
    """The controller and the activation key of a feature."""

    target: str
    """Role of the controller."""
    key: str | None = None
    """Activation key; only for a simulated host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """A sweep plan as it is in the plan file, independent of the machine."""

    title: str
    """Title that is shown to the user."""
    about: str = ""
    """Purpose of the plan."""
    source: str = ""
    """Text of the plan file."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """Addresses by role; "" for a role whose address the user specifies when the sweep starts."""
    measure: str = ""
    """Role of the benchmark target."""
    repeats: int = 3
    """Number of runs of each cell."""
    pairs: int = 6
    """Number of pairs of runs that are measured afterwards to confirm a winner; 0 for no confirmation."""
    rest: int = 5
    """Seconds of rest before each run."""
    rank: Rank = Rank.IOPS
    """Metric by which cells are compared and ranked."""
    threshold: float = THRESHOLD_PERCENT
    """Difference in percent up to which two results count as equal."""
    seed: int | None = None
    """Seed of the random orders; None for a random one."""
    profile: str | None = None
    """Profile of the job; None for none."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Fields of the job that differ from the profile."""
    setups: tuple[SetUp, ...] = ()
    """Set-ups, the rows of the result; () for one row with the present settings."""
    workloads: tuple[Workload, ...] = ()
    """Workloads, the columns of the result; () for one column with the plan's job."""
    axes: tuple[SettingAxis | JobAxis, ...] = ()
    """Axes that are combined with each other."""
    levels: LevelAxis | None = None
    """Arrays that the sweep creates and measures; None if it creates none."""
    skips: tuple[SkipRule, ...] = ()
    """Rules for combinations that the sweep leaves out."""
    features: Mapping[str, FeaturePlan] = field(default_factory=dict)
    """Features that set-ups need, or that must not be active for them, by name."""
    saturation: Saturation | None = None
    """The search for the saturation point: the queue depth with the most IOPS within a latency limit, or the lowest
    depth on the plateau. None for no search.
    """
    curve: RateSeries | None = None
    """The rates of the throughput-latency curve that follows the search; None for no curve."""
    published: tuple[PublishedFigure, ...] = ()
    """Published results for the set-ups and workloads of the plan."""
    published_rows: PublishedRows | None = None
    """Kind of rows in the published table; None for the first kind that fits."""
