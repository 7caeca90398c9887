"""Equal sweeps whose runs do not all scatter alike: how often anything is reported to differ.

`false_rate` takes a kind of `UNEVEN`, a seed and a number of draws, and returns the share of sweeps with a false sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt
from random import Random
from types import MappingProxyType

from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord, SweepStarted, SweepStepEnded, first_record, fold_sweep
from app.core.session.sweep_steps import Step, StepResult
from app.features.sweep.engine import verdicts
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.results import results
from tests.features.sweep.making import run
from tests.method.line import FALSE, Rate
from tests.method.matrices import EQUAL, FEW_DRAWS, PLANS, Size, Told, differs, false_signs, planned, told

CellNoise = Callable[[Random, int, int, Step], float]
"""The scatter of one run, as a logarithm, by set-up, workload and step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uneven:
    """A kind of sweep in which nothing differs."""

    noise: CellNoise
    """How its runs scatter."""
    size: Size = field(default_factory=Size)
    """What it measures."""
    missing: float = 0.0
    """Share of runs that fail, each once more after a second try with the same chance."""


def by_row(scatter: float, **rows: float) -> CellNoise:
    """Return noise of which some set-ups (`row_5=0.1`) have a scatter of their own."""
    own = {int(name.removeprefix("row_")): size for name, size in rows.items()}
    return lambda random, row, _column, _step: random.gauss(0, own.get(row, scatter))


def by_column(scatter: float, column: int, wider: float) -> CellNoise:
    """Return noise of which one workload has a scatter of its own."""
    return lambda random, _row, at, _step: random.gauss(0, wider if at == column else scatter)


def growing(scatter: float, last: float, rounds: int) -> CellNoise:
    """Return noise that grows from the first round to the last."""
    return lambda random, _row, _column, step: random.gauss(
        0, scatter + (last - scatter) * (step.round - 1) / (rounds - 1)
    )


def heavy_row(scatter: float, row: int) -> CellNoise:
    """Return noise of which one set-up has Student's t with two degrees of freedom."""

    def draw(random: Random, at: int, _column: int, _step: Step) -> float:
        value = random.gauss(0, scatter)
        return value / sqrt(random.expovariate(1.0)) if at == row else value

    return draw


def in_cell(scatter: float, wider: float, cell: tuple[int, int]) -> CellNoise:
    """Return noise of which one set-up has a scatter of its own under one workload alone."""
    return lambda random, row, column, _step: random.gauss(0, wider if (row, column) == cell else scatter)


def two_speeds(apart: float) -> CellNoise:
    """Return noise of a device that is now fast and now slower by a share."""
    return lambda random, _row, _column, _step: (
        random.gauss(0, 0.02) + (log(1 - apart) if random.random() < 0.5 else 0.0)
    )


HALF = {f"row_{row}": 0.10 for row in range(6, 12)}

UNEVEN: Mapping[str, Uneven] = MappingProxyType(
    {
        "all set-ups 2 %": Uneven(noise=by_row(0.02)),
        "one set-up 10 %": Uneven(noise=by_row(0.02, row_5=0.10)),
        "baseline 10 %": Uneven(noise=by_row(0.02, row_0=0.10)),
        "baseline 6 %": Uneven(noise=by_row(0.02, row_0=0.06)),
        "baseline 4 %": Uneven(noise=by_row(0.02, row_0=0.04)),
        "half of the set-ups 10 %": Uneven(noise=by_row(0.02, **HALF)),
        "baseline and half of the set-ups 10 %": Uneven(noise=by_row(0.10, **dict.fromkeys(HALF, 0.02))),
        "baseline 10 % under one workload": Uneven(noise=in_cell(0.02, 0.10, (0, 0))),
        "one workload 10 %": Uneven(noise=by_column(0.02, 1, 0.10)),
        "from 2 % in the first round to 10 % in the last": Uneven(noise=growing(0.02, 0.10, 3)),
        "one set-up with long tails": Uneven(noise=heavy_row(0.02, 5)),
        "one run of twenty missing, one set-up 10 %": Uneven(noise=by_row(0.02, row_5=0.10), missing=0.22),
        "now fast, now 12 % slower": Uneven(noise=two_speeds(0.12)),
        "baseline 4 %, 6 set-ups x 4 workloads, 4 rounds": Uneven(
            noise=by_row(0.02, row_0=0.04), size=Size(setups=6, workloads=4, rounds=4)
        ),
        "baseline 4 %, 12 x 1": Uneven(noise=by_row(0.02, row_0=0.04), size=Size(workloads=1)),
        "baseline 10 %, 12 x 1": Uneven(noise=by_row(0.02, row_0=0.10), size=Size(workloads=1)),
    }
)
"""What is promised, by what a table calls it: each with at most one false sign in twenty sweeps."""

LIMITS: Mapping[str, Uneven] = MappingProxyType(
    {
        "one set-up 10 %, 12 x 1": Uneven(noise=by_row(0.02, row_5=0.10), size=Size(workloads=1)),
        "one cell 10 %": Uneven(noise=in_cell(0.02, 0.10, (5, 0))),
    }
)
"""Kinds of which nothing is promised, for comparison: the scatter of the set-up has two degrees of freedom only."""


def false_rate(name: str, seed: int, draws: int) -> float:
    """Return the share of sweeps of a kind in which anything is reported to differ, winners included."""
    random, kind = Random(seed), {**UNEVEN, **LIMITS}[name]
    with few_orders():
        return sum(false_signs(drawn_sweep(random, kind)) for _ in range(draws)) / draws


