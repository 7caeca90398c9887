"""How single runs scatter on devices that are not normal: logarithms added to each run, or to all of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from random import Random

from tests.method.disturbances import Level
from tests.method.simulated import Noise

WILD, WILD_SHARE = 10.0, 0.05
"""One run of twenty takes ten times as long."""


def wild(scatter: float) -> Noise:
    """Lognormal, and now and then ten times slower."""
    return lambda random: random.gauss(0, scatter) - (log(WILD) if random.random() < WILD_SHARE else 0.0)


def bimodal(apart: float, scatter: float = 0.02) -> Noise:
    """Fast or slow by so much, either with the same chance in every run."""
    return lambda random: random.gauss(0, scatter) + (log(1 - apart) if random.random() < 0.5 else 0.0)


def every(nth: int, share: float) -> Level:
    """Each so-manieth run loses so much, beginning anywhere."""

    def level(random: Random, at: Sequence[float]) -> list[float]:
        first = random.randrange(nth)
        return [log(1 - share) if place % nth == first else 0.0 for place in range(len(at))]

    return level
