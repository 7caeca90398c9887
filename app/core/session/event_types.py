"""What events carry, as values: how a job gets on, looks, steady state, ratings, what was written to a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.core.session.results import (
    Advice,
    CacheStats,
    MemberStats,
    Phase,
    RunEvent,
    RunResult,
    Sample,
    SteadyStateResult,
)
from backends.errors import InvalidValueError
from backends.model import Drive, Fact, Inventory, Target
from backends.values import dataclass
from widgets.text_utils import units

# -- a moment at which an experiment may be decided, as the session keeps it ------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSetting:
    """A setting that read otherwise after a change of another one."""

    target: Target
    """What has it: the target of the change, or the kernel's disk that it is."""
    key: str
    """Which."""
    before: str | None
    """Its value before the change."""
    now: str | None
    """Its value after it."""
    explained: bool = False
    """Whether it is a known side effect of the change; else somebody else's change."""
    restored: bool = False
    """Whether the change, an undo, was to bring this value back as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterimAnalysis:
    """One moment at which an experiment may be decided."""

    pairs: int
    """After so many."""
    level: float
    """The share of false verdicts that this look may add; its interval covers 1 - level."""
    no_difference: float | None = None
    """The level of the interval that has to lie within the threshold for "no difference"; None where it is `level`."""

    @property
    def inside_level(self) -> float:
        """The level at which "no difference" is judged."""
        return self.level if self.no_difference is None else self.no_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """What an experiment has shown of one figure, as it was judged when it ended."""

    direction: str
    """`read`, `write`, `both` or `sync`."""
    figure: str
    """Its key in JSON."""
    verdict: str
    """As in JSON: `slower`."""
    headline: bool = False
    """Whether it is the figure that the job is about."""
    reason: str = ""
    """Why it is that and not more, a code; "" where the verdict says all."""
    mean: float | None = None
    """ln(B/A); None without an interval."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end."""
    sd: float | None = None
    """Standard deviation of one ln(B/A)."""
    n: int = 0
    """How many pairs."""
    p: float | None = None
    """Two-sided p value of no difference."""
    level: float | None = None
    """The interval covers 1 - level."""
    threshold: float | None = None
    """A difference within it is none, percent."""
    further_pairs: int | None = None
    """Pairs to add that would decide it."""
    figures: int = 0
    """How many figures were counted together; 0 of the one that the job is about."""
    slow_side: str = ""
    """The letter of the side that all far slower runs are on; "" where there are none, or on both."""
    slow_runs: int = 0
    """How many these are."""
    far_pairs: tuple[int, ...] = ()
    """Pairs that lie far from the others, counted from 1."""
    far_percents: tuple[float, ...] = ()
    """B against A in each of them, percent."""


# -- how much a drive is rated to take in its life: from a person, for no drive reports it ----------------------------

RATED = "Rated endurance"
"""What it is called among the facts of a drive.

The logs of NVMe (SMART / Health Information), ATA (device statistics, page 7) and SCSI (solid state media) have the
share that is used, as the drive reckons it, and what was written; none has the bytes that the share is of.
"""


def with_ratings(inventory: Inventory, terabytes: Mapping[str, float]) -> Inventory:
    """The inventory with what drives of these models are rated for, in terabytes written (TBW) by model."""
    if not terabytes:
        return inventory
    terabytes_by_model = {_plain(model): amount for model, amount in terabytes.items()}

    def with_rating(drive: Drive) -> Drive:
        amount = None if drive.model is None else terabytes_by_model.get(_plain(drive.model))
        if amount is None:
            return drive
        return replace(drive, facts=(*drive.facts, Fact(label=RATED, value=f"{amount:g} TB, by the configuration")))

    return replace(inventory, drives=tuple(map(with_rating, inventory.drives)))


def _plain(model: str) -> str:
    return " ".join(model.casefold().split())


# -- what is asked for about the steady state: a value that events carry ----------------------------------------------

WINDOW = 5
"""Rounds of the measurement window."""

ROUND_S = 10
"""Seconds of a round."""

CAP_S = 1800
"""Seconds to wait at most."""

