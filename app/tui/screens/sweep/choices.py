"""What may be chosen for a sweep: targets, plans, workloads. As rows of a dialog."""

from __future__ import annotations

from app.engine.fio.profiles import PROFILES
from app.engine.sweep.plan_file import load_plan
from app.engine.sweep.shipped import shipped
from backends.model import Array, Drive, Inventory
from backends.sizes import size_words
from widgets.choice_list import ChoiceItem


def things(inventory: Inventory) -> tuple[Array | Drive, ...]:
    """All that has a block device, each once: arrays, those of a card first, then drives."""
    arrays = sorted(inventory.arrays, key=lambda array: array.controller is None)
    listed: tuple[Array | Drive, ...] = (*arrays, *inventory.drives)
    return tuple(thing for thing in listed if thing.device is not None and thing.target not in inventory.twins)


def targets(inventory: Inventory, *, controllers: bool) -> tuple[ChoiceItem, ...]:
    """A scratch file, whose value is "", then everything with a block device; controllers where a plan names them."""
    choices = [ChoiceItem(value="", label="scratch file", help="Made for the runs and removed afterwards: safe.")]
    for thing in things(inventory):
        used = f"in use: {thing.uses[0].kind} {thing.uses[0].detail}. " if thing.uses else ""
        name = getattr(thing, "model", None) or getattr(thing, "name", None) or ""
        label = " ".join(filter(None, (str(thing.target), size_words(thing.size_bytes), name)))
        help = f"{used}Reading a raw device is safe, writing to it destroys what is on it."
        choices.append(ChoiceItem(value=str(thing.target), label=label, help=help, risk="in use" if thing.uses else ""))
    if controllers:
        choices += [
            ChoiceItem(value=str(one.target), label=f"{one.target} {one.model or ''}".rstrip(), help="A controller.")
            for one in inventory.controllers
        ]
    return tuple(choices)


def plans() -> tuple[ChoiceItem, ...]:
    """A file, whose value is "", then the plans that come with raidbench."""
    choices = [ChoiceItem(value="", label="a file ...", help="A plan in TOML: docs/sweep.md describes it.")]
    for name, file in shipped().items():
        plan = load_plan(str(file))
        choices.append(ChoiceItem(value=name, label=f"{name}: {plan.title}", help=plan.about))
    return tuple(choices)


def workloads() -> tuple[ChoiceItem, ...]:
    """The built-in workloads."""
    return tuple(
        ChoiceItem(value=known.name, label=known.title, help=known.help, risk="writes" if known.job.writes else "")
        for known in PROFILES.values()
    )
