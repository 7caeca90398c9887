"""Throughput against latency under loads that were asked for, whatever the device made of them. Pure.

The load is open: requests come at random, at a rate that does not heed how fast the ones before were answered. A queue
depth cannot show that: with it a device that slows down is asked for less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import sqrt
from random import Random

from app.core.analysis.knee import Knee, LoadPoint, knee
from app.core.analysis.stats import LogMeanInterval, MeanInterval, mean_interval
from app.core.fio.fields import field_text
from app.core.fio.job import Arrival, field_problems
from app.core.fio.sizes import parse_size
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Purpose, RateSeries, SweepCell
from app.features.sweep.engine.cells import CellResult, LatencyFigure, Runs, RunScore, latency, scored_runs
from app.features.sweep.engine.order import mirrored_rounds
from app.features.sweep.engine.saturation import SaturationResult, search
from backends.errors import InvalidValueError
from backends.values import dataclass

MARK = "~"
"""In the name of a cell made for a curve, before its percent of the saturation."""

SHORT = 0.02
"""A rate is not carried where more than this share of it is missing."""

_CHANCE = 3.0
"""And more than so many standard errors of a count of random arrivals."""

FARTHEST = 150
"""Percent of the saturation beyond which no further rate is asked for."""

OPEN = {"arrival": Arrival.POISSON.value}
"""Fields of a job whose requests wait for none; its rate and depth come with each load."""

DEEPER, LEAST_DEPTH, MOST_DEPTH = 4, 64, 1024
"""I/Os that may wait under an open load: times the depth of the plateau, at least and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePoint:
    """A rate that was asked for, and what came of it."""

    percent: int
    """Of the saturation."""
    asked: float
    """I/Os per second of all jobs."""
    cell: SweepCell
    """Whose runs they are."""
    tried: int
    """Runs begun, those that failed included."""
    scores: tuple[RunScore, ...] = ()
    """Its completed runs."""

    @property
    def reached(self) -> MeanInterval | None:
        """I/Os per second; None without a run."""
        return mean_interval([score.iops for score in self.scores]) if self.scores else None

    def latency(self, figure: LatencyFigure) -> LogMeanInterval | None:
        """Mean and interval over the runs; None where one of them has too few I/Os for it."""
        return latency(self.scores, figure)

    @property
    def carried(self) -> bool:
        """Whether what was asked for was reached, as far as chance lets one tell; False without a run."""
        if self.reached is None:
            return False
        counted = sum(score.ios for score in self.scores)
        chance = _CHANCE / sqrt(counted) if counted else 0.0
        return self.reached.mean >= self.asked * (1 - max(SHORT, chance))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCurve:
    """Throughput against latency of one cell's workload."""

    cell: SweepCell
    """Which."""
    saturation: SaturationResult
    """The search that the rates come from."""
    points: tuple[RatePoint, ...]
    """Ascending."""
    knee: Knee | None
    """In I/Os per second and nanoseconds; None where it is not reached, or not yet."""

    def latencies(self, figure: LatencyFigure) -> list[tuple[float, LogMeanInterval]]:
        """Return the I/Os per second that were reached with their latency, ascending."""
        pairs = [
            (reached.mean, mean)
            for point in self.points
            if (reached := point.reached) is not None and (mean := point.latency(figure)) is not None
        ]
        return sorted(pairs, key=lambda pair: pair[0])


def load_curves(record: SweepRecord, runs: Runs) -> tuple[LoadCurve, ...]:
    """The curve of each cell whose saturation is known, where that was asked for."""
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
    """The rates that were asked of this cell's workload, ascending."""
    over = [step for step in record.steps if record.final_end(step) is not None]
    points = []
    for cell in record.cells:
        name, mark, percent = cell.id.partition(MARK)
        tried = sum(step.cell == cell.id for step in over)
        if name == base.id and mark and tried:
            scores = tuple(score for _, score in scored_runs(record, cell.id, runs, Purpose.LOAD))
            asked = float(cell.job["rate_iops"]) * int(cell.job["numjobs"])
            points.append(RatePoint(percent=int(percent), asked=asked, cell=cell, tried=tried, scores=scores))
    return tuple(sorted(points, key=lambda point: point.percent))


