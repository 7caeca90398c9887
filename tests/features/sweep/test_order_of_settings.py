"""Settings that bound each other, in a sweep on a disk system that takes no threshold beyond the other one."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.session.paths import Paths
from app.core.session.sweep_steps import StepResult
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.risk_assessment import assess_risk
from app.features.sweep.engine.runner import SweepRunner
from app.features.sweep.engine.targets import inspect_targets
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.rack import Rack
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import FAST, NOW

pytestmark = pytest.mark.slow

PLAN = """
[targets]
lun = "smcli:DS4700_A/data"
system = "smcli:DS4700_A"
[measure]
target = "lun"
repeats = 2
pairs = 0
[job]
rw = "randread"
runtime = "2s"
ramp = "0s"
[[setup]]
name = "late"
system = { cache_flush_start = 98, cache_flush_stop = 96 }
[[setup]]
name = "early"
system = { cache_flush_start = 60, cache_flush_stop = 50 }
"""


def _strict() -> Rack:
    rack = hpe_rack(lambda: NOW)
    rack.systems[0].strict = True
    return rack


@pytest.mark.long
async def test_a_sweep_moves_both_thresholds_down_and_up_and_puts_both_back(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    paths = Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )
    folder.mkdir()
    kept = RackFile(folder / "rack.json", make=_strict)
    bench = Workbench(SimulatedHost(kept, speed=FAST), paths=paths, advisor=advise)
    await bench.hardware.probe()
    plan = parse_plan(PLAN.encode(), "plan.toml")
    known = await inspect_targets(bench, plan, {})
    surveyed = await assess_risk(bench, expand(plan, known, 1), known)
    assert not surveyed.refused
    await bench.open(fresh=True)
    await bench.hardware.probe()
    runner = SweepRunner(bench)
    runner.begin(surveyed.design)
    await runner.run_all()
    assert bench.session.sweep is not None
    assert {step.result for step in bench.session.sweep.ended} == {StepResult.DONE}
    now = await bench.hardware.read(known.holders["system"][0].target)
    assert (now["cache_flush_start"].now, now["cache_flush_stop"].now) == ("95", "90")
