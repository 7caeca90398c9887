"""What a sweep writes is told before it begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.estimate import writing_seconds
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.risk_assessment import RiskAssessment, assess_risk
from app.features.sweep.engine.targets import inspect_targets
from app.features.sweep.presentation.plan import plan_facts
from backends.settings import Risk
from tests.backends.simulator.asking import still_host
from tests.features.sweep.making import design
from tests.tui.stage import paths_in

BOTH = '[[axis]]\njob="rw"\nvalues=["randread", "randwrite"]\n'
READING = '[[axis]]\njob="rw"\nvalues=["read", "randread"]\n'

ON_A_VOLUME = """
[targets]
array = "megaraid:/c0/v1"
[measure]
target = "array"
repeats = 2
pairs = 0
[job]
runtime = "50s"
ramp = "10s"
"""


def test_every_step_that_writes_counts_and_no_other() -> None:
    assert writing_seconds(replace(design(BOTH), pairs=0), "fake:v1") == 2 * 6


def test_the_pairs_that_confirm_a_winner_count() -> None:
    assert writing_seconds(replace(design(BOTH), pairs=1), "fake:v1") == 4 * 6


def test_a_sweep_that_only_reads_writes_for_no_time() -> None:
    assert writing_seconds(design(READING), "fake:v1") == 0


def test_another_target_is_not_written_to() -> None:
    assert writing_seconds(design(BOTH), "fake:v2") == 0


async def surveyed(folder: Path, text: str) -> RiskAssessment:
    bench = Workbench(still_host(), paths=paths_in(folder), advisor=advise)
    await bench.hardware.probe()
    plan = parse_plan((ON_A_VOLUME + text).encode(), "plan.toml")
    known = await inspect_targets(bench, plan, {})
    return await assess_risk(bench, expand(plan, known, 1), known)


async def test_the_time_of_writing_and_the_endurance_are_told(tmp_path: Path) -> None:
    told = (await surveyed(tmp_path, BOTH)).wear

    assert told[0] == "Written to /dev/sdb: an unknown amount in 2 min: no run of this session wrote to /dev/sdb."
    assert told[-1] == "Rated endurance: unknown, no drive reports it."


@pytest.mark.parametrize("text", [READING, '[[axis]]\ntarget="array"\nsetting="strip_size"\nvalues=["64k","128k"]\n'])
async def test_what_is_not_written_to_is_not_worn(tmp_path: Path, text: str) -> None:
    assert (await surveyed(tmp_path, text)).wear == ()


@pytest.mark.parametrize("rw", ["randtrim", "trimwrite"])
async def test_a_sweep_that_trims_is_confirmed_as_one_that_writes(tmp_path: Path, rw: str) -> None:
    found = await surveyed(tmp_path, f'[[axis]]\njob="rw"\nvalues=["randread", "{rw}"]\n')

    assert found.risk is Risk.DESTROYS_DATA
    assert [plate.token for plate in found.plates] == ["6ef362"]
    words = [fact.value for group in plan_facts(found) for fact in group.facts]
    (lost,) = [text for text in words if text.startswith("ALL DATA WILL BE LOST")]
    assert "by steps" in lost
    assert bool(found.wear) is (rw == "trimwrite")
