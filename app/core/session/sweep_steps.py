"""The words of a sweep: cells, steps, what was skipped, what has to be put back. Values only."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from backends.model import Level, Target
from backends.values import dataclass

MADE = "made"
"""Backend of the target that stands for the array of the moment, in a sweep that makes the arrays it measures."""


class Purpose(StrEnum):
    """Why a step is done."""

    SCREEN = "screening"
    """One of the repeats of every cell."""
    BASELINE = "baseline again"
    """What others are compared with, once more after them: settings that cannot be flipped in place."""
    CONFIRM = "confirmation"
    """One half of a fresh pair of the winner and its baseline."""
    SATURATE = "saturation"
    """A queue depth on the way to the one that is looked for."""
    LOAD = "asked rate"
    """A rate that is asked for whatever comes of it, on the throughput-latency curve."""


class StepResult(StrEnum):
    """How a step ended."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """Somebody stopped it: it is done again when the sweep goes on."""


class SweepResult(StrEnum):
    """How a sweep ended, until somebody goes on with it."""

    FINISHED = "finished"
    STOPPED = "stopped"
    WAITING = "waiting"
    """For a restart of the machine."""
    FAILED = "failed"


class Rank(StrEnum):
    """What the cells of a column are ranked by."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    P99 = "p99"


class PublishedKind(StrEnum):
    """What a published figure is, by its key in a plan."""

    IOPS = "iops"
    """Both directions together."""
    READ_IOPS = "read_iops"
    WRITE_IOPS = "write_iops"
    MBPS = "mbps"
    """MB/s of 10^6 bytes, both directions together."""
    LATENCY = "latency"
    """Mean latency in nanoseconds."""


