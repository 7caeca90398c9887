"""The steady state rule of SNIA's SSS PTS 2.0.2, applied to the rounds of a run. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from app.core.session.event_types import WINDOW, SteadyPlan
from app.core.session.results import Sample, SteadyStateResult
from backends.values import dataclass

RANGE_SHARE = 0.20
"""Limit of the largest minus the smallest round, as a share of their mean."""

SLOPE_SHARE = 0.10
"""Limit of the rise or fall of the best linear fit over the window, as a share of the mean."""

_HALF_A_SAMPLE = 0.13


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateRule:
    """The result of comparing the last rounds with the rule."""

    steady: bool
    """Whether both limits hold over a full window."""
    range_share: float | None
    """Largest minus smallest round, divided by their mean: 0.2 for 20 %. None before the first full window."""
    slope_share: float | None
    """Rise or fall of the linear fit over the window, divided by the mean; never negative. None before a full window.
    """


def judge_rounds(rounds: Sequence[float], *, window: int = WINDOW) -> SteadyStateRule:
    """Return how the last `window` rounds compare with the rule.

    `rounds`: mean IOPS of equally long stretches of 10 s or more, in order.
    """
    last = rounds[-window:]
    if window < 2 or len(last) < window:
        return SteadyStateRule(steady=False, range_share=None, slope_share=None)
    mean = fsum(last) / window
    if mean <= 0:
        return SteadyStateRule(steady=False, range_share=None, slope_share=None)
    range_share = (max(last) - min(last)) / mean
    slope_share = abs(slope(last)) * (window - 1) / mean
    steady = range_share <= RANGE_SHARE and slope_share <= SLOPE_SHARE
    return SteadyStateRule(steady=steady, range_share=range_share, slope_share=slope_share)


def slope(values: Sequence[float]) -> float:
    """Return the slope of the least-squares line, per round. Raises ZeroDivisionError for fewer than two values."""
    middle = (len(values) - 1) / 2
    mean = fsum(values) / len(values)
    across = fsum((index - middle) ** 2 for index in range(len(values)))
    return fsum((index - middle) * (value - mean) for index, value in enumerate(values)) / across


class SteadyStateDetector:
    """Judges the steady state of one phase. Feed it the samples in order; it makes rounds and judges the last window.

    It tracks the IOPS of all directions together. A round ends with the sample that fills it, so rounds differ in
    length by less than a sample. Each round is divided by its own length.
    """

    def __init__(self, plan: SteadyPlan) -> None:
        self._plan = plan
        self._rounds: list[float] = []
        self._ios = 0
        self._held_s = 0.0

    def add(self, sample: Sample) -> bool:
        """Add a sample; return whether it ended a round."""
        self._ios += sum(direction.ios for direction in sample.transfers)
        self._held_s += sample.seconds
        if self._held_s < self._plan.round_s - _HALF_A_SAMPLE:
            return False
        self._rounds.append(self._ios / self._held_s)
        self._ios, self._held_s = 0, 0.0
        return True

    def result(self) -> SteadyStateResult:
        """Return the result after the last round."""
        judged = judge_rounds(self._rounds, window=self._plan.window)
        return SteadyStateResult(
            attained=judged.steady,
            range_share=judged.range_share,
            slope_share=judged.slope_share,
            rounds=len(self._rounds),
            window=self._plan.window,
            round_s=self._plan.round_s,
        )
