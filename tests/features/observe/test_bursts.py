"""Which loads come in bursts: recorded on a loop device, and simulated."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.benchmark.device_stats.diskstats import DiskCounters
from app.features.observe.presentation import observation_json, observation_lines
from app.features.observe.rates import ActivityCounter, DeviceActivity
from tests.features.observe.machines import Moving, closed

RECORDED = {
    (line.split(": ")[0], line.split(": ")[1]): [int(count) for count in line.split(": ")[2].split()]
    for line in Path(__file__).with_name("recorded_loads.txt").read_text().splitlines()
    if not line.startswith("#")
}
"""Numbers of I/Os in intervals of 100 ms, by load and by whether they are bursts."""


def activity_of(counts: Sequence[int]) -> DeviceActivity:
    """What is seen of a load."""
    counter = ActivityCounter("sda", is_level=False, is_counted=True, counts_flushes=True)
    total = DiskCounters()
    for number, count in enumerate((0, *counts)):
        total = total._replace(reads=total.reads + count)
        counter.take(number / 10, total)
    return counter.activity()


def exact_peak_time(counts: Sequence[int]) -> float:
    """The share of the intervals that have 80 % of the I/Os, without powers of two."""
    left, intervals = 0.8 * sum(counts), 0.0
    for count in sorted(counts, reverse=True):
        part = min(1.0, left / count) if count and left > 0 else 0.0
        intervals, left = intervals + part, left - part * count
    return intervals / len(counts)


@pytest.mark.parametrize(("load", "answer"), RECORDED)
def test_recorded_loads_with_pauses_are_bursts_and_others_are_not(load: str, answer: str) -> None:
    seen = activity_of(RECORDED[load, answer])
    assert seen.bursts == answer
    assert seen.peak_time == pytest.approx(exact_peak_time(RECORDED[load, answer]), abs=0.06)


def test_the_dispersion_alone_takes_fast_steady_loads_for_bursts() -> None:
    """Why the specified mark, a dispersion of 30, is not enough."""
    others = [load for load in RECORDED if load[1] != "yes"]
    assert sum((activity_of(RECORDED[load]).dispersion or 0) >= 30 for load in others) >= 3


SIMULATED = {
    "even": ([100] * 300, "no"),
    "random, few": ([int(number % 10 == 0) for number in range(300)], "few"),
    "fast, a third more or less": ([7000 + 2300 * (number % 3 - 1) for number in range(300)], "no"),
    "half the rate half-way": ([1000] * 150 + [500] * 150, "no"),
    "half of the time": ([500, 500, 500, 0, 0, 0] * 50, "no"),
    "one slow interval in ten": (([300] * 9 + [5]) * 30, "no"),
    "a quarter of the time": ([400, 0, 0, 0] * 75, "yes"),
    "a flush every five seconds": ([2000, *[3] * 49] * 6, "rare"),
    "a flush every five seconds that takes long": ([*[2000] * 8, *[3] * 42] * 6, "yes"),
    "bursts on an even load": ([900, 900, *[20] * 18] * 15, "yes"),
}


@pytest.mark.parametrize("load", SIMULATED)
def test_simulated_loads(load: str) -> None:
    counts, answer = SIMULATED[load]
    assert activity_of(counts).bursts == answer


@pytest.mark.parametrize("rate", [0.3, 3, 30, 3000])
def test_random_arrivals_are_no_bursts_at_any_rate(rate: float) -> None:
    dice = random.Random(7)
    counts = [sum(dice.random() < rate / 1000 for _ in range(1000)) if rate < 1000 else 3000 for _ in range(300)]
    if rate >= 1000:
        counts = [round(dice.gauss(rate, rate**0.5)) for _ in range(300)]
    assert activity_of(counts).bursts == ("few" if rate < 1 else "no")


def test_a_single_flush_of_a_short_observation_is_not_known_to_be_a_burst() -> None:
    counts = [500, 400, *[3] * 27]
    assert (activity_of(counts).bursts, activity_of(counts * 4).bursts) == (None, "yes")


async def test_few_ios_are_no_bursts_although_they_come_in_little_of_the_time() -> None:
    moving = Moving("sda")
    observer = moving.observer("sda")
    await observer.open()
    for number in range(200):
        moving.step({"sda": {"writes": int(number % 50 == 0)}}, {})
        await observer.take()
    seen = await closed(observer)
    assert "Bursts: no, few I/Os (80 % of the I/Os in 1.6 % of the time)." in observation_lines(seen)[0]


async def test_the_sentence_and_the_json_say_in_which_share_of_the_time_most_io_came() -> None:
    moving = Moving("sda")
    observer = moving.observer("sda")
    await observer.open()
    for number in range(200):
        moving.step({"sda": {"reads": 0 if number % 4 else 396}}, {})
        await observer.take()
    seen = await closed(observer)
    assert "Bursts: yes (80 % of the I/Os in 20 % of the time)." in observation_lines(seen)[0]
    target = observation_json(seen)["target"]
    assert (target["bursts"], target["dispersion"], target["peak_time"]) == ("yes", 297, 0.2)
