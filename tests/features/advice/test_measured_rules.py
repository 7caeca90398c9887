"""What figures say about their own worth."""

from __future__ import annotations

import pytest

from app.core.session.results import CpuStats
from app.features.advice.measured_rules import merge_rounds, steady_after
from tests.case_loop import loop_over
from tests.features.advice.facts import going, keys, over, run, said

FULL = CpuStats(fio_percent_of_core=98.0, host_percent=9.0)


def test_article_b_one_job_at_depth_512_is_bound_by_its_core() -> None:
    facts = run(job={"rw": "read", "iodepth": "512"}, queue_limit=None, cores=12, measured=going(cpu=FULL))
    assert said(facts, "fio-cpu-bound").message == (
        "fio uses 98 % of a core for its one job. The run measures the CPU, not the device."
    )


def test_four_jobs_have_four_cores() -> None:
    assert keys(run(job={"numjobs": "4"}, measured=going(cpu=FULL))) == []


def test_more_jobs_than_cores_are_bound_by_the_cores() -> None:
    cpu = CpuStats(fio_percent_of_core=196.0, host_percent=90.0)
    assert keys(run(job={"numjobs": "4"}, cores=2, measured=going(cpu=cpu))) == ["fio-cpu-bound"]


def test_a_host_without_idle_time_is_told() -> None:
    assert keys(run(measured=going(cpu=CpuStats(fio_percent_of_core=30.0, host_percent=99.0)))) == ["host-cpu-bound"]


@pytest.mark.parametrize(
    ("depth", "flying", "told"), [("64", 52.0, []), ("64", 50.0, ["depth-not-kept"]), ("1", 1.25, ["depth-not-kept"])]
)
def test_a_depth_that_was_not_kept_is_told(depth: str, flying: float, told: list[str]) -> None:
    assert keys(run(job={"iodepth": depth}, measured=over(in_flight=flying))) == told


def test_the_articles_own_figures_are_of_another_depth() -> None:
    """289k IOPS at 616 us are 178 in flight, not the 1024 that were asked for."""
    facts = run(job={"iodepth": "128", "numjobs": "8"}, queue_limit=None, measured=over(in_flight=289e3 * 616e-6))
    assert said(facts, "depth-not-kept").message.startswith("On average 178 I/Os were in flight")


@pytest.mark.parametrize("job", [{"rate_iops": "1000"}, {"thinktime": "1ms"}, {"ioengine": "psync"}])
def test_a_depth_that_nobody_keeps_is_not_told(job: dict[str, str]) -> None:
    facts = run(job={"iodepth": "64", **job}, measured=over(in_flight=1.0, reads=60_000))
    assert "depth-not-kept" not in keys(facts)


@loop_over(
    ("job", "reads", "flying", "told"),
    [
        ({"rate_iops": "1000"}, 57_100, 1.0, []),
        ({"rate_iops": "1000"}, 56_900, 1.0, ["rate-not-held"]),
        ({"rate_iops": "500", "numjobs": "2"}, 56_900, 1.0, ["rate-not-held"]),
        ({"rate_iops": "1000"}, 60_000, 32.1, ["rate-not-held"]),
        ({"rate_iops": "1000"}, 60_000, 31.9, []),
        ({"rate": "5M"}, 60_000, 1.0, ["rate-not-held"]),
        ({"rate": "4M"}, 60_000, 1.0, []),
        ({"rw": "randrw", "rate_iops_read": "600", "rate_iops_write": "400"}, 56_900, 1.0, ["rate-not-held"]),
        ({"rw": "randrw", "rate_iops_read": "600", "rate_iops_write": "400"}, 57_100, 1.0, []),
        ({"rw": "randrw", "rate_read": "3M", "rate_write": "2M"}, 60_000, 1.0, ["rate-not-held"]),
    ],
)
def test_a_rate_that_was_not_held_is_told(job: dict[str, str], reads: int, flying: float, told: list[str]) -> None:
    facts = run(job={"iodepth": "64", **job}, measured=over(reads=reads, read_bytes=reads * 4096, in_flight=flying))
    assert keys(facts) == told


