"""Parts of a sweep: cells, steps, skipped combinations, and the settings to restore. No I/O."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from backends.array_planning import ArrayShape, MemberDrive
from backends.model import Level, Target
from backends.values import dataclass

MADE = "made"
"""Backend of the target that stands for the current array, in a sweep that creates the arrays it measures."""


class Purpose(StrEnum):
    """Purpose of a step."""

    SCREEN = "screening"
    """One of the repeats that every cell gets."""
    BASELINE = "baseline again"
    """The baseline, measured again after the other cells. Used if settings cannot be switched in place."""
    CONFIRM = "confirmation"
    """One run of a new pair that confirms a winner against its baseline."""
    SATURATE = "saturation"
    """One queue depth of the saturation search."""
    LOAD = "asked rate"
    """One requested rate of the throughput-latency curve."""


class StepResult(StrEnum):
    """How a step ended."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The user stopped the step. It is repeated when the sweep is continued."""


class SweepResult(StrEnum):
    """How a sweep ended. It may still be continued later."""

    FINISHED = "finished"
    STOPPED = "stopped"
    WAITING = "waiting"
    """The sweep waits for a restart of the machine."""
    FAILED = "failed"


class Rank(StrEnum):
    """The metric by which the cells of a column are ranked."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    P99 = "p99"


class PublishedKind(StrEnum):
    """The kind of a published value, by its key in a plan."""

    IOPS = "iops"
    """IOPS of both directions together."""
    READ_IOPS = "read_iops"
    WRITE_IOPS = "write_iops"
    MBPS = "mbps"
    """Throughput of both directions together, in MB/s of 10^6 bytes."""
    LATENCY = "latency"
    """Mean latency in nanoseconds."""


class PublishedRows(StrEnum):
    """What the rows of a published table are."""

    SETUPS = "set-ups"
    """Configurations. Each workload has its own columns."""
    WORKLOADS = "workloads"
    """Workloads. Each configuration has its own column."""
    CELLS = "cells"
    """Combinations of a configuration and a workload. The first columns name both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A published value for a configuration and a workload."""

    row: str
    """Name of the configuration in the results."""
    column: str
    """Name of the workload in the results."""
    kind: PublishedKind
    """The kind of the value."""
    value: float
    """The value, in the unit of its kind."""
    source: str
    """The publication that contains the value."""
    printed: str = ""
    """The value as the source prints it, with its unit if it is a latency; "" in logs without this field."""
    row_name: str = ""
    """The name that the source gives to the configuration; "" if it is the same."""
    column_name: str = ""
    """The name that the source gives to the workload; "" if it is the same."""
    labels: dict[str, str] = field(default_factory=dict)
    """Columns that name the configuration and the workload, if the rows of the table are combinations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A value for one setting of a target."""

    target: Target
    """The target that has the setting."""
    key: str
    """Key of the setting."""
    value: str
    """The value as the backend writes it."""
    slow: bool = False
    """Whether it cannot be switched in place, because data on the array would be lost or a reshape takes hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """A combination of a configuration and a workload."""

    id: str
    """Id of the cell in the sweep, such as `k1`."""
    row: str
    """The configuration: its name, or its settings."""
    column: str
    """The workload: the fields in which it differs from others."""
    where: str
    """The measured target: an address or a path."""
    settings: tuple[Assignment, ...] = ()
    """Values of all settings of the sweep, slow ones first."""
    job: dict[str, str] = field(default_factory=dict)
    """All fields of the job."""
    profile: str | None = None
    """Name of the profile; None for a custom job."""
    against: str | None = None
    """Id of the cell with which it is compared; None for a baseline."""
    needs: tuple[str, ...] = ()
    """Controller features that must be active."""
    block: int = 0
    """Number of the block. The cells of a block have all slow settings and features in common, and alternate."""
    array: str | None = None
    """Id of the array that the sweep creates for this cell; None if the target exists already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of one cell."""

    number: int
    """Position of the step in the order, from 1."""
    cell: str
    """Id of the cell."""
    purpose: Purpose
    """Its purpose."""
    round: int
    """Number of the repeat, from 1. Runs of the same block and round make pairs."""
    block: int = 0
    """Number of the block to which the step belongs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCell:
    """A combination that is not measured."""

    row: str
    column: str
    reason: str
    """Why it is not measured, as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededFeature:
    """A controller feature that some configurations need. An activation key and a restart enable it."""

    name: str
    """A part of the name that the controller reports, such as `FastPath`."""
    target: Target
    """The controller."""
    active: bool
    """Whether it was active before the sweep."""
    key: str | None = None
    """Activation key for a simulated host. Keys of real hosts are never stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwrittenDevice:
    """A device whose data the sweep destroys. The user confirms this once for all steps."""

    device: str
    """Device node, such as `/dev/sdb`."""
    name: str
    """The confirmation token."""
    found: tuple[str, ...] = ()
    """Signatures on the device when it was confirmed. Any other signature stops the sweep."""
    called: str = ""
    """A persistent path such as `/dev/vg0/db`, if the number of the device node may change at the next boot."""

    @property
    def shown(self) -> str:
        """Return the name for users."""
        return self.called or self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDrive(MemberDrive):
    """A drive for the arrays of a sweep, as the user saw it."""

    model: str | None = None
    """Model of the drive."""
    lies: tuple[str, ...] = ()
    """Signatures on the drive when it was confirmed. Any other signature ends the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArray(ArrayShape):
    """An array that a sweep creates: once, or in each round."""

    id: str
    """Id of the array in the sweep, such as `a1`."""
    steps: tuple[str, ...] = ()
    """The commands that create it, as shown. Name and UUID differ each time."""
    size_bytes: int | None = None
    """Approximate usable capacity in bytes."""
    full_stripe_bytes: int | None = None
    """Bytes of data in one full stripe; None for a level without stripes."""
    making_seconds: float = 0.0
    """Approximate seconds until it is created."""
    preparing_seconds: float = 0.0
    """Approximate seconds from creation until it can be measured."""
    prepared: str = ""
    """How the array is prepared for measuring, as a sentence without its full stop."""
    members: int | None = None
    """Number of drives that it uses, starting with the first drive of the sweep; None for all drives."""

    @property
    def is_single_drive(self) -> bool:
        """Return whether the first drive itself is measured instead of an array."""
        return self.level is Level.JBOD


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArrays:
    """The arrays that a sweep creates and deletes."""

    drives: tuple[SweepDrive, ...]
    """The drives, in order. An array uses all of them, or only the first ones."""
    arrays: tuple[SweepArray, ...]
    """The arrays in the order of the plan. The first one is the baseline."""
    word: str
    """The confirmation token for the drives. The user types it once for all arrays."""
    assume_clean: bool = False
    """Whether md skips the initial sync. A later pass over the whole array makes copies and parity correct."""
    policies: dict[str, str] = field(default_factory=dict)
    """Policies for new arrays, by the keys of their settings. All other policies have their default."""
    once: bool = False
    """Whether each array is created only once, because that takes long, and the first array again at the end."""

    def confirm_token(self, array: SweepArray) -> str:
        """Return the confirmation token for the drives of one array: the parts of the token for these drives."""
        return ",".join(self.word.split(",")[: array.members])

    def array(self, array_id: str) -> SweepArray:
        """Return the array of that id. Raises KeyError if there is none."""
        return {array.id: array for array in reversed(self.arrays)}[array_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Search for a queue depth: the one with the most IOPS within a latency limit, or the lowest on the plateau."""

    p99_ns: int | None = None
    """Limit for the 99th percentile of the latency; None searches for the plateau."""
    within: float = 5.0
    """Depths whose IOPS are at most this many percent below the maximum belong to the plateau."""
    lowest: int = 1
    """The first depth that is tried."""
    highest: int = 1024
    """The last depth that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSeries:
    """The rates of a throughput-latency curve. I/Os arrive at random, whether or not earlier ones are complete."""

    percents: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100, 110)
    """The rates in percent of the saturation throughput, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The complete design of a sweep. It is on disk before the first step, so that a sweep can be resumed from it."""

    title: str
    """Title for users."""
    source: str
    """Text of the plan."""
    seed: int
    """Seed of every random order."""
    repeats: int
    """Number of runs of each cell."""
    pairs: int
    """Number of new pairs that confirm a winner; 0 for none."""
    rest: int
    """Idle time before each run, in seconds."""
    rank: Rank
    """Metric by which cells are ranked."""
    targets: dict[str, str]
    """Addresses of the targets, by their roles in the plan."""
    cells: tuple[SweepCell, ...]
    """All cells."""
    steps: tuple[Step, ...]
    """The steps, in order. Confirmations are added later."""
    skipped: tuple[SkippedCell, ...] = ()
    """Combinations that are not measured."""
    originals: tuple[Assignment, ...] = ()
    """Values of all changed settings before the sweep, slow ones first."""
    features: tuple[NeededFeature, ...] = ()
    """Features that some cells need."""
    destroys: tuple[OverwrittenDevice, ...] = ()
    """Devices whose data is destroyed."""
    saturation: Saturation | None = None
    """The search that follows the screening."""
    threshold_percent: float | None = None
    """The largest difference, in percent, that counts as no difference; None for 2 %."""
    curve: RateSeries | None = None
    """The rates to measure after the search, as shares of the throughput on the plateau."""
    rule: int
    """Version number of the rules that judge the results."""
    seconds: float = 0.0
    """Estimated duration in seconds."""
    making: SweepArrays | None = None
    """The arrays that the sweep creates and measures; None if it measures existing ones."""
    published: tuple[PublishedFigure, ...] = ()
    """Published values that are shown with the results."""
    published_rows: PublishedRows | None = None
    """The kind of the rows of the table of published values; None for the first kind that fits."""

    @property
    def changes_anything(self) -> bool:
        """Return whether the sweep sets, overwrites or creates anything, so that the user must confirm it."""
        return bool(self.originals or self.destroys or self.making is not None)

    def cell(self, cell_id: str) -> SweepCell:
        """Return the cell of that id. Raises KeyError if there is none."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]
