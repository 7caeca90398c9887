"""What may be chosen for a sweep: targets, plans, workloads. As rows of a dialog."""

from __future__ import annotations

from app.core.fio.profiles import PROFILES
from app.features.sweep.engine.builtin_plans import plan_files
from app.features.sweep.engine.plan_file import load_plan
from app.tui import target_choices
from backends.model import Inventory
from widgets.choice_list import ChoiceItem


def targets(inventory: Inventory, *, controllers: bool) -> tuple[ChoiceItem, ...]:
    """A scratch file, whose value is "", then everything with a block device; controllers where a plan names them."""
    choices = [ChoiceItem(value="", label="scratch file", help="Made for the runs and removed afterwards: safe.")]
    choices += target_choices.choices(inventory)
    if controllers:
        choices += [
            ChoiceItem(
                value=str(controller.target),
                label=f"{controller.target} {controller.model or ''}".rstrip(),
                help="A controller.",
            )
            for controller in inventory.controllers
        ]
    return tuple(choices)


def plans() -> tuple[ChoiceItem, ...]:
    """A file, whose value is "", then the plans that come with raidbench."""
    choices = [ChoiceItem(value="", label="a file ...", help="A plan in TOML: docs/sweep.md describes it.")]
    for name, file in plan_files().items():
        plan = load_plan(str(file))
        choices.append(ChoiceItem(value=name, label=f"{name}: {plan.title}", help=plan.about))
    return tuple(choices)


def workloads() -> tuple[ChoiceItem, ...]:
    """The built-in workloads."""
    return tuple(
        ChoiceItem(
            value=profile.name, label=profile.title, help=profile.help, risk="writes" if profile.job.writes else ""
        )
        for profile in PROFILES.values()
    )
