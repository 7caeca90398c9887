"""What is best of a sweep, together with whatever cannot be told from it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.judge.caveats import weighed
from app.engine.judge.family import corrected
from app.engine.judge.verdict import BETTER, WORSE, Judgement, judge
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Purpose, Rank
from app.engine.sweep.cell_result import CellResult
from app.engine.sweep.cell_runs import Runs, runs_of_cell, threshold_of, values_by_turn


def leaders(record: SweepRecord, ranked: Sequence[CellResult], known: Runs) -> tuple[str, ...]:
    """Ids of the best of some cells and of those that are not shown to be worse, best first.

    `ranked`: measured cells of one workload, best first. Worse is what its verdict against the common baseline says, or
    what was measured in turn with the best and is behind it when every pair of the cells is counted.
    """
    if not ranked:
        return ()
    best, *others = ranked
    direct = [_in_turn(record, best, one, known) for one in others]
    # The best was picked by its figures, so it is not these few comparisons that chance had, but those of all pairs.
    held = corrected(direct, share=2 / len(ranked))
    tied = (
        one.cell.id
        for one, judgement in zip(others, held, strict=True)
        if not (_by_baseline(best, one) or (judgement is not None and judgement.verdict in WORSE))
    )
    return (best.cell.id, *tied)


def _in_turn(record: SweepRecord, best: CellResult, one: CellResult, known: Runs) -> Judgement | None:
    """The verdict on a cell against the best; None where they were not measured in the same rounds."""
    a, b = (values_by_turn(record, each.cell.id, known, Purpose.SCREEN) for each in (best, one))
    both = [turn for turn in a if turn in b]
    if best.cell.block != one.cell.block or len(both) < 2:
        return None
    higher = record.design.rank is not Rank.P99
    found = judge(
        [a[turn] for turn in both],
        [b[turn] for turn in both],
        interleaved=True,
        higher_is_better=higher,
        threshold=threshold_of(record),
    )
    return weighed(found, (run for each in (best, one) for run in runs_of_cell(record, known, each.cell.id)))


def _by_baseline(best: CellResult, one: CellResult) -> bool:
    """Whether what both showed against the same baseline puts the best in front."""
    if best.cell.against is not None and best.cell.against == one.cell.against and _apart(best, one):
        return True
    for root in {best.cell.id, best.cell.against} & {one.cell.id, one.cell.against}:
        first, second = _stands(best, root), _stands(one, root)
        if first is not None and second is not None and first > second:
            return True
    return False


def _stands(one: CellResult, root: str | None) -> int | None:
    """1 for better than the baseline, 0 for the baseline itself, -1 for worse; None where that is not shown."""
    if one.cell.id == root:
        return 0
    verdict = None if one.judgement is None else one.judgement.verdict
    return 1 if verdict in BETTER else -1 if verdict in WORSE else None


def _apart(best: CellResult, one: CellResult) -> bool:
    """Whether both were judged and their intervals have nothing in common, where there are no rounds to compare by."""
    a, b = best.judgement, one.judgement
    if a is None or b is None or not (a.decided and b.decided) or a.interval is None or b.interval is None:
        return False
    if a.interleaved and b.interleaved:
        return False
    return a.interval.low > b.interval.high or b.interval.low > a.interval.high
