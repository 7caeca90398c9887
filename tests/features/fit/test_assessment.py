"""The answer to measured runs: whose limit it is, and what turns a yes into another answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.features.fit.assessment import Foundation, Obstacle, assess
from app.features.fit.decision import FitAnswer, FitReason
from app.features.fit.demands import Demands
from app.features.fit.profiles import FIT_PROFILES, YOURS, Quantity, job_of, limits_of, require_suitable
from app.features.fit.runs import FitInterval
from backends.errors import InvalidValueError
from backends.model import Media
from tests.features.fit.making import NO_FINDING, UNSAFE, assessed, run


def test_fast_flushes_are_fit_for_etcd_and_slow_ones_are_not() -> None:
    assert assessed("etcd", run(1)).answer is FitAnswer.YES
    assert assessed("etcd", run(12)).answer is FitAnswer.NO
    assert assessed("k8s", run(12)).answer is FitAnswer.NO


def test_pauses_of_writes_count_although_every_flush_is_fast() -> None:
    result = assessed("etcd", run(1, pause_ms=30))
    assert result.answer is FitAnswer.NO
    assert result.conditions[0].judgement.reasons == (FitReason.STUCK,)
    assert result.latency is not None
    assert result.latency.stuck.mean == pytest.approx(4 * 0.020, rel=0.01)


def test_the_limit_of_heavy_load_and_that_of_the_user_replace_the_documented_one() -> None:
    assert assessed("etcd", run(3)).answer is FitAnswer.YES
    assert assessed("etcd", run(3), demands=Demands(heavy=True)).answer is FitAnswer.NO
    own = assessed("etcd", run(12), demands=Demands(limit=0.020))
    assert (own.answer, own.conditions[0].limit.source) == (FitAnswer.YES, YOURS)


@pytest.mark.parametrize("name", ["postgres", "mysql", "kafka", "vm"])
def test_without_a_number_the_answer_is_never_yes_or_no(name: str) -> None:
    for speed in (0.01, 1000.0):
        result = assessed(name, run(speed, mean_ms=speed), preconditioned=True)
        assert (result.answer, result.obstacle) == (FitAnswer.UNDECIDED, Obstacle.NO_LIMIT)


def test_commits_of_mysql_wait_for_two_flushes() -> None:
    assert assessed("postgres", run(iops=1000), demands=Demands(commits=600)).answer is FitAnswer.YES
    assert assessed("mysql", run(iops=1000), demands=Demands(commits=600)).answer is FitAnswer.NO
    assert assessed("mysql", run(iops=1000), demands=Demands(commits=400)).answer is FitAnswer.YES


def test_all_numbers_of_the_user_must_hold() -> None:
    both = Demands(commits=600, p99=0.005)
    assert assessed("postgres", run(1, iops=1000), demands=both).answer is FitAnswer.YES
    assert assessed("postgres", run(9, iops=1000), demands=both).answer is FitAnswer.NO
    assert assessed("postgres", run(1, iops=100), demands=both).answer is FitAnswer.NO


def test_the_floor_of_ceph_depends_on_the_media_and_is_not_known_for_others() -> None:
    assert assessed("ceph-osd", run(iops=200), media=Media.HDD, preconditioned=True).answer is FitAnswer.YES
    assert assessed("ceph-osd", run(iops=200), media=Media.NVME, preconditioned=True).answer is FitAnswer.NO
    unknown = assessed("ceph-osd", run(iops=5000), media=Media.VIRTUAL, preconditioned=True)
    assert unknown.obstacle is Obstacle.NO_LIMIT


def test_programs_that_write_for_hours_need_a_preconditioned_device_for_a_yes_but_not_for_a_no() -> None:
    fast = assessed("ceph-osd", run(iops=5000))
    assert (fast.answer, fast.obstacle) == (FitAnswer.UNDECIDED, Obstacle.NOT_PRECONDITIONED)
    slow = assessed("ceph-osd", run(iops=10))
    assert (slow.answer, slow.obstacle) == (FitAnswer.NO, None)
    kafka = Demands(mbps=50)
    assert assessed("kafka", run(mb=100), demands=kafka).answer is FitAnswer.UNDECIDED
    assert assessed("kafka", run(mb=100), demands=kafka, preconditioned=True).answer is FitAnswer.YES


def test_machines_need_both_their_rate_and_their_latency() -> None:
    rate = Demands(iops=1000)
    assert assessed("vm", run(iops=1000, mean_ms=1), demands=rate).answer is FitAnswer.YES
    assert assessed("vm", run(iops=900, mean_ms=1), demands=rate).answer is FitAnswer.NO
    assert assessed("vm", run(iops=1000, mean_ms=5), demands=rate).answer is FitAnswer.NO
    assert assessed("vm", run(iops=1000, mean_ms=5), demands=rate, media=Media.HDD).answer is FitAnswer.YES
    assert job_of(FIT_PROFILES["vm"], rate).rate_iops == 1000


def test_prometheus_needs_a_local_filesystem_and_nothing_else() -> None:
    assert assessed("prometheus", run()).answer is FitAnswer.YES
    for name in ("prometheus", "kafka"):
        unfit = assessed(name, run(), unfit_filesystem="nfs4", demands=Demands(mbps=1) if name == "kafka" else None)
        assert (unfit.answer, unfit.obstacle) == (FitAnswer.NO, Obstacle.FILESYSTEM)


def test_only_a_yes_becomes_fast_not_safe() -> None:
    assert assessed("etcd", run(1), safety=UNSAFE).answer is FitAnswer.UNSAFE
    assert assessed("etcd", run(12), safety=UNSAFE).answer is FitAnswer.NO
    assert assessed("postgres", run(1), safety=UNSAFE).answer is FitAnswer.UNDECIDED


def test_every_documented_limit_has_a_source() -> None:
    for profile in FIT_PROFILES.values():
        limits = [profile.limit, profile.heavy, *profile.by_media.values()]
        assert all(limit.source for limit in limits if limit is not None)
        assert profile.question or profile.limit or not profile.workload


def test_a_number_that_means_nothing_for_a_program_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="--commits does not apply to etcd"):
        require_suitable(FIT_PROFILES["etcd"], Demands(commits=5))
    with pytest.raises(InvalidValueError, match="exclude each other"):
        require_suitable(FIT_PROFILES["etcd"], Demands(limit=1, heavy=True))


def test_a_rate_that_falls_at_the_end_is_not_decided() -> None:
    fast, slow = run(iops=5000), FitInterval(seconds=0.25, flushes=((1, 50),), waits=((1, 50),))
    last = replace(fast, intervals=(*fast.intervals[:48], *[slow] * 24))
    profile = FIT_PROFILES["postgres"]
    limits = limits_of(profile, Demands(commits=1000), Media.SSD)
    result = assess(profile, limits, [*[fast] * 7, last], Foundation(safety=NO_FINDING))
    assert result.conditions[0].judgement.verdict is FitAnswer.UNDECIDED
    assert result.conditions[0].judgement.reasons == (FitReason.SLOWED,)
    assert result.values[Quantity.COMMITS].mean == pytest.approx(5000)
