"""What befell a device under a run is said in words, by what the kernel tells of it and not by fio's error numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark.device_faults import (
    DeviceHealth,
    FaultDetector,
    read_device_health,
    standstill_text,
    with_device_faults,
    with_standstill,
)
from app.core.benchmark.device_stats import Member
from app.core.session.results import (
    DirectionSample,
    DirectionStats,
    LatencyStats,
    MemberStats,
    Phase,
    RunResult,
    RunStatus,
    Sample,
)
from tests.backends.fakes import FakeHost, disk

OK = RunResult(status=RunStatus.OK)
FULL = RunResult(status=RunStatus.FAILED, reason="No space is left (ENOSPC)", hint="Free some space.")
NVME = DeviceHealth(name="nvme3n1", sequence="9", state="live")
RAID5 = DeviceHealth(name="md0", sequence="7", level="raid5", members=3, missing=0)
FAULTY = (MemberStats(device="sda"), MemberStats(device="sdb", role="faulty"))


def interval(at: float, seconds: float = 0.25, *, ios: int = 100, phase: Phase = Phase.MEASURING) -> Sample:
    part = DirectionSample(iops=ios / seconds, bytes_per_second=0.0, ios=ios)
    return Sample(at=at, seconds=seconds, phase=phase, read=part)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (replace(NVME, sequence=None, state=None), "nvme3n1 was unplugged"),
        (replace(NVME, state="dead"), "nvme3n1 was unplugged"),
        (replace(NVME, sequence="10"), "nvme3n1 is now a different device"),
        (replace(NVME, state="offline"), "The device is offline"),
        (replace(NVME, state="blocked"), "The device is blocked"),
    ],
)
def test_a_failed_run_says_what_befell_its_device(after: DeviceHealth, words: str) -> None:
    assert words in (with_device_faults(FULL, NVME, after).reason or "")


def test_a_failure_of_a_device_that_is_well_keeps_its_own_words() -> None:
    assert with_device_faults(FULL, NVME, NVME) == FULL


def test_a_run_that_was_over_before_its_device_left_stays_ok() -> None:
    assert with_device_faults(OK, NVME, replace(NVME, sequence=None)).status is RunStatus.OK


def test_an_array_that_lost_too_many_members_has_failed() -> None:
    told = with_device_faults(FULL, RAID5, replace(RAID5, missing=2))
    assert told.reason == "The array has failed: md0 (raid5) lacks 2 of its 3 members"


@pytest.mark.parametrize(
    ("level", "missing", "broken"),
    [("raid1", 2, False), ("raid1", 3, True), ("raid6", 2, False), ("raid6", 3, True), ("raid10", 2, False)],
)
def test_an_array_is_broken_beyond_what_its_level_can_do_without(level: str, missing: int, broken: bool) -> None:
    assert replace(RAID5, level=level, missing=missing).broken is broken


def test_a_member_that_failed_is_named_with_what_that_makes_of_the_figures() -> None:
    told = with_device_faults(replace(OK, members=FAULTY), RAID5, replace(RAID5, missing=1))
    assert told.warnings == (
        "sdb failed during the run and is marked faulty",
        (
            "md0 is now degraded (1 of 3 members missing). The results mix the state before and after that. "
            "Replace the member, let the array rebuild, then measure again"
        ),
    )


def test_a_member_that_was_faulty_before_the_run_is_not_news() -> None:
    degraded = replace(RAID5, missing=1)
    assert with_device_faults(replace(OK, members=FAULTY), degraded, degraded, {"sdb": "faulty"}).warnings == ()


async def test_a_disk_that_is_not_there_has_no_number() -> None:
    assert await read_device_health(FakeHost(disk("sda")), "/dev/sdb") == DeviceHealth(name="sdb", sequence=None)


async def test_a_witness_waits_for_a_disk_that_fails_first_and_goes_then() -> None:
    class Leaving(FakeHost):
        looks = 0

        async def read_many(self, paths: object) -> dict[str, str]:
            self.looks += 1
            there = {"/sys/block/sda/dev": "8:0", "/sys/block/sda/diskseq": "9"}
            return there if self.looks < 3 else {}

    host = Leaving({})
    told = await FaultDetector(host, [await read_device_health(host, "/dev/sda")], tuple).explain(FULL, ())
    assert "sda was unplugged" in (told.reason or "")


async def test_a_witness_compares_with_the_roles_at_the_beginning() -> None:
    host = FakeHost(disk("md0", md__level="raid5", md__raid_disks="3", md__degraded="1"))
    witness = FaultDetector(host, [await read_device_health(host, "/dev/md0")], tuple)
    told = await witness.explain(
        replace(OK, members=FAULTY), (Member(device="sda"), Member(device="sdb", role="faulty"))
    )
    assert told.warnings == ()


def test_the_longest_standstill_is_told() -> None:
    samples = (interval(3.0, 3.0, ios=0), interval(3.25), interval(8.25, 5.0, ios=0))
    assert "for 5.0 s at 0:13 (the longest of 2 stalls)" in (standstill_text(samples, 10.0) or "")


def steady(seconds: float, ios: int = 100, *, at: float = 0.0) -> list[Sample]:
    """Quarter seconds with as many I/Os each."""
    return [interval(at + 0.25 * (one + 1), ios=ios) for one in range(round(seconds * 4))]


def test_a_run_in_which_the_device_stood_still_did_not_go_well_and_says_so_first() -> None:
    told = with_standstill(OK, [*steady(3), interval(6.0, 3.0, ios=0), *steady(1, at=6.0)])
    assert (told.status, told.still_s) == (RunStatus.FAILED, 3.0)
    assert (told.reason or "").startswith("No I/O completed for 3.0 s at 0:03: the device stalled.")


def test_a_run_that_stood_still_from_its_first_second_did_not_go_well() -> None:
    told = with_standstill(OK, [interval(3.0, 3.0, ios=0)])
    assert (told.status, told.still_s) == (RunStatus.FAILED, 3.0)


def test_a_run_that_failed_by_itself_keeps_its_reason() -> None:
    told = with_standstill(FULL, [*steady(3), interval(6.0, 3.0, ios=0)])
    assert (told.status, told.reason, told.still_s) == (RunStatus.FAILED, FULL.reason, 3.0)
    assert "stalled" in told.warnings[-1]


def test_a_job_of_few_large_ios_does_not_stand_still_between_them() -> None:
    """One of two seconds each."""
    two = [(interval(turn * 2 + 1.75, 1.75, ios=0), interval(turn * 2 + 2.0, ios=1)) for turn in range(5)]
    samples = [one for each in two for one in each]
    told = with_standstill(OK, samples)
    assert (told.status, told.still_s) == (RunStatus.OK, None)


def test_a_pause_that_the_job_asks_for_is_no_standstill() -> None:
    samples = [*steady(3), interval(8.0, 5.0, ios=0), *steady(3, at=8.0)]
    assert with_standstill(OK, samples, idle_s=5.0).status is RunStatus.OK
    assert with_standstill(OK, samples, idle_s=0.1).status is RunStatus.FAILED


def test_a_flush_that_takes_seconds_is_what_was_measured() -> None:
    sync = DirectionStats(
        iops=1.0,
        bytes_per_second=0.0,
        total_ios=10,
        total_bytes=0,
        runtime_s=10.0,
        latency_ns=LatencyStats(max=2_900_000_000),
    )
    samples = [*steady(3), interval(6.0, 3.0, ios=0), *steady(3, at=6.0)]
    assert with_standstill(replace(OK, sync=sync), samples).status is RunStatus.OK
