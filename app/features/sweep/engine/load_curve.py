"""Throughput against latency under an open load. No I/O.

With an open load, requests arrive at random, at a rate that does not depend on earlier completions. A fixed queue depth
cannot show the latency under such a load, because it sends fewer requests to a device that slows down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import sqrt
from random import Random

from app.core.analysis.knee import Knee, LoadPoint, knee
from app.core.analysis.stats import LogMeanInterval, MeanInterval
from app.core.fio.fields import field_text
from app.core.fio.job import Arrival, field_problems
from app.core.fio.sizes import parse_size
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Purpose, RateSeries, SweepCell
from app.features.sweep.engine.cells import CellResult, LatencyFigure, MeasuredLoad, Runs, scored_runs
from app.features.sweep.engine.order import mirrored_rounds
from app.features.sweep.engine.saturation import SaturationResult, search
from backends.errors import InvalidValueError
from backends.values import dataclass

MARK = "~"
"""Separator in the id of a curve's cell. The rate in percent of the saturation throughput follows it."""

MISSING_SHARE = 0.02
"""Shortfall, as a share of the requested I/O rate, up to which the rate counts as reached."""

_CHANCE = 3.0
"""Shortfall up to which an I/O rate counts as reached, in standard errors of the number of random arrivals."""

HIGHEST_PERCENT = 150
"""Highest requested rate, in percent of the saturation throughput."""

OPEN_LOAD = {"arrival": Arrival.POISSON.value}
"""Job fields that every job with an open load has. Each point of the curve adds its own rate and queue depth."""

DEEPER, LEAST_DEPTH, MOST_DEPTH = 4, 64, 1024
"""Queue depth under an open load: the multiple of the saturation search's queue depth, its minimum and its maximum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePoint(MeasuredLoad):
    """A requested I/O rate and its results."""

    percent: int
    """The rate in percent of the saturation throughput."""
    asked: float
    """Requested I/Os per second, in total over all jobs."""

    @property
    def carried(self) -> bool:
        """Whether the requested rate was reached, allowing for chance; False without a run."""
        if self.iops is None:
            return False
        counted = sum(score.ios for score in self.scores)
        chance = _CHANCE / sqrt(counted) if counted else 0.0
        return self.iops.mean >= self.asked * (1 - max(MISSING_SHARE, chance))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCurve:
    """Throughput against latency of one cell's workload."""

    cell: SweepCell
    """The cell whose workload the curve measures."""
    saturation: SaturationResult
    """Result of the saturation search, on which the rates are based."""
    points: tuple[RatePoint, ...]
    """The measured rates, ascending."""
    knee: Knee | None
    """Knee of the curve in I/Os per second and nanoseconds; None if no measured rate has reached the knee so far."""

    def latencies(self, figure: LatencyFigure) -> list[tuple[float, LogMeanInterval]]:
        """Return the reached I/Os per second of each point with its latency, ascending by I/Os."""
        pairs = [
            (reached.mean, mean)
            for point in self.points
            if (reached := point.iops) is not None and (mean := point.latency(figure)) is not None
        ]
        return sorted(pairs, key=lambda pair: pair[0])


def load_curves(record: SweepRecord, runs: Runs) -> tuple[LoadCurve, ...]:
    """Return the curve of each cell with measured rates; an empty tuple if no curve was planned."""
    if record.design.curve is None:
        return ()
    found_curves = []
    for saturation in search(record, runs):
        points = rate_points(record, saturation.cell, runs)
        if points:
            found_curves.append(
                LoadCurve(cell=saturation.cell, saturation=saturation, points=points, knee=curve_knee(points))
            )
    return tuple(found_curves)


def rate_points(record: SweepRecord, base: SweepCell, runs: Runs) -> tuple[RatePoint, ...]:
    """Return the measured rates of a cell's workload, ascending."""
    finished = [step for step in record.steps if record.final_end(step) is not None]
    points = []
    for cell in record.cells:
        name, mark, percent = cell.id.partition(MARK)
        tried = sum(step.cell == cell.id for step in finished)
        if name == base.id and mark and tried:
            scores = tuple(score for _, score in scored_runs(record, cell.id, runs, Purpose.LOAD))
            asked = float(cell.job["rate_iops"]) * int(cell.job["numjobs"])
            points.append(RatePoint(percent=int(percent), asked=asked, cell=cell, tried=tried, scores=scores))
    return tuple(sorted(points, key=lambda point: point.percent))


def next_percents(points: Sequence[RatePoint], ladder: RateSeries, repeats: int, random: Random) -> tuple[int, ...]:
    """Return the next rates to measure, in percent of the saturation throughput and in order; () when the curve is
    complete.

    First, all planned rates (`ladder`) are measured in `repeats` rounds, where every second round is the reverse of the
    previous one. Then higher rates follow as long as the highest one is reached.
    """
    if not points:
        rungs = list(ladder.percents)
        rounds = mirrored_rounds(lambda: random.sample(rungs, len(rungs)), repeats)
        return tuple(percent for row in rounds for percent in row)
    top = points[-1]
    if top.carried and top.percent < HIGHEST_PERCENT:
        return (min(HIGHEST_PERCENT, top.percent + 10),) * repeats
    return ()


