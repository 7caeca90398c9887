"""Exported, altered, applied, exported again: the same machine, whatever moves along and whatever is taken back."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.apply.drift import DriftKind
from app.features.apply.exporting import export_targets, render_document
from app.features.apply.selectors import all_devices
from backends.errors import RaidbenchError
from backends.simulator.profiles.table import MACHINES
from tests.features.apply.racks import Values, alter, applied, opened, state_of, text_of, values_of

SEEDS = range(1, int(os.environ.get("ROUND_TRIP_SEEDS", "3")) + 1)
"""Of the long test: `ROUND_TRIP_SEEDS=20 make test-exhaustive ARGS="-k becomes_the_file_again"` tries more."""

CHANGES = 20
"""Settings that it alters before it applies the file."""

ONE_WAY = {"zfs_arc_max", "zfs_arc_min"}
"""Settings whose value `0`, "automatic", no module takes again once there was another one."""


def differences(before: Values, after: Values) -> dict[tuple[str, str], object]:
    return {
        place: (before.get(place), after.get(place))
        for place in {**before, **after}
        if before.get(place) != after.get(place) and place[1] not in ONE_WAY
    }


async def altered_and_applied(bench: Workbench, seed: int, changes: int) -> tuple[Values, Values, int]:
    """Alter the machine and apply the file of before; its values before each, and how many changes came first."""
    text, good = await text_of(bench), await values_of(bench)
    assert await alter(bench, await state_of(bench, text), seed, changes) == changes
    first, altered = len(bench.session.changes), await values_of(bench)
    outcome = await applied(bench, text)
    assert outcome.is_complete, [step for step in outcome.steps if step.ended.result != "verified"] or outcome.trouble
    left = (await state_of(bench, text)).drifts
    assert all(one.kind is DriftKind.BLOCKED and one.key in ONE_WAY for one in left), left
    assert differences(good, await values_of(bench)) == {}
    assert left or await text_of(bench) == text
    return good, altered, first


async def undo_all(bench: Workbench, seed: int, first: int) -> None:
    """Undo all changes from that one on: newest first with an odd seed, else in any order.

    One that another one stands on is refused until that one is undone.
    """
    rng, last = random.Random(seed), -1
    refused: list[str] = []
    while (left := [one.id for one in bench.session.changes[first:] if one.in_force]) and len(left) != last:
        last = len(left)
        left.reverse()
        if seed % 2 == 0:
            rng.shuffle(left)
        refused = []
        for change in left:
            try:
                ended = await bench.changes.undo(change)
                assert ended.is_reverted, ended
            except RaidbenchError as error:
                refused.append(error.message)
    assert left == [], refused


@pytest.mark.long
@pytest.mark.parametrize("rack", ["linux", "lsi"])
async def test_a_file_undoes_a_few_changes_and_is_undone(tmp_path: Path, rack: str) -> None:
    async with opened(tmp_path, rack) as bench:
        good, altered, first = await altered_and_applied(bench, 1, 4)
        await undo_all(bench, 1, first)
        assert differences(altered, await values_of(bench)) == {}
        await undo_all(bench, 2, 0)
        assert differences(good, await values_of(bench)) == {}


@pytest.mark.long
@pytest.mark.parametrize("rack", MACHINES)
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_machine_altered_by_twenty_settings_becomes_the_file_again(
    tmp_path: Path, rack: str, seed: int
) -> None:
    async with opened(tmp_path, rack) as bench:
        good, altered, first = await altered_and_applied(bench, seed, CHANGES)
        if seed in (1, 2):
            await undo_all(bench, seed, first)
            assert differences(altered, await values_of(bench)) == {}
        if seed == 3:
            await undo_all(bench, 4, 0)
            assert differences(good, await values_of(bench)) == {}


@pytest.mark.long
@pytest.mark.parametrize("rack", MACHINES)
async def test_whatever_is_exported_is_taken_again(tmp_path: Path, rack: str) -> None:
    async with opened(tmp_path, rack) as bench:
        for by_model in (False, True):
            targets, _ = await export_targets(bench, all_devices(bench.session.inventory), by_model=by_model)
            state = await state_of(bench, render_document(targets))
            assert (state.drifts, state.changes) == ((), ()), by_model
            named = sum(len(one.values) for one in targets)
            assert named > 20
            if not by_model:
                assert sum(map(len, state.values.values())) == named


@pytest.mark.long
@pytest.mark.parametrize("rack", MACHINES)
async def test_a_second_run_has_nothing_to_do(tmp_path: Path, rack: str) -> None:
    async with opened(tmp_path, rack) as bench:
        good = await text_of(bench)
        outcome = await applied(bench, good)
        assert (outcome.is_complete, outcome.steps, bench.session.changes) == (True, (), ())
