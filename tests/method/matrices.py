"""Whole sweeps, drawn and then judged as the program judges them: the matrix, and what it measures again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log
from random import Random

from app.core.analysis.pair_design import RULE
from app.core.analysis.verdict import VerdictResult
from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord, SweepStarted, SweepStepEnded, first_record, fold_sweep
from app.core.session.sweep_steps import Design, Rank, Step, StepResult, SweepCell
from app.features.sweep.engine import verdicts
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.best_cells import ConfirmedWinner, confirmations
from app.features.sweep.engine.order import arrange
from app.features.sweep.engine.verdicts import judge_cells
from tests.features.sweep.making import run
from tests.method.disturbances import Level, drift, jumping, moments, nothing, period, throttled
from tests.method.line import Line, at_least, at_most, percent, source
from tests.method.simulated import Noise, gauss, heavy, slow_tail
from tests.method.worlds import bimodal, every, wild

PLANS = 100
"""Orders that the sweeps of one row are drawn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a sweep says differs, or does not."""

    cells: Mapping[str, VerdictResult]
    """By id of the cell."""
    winners: tuple[ConfirmedWinner, ...]
    """Measured again."""


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
    record = first_record(SweepStarted(at=0.0, design=design, pid=1))
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
) -> Told:
    """The screening, and what it asks to measure again."""
    record, runs = screened(random, noise, level, size=size, effects=effects)
    more = next_steps(record, runs)
    if more is not None and more.steps:
        record = fold_sweep(record, more) or record
        record = replace(record, ended=(*record.ended, *map(_ended, more.steps)))
        runs += _runs(random, more.steps, noise, level, effects)
    return told(record, runs)


def told(record: SweepRecord, runs: Sequence[RunRecord]) -> Told:
    """What is told of cells and of winners, and nothing else of what a sweep comes to."""
    known = {run.id: run for run in runs}
    cells = judge_cells(record, known)
    shown = [cell for cell, one in cells.items() if one.differs]
    return Told(cells=cells, winners=tuple(confirmations(record, known, shown)))


def differs(judgement: VerdictResult | None) -> bool:
    """Whether a difference is told."""
    return judgement is not None and judgement.differs


def false_signs(found: Told, effects: Mapping[tuple[int, int], float] = EQUAL) -> bool:
    """Whether anything is told of a set-up that is as the first: in the matrix, or of a winner measured again."""
    signs = [cell for cell, judgement in found.cells.items() if differs(judgement)]
    signs += [one.winner.id for one in found.winners if differs(one.judgement)]
    return any((int(row), int(column)) not in effects for row, _, column in (cell.partition("/") for cell in signs))


# -- the tables -------------------------------------------------------------------------------------------------------

FEW_DRAWS = 99
"""Orders that are drawn for sweeps of equal set-ups: a fifth of the program's, and no more of them are false."""

NULLS: tuple[tuple[str, Noise, Level], ...] = (
    ("scatter 2 %", gauss(0.02), nothing),
    ("scatter 5 %, Student's t with 3 degrees of freedom", heavy(0.05), nothing),
    ("now fast, now 30 % slower", bimodal(0.30), nothing),
    ("one run of twenty ten times slower", wild(0.02), nothing),
    ("every fifth run -30 %", gauss(0.02), every(5, 0.30)),
    ("drift of 20 %, scatter 2 %", gauss(0.02), drift(0.20)),
    ("autocorrelation 0.9 with jumps of 10 %, scatter 2 %", gauss(0.02), jumping),
    ("throttled by 25 % after a minute of load, scatter 2 %", gauss(0.02), throttled),
    ("slower by a lognormal part with a long tail", slow_tail(0.03), nothing),
)
"""What is promised."""

STRONG = period(4, 0.10)
"""Six pairs that confirm a winner cannot tell it from an effect where runs scatter by 1 %."""


def equal_matrices(count: int) -> Iterator[Line]:
    """Twelve set-ups by two workloads that are all the same, in three rounds: what is told of any of them."""
    program = vars(verdicts)
    before, program["DRAWS"] = program["DRAWS"], FEW_DRAWS
    try:
        for name, noise, level in NULLS:
            share = _false(source(71), noise, level, count)
            yield Line(cells=(name, percent(share)), bounds=(at_most(share, count),))
        share = _false(source(71), gauss(0.01), STRONG, count)
        yield Line(cells=("sine of 10 %, every 300 s, scatter 1 %: told for comparison", percent(share)))
    finally:
        program["DRAWS"] = before


def _false(random: Random, noise: Noise, level: Level, count: int) -> float:
    return sum(false_signs(whole(random, noise, level, size=Size())) for _ in range(count)) / count


ONE = {(5, 0): 0.20}
"""One cell of all is faster by 20 %."""


def found_cells(count: int) -> Iterator[Line]:
    """A cell that is 20 % faster than the first set-up: shown by the matrix alone."""
    for name, noise, least in (
        ("scatter 2 %", gauss(0.02), 0.95),
        ("scatter 5 %", gauss(0.05), 0.50),
        ("scatter 2 %, one run of twenty ten times slower", wild(0.02), 0.60),
    ):
        random = source(73)
        found = 0
        for _ in range(count):
            record, runs = screened(random, noise, nothing, size=Size(), effects=ONE)
            found += differs(told(record, runs).cells.get("5/0"))
        yield Line(cells=(name, percent(found / count)), bounds=(at_least(found / count, count, least),))
