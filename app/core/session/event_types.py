"""Values in events: progress of a job, interim analyses, steady state, endurance ratings, data written to a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.core.session.results import (
    Advice,
    CacheStats,
    CpuStats,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedEvent:
    """An event of a session."""

    at: float
    """Seconds since the epoch."""


# -- side effects of changes, interim analyses and recorded verdicts -------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSetting:
    """A setting that read differently after a change of another setting."""

    target: Target
    """The target that has it: the target of the change, or its kernel disk."""
    key: str
    """The setting."""
    before: str | None
    """Its value before the change."""
    now: str | None
    """Its value after it."""
    explained: bool = False
    """Whether it is a declared side effect of the change; if not, another program changed it."""
    restored: bool = False
    """Whether the change, an undo, was meant to restore this value as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterimAnalysis:
    """An interim analysis of an experiment, at which it may be decided."""

    pairs: int
    """Number of pairs at which it takes place."""
    level: float
    """The share of false verdicts that this analysis may add; its interval covers 1 - level."""
    no_difference: float | None = None
    """The level of the interval that must be within the threshold for "no difference"; None for `level`."""

    @property
    def inside_level(self) -> float:
        """Return the level at which "no difference" is judged."""
        return self.level if self.no_difference is None else self.no_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """The verdict of an experiment on one metric, as judged when it ended."""

    direction: str
    """`read`, `write`, `both` or `sync`."""
    figure: str
    """Its key in JSON."""
    verdict: str
    """As in JSON: `slower`."""
    headline: bool = False
    """Whether it is the headline metric of the job."""
    reason: str = ""
    """Code of the reason; "" if the verdict needs none."""
    mean: float | None = None
    """ln(B/A); None without an interval."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end."""
    sd: float | None = None
    """Standard deviation of one ln(B/A)."""
    n: int = 0
    """Number of pairs."""
    p: float | None = None
    """Two-sided p value of no difference."""
    level: float | None = None
    """The interval covers 1 - level."""
    threshold: float | None = None
    """A difference within it counts as none, percent."""
    further_pairs: int | None = None
    """Number of additional pairs that would decide it."""
    figures: int = 0
    """Number of metrics judged together; 0 for the headline metric."""
    slow_side: str = ""
    """The letter of the side with all far slower runs; "" if there are none, or on both sides."""
    slow_runs: int = 0
    """Number of far slower runs."""
    far_pairs: tuple[int, ...] = ()
    """Outlier pairs, counted from 1."""
    far_percents: tuple[float, ...] = ()
    """B compared with A in each of them, percent."""


# -- rated endurance of drives, which the user configures: no drive reports it ---------------------------------------

RATED = "Rated endurance"
"""Label of the rated endurance among the facts of a drive.

The logs of NVMe (SMART / Health Information), ATA (device statistics, page 7) and SCSI (solid state media) have the
used share as the drive computes it, and the bytes written. None has the bytes that the share refers to.
"""


def with_ratings(inventory: Inventory, terabytes: Mapping[str, float]) -> Inventory:
    """Return the inventory with the rated endurance of its drives, given in terabytes written (TBW) by model."""
    if not terabytes:
        return inventory
    terabytes_by_model = {_plain(model): amount for model, amount in terabytes.items()}

    def with_rating(drive: Drive) -> Drive:
        amount = None if drive.model is None else terabytes_by_model.get(_plain(drive.model))
        if amount is None:
            return drive
        return replace(drive, facts=(*drive.facts, Fact(label=RATED, value=f"{amount:g} TB, from the configuration")))

    return replace(inventory, drives=tuple(map(with_rating, inventory.drives)))


def _plain(model: str) -> str:
    return " ".join(model.casefold().split())


# -- steady state options --------------------------------------------------------------------------------------------

WINDOW = 5
"""Rounds of the measurement window."""

ROUND_S = 10
"""Seconds of a round."""

CAP_S = 1800
"""Longest wait for the steady state, in seconds."""

