"""Values of a sweep: cells, steps, skipped combinations, and the settings to restore. No I/O."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from backends.array_planning import ArrayShape, MemberDrive
from backends.model import Level, Target
from backends.values import dataclass

MADE = "made"
"""Backend of the placeholder target for the current array, in a sweep that creates the arrays it measures."""


class Purpose(StrEnum):
    """Purpose of a step."""

    SCREEN = "screening"
    """One of the repeats of every cell."""
    BASELINE = "baseline again"
    """The baseline once more after the other cells, for settings that cannot be switched in place."""
    CONFIRM = "confirmation"
    """One half of a new pair of the winner and its baseline."""
    SATURATE = "saturation"
    """A queue depth of the saturation search."""
    LOAD = "asked rate"
    """A requested rate of the throughput-latency curve."""


class StepResult(StrEnum):
    """How a step ended."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The user stopped it; it is repeated when the sweep continues."""


class SweepResult(StrEnum):
    """How a sweep ended, unless it continues later."""

    FINISHED = "finished"
    STOPPED = "stopped"
    WAITING = "waiting"
    """Waiting for a restart of the machine."""
    FAILED = "failed"


class Rank(StrEnum):
    """Metric by which the cells of a column are ranked."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    P99 = "p99"


class PublishedKind(StrEnum):
    """Kind of a published value, by its key in a plan."""

    IOPS = "iops"
    """Both directions together."""
    READ_IOPS = "read_iops"
    WRITE_IOPS = "write_iops"
    MBPS = "mbps"
    """MB/s of 10^6 bytes, both directions together."""
    LATENCY = "latency"
    """Mean latency in nanoseconds."""


class PublishedRows(StrEnum):
    """Kind of the rows of a published table."""

    SETUPS = "set-ups"
    """Configurations; each workload has its columns."""
    WORKLOADS = "workloads"
    """Workloads; each configuration has its column."""
    CELLS = "cells"
    """Combinations of a configuration and a workload; the first columns name both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A published value for a configuration and a workload."""

    row: str
    """The configuration, by its name in the result."""
    column: str
    """The workload, by its name in the result."""
    kind: PublishedKind
    """The kind of the value."""
    value: float
    """In the unit of its kind."""
    source: str
    """The source."""
    printed: str = ""
    """The value as the source prints it, with the unit of a latency; "" in logs that do not have it."""
    row_name: str = ""
    """The source's name of the configuration; "" if it is the same."""
    column_name: str = ""
    """The source's name of the workload; "" if it is the same."""
    labels: dict[str, str] = field(default_factory=dict)
    """Columns that name the configuration and the workload, if the rows of the table are cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A value for a setting of a target."""

    target: Target
    """The target that has the setting."""
    key: str
    """The setting."""
    value: str
    """The value in the backend's spelling."""
    slow: bool = False
    """Whether it cannot be switched in place: data on the array would be lost, or a reshape takes hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """One configuration with one workload."""

    id: str
    """Unique in the sweep: `k1`."""
    row: str
    """The configuration: its name, or its settings."""
    column: str
    """The workload: the fields that distinguish it."""
    where: str
    """The measured target: an address or a path."""
    settings: tuple[Assignment, ...] = ()
    """Every setting of the sweep, slow ones first."""
    job: dict[str, str] = field(default_factory=dict)
    """Every field of the job."""
    profile: str | None = None
    """The workload's name, None for a custom job."""
    against: str | None = None
    """The cell it is compared with; None for a baseline."""
    needs: tuple[str, ...] = ()
    """Controller features that must be active."""
    block: int = 0
    """Cells of one block share every slow setting and feature, and are measured in turn."""
    array: str | None = None
    """Id of the array that the sweep creates for it; None if the target exists already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of one cell."""

    number: int
    """Its position in the order, from 1."""
    cell: str
    """The cell."""
    purpose: Purpose
    """Its purpose."""
    round: int
    """Number of the repeat, from 1: runs of one block and round make pairs."""
    block: int = 0
    """The block of the order it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCell:
    """A combination that is not measured."""

    row: str
    column: str
    reason: str
    """A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededFeature:
    """A controller option that configurations need, which an activation key and a restart enable."""

    name: str
    """Part of the name that the controller reports: `FastPath`."""
    target: Target
    """The controller."""
    active: bool
    """Whether it was active before the sweep."""
    key: str | None = None
    """Activation key for a simulated host; real keys are stored nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwrittenDevice:
    """A device whose data the sweep destroys, confirmed once for all steps."""

    device: str
    """Its node, `/dev/sdb`."""
    name: str
    """The confirmation token."""
    found: tuple[str, ...] = ()
    """Signatures on it when it was confirmed; any other one stops the sweep."""
    called: str = ""
    """A persistent path to it, if its node gets another number at the next boot: `/dev/vg0/db`."""

    @property
    def shown(self) -> str:
        """Return the name for users."""
        return self.called or self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDrive(MemberDrive):
    """A drive for the arrays of a sweep, as it was shown."""

    model: str | None = None
    """Model."""
    lies: tuple[str, ...] = ()
    """Signatures on it when it was confirmed; any other one ends the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArray(ArrayShape):
    """An array that a sweep creates, once or in each round."""

    id: str
    """Unique in the sweep: `a1`."""
    steps: tuple[str, ...] = ()
    """The commands that create it, as shown; name and UUID differ each time."""
    size_bytes: int | None = None
    """Approximate usable capacity."""
    full_stripe_bytes: int | None = None
    """Bytes of data in one full stripe; None for a level without stripes."""
    making_seconds: float = 0.0
    """Approximate time to create it."""
    preparing_seconds: float = 0.0
    """Approximate time until it can be measured."""
    prepared: str = ""
    """How it is prepared for measuring: a sentence without its full stop."""
    members: int | None = None
    """Number of the sweep's drives it uses, from the first; None for all."""

    @property
    def is_single_drive(self) -> bool:
        """Return whether it is the first drive itself instead of an array."""
        return self.level is Level.JBOD


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArrays:
    """The arrays that a sweep creates and deletes."""

    drives: tuple[SweepDrive, ...]
    """Their drives in order; an array uses all of them, or the first ones."""
    arrays: tuple[SweepArray, ...]
    """In the order of the plan; the baseline is the first."""
    word: str
    """The confirmation token for the drives, typed once for all arrays."""
    assume_clean: bool = False
    """Whether md assumes that copies and parity are correct; a pass over the whole array then makes them correct."""
    policies: dict[str, str] = field(default_factory=dict)
    """Policies at creation, by the keys of their settings; other policies have their default."""
    once: bool = False
    """Whether creation takes so long that each array is created once, and the first of them again at the end."""

    def confirm_token(self, array: SweepArray) -> str:
        """Return the token for the drives of one array: its parts for those drives, in their order."""
        return ",".join(self.word.split(",")[: array.members])

    def array(self, array_id: str) -> SweepArray:
        """Return the array of that id. Raises KeyError if there is none."""
        return {array.id: array for array in reversed(self.arrays)}[array_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Search for a queue depth: the most IOPS within a latency limit, or the lowest depth on the plateau."""

    p99_ns: int | None = None
    """The limit of the 99th percentile; None searches for the plateau."""
    within: float = 5.0
    """Percent below the most IOPS that still belong to the plateau."""
    lowest: int = 1
    """First depth tried."""
    highest: int = 1024
    """Last depth tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSeries:
    """The rates of a throughput-latency curve; arrivals are random, independent of completions."""

    percents: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100, 110)
    """Percent of the saturation throughput, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The complete design of a sweep, on disk before the first step: a resumed sweep needs nothing else."""

    title: str
    """For people."""
    source: str
    """The plan's text."""
    seed: int
    """Seed of every random order."""
    repeats: int
    """Runs of each cell."""
    pairs: int
    """New pairs that confirm a winner; 0 for none."""
    rest: int
    """Idle seconds before each run."""
    rank: Rank
    """Metric of the ranking."""
    targets: dict[str, str]
    """Roles of the plan and their addresses."""
    cells: tuple[SweepCell, ...]
    """All cells."""
    steps: tuple[Step, ...]
    """In order; confirmations are added later."""
    skipped: tuple[SkippedCell, ...] = ()
    """Combinations that are not measured."""
    originals: tuple[Assignment, ...] = ()
    """Values of all changed settings before the sweep, slow ones first."""
    features: tuple[NeededFeature, ...] = ()
    """Features that some cells need."""
    destroys: tuple[OverwrittenDevice, ...] = ()
    """Devices whose data are destroyed."""
    saturation: Saturation | None = None
    """The search after the screening."""
    threshold_percent: float | None = None
    """A difference within it counts as none; None for 2 %."""
    curve: RateSeries | None = None
    """The rates to measure after the search, as shares of its plateau."""
    rule: int
    """The number of the rule that judges it."""
    seconds: float = 0.0
    """Estimated length."""
    making: SweepArrays | None = None
    """The arrays that it creates to measure them; None if it measures existing ones."""
    published: tuple[PublishedFigure, ...] = ()
    """Published values, to be shown with the results."""
    published_rows: PublishedRows | None = None
    """The rows of their table; None for the first kind that fits."""

    @property
    def changes_anything(self) -> bool:
        """Return whether anything is set, overwritten or created, so that the user must confirm."""
        return bool(self.originals or self.destroys or self.making is not None)

    def cell(self, cell_id: str) -> SweepCell:
        """Return the cell of that id. Raises KeyError if there is none."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]
