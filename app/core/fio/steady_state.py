"""Whether what is measured has settled: the steady state rule of SNIA's SSS PTS 2.0.2, round by round. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from app.core.session.event_types import WINDOW, SteadyPlan
from app.core.session.results import Sample, SteadyStateResult
from backends.values import dataclass

RANGE_SHARE = 0.20
"""Largest minus smallest round, as share of their mean."""

SLOPE_SHARE = 0.10
"""Rise or fall of the best linear fit over the window, as share of the mean."""

_HALF_A_SAMPLE = 0.13


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyStateRule:
    """The last rounds against the rule."""

    steady: bool
    """Whether both limits hold over a whole window."""
    range_share: float | None
    """Largest minus smallest round by their mean, 0.2 for 20 %; None before there is a window."""
    slope_share: float | None
    """Rise or fall of the linear fit over the window by the mean, never negative; None before there is a window."""


def judge_rounds(rounds: Sequence[float], *, window: int = WINDOW) -> SteadyStateRule:
    """Judge the last `window` rounds: means of equally long stretches (of at least 10 s), oldest first."""
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
    """Of the least-squares line, per round. Raises ZeroDivisionError of fewer than two values."""
    middle = (len(values) - 1) / 2
    mean = fsum(values) / len(values)
    across = fsum((index - middle) ** 2 for index in range(len(values)))
    return fsum((index - middle) * (value - mean) for index, value in enumerate(values)) / across


class SteadyStateDetector:
    """Feed it the samples of one phase in turn; it makes rounds of them and judges the last window.

    What is tracked are IOPS of both directions together. A round ends with the sample that fills it, so rounds
    differ in length by less than a sample; each is divided by its own.
    """

    def __init__(self, plan: SteadyPlan) -> None:
        self._plan = plan
        self._rounds: list[float] = []
        self._ios = 0
        self._held_s = 0.0

    def add(self, sample: Sample) -> bool:
        """Whether this sample ended a round."""
        self._ios += sum(direction.ios for direction in sample.transfers)
        self._held_s += sample.seconds
        if self._held_s < self._plan.round_s - _HALF_A_SAMPLE:
            return False
        self._rounds.append(self._ios / self._held_s)
        self._ios, self._held_s = 0, 0.0
        return True

    @property
    def steady(self) -> bool:
        """Whether the rule holds over the last window."""
        return judge_rounds(self._rounds, window=self._plan.window).steady

    def result(self) -> SteadyStateResult:
        """How it looks after the last round."""
        judged = judge_rounds(self._rounds, window=self._plan.window)
        return SteadyStateResult(
            attained=judged.steady,
            range_share=judged.range_share,
            slope_share=judged.slope_share,
            rounds=len(self._rounds),
            window=self._plan.window,
            round_s=self._plan.round_s,
        )
