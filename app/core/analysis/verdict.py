"""The verdict on two settings: faster, slower, no difference, not decided, or refused. No I/O.

Only the interval of the difference and the threshold decide. If the whole interval is within the threshold, the verdict
is "no difference", even if the interval excludes 0. Any other interval that excludes 0 gives faster or slower (for a
latency lower or higher). Every other interval gives "not decided". More pairs make the interval narrower, even if a few
of them are outliers, so more pairs do not make a verdict less likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from math import comb, expm1, isfinite, log
from statistics import median

from app.core.analysis.noise import deciding_look
from app.core.analysis.pair_design import FEWEST_PAIRS, LEVEL
from app.core.analysis.reasons import Caveat, OutlierPair, PlannedCount, Reason, SlowRuns
from app.core.analysis.signed_rank import pair_interval
from app.core.analysis.stats import THRESHOLD_PERCENT, ConfidenceInterval, holm, log_ratios, outliers, welch_interval
from app.core.session.event_types import InterimAnalysis
from backends.values import dataclass

BETWEEN_LEVEL = 0.03
"""Level of the interval if all runs of one side were measured between two groups of runs of the other.

Under a periodic disturbance of both sides, 0.05 gives 6 % of false verdicts, and this level 4 %.
"""

FEWEST_RUNS = 3
"""Least number of runs of each side if they were not measured in turn; fewer do not show the scatter."""


class Verdict(StrEnum):
    """Verdict on B compared with A. Screens, command line, JSON and reports all use these codes."""

    FASTER = "faster"
    """B has more IOPS or more throughput."""
    SLOWER = "slower"
    """B has fewer IOPS or less throughput."""
    LOWER = "lower"
    """B has a lower latency."""
    HIGHER = "higher"
    """B has a higher latency."""
    NO_DIFFERENCE = "no-difference"
    """The whole interval is within the threshold."""
    NOT_DECIDED = "not-decided"
    """None of the verdicts above is possible: the interval is too wide, or the runs allow no verdict."""
    REFUSED = "refused"
    """The state of the array during the runs forbids a verdict, however many runs there are."""
    STOPPED_ANSWERING = "stopped-answering"
    """One side completed no I/O in some runs, and chance does not explain this. This verdict overrides all others."""

    @property
    def decided(self) -> bool:
        """Return whether this is a result: anything but NOT_DECIDED and REFUSED."""
        return self not in (Verdict.NOT_DECIDED, Verdict.REFUSED)


BETTER = frozenset({Verdict.FASTER, Verdict.LOWER})
"""Verdicts that say that B is better."""

WORSE = frozenset({Verdict.SLOWER, Verdict.HIGHER})
"""Verdicts that say that B is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictResult:
    """A verdict, with the interval and the facts that led to it."""

    verdict: Verdict
    """The verdict on B compared with A."""
    interval: ConfidenceInterval | None
    """Interval of the difference; None without repeats."""
    further_pairs: int | None = None
    """Additional pairs after which a verdict is due, or 75 % probable; None if decided or if more pairs do not help."""
    interleaved: bool = False
    """Whether the runs were measured in turn."""
    reason: Reason | None = None
    """The reason for the verdict; None if it needs none."""
    threshold: float = THRESHOLD_PERCENT
    """Largest difference that counts as none, in percent."""
    outliers: tuple[OutlierPair, ...] = ()
    """Pairs whose difference is far from that of the others."""
    slow: SlowRuns | None = None
    """Runs that are far slower than the rest; None if there are fewer than two, or some on both sides."""
    measured: int = 0
    """Number of measured pairs."""
    drift: float | None = None
    """Difference in percent between the runs of A before B and those after it; None if B was not measured between."""
    figures: int = 0
    """Number of metrics that were corrected together; set only if the reason is ONE_OF_MANY."""
    wanted: PlannedCount | None = None
    """Number of rounds or pairs that the plan of a sweep requires; None for other comparisons."""
    doubts: tuple[Caveat, ...] = ()
    """Caveats about the state of the array that forbid a verdict."""

    @property
    def decided(self) -> bool:
        """Return whether the verdict is a result: anything but NOT_DECIDED and REFUSED."""
        return self.verdict.decided

    @property
    def differs(self) -> bool:
        """Return whether the verdict is a difference, for better or worse."""
        return self.verdict in BETTER or self.verdict in WORSE


