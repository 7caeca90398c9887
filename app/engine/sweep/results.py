"""What a sweep has found so far: the matrix, verdicts against the baseline, ranking, Pareto front, saturation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.engine.judge.caveats import weakened, weighed
from app.engine.judge.stats import THRESHOLD_PERCENT, Spread, geometric_mean, holm, spread
from app.engine.judge.verdict import NOT_INTERLEAVED_PERCENT, Judgement, Verdict, judge
from app.engine.session.state import RunRecord
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Cell, Purpose, Rank, StepResult
from app.engine.sweep.scores import Score, score

SIGNIFICANT = 0.05
"""Largest p value, adjusted for the number of winners, of a confirmed one."""

WORTH_PERCENT = THRESHOLD_PERCENT / 2
"""A lead in the screening that is smaller is not worth a confirmation: no verdict could come of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What is known of one cell."""

    cell: Cell
    """Which."""
    scores: tuple[Score, ...] = ()
    """Its completed runs, in the order of their steps."""
    figure: Spread | None = None
    """What it is ranked by, over its runs: mean and interval; None before the first."""
    iops: float | None = None
    """Mean I/Os per second."""
    p99_ns: float | None = None
    """Geometric mean of the runs' 99th percentiles; None with too few I/Os."""
    mean_ns: float | None = None
    """Mean of the runs' mean completion latencies."""
    judgement: Judgement | None = None
    """Against its baseline; None for a baseline and where one of both has no runs."""
    failures: tuple[str, ...] = ()
    """Reasons of steps that failed."""
    notes: tuple[str, ...] = ()
    """What was in force otherwise than set, why there is no verdict, what weakens one."""

    @property
    def value(self) -> float | None:
        """What it is ranked by."""
        return None if self.figure is None else self.figure.mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A winner measured against its baseline in fresh pairs."""

    winner: Cell
    """What led the screening."""
    baseline: Cell
    """What it was compared with."""
    judgement: Judgement | None
    """From the fresh pairs alone; None until there are two."""
    pairs: int
    """Complete pairs so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A queue depth of a saturation search."""

    depth: int
    """I/Os in flight of each job."""
    iops: float
    """Reached."""
    p99_ns: int | None
    """99th percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturated:
    """How far one cell's load can be raised."""

    cell: Cell
    """Which."""
    points: tuple[Point, ...]
    """Depths tried, ascending."""
    best: Point | None
    """The one with most I/Os whose latency keeps the limit; None if none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything a table, a screen or a report shows of a sweep."""

    rows: tuple[str, ...]
    """Set-ups, in the order of the plan."""
    columns: tuple[str, ...]
    """Workloads, in the order of the plan."""
    cells: tuple[CellResult, ...]
    """Those of the matrix, in the order of the plan."""
    rank: Rank
    """What they are ranked by."""
    front: tuple[str, ...] = ()
    """Cells that no other beats in both IOPS and 99th percentile, by id, ascending latency."""
    confirmations: tuple[Confirmation, ...] = ()
    """Winners that were measured again."""
    saturated: tuple[Saturated, ...] = ()
    """Searches for the highest load."""

    def at(self, row: str, column: str) -> CellResult | None:
        """The cell of a row and a column."""
        return next((one for one in self.cells if (one.cell.row, one.cell.column) == (row, column)), None)

    def ranking(self, column: str) -> tuple[CellResult, ...]:
        """The measured cells of a column, best first."""
        found = [one for one in self.cells if one.cell.column == column and one.value is not None]
        return tuple(sorted(found, key=lambda one: one.value or 0.0, reverse=self.rank is not Rank.P99))


def results(record: SweepRecord, runs: Sequence[RunRecord]) -> Results:
    """What the runs of the session say, as far as the sweep has come."""
    known = {run.id: run for run in runs}
    rank = record.design.rank
    cells = tuple(_result(record, cell, known) for cell in record.design.cells)
    by_id = {one.cell.id: one for one in cells}
    judged = tuple(_weighed(record, replace(one, judgement=_judged(record, one, by_id, known)), known) for one in cells)
    return Results(
        rows=tuple(dict.fromkeys(cell.row for cell in record.design.cells)),
        columns=tuple(dict.fromkeys(cell.column for cell in record.design.cells)),
        cells=judged,
        rank=rank,
        front=pareto(judged),
        confirmations=_confirmations(record, known),
        saturated=_saturated(record, known),
    )


