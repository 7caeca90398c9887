"""Decide which steps to add to a sweep, depending on the results so far. No I/O.

The added steps confirm winners, run the next queue depths of a saturation search, or run the next I/O rates of a curve.
The decision depends only on the recorded session, so a sweep that resumes after a crash adds the same steps.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from random import Random

from app.core.analysis.pair_design import draw_order, one_look
from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepExtended, SweepRecord
from app.core.session.sweep_steps import Purpose, RateSeries, Saturation, Step, SweepCell
from app.features.sweep.engine.cells import Runs
from app.features.sweep.engine.load_curve import next_percents, rate_cell, rate_points
from app.features.sweep.engine.results import Results, results, winners
from app.features.sweep.engine.saturation import LEAST_RUNS, bases, depth_cell, depth_points, next_runs, search


def next_steps(record: SweepRecord, runs: Sequence[RunRecord]) -> SweepExtended | None:
    """Return the steps to add to the sweep; None while planned steps remain, or when the sweep is complete."""
    if record.todo:
        return None
    if record.design.pairs and Purpose.CONFIRM not in record.extended:
        return _confirmation(record, results(record, runs))
    runs_by_id = {run.id: run for run in runs}
    more = None
    if record.design.saturation is not None:
        more = _search(record, record.design.saturation, runs_by_id)
    if more is None and record.design.curve is not None:
        more = _curve(record, record.design.curve, runs_by_id)
    return more


def _confirmation(record: SweepRecord, outcome: Results) -> SweepExtended:
    """Return the steps that measure every winner and its baseline again in pairs. If no winner can be measured any
    more, the returned event has no steps.
    """
    random = Random(record.design.seed + 1)
    number, block = _last_number_and_block(record)
    steps: list[Step] = []
    for winner, baseline in winners(outcome):
        if not _still_possible(record, winner):
            continue
        block += 1
        for at, letter in enumerate(draw_order(one_look(record.design.pairs), random)):
            number += 1
            cell = baseline if letter == "A" else winner
            steps.append(Step(number=number, cell=cell.id, purpose=Purpose.CONFIRM, round=at // 2 + 1, block=block))
    return SweepExtended(at=time.time(), purpose=Purpose.CONFIRM, steps=tuple(steps))


def _search(record: SweepRecord, goal: Saturation, runs: Runs) -> SweepExtended | None:
    """Return steps for the next queue depths of each set-up's saturation search; None when all searches are done."""
    repeats, random = max(LEAST_RUNS, record.design.repeats), _random(record)
    wanted: list[SweepCell] = []
    for base in bases(record):
        if _still_possible(record, base):
            points = depth_points(record, base, goal, runs)
            cells = {point.depth: point.cell for point in points}
            for depth in next_runs(points, goal, repeats, random):
                wanted.append(cells.get(depth) or depth_cell(base, depth))
    return _extend(record, Purpose.SATURATE, wanted)


def _curve(record: SweepRecord, ladder: RateSeries, runs: Runs) -> SweepExtended | None:
    """Return steps for the next rates of each set-up's throughput-latency curve; None when all curves are complete."""
    repeats, random = max(LEAST_RUNS, record.design.repeats), _random(record)
    wanted: list[SweepCell] = []
    for saturation in search(record, runs):
        if saturation.plateau is not None and saturation.best is not None and _still_possible(record, saturation.cell):
            percents = next_percents(rate_points(record, saturation.cell, runs), ladder, repeats, random)
            wanted += [rate_cell(saturation, percent) for percent in percents]
    return _extend(record, Purpose.LOAD, wanted)


def _extend(record: SweepRecord, purpose: Purpose, wanted: Sequence[SweepCell]) -> SweepExtended | None:
    """Return the event that adds one step for each of the `wanted` cells, in this order. It also adds the cells that
    the record lacks. Return None if `wanted` is empty.
    """
    if not wanted:
        return None
    number, block = _last_number_and_block(record)
    rounds = Counter(step.cell for step in record.steps if step.purpose in (Purpose.SCREEN, purpose))
    steps: list[Step] = []
    for cell in wanted:
        number, rounds[cell.id] = number + 1, rounds[cell.id] + 1
        steps.append(Step(number=number, cell=cell.id, purpose=purpose, round=rounds[cell.id], block=block + 1))
    ids = {cell.id for cell in record.cells}
    new_cells = {cell.id: cell for cell in wanted if cell.id not in ids}
    return SweepExtended(at=time.time(), purpose=purpose, steps=tuple(steps), cells=tuple(new_cells.values()))


def _random(record: SweepRecord) -> Random:
    """Return a random generator that yields the same sequence after a crash as before it."""
    return Random(record.design.seed + 1 + len(record.steps))


def _still_possible(record: SweepRecord, cell: SweepCell) -> bool:
    """Return whether a cell can still be measured after all planned steps. All features that any planned cell needs are
    active then, so the cell must need all of them.
    """
    return set(cell.needs) == {feature for cell in record.design.cells for feature in cell.needs}


def _last_number_and_block(record: SweepRecord) -> tuple[int, int]:
    """Return the highest step number and the highest block so far."""
    return max(step.number for step in record.steps), max(step.block for step in record.steps)
