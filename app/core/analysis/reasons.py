"""Reasons for verdicts, as codes and numbers. Their sentences are in `app.core.presentation`. No I/O."""

from __future__ import annotations

from enum import StrEnum

from backends.values import dataclass


class Reason(StrEnum):
    """The reason for a verdict, or the reason why there is none."""

    INSIDE = "inside-threshold"
    """The whole interval is within the threshold."""
    SMALL = "may-be-below-threshold"
    """There is a difference, but it may be smaller than the threshold."""
    NOT_SHOWN = "not-shown"
    """The interval contains 0, and is not within the threshold."""
    FEW_PAIRS = "few-pairs"
    """There are fewer pairs than any verdict needs."""
    BEFORE_LOOK = "before-its-look"
    """The next interim analysis of the plan needs more pairs."""
    BEFORE_ROUNDS = "before-its-rounds"
    """The sweep has not completed all its rounds; its verdicts are given after the last one."""
    BEFORE_PAIRS = "before-its-pairs"
    """The winner of a sweep has not completed all its confirming pairs; its verdict is given after the last one."""
    FEW_ROUNDS = "few-rounds"
    """The number of rounds is too small to show a difference among so many configurations."""
    ROUND_FAILED = "round-failed"
    """The configuration has no value in one of the planned rounds, and no remaining step can provide one."""
    BASELINE_ROUND_FAILED = "baseline-round-failed"
    """The baseline has no value in one of the planned rounds."""
    WIDER_SCATTER = "wider-scatter"
    """The configuration's runs scatter more than those of the others, so its rate of false verdicts is unknown."""
    BASELINE_SCATTER = "baseline-scatter"
    """The runs of the baseline scatter more than those of the other configurations."""
    ONE_OF_MANY = "one-of-many"
    """With so many metrics, chance alone can explain a difference in one of them."""
    NO_REPEATS = "no-repeats"
    """The scatter of runs with the same settings is not known."""
    FEW_RUNS = "few-runs"
    """One side has fewer runs than any verdict needs."""
    NOT_IN_TURN = "not-in-turn"
    """The sides were not measured in turn, so drift cannot be distinguished from an effect."""
    STATE = "state"
    """The array, the battery or the policies were not in a normal state; `VerdictResult.doubts` has details."""
    MADE_ONCE = "made-once"
    """Each array was created only once, so the effects of its RAID level and of its creation cannot be separated."""
    NOT_DRAWN = "not-drawn"
    """The order of the pairs was not random, or their number was not fixed in advance.

    So a periodic event could look like an effect. So could a chance result, if pairs were added until a difference
    showed.
    """
    OF_EXPERIMENT = "of-an-experiment"
    """The pairs belong to an experiment whose plan is missing.

    The plan fixes when the pairs are judged, and which pairs of earlier experiments are judged with them.
    """
    ENGINES = "other-engines"
    """The runs used different I/O engines, which affects the results."""
    NO_IO = "no-io"
    """Some runs completed no I/O."""
    SLOW_ON_ONE_SIDE = "slow-on-one-side"
    """The interval is within the threshold, but several runs are far slower, all on the same side of the comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """The number of rounds or pairs that the plan of a sweep requires before a verdict is given."""

    number: int
    """Number of rounds, or of pairs."""
    setups: int = 0
    """Number of configurations in a round; 0 for pairs."""
    enough: int = 0
    """Number of rounds that can show a difference; 0 for pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierPair:
    """A pair whose difference is far from that of the others."""

    pair: int
    """Position in the order of the pairs, from 1."""
    percent: float
    """Difference of B from A in this pair, in percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs that are far slower than the rest, if all of them are on the same side of the comparison."""

    side: str
    """Letter of that side: `A` or `B`."""
    count: int
    """Number of slow runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caveat:
    """Advice that was given during some runs of a comparison."""

    key: str
    """Key of the advice, as in docs/advice.md."""
    about: tuple[str, ...]
    """Subject of the advice: kinds of background tasks; empty if the key is sufficient."""
    runs: tuple[str, ...]
    """Ids of the runs with this advice, in order of time."""
    all_runs: bool
    """Whether all runs of the comparison have this advice, and there are more than two."""
