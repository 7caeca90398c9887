"""The verdict on two settings: faster, slower, no difference, not decided, or refused. No I/O.

The interval against the threshold, and nothing else: all of it inside is no difference, also where it excludes 0; else
one that excludes 0 is faster or slower (of a latency lower or higher); else nothing is decided. More pairs make the
interval narrower, also where a few of them lie far off, so they do not make a verdict less likely.
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
"""Of what lies between two groups: a period that meets both alike makes 6 % of false verdicts at 0.05, 4 % here."""

FEWEST_RUNS = 3
"""Of each side, where they were not measured in turn: fewer tell nothing of how far runs lie apart."""


class Verdict(StrEnum):
    """What a comparison shows of B against A: the one vocabulary of screens, command line, JSON and reports."""

    FASTER = "faster"
    """More I/Os or more bytes."""
    SLOWER = "slower"
    """Fewer of them."""
    LOWER = "lower"
    """Less latency."""
    HIGHER = "higher"
    """More latency."""
    NO_DIFFERENCE = "no-difference"
    """The whole interval lies within the practical threshold."""
    NOT_DECIDED = "not-decided"
    """Too few repeats for any of these."""
    REFUSED = "refused"
    """The state of the array during the runs forbids one, however many there are."""
    STOPPED_ANSWERING = "stopped-answering"
    """One side completed no I/O, the other did: nothing else counts beside it."""

    @property
    def decided(self) -> bool:
        """Whether it answers the question."""
        return self not in (Verdict.NOT_DECIDED, Verdict.REFUSED)


BETTER = frozenset({Verdict.FASTER, Verdict.LOWER})
"""A difference that is welcome."""

WORSE = frozenset({Verdict.SLOWER, Verdict.HIGHER})
"""A difference that is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictResult:
    """A verdict with what it rests on."""

    verdict: Verdict
    """What was shown."""
    interval: ConfidenceInterval | None
    """None where there is nothing to take a spread of."""
    further_pairs: int | None = None
    """Pairs to add that would decide it, three times of four at least; None where it is decided, or none would."""
    interleaved: bool = False
    """Whether the runs were measured in turn."""
    reason: Reason | None = None
    """Why it is that and not more; None where the verdict says all."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within it is none, percent."""
    outliers: tuple[OutlierPair, ...] = ()
    """Pairs that lie far from the others."""
    slow: SlowRuns | None = None
    """Runs that are far slower than the rest, where all of them are on one side."""
    measured: int = 0
    """Pairs that it rests on."""
    drift: float | None = None
    """By how many percent the runs before and after the second side differ; None where there are no such."""
    figures: int = 0
    """How many were counted together, of one of many."""
    wanted: PlannedCount | None = None
    """What the plan of a sweep asks for; None elsewhere."""
    doubts: tuple[Caveat, ...] = ()
    """Why the state of the array forbids a verdict."""

    @property
    def decided(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict.decided

    @property
    def differs(self) -> bool:
        """Whether a difference was shown."""
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
    """The verdict on B against A.

    Interleaved: a[i] and b[i] are the two runs of pair i, and as many of each. Otherwise they are groups that were
    measured one after the other, of which drift cannot be told from an effect: no verdict, only the interval.
    `threshold` is in percent, `level` the share of false verdicts allowed, `inside_level` the same of "no difference"
    (`level` where None), `strictest` what that comes to for the first
    of several that are counted together, `step` how far the logarithm of a ratio may be off by the steps that the
    values are measured in, `ahead` the looks at more pairs that may decide it, `sees_slow_runs` whether slow runs on
    one side forbid "no difference". All values are positive and finite; raises ValueError if not.
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
    """The verdict on B, measured between two groups of A: what A drifted by meanwhile is the yardstick.

    The interval is that of B against all of A, made wider at both ends by the difference of the two As. Raises
    ValueError of values without a logarithm.
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
    """How likely it is that all silent runs are on one side by chance, if that side has `side_runs` of all the `runs`.

    Two-sided, after Fisher: any side may be the one.
    """
    return min(1.0, 2 * comb(side_runs, silent) / comb(runs, silent))


def judge_interval(
    interval: ConfidenceInterval, *, higher_is_better: bool = True, threshold: float = THRESHOLD_PERCENT
) -> VerdictResult:
    """Return the verdict that an interval carries whose level has everything in it already. `threshold` in percent."""
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
    """Return the pairs that lie far from the others."""
    return tuple(OutlierPair(pair=at + 1, percent=expm1(ratios[at]) * 100) for at in outliers(ratios))


FAR_SLOWER = log(1.1)
"""As a logarithm: a run that is less far below the middle is not called slow."""

_FAR_SPREADS = 8 * 1.4826
"""How many median deviations a slow run lies below the middle: eight standard deviations, where all is normal."""

FEWEST_NAMED_SLOW = 2
"""One run is on one side whatever happened."""

FEWEST_SLOW = 3
"""Slow runs on one side alone from which on there is no "no difference": the other runs may be alike, these are not."""


def slow_runs(a: Sequence[float], b: Sequence[float], *, higher_is_better: bool = True) -> SlowRuns | None:
    """Runs that are far slower than the rest, if they are two at least and all on one side; else None."""
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


# -- many figures at once: what is shown of one of them when all are counted ------------------------------------------

BESIDE = 0.2
"""Of the level of the headline what all figures beside it share, so that the whole job stays at about that level."""


def correct_for_multiplicity(
    judgements: Sequence[VerdictResult | None], *, share: float = 1.0
) -> tuple[VerdictResult | None, ...]:
    """The same judgements; a difference that chance explains, given their number, is not decided any more.

    `share`: how much of the level the family has to itself.
    """
    family = [judgement for judgement in judgements if judgement is not None and judgement.interval is not None]
    if len(family) < 2:
        return tuple(judgements)
    adjusted = dict(
        zip(map(id, family), holm([judgement.interval.p for judgement in family if judgement.interval]), strict=True)
    )
    return tuple(
        _corrected(judgement, adjusted.get(id(judgement), 0.0) / share, len(family)) for judgement in judgements
    )


def _corrected(judgement: VerdictResult | None, p: float, count: int) -> VerdictResult | None:
    if judgement is None or not judgement.differs:
        return judgement
    level = LEVEL if judgement.interval is None else judgement.interval.level
    if p <= level:
        return judgement
    return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=Reason.ONE_OF_MANY, figures=count)
