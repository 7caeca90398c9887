"""Results of a sweep so far: matrix, verdicts, rankings, Pareto fronts and saturation. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from app.core.analysis.caveats import apply_caveats, weakening_caveats
from app.core.analysis.stats import THRESHOLD_PERCENT, mean_interval
from app.core.analysis.verdict import Verdict
from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import PublishedRows, Purpose, Rank, StepResult, SweepCell
from app.features.sweep.engine.best_cells import ConfirmedWinner, confirmations, leaders
from app.features.sweep.engine.cells import (
    CellResult,
    LatencyFigure,
    Runs,
    latency,
    runs_of_cell,
    scored_runs,
    threshold_of,
)
from app.features.sweep.engine.load_curve import LoadCurve, curves, load_curves, numeric_field
from app.features.sweep.engine.published_results import PublishedComparison, compare_published
from app.features.sweep.engine.saturation import SaturationResult, search
from app.features.sweep.engine.verdicts import judge_cells
from backends.values import dataclass

LEAST_LEAD = 0.5
"""Minimum lead over its baseline that a cell of the matrix needs to be confirmed, as a share of the threshold.

If the lead is smaller, a confirmation could not reach a verdict.
"""


LOAD = ("iodepth", "numjobs", "rate_iops")
"""Job fields that determine the load, as opposed to the access pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All results of a sweep that tables, screens and reports show."""

    rows: tuple[str, ...]
    """Set-ups, in the order of the plan."""
    columns: tuple[str, ...]
    """Workloads, in the order of the plan."""
    cells: tuple[CellResult, ...]
    """Cells of the matrix, in the order of the plan."""
    rank: Rank
    """Metric by which cells are ranked."""
    threshold: float = THRESHOLD_PERCENT
    """Difference in percent up to which two results count as equal."""
    fronts: tuple[tuple[str, ...], ...] = ()
    """For each workload, the cell ids on the Pareto front of IOPS and 99th percentile, by ascending latency."""
    leaders: tuple[tuple[str, ...], ...] = ()
    """For each of the `lines`: the id of its best cell, then the ids of cells that cannot be distinguished from it."""
    confirmations: tuple[ConfirmedWinner, ...] = ()
    """Winners that were measured again, in new pairs of runs with their baseline."""
    saturated: tuple[SaturationResult, ...] = ()
    """Results of the searches for the saturation point."""
    load_curves: tuple[LoadCurve, ...] = ()
    """Measured throughput-latency curves."""
    published: tuple[PublishedComparison, ...] = ()
    """Published results and the results of this sweep for them."""
    published_rows: PublishedRows | None = None
    """Kind of rows in the table of published results; None for the first kind that fits."""

    def at(self, row: str, column: str) -> CellResult | None:
        """Return the cell of a row and a column; None if it is left out."""
        return next((result for result in self.cells if (result.cell.row, result.cell.column) == (row, column)), None)

    def of_cells(self, ids: Collection[str]) -> Results:
        """Return the results of the cells with these ids, for tables and graphs of one workload."""
        cells = tuple(result for result in self.cells if result.cell.id in ids)
        return replace(
            self,
            rows=tuple(dict.fromkeys(result.cell.row for result in cells)),
            columns=tuple(dict.fromkeys(result.cell.column for result in cells)),
            cells=cells,
            saturated=tuple(search for search in self.saturated if search.cell.id in ids),
            load_curves=tuple(curve for curve in self.load_curves if curve.cell.id in ids),
        )

    @property
    def lines(self) -> dict[str, tuple[CellResult, ...]]:
        """Groups of comparable measured cells, best first, by name of the group, which is called a line.

        If there are several set-ups, a line is a workload. Otherwise, it is a curve over a numeric job field. Different
        workloads of a single set-up are not comparable.
        """
        if len(self.rows) > 1:
            return {column: self.ranking(column) for column in self.columns}
        if numeric_field(self.cells) is None:
            return {}
        return {name: self.best_first(line) for name, line in curves(self.cells).items()}

    def ranking(self, column: str) -> tuple[CellResult, ...]:
        """Return the measured cells of a column, best first."""
        return self.best_first(result for result in self.cells if result.cell.column == column)

    def best_first(self, cells: Iterable[CellResult]) -> tuple[CellResult, ...]:
        """Return the measured ones among `cells`, best first."""
        measured = (cell for cell in cells if cell.value is not None)
        return tuple(
            sorted(measured, key=lambda cell_result: cell_result.value or 0.0, reverse=self.rank is not Rank.P99)
        )

    @property
    def baselines(self) -> frozenset[str]:
        """Ids of the cells that are baselines of other cells."""
        return frozenset(result.cell.against for result in self.cells if result.cell.against is not None)


def results(record: SweepRecord, runs: Sequence[RunRecord]) -> Results:
    """Return the results of the session's runs so far."""
    runs_by_id = {run.id: run for run in runs}
    rank = record.design.rank
    cells = tuple(_result(record, cell, runs_by_id) for cell in record.design.cells)
    verdicts = judge_cells(record, runs_by_id)
    judged = tuple(
        _with_caveats(record, replace(result, judgement=verdicts.get(result.cell.id)), runs_by_id) for result in cells
    )
    shown = [result.cell.id for result in judged if result.judgement is not None and result.judgement.differs]
    outcome = Results(
        rows=tuple(dict.fromkeys(cell.row for cell in record.design.cells)),
        columns=tuple(dict.fromkeys(cell.column for cell in record.design.cells)),
        cells=judged,
        rank=rank,
        threshold=threshold_of(record),
        fronts=tuple(front for same in _by_workload(judged) if len(front := pareto(same)) > 1),
        confirmations=confirmations(record, runs_by_id, shown),
        saturated=search(record, runs_by_id),
        load_curves=load_curves(record, runs_by_id),
        published=compare_published(record, judged, runs_by_id),
        published_rows=record.design.published_rows,
    )
    return replace(
        outcome, leaders=tuple(leaders(record, line, runs_by_id) for line in outcome.lines.values() if len(line) > 1)
    )


