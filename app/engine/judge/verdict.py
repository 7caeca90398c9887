"""The verdict on two settings: faster, slower, no difference, not decided, or refused. Pure.

The interval against the threshold, and nothing else: all of it inside is no difference, also where it excludes 0; else
one that excludes 0 is faster or slower (of a latency lower or higher); else nothing is decided. More pairs make the
interval narrower, so they never make a verdict less likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from math import expm1, isfinite

from app.engine.judge.looks import FEWEST_PAIRS, LEVEL, STANDARD
from app.engine.judge.stats import (
    THRESHOLD_PERCENT,
    Interval,
    log_ratios,
    of_ratios,
    outlier,
    pairs_to_decide,
    unpaired,
)
from backends.values import dataclass
from widgets.plain import units

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

    @property
    def word(self) -> str:
        """As people read it."""
        return self.value.replace("-", " ")

    @property
    def decided(self) -> bool:
        """Whether it answers the question."""
        return self not in (Verdict.NOT_DECIDED, Verdict.REFUSED)


BETTER = frozenset({Verdict.FASTER, Verdict.LOWER})
"""A difference that is welcome."""

WORSE = frozenset({Verdict.SLOWER, Verdict.HIGHER})
"""A difference that is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with what it rests on."""

    verdict: Verdict
    """What was shown."""
    interval: Interval | None
    """None where there is nothing to take a spread of."""
    further_pairs: int | None
    """Pairs to add that would decide it; None where it is decided, or where no plan has room for so many."""
    interleaved: bool
    """Whether the runs were measured in turn."""
    reason: str
    """Why it is that and not more, or how little the effect may be; no full stop."""
    outlier: str = ""
    """A pair that lies far from the others, as a phrase; "" without."""

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        return self.verdict.word

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
) -> Judgement:
    """The verdict on B against A.

    Interleaved: a[i] and b[i] are the two runs of pair i, and as many of each. Otherwise they are groups that were
    measured one after the other, of which drift cannot be told from an effect: no verdict, only the interval.
    `threshold` is in percent, `level` the share of false verdicts allowed. All values are positive and finite; raises
    ValueError if not.
    """
    if not all(isfinite(value) and value > 0 for value in (*a, *b)):
        raise ValueError("only positive, finite values have a ratio")
    if not interleaved:
        return _judge_groups(a, b, level)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values make no pairs")
    return _judge_pairs(log_ratios(a, b), higher_is_better, threshold, level)


def judge_between(
    before: Sequence[float],
    b: Sequence[float],
    after: Sequence[float],
    *,
    higher_is_better: bool = True,
    threshold: float = THRESHOLD_PERCENT,
    level: float = BETWEEN_LEVEL,
) -> Judgement:
    """The verdict on B, measured between two groups of A: what A drifted by meanwhile is the yardstick.

    The interval is that of B against all of A, made wider at both ends by the difference of the two As. Raises
    ValueError of values without a logarithm.
    """
    a = (*before, *after)
    judgement = judge(a, b, interleaved=False, level=level)
    if judgement.interval is None or min(len(before), len(after)) < 1 or min(len(a), len(b)) < FEWEST_RUNS:
        return judgement
    means = [sum(log_ratios([1.0] * len(side), side)) / len(side) for side in (before, after)]
    drift = abs(means[1] - means[0])
    seen = judgement.interval
    wide = replace(seen, low=seen.low - drift, high=seen.high + drift)
    held = _of_interval(wide, higher_is_better, threshold, room=0)
    between = f"the runs before and after it differ by {expm1(drift) * 100:.1f} %"
    reason = f"{held.reason}, {between}" if held.reason else between
    return replace(held, interleaved=False, reason=reason)


def _judge_pairs(ratios: Sequence[float], higher_is_better: bool, threshold: float, level: float) -> Judgement:
    few = f"{len(ratios)} of at least {FEWEST_PAIRS} pairs measured"
    if len(ratios) < 2:
        return _undecided(None, few, interleaved=True)
    interval = of_ratios(ratios, level=level)
    if interval.n < FEWEST_PAIRS:
        return _undecided(interval, few, interleaved=True, further=FEWEST_PAIRS - interval.n)
    found = _of_interval(interval, higher_is_better, threshold)
    odd = outlier(ratios)
    if odd is None:
        return found
    rest = [ratio for at, ratio in enumerate(ratios) if at != odd]
    without = _of_interval(of_ratios(rest, level=level), higher_is_better, threshold)
    named = f"pair {odd + 1} ({expm1(ratios[odd]) * 100:+.1f} %) lies far from the others"
    if without.verdict is found.verdict:
        return replace(found, outlier=f"{named}; without it the verdict is the same")
    reason = f"{named}: {found.word} with it, {without.word} without it"
    return _undecided(interval, reason, interleaved=True, outlier=named)


def _of_interval(
    interval: Interval, higher_is_better: bool, threshold: float, *, room: int = STANDARD[-1].pairs
) -> Judgement:
    """The rule. `threshold` in percent; `room`: pairs that a plan has at most, 0 where there are none."""
    if interval.within(threshold):
        reason = f"the interval lies inside +-{threshold:g} %"
        return Judgement(
            verdict=Verdict.NO_DIFFERENCE, interval=interval, further_pairs=None, interleaved=True, reason=reason
        )
    if interval.excludes_zero:
        more, less = (Verdict.FASTER, Verdict.SLOWER) if higher_is_better else (Verdict.HIGHER, Verdict.LOWER)
        least = min(abs(interval.percent_low), abs(interval.percent_high))
        return Judgement(
            verdict=more if interval.mean > 0 else less,
            interval=interval,
            further_pairs=None,
            interleaved=True,
            reason=f"by as little as {least:.1f} %" if least < threshold else "",
        )
    smallest = f"an effect below {interval.smallest_percent:.1f} % would not have shown"
    needed = pairs_to_decide(interval, threshold=threshold)
    if needed > room:
        return _undecided(interval, smallest, interleaved=True)
    more_pairs = units.plural(needed - interval.n, "pair")
    reason = f"{smallest}; about {more_pairs} more would decide it"
    return _undecided(interval, reason, interleaved=True, further=needed - interval.n)


def _judge_groups(a: Sequence[float], b: Sequence[float], level: float) -> Judgement:
    if min(len(a), len(b)) < 2:
        return _undecided(None, "how far runs of the same settings lie apart is not known")
    interval = unpaired(a, b, level=level)
    if min(len(a), len(b)) < FEWEST_RUNS:
        return _undecided(interval, f"{FEWEST_RUNS} runs of each are the fewest")
    return _undecided(interval, "not measured in turn, so drift cannot be told from an effect")


def _undecided(
    interval: Interval | None, reason: str, *, interleaved: bool = False, further: int | None = None, outlier: str = ""
) -> Judgement:
    return Judgement(
        verdict=Verdict.NOT_DECIDED,
        interval=interval,
        further_pairs=further,
        interleaved=interleaved,
        reason=reason,
        outlier=outlier,
    )