def judge(
    a: Sequence[float],
    b: Sequence[float],
    *,
    interleaved: bool,
    higher_is_better: bool = True,
    threshold: float = THRESHOLD_PERCENT,
    level: float = LEVEL,
    inside_level: float | None = None,
    strictest: float | None = None,
    step: float = 0.0,
    ahead: Sequence[InterimAnalysis] = (),
    sees_slow_runs: bool = True,
) -> VerdictResult:
    """Return the verdict on B compared with A.

    If `interleaved`, a[i] and b[i] are the two runs of pair i, so both have the same length. Otherwise `a` and `b` are
    groups measured one after the other. Drift between groups looks like an effect, so they get an interval but no
    verdict.

    `threshold`: in percent. `level`: allowed rate of false verdicts. `inside_level`: allowed rate of false "no
    difference" verdicts (`level` if None). `strictest`: strictest level of Holm's correction if several metrics are
    corrected together. `step`: rounding error of the logarithm of a ratio, from the resolution of the values. `ahead`:
    later interim analyses, with more pairs, that may lead to a verdict. `sees_slow_runs`: whether slow runs on one side
    forbid "no difference". Raises ValueError unless all values are positive and finite.
    """
    if not all(isfinite(value) and value > 0 for value in (*a, *b)):
        raise ValueError("only positive, finite values have a ratio")
    if not interleaved:
        return _judge_groups(a, b, level, threshold, step)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values make no pairs")
    ratios = log_ratios(a, b)
    strictest = level if strictest is None else strictest
    interval = pair_interval(ratios, level=level, strictest=strictest).at_least(step) if len(ratios) > 1 else None
    judgement = _judge_pairs(interval, len(ratios), higher_is_better, threshold)
    if interval is not None and len(ratios) >= FEWEST_PAIRS and inside_level is not None and inside_level != level:
        inside = pair_interval(ratios, level=inside_level, strictest=strictest).at_least(step)
        if inside.within(threshold):
            judgement = judge_interval(inside, higher_is_better=higher_is_better, threshold=threshold)
    slow = slow_runs(a, b, higher_is_better=higher_is_better) if sees_slow_runs else None
    if slow is not None and slow.count >= FEWEST_SLOW and judgement.verdict is Verdict.NO_DIFFERENCE:
        judgement = replace(judgement, verdict=Verdict.NOT_DECIDED, reason=Reason.SLOW_ON_ONE_SIDE)
    judgement = replace(judgement, outliers=_outlier_pairs(ratios), slow=slow)
    if interval is None or judgement.reason is not Reason.NOT_SHOWN:
        return judgement
    look = deciding_look(interval, ahead, threshold=threshold)
    return replace(judgement, further_pairs=None if look is None else look.pairs - len(ratios))


def judge_between(
    before: Sequence[float],
    b: Sequence[float],
    after: Sequence[float],
    *,
    higher_is_better: bool = True,
    threshold: float = THRESHOLD_PERCENT,
    level: float = BETWEEN_LEVEL,
    step: float = 0.0,
) -> VerdictResult:
    """Return the verdict on B, which was measured between two groups of runs of A.

    The difference between the two groups of A shows the drift. The interval compares B with all of A, and is extended
    at both ends by that drift. Raises ValueError for values without a logarithm.
    """
    a = (*before, *after)
    judgement = judge(a, b, interleaved=False, threshold=threshold, level=level, step=step)
    if judgement.interval is None or min(len(before), len(after)) < 1 or min(len(a), len(b)) < FEWEST_RUNS:
        return judgement
    means = [sum(log_ratios([1.0] * len(side), side)) / len(side) for side in (before, after)]
    drift = abs(means[1] - means[0])
    interval = judgement.interval
    widened = replace(interval, low=interval.low - drift, high=interval.high + drift)
    judgement_of_b = judge_interval(widened, higher_is_better=higher_is_better, threshold=threshold)
    return replace(judgement_of_b, interleaved=False, drift=expm1(drift) * 100)


def chance_of_silence(silent: int, side_runs: int, runs: int) -> float:
    """Return the chance that all `silent` runs without I/O are on one side, which has `side_runs` of the `runs` runs.

    This is the p value of Fisher's test. It is two-sided, because either side could have had the silent runs.
    """
    return min(1.0, 2 * comb(side_runs, silent) / comb(runs, silent))


def judge_interval(
    interval: ConfidenceInterval, *, higher_is_better: bool = True, threshold: float = THRESHOLD_PERCENT
) -> VerdictResult:
    """Return the verdict that an interval gives at its own level. `threshold`: in percent."""
    verdict: Verdict = Verdict.NOT_DECIDED
    reason: Reason | None = Reason.NOT_SHOWN
    if interval.within(threshold):
        verdict, reason = Verdict.NO_DIFFERENCE, Reason.INSIDE
    elif interval.excludes_zero:
        more, less = (Verdict.FASTER, Verdict.SLOWER) if higher_is_better else (Verdict.HIGHER, Verdict.LOWER)
        least = min(abs(interval.percent_low), abs(interval.percent_high))
        verdict, reason = more if interval.mean > 0 else less, Reason.SMALL if least < threshold else None
    return VerdictResult(
        verdict=verdict,
        interval=interval,
        interleaved=True,
        reason=reason,
        threshold=threshold,
        measured=interval.n,
    )


