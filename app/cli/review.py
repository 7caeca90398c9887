"""What a change would do, shown before it is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.cli.render import table_lines
from app.engine.view import change as view
from backends.change import Change, Write
from backends.text import clean


def review(changes: Sequence[Change]) -> list[str]:
    """The table, the exact commands, what else moves, the risks in words, the way back."""
    moved = [f"  {clean(sentence, 400)}" for sentence in view.moves(changes)]
    risks = [f"  {clean(sentence, 400)}" for sentence in view.risks(changes)]
    back = [step for change in reversed(changes) for step in change.undo]
    return [
        *table_lines(view.planned(changes)),
        *above_lines(changes),
        "",
        "What is run:",
        *steps(step for change in changes for step in change.writes),
        *(["", "What else it may change:", *moved] if moved else []),
        *(["", "What it risks:", *risks] if risks else []),
        "",
        *(["What takes it back (raidbench undo):", *steps(back)] if back else ["Nothing takes it back."]),
    ]


def above_lines(changes: Iterable[Change]) -> list[str]:
    """What stands on what is changed."""
    return [clean(sentence, 400) for sentence in view.above(changes)]


def steps(writes: Iterable[Write]) -> list[str]:
    """The lines a person would type."""
    return [f"  {clean(line, 400)}" for line in view.steps(writes)]
