"""Verdicts of a sweep on every cell against its baseline. No I/O.

Four or more set-ups of the same rounds are judged by a permutation test over all random orders that could have been
drawn. Two or three set-ups have too few orders, so their rounds are judged as pairs. A cell whose baseline is in
another block is compared with the baseline's runs before and after the cell. One limit for the rate of false verdicts
covers all verdicts and confirmations together. A set-up whose runs scatter more than those of the others gets no
verdict. If that set-up is a baseline, the cells compared with it get no verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil, log
from typing import TypeVar

from app.core.analysis.pair_design import FEWEST_PAIRS, LEVEL
from app.core.analysis.permutation_test import (
    DRAWS,
    RoundResults,
    can_show,
    permutation_intervals,
    rounds_needed,
    row_scatter,
)
from app.core.analysis.reasons import PlannedCount, Reason
from app.core.analysis.scatter import FAR_WIDER, WIDER
from app.core.analysis.verdict import (
    BETWEEN_LEVEL,
    Verdict,
    VerdictResult,
    correct_for_multiplicity,
    judge,
    judge_between,
    judge_interval,
)
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, Purpose, Rank, SweepCell
from app.features.sweep.engine.cells import Runs, threshold_of, values_by_turn
from backends.values import dataclass

SCREENING = 0.035
"""Rate of false verdicts for all cells of the matrix together if the plan also measures new pairs to confirm winners.

It is just high enough that three rounds of two set-ups, which are judged as pairs, can show a difference.
"""

PERMUTED_FROM = 4
"""Minimum number of set-ups in the same rounds for the permutation test; fewer are judged as pairs.