def rate_cell(saturation: SaturationResult, percent: int) -> SweepCell:
    """Return the cell that measures at `percent` of the saturation throughput. The search must have found a result."""
    assert saturation.plateau is not None
    assert saturation.best is not None
    base = saturation.cell
    texts = {**base.job, **OPEN_LOAD}
    texts["rate_iops"] = str(max(1, round(saturation.plateau.mean * percent / 100 / int(base.job["numjobs"]))))
    depth = min(MOST_DEPTH, max(LEAST_DEPTH, DEEPER * saturation.best.depth))
    # Halve the depth until its I/O buffers fit into the memory that a job may use.
    while depth > 1 and "iodepth" in field_problems({**texts, "iodepth": str(depth)}):
        depth //= 2
    return replace(
        base,
        id=f"{base.id}{MARK}{percent}",
        column=f"{percent} % of saturation",
        job={**texts, "iodepth": str(depth)},
        profile=None,
        against=None,
    )


def curve_knee(points: Sequence[RatePoint]) -> Knee | None:
    """Return the knee of a load curve, calculated from the mean reached rate of each point and the mean latency of each
    of its runs; None if the curve has no knee.
    """
    loads = []
    for point in points:
        means = tuple(score.mean_ns for score in point.scores if score.mean_ns)
        if point.iops is not None and means:
            loads.append(LoadPoint(rate=point.iops.mean, latencies=means, carried=point.carried))
    return knee(loads)


# -- cells as curves over a numeric job field -------------------------------------------------------------------------

Measured = MeanInterval | LogMeanInterval | None
"""Mean and interval of a result; None without a result."""

_FIELDS = ("iodepth", "bs", "numjobs", "rwmixread", "rate_iops")


def numeric_field(cells: Sequence[CellResult]) -> str | None:
    """Return the first job field that has at least three values in these cells, all numeric; None if there is none."""
    return numeric_job_field([result.cell.job for result in cells])


def numeric_job_field(jobs: Sequence[dict[str, str]]) -> str | None:
    """Return the first field that has at least three values in these jobs, all numeric; None if there is none."""
    return next((key for key in _FIELDS if _numeric(key, jobs)), None)


def curves(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Return the cells grouped into the lines of a graph, by line name.

    Cells whose names differ only in the numeric field form one line. Without such a field, there is one line named "".
    """
    field = numeric_field(cells)
    several = len({result.cell.row for result in cells}) > 1
    lines: dict[str, list[CellResult]] = {}
    for result in cells:
        rest = column_without(result.cell, () if field is None else (field,))
        row = [result.cell.row] if several else []
        lines.setdefault(", ".join((*row, *rest)) if field is not None else "", []).append(result)
    return lines


def separate_workloads(record: SweepRecord) -> dict[str, frozenset[str]]:
    """Return the ids of the measured cells of each workload of a sweep; empty if all cells fit on one axis.

    The results of different workloads differ in their scale, so one axis for them would hide every other difference.
    Values of a swept number, such as the queue depth, are one workload.
    """
    field = numeric_job_field([cell.job for cell in record.cells])
    cells: dict[str, set[str]] = {}
    for cell in record.cells:
        if record.runs_of(cell.id):
            name = ", ".join(column_without(cell, () if field is None else (field,)))
            cells.setdefault(name, set()).add(cell.id)
    are_several = len(cells) > 1 and all(len(ids) > 1 for ids in cells.values())
    return {name: frozenset(ids) for name, ids in cells.items()} if are_several else {}


def values_along(
    field: str, line: Iterable[CellResult], read: Callable[[CellResult], Measured]
) -> list[tuple[float, Measured]]:
    """Return (value of the numeric field, result) for each cell of a line, ascending."""
    return sorted(
        ((number_of(cell_result.cell.job[field]), read(cell_result)) for cell_result in line), key=lambda pair: pair[0]
    )


def curve_place(cells: Sequence[CellResult], cell_result: CellResult) -> str:
    """Return the part of a cell's name that is not in the name of its line, such as `queue depth 8`."""
    field = numeric_field(cells)
    return cell_result.cell.column if field is None else field_text(field, cell_result.cell.job.get(field, ""))


def column_without(cell: SweepCell, fields: Iterable[str]) -> tuple[str, ...]:
    """Return the comma-separated parts of a cell's workload name, except those that state one of the job `fields`."""
    named = {key: cell.job[key] for key in fields if key in cell.job}
    texts = {text for key, value in named.items() for text in (f"{key}={value}", field_text(key, value))}
    return tuple(part for part in cell.column.split(", ") if part not in texts)


def number_of(text: str) -> float:
    """Return a string such as `64k` or `32` as a number; 0 if the string is not a number."""
    try:
        return float(parse_size(text))
    except InvalidValueError:
        return 0.0


def _numeric(key: str, jobs: Sequence[dict[str, str]]) -> bool:
    texts = {job.get(key, "") for job in jobs}
    return len(texts) > 2 and all(number_of(text) > 0 for text in texts)