def pareto(cells: Sequence[CellResult]) -> tuple[str, ...]:
    """Ids of the cells that no other beats in IOPS without a higher 99th percentile; ascending latency."""
    measured = [one for one in cells if one.iops is not None and one.p99_ns is not None]
    front: list[CellResult] = []
    for one in sorted(measured, key=lambda each: (each.p99_ns or 0.0, -(each.iops or 0.0))):
        if not front or (one.iops or 0.0) > (front[-1].iops or 0.0):
            front.append(one)
    return tuple(one.cell.id for one in front)


def winners(found: Results) -> tuple[tuple[Cell, Cell], ...]:
    """(winner, baseline) of each column and baseline that something in its block seems to beat.

    Of blocks other than the baseline's there are none: they cannot be measured in turn.
    """
    known = {one.cell.id: one.cell for one in found.cells}
    pairs: dict[str, tuple[Cell, Cell]] = {}
    for column in found.columns:
        for one in found.ranking(column):
            baseline = one.cell.against
            if baseline is None or baseline in pairs or known[baseline].block != one.cell.block:
                continue
            judgement = one.judgement
            if judgement is not None and judgement.verdict is not Verdict.NO_DIFFERENCE and _seems_better(found, one):
                pairs[baseline] = (one.cell, known[baseline])
    return tuple(pairs.values())


def _seems_better(found: Results, one: CellResult) -> bool:
    interval = one.judgement.interval if one.judgement is not None else None
    if interval is None:
        return False
    return interval.percent <= -WORTH_PERCENT if found.rank is Rank.P99 else interval.percent >= WORTH_PERCENT


