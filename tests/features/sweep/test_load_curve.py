"""Throughput against latency: which rates are asked for, what was carried, where the knee is."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from app.core.analysis.stats import mean_interval
from app.core.fio.job import Job
from app.core.session.sweep_steps import RateSeries, Saturation
from app.features.sweep.engine.cells import LatencyFigure, RunScore
from app.features.sweep.engine.load_curve import RatePoint, next_percents, rate_cell
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.engine.saturation import DepthPoint, SaturationResult
from tests.features.sweep.making import design
from tests.method.loads import CELL, DEVICES, FLAT, bend, rates

LADDER = RateSeries(percents=(50, 100, 110))


def point(percent: int, *, asked: float = 1000.0, reached: float = 1000.0, ios: int = 10**6, **more: int) -> RatePoint:
    one = RunScore(iops=reached, bytes_per_second=0.0, p99_ns=more.get("p99"), mean_ns=1e6, ios=ios)
    return RatePoint(percent=percent, asked=asked, cell=CELL, tried=1, scores=(one,))


def saturated(depth: int, **job: str) -> SaturationResult:
    [cell] = design("").cells
    cell = type(cell)(id="k1", row="", column="", where="t", job={**cell.job, **job})
    one = RunScore(iops=40_000.0, bytes_per_second=0.0, p99_ns=None, mean_ns=None)
    best = DepthPoint(depth=depth, cell=cell, tried=1, scores=(one,))
    return SaturationResult(cell=cell, points=(best,), plateau=mean_interval([40_000.0]), best=best)


def test_all_rates_are_asked_for_in_rounds_and_every_second_goes_backwards() -> None:
    wanted = next_percents((), LADDER, 3, Random(1))
    assert wanted[3:6] == wanted[:3][::-1]
    assert Counter(wanted) == {50: 3, 100: 3, 110: 3}


def test_more_is_asked_for_as_long_as_the_highest_is_carried() -> None:
    assert next_percents((point(100), point(110)), LADDER, 3, Random(1)) == (120, 120, 120)


def test_a_curve_ends_with_what_was_too_much() -> None:
    assert next_percents((point(100), point(110, reached=900)), LADDER, 3, Random(1)) == ()


def test_nobody_asks_for_more_than_half_as_much_again() -> None:
    assert next_percents((point(150),), LADDER, 3, Random(1)) == ()


def test_a_rate_that_was_missed_by_more_than_a_fiftieth_is_not_carried() -> None:
    assert not point(50, reached=970).carried


def test_a_rate_that_was_missed_by_less_is_carried() -> None:
    assert point(50, reached=985).carried


def test_few_requests_at_random_miss_their_rate_by_chance() -> None:
    assert point(50, reached=930, ios=1000).carried


def test_a_rate_whose_runs_all_failed_is_not_carried() -> None:
    assert not RatePoint(percent=50, asked=1000.0, cell=CELL, tried=3).carried


def test_a_rate_is_shared_out_among_the_jobs() -> None:
    assert rate_cell(saturated(8, numjobs="4"), 50).job["rate_iops"] == "5000"


def test_the_requests_of_a_rate_come_at_random() -> None:
    assert rate_cell(saturated(8), 50).job["arrival"] == "poisson"


def test_there_is_room_for_four_times_what_fills_the_device() -> None:
    assert rate_cell(saturated(32), 50).job["iodepth"] == "128"


def test_large_blocks_have_less_room_where_memory_ends() -> None:
    cell = rate_cell(saturated(256, bs="8M", iodepth="1"), 50)
    assert Job.from_fields(cell.job).iodepth == 512


def test_a_percentile_that_one_run_cannot_tell_is_not_told() -> None:
    one = RatePoint(percent=50, asked=1.0, cell=CELL, tried=2, scores=(*point(50, p99=10).scores, *point(50).scores))
    assert one.latency(LatencyFigure.P99) is None


def test_flushes_make_no_curve() -> None:
    with pytest.raises(PlanError, match="fio crashes if flushes come at random"):
        design('[[workload]]\nname="w"\nrw="randwrite"\nfsync=1\n[curve]\n')


def test_an_engine_without_a_queue_has_no_saturation() -> None:
    with pytest.raises(PlanError, match="psync keeps only one I/O in flight"):
        design('[[workload]]\nname="w"\nioengine="psync"\n[curve]\n')


@pytest.mark.parametrize("name", DEVICES)
def test_the_knee_of_a_known_device_is_found_within_a_tenth(name: str) -> None:
    seen = bend(DEVICES[name], Random(1), 0.02)
    assert seen.knee == pytest.approx(1, abs=0.1)
    assert seen.covered


def test_what_carries_everything_is_asked_for_half_as_much_again() -> None:
    points = rates(FLAT, Random(1), 0.02, saturation=40_000.0, depth=64)
    assert [one.percent for one in points][-4:] == [120, 130, 140, 150]


def test_the_goal_of_a_curve_is_the_plateau() -> None:
    assert design("[curve]\n").saturation == Saturation()
