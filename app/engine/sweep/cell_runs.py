"""What the runs of one cell of a sweep measured. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.judge.stats import THRESHOLD_PERCENT
from app.engine.session.state import RunRecord
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Purpose
from app.engine.sweep.scores import Score, score

Runs = Mapping[str, RunRecord]
"""The runs of a session by id."""

Turn = tuple[int, int]
"""Block of the order, and round."""


def threshold_of(record: SweepRecord) -> float:
    """A difference within it is none, percent."""
    return record.design.threshold_percent or THRESHOLD_PERCENT


def scored_runs(record: SweepRecord, cell: str, known: Runs, *purposes: Purpose) -> list[tuple[Turn, Score]]:
    """Scores of a cell's runs by (block of the order, round)."""
    found = []
    for step, run in record.runs_of(cell, *purposes):
        reached = score(known.get(run))
        if reached is not None:
            found.append(((step.block, step.round), reached))
    return found


def values_by_turn(record: SweepRecord, cell: str, known: Runs, *purposes: Purpose) -> dict[Turn, float]:
    """What the sweep ranks by, of each run."""
    rank = record.design.rank
    scored = scored_runs(record, cell, known, *purposes)
    return {place: value for place, one in scored if (value := one.by(rank)) is not None and value > 0}


def runs_of_cell(record: SweepRecord, known: Runs, cell: str, *, confirming: bool = False) -> tuple[RunRecord, ...]:
    """The completed runs of a cell that its judgement rests on."""
    purposes = (Purpose.CONFIRM,) if confirming else (Purpose.SCREEN, Purpose.BASELINE)
    return tuple(known[run] for _, run in record.runs_of(cell, *purposes) if run in known)
