"""Decision whether flushes are fast enough, from counts of a few runs. No I/O.

Two shares must be below 1 %: `over`, the flushes that take longer than the limit, and `stuck`, the time in which a
write that arrives at a random moment waits longer than the limit. Flushes that follow each other hide pauses, so `over`
alone calls a disk fit that pauses for 5 % of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from math import exp, inf, log, sqrt
from statistics import median
from typing import NamedTuple

from app.core.analysis.stats import moments, quantile
from backends.values import dataclass

RUNS, SECONDS = 8, 18
"""Number of runs, and measured seconds of each."""

SHARE = 0.01
"""Largest share that is allowed, which makes the limit a 99th percentile."""

_BLOCKS = 3
"""Blocks per run. They show scatter within a run, such as a cache that fills up."""

_TAIL = 0.01
"""Probability with which one bound is wrong; runs get half of it because they are fewest."""

_RARE = 60
"""With fewer bursts than this, their number scatters more than their total shows, so a Poisson bound applies."""

UNSEEN_PAUSES = 4.6
"""Mean number of pauses that a measurement misses completely with a probability of 1 % (-ln 0.01)."""

_UNSEEN_S = 0.1
"""Assumed seconds of a pause that was not seen."""


class FitAnswer(StrEnum):
    """The answer to whether a folder is fit."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "not decided"
    UNSAFE = "fast, not safe"
    """Every limit holds, but a power loss can lose flushed data. The verdict on one limit is never this."""


class FitReason(StrEnum):
    """Why a verdict is not yes."""

    OVER = "over"
    """More than 1 % of the flushes take longer than the limit."""
    STUCK = "stuck"
    """A random moment waits longer than the limit in more than 1 % of the time."""
    BESIDE = "beside"
    """A mean or rate is on the wrong side of the limit."""
    SCATTER = "scatter"
    """The interval of a value contains the limit."""
    PAUSE = "pause"
    """A pause is longer than the program tolerates."""
    SLOWED = "slowed"
    """The last block has less than half of the usual number of flushes."""
    FEW = "few"
    """There are too few runs or flushes."""


class Quarter(NamedTuple):
    """Counts of one of fio's intervals, usually a quarter of a second."""

    seconds: float
    """Length of the interval."""
    flushes: int
    """Completed flushes."""
    over: int
    """Flushes that took longer than the limit."""
    stuck_s: float
    """Seconds beyond the limit, summed over all flushes and writes."""


class RunCounts(NamedTuple):
    """Counts of one run."""

    quarters: Sequence[Quarter]
    """All intervals, in order of time."""
    p99_s: float
    """99th percentile of the flushes in seconds; 0 without flushes."""
    longest_s: float
    """Longest flush or write in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    """The mean over all runs."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""


