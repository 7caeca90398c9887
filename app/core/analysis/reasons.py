"""Reasons of a verdict as codes and numbers; only the presentation has the sentences. No I/O."""

from __future__ import annotations

from enum import StrEnum

from backends.values import dataclass


class Reason(StrEnum):
    """The basis of a verdict, or why there is none."""

    INSIDE = "inside-threshold"
    """The whole interval is within the threshold."""
    SMALL = "may-be-below-threshold"
    """There is a difference, but it may be smaller than the threshold."""
    NOT_SHOWN = "not-shown"
    """The interval contains 0, and is not within the threshold."""
    FEW_PAIRS = "few-pairs"
    """Fewer pairs than any verdict needs."""
    BEFORE_LOOK = "before-its-look"
    """The next interim analysis of the plan needs more pairs."""
    BEFORE_ROUNDS = "before-its-rounds"
    """A sweep is judged after all its rounds."""
    BEFORE_PAIRS = "before-its-pairs"
    """The winner of a sweep is judged after all its confirming pairs."""
    FEW_ROUNDS = "few-rounds"
    """The number of rounds is too small to show a difference among so many configurations."""
    ROUND_FAILED = "round-failed"
    """One of the planned rounds has no value of it, and no remaining step can provide one."""
    BASELINE_ROUND_FAILED = "baseline-round-failed"
    """One of the planned rounds has no value of its baseline."""
    WIDER_SCATTER = "wider-scatter"
    """The configuration's runs scatter more than those of the others, so its rate of false verdicts is unknown."""
    BASELINE_SCATTER = "baseline-scatter"
    """The runs of its baseline scatter more than those of the others."""
    ONE_OF_MANY = "one-of-many"
    """Chance explains the difference when all metrics are counted."""
    NO_REPEATS = "no-repeats"
    """The scatter of runs with the same settings is not known."""
    FEW_RUNS = "few-runs"
    """Fewer runs on one side than any verdict needs."""
    NOT_IN_TURN = "not-in-turn"
    """Drift cannot be distinguished from an effect."""
    STATE = "state"
    """The array, the battery or the policies were not in normal state; `VerdictResult.doubts` has details."""
    MADE_ONCE = "made-once"
    """Each array was created once, so the effect of that creation cannot be distinguished from that of its level."""
    NOT_DRAWN = "not-drawn"
    """The order of the pairs was not random, or their number was not fixed in advance.

    So periodic events, or looking until a difference shows, cannot be distinguished from an effect.
    """
    OF_EXPERIMENT = "of-an-experiment"
    """Pairs of an experiment without its plan, which says when they are judged, and together with which others."""
    ENGINES = "other-engines"
    """The runs used different I/O engines, which affects the results."""
    NO_IO = "no-io"
    """Runs completed no I/O at all."""
    SLOW_ON_ONE_SIDE = "slow-on-one-side"
    """The interval is within the threshold, but several runs are far slower, and all of them are on one side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """Amount that a plan requires before it judges."""

    number: int
    """Rounds, or pairs."""
    setups: int = 0
    """Configurations of a round; 0 for pairs."""
    enough: int = 0
    """Number of rounds that can show a difference; 0 for pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierPair:
    """A pair far from the others."""

    pair: int
    """Its position in the order of the pairs, from 1."""
    percent: float
    """B compared with A in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs far slower than the rest, all of them on one side."""

    side: str
    """Its letter."""
    count: int
    """Their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caveat:
    """Advice given during runs, and which runs."""

    key: str
    """The key of the advice, as in docs/advice.md."""
    about: tuple[str, ...]
    """Its subject: kinds of background tasks; empty if the key is sufficient."""
    runs: tuple[str, ...]
    """Ids of the runs, in order of time."""
    all_runs: bool
    """Whether these are all runs, and more than two."""
