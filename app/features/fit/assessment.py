"""The answer about a folder: the limits, the measured values, what they cannot show, and safety. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from app.features.fit.decision import (
    UNSEEN_PAUSES,
    Estimate,
    FitAnswer,
    FitReason,
    Judgement,
    LatencyJudgement,
    combined,
    has_slowed,
    judge_latency,
    judge_mean,
)
from app.features.fit.profiles import FitProfile, Limit, Quantity
from app.features.fit.runs import FitRun
from app.features.fit.safety import Safety, SafetyJudgement
from backends.values import dataclass


class Obstacle(StrEnum):
    """Why the answer is not decided, although nothing was measured against it."""

    NO_LIMIT = "no-limit"
    """Neither the documentation nor the user sets a limit."""
    NOT_PRECONDITIONED = "not-preconditioned"
    """The program writes for hours, and the device was not preconditioned."""
    FILESYSTEM = "filesystem"
    """The program needs a local POSIX filesystem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitCondition:
    """One limit and what was measured against it."""

    limit: Limit
    """The limit."""
    judgement: Judgement
    """The verdict on it, with the value in the unit of the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """Facts about the storage beneath a folder."""

    safety: SafetyJudgement
    """Whether flushed data survive a power loss."""
    busy_share: float | None = None
    """Share of the time in which other programs kept the disk busy before the first run; None if unknown."""
    preconditioned: bool = False
    """Whether the device was filled by `precondition`."""
    unfit_filesystem: str = ""
    """Type of the filesystem if the program does not work on it; "" if it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult:
    """The complete answer about a folder."""

    profile: FitProfile
    """The program."""
    answer: FitAnswer
    """The answer."""
    conditions: tuple[FitCondition, ...]
    """Every limit, with its measured value."""
    obstacle: Obstacle | None
    """Why the answer is not the verdict of the conditions; None if it is."""
    values: dict[Quantity, Estimate]
    """Measured values, also those without a limit."""
    runs: int
    """Number of runs."""
    seconds: float
    """Measured seconds."""
    written: int
    """Bytes written while measuring."""
    foundation: Foundation
    """Facts about the storage beneath the folder."""

    @property
    def latency(self) -> LatencyJudgement | None:
        """Return the judgement of the flushes; None without a limit of their latency."""
        judgements = (condition.judgement for condition in self.conditions)
        return next((found for found in judgements if isinstance(found, LatencyJudgement)), None)

    @property
    def unseen_every_s(self) -> float:
        """Return the longest mean time between pauses that the runs exclude with a probability of 99 %."""
        return self.seconds / UNSEEN_PAUSES


def assess(profile: FitProfile, limits: Sequence[Limit], runs: Sequence[FitRun], foundation: Foundation) -> FitResult:
    """Return the answer. `runs`: finished runs in order; () if the program has no workload."""
    conditions = tuple(FitCondition(limit=limit, judgement=_judge(limit, profile, runs)) for limit in limits)
    obstacle = _obstacle(profile, limits, foundation)
    answer = combined(condition.judgement.verdict for condition in conditions)
    if obstacle is Obstacle.FILESYSTEM:
        answer = FitAnswer.NO
    elif obstacle is Obstacle.NO_LIMIT or (obstacle is not None and answer is FitAnswer.YES):
        answer = FitAnswer.UNDECIDED
    else:
        obstacle = None
    if answer is FitAnswer.YES and foundation.safety.safety is Safety.UNSAFE:
        answer = FitAnswer.UNSAFE
    return FitResult(
        profile=profile,
        answer=answer,
        conditions=conditions,
        obstacle=obstacle,
        values=_values(profile, runs),
        runs=len(runs),
        seconds=sum(interval.seconds for run in runs for interval in run.intervals),
        written=sum(run.written for run in runs),
        foundation=foundation,
    )


def _obstacle(profile: FitProfile, limits: Sequence[Limit], foundation: Foundation) -> Obstacle | None:
    if foundation.unfit_filesystem:
        return Obstacle.FILESYSTEM
    if profile.workload and not limits:
        return Obstacle.NO_LIMIT
    return Obstacle.NOT_PRECONDITIONED if profile.sustained and not foundation.preconditioned else None


def _of(quantity: Quantity, profile: FitProfile, run: FitRun) -> float:
    return {
        Quantity.COMMITS: run.flushes_per_s / profile.flushes_per_commit,
        Quantity.IOPS: run.iops,
        Quantity.MEAN: run.mean_s,
        Quantity.BYTES: run.bytes_per_s,
    }[quantity]


def _values(profile: FitProfile, runs: Sequence[FitRun]) -> dict[Quantity, Estimate]:
    """Return the value of every quantity that the runs have, except the percentile of flushes."""
    quantities = (Quantity.COMMITS, Quantity.IOPS, Quantity.MEAN, Quantity.BYTES)
    columns = {quantity: [_of(quantity, profile, run) for run in runs] for quantity in quantities}
    return {
        quantity: judge_mean(values, 0.0, at_least=True).measured
        for quantity, values in columns.items()
        if values and any(values)
    }


def _judge(limit: Limit, profile: FitProfile, runs: Sequence[FitRun]) -> Judgement:
    if limit.quantity is Quantity.FLUSH_P99:
        return judge_latency([run.counts(limit.value) for run in runs], limit.value, profile.pause_s)
    values = [_of(limit.quantity, profile, run) for run in runs]
    judgement = judge_mean(values, limit.value, at_least=limit.quantity.at_least)
    if judgement.verdict is FitAnswer.YES and has_slowed([run.progress() for run in runs]):
        return replace(judgement, verdict=FitAnswer.UNDECIDED, reasons=(FitReason.SLOWED,))
    return judgement
