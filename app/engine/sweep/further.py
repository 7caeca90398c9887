"""What the steps so far ask for: the winner's confirmation, the next depth of a search. Pure.

Decided by the record alone, so that a sweep that goes on after a crash decides the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from app.engine.judge.looks import one_look
from app.engine.judge.order import order
from app.engine.session.state import RunRecord
from app.engine.session.sweep_events import SweepExtended
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Purpose, Saturation, Step, SweepCell
from app.engine.sweep.findings import Point, saturation_points
from app.engine.sweep.results import Results, results, winners

NEAR = 1.12
"""A search ends when the depths on both sides of the limit are nearer than this."""


def further(record: SweepRecord, runs: Sequence[RunRecord]) -> SweepExtended | None:
    """More steps once all others are done; None when the sweep is complete."""
    if record.todo:
        return None
    if record.design.pairs and Purpose.CONFIRM not in record.extended:
        return _confirmation(record, results(record, runs))
    if record.design.saturation is not None:
        return _search(record, record.design.saturation, {run.id: run for run in runs})
    return None


def _confirmation(record: SweepRecord, found: Results) -> SweepExtended:
    """Fresh pairs of every winner and its baseline; no steps when nothing seems to beat its baseline."""
    random = Random(record.design.seed + 1)
    number, block = _last(record)
    steps: list[Step] = []
    for winner, baseline in winners(found):
        if not _still_possible(record, winner):
            continue
        block += 1
        for at, letter in enumerate(order(one_look(record.design.pairs), random)):
            number += 1
            cell = baseline if letter == "A" else winner
            steps.append(Step(number=number, cell=cell.id, purpose=Purpose.CONFIRM, round=at // 2 + 1, block=block))
    return SweepExtended(at=time.time(), purpose=Purpose.CONFIRM, steps=tuple(steps))


def _search(record: SweepRecord, limit: Saturation, known: dict[str, RunRecord]) -> SweepExtended | None:
    """The next depth of each set-up's search, all set-ups together; None when all have come to an end."""
    number, block = _last(record)
    tried = {cell.id for cell in record.cells}
    steps: list[Step] = []
    cells: list[SweepCell] = []
    for base in _starts(record):
        depth = next_depth(saturation_points(record, base, known), limit)
        name = f"{base.id}@{depth}"
        if depth is None or name in tried:  # tried already and without a figure: it failed
            continue
        number += 1
        job = {**base.job, "iodepth": str(depth)}
        cells.append(replace(base, id=name, job=job, profile=None, column=f"depth {depth}", against=None))
        steps.append(Step(number=number, cell=name, purpose=Purpose.SATURATE, round=1, block=block + 1))
    if not steps:
        return None
    return SweepExtended(at=time.time(), purpose=Purpose.SATURATE, steps=tuple(steps), cells=tuple(cells))


def _starts(record: SweepRecord) -> list[SweepCell]:
    """One cell of every set-up and of every workload that differs by more than its queue depth."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], SweepCell] = {}
    for cell in record.design.cells:
        rest = tuple(sorted((key, value) for key, value in cell.job.items() if key != "iodepth"))
        found.setdefault((cell.row, rest), cell)
    return [cell for cell in found.values() if _still_possible(record, cell)]


def _still_possible(record: SweepRecord, cell: SweepCell) -> bool:
    """Whether a cell can be measured at the end: no feature that is active by then was to be absent."""
    return set(cell.needs) == {feature for one in record.design.cells for feature in one.needs}


def next_depth(points: Sequence[Point], limit: Saturation) -> int | None:
    """The depth to try next: doubled while the limit is kept, then half-way; None when it is found."""
    within = [one.depth for one in points if one.p99_ns is not None and one.p99_ns <= limit.p99_ns]
    beyond = [one.depth for one in points if one.p99_ns is None or one.p99_ns > limit.p99_ns]
    if not points:
        return limit.lowest
    if not within:
        return None
    low = max(within)
    high = min((depth for depth in beyond if depth > low), default=None)
    if high is None:
        return min(limit.highest, low * 2) if low < limit.highest else None
    middle = round((low * high) ** 0.5)
    return middle if low < middle < high and high > low * NEAR else None


def _last(record: SweepRecord) -> tuple[int, int]:
    """Highest number and highest block so far."""
    return max(step.number for step in record.steps), max(step.block for step in record.steps)