@pytest.mark.parametrize(
    ("rw", "ios", "told"), [("randtrim", 60_000, False), ("randtrim", 50_000, True), ("randtrimwrite", 60_000, False)]
)
def test_a_rate_of_trims_is_that_of_the_trims(rw: str, ios: int, told: bool) -> None:
    writes = ios if rw == "randtrimwrite" else 0
    done = over(reads=0, trims=ios, writes=writes, read_bytes=0, trimmed_bytes=ios * 4096, in_flight=0.2)
    facts = run(job={"rw": rw, "iodepth": "1", "rate_iops": "1000"}, measured=done)
    assert ("rate-not-held" in keys(facts)) is told


def test_few_trims_are_told() -> None:
    facts = run(job={"rw": "randtrim", "iodepth": "1"}, measured=over(reads=0, trims=900))
    assert said(facts, "few-ios").message.startswith("900 trims are too few")


def test_the_depth_of_trims_has_no_effect() -> None:
    advice = said(run(job={"rw": "randtrim", "iodepth": "8"}), "sync-depth")
    assert (advice.message.startswith("fio keeps one trim in flight per job"), advice.do) == (
        True,
        "Use more jobs instead of a higher queue depth.",
    )


def test_few_ios_are_told_with_the_time_that_it_takes() -> None:
    facts = run(measured=over(reads=5_000))
    assert said(facts, "few-ios").do == "At this rate, 10,000 I/Os take 2 min."


@pytest.mark.parametrize(("ios", "lost"), [(9_999, "too few for p99.9."), (900, "too few for p99 and p99.9.")])
def test_which_percentiles_are_lost(ios: int, lost: str) -> None:
    assert lost in said(run(measured=over(reads=ios)), "few-ios").message


def test_a_falling_run_is_not_steady() -> None:
    falling = tuple(40_000.0 - 5_000 * step for step in range(6))
    message = said(run(measured=over(rounds=falling)), "not-steady").message
    assert "The results are not steady over the 60 s of the run" in message


def test_while_it_runs_the_last_fifty_seconds_count() -> None:
    settled = (90e3, 70e3, 50e3, 40e3, 40e3, 40e3, 40e3, 40e3)
    assert keys(run(measured=going(rounds=settled))) == []


def test_over_the_whole_run_the_beginning_counts_as_well() -> None:
    settled = (90e3, 70e3, 50e3, 40e3, 40e3, 40e3, 40e3, 40e3, 40e3, 40e3)
    assert keys(run(measured=over(seconds=100.0, rounds=settled))) == ["not-steady"]


def test_before_there_are_five_rounds_nothing_is_known() -> None:
    assert keys(run(measured=going(rounds=(90e3, 10e3, 50e3, 40e3)))) == []


def test_article_d_a_night_of_the_same_could_have_ended_after_a_minute() -> None:
    night = over(seconds=28_800.0, rounds=(868.0,) * 2880)
    assert "steady after 50 s, but the run took 8 h" in said(run(measured=night), "long-steady").message


def test_article_d_could_be_told_while_it_ran() -> None:
    minute = going(rounds=(868.0,) * 6, seconds=60.0)
    facts = run(measured=type(minute)(ended=False, seconds=60.0, left=28_740.0, rounds=(868.0,) * 6))
    assert said(facts, "long-steady").do == "Stop the run; its results are kept."


def test_a_run_of_an_hour_that_was_steady_late_was_no_waste() -> None:
    late = (2000.0, 1500.0) * 100 + (868.0,) * 160
    assert "long-steady" not in keys(run(measured=over(seconds=3600.0, rounds=late)))


def test_steady_is_since_the_last_time_that_it_was_not() -> None:
    assert steady_after((10, 10, 10, 10, 10, 30, 10, 10, 10, 10, 10)) == 110


def test_rounds_are_gathered_into_five() -> None:
    assert merge_rounds((9.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0)) == (2.0,) * 5
