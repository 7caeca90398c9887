"""The best cells of a sweep, the cells that cannot be distinguished from them, and the confirmed winners. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.analysis.caveats import apply_caveats
from app.core.analysis.pair_design import LEVEL
from app.core.analysis.reasons import PlannedCount, Reason
from app.core.analysis.verdict import BETTER, WORSE, Verdict, VerdictResult, correct_for_multiplicity
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Purpose, SweepCell
from app.features.sweep.engine.cells import CellResult, Runs, Turn, runs_of_cell, values_by_turn
from app.features.sweep.engine.verdicts import alpha_budget, judge_in_pairs, pairs_needed
from backends.values import dataclass

# -- the best cells, and those that cannot be distinguished from them -------------------------------------------------


def leaders(record: SweepRecord, ranked: Sequence[CellResult], runs: Runs) -> tuple[str, ...]:
    """Return the ids of the best cell and of all cells that are not shown to be worse, best first.

    `ranked` contains the measured cells of one workload, best first. A cell is shown to be worse by its verdict against
    a baseline, or by a direct comparison with the best cell. The direct comparison requires that both cells were
    measured in the same rounds. It is corrected for the number of all pairs of cells.
    """
    if not ranked:
        return ()
    best, *others = ranked
    share = 2 / len(ranked)
    direct = [_judge_in_turn(record, best, other, runs, LEVEL * share / max(1, len(others))) for other in others]
    # The best cell was picked by its results, so the correction counts all pairs of cells, not only these comparisons.
    corrected = correct_for_multiplicity(direct, share=share)
    tied = (
        cell_result.cell.id
        for cell_result, judgement in zip(others, corrected, strict=True)
        if not (_is_behind(cell_result, ranked) or (judgement is not None and judgement.verdict in WORSE))
    )
    return (best.cell.id, *tied)


def _judge_in_turn(
    record: SweepRecord, best: CellResult, cell_result: CellResult, runs: Runs, strictest: float
) -> VerdictResult | None:
    """Return the verdict on a cell against the best cell. `strictest` is the strictest level for its p value.

    None if the cells were not measured in the same rounds. Also None if there are so few rounds that the difference may
    come from a device that is sometimes fast and sometimes slow.
    """
    a, b = (values_by_turn(record, result.cell.id, runs, Purpose.SCREEN) for result in (best, cell_result))
    if best.cell.block != cell_result.cell.block or len(a.keys() & b.keys()) < pairs_needed(strictest):
        return None
    cell_runs = (run for result in (best, cell_result) for run in runs_of_cell(record, runs, result.cell.id))
    return apply_caveats(judge_in_pairs(record, a, b, strictest=strictest, sees_slow_runs=True), cell_runs)


def _is_behind(cell_result: CellResult, cells: Sequence[CellResult]) -> bool:
    """Return whether a cell is shown to be worse than its baseline or than a comparable cell."""
    if cell_result.judgement is not None and cell_result.judgement.verdict in WORSE:
        return True
    return any(
        (
            other.cell.against == cell_result.cell.id
            and other.judgement is not None
            and other.judgement.verdict in BETTER
        )
        or (
            cell_result.cell.against is not None
            and other.cell.against == cell_result.cell.against
            and _is_apart(other, cell_result, cells)
        )
        for other in cells
    )


def _is_apart(ahead: CellResult, cell_result: CellResult, ranked: Sequence[CellResult]) -> bool:
    """Return whether two cells have the same baseline, `ahead` ranks higher, and their intervals do not overlap.

    False for cells of the same rounds: they are compared directly, which is more powerful.
    """
    a, b = ahead.judgement, cell_result.judgement
    if a is None or b is None or not (a.decided and b.decided) or a.interval is None or b.interval is None:
        return False
    if (a.interleaved and b.interleaved) or ranked.index(ahead) >= ranked.index(cell_result):
        return False
    return a.interval.low > b.interval.high or b.interval.low > a.interval.high


# -- winners measured again -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedWinner:
    """A winner that was measured again together with its baseline, in fresh pairs of runs."""

    winner: SweepCell
    """The cell that seemed better than its baseline in the screening runs."""
    baseline: SweepCell
    """The baseline that the winner is compared with."""
    judgement: VerdictResult | None
    """Verdict from the fresh pairs alone; None with fewer than two pairs."""
    pairs: int
    """Number of complete pairs of winner and baseline."""


def confirmations(record: SweepRecord, runs: Runs, shown: Collection[str] = ()) -> tuple[ConfirmedWinner, ...]:
    """Return the winners with the verdicts of their fresh pairs.

    `shown` contains the ids of cells that the matrix has already shown to differ from their baselines. Confirming them
    adds no claim, so their verdicts are not corrected. The verdicts on the other winners are corrected together (Holm).
    """
    winners = tuple(_winners(record, runs))
    unshown = [winner for winner in winners if winner.winner.id not in shown]
    level = alpha_budget(record.design).confirmation
    judged = [
        _judge_fresh_pairs(record, winner, runs, level=level, strictest=level / len(unshown)) for winner in unshown
    ]
    corrected = dict(zip((winner.winner.id for winner in unshown), correct_for_multiplicity(judged), strict=True))
    return tuple(
        replace(
            winner,
            judgement=corrected[winner.winner.id]
            if winner.winner.id in corrected
            else _judge_fresh_pairs(record, winner, runs),
        )
        for winner in winners
    )


def _winners(record: SweepRecord, runs: Runs) -> Iterator[ConfirmedWinner]:
    """Yield the winners that were measured again, still without a verdict."""
    cells = {cell.id: cell for cell in record.cells}
    blocks: dict[int, list[str]] = {}
    for step in record.steps:
        if step.purpose is Purpose.CONFIRM:
            members = blocks.setdefault(step.block, [])
            if step.cell not in members:
                members.append(step.cell)
    for members in blocks.values():
        winner = next((cells[member] for member in members if cells[member].against in members), None)
        if winner is not None and winner.against is not None:
            a, b = _fresh_runs(record, winner, runs)
            yield ConfirmedWinner(
                winner=winner, baseline=cells[winner.against], judgement=None, pairs=len(a.keys() & b.keys())
            )


def _fresh_runs(record: SweepRecord, winner: SweepCell, runs: Runs) -> Iterator[Mapping[Turn, float]]:
    """Yield the results of the confirmation runs by turn: first those of the baseline, then those of the winner."""
    return (values_by_turn(record, cell, runs, Purpose.CONFIRM) for cell in (winner.against or "", winner.id))


def _judge_fresh_pairs(
    record: SweepRecord,
    winner: ConfirmedWinner,
    runs_by_id: Runs,
    *,
    level: float = LEVEL,
    strictest: float | None = None,
) -> VerdictResult | None:
    a, b = _fresh_runs(record, winner.winner, runs_by_id)
    if len(a.keys() & b.keys()) < 2:
        return None
    judgement = judge_in_pairs(record, a, b, level=level, strictest=strictest)
    if any(
        step.purpose is Purpose.CONFIRM and step.cell in (winner.winner.id, winner.baseline.id) for step in record.todo
    ):
        judgement = replace(
            judgement,
            verdict=Verdict.NOT_DECIDED,
            reason=Reason.BEFORE_PAIRS,
            wanted=PlannedCount(number=record.design.pairs),
            further_pairs=None,
        )
    runs = (runs_of_cell(record, runs_by_id, cell.id, confirming=True) for cell in (winner.baseline, winner.winner))
    return apply_caveats(judgement, (run for records in runs for run in records))
