"""Estimate how long a sweep takes, before it starts and while it runs. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2

from app.core.benchmark.idle_wait import mean_pause
from app.core.fio.job import Job
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import MADE, Assignment, Design, Purpose, Step, SweepCell
from app.features.sweep.engine.order import arrays_in_order, measured_seconds
from app.features.sweep.engine.saturation import LEAST_RUNS, bases, family

HALVINGS = 3
"""Approximate number of depths that a search tries between two doubled depths."""
START_SECONDS = 2.0
"""Estimated seconds to start and end fio, and to check the device, for one run."""
CHANGE_SECONDS = 2.0
"""Estimated seconds to change a setting in place, including reading it before and after."""
SLOW_SECONDS = 60.0
"""Estimated seconds to re-create an array. Reshapes are not included, because they may take hours."""
DELETE_SECONDS = 1.0
"""Estimated seconds to delete an array, including a scan before and after."""
RESTART_SECONDS = 300.0
"""Estimated seconds to restart the server."""


def seconds_of(design: Design) -> float:
    """Return the estimated duration of a sweep in seconds: all steps, the runs of searches, and the restoration."""
    cells = {cell.id: cell for cell in design.cells}
    extra_seconds = later_runs(design) * max(_run(cell, design.rest) for cell in design.cells)
    return _seconds(design.steps, cells, design, design.originals) + extra_seconds


def writing_seconds(design: Design, where: str) -> float:
    """Return the maximum time in seconds for which the target with the address `where` is written to.

    The time covers all steps, confirmations and searches.
    """
    jobs = {cell.id: Job.from_fields(cell.job) for cell in design.cells if cell.where == where}
    lengths = {cell: float(job.ramp + job.runtime) for cell, job in jobs.items() if job.writes_data}
    winners = len({cell.column for cell in design.cells if cell.id in lengths})
    extra_runs = later_runs(design) + 2 * design.pairs * winners
    return sum(lengths.get(step.cell, 0.0) for step in design.steps) + extra_runs * max(lengths.values(), default=0.0)


def later_runs(design: Design) -> int:
    """Return the approximate maximum number of runs that a search and a curve add."""
    if design.saturation is None:
        return 0
    bases = {family(cell) for cell in design.cells}
    doublings = int(log2(design.saturation.highest / design.saturation.lowest)) + 1
    planned_depths = sum(
        design.saturation.lowest <= int(cell.job["iodepth"]) <= design.saturation.highest for cell in design.cells
    )
    depths = max(0, doublings * len(bases) - planned_depths) + HALVINGS * len(bases)
    return max(LEAST_RUNS, design.repeats) * (depths + _rates(design) * len(bases))


def _rates(design: Design) -> int:
    return 0 if design.curve is None else len(design.curve.percents)


def seconds_left(record: SweepRecord, now: float, speed: float = 1.0) -> float:
    """Return the estimated seconds to the end: the planned time, corrected by the pace of the steps so far.

    `speed` is the speed-up of a simulation. It is used only until the first step ends, because the real pace is known
    from then on.
    """
    cells = {cell.id: cell for cell in record.cells}
    todo = record.todo
    planned = _seconds(todo, cells, record.design, record.design.originals)
    finished = [step for step in record.steps if record.final_end(step) is not None]
    pace = 1.0
    if finished and record.seconds > 0:
        pace = record.seconds / max(1.0, sum(_run(cells[step.cell], record.design.rest) for step in finished))
    passed = 0.0 if record.current is None else max(0.0, now - record.current.since)
    return max(0.0, (planned + _curve_left(record)) * pace - passed) / (1.0 if record.ended else speed)


def _curve_left(record: SweepRecord) -> float:
    """Return the estimated seconds that a planned throughput-latency curve takes; 0 once the curve has started.

    The search before the curve is not included, because its length is unknown.
    """
    if Purpose.LOAD in record.extended:
        return 0.0
    runs = max(LEAST_RUNS, record.design.repeats) * _rates(record.design)
    return runs * sum(_run(cell, record.design.rest) for cell in bases(record))


def switches(design: Design) -> tuple[tuple[Assignment, int], ...]:
    """Return every changed setting with its original value, and how often it changes, including its restoration.

    Slow settings come first.
    """
    cells = {cell.id: cell for cell in design.cells}
    counts = dict.fromkeys(design.originals, 0)
    for before, after in _walk(design.steps, cells, design.originals):
        for original, assignment, other in zip(design.originals, before, after, strict=True):
            counts[original] += assignment.value != other.value
    return tuple(counts.items())


def _walk(
    steps: Iterable[Step], cells: Mapping[str, SweepCell], start: tuple[Assignment, ...]
) -> Iterable[tuple[tuple[Assignment, ...], tuple[Assignment, ...]]]:
    """Yield the settings before and after the switch to the cell of each step, and finally those before and after the
    restoration.
    """
    present = start
    for step in steps:
        wanted = tuple(assignment for assignment in cells[step.cell].settings if assignment.target.backend != MADE)
        yield present, wanted
        present = wanted
    yield present, start


def _run(cell: SweepCell, rest: int) -> float:
    run = measured_seconds(cell)
    return run + mean_pause(rest, run) + START_SECONDS


def _seconds(
    steps: Iterable[Step], cells: Mapping[str, SweepCell], design: Design, start: tuple[Assignment, ...]
) -> float:
    all_steps = tuple(steps)
    total = sum(_run(cells[step.cell], design.rest) for step in all_steps)
    for before, after in _walk(all_steps, cells, start):
        for assignment, other in zip(before, after, strict=True):
            if assignment.value != other.value:
                total += SLOW_SECONDS if assignment.slow else CHANGE_SECONDS
    if design.making is not None:
        made = map(design.making.array, arrays_in_order(all_steps, cells, design.making))
        total += sum(array.making_seconds + array.preparing_seconds + DELETE_SECONDS for array in made)
    restarts = {cells[step.cell].needs for step in all_steps if step.purpose is Purpose.SCREEN}
    missing = [feature for feature in design.features if not feature.active]
    return total + RESTART_SECONDS * sum(any(feature.name in needs for needs in restarts) for feature in missing)