_LONGEST_S = 7 * 86400
_SPARE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyPlan:
    """What to do about the steady state of a run."""

    until: bool = False
    """Measuring starts when the rule holds, or at the cap."""
    cap_s: int = CAP_S
    """Seconds to wait for that, at most; by fio's clock."""
    end_early: bool = False
    """The run ends as soon as the rule holds over what is measured."""
    round_s: int = ROUND_S
    """Seconds of a round; SNIA's are of a minute, shorter than ten a garbage collection may fill one of."""
    window: int = WINDOW
    """Rounds that are judged together."""

    def checked(self) -> SteadyPlan:
        """Itself. Raises InvalidValueError for what makes no sense, such as a cap within which no window fits."""
        if not 1 <= self.round_s <= 3600:
            raise InvalidValueError(f"A round of {self.round_s} s: between 1 second and an hour")
        if not 3 <= self.window <= 25:
            raise InvalidValueError(f"A window of {self.window} rounds: 3 to 25")
        if not 1 <= self.cap_s <= _LONGEST_S:
            raise InvalidValueError("The wait for the steady state is between 1 second and 7 days")
        if self.until and self.cap_s < self.round_s * self.window:
            raise InvalidValueError(
                f"{self.cap_s} s are too short to see a steady state: {self.window} rounds of {self.round_s} s take"
                f" {self.round_s * self.window} s",
                hint="Allow more time, or make the rounds shorter.",
            )
        return self

    def fio_seconds(self, runtime: int) -> int:
        """The run time fio is given: it is interrupted when all of `runtime` was measured, wherever that began."""
        return runtime + self.cap_s + _SPARE_S if self.until else runtime

    def describe(self) -> str:
        """A clause for a job's line, "" if nothing is asked for."""
        parts = []
        if self.until:
            parts.append(f"once steady, or after {units.duration(self.cap_s)}")
        if self.end_early:
            parts.append("ends when steady")
        return ", ".join(parts)


# -- how a running job gets on, as values: what the load tells, the members below it and the advisor ------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The job does something else now, or there is something to say about what it does."""

    phase: Phase
    """What it does."""
    seconds: float | None = None
    """How long the phase will last, None if unknown."""
    message: str = ""
    """A sentence worth showing, such as waiting for outstanding I/O; "" when the phase says it all."""
    total_bytes: int | None = None
    """Bytes after which the phase is over; None if it ends by time, or nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """An interval was measured."""

    sample: Sample
    """Its figures."""
    read_bins: tuple[tuple[int, int], ...] = ()
    """Histogram of its reads: (bucket value in ns, count), ascending; kept nowhere."""
    write_bins: tuple[tuple[int, int], ...] = ()
    """The same of its writes."""
    trim_bins: tuple[tuple[int, int], ...] = ()
    """Histogram of its trims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled:
    """Processor shares of the last second or so."""

    fio_percent_of_core: float | None
    """CPU time of fio; 100 is one core. None when its process cannot be seen."""
    host_percent: float | None
    """CPU time of the whole host; 100 is all cores."""
    silent_s: float | None = None
    """Seconds since fio's last document; more than two means some I/O does not come back. None if not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersSampled:
    """What the devices below the one under test did in the last interval."""

    members: tuple[MemberStats, ...]
    """Each of them, those of a nested array after it."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them since the measured phase began; empty before they were read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceGiven:
    """What makes the figures of the job doubtful now; the run's figures have it at the end."""

    advice: tuple[Advice, ...]
    """All of it, the worst first; takes the place of what was said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateUpdated:
    """A round ended."""

    steady: SteadyStateResult
    """How the run stands to the steady state rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEventSeen:
    """Something befell the devices below."""

    events: tuple[RunEvent, ...]
    """What, in the order of time."""


Progress = (
    PhaseChanged | SampleTaken | CpuSampled | MembersSampled | AdviceGiven | SteadyStateUpdated | BackgroundEventSeen
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFinished:
    """The last event of every load that was not abandoned; the session has it as the end of the run."""

    figures: RunResult
    """What it measured, with its verdict."""
    raw: Path
    """fio's standard output, byte by byte."""


LoadEvent = PhaseChanged | SampleTaken | SteadyStateUpdated | CpuSampled | WorkloadFinished
"""What a load tells while it runs."""


# -- what is known to have been written to a device -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionWritten:
    """What a preconditioning wrote to a device."""

    at: float
    """When it ended, seconds since the epoch."""
    device: str
    """Its node then, `/dev/sdb`."""
    size_bytes: int
    """Its size."""
    filled_bytes: int
    """Bytes written in order, from the start, again and again."""
    workload: str = ""
    """The job that followed, in one line; "" if it did not come to that."""
    workload_bytes: int = 0
    """Bytes that it wrote."""
    steady: bool | None = None
    """Whether that became steady; None if it did not come to it."""
    session: str = ""
    """Folder of the session that did it."""

    @property
    def times(self) -> float:
        """How often the device was filled: 2.0 is twice from start to end."""
        return self.filled_bytes / self.size_bytes if self.size_bytes else 0.0


def written_text(written: PreconditionWritten) -> str:
    """`written 2.0x, then 4k random write until steady`: what was done, in a clause."""
    fill_text = f"written {written.times:.1f}x"
    if not written.workload:
        return fill_text
    return (
        f"{fill_text}, then {written.workload}, {'until steady' if written.steady else 'which did not become steady'}"
    )


def written_ago(written: PreconditionWritten, now: float) -> str:
    """`2.0x, steady, 3 h ago`: for a line among a device's facts."""
    steady = {True: ", steady", False: ", not steady", None: ""}[written.steady]
    return f"{written.times:.1f}x{steady}, {units.ago(now - written.at)}"
