"""The search for the saturation point: the queue depths tried so far, the next depth, and the result. No I/O.

With a limit for the 99th percentile of the latency, the goal is the depth with the most I/Os per second within the
limit. Without a limit, it is the lowest depth on the plateau, where a higher depth does not increase the I/Os per
second. Depths are doubled until the limit is exceeded or the I/Os per second no longer increase. Each depth is run as
often as the design says, in rounds, where every second round is the reverse of the previous one. Then the gap between
the two depths on either side of the goal is halved again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from app.core.analysis.stats import LogMeanInterval, MeanInterval, mean_interval
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Purpose, Saturation, SweepCell
from app.features.sweep.engine.cells import LatencyFigure, MeasuredLoad, Runs, scored_runs
from app.features.sweep.engine.order import mirrored_rounds
from backends.values import dataclass

NEAR_RATIO = 1.12
"""The search ends when the higher of the two depths on either side of the goal is at most this many times the lower."""

LEAST_RUNS = 3
"""Minimum number of runs of each depth."""

MARK = "@"
"""Separator in the id of a cell of a search. The queue depth follows it."""

FLAT_DOUBLINGS = 2
"""After so many consecutive doublings that each raise the IOPS by at most `Saturation.within`, the doubling ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthPoint(MeasuredLoad):
    """A queue depth that was tried, and the results of its runs."""

    depth: int
    """The queue depth: I/Os in flight of each job."""

    @property
    def p99_ns(self) -> LogMeanInterval | None:
        """Mean and interval of the runs' 99th percentiles of the latency; None if a run has too few I/Os."""
        return self.latency(LatencyFigure.P99)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationResult:
    """Result of the search for the saturation point of one cell."""

    cell: SweepCell
    """The cell whose saturation point is searched for."""
    points: tuple[DepthPoint, ...]
    """The queue depths tried so far, ascending."""
    plateau: MeanInterval | None
    """Mean I/Os per second of all runs on the plateau, with interval; None before the first run, or with a latency
    limit.
    """
    best: DepthPoint | None
    """The depth that meets the goal best so far; None if no depth is within the limit."""
    complete: bool = True
    """Whether the search is finished."""


def plateau(points: Sequence[DepthPoint], goal: Saturation) -> MeanInterval | None:
    """Return the mean I/Os per second of all runs on the plateau. Unlike the best run, the mean is not biased upwards.

    Return None before the first run, or if the goal has a latency limit.
    """
    reached = _goal_test(points, goal)
    runs = [score.iops for point in points if reached(point) for score in point.scores]
    return mean_interval(runs) if runs and goal.p99_ns is None else None


def best(points: Sequence[DepthPoint], goal: Saturation) -> DepthPoint | None:
    """Return the depth with the most I/Os per second within the latency limit, or without a limit the lowest depth on
    the plateau; None if there is none.
    """
    reached = _goal_test(points, goal)
    kept = [point for point in points if point.scores and reached(point)]
    if goal.p99_ns is not None:
        return max(kept, key=_mean, default=None)
    return min(kept, key=lambda point: point.depth, default=None)


def next_runs(points: Sequence[DepthPoint], goal: Saturation, repeats: int, random: Random) -> tuple[int, ...]:
    """Return the next queue depths to run, in order; an empty tuple when the search is complete.

    The first round runs ascending depths. Once the highest depth is known, all depths are run again until each has
    `repeats` runs. Then depths between the two on either side of the goal follow.
    """
    further = _next_deeper(points, goal)
    if further is not None:
        return (further,) * (repeats if points and all(point.tried >= repeats for point in points) else 1)
    missing = {point.depth: repeats - point.tried for point in points if point.tried < repeats}
    if missing:
        depths = list(missing)
        rounds = mirrored_rounds(lambda: random.sample(depths, len(depths)), 1 + max(missing.values()), begun=depths)
        return tuple(depth for turn, row in enumerate(rounds) for depth in row if turn < missing[depth])
    middle = _depth_between(points, goal)
    return () if middle is None else (middle,) * repeats


def _mean(point: DepthPoint) -> float:
    return point.iops.mean if point.iops is not None else 0.0


def _goal_test(points: Sequence[DepthPoint], goal: Saturation) -> Callable[[DepthPoint], bool]:
    """Return a function that checks whether a depth meets the goal: within the latency limit, or on the plateau."""
    limit = goal.p99_ns
    if limit is not None:
        return lambda point: point.p99_ns is not None and round(point.p99_ns.mean) <= limit
    least = (1 - goal.within / 100) * max(map(_mean, points), default=0.0)
    return lambda point: bool(point.scores) and _mean(point) >= least