def _result(record: SweepRecord, cell: Cell, known: dict[str, RunRecord]) -> CellResult:
    scores = tuple(one for _, one in _scored(record, cell.id, known, Purpose.SCREEN, Purpose.BASELINE))
    numbers = {step.number for step in record.steps if step.cell == cell.id}
    ends = [end for end in record.ended if end.step in numbers and end.reason]
    failed = tuple(end.reason for end in ends if end.result is StepResult.FAILED)
    notes = tuple(end.reason for end in ends if end.result is StepResult.DONE)
    values = [value for one in scores if (value := one.by(record.design.rank)) is not None]
    tails = [one.p99_ns for one in scores if one.p99_ns]
    means = [one.mean_ns for one in scores if one.mean_ns]
    return CellResult(
        cell=cell,
        scores=scores,
        figure=spread(values) if values else None,
        iops=sum(one.iops for one in scores) / len(scores) if scores else None,
        p99_ns=geometric_mean(tails) if scores and len(tails) == len(scores) else None,
        mean_ns=sum(means) / len(means) if means else None,
        failures=tuple(dict.fromkeys(failed)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _scored(
    record: SweepRecord, cell: str, known: dict[str, RunRecord], *purposes: Purpose
) -> list[tuple[tuple[int, int], Score]]:
    """Scores of a cell's runs by (block of the order, round)."""
    found = []
    for step, run in record.runs_of(cell, *purposes):
        reached = score(known.get(run))
        if reached is not None:
            found.append(((step.block, step.round), reached))
    return found


def _values(
    record: SweepRecord, cell: str, known: dict[str, RunRecord], *purposes: Purpose
) -> dict[tuple[int, int], float]:
    rank = record.design.rank
    scored = _scored(record, cell, known, *purposes)
    return {place: value for place, one in scored if (value := one.by(rank)) is not None and value > 0}


def _judged(
    record: SweepRecord, one: CellResult, cells: dict[str, CellResult], known: dict[str, RunRecord]
) -> Judgement | None:
    """In turn where both are of one block: rounds make pairs. Else as groups, the repeated baseline included."""
    baseline = None if one.cell.against is None else cells.get(one.cell.against)
    if baseline is None:
        return None
    higher = record.design.rank is not Rank.P99
    if baseline.cell.block == one.cell.block:
        a = _values(record, baseline.cell.id, known, Purpose.SCREEN)
        b = _values(record, one.cell.id, known, Purpose.SCREEN)
        both = [place for place in a if place in b]
        if not both:
            return None
        return judge(
            [a[place] for place in both], [b[place] for place in both], interleaved=True, higher_is_better=higher
        )
    before = _values(record, baseline.cell.id, known, Purpose.SCREEN, Purpose.BASELINE)
    after = _values(record, one.cell.id, known, Purpose.SCREEN)
    if not before or not after:
        return None
    return _coarse(judge([*before.values()], [*after.values()], interleaved=False, higher_is_better=higher))


def _weighed(record: SweepRecord, one: CellResult, known: dict[str, RunRecord]) -> CellResult:
    """With what its runs and those of its baseline allow to say."""
    own = _runs(record, known, one.cell.id)
    caveats = weakened(own)
    notes = (*one.notes, f"caveats: {caveats}") if caveats else one.notes
    if one.judgement is None or one.cell.against is None:
        return replace(one, notes=notes)
    judgement = weighed(one.judgement, (*_runs(record, known, one.cell.against), *own))
    if judgement.verdict is Verdict.REFUSED:
        notes = (f"verdict refused: {judgement.reason}", *notes)
    return replace(one, judgement=judgement, notes=notes)


def _runs(
    record: SweepRecord, known: dict[str, RunRecord], cell: str, *, confirming: bool = False
) -> tuple[RunRecord, ...]:
    """The completed runs of a cell that its judgement rests on."""
    purposes = (Purpose.CONFIRM,) if confirming else (Purpose.SCREEN, Purpose.BASELINE)
    return tuple(known[run] for _, run in record.runs_of(cell, *purposes) if run in known)


def _coarse(judgement: Judgement) -> Judgement:
    """Runs that were not measured in turn can show that nothing large is there, though nothing finer."""
    interval = judgement.interval
    if judgement.decided or interval is None or not interval.within(NOT_INTERLEAVED_PERCENT):
        return judgement
    reason = f"the interval lies inside +-{NOT_INTERLEAVED_PERCENT:g} %, all that runs not made in turn can tell"
    return replace(judgement, verdict=Verdict.NO_DIFFERENCE, further_pairs=None, reason=reason)


def _confirmations(record: SweepRecord, known: dict[str, RunRecord]) -> tuple[Confirmation, ...]:
    """Judged by their fresh pairs, p values adjusted for their number after Holm."""
    cells = {cell.id: cell for cell in record.cells}
    blocks: dict[int, list[str]] = {}
    for step in record.steps:
        if step.purpose is Purpose.CONFIRM:
            members = blocks.setdefault(step.block, [])
            if step.cell not in members:
                members.append(step.cell)
    found: list[Confirmation] = []
    for members in blocks.values():
        winner = next((cells[one] for one in members if cells[one].against in members), None)
        if winner is None or winner.against is None:
            continue
        a = _values(record, winner.against, known, Purpose.CONFIRM)
        b = _values(record, winner.id, known, Purpose.CONFIRM)
        both = [place for place in a if place in b]
        higher = record.design.rank is not Rank.P99
        judgement = None
        if len(both) > 1:
            judgement = judge(
                [a[place] for place in both], [b[place] for place in both], interleaved=True, higher_is_better=higher
            )
            fresh = (_runs(record, known, cell, confirming=True) for cell in (winner.against, winner.id))
            judgement = weighed(judgement, (run for runs in fresh for run in runs))
        found.append(Confirmation(winner=winner, baseline=cells[winner.against], judgement=judgement, pairs=len(both)))
    return _adjusted(found)


def _adjusted(found: list[Confirmation]) -> tuple[Confirmation, ...]:
    judged = [one.judgement for one in found if one.judgement is not None and one.judgement.interval is not None]
    if len(judged) < 2:
        return tuple(found)
    adjusted = dict(zip(map(id, judged), holm([each.interval.p for each in judged if each.interval]), strict=True))
    made = []
    for one in found:
        judgement = one.judgement
        lucky = judgement is not None and judgement.decided and judgement.verdict is not Verdict.NO_DIFFERENCE
        if judgement is not None and lucky and adjusted.get(id(judgement), 0.0) > SIGNIFICANT:
            reason = f"not shown any more once all {len(judged)} confirmations are counted (Holm)"
            judgement = replace(judgement, verdict=Verdict.NOT_DECIDED, reason=reason)
        made.append(replace(one, judgement=judgement))
    return tuple(made)


def _saturated(record: SweepRecord, known: dict[str, RunRecord]) -> tuple[Saturated, ...]:
    limit = record.design.saturation
    if limit is None:
        return ()
    found = []
    for base in record.design.cells:
        points = saturation_points(record, base, known)
        if points:
            within = [one for one in points if one.p99_ns is not None and one.p99_ns <= limit.p99_ns]
            best = max(within, key=lambda one: one.iops, default=None)
            found.append(Saturated(cell=base, points=points, best=best))
    return tuple(found)


def saturation_points(record: SweepRecord, base: Cell, known: dict[str, RunRecord]) -> tuple[Point, ...]:
    """Depths that a search from this cell has tried, ascending."""
    points: dict[int, Point] = {}
    for cell in record.cells:
        if cell.id.startswith(f"{base.id}@"):
            for _, one in _scored(record, cell.id, known, Purpose.SATURATE):
                depth = int(cell.job["iodepth"])
                points[depth] = Point(depth=depth, iops=one.iops, p99_ns=one.p99_ns)
    return tuple(points[depth] for depth in sorted(points))
