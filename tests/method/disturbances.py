"""What machines do by themselves while they are measured, as logarithms added to the runs of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log, pi, sin
from random import Random
from types import MappingProxyType

from app.core.benchmark.idle_wait import random_pause

Level = Callable[[Random, Sequence[float]], list[float]]
"""From the moments at which the runs begin, in seconds, to what is added to the logarithm of each."""

RUN, RAMP, REST = 60.0, 10.0, 5.0
"""Seconds of a run, before it is counted, and of rest at least."""


def moments(random: Random, runs: int) -> list[float]:
    """When each of the runs begins to be counted; the pauses are those of the program."""
    found, now = [], 0.0
    for _ in range(runs):
        now += random_pause(random, REST, RUN + RAMP) + RAMP
        found.append(now)
        now += RUN
    return found


def nothing(_: Random, at: Sequence[float]) -> list[float]:
    """A machine that keeps still."""
    return [0.0] * len(at)


def drift(share: float) -> Level:
    """A rise in a line from the first run to the last."""
    return lambda _, at: [log(1 + share * place / (len(at) - 1)) for place in range(len(at))]


def period(runs: float, share: float) -> Level:
    """A sine of so many runs, of an amplitude of `share`, beginning anywhere."""

    def level(random: Random, at: Sequence[float]) -> list[float]:
        begin = random.random() * 2 * pi
        return [share * sin(2 * pi * one / (runs * (RUN + RAMP + REST)) + begin) for one in at]

    return level


def job(share: float) -> Level:
    """A minute's work every five minutes, which costs `share` while it lasts, beginning anywhere."""

    def level(random: Random, at: Sequence[float]) -> list[float]:
        begin = random.random() * 300
        return [log(1 - share * _overlap(one - begin)) for one in at]

    return level


def _overlap(at: float) -> float:
    since = at % 300
    return (max(0.0, 60 - since) + max(0.0, since + RUN - 300)) / RUN


def walk(random: Random, at: Sequence[float]) -> list[float]:
    """A random walk, 1 % a run."""
    found, now = [], 0.0
    for _ in at:
        now += random.gauss(0, 0.01)
        found.append(now)
    return found


def neighbour(random: Random, at: Sequence[float]) -> list[float]:
    """Somebody who takes 10 % for some runs, and then nothing for some."""
    found, busy = [], random.random() < 0.5
    for _ in at:
        busy ^= random.random() < 0.3
        found.append(-0.1 if busy else 0.0)
    return found


def autocorrelated(random: Random, at: Sequence[float]) -> list[float]:
    """Every run half like the one before, 5 %."""
    found = [random.gauss(0, 0.05)]
    while len(found) < len(at):
        found.append(0.5 * found[-1] + random.gauss(0, 0.05 * 0.75**0.5))
    return found


def jumping(random: Random, at: Sequence[float]) -> list[float]:
    """Each run 0.9 like the one before, 2 % anew, and one in ten jumps by 10 % for as long as that lasts."""
    found, now = [], 0.0
    for _ in at:
        now = 0.9 * now + random.gauss(0, 0.02) + (random.choice((-0.1, 0.1)) if random.random() < 0.1 else 0.0)
        found.append(now)
    return found


def throttled(_: Random, at: Sequence[float]) -> list[float]:
    """A device that is throttled by 25 % after a minute of load, unless the pause before a run was 15 s."""
    pauses = [RAMP + REST + 15, *(then - now - RUN for now, then in pairwise(at))]
    return [0.0 if pause - RAMP >= 15 else log(0.75) for pause in pauses]


DISTURBANCES: Mapping[str, Level] = MappingProxyType(
    {
        "none": nothing,
        "drift of 3 %": drift(0.03),
        "drift of 10 %": drift(0.10),
        "random walk, 1 % a run": walk,
        "neighbour on and off, -10 %": neighbour,
        "autocorrelation 0.5": autocorrelated,
        "autocorrelation 0.9 with jumps of 10 %": jumping,
        "throttled by 25 % after a minute of load": throttled,
        "job every 5 min, -10 %": job(0.10),
        "job every 5 min, -30 %": job(0.30),
        **{f"period of {runs} runs, 5 %": period(runs, 0.05) for runs in (2, 3, 4, 6, 8, 12)},
    }
)
"""By what a table calls them."""
