"""Values in events: progress of a job, interim analyses, steady state, endurance, and data written to a device."""

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
    """Base class of the events of a session."""

    at: float
    """Time of the event, in seconds since the epoch."""


# -- side effects of changes, interim analyses and recorded verdicts -------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSetting:
    """A setting whose value differed after a change of another setting."""

    target: Target
    """The target that has the setting: the target of the change, or that target's kernel disk."""
    key: str
    """Key of the setting."""
    before: str | None
    """Its value before the change."""
    now: str | None
    """Its value after the change."""
    explained: bool = False
    """Whether the difference is a declared side effect of the change. If not, another program changed the setting."""
    restored: bool = False
    """Whether the change was an undo that was meant to restore this value as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterimAnalysis:
    """A planned interim analysis of an experiment, after which the experiment may end early."""

    pairs: int
    """Number of pairs after which it takes place."""
    level: float
    """Significance level: the probability of a false verdict that this analysis may add.

    Its interval covers the true value with probability 1 - level.
    """
    no_difference: float | None = None
    """Significance level of the interval that must lie within the threshold for the verdict "no difference".

    None: the same as `level`.
    """

    @property
    def inside_level(self) -> float:
        """Return the significance level for the verdict "no difference"."""
        return self.level if self.no_difference is None else self.no_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """The verdict of an experiment on one metric, as judged at the end of the experiment."""

    direction: str
    """`read`, `write`, `both` or `sync`."""
    figure: str
    """Key of the metric in JSON."""
    verdict: str
    """The verdict as in JSON, such as `slower`."""
    headline: bool = False
    """Whether the metric is the headline metric of the job."""
    reason: str = ""
    """Code of the reason; "" if the verdict needs none."""
    mean: float | None = None
    """Mean of ln(B/A); None without an interval."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end of the interval."""
    sd: float | None = None
    """Standard deviation of ln(B/A) of a single pair."""
    n: int = 0
    """Number of pairs."""
    p: float | None = None
    """Two-sided p value for the hypothesis of no difference."""
    level: float | None = None
    """Significance level: the interval `low` to `high` covers 1 - level. None without an interval."""
    threshold: float | None = None
    """The largest difference, in percent, that counts as no difference."""
    further_pairs: int | None = None
    """Additional pairs after which a verdict is due or likely; None if decided or if more pairs do not help."""
    figures: int = 0
    """Number of metrics that were corrected together; 0 unless that correction is the reason for "not decided"."""
    slow_side: str = ""
    """Side that has all of the far slower runs, `A` or `B`; "" if there are none or both sides have some."""
    slow_runs: int = 0
    """Number of far slower runs."""
    far_pairs: tuple[int, ...] = ()
    """Numbers of the outlier pairs, counted from 1."""
    far_percents: tuple[float, ...] = ()
    """B compared with A in each outlier pair, in percent."""


# -- rated endurance of drives, which the user configures: no drive reports it ---------------------------------------

RATED = "Rated endurance"
"""Label of the fact that shows a drive's rated endurance.

The logs of NVMe (SMART / Health Information), ATA (device statistics, page 7) and SCSI (solid state media) contain the
bytes written, and the share of the endurance that is used up, as the drive computes it. No log contains the rated
number of bytes to which that share refers.
"""


def with_ratings(inventory: Inventory, terabytes: Mapping[str, float]) -> Inventory:
    """Return the inventory with the rated endurance added to its drives. `terabytes`: rated TBW by drive model."""
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
"""Number of rounds in the measurement window."""

ROUND_S = 10
"""Length of a round in seconds."""

CAP_S = 1800
"""Maximum wait for the steady state, in seconds."""

_LONGEST_S = 7 * 86400
_SPARE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyPlan:
    """The steady state options of a run."""

    until: bool = False
    """Whether the run waits for the steady state, at most `cap_s` seconds, before measuring starts."""
    cap_s: int = CAP_S
    """Maximum wait in seconds, by fio's clock."""
    end_early: bool = False
    """Whether the run ends as soon as the measured part is steady."""
    round_s: int = ROUND_S
    """Length of a round in seconds.

    SNIA's rounds take a minute. A garbage collection of the SSD could fill a whole round of less than ten seconds.
    """
    window: int = WINDOW
    """Number of last rounds that are judged together."""

    def checked(self) -> SteadyPlan:
        """Return the plan unchanged.

        Raises InvalidValueError for illegal values, such as a wait that is shorter than one window.
        """
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
        """Return the run time to give to fio. raidbench stops fio when `runtime` seconds were measured."""
        return runtime + self.cap_s + _SPARE_S if self.until else runtime

    def describe(self) -> str:
        """Return the options as a clause to append to the description of a job; "" without steady state options."""
        parts = []
        if self.until:
            parts.append(f"once steady, or after {units.duration(self.cap_s)}")
        if self.end_early:
            parts.append("ends when steady")
        return ", ".join(parts)


