"""A run as it is told, second by second."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark.conditions.facts import Condition
from app.core.benchmark.conditions.monitor import LiveAdvisor, in_flight
from app.core.benchmark.device_stats.sampler import PATH
from app.core.session.results import (
    Advice,
    CpuStats,
    DirectionSample,
    DirectionStats,
    LatencyStats,
    MemberStats,
    Phase,
    RunResult,
    RunStatus,
    Sample,
)
from app.features.advice.rules import advise
from tests.backends.fakes import FakeHost
from tests.features.advice.facts import run, set_to

IDLE = "   8      16 sdb 100 0 8000 1 100 0 8000 1 0 1 1"


def sample(at: float, iops: float = 10_000.0, phase: Phase = Phase.MEASURING) -> Sample:
    reads = DirectionSample(iops=iops, bytes_per_second=iops * 4096, ios=int(iops * 0.25))
    return Sample(at=at, seconds=0.25, phase=phase, read=reads)


def figures(status: RunStatus = RunStatus.OK, seconds: float = 60.0) -> RunResult:
    read = DirectionStats(
        iops=10e3,
        bytes_per_second=40_960e3,
        total_ios=600_000,
        total_bytes=600_000 * 4096,
        runtime_s=seconds,
        latency_ns=LatencyStats(),
    )
    return RunResult(status=status, seconds=seconds, read=read)


async def through(watch: LiveAdvisor, seconds: float, iops: float = 10_000.0) -> list[tuple[Advice, ...]]:
    """All that is said while so many seconds are measured."""
    said = [await watch.sample(sample(0.25 * number, iops)) for number in range(1, int(seconds * 4) + 1)]
    return [each for each in said if each is not None]


def named(said: tuple[Advice, ...]) -> list[str]:
    return [advice.key for advice in said]


def watch(host: FakeHost | None = None, **changes: object) -> LiveAdvisor:
    return LiveAdvisor(host or FakeHost({}), run(**changes), advise, devices=["/dev/sdb"])  # type: ignore[arg-type]


async def test_what_is_known_beforehand_is_said_first() -> None:
    assert named(watch(content=False).first()) == ["unwritten-flash"]


async def test_nothing_is_said_twice_while_nothing_changes() -> None:
    own = watch(content=False)
    own.first()
    assert await through(own, 20.0) == []


async def test_a_full_core_is_said_within_seconds() -> None:
    own = watch()
    for _ in range(3):
        own.cpu(99.0, 20.0)
    assert [named(said) for said in await through(own, 4.0)] == [["fio-cpu-bound"]]


async def test_what_is_over_is_taken_back() -> None:
    own = watch()
    for _ in range(5):
        own.cpu(99.0, 20.0)
    await through(own, 2.0)
    for _ in range(5):
        own.cpu(40.0, 20.0)
    assert await own.sample(sample(10.0)) == ()


async def test_one_reading_of_the_processor_says_nothing() -> None:
    own = watch()
    own.cpu(99.0, 99.0)
    assert await through(own, 8.0) == []


async def test_foreign_writes_are_said_while_a_job_reads() -> None:
    host = FakeHost({PATH: IDLE})
    own = watch(host)
    await own.begin()
    host.files[PATH] = "   8      16 sdb 200 0 9000 1 9999 0 900000 1 0 1 1"
    assert [named(said) for said in await through(own, 3.0)] == [["device-busy"]]


async def test_the_ramp_is_not_measured() -> None:
    own = watch()
    said = [await own.sample(sample(0.25 * number, phase=Phase.RAMP)) for number in range(1, 60)]
    assert set(said) == {None}


async def test_a_member_that_holds_the_others_up_is_said_from_two_seconds_of_means() -> None:
    own = watch()
    slow = MemberStats(device="sdc", read_iops=5e3, write_iops=0.0, utilisation=1.0, queue=30.0, share_of_reads=0.5)
    fast = replace(slow, device="sdd", queue=2.0)
    for _ in range(8):
        own.members((slow, fast))
    assert [named(said) for said in await through(own, 3.0)] == [["member-imbalance"]]


async def test_a_run_that_is_not_steady_is_said_after_fifty_seconds() -> None:
    own = watch()
    falling = [sample(0.25 * number, iops=50_000.0 - 200.0 * number) for number in range(1, 241)]
    said = [one.at for one in falling if await own.sample(one)]
    assert said[:1] == [50.0]


async def test_the_whole_run_has_the_condition_before_and_after() -> None:
    async def after() -> Condition:
        return set_to("write-back", in_force="write-through")

    own = LiveAdvisor(FakeHost({}), run(before=set_to("write-back")), advise, condition=after)
    await through(own, 60.0)
    assert named(await own.end(figures())) == ["policy-changed"]


async def test_a_failed_run_does_not_ask_for_more() -> None:
    async def after() -> Condition:
        raise AssertionError("asked")

    own = LiveAdvisor(FakeHost({}), run(content=False), advise, condition=after)
    assert named(await own.end(figures(RunStatus.FAILED))) == ["unwritten-flash"]


async def test_the_end_has_fios_own_share_of_the_whole_run() -> None:
    own = watch()
    busy = replace(figures(), cpu=CpuStats(fio_percent_of_core=97.0))
    await through(own, 60.0)
    assert named(await own.end(busy)) == ["fio-cpu-bound"]


async def test_cores_that_were_slowed_down_before_the_run_do_not_count() -> None:
    path = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
    own = watch(FakeHost({path: "5"}))
    await own.begin()
    await through(own, 60.0)
    assert await own.end(figures()) == ()


def side(iops: float, mean_us: float | None, *, whole: bool = True) -> DirectionStats:
    times = LatencyStats(mean=None if mean_us is None else mean_us * 1000)
    return DirectionStats(
        iops=iops, bytes_per_second=0, total_ios=1, total_bytes=0, runtime_s=1, latency_ns=times,
        completion_ns=times if whole else None,
    )  # fmt: skip


def test_what_is_in_flight_is_iops_by_mean_latency_of_all_that_is_done() -> None:
    figures = RunResult(
        status=RunStatus.OK, read=side(1000, 2000), write=side(500, 1000), sync=side(50, 9000, whole=False)
    )
    assert in_flight(figures) == pytest.approx(2.95)


@pytest.mark.parametrize("read", [side(1000, None), side(1000, 2000, whole=False), None])
def test_what_is_in_flight_is_not_known_without_whole_latencies(read: DirectionStats | None) -> None:
    assert in_flight(RunResult(status=RunStatus.OK, read=read)) is None
