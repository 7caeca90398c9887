"""The winners of a sweep, measured again. Pure."""

from __future__ import annotations

from dataclasses import replace

from app.engine.judge.caveats import weighed
from app.engine.judge.family import corrected
from app.engine.judge.verdict import Judgement, judge
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Purpose, Rank, SweepCell
from app.engine.sweep.cell_runs import Runs, runs_of_cell, threshold_of, values_by_turn
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedWinner:
    """A winner measured against its baseline in fresh pairs."""

    winner: SweepCell
    """What led the screening."""
    baseline: SweepCell
    """What it was compared with."""
    judgement: Judgement | None
    """From the fresh pairs alone; None until there are two."""
    pairs: int
    """Complete pairs so far."""


def confirmations(record: SweepRecord, known: Runs) -> tuple[ConfirmedWinner, ...]:
    """Judged by their fresh pairs, p values adjusted for their number after Holm."""
    cells = {cell.id: cell for cell in record.cells}
    blocks: dict[int, list[str]] = {}
    for step in record.steps:
        if step.purpose is Purpose.CONFIRM:
            members = blocks.setdefault(step.block, [])
            if step.cell not in members:
                members.append(step.cell)
    found: list[ConfirmedWinner] = []
    for members in blocks.values():
        winner = next((cells[one] for one in members if cells[one].against in members), None)
        if winner is None or winner.against is None:
            continue
        a = values_by_turn(record, winner.against, known, Purpose.CONFIRM)
        b = values_by_turn(record, winner.id, known, Purpose.CONFIRM)
        both = [place for place in a if place in b]
        higher = record.design.rank is not Rank.P99
        judgement = None
        if len(both) > 1:
            judgement = judge(
                [a[place] for place in both],
                [b[place] for place in both],
                interleaved=True,
                higher_is_better=higher,
                threshold=threshold_of(record),
            )
            fresh = (runs_of_cell(record, known, cell, confirming=True) for cell in (winner.against, winner.id))
            judgement = weighed(judgement, (run for runs in fresh for run in runs))
        found.append(
            ConfirmedWinner(winner=winner, baseline=cells[winner.against], judgement=judgement, pairs=len(both))
        )
    return _adjusted(found)


def _adjusted(found: list[ConfirmedWinner]) -> tuple[ConfirmedWinner, ...]:
    judgements = corrected([one.judgement for one in found])
    return tuple(replace(one, judgement=judgement) for one, judgement in zip(found, judgements, strict=True))