def _judge_pairs(
    interval: ConfidenceInterval | None, pairs: int, higher_is_better: bool, threshold: float
) -> VerdictResult:
    if interval is not None and pairs >= FEWEST_PAIRS:
        return judge_interval(interval, higher_is_better=higher_is_better, threshold=threshold)
    return VerdictResult(
        verdict=Verdict.NOT_DECIDED,
        interval=interval,
        further_pairs=FEWEST_PAIRS - pairs if interval is not None else None,
        interleaved=True,
        reason=Reason.FEW_PAIRS,
        threshold=threshold,
        measured=pairs,
    )


def _outlier_pairs(ratios: Sequence[float]) -> tuple[OutlierPair, ...]:
    """Return the pairs whose log-ratio is an outlier, numbered from 1."""
    return tuple(OutlierPair(pair=at + 1, percent=expm1(ratios[at]) * 100) for at in outliers(ratios))


FAR_SLOWER = log(1.1)
"""Least distance of a slow run from the median, as a logarithm; it corresponds to 10 %."""

_FAR_SPREADS = 8 * 1.4826
"""Least distance of a slow run from the median, in median absolute deviations.

It corresponds to eight standard deviations of a normal distribution.
"""

FEWEST_NAMED_SLOW = 2
"""Least number of slow runs to report; a single run is on one side in any case."""

FEWEST_SLOW = 3
"""With this many slow runs or more, all on the same side, the verdict "no difference" is not possible."""


def slow_runs(a: Sequence[float], b: Sequence[float], *, higher_is_better: bool = True) -> SlowRuns | None:
    """Return the far slower runs, if there are at least two and all are on the same side (`a` or `b`); else None."""
    sign = 1 if higher_is_better else -1
    logs = [[sign * log(value) for value in side] for side in (a, b)]
    centre = median((*logs[0], *logs[1]))
    far = max(FAR_SLOWER, _FAR_SPREADS * median(abs(value - centre) for side in logs for value in side))
    slow_a, slow_b = (sum(centre - value > far for value in side) for side in logs)
    if slow_a + slow_b < FEWEST_NAMED_SLOW or (slow_a and slow_b):
        return None
    return SlowRuns(side="A" if slow_a else "B", count=slow_a or slow_b)


def _judge_groups(a: Sequence[float], b: Sequence[float], level: float, threshold: float, step: float) -> VerdictResult:
    fewest = min(len(a), len(b))
    interval = welch_interval(a, b, level=level).at_least(step) if fewest > 1 else None
    if interval is None:
        reason = Reason.NO_REPEATS
    else:
        reason = Reason.FEW_RUNS if fewest < FEWEST_RUNS else Reason.NOT_IN_TURN
    return VerdictResult(verdict=Verdict.NOT_DECIDED, interval=interval, reason=reason, threshold=threshold)


# -- multiple metrics: correction for their number --------------------------------------------------------------------

BESIDE = 0.2
"""Level for all metrics except the headline together, as a share of the headline's level.

It is small, so that the level for all metrics of a job, headline included, stays near that of the headline.
"""


def correct_for_multiplicity(
    judgements: Sequence[VerdictResult | None], *, share: float = 1.0
) -> tuple[VerdictResult | None, ...]:
    """Return the verdicts after a correction for their number (Holm).

    A difference that chance alone can explain among so many metrics becomes NOT_DECIDED. `share`: the level for these
    verdicts together, as a share of the level of their intervals.
    """
    family = [judgement for judgement in judgements if judgement is not None and judgement.interval is not None]
    if len(family) < 2:
        return tuple(judgements)
    adjusted = dict(
        zip(map(id, family), holm([judgement.interval.p for judgement in family if judgement.interval]), strict=True)
    )
    return tuple(_correct(judgement, adjusted.get(id(judgement), 0.0) / share, len(family)) for judgement in judgements)


def _correct(judgement: VerdictResult | None, p: float, count: int) -> VerdictResult | None:
    if judgement is None or not judgement.differs:
        return judgement
    level = LEVEL if judgement.interval is None else judgement.interval.level
    if p <= level:
        return judgement
    return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=Reason.ONE_OF_MANY, figures=count)
