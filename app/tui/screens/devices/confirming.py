"""Planned changes as the dialog says them that asks before they are applied. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.engine.view import change as view
from app.engine.view.effects import Tier, effect_words, kept_words, tier
from backends.change import Change
from backends.model import Target
from backends.nameplate import Nameplate, word_of
from backends.settings import Effect, Risk, worst
from widgets.confirm import Confirmation, PlannedChange
from widgets.confirm import Tier as DialogTier
from widgets.plain import units

TIERS: Mapping[Tier, DialogTier] = {
    Tier.HARMLESS: "harmless",
    Tier.RISKY: "risky",
    Tier.DESTRUCTIVE: "destructive",
}
"""What the dialog calls them."""


def confirmation(
    changes: tuple[Change, ...],
    plates: Mapping[Target, Nameplate],
    *,
    title: str = "",
    trial_label: str = "",
    names: Mapping[Target, str] = MappingProxyType({}),
) -> Confirmation:
    """The review dialog's contents for planned changes; `plates`: of every target, `names`: as the list has them."""
    targets = sorted({_named(change.target, names) for change in changes})
    count = units.plural(len(changes), "change")
    commands = tuple(
        tuple(write.argv) if write.path is None else write.shown() for change in changes for write in change.writes
    )
    return Confirmation(
        title=title or f"Apply {count} to {', '.join(targets)}",
        tier=TIERS[tier(worst(change.risk for change in changes))],
        devices=tuple(
            dict.fromkeys(plates[one.target].sentence for one in changes if tier(one.risk) is not Tier.HARMLESS)
        ),
        summary=" ".join((*view.above(changes), *view.moves(changes))),
        changes=tuple(_planned(change, names) for change in changes),
        commands=commands,
        risks=view.risks(changes),
        required=word_of(plates[one.target] for one in changes if tier(one.risk) is Tier.DESTRUCTIVE),
        trial_label=trial_label if all(_may_come_back(change) for change in changes) else "",
    )


def _named(target: Target, names: Mapping[Target, str]) -> str:
    """`ssd (megaraid:/c0/v1)`: the name that is in sight, and the address that is meant."""
    return f"{names[target]} ({target})" if target in names else str(target)


def _may_come_back(change: Change) -> bool:
    """Whether it can be tried for a while: what destroys data or takes hours must not come back by itself."""
    return bool(change.undo) and change.effect is Effect.AT_ONCE and change.risk is not Risk.DESTROYS_DATA


def _planned(change: Change, names: Mapping[Target, str]) -> PlannedChange:
    return PlannedChange(
        setting=f"{change.label} of {names.get(change.target, str(change.target))}",
        before=view.before(change),
        after=view.after(change),
        effect=f"{effect_words(change.effect, change.target.scope)}, {kept_words(change.persistence)}",
        undo="; ".join(view.steps(change.undo)) or view.NO_WAY_BACK,
    )