class PublishedRows(StrEnum):
    """What the rows of a published table are."""

    SETUPS = "set-ups"
    """Set-ups; each workload has its columns."""
    WORKLOADS = "workloads"
    """Workloads; each set-up has its column."""
    CELLS = "cells"
    """Combinations of a set-up and a workload; the first columns name both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """What somebody else measured of a set-up and a workload."""

    row: str
    """The set-up, as the result calls it."""
    column: str
    """The workload, as the result calls it."""
    kind: PublishedKind
    """Of what it is."""
    value: float
    """In the unit of its kind."""
    source: str
    """Who says so."""
    printed: str = ""
    """The figure as the source prints it, with the unit of a latency; "" in logs that do not have it."""
    row_name: str = ""
    """What the source calls the set-up; "" where it has no other name."""
    column_name: str = ""
    """What the source calls the workload; "" where it has no other name."""
    labels: dict[str, str] = field(default_factory=dict)
    """Columns that name the set-up and the workload where the rows of the table are cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A setting of a target at a value."""

    target: Target
    """What has it."""
    key: str
    """The setting."""
    value: str
    """The value, as the backend says it."""
    slow: bool = False
    """Whether it cannot be flipped in place: what lies on the array is lost, or a reshape takes hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """One set-up under one workload."""

    id: str
    """Unique in the sweep: `k1`."""
    row: str
    """The set-up: its name, or its settings."""
    column: str
    """The workload: what distinguishes it."""
    where: str
    """What is measured: an address or a path."""
    settings: tuple[Assignment, ...] = ()
    """Every setting that the sweep touches, slow ones first."""
    job: dict[str, str] = field(default_factory=dict)
    """Every field of the job."""
    profile: str | None = None
    """The workload's name, None for a custom job."""
    against: str | None = None
    """The cell it is compared with; None for one that others are compared with."""
    needs: tuple[str, ...] = ()
    """Features of the controller that have to be active."""
    block: int = 0
    """Cells of one block share every slow setting and feature, and are measured in turn."""
    array: str | None = None
    """The array that the sweep makes for it, by id; None where what is measured is there already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of one cell."""

    number: int
    """Its place in the order, from 1."""
    cell: str
    """The cell."""
    purpose: Purpose
    """Why."""
    round: int
    """Which repeat, from 1: runs of one block and round make pairs."""
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
    """An option of a controller that set-ups need, which a key and a restart bring."""

    name: str
    """Part of the name that the controller reports: `FastPath`."""
    target: Target
    """The controller."""
    active: bool
    """Whether it was active before the sweep."""
    key: str | None = None
    """Activation key for a simulated rack; real ones are kept nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwrittenDevice:
    """A device whose data the sweep destroys, confirmed once for all steps."""

    device: str
    """Its node, `/dev/sdb`."""
    name: str
    """What had to be typed."""
    found: tuple[str, ...] = ()
    """What lay on it when it was confirmed; anything else stops the sweep."""
    called: str = ""
    """A path to it that stays where the node has another number at the next boot: `/dev/vg0/db`."""

    @property
    def shown(self) -> str:
        """What a person reads."""
        return self.called or self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDrive:
    """A drive that the arrays of a sweep are made of, as it was shown."""

    place: str
    """What the tool called it then: `/dev/sdb`, `252:3`."""
    serial: str | None
    """Serial number."""
    wwn: str | None = None
    """World wide name, where the kernel tells one."""
    model: str | None = None
    """Model."""
    size_bytes: int | None = None
    """Capacity."""
    lies: tuple[str, ...] = ()
    """What lay on it when it was confirmed; anything else ends the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArray:
    """An array that a sweep makes, once or in each round."""

    id: str
    """Unique in the sweep: `a1`."""
    level: Level
    """Its level."""
    strip_bytes: int | None = None
    """Strip; None for a level without, and for the maker's usual one."""
    spans: int | None = None
    """Spans; None for a level without, and for the usual ones."""
    layout: str | None = None
    """Layout of a RAID 10; None for the usual one."""
    steps: tuple[str, ...] = ()
    """The commands that make it, as shown; name and UUID are others each time."""
    size_bytes: int | None = None
    """Usable capacity, about."""
    full_stripe_bytes: int | None = None
    """Bytes of data in one stripe; None for a level without."""
    making_seconds: float = 0.0
    """How long it takes to make it, about."""
    preparing_seconds: float = 0.0
    """How long it takes until it may be measured, about."""
    prepared: str = ""
    """What is done to it before it is measured: a sentence without its full stop."""
    members: int | None = None
    """How many of the sweep's drives it is made of, the first ones; None for all."""

    @property
    def is_single_drive(self) -> bool:
        """Whether it is no array, but the first drive as it is."""
        return self.level is Level.JBOD


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArrays:
    """The arrays that a sweep makes and deletes again."""

    drives: tuple[SweepDrive, ...]
    """What they are made of, in this order: all of them, or the first ones."""
    arrays: tuple[SweepArray, ...]
    """In the order of the plan; what others are compared with is the first."""
    word: str
    """What was typed for the drives, for all that the sweep makes of them."""
    assume_clean: bool = False
    """Whether md is told that copies and parity are right; a pass over the whole array then makes them so."""
    policies: dict[str, str] = field(default_factory=dict)
    """Policies that they are to have at birth, by the keys of their settings; others are the usual ones."""
    once: bool = False
    """Whether making takes so long that each is made once, and the first of them again at the end."""

    def confirm_token(self, array: SweepArray) -> str:
        """The part of the word that stands for the drives of one array: a part of it for each drive, in their order."""
        return ",".join(self.word.split(",")[: array.members])

    def array(self, array_id: str) -> SweepArray:
        """The array of that id. Raises KeyError."""
        return {array.id: array for array in reversed(self.arrays)}[array_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The search for a queue depth: the most IOPS within a latency limit, else the least depth on the plateau."""

    p99_ns: int | None = None
    """The limit of the 99th percentile; None looks for the plateau."""
    within: float = 5.0
    """Percent below the most IOPS that still are the plateau."""
    lowest: int = 1
    """First depth tried."""
    highest: int = 1024
    """Last depth tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSeries:
    """The rates of a throughput-latency curve; arrivals are random, and wait for no completion."""

    percents: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100, 110)
    """Of the saturation throughput, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """All that a sweep will do, as it goes to disk before the first step: resuming needs nothing else."""

    title: str
    """For people."""
    source: str
    """The plan's text."""
    seed: int
    """Decides every random order."""
    repeats: int
    """Runs of each cell."""
    pairs: int
    """Fresh pairs that confirm a winner; 0 for none."""
    rest: int
    """Seconds of quiet before each run."""
    rank: Rank
    """What is best."""
    targets: dict[str, str]
    """Roles of the plan and the addresses they stand for."""
    cells: tuple[SweepCell, ...]
    """All that is measured."""
    steps: tuple[Step, ...]
    """In their order; confirmations come later."""
    skipped: tuple[SkippedCell, ...] = ()
    """Combinations left out."""
    originals: tuple[Assignment, ...] = ()
    """What every touched setting had before, slow ones first."""
    features: tuple[NeededFeature, ...] = ()
    """Features that some cells need."""
    destroys: tuple[OverwrittenDevice, ...] = ()
    """Devices whose data go."""
    saturation: Saturation | None = None
    """The search after the screening."""
    threshold_percent: float | None = None
    """A difference within it is none; None of 2 %."""
    curve: RateSeries | None = None
    """The rates after the search, whose plateau is what they are shares of."""
    rule: int
    """The number of the rule that judges it."""
    seconds: float = 0.0
    """Estimated length."""
    making: SweepArrays | None = None
    """The arrays that it makes to measure them; None where it measures what there is."""
    published: tuple[PublishedFigure, ...] = ()
    """What others measured, to stand beside what is found."""
    published_rows: PublishedRows | None = None
    """The rows of their table; None for the first kind that fits."""

    @property
    def changes_anything(self) -> bool:
        """Whether anything is set, overwritten or made, so whether somebody has to agree."""
        return bool(self.originals or self.destroys or self.making is not None)

    def cell(self, cell_id: str) -> SweepCell:
        """The cell of that id. Raises KeyError."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]
