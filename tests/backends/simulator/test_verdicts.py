"""Comparisons of the rack with itself: its runs scatter as real ones do, and that alone is no difference."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from app.core.analysis.pair_design import draw_order, one_look
from app.core.analysis.verdict import Verdict, judge
from app.core.fio.job import Job
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from tests.backends.simulator.loads import run

pytestmark = pytest.mark.exhaustive

DECIDED = (Verdict.FASTER, Verdict.SLOWER)
RUNS = 60


@pytest.fixture
async def measured(tmp_path: Path) -> list[float]:
    """IOPS of many runs of the same on the same array."""
    host = SimulatedHost(demo_rack(), speed=1e6)
    job = Job(runtime=1, ramp=0)
    found = [(await run(host, job, tmp_path)).figures.read for _ in range(RUNS)]
    return [figures.iops for figures in found if figures is not None]


def compared(random: Random, runs: list[float], *, drift: float = 0.0, effect: float = 0.0) -> Verdict:
    """Six pairs of runs drawn from those measured, in the order of an experiment."""
    sides: dict[str, list[float]] = {"A": [], "B": []}
    for at, letter in enumerate(draw_order(one_look(6), random)):
        level = (1 + drift * at / 11) * (1 + (effect if letter == "B" else 0.0))
        sides[letter].append(random.choice(runs) * level)
    return judge(sides["A"], sides["B"], interleaved=True).verdict


async def test_of_two_hundred_comparisons_with_itself_ten_at_most_are_called_different(measured: list[float]) -> None:
    assert len(set(measured)) > RUNS / 2
    random = Random(1)
    assert sum(compared(random, measured) in DECIDED for _ in range(200)) <= 10
    assert sum(compared(random, measured, drift=0.03) in DECIDED for _ in range(200)) <= 12


async def test_five_percent_are_found_on_it(measured: list[float]) -> None:
    random = Random(2)
    assert sum(compared(random, measured, effect=0.05) is Verdict.FASTER for _ in range(200)) >= 190
