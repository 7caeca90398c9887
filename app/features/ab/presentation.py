"""An A/B plan as sentences and JSON: number of runs, duration, and the difference that its pairs detect. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.analysis.noise import detectable_effect
from app.core.analysis.pair_design import FEWEST_PAIRS, RULE, false_under_period
from app.core.analysis.signed_rank import RANKS_FROM
from app.core.presentation import json_schema
from app.core.presentation.json_schema import Json
from app.core.presentation.json_schema_compare import looks
from app.core.presentation.noise_text import noise_json, run_noise_text, sizes_text
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.features.ab.plan import AbPlan


def threshold_text(plan: AbPlan) -> str:
    """Return a sentence that states up to which difference A and B count as equal."""
    return f"Differences within +-{plan.threshold_percent:g} % count as no difference."


def order_text(plan: AbPlan) -> str:
    """Return the maximum number of runs, the interim analyses and the duration as a sentence without a full stop."""
    pause = f", at least {units.duration(min(plan.rests))} of idle time before each" if any(plan.rests) else ""
    last = plan.looks[-1].pairs
    if plan.until_percent is not None:
        count = f"Until the interval is +-{plan.until_percent:g} %, at most {last} pairs"
    else:
        early = [look for look in plan.looks[:-1] if look.pairs > plan.done]
        looked = f", evaluated after {', '.join(str(look.pairs) for look in early)} and {last}" if early else ""
        count = f"{units.plural(last, 'pair')}{' at most' if early else ''}{looked}"
    done = f"; {plan.done} of them are done" if plan.done else ""
    run_text = f"{2 * (last - plan.done)} runs{pause}, about {units.duration(plan.seconds)}{simulated_text(plan)}"
    return f"{count}{done}, in random order within each pair: {run_text}"


def simulated_text(plan: AbPlan) -> str:
    """Return a clause about the time of a simulated host that is faster than real time; "" if it is not."""
    return f" (simulated {plan.speed:g} times as fast)" if plan.speed not in (None, 1.0) else ""


def plan_noise_text(plan: AbPlan) -> str:
    """Return sentences about the scatter of equal runs, the difference that the pairs detect, and the effect of
    periodic load.
    """
    pairs = plan.looks[-1].pairs
    if pairs < FEWEST_PAIRS and not plan.null:
        return f"Fewer than {FEWEST_PAIRS} pairs give no verdict."
    return f"{_noise_text(plan)}{'' if plan.null or pairs >= RANKS_FROM else f' {_period_text(pairs)}'}"


def _period_text(pairs: int) -> str:
    high, low = (f"{false_under_period(count) * 100:.0f} %" for count in (pairs, RANKS_FROM))
    return (
        f"So few pairs do not protect against periodic load. Under strong periodic load, up to {high} of equal"
        f" settings are reported as different; from {RANKS_FROM} pairs on, {low}."
    )


def _noise_text(plan: AbPlan) -> str:
    """Return sentences about the scatter of equal runs, or how to measure it, and the difference the pairs detect."""
    noise = plan.noise
    if noise is None:
        if plan.null:
            return "This experiment measures the run-to-run noise."
        hint = f"Measure it with `raidbench ab {plan.change.target} --null`."
        return f"The run-to-run noise of this target is unknown. {hint}"
    pairs, level = plan.looks[-1].pairs, plan.looks[-1].level
    if pairs < FEWEST_PAIRS:
        return f"{run_noise_text(noise)}; {sizes_text(noise)}."
    detectable = f"{units.plural(pairs, 'pair')} detect {detectable_effect(noise, pairs, level=level):.1f} % and more"
    return f"{run_noise_text(noise)}: {detectable}; {sizes_text(noise)}."


def plan_json(planned: AbPlan) -> Json:
    """Return the plan as JSON."""
    return {
        "null": planned.null,
        "change": None if planned.null else json_schema.change(planned.change),
        "measured": planned.ready.request.name,
        "job": {key: text for key, text in planned.ready.job.texts().items() if text},
        "pairs": planned.pairs,
        "order": list(planned.order),
        "changes": planned.switches,
        "looks": looks(planned.looks),
        "until_percent": planned.until_percent,
        "threshold_percent": planned.threshold_percent,
        "seed": planned.seed,
        "rule": RULE,
        "rest_seconds": list(planned.rests),
        "seconds": planned.seconds,
        "noise": noise_json(planned.noise, planned.sights),
    }
