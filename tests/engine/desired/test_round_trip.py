"""Exported, altered, applied, exported again: the same file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.desired.racks import RACKS, alter, applied, opened, state_of, text_of


@pytest.mark.long
@pytest.mark.parametrize("rack", RACKS)
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_machine_altered_by_twenty_settings_becomes_the_file_again(
    tmp_path: Path, rack: str, seed: int
) -> None:
    async with opened(tmp_path, rack) as bench:
        good = await text_of(bench)
        assert await alter(bench, await state_of(bench, good), seed, 20) == 20
        await bench.hardware.probe()
        assert len((await state_of(bench, good)).settable()) > 8
        assert (await applied(bench, good)).well
        assert (await state_of(bench, good)).drifts == ()
        assert await text_of(bench) == good


@pytest.mark.long
@pytest.mark.parametrize("rack", RACKS)
async def test_a_second_run_has_nothing_to_do(tmp_path: Path, rack: str) -> None:
    async with opened(tmp_path, rack) as bench:
        good = await text_of(bench)
        outcome = await applied(bench, good)
        assert (outcome.well, outcome.steps, bench.session.changes) == (True, (), ())