def behind_rate(name: str, seed: int, draws: int) -> float:
    """Return the share of sweeps of a kind in which any set-up is said to be behind the best of its workload."""
    random, kind = Random(seed), UNEVEN[name]
    with few_orders():
        found = (results(*screened_cells(random, kind)) for _ in range(draws))
        return sum(any(len(line) < kind.size.setups for line in one.leaders) for one in found) / draws


HUNDRED = Size(setups=2, workloads=100, rounds=8, pairs=0)
"""Two set-ups under many workloads: a hundred figures at once."""


def many_figures_rates(seed: int, draws: int, *, effect: float = 0.10) -> tuple[float, float]:
    """Return the share of sweeps with a false sign, and the share of true effects that are shown.

    Half of the workloads of `HUNDRED` really differ by `effect`.
    """
    random, kind = Random(seed), Uneven(noise=by_row(0.02), size=HUNDRED)
    effects = {(1, column): effect for column in range(0, HUNDRED.workloads, 2)}
    false = shown = 0
    for _ in range(draws):
        report = told(*screened_cells(random, kind, effects))
        false += false_signs(report, effects)
        shown += sum(differs(report.cells.get(f"{row}/{column}")) for row, column in effects)
    return false / draws, shown / (draws * len(effects))


def found_rate(noise: CellNoise, seed: int, draws: int, *, size: Size | None = None, missing: float = 0.0) -> float:
    """Return how often the matrix shows a set-up that is 20 % faster under the first workload."""
    random, kind = Random(seed), Uneven(noise=noise, size=size or Size(), missing=missing)
    found = 0
    with few_orders():
        for _ in range(draws):
            record, runs = screened_cells(random, kind, effects={(4, 0): 0.20})
            found += differs(told(record, runs).cells.get("4/0"))
    return found / draws


def drawn_sweep(random: Random, kind: Uneven, effects: Mapping[tuple[int, int], float] = EQUAL) -> Told:
    """Return what a whole sweep reports: its screening, and the winners measured again."""
    record, runs = screened_cells(random, kind, effects)
    more = next_steps(record, runs)
    if more is not None and more.steps:
        record = fold_sweep(record, more) or record
        added = _runs(random, more.steps, kind, effects)
        record, runs = _with_ends(record, more.steps, added), [*runs, *added]
    return told(record, runs)


def screened_cells(
    random: Random, kind: Uneven, effects: Mapping[tuple[int, int], float] = EQUAL
) -> tuple[SweepRecord, list[RunRecord]]:
    """Return a sweep whose screening is over, with its runs; effects by set-up and workload, as a share."""
    record = first_record(SweepStarted(at=0.0, design=planned(kind.size, random.randrange(PLANS)), pid=1))
    runs = _runs(random, record.steps, kind, effects)
    return _with_ends(record, record.steps, runs), runs


def _runs(
    random: Random, steps: tuple[Step, ...], kind: Uneven, effects: Mapping[tuple[int, int], float]
) -> list[RunRecord]:
    runs = []
    for step in steps:
        row, column = map(int, step.cell.split("/"))
        size = log(1e5) + kind.noise(random, row, column, step) + log(1 + effects.get((row, column), 0.0))
        if not (random.random() < kind.missing and random.random() < kind.missing):
            runs.append(run(f"r{step.number}", exp(size)))
    return runs


def _with_ends(record: SweepRecord, steps: tuple[Step, ...], runs: list[RunRecord]) -> SweepRecord:
    known = {one.id for one in runs}
    ends = (
        SweepStepEnded(at=0.0, step=step.number, result=StepResult.DONE, run=f"r{step.number}")
        if f"r{step.number}" in known
        else SweepStepEnded(at=0.0, step=step.number, result=StepResult.FAILED, reason="fio failed")
        for step in steps
    )
    return replace(record, ended=(*record.ended, *ends))


@contextmanager
def few_orders() -> Iterator[None]:
    """Draw a fifth of the program's orders: no more of the signs are false."""
    program = vars(verdicts)
    before, program["DRAWS"] = program["DRAWS"], FEW_DRAWS
    try:
        yield
    finally:
        program["DRAWS"] = before


# -- as a table -------------------------------------------------------------------------------------------------------


def _false(name: str) -> Callable[[int, int], float]:
    return lambda seed, draws: false_rate(name, seed, draws)


RATES: tuple[Rate, ...] = (
    *(Rate(name=f"{name}: a false sign", draw=_false(name), promised=FALSE) for name in UNEVEN),
    Rate(
        name="now fast, now 12 % slower: behind the best",
        draw=lambda seed, draws: behind_rate("now fast, now 12 % slower", seed, draws),
        promised=FALSE,
    ),
    Rate(
        name="2 x 100, half of them +10 %: a false sign",
        draw=lambda seed, draws: many_figures_rates(seed, draws)[0],
        promised=FALSE,
    ),
    Rate(
        name="2 x 100, half of them +10 %: shown",
        draw=lambda seed, draws: many_figures_rates(seed, draws)[1],
        promised=0.95,
        least=True,
    ),
    Rate(
        name="one run in ten fails, +20 %, scatter 2 %: shown",
        draw=lambda seed, draws: found_rate(by_row(0.02), seed, draws, missing=0.1),
        promised=0.85,
        least=True,
    ),
)
"""What is measured and what is said, and how often that is promised to be said."""
