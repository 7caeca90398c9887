"""What may be done about the steady state of a run, as a list to choose from. Pure."""

from __future__ import annotations

from dataclasses import replace

from app.engine.session.steady import SteadyPlan
from widgets.choice_list import ChoiceItem
from widgets.plain import units

_WAYS = {"": (False, False), "until": (True, False), "early": (False, True), "both": (True, True)}


def steady_choices(base: SteadyPlan) -> tuple[ChoiceItem, ...]:
    """The ways there are; rounds and cap are those of `base`."""
    rule = f"{base.window} rounds of {base.round_s} s range over 20 % of their mean at most and drift by 10 % at most"
    cap = units.duration(base.cap_s)
    return (
        ChoiceItem(value="", label="measure at once", help="After the ramp, for the whole run time."),
        ChoiceItem(
            value="until",
            label="wait until steady",
            help=f"Measuring starts when {rule}, or after {cap}.",
        ),
        ChoiceItem(
            value="early",
            label="end when steady",
            help=f"Measures at once and ends when {rule}. Such runs differ in length.",
        ),
        ChoiceItem(
            value="both",
            label="wait, and end when steady",
            help="Waits as above, then ends when what was measured is steady by itself.",
        ),
    )


def steady_way(plan: SteadyPlan | None) -> str:
    """The choice that a plan is."""
    asked = (False, False) if plan is None else (plan.until, plan.end_early)
    return next(value for value, way in _WAYS.items() if way == asked)


def steady_plan(base: SteadyPlan, value: str) -> SteadyPlan | None:
    """The plan that a choice is; None for none."""
    until, end_early = _WAYS[value]
    return replace(base, until=until, end_early=end_early) if until or end_early else None