def _by_workload(cells: Sequence[CellResult]) -> Iterable[list[CellResult]]:
    """Return groups of cells whose jobs differ only in their load. Cells that differ in anything else are not
    comparable.
    """
    by_work: dict[tuple[tuple[str, str], ...], list[CellResult]] = {}
    for result in cells:
        work = tuple(sorted((key, text) for key, text in result.cell.job.items() if key not in LOAD))
        by_work.setdefault(work, []).append(result)
    return by_work.values()


def pareto(cells: Sequence[CellResult]) -> tuple[str, ...]:
    """Return the ids of the cells that no other cell beats in both IOPS and 99th percentile, by ascending latency."""
    measured = [cell for cell in cells if cell.iops is not None and cell.p99_ns is not None]
    front: list[CellResult] = []
    for cell_result in sorted(measured, key=lambda result: (result.p99_ns or 0.0, -(result.iops or 0.0))):
        if not front or (cell_result.iops or 0.0) > (front[-1].iops or 0.0):
            front.append(cell_result)
    return tuple(result.cell.id for result in front)


def winners(outcome: Results) -> tuple[tuple[SweepCell, SweepCell], ...]:
    """Return (winner, baseline) for each baseline that a cell in the same block seems to beat.

    Winners in other blocks are left out, because they cannot be interleaved with the baseline.
    """
    cells = {result.cell.id: result.cell for result in outcome.cells}
    pairs: dict[str, tuple[SweepCell, SweepCell]] = {}
    for column in outcome.columns:
        for cell_result in outcome.ranking(column):
            baseline = cell_result.cell.against
            if baseline is None or baseline in pairs or cells[baseline].block != cell_result.cell.block:
                continue
            judgement = cell_result.judgement
            if (
                judgement is not None
                and judgement.verdict is not Verdict.NO_DIFFERENCE
                and _seems_better(outcome, cell_result)
            ):
                pairs[baseline] = (cell_result.cell, cells[baseline])
    return tuple(pairs.values())


def _seems_better(outcome: Results, cell_result: CellResult) -> bool:
    interval = cell_result.judgement.interval if cell_result.judgement is not None else None
    if interval is None:
        return False
    least = LEAST_LEAD * outcome.threshold
    return interval.percent <= -least if outcome.rank is Rank.P99 else interval.percent >= least


def _result(record: SweepRecord, cell: SweepCell, runs: Runs) -> CellResult:
    scores = tuple(score for _, score in scored_runs(record, cell.id, runs, Purpose.SCREEN, Purpose.BASELINE))
    numbers = {step.number for step in record.steps if step.cell == cell.id}
    ends = [end for end in record.ended if end.step in numbers and end.reason]
    final_failures = {end.step for end in ends if end.result is StepResult.FAILED and end.is_final}
    failed = tuple(end.reason for end in ends if end.result is StepResult.FAILED and end.step in final_failures)
    repeated = (end for end in ends if end.again and end.step not in final_failures)
    notes = (
        *(end.reason for end in ends if end.result is StepResult.DONE),
        *(f"retried, because its first run failed: {end.reason}" for end in repeated),
    )
    values = [value for score in scores if (value := score.by(record.design.rank)) is not None]
    tail = latency(scores, LatencyFigure.P99)
    means = [score.mean_ns for score in scores if score.mean_ns]
    return CellResult(
        cell=cell,
        reads_by=_reads_by(runs_of_cell(record, runs, cell.id)),
        scores=scores,
        figure=mean_interval(values) if values else None,
        iops=sum(score.iops for score in scores) / len(scores) if scores else None,
        p99_ns=None if tail is None else tail.mean,
        mean_ns=sum(means) / len(means) if means else None,
        failures=tuple(dict.fromkeys(failed)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _reads_by(runs: Sequence[RunRecord]) -> tuple[tuple[str, float], ...]:
    """Return the mean share of the reads that each direct member served, over the runs that counted reads."""
    shares: dict[str, list[float]] = {}
    for run in runs:
        for member in run.figures.members:
            if member.depth == 0 and member.share_of_reads is not None:
                shares.setdefault(member.device, []).append(member.share_of_reads)
    return tuple((name, sum(values) / len(values)) for name, values in shares.items()) if len(shares) > 1 else ()


def _with_caveats(record: SweepRecord, cell_result: CellResult, runs: Runs) -> CellResult:
    """Return the cell with its verdict weakened or removed if caveats of its runs, or of its baseline's runs, require
    this.
    """
    cell_runs = runs_of_cell(record, runs, cell_result.cell.id)
    judgement = cell_result.judgement
    if judgement is not None and cell_result.cell.against is not None:
        judgement = apply_caveats(judgement, (*runs_of_cell(record, runs, cell_result.cell.against), *cell_runs))
    return replace(cell_result, judgement=judgement, weakened=weakening_caveats(cell_runs))
