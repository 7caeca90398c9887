"""Whole experiments, drawn and then judged by the functions of the program itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from random import Random

from app.core.analysis.pair_design import STANDARD, draw_order, one_look
from app.core.analysis.verdict import Verdict, VerdictResult, judge, judge_between
from app.core.session.event_types import InterimAnalysis
from tests.method.disturbances import Level, moments, nothing
from tests.method.line import source

Noise = Callable[[Random], float]
"""One run's own scatter, as a logarithm."""


def gauss(share: float) -> Noise:
    """Lognormal scatter."""
    return lambda random: random.gauss(0, share)


def heavy(share: float) -> Noise:
    """Student's t with three degrees of freedom: now and then a run lies far off."""

    def draw(random: Random) -> float:
        squares = sum(random.gauss(0, 1) ** 2 for _ in range(3))
        return share * random.gauss(0, 1) / sqrt(squares)

    return draw


def slow_tail(share: float) -> Noise:
    """Never faster than the device can, and slower by a lognormal part, whose tail is long."""
    return lambda random: -share * exp(random.gauss(0, 1.2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an experiment came to."""

    judgement: VerdictResult
    """At the look that ended it."""
    pairs: int
    """Measured."""


def experiment(
    random: Random,
    noise: Noise,
    *,
    effect: float = 0.0,
    level: Level = nothing,
    looks: Sequence[InterimAnalysis] = STANDARD,
) -> Outcome:
    """One experiment, ended by the first look that decides it; `effect` as a share."""
    letters = draw_order(looks, random)
    disturbed = level(random, moments(random, len(letters)))
    sides: dict[str, list[float]] = {"A": [], "B": []}
    for letter, added in zip(letters, disturbed, strict=True):
        sides[letter].append(exp(log(1e5) + added + noise(random) + (log(1 + effect) if letter == "B" else 0.0)))
    for look in looks:
        a, b = sides["A"][: look.pairs], sides["B"][: look.pairs]
        judgement = judge(a, b, interleaved=True, level=look.level, inside_level=look.inside_level)
        if judgement.decided or look == looks[-1]:
            return Outcome(judgement=judgement, pairs=look.pairs)
    raise ValueError("an experiment without a look")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How often each verdict was given."""

    of: Counter[Verdict]
    """Counted."""
    pairs: float
    """On the average."""
    covered: float
    """Share of intervals with the truth in them."""

    def __getitem__(self, verdict: Verdict) -> float:
        return self.of[verdict] / self.of.total()

    @property
    def differences(self) -> float:
        """Faster or slower."""
        return self[Verdict.FASTER] + self[Verdict.SLOWER]


def shares(
    count: int,
    noise: Noise,
    *,
    seed: int = 1,
    effect: float = 0.0,
    level: Level = nothing,
    looks: Sequence[InterimAnalysis] = STANDARD,
) -> Shares:
    """So many experiments of one kind."""
    random = source(seed)
    found = [experiment(random, noise, effect=effect, level=level, looks=looks) for _ in range(count)]
    intervals = [one.judgement.interval for one in found]
    truth = log(1 + effect)
    return Shares(
        of=Counter(one.judgement.verdict for one in found),
        pairs=sum(one.pairs for one in found) / count,
        covered=sum(one is not None and one.low <= truth <= one.high for one in intervals) / count,
    )


def fixed(pairs: int) -> tuple[InterimAnalysis, ...]:
    """One look after so many pairs."""
    return one_look(pairs)


def between(random: Random, noise: Noise, level: Level, *, runs: int = 3, effect: float = 0.0) -> VerdictResult:
    """A, then B, then A again, so many runs of each."""
    disturbed = level(random, moments(random, 3 * runs))
    values = [exp(log(1e5) + added + noise(random)) for added in disturbed]
    b = [value * (1 + effect) for value in values[runs : 2 * runs]]
    return judge_between(values[:runs], b, values[2 * runs :])
