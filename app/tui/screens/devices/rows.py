"""Devices and settings as the rows, facts and words that the Devices screen shows. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from types import MappingProxyType

from app.engine.view import change as view
from app.engine.view.effects import Tier, effect_words, kept_words, tier
from app.engine.view.table import Fold, Row, Table
from app.tui import render
from backends.change import Change
from backends.model import Target
from backends.nameplate import Nameplate, word_of
from backends.settings import Effect, Reading, Risk, worst
from widgets.confirm import Confirmation, PlannedChange
from widgets.confirm import Tier as DialogTier
from widgets.keyed_table import TableCell, TableRow
from widgets.plain import units
from widgets.table_layout import plain

SHOWN = ("setting", "now", "staged", "risk", "effect")
"""Columns of the table of settings; the values that one may have stand in the list that enter opens."""


_FOLDS = {Fold.NOTHING: "  ", Fold.CLOSED: "▸ ", Fold.OPEN: "▾ "}


def list_rows(table: Table, staged: Container[str] = ()) -> tuple[TableRow, ...]:
    """The rows of the list: what hangs from another stands further in, and where something is staged is a mark."""
    return tuple([_drawn(row, row.key in staged) for row in table.rows])


def _drawn(row: Row, marked: bool) -> TableRow:
    name, *others = render.cells(row.cells)
    return TableRow(
        key=row.key,
        cells=(_branched(row, name), *others),
        dim=row.dim,
        banner=_headed(row, render.cells(row.banner)),
        marked=marked,
    )


def _branched(row: Row, name: str | TableCell) -> str | TableCell:
    text = f"{'  ' * row.depth}{_FOLDS[row.fold]}{plain(name)}"
    return TableCell(text=text, tone=name.tone) if isinstance(name, TableCell) else text


def _headed(row: Row, banner: tuple[str | TableCell, ...]) -> tuple[str | TableCell, ...]:
    if not banner:
        return ()
    first = banner[0] if isinstance(banner[0], TableCell) else TableCell(text=banner[0])
    return (replace(first, text=f"{_FOLDS[row.fold]}{first.text}"), *banner[1:])


def next_value(reading: Reading, current: str | None, step: int) -> str | None:
    """The legal value after or before `current`; None where there is nothing to step through."""
    if reading.choices:
        values = [choice.value for choice in reading.choices]
        if current not in values:
            return values[0 if step > 0 else -1]
        return values[(values.index(current) + step) % len(values)]
    span = reading.span
    if span is None:
        return None
    try:
        number = int(current or "")
    except ValueError:
        return str(span.minimum)
    if number <= 0 or span.maximum - span.minimum <= 16 * span.step:
        number += step * span.step
    else:  # powers of two walk a wide span in a few keys
        number = number * 2 if step > 0 else number // 2
        number -= (number - span.minimum) % span.step
    return str(min(max(number, span.minimum), span.maximum))


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
