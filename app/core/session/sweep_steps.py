"""Elements of a sweep's design: cells, steps, skipped combinations, and the settings to restore. No I/O."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from backends.array_planning import ArrayShape, MemberDrive
from backends.model import Level, Target
from backends.values import dataclass

MADE = "made"
"""Backend name of a placeholder target: the array that a sweep has created and currently measures."""


class Purpose(StrEnum):
    """Purpose of a step."""

    SCREEN = "screening"
    """One of the repeated runs that every cell gets."""
    BASELINE = "baseline again"
    """The baseline, measured again after the cells of other blocks to show drift: these cells cannot alternate."""
    CONFIRM = "confirmation"
    """One run of a new pair that confirms a winner against its baseline."""
    SATURATE = "saturation"
    """One queue depth of the saturation search."""
    LOAD = "asked rate"
    """One rate of the throughput-latency curve."""


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
    """The kind of a published value; also its key in a sweep's plan."""

    IOPS = "iops"
    """IOPS of both directions together."""
    READ_IOPS = "read_iops"
    WRITE_IOPS = "write_iops"
    MBPS = "mbps"
    """Throughput of both directions together, in MB/s of 10^6 bytes."""
    LATENCY = "latency"
    """Mean latency in nanoseconds."""


class PublishedRows(StrEnum):
    """What one row of a table of published values stands for."""

    SETUPS = "set-ups"
    """A row is a configuration. Each workload has its own columns."""
    WORKLOADS = "workloads"
    """A row is a workload. Each configuration has its own column."""
    CELLS = "cells"
    """A row is a combination of a configuration and a workload. The first columns name both."""


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
    """For `PublishedRows.CELLS`: the table cells that name the configuration and the workload, by column title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A setting of a target and the value that it is to get."""

    target: Target
    """The target that has the setting."""
    key: str
    """Key of the setting."""
    value: str
    """The value as the backend writes it."""
    slow: bool = False
    """Whether the setting cannot be switched in place: data on the array would be lost, or a reshape takes hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """A combination of a configuration and a workload."""

    id: str
    """Id of the cell in the sweep, such as `k1`."""
    row: str
    """Name to show for the configuration: its own name, or its settings."""
    column: str
    """Name to show for the workload: the job fields in which it differs from the others."""
    where: str
    """The measured target: an address or a path."""
    settings: tuple[Assignment, ...] = ()
    """Values of all settings of the sweep, slow ones first."""
    job: dict[str, str] = field(default_factory=dict)
    """All fields of the job."""
    profile: str | None = None
    """Name of the profile; None for a custom job."""
    against: str | None = None
    """Id of the baseline cell with which this cell is compared; None for a baseline."""
    needs: tuple[str, ...] = ()
    """Controller features that must be active."""
    block: int = 0
    """Number of the block of the cell.

    Cells of a block have the same slow settings and features, and run alternately.
    """
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
    """Purpose of the step."""
    round: int
    """Number of the repeat, from 1. Runs of the same block and repeat are compared in pairs."""
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
    """Signatures on the device when the user confirmed its loss. Any other signature stops the sweep."""
    called: str = ""
    """A persistent path such as `/dev/vg0/db`, if the number of the device node may change at the next boot."""

    @property
    def shown(self) -> str:
        """Return the name to show: `called`, or the device node."""
        return self.called or self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDrive(MemberDrive):
    """A drive for the arrays of a sweep, as it was when the user confirmed it."""

    model: str | None = None
    """Model of the drive."""
    lies: tuple[str, ...] = ()
    """Signatures on the drive when the user confirmed it. Any other signature ends the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArray(ArrayShape):
    """An array that a sweep creates, either once or in each round."""

    id: str
    """Id of the array in the sweep, such as `a1`."""
    steps: tuple[str, ...] = ()
    """The commands that create the array, as shown to the user. Name and UUID differ each time it is created."""
    size_bytes: int | None = None
    """Approximate usable capacity in bytes."""
    full_stripe_bytes: int | None = None
    """Bytes of data in one full stripe; None for a level without stripes."""
    making_seconds: float = 0.0
    """Approximate duration of creating the array, in seconds."""
    preparing_seconds: float = 0.0
    """Approximate time from the array's creation until it can be measured, in seconds."""
    prepared: str = ""
    """How the array is prepared for measuring, as a sentence without its full stop."""
    members: int | None = None
    """Number of drives that the array uses, counted from the sweep's first drive; None for all drives."""

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
    """The arrays, in the order of the plan. The first array is the baseline."""
    word: str
    """The confirmation token for the drives. The user types it once for all arrays."""
    assume_clean: bool = False
    """Whether md skips the initial sync.

    The whole array is then written to prepare it for measuring, which makes copies and parity correct.
    """
    policies: dict[str, str] = field(default_factory=dict)
    """Values of policies for new arrays, by setting key. All other policies have their defaults."""
    once: bool = False
    """Whether each array is created only once, because creating it takes long; the first one again at the end."""

    def array(self, array_id: str) -> SweepArray:
        """Return the array with the id `array_id`. Raises KeyError if there is none."""
        return {array.id: array for array in reversed(self.arrays)}[array_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The search for the saturation point: the depth with most IOPS within a latency limit, or the plateau's lowest."""

    p99_ns: int | None = None
    """Limit for the 99th percentile of the latency in ns; if None, the plateau of the IOPS is searched for."""
    within: float = 5.0
    """Depths whose IOPS are at most this many percent below the maximum belong to the plateau."""
    lowest: int = 1
    """The first depth that is tried."""
    highest: int = 1024
    """The last depth that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSeries:
    """The rates of a throughput-latency curve. I/Os start at random times, whether or not earlier ones are complete."""

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
    """Number of additional pairs of runs that confirm a winner; 0 for none."""
    rest: int
    """Idle time before each run, in seconds."""
    rank: Rank
    """Metric by which cells are ranked."""
    targets: dict[str, str]
    """Addresses of the targets, by their roles in the plan."""
    cells: tuple[SweepCell, ...]
    """All cells."""
    steps: tuple[Step, ...]
    """The steps, in order. Steps that depend on results, such as confirmations, are added later."""
    skipped: tuple[SkippedCell, ...] = ()
    """Combinations that are not measured."""
    originals: tuple[Assignment, ...] = ()
    """Values of all changed settings before the sweep, slow ones first."""
    features: tuple[NeededFeature, ...] = ()
    """Features that some cells need."""
    destroys: tuple[OverwrittenDevice, ...] = ()
    """Devices whose data is destroyed."""
    saturation: Saturation | None = None
    """The search for the saturation point after the screening; None for no search."""
    threshold_percent: float | None = None
    """The largest difference, in percent, that counts as no difference; None for 2 %."""
    curve: RateSeries | None = None
    """The rates to measure after the search for the saturation point; None for no curve."""
    rule: int
    """Version number of the rules that judge the results."""
    seconds: float = 0.0
    """Estimated duration in seconds."""
    making: SweepArrays | None = None
    """The arrays that the sweep creates and measures; None if it measures existing ones."""
    published: tuple[PublishedFigure, ...] = ()
    """Published values to show next to the results of the sweep."""
    published_rows: PublishedRows | None = None
    """What a row of the table of published values stands for; None for the first kind that fits."""

    @property
    def changes_anything(self) -> bool:
        """Return whether the sweep sets, overwrites or creates anything, so that the user must confirm it."""
        return bool(self.originals or self.destroys or self.making is not None)

    def cell(self, cell_id: str) -> SweepCell:
        """Return the cell of that id. Raises KeyError if there is none."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]