UNKNOWN = Estimate(mean=0.0, low=0.0, high=inf)
"""Estimate from too few values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Verdict on one limit."""

    verdict: FitAnswer
    """Yes, no or not decided."""
    reasons: tuple[FitReason, ...] = ()
    """Why the verdict is not yes; () for yes."""
    measured: Estimate = UNKNOWN
    """Mean of the runs. For a latency limit, the geometric mean of the 99th percentiles of a flush, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyJudgement(Judgement):
    """Verdict on a latency limit, with all its values."""

    over: Estimate = UNKNOWN
    """Share of the flushes that take longer than the limit, 0..1."""
    stuck: Estimate = UNKNOWN
    """Share of the time in which a random moment waits longer than the limit, 0..1."""
    bursts: int = 0
    """Number of bursts: intervals in a row in which something waited longer than the limit."""
    longest_s: float
    """Longest flush or write in seconds."""
    seconds: float
    """Measured seconds of all runs."""


def judge_latency(runs: Sequence[RunCounts], limit_s: float, pause_s: float | None = None) -> LatencyJudgement:
    """Return the verdict on flushes with a 99th percentile below `limit_s` seconds.

    `pause_s`: length in seconds that no single flush or write may reach; None for no such limit.
    """
    flat = [quarter for run in runs for quarter in run.quarters]
    seconds = sum(quarter.seconds for quarter in flat)
    flushes = sum(quarter.flushes for quarter in flat)
    longest = max((run.longest_s for run in runs), default=0.0)
    if len(runs) < 2 or any(not run.p99_s or not run.quarters for run in runs):
        few = (FitReason.FEW,)
        return LatencyJudgement(verdict=FitAnswer.UNDECIDED, reasons=few, longest_s=longest, seconds=seconds)
    blocks = [block for run in runs for block in _blocks(run.quarters)]
    over = _over(runs, blocks, sum(quarter.over for quarter in flat) / flushes)
    stuck, bursts = _stuck(runs, blocks, seconds)
    logs = [log(run.p99_s) for run in runs]
    mean, half = _scatter(logs, _TAIL / 2)
    p99 = Estimate(mean=exp(mean), low=exp(mean - half), high=exp(mean + half))
    usual = median(block.flushes for block in blocks)
    no = [reason for reason, share in ((FitReason.OVER, over), (FitReason.STUCK, stuck)) if share.low > SHARE]
    open_reasons = [
        reason
        for reason, is_open in (
            (FitReason.SCATTER, over.high >= SHARE or stuck.high >= SHARE or p99.high >= limit_s),
            (FitReason.PAUSE, pause_s is not None and longest >= pause_s),
            (FitReason.SLOWED, blocks[-1].flushes < usual / 2),
        )
        if is_open
    ]
    verdict = FitAnswer.NO if no else FitAnswer.UNDECIDED if open_reasons else FitAnswer.YES
    return LatencyJudgement(
        verdict=verdict,
        reasons=tuple(no or open_reasons),
        measured=p99,
        over=over,
        stuck=stuck,
        bursts=bursts,
        longest_s=longest,
        seconds=seconds,
    )


def judge_mean(values: Sequence[float], limit: float, *, at_least: bool) -> Judgement:
    """Return the verdict on the mean of one value per run.

    `at_least`: whether the limit is the smallest allowed value instead of the largest.
    """
    if len(values) < 2:
        return Judgement(verdict=FitAnswer.UNDECIDED, reasons=(FitReason.FEW,))
    mean, half = _scatter(values, _TAIL / 2)
    measured = Estimate(mean=mean, low=max(0.0, mean - half), high=mean + half)
    if (measured.low >= limit) if at_least else (measured.high <= limit):
        return Judgement(verdict=FitAnswer.YES, measured=measured)
    is_no = (measured.high < limit) if at_least else (measured.low > limit)
    verdict, reason = (FitAnswer.NO, FitReason.BESIDE) if is_no else (FitAnswer.UNDECIDED, FitReason.SCATTER)
    return Judgement(verdict=verdict, reasons=(reason,), measured=measured)


def has_slowed(runs: Sequence[RunCounts]) -> bool:
    """Return whether the last block did less than half of the usual I/O, so that a cache was measured."""
    counts = [block.flushes for run in runs for block in _blocks(run.quarters)]
    return bool(counts) and counts[-1] < median(counts) / 2


def combined(verdicts: Iterable[FitAnswer]) -> FitAnswer:
    """Return the verdict on several conditions that must all hold."""
    found = set(verdicts)
    return next((verdict for verdict in (FitAnswer.NO, FitAnswer.UNDECIDED) if verdict in found), FitAnswer.YES)


def _blocks(quarters: Sequence[Quarter]) -> list[Quarter]:
    """Return the sums of the quarters over equal parts of a run."""
    length = sum(quarter.seconds for quarter in quarters) / _BLOCKS
    sums = [[0.0, 0, 0, 0.0] for _ in range(_BLOCKS)]
    at = 0.0
    for seconds, flushes, over, stuck_s in quarters:
        block = sums[min(_BLOCKS - 1, int((at + seconds / 2) / length))]
        at += seconds
        block[0] += seconds
        block[1] += flushes
        block[2] += over
        block[3] += stuck_s
    return [Quarter(block[0], int(block[1]), int(block[2]), block[3]) for block in sums]


def _over(runs: Sequence[RunCounts], blocks: Sequence[Quarter], share: float) -> Estimate:
    """Return the share of flushes over the limit, with the larger of the two errors: of blocks and of runs."""
    per_run = [
        sum(quarter.over for quarter in run.quarters) / max(1, sum(quarter.flushes for quarter in run.quarters))
        for run in runs
    ]
    count = len(blocks)
    squares = sum((block.over - share * block.flushes) ** 2 for block in blocks)
    of_blocks = sqrt(count / (count - 1) * squares) / max(1, sum(block.flushes for block in blocks))
    half = max(quantile(1 - _TAIL, count - 1) * of_blocks, _scatter(per_run, _TAIL / 2)[1])
    return Estimate(mean=share, low=max(0.0, share - half), high=share + half)


def _stuck(runs: Sequence[RunCounts], blocks: Sequence[Quarter], seconds: float) -> tuple[Estimate, int]:
    """Return the share of stuck time, and the number of bursts."""
    shares = [block.stuck_s / block.seconds if block.seconds else 0.0 for block in blocks]
    per_run = [sum(shares[at : at + _BLOCKS]) / _BLOCKS for at in range(0, len(shares), _BLOCKS)]
    mean, of_blocks = _scatter(shares, _TAIL)
    half = max(of_blocks, _scatter(per_run, _TAIL / 2)[1])
    bursts = [
        sum(quarter.stuck_s for quarter in group)
        for run in runs
        for is_stuck, group in groupby(run.quarters, key=lambda quarter: quarter.stuck_s > 0)
        if is_stuck
    ]
    high = mean + half
    if len(bursts) < _RARE:
        more = poisson_upper(len(bursts)) - len(bursts)
        unseen = UNSEEN_PAUSES * _UNSEEN_S
        high = max(high, (sum(bursts) + more * max(bursts, default=0.0) + unseen) / seconds)
    return Estimate(mean=mean, low=max(0.0, mean - half), high=high), len(bursts)


def _scatter(values: Sequence[float], tail: float) -> tuple[float, float]:
    """Return the mean, and the distance to a bound that is wrong with the probability `tail`."""
    mean, variance = moments(values)
    return mean, quantile(1 - tail, len(values) - 1) * sqrt(variance / len(values))


@lru_cache(maxsize=256)
def poisson_upper(count: int, level: float = 1 - _TAIL) -> float:
    """Return the upper bound of the mean of a Poisson distribution of which `count` events were seen."""
    low, high = float(count), count + 12 + 6 * sqrt(count + 1)
    for _ in range(50):
        middle = (low + high) / 2
        term = total = exp(-middle)
        for event in range(1, count + 1):
            term *= middle / event
            total += term
        low, high = (middle, high) if total > 1 - level else (low, middle)
    return high
