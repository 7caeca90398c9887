"""The verdict on two settings: faster, slower, no difference, not decided, or refused. Pure.

Faster or slower (of a latency lower or higher) needs an interval that excludes 0, a mean beyond the practical
threshold, and signs that do not contradict. No difference needs an interval that lies within the threshold: one that
merely includes 0 shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.engine.judge.stats import (
    MOST_PAIRS,
    THRESHOLD_PERCENT,
    Interval,
    further_pairs,
    log_ratios,
    opposite,
    paired,
    unpaired,
)

NOT_INTERLEAVED_PERCENT = 5.0
"""What drift and order alone can make of runs that were not measured in turn: no verdict below it."""

FEWEST_PAIRS = 3
"""Fewer carry no verdict: with two the interval rests on one degree of freedom."""


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
    """Estimated number of further pairs that would decide it; None where it is decided or no spread is known."""
    interleaved: bool
    """Whether the runs were measured in turn."""
    reason: str
    """Why it is that and not more; no full stop."""

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        return self.verdict.word

    @property
    def decided(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict.decided


def judge(
    a: Sequence[float],
    b: Sequence[float],
    *,
    interleaved: bool,
    higher_is_better: bool = True,
    threshold: float = THRESHOLD_PERCENT,
) -> Judgement:
    """The verdict on B against A.

    Interleaved: a[i] and b[i] are the two runs of pair i, and as many of each. Otherwise they are groups that were
    measured one after the other, held to `NOT_INTERLEAVED_PERCENT`. `threshold` is in percent. All values are
    positive; raises ValueError if not.
    """
    if any(value <= 0 for value in (*a, *b)):
        raise ValueError("only positive values have a ratio")
    return _judge_pairs(a, b, higher_is_better, threshold) if interleaved else _judge_groups(a, b, higher_is_better)


def _judge_pairs(a: Sequence[float], b: Sequence[float], higher_is_better: bool, threshold: float) -> Judgement:
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values make no pairs")
    if len(a) < 2:
        return _undecided(None, f"{len(a)} of at least {FEWEST_PAIRS} pairs measured", interleaved=True)
    interval = paired(a, b)
    further = further_pairs(interval, threshold=threshold)
    if interval.n < FEWEST_PAIRS:
        reason = f"{interval.n} of at least {FEWEST_PAIRS} pairs measured"
        return _undecided(interval, reason, interleaved=True, further=max(further, FEWEST_PAIRS - interval.n))
    if interval.within(threshold):
        return Judgement(
            verdict=Verdict.NO_DIFFERENCE,
            interval=interval,
            further_pairs=None,
            interleaved=True,
            reason=f"the interval lies inside +-{threshold:g} %",
        )
    against = opposite(log_ratios(a, b))
    if not interval.excludes_zero:
        reason = "the interval includes 0"
    elif abs(interval.percent) < threshold:
        reason = f"whether it is less than {threshold:g} % is open"
    elif against > 1:
        reason = f"{against} of {interval.n} pairs point the other way"
    else:
        return _decided(interval, higher_is_better, interleaved=True)
    more = f"{reason}; about {_count(further)} more would decide it"
    return _undecided(interval, more, interleaved=True, further=further)


def _judge_groups(a: Sequence[float], b: Sequence[float], higher_is_better: bool) -> Judgement:
    if min(len(a), len(b)) < 2:
        return _undecided(None, "how far runs of the same settings lie apart is not known")
    interval = unpaired(a, b)
    if not interval.excludes_zero:
        reason = "the interval includes 0"
    elif abs(interval.percent) < NOT_INTERLEAVED_PERCENT:
        reason = f"below {NOT_INTERLEAVED_PERCENT:g} % the order of the runs may be the cause"
    else:
        return _decided(interval, higher_is_better, interleaved=False)
    further = max(further_pairs(interval, threshold=THRESHOLD_PERCENT) + interval.n, FEWEST_PAIRS)
    return _undecided(interval, f"{reason}; about {_count(further)} in turn would decide it", further=further)


def _decided(interval: Interval, higher_is_better: bool, *, interleaved: bool) -> Judgement:
    more, less = (Verdict.FASTER, Verdict.SLOWER) if higher_is_better else (Verdict.HIGHER, Verdict.LOWER)
    verdict = more if interval.mean > 0 else less
    return Judgement(verdict=verdict, interval=interval, further_pairs=None, interleaved=interleaved, reason="")


def _undecided(
    interval: Interval | None, reason: str, *, interleaved: bool = False, further: int | None = None
) -> Judgement:
    return Judgement(
        verdict=Verdict.NOT_DECIDED,
        interval=interval,
        further_pairs=further,
        interleaved=interleaved,
        reason=reason,
    )


def _count(pairs: int) -> str:
    return f"{MOST_PAIRS} or more pairs" if pairs >= MOST_PAIRS else "1 pair" if pairs == 1 else f"{pairs} pairs"
