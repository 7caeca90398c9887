"""What devices do now: rates of the last second, the last minute, and what is not known."""

from __future__ import annotations

import pytest

from app.core.benchmark.device_stats.activity import LATE_S, PART_S, PARTS, ActivityMeter
from tests.backends.fakes import FakeHost, disk, machine
from tests.core.benchmark.device_stats.machines import QUIET, STATS, stats


class Machine:
    """A machine whose counters and clock the test moves."""

    def __init__(self) -> None:
        self.host = FakeHost(machine(disk("sda"), disk("sdb"), disk("sdq", queue=QUIET)))
        self.now = 1000.0
        self.meter = ActivityMeter(self.host, clock=lambda: self.now)
        self.meter._counter_clock = lambda: self.now

    async def take(self, seconds: float = 1.0, **devices: dict[str, int]) -> None:
        """A reading so many seconds later, with these counters."""
        self.now += seconds
        self.host.files[STATS] = stats(**devices)
        await self.meter.take(("sda", "sdb", "sdq"))


@pytest.fixture
def machine_at() -> Machine:
    return Machine()


async def test_rates_are_those_between_the_last_two_readings(machine_at: Machine) -> None:
    await machine_at.take(sda={"reads": 100, "busy": 10})
    await machine_at.take(sda={"reads": 300, "busy": 510})
    await machine_at.take(sda={"reads": 350, "busy": 760})
    rates = machine_at.meter.rates["sda"]
    assert (rates.read_iops, rates.read_bytes_per_second, rates.utilisation) == (50.0, 50 * 8 * 512, 0.25)


async def test_one_reading_says_nothing(machine_at: Machine) -> None:
    await machine_at.take(sda={"reads": 100})
    assert machine_at.meter.rates == {}


async def test_a_device_that_appears_is_unknown_until_its_second_reading(machine_at: Machine) -> None:
    await machine_at.take(sda={})
    await machine_at.take(sda={}, sdb={"reads": 7})
    assert "sdb" not in machine_at.meter.rates
    await machine_at.take(sda={}, sdb={"reads": 9})
    assert machine_at.meter.rates["sdb"].read_iops == 2.0


async def test_a_device_that_is_gone_has_no_rates(machine_at: Machine) -> None:
    await machine_at.take(sda={}, sdb={})
    await machine_at.take(sda={}, sdb={})
    await machine_at.take(sda={})
    assert set(machine_at.meter.rates) == {"sda"}


async def test_a_counter_that_wraps_goes_on(machine_at: Machine) -> None:
    await machine_at.take(sda={"busy": (1 << 32) - 100})
    await machine_at.take(sda={"busy": 200})
    assert machine_at.meter.rates["sda"].utilisation == pytest.approx(0.3)


async def test_a_disk_that_the_kernel_does_not_count_is_unknown_and_not_idle(machine_at: Machine) -> None:
    await machine_at.take(sda={}, sdq={})
    await machine_at.take(sda={}, sdq={})
    assert set(machine_at.meter.rates) == {"sda"}


async def test_a_disk_is_counted_from_when_the_setting_is_changed(machine_at: Machine) -> None:
    await machine_at.take(sdq={})
    machine_at.host.files["/sys/block/sdq/queue/iostats"] = "1"
    machine_at.meter.recheck()
    await machine_at.take(sdq={})
    await machine_at.take(sdq={"reads": 3})
    assert machine_at.meter.rates["sdq"].read_iops == 3.0


async def test_after_a_pause_only_the_minute_is_known(machine_at: Machine) -> None:
    await machine_at.take(sda={})
    await machine_at.take(LATE_S + 30, sda={"reads": 9000, "busy": round((LATE_S + 30) * 500)})
    assert machine_at.meter.rates == {}
    known = [share for share in machine_at.meter.minute("sda") if share is not None]
    assert known == [pytest.approx(0.5)] * len(known)
    assert len(known) >= 30 // PART_S


async def test_the_minute_keeps_each_part_once_it_is_over(machine_at: Machine) -> None:
    busy = 0
    for second in range(70):
        busy += 1000 if second < 65 else 0
        await machine_at.take(sda={"busy": busy})
    minute = machine_at.meter.minute("sda")
    assert len(minute) == PARTS
    assert list(minute[-3:]) == pytest.approx([1.0, 1.0, 0.0])


async def test_a_minute_forgets_what_is_older(machine_at: Machine) -> None:
    busy = 0
    for _ in range(400):
        busy += 300
        await machine_at.take(sda={"busy": busy})
    assert len(machine_at.meter._busy["sda"]) <= PARTS + 1
    assert machine_at.meter.minute("sda") == (pytest.approx(0.3),) * PARTS


async def test_the_minute_of_a_device_begins_with_its_first_rates(machine_at: Machine) -> None:
    for _ in range(30):
        await machine_at.take(sda={})
    await machine_at.take(sda={}, sdb={})
    await machine_at.take(sda={}, sdb={})
    assert machine_at.meter.minute("sdb") == (None,) * (PARTS - 1) + (0.0,)
    assert machine_at.meter.minute("sdc") == (None,) * PARTS


async def test_counters_that_cannot_be_read_are_unknown(machine_at: Machine) -> None:
    await machine_at.take(sda={})
    await machine_at.take(sda={})
    del machine_at.host.files[STATS]
    machine_at.now += 1
    await machine_at.meter.take(("sda", "sdb", "sdq"))
    assert machine_at.meter.rates == {}


async def test_a_recording_stands_still_and_is_not_called_idle() -> None:
    recorded = Machine()
    recorded.host.made_up = True
    recorded.meter = ActivityMeter(recorded.host)
    await recorded.take(sda={})
    await recorded.take(sda={})
    assert recorded.meter.rates == {}