# -- progress of a running job: phases, samples, CPU usage, members, advice and steady state -------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The job entered another phase, or the message about its phase changed."""

    phase: Phase
    """The phase."""
    seconds: float | None = None
    """Length of the phase, None if unknown."""
    message: str = ""
    """A sentence to show, such as one about waiting for outstanding I/O; "" for none."""
    total_bytes: int | None = None
    """Bytes after which the phase ends; None if it ends by time, or if that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """fio has reported the metrics of one interval."""

    sample: Sample
    """IOPS, throughput and latency in the interval, by direction."""
    read_bins: tuple[tuple[int, int], ...] = ()
    """Latency histogram of the interval's reads: (bucket value in ns, count), ascending; not stored."""
    write_bins: tuple[tuple[int, int], ...] = ()
    """Latency histogram of the interval's writes."""
    trim_bins: tuple[tuple[int, int], ...] = ()
    """Latency histogram of the interval's trims."""
    sync_bins: tuple[tuple[int, int], ...] = ()
    """Latency histogram of the interval's flushes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled(CpuStats):
    """CPU usage in about the last second. fio's usage is None if its process is not visible."""

    silent_s: float | None = None
    """Seconds since fio's last output. More than 2 s mean that an I/O is stuck. None if the time is not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersSampled:
    """Metrics of the devices below the device under test in the last interval."""

    members: tuple[MemberStats, ...]
    """All devices below the device under test. The members of a nested array follow the array."""
    caches: tuple[CacheStats, ...] = ()
    """Metrics of the caches among these devices since the measured phase began; empty before the first reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceGiven:
    """The conditions that make a running job's results doubtful. Those of the last event become part of the result."""

    advice: tuple[Advice, ...]
    """All current conditions, the worst first. They replace those of the previous event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateUpdated:
    """A round of the steady state check has ended."""

    steady: SteadyStateResult
    """The steady state result of the run so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEventSeen:
    """Background work began or ended, or a write cache changed, in the devices below the device under test."""

    events: tuple[RunEvent, ...]
    """The events, in order of time."""


Progress = (
    PhaseChanged | SampleTaken | CpuSampled | MembersSampled | AdviceGiven | SteadyStateUpdated | BackgroundEventSeen
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFinished:
    """The last event of every workload that was not abandoned. The session records it as the end of the run."""

    figures: RunResult
    """The result of the workload."""
    raw: Path
    """File with fio's standard output, unchanged."""


LoadEvent = PhaseChanged | SampleTaken | SteadyStateUpdated | CpuSampled | WorkloadFinished
"""Every event that a running workload can send."""


# -- data that preconditioning wrote to a device ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionWritten:
    """What preconditioning has written to a device, and when."""

    at: float
    """When preconditioning ended, in seconds since the epoch."""
    device: str
    """The device's node at that time, such as `/dev/sdb`."""
    size_bytes: int
    """Size of the device in bytes."""
    filled_bytes: int
    """Bytes written sequentially from the start, in all passes together."""
    workload: str = ""
    """The job that ran after the fill, in one line; "" if none did."""
    workload_bytes: int = 0
    """Bytes written by that job."""
    steady: bool | None = None
    """Whether that job became steady; None if there was no such job."""
    session: str = ""
    """Folder of the session that did the preconditioning."""

    @property
    def times(self) -> float:
        """Return how many times the device was written from start to end, such as 2.0."""
        return self.filled_bytes / self.size_bytes if self.size_bytes else 0.0


def written_text(written: PreconditionWritten) -> str:
    """Return a clause about preconditioning, such as `written 2.0x, then 4k random write until steady`."""
    fill_text = f"written {written.times:.1f}x"
    if not written.workload:
        return fill_text
    return (
        f"{fill_text}, then {written.workload}, "
        f"{'until steady' if written.steady else 'which did not reach a steady state'}"
    )


def written_ago(written: PreconditionWritten, now: float) -> str:
    """Return a clause about preconditioning for the facts of a device, such as `2.0x, steady, 3 h ago`."""
    steady = {True: ", steady", False: ", not steady", None: ""}[written.steady]
    return f"{written.times:.1f}x{steady}, {units.ago(now - written.at)}"
