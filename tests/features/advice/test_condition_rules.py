"""What else goes on."""

from __future__ import annotations

import pytest

from app.core.benchmark.conditions.facts import Condition, Geometry, Policy
from app.core.benchmark.device_stats.diskstats import DiskCounters
from backends.model import Level, Protection, State, Task
from tests.features.advice.facts import M, going, keys, over, run, said, set_to

REBUILD = Task(kind="rebuild", progress=0.37)
SECTORS = 1 << 20
"""512 MiB."""


def test_a_rebuild_is_told_with_how_far_it_is() -> None:
    assert "a rebuild (37 % done)" in said(run(before=Condition(tasks=(REBUILD,))), "background-task").message


def test_a_task_that_began_during_the_run_is_told() -> None:
    facts = run(after=Condition(tasks=(Task(kind="patrol-read"),)), measured=over())
    assert "patrol read, started during the run" in said(facts, "background-task").message


def test_a_degraded_array_is_told() -> None:
    assert keys(run(array=Geometry(level=Level.RAID1, state=State.DEGRADED))) == ["array-degraded"]


@pytest.mark.parametrize("state", [State.FAILED, State.OFFLINE, State.MISSING])
def test_an_array_that_serves_nothing_is_told_whatever_goes_on(state: State) -> None:
    facts = run(array=Geometry(level=Level.RAID1, state=state), before=Condition(tasks=(REBUILD,)))
    assert f"The array is {state.value}" in said(facts, "array-degraded").message


def test_a_rebuilding_array_is_told_once() -> None:
    array = Geometry(level=Level.RAID1, state=State.REBUILDING)
    assert keys(run(array=array, before=Condition(tasks=(REBUILD,)))) == ["background-task"]
    advice = said(run(array=array, before=Condition(tasks=(REBUILD,))), "background-task")
    assert "The array is degraded" in advice.message


def test_work_of_an_md_array_is_held_down_by_its_own_limit() -> None:
    limit = {"sync_speed_max": Policy(label="Resync speed, at most", now="system")}
    advice = said(run(before=Condition(tasks=(REBUILD,), policies=limit)), "background-task")
    assert "slow it down with a low sync_speed_max of the array" in advice.do
    assert "the array's tool" in said(run(before=Condition(tasks=(REBUILD,))), "background-task").do


def test_a_learning_battery_is_told() -> None:
    assert keys(run(protection=Protection(kind="bbu", state="learning"))) == ["battery-learning"]


def test_write_back_without_a_battery_is_told_as_what_it_is() -> None:
    facts = run(before=set_to("write-back", in_force="write-through"))
    assert "but the effective value is write-through: the battery failed" in said(facts, "policy-not-in-force").message


def test_what_cannot_be_told_is_not_told() -> None:
    assert keys(run(before=set_to("write-back", in_force="unknown"))) == []


def test_write_back_that_became_write_through_spoils_the_run() -> None:
    facts = run(before=set_to("write-back"), after=set_to("write-back", in_force="write-through"), measured=over())
    assert "Write cache changed from write-back to write-through" in said(facts, "policy-changed").message


def test_a_setting_that_stayed_is_not_told() -> None:
    assert keys(run(before=set_to("write-back"), after=set_to("write-back"), measured=over())) == []


def test_writes_beside_a_reading_job_are_told_while_it_runs() -> None:
    busy = going(device=DiskCounters(sectors_written=SECTORS))
    assert "during the run: 512 MiB written." in said(run(measured=busy), "device-busy").message


def test_reads_beyond_fios_own_are_told_at_the_end() -> None:
    done = over(read_bytes=512 * M, device=DiskCounters(sectors_read=2 * SECTORS))
    assert "512 MiB read" in said(run(measured=done), "device-busy").message


def test_reads_beyond_fios_own_are_not_told_while_its_count_lags_behind() -> None:
    assert keys(run(measured=going(device=DiskCounters(sectors_read=1 << 40)))) == []


def test_a_kernel_that_counts_less_than_fio_proves_nothing() -> None:
    assert keys(run(measured=over(device=DiskCounters(sectors_read=5)))) == []


def test_a_log_that_is_written_is_no_foreign_io() -> None:
    assert keys(run(measured=over(device=DiskCounters(sectors_written=2048)))) == []


def test_heat_is_told() -> None:
    done = over(cpu_throttles=3, drives_throttled=("nvme0n1 has 84 °C (warns at 80 °C)",))
    message = said(run(measured=done), "throttled").message
    assert message == (
        "During the run, drives or CPUs were throttled because of their temperature: nvme0n1 has 84 °C"
        " (warns at 80 °C); CPUs were throttled 3 times."
    )


def test_a_governor_that_saves_power_is_told() -> None:
    facts = run(governors={"powersave": 12, "performance": 4})
    assert "powersave on 12 of 16 CPUs" in said(facts, "governor").message
