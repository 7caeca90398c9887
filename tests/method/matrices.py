"""Whole sweeps, drawn and then judged as the program judges them: the matrix, and what it measures again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log
from random import Random

from app.engine.judge.pairs import RULE
from app.engine.judge.verdict import Judgement
from app.engine.session.state import RunRecord
from app.engine.session.sweep_record import SweepRecord, SweepStarted, SweepStepEnded, begun, fold_sweep
from app.engine.session.sweep_steps import Design, Rank, Step, StepResult, SweepCell
from app.engine.sweep.adaptive_steps import further
from app.engine.sweep.order import arrange
from app.engine.sweep.results import Results, results
from tests.engine.sweep.making import run
from tests.method.disturbances import Level, moments
from tests.method.simulated import Noise

PLANS = 100
"""Orders that the sweeps of one row are drawn from."""

EQUAL: Mapping[tuple[int, int], float] = {}
"""No set-up differs from the first under any workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a sweep measures."""

    setups: int = 12
    workloads: int = 2
    rounds: int = 3
    pairs: int = 6

    def __str__(self) -> str:
        return f"{self.setups} x {self.workloads}, {self.rounds} rounds"


@lru_cache(maxsize=4 * PLANS)
def planned(size: Size, seed: int) -> Design:
    """A sweep of set-ups that are all flipped in place, the first the baseline."""
    cells = [
        SweepCell(
            id=f"{row}/{column}",
            row=str(row),
            column=str(column),
            where="t",
            job={"rw": str(column)},
            against=f"0/{column}" if row else None,
        )
        for row in range(size.setups)
        for column in range(size.workloads)
    ]
    placed, steps = arrange(cells, (), repeats=size.rounds, seed=seed)
    return Design(
        title="drawn",
        source="",
        seed=seed,
        repeats=size.rounds,
        pairs=size.pairs,
        rest=0,
        rank=Rank.IOPS,
        targets={},
        cells=placed,
        steps=steps,
        rule=RULE,
    )


@lru_cache(maxsize=4 * PLANS)
def _measured(design_of: tuple[Size, int]) -> SweepRecord:
    design = planned(*design_of)
    record = begun(SweepStarted(at=0.0, design=design, pid=1))
    return replace(record, ended=tuple(map(_ended, design.steps)))


def _ended(step: Step) -> SweepStepEnded:
    return SweepStepEnded(at=0.0, step=step.number, result=StepResult.DONE, run=f"r{step.number}")


def screened(
    random: Random,
    noise: Noise,
    level: Level,
    *,
    size: Size,
    effects: Mapping[tuple[int, int], float] = EQUAL,
) -> tuple[SweepRecord, list[RunRecord]]:
    """All steps of the screening done; effects by set-up and workload, as a share."""
    record = _measured((size, random.randrange(PLANS)))
    return record, _runs(random, record.steps, noise, level, effects)


def _runs(
    random: Random, steps: Sequence[Step], noise: Noise, level: Level, effects: Mapping[tuple[int, int], float]
) -> list[RunRecord]:
    added = level(random, moments(random, len(steps)))
    found = []
    for step, extra in zip(steps, added, strict=True):
        row, column = map(int, step.cell.split("/"))
        size = log(1e5) + noise(random) + extra + log(1 + effects.get((row, column), 0.0))
        found.append(run(f"r{step.number}", exp(size)))
    return found


def whole(
    random: Random,
    noise: Noise,
    level: Level,
    *,
    size: Size,
    effects: Mapping[tuple[int, int], float] = EQUAL,
) -> Results:
    """The screening, and what it asks to measure again."""
    record, runs = screened(random, noise, level, size=size, effects=effects)
    more = further(record, runs)
    if more is not None and more.steps:
        record = fold_sweep(record, more) or record
        record = replace(record, ended=(*record.ended, *map(_ended, more.steps)))
        runs += _runs(random, more.steps, noise, level, effects)
    return results(record, runs)


def differs(judgement: Judgement | None) -> bool:
    """Whether a difference is told."""
    return judgement is not None and judgement.differs


def false_signs(found: Results, effects: Mapping[tuple[int, int], float] = EQUAL) -> bool:
    """Whether anything is told of a set-up that is as the first: in the matrix, or of a winner measured again."""
    cells = [(one.cell, one.judgement) for one in found.cells]
    cells += [(one.winner, one.judgement) for one in found.confirmations]
    return any(differs(judgement) and (int(cell.row), int(cell.column)) not in effects for cell, judgement in cells)