def _next_deeper(points: Sequence[DepthPoint], goal: Saturation) -> int | None:
    """Return the next higher queue depth to try; None when a higher depth is not allowed or cannot be better."""
    if not points:
        return goal.lowest
    top = points[-1]
    if top.depth >= goal.highest or not top.scores:
        return None
    reached = _goal_test(points, goal)
    if goal.p99_ns is not None and not reached(top):
        return None
    if goal.p99_ns is None and _is_flat([_mean(point) for point in points], goal.within):
        return None
    return min(goal.highest, top.depth * 2)


def _is_flat(means: Sequence[float], within: float) -> bool:
    """Return whether each of the last `FLAT_DOUBLINGS` depths gained at most `within` percent over the best lower
    depth.
    """
    last = range(len(means) - FLAT_DOUBLINGS, len(means))
    return last[0] > 0 and all(means[at] <= max(means[:at]) * (1 + within / 100) for at in last)


def _depth_between(points: Sequence[DepthPoint], goal: Saturation) -> int | None:
    """Return a depth between the two tried depths on either side of the goal, or one below all tried depths if the goal
    may be there; None if the two are close enough.
    """
    reached = _goal_test(points, goal)
    least = points[0]
    missed = not any(map(reached, points)) if goal.p99_ns is not None else reached(least)
    if missed and least.depth > goal.lowest:
        return max(goal.lowest, least.depth // 2)
    if goal.p99_ns is not None:
        low = max((point.depth for point in points if reached(point)), default=None)
        high = min((point.depth for point in points if low is not None and point.depth > low), default=None)
    else:
        high = min((point.depth for point in points if reached(point)), default=None)
        low = max((point.depth for point in points if high is not None and point.depth < high), default=None)
    if low is None or high is None or high <= low * NEAR_RATIO:
        return None
    middle = round((low * high) ** 0.5)
    return middle if low < middle < high else None


def depth_points(record: SweepRecord, base: SweepCell, goal: Saturation, runs: Runs) -> tuple[DepthPoint, ...]:
    """Return the queue depths at which a cell's workload was run in the search or in the matrix, ascending."""
    points: dict[int, DepthPoint] = {}
    family_ids = {cell.id for cell in record.design.cells if family(cell) == family(base)}
    finished = [step for step in record.steps if record.final_end(step) is not None]
    purposes = (Purpose.SCREEN, Purpose.SATURATE)
    for cell in record.cells:
        if cell.id.partition(MARK)[0] not in family_ids:
            continue
        tried = sum(step.cell == cell.id and step.purpose in purposes for step in finished)
        scores = tuple(score for _, score in scored_runs(record, cell.id, runs, *purposes))
        depth = int(cell.job["iodepth"])
        if tried and goal.lowest <= depth <= goal.highest:
            points[depth] = DepthPoint(depth=depth, cell=cell, tried=tried, scores=scores)
    return tuple(points[depth] for depth in sorted(points))


def depth_cell(base: SweepCell, depth: int) -> SweepCell:
    """Return the cell that measures the workload of `base` at this queue depth."""
    job = {**base.job, "iodepth": str(depth)}
    return replace(base, id=f"{base.id}{MARK}{depth}", job=job, profile=None, column=f"depth {depth}", against=None)


def family(cell: SweepCell) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the name of a cell's set-up, and the fields of its job without the queue depth.

    The result is equal for cells that differ only in queue depth.
    """
    return cell.row, tuple(sorted((key, value) for key, value in cell.job.items() if key != "iodepth"))


def bases(record: SweepRecord) -> tuple[SweepCell, ...]:
    """Return one cell for every set-up and workload. Of workloads that differ only in queue depth, only one is
    returned.
    """
    by_family: dict[object, SweepCell] = {}
    for cell in record.design.cells:
        by_family.setdefault(family(cell), cell)
    return tuple(by_family.values())


def search(record: SweepRecord, runs: Runs) -> tuple[SaturationResult, ...]:
    """Return the results of the searches for the saturation point; an empty tuple if none was planned."""
    goal = record.design.saturation
    if goal is None:
        return ()
    searches = []
    for base in bases(record):
        points = depth_points(record, base, goal, runs)
        if points:
            complete = not next_runs(points, goal, max(LEAST_RUNS, record.design.repeats), Random(0))
            top, least = plateau(points, goal), best(points, goal)
            searches.append(SaturationResult(cell=base, points=points, plateau=top, best=least, complete=complete))
    return tuple(searches)