With fewer set-ups, even four rounds have too few possible orders for that test to show a difference.
"""

_Turn = TypeVar("_Turn")

Group = tuple[SweepCell, ...]
"""A baseline, then the cells of its block that are compared with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaBudget:
    """How the permitted rate of false verdicts in a sweep is divided. The plan fixes this before the first run."""

    each: float
    """Rate of false verdicts for each cell of the matrix; 0 if the matrix cannot show a difference."""
    confirmation: float
    """Rate of false verdicts for all confirmations together. Winners that the matrix has already shown to differ from
    their baselines do not count.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderpoweredSetups:
    """Set-ups with too few rounds to show any difference."""

    setups: int
    """Number of set-ups in the same rounds."""
    rounds: int
    """Planned number of rounds."""
    enough: int
    """Minimum number of rounds that could show a difference."""


def groups(cells: Sequence[SweepCell]) -> tuple[Group, ...]:
    """Return the groups of each block: every baseline, followed by the cells of its block that are compared with it."""
    by_id = {cell.id: cell for cell in cells}
    by_baseline: dict[tuple[str, bool], Group] = {}
    for cell in cells:
        baseline = None if cell.against is None else by_id[cell.against]
        if baseline is not None and baseline.block == cell.block:
            # The orders of arrays and of the settings on an array are drawn separately, so they need separate groups.
            kind = (baseline.id, baseline.array == cell.array)
            by_baseline[kind] = (*by_baseline.get(kind, (baseline,)), cell)
    return tuple(by_baseline.values())


def alpha_budget(design: Design) -> AlphaBudget:
    """Return how the permitted rate of false verdicts is divided between the matrix and the confirmation.

    Without a confirmation, the matrix gets the whole rate. If the matrix cannot show a difference, the confirmation
    gets the whole rate.
    """
    block_groups = groups(design.cells)
    count = sum(cell.against is not None for cell in design.cells)
    if not design.pairs or not block_groups:
        return AlphaBudget(each=LEVEL / max(1, count), confirmation=0.0)
    each = SCREENING / count
    others = count - sum(len(group) - 1 for group in block_groups)
    if not others and all(_least_rounds(len(group), block_groups, each) > design.repeats for group in block_groups):
        return AlphaBudget(each=0.0, confirmation=LEVEL)
    return AlphaBudget(each=each, confirmation=LEVEL - SCREENING)


def underpowered_setups(design: Design) -> tuple[UnderpoweredSetups, ...]:
    """Return the groups of set-ups that the matrix of this plan cannot distinguish; the group that needs most rounds
    comes first.
    """
    block_groups = groups(design.cells)
    count = sum(cell.against is not None for cell in design.cells)
    cell_level = (SCREENING if design.pairs else LEVEL) / max(1, count)
    pairs = {(len(group), _least_rounds(len(group), block_groups, cell_level)) for group in block_groups}
    return tuple(
        UnderpoweredSetups(setups=setups, rounds=design.repeats, enough=enough)
        for setups, enough in sorted(pairs, key=lambda pair: -pair[1])
        if enough > design.repeats
    )


def _least_rounds(setups: int, block_groups: Sequence[Group], cell_level: float) -> int:
    """Return the smallest number of rounds that can show a difference between `setups` set-ups."""
    if setups >= PERMUTED_FROM:
        return rounds_needed(setups, cell_level * _contrasts(block_groups))
    return pairs_needed(cell_level)


def pairs_needed(level: float) -> int:
    """Return the smallest number of pairs that can show a difference at a significance level, even on a device with two
    speeds.

    A device that is sometimes fast and sometimes slow gives the same direction in all pairs with probability 2 /
    4**pairs.
    """
    return max(FEWEST_PAIRS, ceil(log(2 / level) / log(4)))


def _contrasts(block_groups: Sequence[Group]) -> int:
    """Return the number of comparisons with a baseline that the permutation test judges."""
    return sum(len(group) - 1 for group in block_groups if len(group) >= PERMUTED_FROM)


def judge_cells(record: SweepRecord, runs: Runs) -> dict[str, VerdictResult]:
    """Return the verdicts by cell id. Baselines, and cells that are not measured yet, are left out."""
    values = {cell.id: _by_round(record, cell.id, runs, Purpose.SCREEN) for cell in record.design.cells}
    cell_level = alpha_budget(record.design).each
    block_groups = groups(record.design.cells)
    verdicts = _judge_by_orders(record, block_groups, values, cell_level) | _judge_as_pairs(
        record, block_groups, values, cell_level
    )
    for group in block_groups:
        for cell in group[1:]:
            interim = None if cell.id in verdicts else _interim_verdict(record, group, cell, values)
            if interim is not None:
                verdicts[cell.id] = interim
    return verdicts | _judge_between_blocks(record, runs, values, cell_level)


Values = Mapping[str, Mapping[int, float]]
"""Results of each cell by round."""


def _by_round(record: SweepRecord, cell: str, runs: Runs, purpose: Purpose) -> dict[int, float]:
    return {turn: value for (_, turn), value in values_by_turn(record, cell, runs, purpose).items()}


def _judge_by_orders(
    record: SweepRecord, block_groups: Sequence[Group], values: Values, cell_level: float
) -> dict[str, VerdictResult]:
    """Return the verdicts on groups of four and more set-ups whose rounds are complete and sufficient."""
    level = cell_level * _contrasts(block_groups)
    complete = [_complete_cells(record, group, values) for group in block_groups if len(group) >= PERMUTED_FROM]
    judgeable = [group for group in complete if _can_show(record, group, level)]
    if not judgeable:
        return {}
    scatter = row_scatter([_round_results(record, group, values) for group in judgeable])
    wider = {row for row, scattered in scatter.items() if scattered.p < WIDER}
    far_wider = {row for row, scattered in scatter.items() if scattered.p < FAR_WIDER}
    judged_as = [_without_setups(record, group, far_wider, level) for group in judgeable]
    intervals = permutation_intervals(
        tuple(_round_results(record, group, values) for group in judged_as),
        seed=f"{record.design.seed} orders",
        level=level,
        draws=max(DRAWS, int(3 / level)),
    )
    verdicts = {
        cell.id: judge_interval(interval, higher_is_better=_higher_is_better(record), threshold=threshold_of(record))
        for group, found_intervals in zip(judged_as, intervals, strict=True)
        for cell, interval in zip(group[1:], found_intervals, strict=True)
    }
    for group in judgeable:
        for cell in group[1:]:
            if reason := _scatter_reason(group[0], cell, wider):
                judgement = verdicts.get(cell.id) or judge_in_pairs(record, values[group[0].id], values[cell.id])
                verdicts[cell.id] = replace(
                    judgement, verdict=Verdict.NOT_DECIDED, reason=reason, further_pairs=None, interleaved=True
                )
    return verdicts


def _can_show(record: SweepRecord, group: Group, level: float) -> bool:
    """Return whether the planned rounds of a group can show a difference at a significance level."""
    return bool(level) and len(group) >= PERMUTED_FROM and can_show(len(group), record.design.repeats, level)


def _without_setups(record: SweepRecord, group: Group, rows: Collection[str], level: float) -> Group:
    """Return the group without the set-ups named in `rows`, but always with its baseline. If too few set-ups would be
    left for a verdict, return the group unchanged.
    """
    fewer = (group[0], *(cell for cell in group[1:] if cell.row not in rows))
    return fewer if _can_show(record, fewer, level) else group


def _scatter_reason(baseline: SweepCell, cell: SweepCell, wider: Collection[str]) -> Reason | None:
    """Return why scatter prevents a verdict on a cell; None if it does not. `wider` names the set-ups whose runs
    scatter more than those of the others.
    """
    if baseline.row in wider:
        return Reason.BASELINE_SCATTER
    return Reason.WIDER_SCATTER if cell.row in wider else None


def _judge_as_pairs(
    record: SweepRecord, block_groups: Sequence[Group], values: Values, cell_level: float
) -> dict[str, VerdictResult]:
    """Return the verdicts on groups of two or three set-ups, whose rounds are pairs."""
    small = [group for group in block_groups if len(group) < PERMUTED_FROM]
    cells = {cell.id: group[0].id for group in small for cell in group[1:]}
    if not cell_level or not small or record.design.repeats < _least_rounds(2, block_groups, cell_level):
        return {}
    level = cell_level * len(cells)
    complete = {member.id for group in small for member in _complete_cells(record, group, values)[1:]}
    return _correct_verdicts(
        {
            cell: judge_in_pairs(record, values[baseline], values[cell], level=level, strictest=cell_level)
            for cell, baseline in cells.items()
            if cell in complete
        }
    )


def _judge_between_blocks(
    record: SweepRecord, runs: Runs, values: Values, cell_level: float
) -> dict[str, VerdictResult]:
    """Return the verdicts on cells whose baseline is in another block, and was measured both before and after the
    cells.
    """
    cells = {cell.id: cell for cell in record.design.cells}
    others = [cell for cell in cells.values() if cell.against is not None and cells[cell.against].block != cell.block]
    verdicts: dict[str, VerdictResult] = {}
    for cell in others:
        before, b = values[cell.against or ""], values[cell.id]
        again = _by_round(record, cell.against or "", runs, Purpose.BASELINE)
        if before and b:
            verdicts[cell.id] = judge_between(
                [*before.values()],
                [*b.values()],
                [*again.values()],
                higher_is_better=_higher_is_better(record),
                threshold=threshold_of(record),
                level=min(BETWEEN_LEVEL, cell_level * len(others)),
            )
            if cells[cell.against or ""].array != cell.array:
                verdicts[cell.id] = replace(
                    verdicts[cell.id], verdict=Verdict.NOT_DECIDED, reason=Reason.MADE_ONCE, further_pairs=None
                )
    return _correct_verdicts(verdicts)


def _correct_verdicts(verdicts: Mapping[str, VerdictResult]) -> dict[str, VerdictResult]:
    """Return the verdicts by cell id, corrected for multiplicity."""
    corrected = zip(verdicts, correct_for_multiplicity([*verdicts.values()]), strict=True)
    return {cell: judgement for cell, judgement in corrected if judgement is not None}


def judge_in_pairs(
    record: SweepRecord,
    a: Mapping[_Turn, float],
    b: Mapping[_Turn, float],
    *,
    level: float = LEVEL,
    strictest: float | None = None,
    sees_slow_runs: bool = False,
) -> VerdictResult:
    """Return the verdict of `judge` on a cell (`b`) against its baseline (`a`), from the turns in which both were
    measured. The other parameters are those of `judge`.
    """
    turns = [turn for turn in a if turn in b]
    return judge(
        [a[turn] for turn in turns],
        [b[turn] for turn in turns],
        interleaved=True,
        higher_is_better=_higher_is_better(record),
        threshold=threshold_of(record),
        level=level,
        strictest=strictest,
        sees_slow_runs=sees_slow_runs,
    )


def _interim_verdict(record: SweepRecord, group: Group, cell: SweepCell, values: Values) -> VerdictResult | None:
    """Return the verdict from the rounds so far, which is NO_DIFFERENCE, or NOT_DECIDED with the reason; None before
    the first round.
    """
    a, b = values[group[0].id], values[cell.id]
    if not set(a) & set(b):
        return None
    judgement = judge_in_pairs(record, a, b)
    wanted = record.design.repeats
    blind = {setups.setups: setups.enough for setups in underpowered_setups(record.design)}
    if len(_complete_cells(record, (group[0], cell), values)) < 2:
        reason = _missing_reason(record, group[0], cell, values)
    elif judgement.verdict is Verdict.NO_DIFFERENCE and len(a) >= FEWEST_PAIRS:
        return judgement
    else:
        reason = Reason.FEW_ROUNDS
    return replace(
        judgement,
        verdict=Verdict.NOT_DECIDED,
        reason=reason,
        wanted=PlannedCount(number=wanted, setups=len(group), enough=blind.get(len(group), wanted)),
        further_pairs=None,
    )


def _missing_reason(record: SweepRecord, baseline: SweepCell, cell: SweepCell, values: Values) -> Reason:
    """Return why a cell was not measured in all rounds: its steps are not done yet, or a step of the cell or of its
    baseline failed.
    """
    pending = {step.cell for step in record.todo if step.purpose is Purpose.SCREEN}
    for lacking, reason in ((baseline, Reason.BASELINE_ROUND_FAILED), (cell, Reason.ROUND_FAILED)):
        if lacking.id not in pending and len(values[lacking.id]) < record.design.repeats:
            return reason
    return Reason.BEFORE_ROUNDS


def _complete_cells(record: SweepRecord, group: Group, values: Values) -> Group:
    """Return the cells of a group that were measured in every round; () if the baseline or all other cells were not."""
    wanted = range(1, record.design.repeats + 1)
    complete = tuple(cell for cell in group if all(turn in values[cell.id] for turn in wanted))
    return complete if len(complete) > 1 and complete[0] == group[0] else ()


def _round_results(record: SweepRecord, group: Group, values: Values) -> RoundResults:
    labels = {cell.id: label for label, cell in enumerate(group)}
    order: dict[int, list[str]] = {}
    for step in record.design.steps:
        if step.purpose is Purpose.SCREEN and step.cell in labels:
            order.setdefault(step.round, []).append(step.cell)
    return RoundResults(
        values=tuple(tuple(log(values[cell][turn]) for cell in cells) for turn, cells in order.items()),
        labels=tuple(tuple(labels[cell] for cell in cells) for cells in order.values()),
        names=tuple(cell.row for cell in group),
    )


def _higher_is_better(record: SweepRecord) -> bool:
    return record.design.rank is not Rank.P99