_LONGEST_S = 7 * 86400
_SPARE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyPlan:
    """The steady state options of a run."""

    until: bool = False
    """Whether measuring starts when the rule holds, or when the wait reaches its limit."""
    cap_s: int = CAP_S
    """Longest wait in seconds, by fio's clock."""
    end_early: bool = False
    """Whether the run ends as soon as the rule holds over the measured part."""
    round_s: int = ROUND_S
    """Seconds of a round. SNIA's rounds take a minute. A garbage collection may fill a round of less than ten seconds.
    """
    window: int = WINDOW
    """Rounds that are judged together."""

    def checked(self) -> SteadyPlan:
        """Return the plan itself. Raises InvalidValueError for illegal values, such as a wait below one window."""
        if not 1 <= self.round_s <= 3600:
            raise InvalidValueError(f"A round of {self.round_s} s is not allowed: use 1 second to 1 hour")
        if not 3 <= self.window <= 25:
            raise InvalidValueError(f"A window of {self.window} rounds is not allowed: use 3 to 25")
        if not 1 <= self.cap_s <= _LONGEST_S:
            raise InvalidValueError("The limit for reaching the steady state must be 1 second to 7 days")
        if self.until and self.cap_s < self.round_s * self.window:
            raise InvalidValueError(
                (
                    f"{self.cap_s} s is too short for a steady state: {self.window} rounds of {self.round_s} s "
                    f"take {self.round_s * self.window} s"
                ),
                hint="Allow more time, or use shorter rounds.",
            )
        return self

    def fio_seconds(self, runtime: int) -> int:
        """Return the run time for fio, which is interrupted when `runtime` seconds were measured."""
        return runtime + self.cap_s + _SPARE_S if self.until else runtime

    def describe(self) -> str:
        """Return a clause for a job's line; "" without steady state options."""
        parts = []
        if self.until:
            parts.append(f"once steady, or after {units.duration(self.cap_s)}")
        if self.end_early:
            parts.append("ends when steady")
        return ", ".join(parts)


# -- progress of a running job: from the load, the members below it and the advisor ----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The job entered another phase, or there is a message about its phase."""

    phase: Phase
    """The phase."""
    seconds: float | None = None
    """Length of the phase, None if unknown."""
    message: str = ""
    """A sentence to show, such as waiting for outstanding I/O; "" for none."""
    total_bytes: int | None = None
    """Bytes after which the phase ends; None if it ends by time, or that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """A new interval."""

    sample: Sample
    """The interval."""
    read_bins: tuple[tuple[int, int], ...] = ()
    """Histogram of its reads: (bucket value in ns, count), ascending; not stored."""
    write_bins: tuple[tuple[int, int], ...] = ()
    """Histogram of its writes."""
    trim_bins: tuple[tuple[int, int], ...] = ()
    """Histogram of its trims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled(CpuStats):
    """CPU shares of about the last second; that of fio is None if its process is not visible."""

    silent_s: float | None = None
    """Seconds since fio's last document; more than two mean that some I/O is stuck. None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersSampled:
    """Metrics of the devices below the device under test in the last interval."""

    members: tuple[MemberStats, ...]
    """All of them; those of a nested array follow it."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them since the start of the measured phase; empty before their first reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceGiven:
    """Conditions that make the results of the job doubtful now; the result contains them at the end."""

    advice: tuple[Advice, ...]
    """All of them, the worst first; they replace earlier advice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateUpdated:
    """A round ended."""

    steady: SteadyStateResult
    """The steady state result of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEventSeen:
    """An event of the devices below."""

    events: tuple[RunEvent, ...]
    """The events, in order of time."""


Progress = (
    PhaseChanged | SampleTaken | CpuSampled | MembersSampled | AdviceGiven | SteadyStateUpdated | BackgroundEventSeen
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFinished:
    """The last event of every load that was not abandoned; the session has it as the end of the run."""

    figures: RunResult
    """Its result."""
    raw: Path
    """fio's standard output, unchanged."""


LoadEvent = PhaseChanged | SampleTaken | SteadyStateUpdated | CpuSampled | WorkloadFinished
"""Events of a load while it runs."""


# -- data written to a device ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionWritten:
    """Data that a preconditioning wrote to a device."""

    at: float
    """When it ended, seconds since the epoch."""
    device: str
    """Its node at that time, `/dev/sdb`."""
    size_bytes: int
    """Its size."""
    filled_bytes: int
    """Bytes written in order from the start, all passes together."""
    workload: str = ""
    """The job that followed, in one line; "" if none followed."""
    workload_bytes: int = 0
    """Bytes written by that job."""
    steady: bool | None = None
    """Whether that job became steady; None if there was no such job."""
    session: str = ""
    """Folder of the session."""

    @property
    def times(self) -> float:
        """Return how often the device was filled: 2.0 is twice from start to end."""
        return self.filled_bytes / self.size_bytes if self.size_bytes else 0.0


def written_text(written: PreconditionWritten) -> str:
    """Return a clause about the preconditioning: `written 2.0x, then 4k random write until steady`."""
    fill_text = f"written {written.times:.1f}x"
    if not written.workload:
        return fill_text
    return (
        f"{fill_text}, then {written.workload}, "
        f"{'until steady' if written.steady else 'which did not reach a steady state'}"
    )


def written_ago(written: PreconditionWritten, now: float) -> str:
    """Return a text for a device's facts: `2.0x, steady, 3 h ago`."""
    steady = {True: ", steady", False: ", not steady", None: ""}[written.steady]
    return f"{written.times:.1f}x{steady}, {units.ago(now - written.at)}"
