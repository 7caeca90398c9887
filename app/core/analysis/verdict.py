"""The verdict on two settings: faster, slower, no difference, not decided, or refused. No I/O.

Only the interval and the threshold decide. An interval within the threshold is no difference, even if it excludes 0.
Any other interval that excludes 0 is faster or slower (for a latency lower or higher). All else is not decided. More
pairs make the interval narrower, even if a few of them are outliers, so they do not make a verdict less likely.
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
"""Level for one group between two others: a period that affects both gives 6 % of false verdicts at 0.05, 4 % here."""

FEWEST_RUNS = 3
"""Runs of each side that were not measured in turn: fewer do not show the scatter."""


class Verdict(StrEnum):
    """Verdict on B compared with A: the same codes on screens, command line, in JSON and in reports."""

    FASTER = "faster"
    """More I/Os or more bytes."""
    SLOWER = "slower"
    """Fewer I/Os or fewer bytes."""
    LOWER = "lower"
    """Less latency."""
    HIGHER = "higher"
    """More latency."""
    NO_DIFFERENCE = "no-difference"
    """The whole interval is within the practical threshold."""
    NOT_DECIDED = "not-decided"
    """Too few repeats for any of these."""
    REFUSED = "refused"
    """The state of the array during the runs forbids a verdict, however many runs there are."""
    STOPPED_ANSWERING = "stopped-answering"
    """One side completed no I/O, the other did: all else is irrelevant."""

    @property
    def decided(self) -> bool:
        """Return whether it answers the question."""
        return self not in (Verdict.NOT_DECIDED, Verdict.REFUSED)


BETTER = frozenset({Verdict.FASTER, Verdict.LOWER})
"""A difference for the better."""

WORSE = frozenset({Verdict.SLOWER, Verdict.HIGHER})
"""A difference for the worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictResult:
    """A verdict and its basis."""

    verdict: Verdict
    """The verdict."""
    interval: ConfidenceInterval | None
    """None without repeats."""
    further_pairs: int | None = None
    """Additional pairs that would decide it with 75 % probability; None if it is decided, or none would."""
    interleaved: bool = False
    """Whether the runs were measured in turn."""
    reason: Reason | None = None
    """The reason; None if the verdict needs none."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within it counts as none, percent."""
    outliers: tuple[OutlierPair, ...] = ()
    """Outlier pairs."""
    slow: SlowRuns | None = None
    """Far slower runs, if all of them are on one side."""
    measured: int = 0
    """Number of its pairs."""
    drift: float | None = None
    """Difference in percent of the runs before and after the second side; None if there are no such runs."""
    figures: int = 0
    """Number of metrics judged together, for one of many."""
    wanted: PlannedCount | None = None
    """Amount that the plan of a sweep requires; None for other comparisons."""
    doubts: tuple[Caveat, ...] = ()
    """Caveats about the state of the array that forbid a verdict."""

    @property
    def decided(self) -> bool:
        """Return whether there is a verdict."""
        return self.verdict.decided

    @property
    def differs(self) -> bool:
        """Return whether a difference was shown."""
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

    Interleaved: a[i] and b[i] are the two runs of pair i, so both have the same length. Otherwise they are groups
    measured one after the other, whose drift cannot be distinguished from an effect: no verdict, only the interval.

    `threshold`: in percent. `level`: allowed rate of false verdicts. `inside_level`: that of "no difference" (`level`
    if None). `strictest`: the level for the first of several metrics judged together. `step`: rounding error of the
    logarithm of a ratio, from the resolution of the values. `ahead`: later interim analyses, with more pairs, that may
    decide it. `sees_slow_runs`: whether slow runs on one side forbid "no difference". Raises ValueError unless all
    values are positive and finite.
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
    """Return the verdict on B, measured between two groups of A: the drift of A is the reference.

    The interval is that of B against all of A, extended at both ends by the difference of the two groups of A. Raises
    ValueError for values without a logarithm.
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
    """Return the chance that all silent runs are on one side, which has `side_runs` of all `runs`.

    Two-sided, by Fisher's test, as it could have been either side.
    """
    return min(1.0, 2 * comb(side_runs, silent) / comb(runs, silent))


def judge_interval(
    interval: ConfidenceInterval, *, higher_is_better: bool = True, threshold: float = THRESHOLD_PERCENT
) -> VerdictResult:
    """Return the verdict of an interval whose level needs no further correction. `threshold`: in percent."""
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
    """Return the outlier pairs."""
    return tuple(OutlierPair(pair=at + 1, percent=expm1(ratios[at]) * 100) for at in outliers(ratios))


FAR_SLOWER = log(1.1)
"""Logarithm: a run that is less far below the median is not called slow."""

_FAR_SPREADS = 8 * 1.4826
"""Median absolute deviations that a slow run is below the median: eight standard deviations if all is normal."""

FEWEST_NAMED_SLOW = 2
"""Least number of slow runs to report, because a single run is always on one side."""

FEWEST_SLOW = 3
"""Number of slow runs on one side that rules out "no difference"."""


def slow_runs(a: Sequence[float], b: Sequence[float], *, higher_is_better: bool = True) -> SlowRuns | None:
    """Return the far slower runs, if there are at least two and all are on one side; else None."""
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
"""Share of the headline's level that all other metrics share, so that the job as a whole stays near that level."""


def correct_for_multiplicity(
    judgements: Sequence[VerdictResult | None], *, share: float = 1.0
) -> tuple[VerdictResult | None, ...]:
    """Return the verdicts; a difference that chance explains, given their number, becomes not decided.

    `share`: share of the level that this family has.
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
