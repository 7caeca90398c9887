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
    """Ids of the best of some cells and of those that are not shown to be behind any of them, best first.

    `ranked`: measured cells of one workload, best first. Behind is what its verdict against a baseline says, or what
    was measured in turn with the best and is worse when every pair of the cells is counted.
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
        if not (_behind(one, ranked) or (judgement is not None and judgement.verdict in WORSE))
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


def _behind(one: CellResult, cells: Sequence[CellResult]) -> bool:
    """Whether it is shown to be worse than its baseline, than what has it for one, or than what shares it."""
    if one.judgement is not None and one.judgement.verdict in WORSE:
        return True
    return any(
        (other.cell.against == one.cell.id and other.judgement is not None and other.judgement.verdict in BETTER)
        or (one.cell.against is not None and other.cell.against == one.cell.against and _apart(other, one, cells))
        for other in cells
    )


def _apart(ahead: CellResult, one: CellResult, ranked: Sequence[CellResult]) -> bool:
    """Whether what is ranked before it was judged as it was, by an interval that has nothing in common with its own.

    Of cells that were measured in the same rounds those are compared, which says more.
    """
    a, b = ahead.judgement, one.judgement
    if a is None or b is None or not (a.decided and b.decided) or a.interval is None or b.interval is None:
        return False
    if (a.interleaved and b.interleaved) or ranked.index(ahead) >= ranked.index(one):
        return False
    return a.interval.low > b.interval.high or b.interval.low > a.interval.high
