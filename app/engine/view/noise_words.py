"""What is told of the noise of a target, and of what pairs of runs can show there. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.engine.judge.comparison import Comparison
from app.engine.judge.noise import SIZES, RunNoise, noise_of_pairs, pairs_for, sight
from app.engine.judge.pairs import FEWEST_PAIRS, STANDARD, false_under_period
from app.engine.judge.ranks import RANKS_FROM
from app.engine.view.schema import Json
from widgets.plain import units

if TYPE_CHECKING:  # only `ab` pays for the plan of one
    from app.engine.ab.plan import AbPlan

_MOST = 50
"""Pairs of which there is nothing to be said beyond."""


def plan_noise_words(plan: AbPlan) -> str:
    """How far runs of the same lie apart here, what the pairs of this plan show, and what they do not protect from."""
    pairs = plan.looks[-1].pairs
    if pairs < FEWEST_PAIRS and not plan.null:
        return f"Fewer than {FEWEST_PAIRS} pairs carry no verdict, whatever they measure."
    return f"{_noise_words(plan)}{'' if plan.null or pairs >= RANKS_FROM else f' {_period_words(pairs)}'}"


def _period_words(pairs: int) -> str:
    few, more = (f"{false_under_period(count) * 100:.0f} %" for count in (pairs, RANKS_FROM))
    return (
        f"So few pairs do not protect from what comes back every few runs: where that is strong, up to {few} of equal "
        f"settings are called different, {more} from {RANKS_FROM} pairs on."
    )


def _noise_words(plan: AbPlan) -> str:
    """How far runs of the same lie apart, and what the pairs show; else how to learn it."""
    noise = plan.noise
    if noise is None:
        if plan.null:
            return "How far runs of the same lie apart here is what this measures."
        return (
            f"How far runs of the same lie apart here is not known yet: `raidbench ab {plan.change.target} --null` "
            "measures it."
        )
    pairs, level = plan.looks[-1].pairs, plan.looks[-1].level
    if pairs < FEWEST_PAIRS:
        return f"{_apart(noise)}; {_sizes(noise)}."
    seen = f"{units.plural(pairs, 'pair')} show {sight(noise, pairs, level=level):.1f} % and more"
    return f"{_apart(noise)}: {seen}; {_sizes(noise)}."


def _apart(noise: RunNoise) -> str:
    return f"Runs of the same lie {noise.percent:.1f} % apart here ({units.plural(noise.runs, 'run')})"


def _sizes(noise: RunNoise) -> str:
    """`5 % takes 7 pairs, 10 % takes 4, 20 % takes 3`."""
    return ", ".join(f"{size:g} % {_takes(pairs_for(noise, size, _MOST))}" for size in SIZES)


def _takes(pairs: int | None) -> str:
    return f"takes more than {_MOST} pairs" if pairs is None else f"takes {units.plural(pairs, 'pair')}"


def cells_noise_words(noise: RunNoise, repeats: int, pairs: int) -> str:
    """Of a sweep: what its rounds cannot show, and what the pairs that confirm its winner can."""
    confirmed = (
        f"; {units.plural(pairs, 'pair')} that confirm show {sight(noise, pairs):.1f} %"
        if pairs >= FEWEST_PAIRS
        else ""
    )
    return f"{_apart(noise)}, {units.plural(repeats, 'run')} a cell{confirmed}; {_sizes(noise)}"


def null_words(comparison: Comparison) -> Iterator[str]:
    """What came of the same against itself."""
    row = comparison.headline
    interval = None if row is None or row.judgement is None else row.judgement.interval
    noise = None if interval is None else noise_of_pairs(interval)
    if noise is None:
        yield "Too few pairs to know how far runs of the same lie apart."
        return
    usual = STANDARD[-1]
    yield (
        f"{_apart(noise)}: the usual {usual.pairs} pairs show {sight(noise, usual.pairs, level=usual.level):.1f} % and "
        f"more; {_sizes(noise)}."
    )
    if interval is not None and interval.excludes_zero and not interval.within(comparison.sides.threshold):
        yield (
            "Nothing was set, and yet B differs from A. Chance does that once in twenty times; if it comes again, "
            "something else on this machine keeps time with the runs."
        )


def noise_json(noise: RunNoise | None, plan: AbPlan | None = None) -> Json | None:
    """The noise, and what the looks of a plan and pairs judged once can show."""
    if noise is None:
        return None
    return {
        "sd_percent": noise.percent,
        "runs": noise.runs,
        "sees": [] if plan is None else [{"pairs": look.pairs, "percent": seen} for look, seen in plan.sights],
        "pairs_for": [{"percent": size, "pairs": pairs_for(noise, size, _MOST)} for size in SIZES],
    }
