"""The search for a queue depth: doubled, repeated in rounds, halved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepExtended, SweepRecord
from app.core.session.sweep_steps import Purpose, Saturation, StepResult
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.cells import RunScore
from app.features.sweep.engine.saturation import DepthPoint, best, next_runs, plateau, search
from tests.features.sweep.making import after, design, run, started
from tests.method.loads import CELL, DEVICES, depths

PLATEAU = Saturation()


def point(depth: int, iops: float, *, p99: int | None = 1, runs: int = 3) -> DepthPoint:
    scores = (RunScore(iops=iops, bytes_per_second=0.0, p99_ns=p99, mean_ns=None),) * runs
    return DepthPoint(depth=depth, cell=CELL, tried=runs, scores=scores)


def below(limit: Saturation, latency: int) -> tuple[DepthPoint, ...]:
    """The points of a search on a device whose p99 is `latency` for each I/O in flight."""
    points: tuple[DepthPoint, ...] = ()
    while wanted := next_runs(points, limit, 3, Random(1)):
        done = {one.depth: one for one in points}
        for depth in wanted:
            before = done[depth].tried if depth in done else 0
            done[depth] = point(depth, float(depth), p99=depth * latency, runs=before + 1)
        points = tuple(done[depth] for depth in sorted(done))
    return points


def test_the_first_round_goes_up_by_single_runs() -> None:
    points = (point(1, 100, runs=1), point(2, 200, runs=1))
    assert next_runs(points, PLATEAU, 3, Random(1)) == (4,)


def test_the_second_round_goes_down_again_and_the_third_is_drawn() -> None:
    points = tuple(point(depth, iops, runs=1) for depth, iops in ((1, 50), (2, 100), (4, 100), (8, 100)))
    wanted = next_runs(points, PLATEAU, 3, Random(1))
    assert wanted[:4] == (8, 4, 2, 1)
    assert sorted(wanted[4:]) == [1, 2, 4, 8]


def test_one_doubling_that_brings_nothing_does_not_end_the_way_up() -> None:
    points = (point(1, 50), point(2, 100), point(4, 101))
    assert next_runs(points, PLATEAU, 3, Random(1)) == (8, 8, 8)


def test_the_way_up_ends_at_the_highest_depth() -> None:
    goal = Saturation(highest=4)
    points = (point(1, 100), point(2, 200), point(4, 400))
    assert 8 not in next_runs(points, goal, 3, Random(1))


def test_the_least_depth_on_the_plateau_is_found_between_two_doublings() -> None:
    points = (point(4, 800), point(8, 1000), point(16, 1010), point(32, 1000))
    assert next_runs(points, PLATEAU, 3, Random(1)) == (6, 6, 6)


def test_a_plateau_that_begins_with_the_least_depth_is_looked_for_below_it() -> None:
    points = (point(64, 1000), point(128, 1000), point(256, 1000))
    assert next_runs(points, PLATEAU, 3, Random(1)) == (32, 32, 32)


def test_a_limit_that_no_depth_of_the_matrix_keeps_is_looked_for_below_it() -> None:
    points = (point(32, 1000, p99=900), point(64, 1000, p99=1800))
    assert next_runs(points, Saturation(p99_ns=100, lowest=12), 3, Random(1)) == (16, 16, 16)


def test_nothing_is_looked_for_below_the_lowest_depth() -> None:
    assert next_runs((point(4, 10, p99=900),), Saturation(p99_ns=100, lowest=4), 3, Random(1)) == ()


def test_the_plateau_is_the_mean_of_all_depths_on_it() -> None:
    seen = plateau((point(4, 800), point(8, 980), point(16, 1000), point(32, 990)), PLATEAU)
    assert seen is not None
    assert seen.mean == pytest.approx(990)
    assert seen.n == 9


def test_a_depth_that_failed_is_tried_as_often_as_others_and_no_further() -> None:
    failed = DepthPoint(depth=4, cell=CELL, tried=3)
    points = (point(1, 100), point(2, 195), failed)
    assert next_runs(points, PLATEAU, 3, Random(1)) == ()
    least = best(points, PLATEAU)
    assert least is not None
    assert least.depth == 2


def test_a_depth_with_too_few_ios_for_its_p99_keeps_no_limit() -> None:
    assert best((point(1, 10, p99=None),), Saturation(p99_ns=100)) is None


def test_the_most_ios_within_the_limit_are_the_best() -> None:
    points = (point(1, 10, p99=20), point(2, 30, p99=40), point(4, 20, p99=90), point(8, 50, p99=200))
    seen = best(points, Saturation(p99_ns=100))
    assert seen is not None
    assert seen.depth == 2


@given(st.integers(1, 5000), st.integers(1, 100))
def test_the_search_ends_close_below_the_limit(limit: int, latency: int) -> None:
    goal = Saturation(p99_ns=limit)
    points = below(goal, latency)
    seen = best(points, goal)
    assert len(points) < 25
    assert {one.tried for one in points} == {3}
    most = min(1024, limit // latency)
    if most < 1:
        assert seen is None
    else:
        assert seen is not None
        assert most / 1.13 - 1 <= seen.depth <= most


@pytest.mark.parametrize("name", DEVICES)
def test_every_depth_is_run_three_times(name: str) -> None:
    points = depths(DEVICES[name], Random(1), 0.02, PLATEAU)
    assert {one.tried for one in points} == {3}


@pytest.mark.parametrize("name", DEVICES)
def test_the_depth_that_is_found_reaches_nine_tenths_of_what_the_device_can(name: str) -> None:
    device = DEVICES[name]
    seen = best(depths(device, Random(1), 0.02, PLATEAU), PLATEAU)
    assert seen is not None
    assert device.closed(seen.depth) > 0.9 * device.capacity


def searched(record: SweepRecord, runs: Sequence[RunRecord]) -> SweepExtended:
    """What the search asks for once no winner is left to be confirmed."""
    confirmed = replace(record, design=replace(record.design, pairs=0))
    more = next_steps(confirmed, runs)
    assert more is not None
    assert more.purpose is Purpose.SATURATE
    return more


DEPTHS = '[[axis]]\njob="iodepth"\nvalues=[1,2,4,8]\n[saturation]\np99="10us"\nto=64\n'


def test_depths_of_the_matrix_are_not_measured_again() -> None:
    record = started(design(DEPTHS, repeats=3))
    runs = []
    for step in record.steps:
        depth = int(record.cell(step.cell).job["iodepth"])
        runs.append(run(f"r{step.number}", 1000.0 * depth, p99=1000 * depth))
        record = after(record, step, f"r{step.number}")
    more = searched(record, runs)
    assert [cell.job["iodepth"] for cell in more.cells] == ["16"]


def test_a_run_that_was_stopped_does_not_count_as_tried() -> None:
    record = started(design("[saturation]\nto=64\n", repeats=1))
    record = after(record, record.steps[0], None, StepResult.STOPPED)
    assert search(record, {}) == ()


def test_rounds_of_a_search_are_counted_from_the_first() -> None:
    record = started(design("[saturation]\nto=1\n", repeats=1))
    record = after(record, record.steps[0], "r1")
    more = searched(record, [run("r1", 1000.0)])
    assert [step.round for step in more.steps] == [2, 3]