def next_percents(points: Sequence[RatePoint], ladder: RateSeries, repeats: int, random: Random) -> tuple[int, ...]:
    """The rates to be asked for next, in their order; none when the curve is complete.

    All rungs in rounds, of which every second goes backwards; then further ones as long as the highest is carried.
    """
    if not points:
        rungs = list(ladder.percents)
        rounds = mirrored_rounds(lambda: random.sample(rungs, len(rungs)), repeats)
        return tuple(percent for row in rounds for percent in row)
    top = points[-1]
    if top.carried and top.percent < FARTHEST:
        return (min(FARTHEST, top.percent + 10),) * repeats
    return ()


def rate_cell(saturation: SaturationResult, percent: int) -> SweepCell:
    """The cell that asks for so many percent of the saturation. The search must have found one."""
    assert saturation.plateau is not None
    assert saturation.best is not None
    base = saturation.cell
    texts = {**base.job, **OPEN}
    texts["rate_iops"] = str(max(1, round(saturation.plateau.mean * percent / 100 / int(base.job["numjobs"]))))
    depth = min(MOST_DEPTH, max(LEAST_DEPTH, DEEPER * saturation.best.depth))
    while depth > 1 and "iodepth" in field_problems(
        {**texts, "iodepth": str(depth)}
    ):  # more memory than a job may have
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
    """The knee by what was reached and the mean latency of every run."""
    loads = []
    for point in points:
        means = tuple(score.mean_ns for score in point.scores if score.mean_ns)
        if point.reached is not None and means:
            loads.append(LoadPoint(rate=point.reached.mean, latencies=means, carried=point.carried))
    return knee(loads)


# -- cells of a sweep as curves over the one field of the job that takes numbers --------------------------------------

Measured = MeanInterval | LogMeanInterval | None
"""Mean and interval of what was measured at a place; None where nothing was."""

_FIELDS = ("iodepth", "bs", "numjobs", "rwmixread", "rate_iops")


def numeric_field(cells: Sequence[CellResult]) -> str | None:
    """The field of the job that takes at least three numbers; None if there is none."""
    jobs = [result.cell.job for result in cells]
    return next((key for key in _FIELDS if _numeric(key, jobs)), None)


def curves(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Cells that differ in that field only, by what else they are; all in one, named "", if there is no such field."""
    field = numeric_field(cells)
    several = len({result.cell.row for result in cells}) > 1
    lines: dict[str, list[CellResult]] = {}
    for result in cells:
        rest = column_without(result.cell, () if field is None else (field,))
        row = [result.cell.row] if several else []
        lines.setdefault(", ".join((*row, *rest)) if field is not None else "", []).append(result)
    return lines


def values_along(
    field: str, line: Iterable[CellResult], read: Callable[[CellResult], Measured]
) -> list[tuple[float, Measured]]:
    """Return what was measured in each cell of a line with its number in that field of the job, ascending."""
    return sorted(
        ((number_of(cell_result.cell.job[field]), read(cell_result)) for cell_result in line), key=lambda pair: pair[0]
    )


def curve_place(cells: Sequence[CellResult], cell_result: CellResult) -> str:
    """What a cell is beside the name of its curve: `queue depth 8`."""
    field = numeric_field(cells)
    return cell_result.cell.column if field is None else field_text(field, cell_result.cell.job.get(field, ""))


def column_without(cell: SweepCell, fields: Iterable[str]) -> tuple[str, ...]:
    """What the name of a cell's workload has beside these fields of its job, as recorded or as people read it."""
    named = {key: cell.job[key] for key in fields if key in cell.job}
    texts = {text for key, value in named.items() for text in (f"{key}={value}", field_text(key, value))}
    return tuple(part for part in cell.column.split(", ") if part not in texts)


def number_of(text: str) -> float:
    """A size or count as a number; 0 for what is none."""
    try:
        return float(parse_size(text))
    except InvalidValueError:
        return 0.0


def _numeric(key: str, jobs: Sequence[dict[str, str]]) -> bool:
    texts = {job.get(key, "") for job in jobs}
    return len(texts) > 2 and all(number_of(text) > 0 for text in texts)
