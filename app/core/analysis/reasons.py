"""Why a verdict is that and not more, in codes and numbers: `view` alone words them. No I/O."""

from __future__ import annotations

from enum import StrEnum

from backends.values import dataclass


class Reason(StrEnum):
    """What a judgement rests on, or why there is no verdict."""

    INSIDE = "inside-threshold"
    """The whole interval lies within the threshold."""
    SMALL = "may-be-below-threshold"
    """It differs, perhaps by less than the threshold."""
    NOT_SHOWN = "not-shown"
    """The interval has 0 in it, and does not lie within the threshold."""
    FEW_PAIRS = "few-pairs"
    """Fewer pairs than any verdict needs."""
    BEFORE_LOOK = "before-its-look"
    """A plan says when it is judged, and that is later."""
    BEFORE_ROUNDS = "before-its-rounds"
    """A sweep is judged when all rounds are measured."""
    BEFORE_PAIRS = "before-its-pairs"
    """What led a sweep is judged when all its fresh pairs are measured."""
    FEW_ROUNDS = "few-rounds"
    """So few rounds of so many set-ups cannot show anything of that size."""
    ROUND_FAILED = "round-failed"
    """One of the planned rounds has no value of it, and no step is left that could bring one."""
    BASELINE_ROUND_FAILED = "baseline-round-failed"
    """The same of the baseline that it is compared with."""
    WIDER_SCATTER = "wider-scatter"
    """The runs of the set-up scatter more than those of the others, so its level of false verdicts is not known."""
    BASELINE_SCATTER = "baseline-scatter"
    """The same of the baseline that it is compared with."""
    ONE_OF_MANY = "one-of-many"
    """Chance explains it, once all figures are counted."""
    NO_REPEATS = "no-repeats"
    """How far runs of the same settings lie apart is not known."""
    FEW_RUNS = "few-runs"
    """Fewer runs of a side than any verdict needs."""
    NOT_IN_TURN = "not-in-turn"
    """Drift cannot be told from an effect."""
    STATE = "state"
    """What was under way in the array, the battery or the policies during the runs: `Judgement.doubts` has what."""
    MADE_ONCE = "made-once"
    """Each array was made once: what came with that making cannot be told from what its level does."""
    NOT_DRAWN = "not-drawn"
    """Pairs whose order nobody drew, or whose number nobody fixed beforehand: what happens at intervals, or looking
    until a difference shows, cannot be told from an effect."""
    OF_EXPERIMENT = "of-an-experiment"
    """Pairs of an A/B whose plan is not at hand: it says when they are judged, and with which others."""
    ENGINES = "other-engines"
    """The runs reached the kernel in different ways, which makes a difference of its own."""
    NO_IO = "no-io"
    """Runs completed no I/O at all."""
    SLOW_ON_ONE_SIDE = "slow-on-one-side"
    """All would lie within the threshold, but several runs are far slower, and all of them are on one side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """What a plan asks for before it judges."""

    number: int
    """Rounds, or pairs."""
    setups: int = 0
    """Set-ups of a round; 0 of pairs."""
    enough: int = 0
    """Rounds of them that can show something; 0 of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierPair:
    """A pair that lies far from the others."""

    pair: int
    """Its place in the order of the pairs, counted from 1."""
    percent: float
    """B against A in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs far slower than the rest, all of them on one side."""

    side: str
    """Its letter."""
    count: int
    """How many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caveat:
    """Something that was said of runs while they were measured, and which runs."""

    key: str
    """The advice, as docs/advice.md has it."""
    about: tuple[str, ...]
    """What it was about: kinds of background tasks; empty where the key says all."""
    runs: tuple[str, ...]
    """Ids of the runs, in the order of time."""
    all_runs: bool
    """Whether these are all, and more than two."""
