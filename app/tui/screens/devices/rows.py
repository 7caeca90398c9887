"""Devices and settings as the rows, facts and words that the Devices screen shows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from rich.text import Text

from app.engine.view import change as view
from app.engine.view.arrangement import Branch, Thing, arranged
from app.engine.view.device import kind_words, size_words, state_cell
from app.engine.view.effects import Tier, effect_words, tier
from app.engine.view.table import Cell as Told
from app.engine.view.table import Mark, Table
from app.tui import render
from backends.change import Change
from backends.model import Array, Controller, Drive, Inventory, Media, State, Target
from backends.nameplate import Nameplate, word_of
from backends.settings import Effect, Reading, Risk, worst
from widgets.confirm import Confirmation, PlannedChange
from widgets.confirm import Tier as DialogTier
from widgets.keyed_table import TableCell, TableRow
from widgets.plain import units
from widgets.plain.text import shorten
from widgets.table_layout import Tone

NOW_WIDTH = 34
"""Cells of a value at most: a longer one is whole in the facts and in the list of choices."""

SHOWN = ("setting", "now", "staged", "effect", "risk")
"""Columns of the table of settings; the values that one may have stand in the list that enter opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLine:
    """A line of the device tree."""

    key: str
    """The target's address, or a group's name."""
    label: str
    """What it says."""
    tone: Tone = ""
    """Its colour."""
    children: tuple[TreeLine, ...] = ()
    """What hangs below."""

    def matches(self, words: str) -> bool:
        """Whether the line holds every word."""
        text = f"{self.key} {self.label}".lower()
        return all(word in text for word in words.lower().split())


def nodes(inventory: Inventory) -> tuple[TreeLine, ...]:
    """The tree, in the order of `arranged`."""
    models = Counter(controller.model for controller in inventory.controllers)
    alike = {model for model, count in models.items() if count > 1}
    return tuple(_node(branch, alike) for branch in arranged(inventory))


def _node(branch: Branch, alike: Container[str | None]) -> TreeLine:
    """`alike`: models of which there are several controllers, so that their names do not tell them apart."""
    below = tuple(_node(one, alike) for one in branch.below)
    match branch.thing:
        case Controller() as controller:
            address = str(controller.target)
            label = f"{controller.target.address} {controller.model}" if controller.model in alike else controller.model
            return TreeLine(key=address, label=label or address, tone="accent", children=below)
        case Array() as array:
            return _array_node(array, branch, below)
        case Drive() as drive:
            return _drive_node(drive, branch)


def filtered(tree: tuple[TreeLine, ...], words: str) -> tuple[TreeLine, ...]:
    """What matches, with the branches that lead there."""
    if not words.strip():
        return tree
    kept = []
    for node in tree:
        below = filtered(node.children, words)
        if node.matches(words):
            kept.append(node)
        elif below:
            kept.append(TreeLine(key=node.key, label=node.label, tone=node.tone, children=below))
    return tuple(kept)


def _array_node(array: Array, branch: Branch, below: tuple[TreeLine, ...]) -> TreeLine:
    state = state_cell(branch)
    address = array.target.address
    names = (array.name or address, array.device)
    if array.device == f"/dev/{address}":  # of md arrays the kernel's name is the one that everybody uses
        names = (address, array.name if array.name != address else None)
    words = "" if array.state is State.OPTIMAL else state.text
    return _marked(array, state, (names[0], words, kind_words(array), size_words(array), names[1]), below)


def _drive_node(drive: Drive, branch: Branch) -> TreeLine:
    state = state_cell(branch)
    use = f"[{drive.uses[0].kind}]" if drive.uses and not branch.role else ""
    kind = drive.interface if drive.media in (Media.UNKNOWN, Media.VIRTUAL) else drive.media.value
    well = not branch.role and drive.state in (State.ONLINE, State.OPTIMAL, State.UNKNOWN)
    size = size_words(drive) if drive.size_bytes is not None else ""
    return _marked(drive, state, (drive.target.address, "" if well else state.text, size, kind, use, drive.model))


def _marked(thing: Thing, state: Told, words: tuple[str | None, ...], below: tuple[TreeLine, ...] = ()) -> TreeLine:
    sign = render.MARKS[state.mark or Mark.UNKNOWN]
    tone = render.TONES[state.tone]
    return TreeLine(
        key=str(thing.target),
        label=" ".join(filter(None, (sign, *words))),
        tone=tone if tone in ("warning", "bad") else "",
        children=below,
    )


def setting_rows(table: Table, *, now_width: int = NOW_WIDTH) -> tuple[TableRow, ...]:
    """The rows of a table of settings. `now_width`: cells of a present value at most, so that what is staged is always
    in sight.
    """
    at = SHOWN.index("now")
    return tuple(
        replace(row, cells=(*row.cells[:at], _shortened(row.cells[at], now_width), *row.cells[at + 1 :]))
        for row in render.rows(table.only(*SHOWN))
    )


def _shortened(cell: str | TableCell | Text, width: int) -> str | TableCell | Text:
    return replace(cell, text=shorten(cell.text, width)) if isinstance(cell, TableCell) else cell


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
    changes: tuple[Change, ...], plates: Mapping[Target, Nameplate], *, title: str = "", trial_label: str = ""
) -> Confirmation:
    """The review dialog's contents for planned changes; `plates`: of every target."""
    targets = sorted({str(change.target) for change in changes})
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
        summary=" ".join(view.moves(changes)),
        changes=tuple(_planned(change, named=len(targets) > 1) for change in changes),
        commands=commands,
        risks=view.risks(changes),
        required=word_of(plates[one.target] for one in changes if tier(one.risk) is Tier.DESTRUCTIVE),
        trial_label=trial_label if all(_may_come_back(change) for change in changes) else "",
    )


def _may_come_back(change: Change) -> bool:
    """Whether it can be tried for a while: what destroys data or takes hours must not come back by itself."""
    return bool(change.undo) and change.effect is Effect.AT_ONCE and change.risk is not Risk.DESTROYS_DATA


def _planned(change: Change, *, named: bool) -> PlannedChange:
    return PlannedChange(
        setting=f"{change.target} {change.label}" if named else change.label,
        before=view.before(change),
        after=view.after(change),
        effect=effect_words(change.effect, change.target.scope),
        undo="; ".join(view.steps(change.undo)) or view.NO_WAY_BACK,
    )
