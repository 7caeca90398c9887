"""What a change would do, shown before it is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.cli.devices_text import RISKS
from app.cli.tables import Column, table
from app.engine.view.effects import effect_words, moves_words
from backends.change import Change, Write
from backends.settings import Persistence, Risk
from backends.text import clean
from widgets.plain import units

_COLUMNS = (
    Column(title="Target"),
    Column(title="Setting"),
    Column(title="Now"),
    Column(title="New"),
    Column(title="Takes effect"),
    Column(title="Until"),
    Column(title="Risk"),
)

_UNTIL = {
    Persistence.STORED: "changed again",
    Persistence.LOST_AT_REBOOT: "reboot",
    Persistence.LOST_AT_POWER_OFF: "power-off",
}


def review(changes: Sequence[Change]) -> list[str]:
    """The table, the exact commands, what else moves, the risks in words, the way back."""
    rows = [
        (
            clean(str(change.target)),
            change.label,
            value(change.before),
            value(change.after),
            effect_words(change.effect, change.target.scope),
            _UNTIL[change.persistence],
            RISKS[change.risk],
        )
        for change in changes
    ]
    commands = [step for change in changes for step in change.writes]
    back = [step for change in reversed(changes) for step in change.undo]
    risks = dict.fromkeys(
        f"  {change.label}: {clean(change.risk_text or RISKS[change.risk], 400)}"
        for change in changes
        if change.risk is not Risk.NONE
    )
    moved = moves_words(changes)
    return [
        *table(_COLUMNS, rows),
        "",
        "What is run:",
        *steps(commands),
        *(["", "What else it may change:", *(f"  {words}" for words in moved)] if moved else []),
        *(["", "What it risks:", *risks] if risks else []),
        "",
        *(["What takes it back (raidbench undo):", *steps(back)] if back else ["Nothing takes it back."]),
    ]


def steps(writes: Iterable[Write]) -> list[str]:
    """The lines a person would type."""
    return [f"  {clean(write.shown(), 400)}" for write in writes]


def value(text: str | None) -> str:
    """A setting's value, a sign for none."""
    return units.NOTHING if text is None else clean(text)
