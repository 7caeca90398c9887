"""What many hosts did together: of all I/Os, never of averages."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.fleet.multihost.figures import HostStats, IntervalSum, IoCounts, sum_hosts
from tests.core.fio.documents import histogram_of

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}

Interval = list[int]
"""Latencies, ns."""


def pooled(intervals: list[Interval], seconds: float = 0.25, name: str = "read") -> HostStats:
    pool = IntervalSum()
    for latencies in intervals:
        pool.add(
            seconds,
            {name: IoCounts(ios=len(latencies), bytes=4096 * len(latencies), histogram=histogram_of(latencies))},
        )
    return pool.figures()


latencies = st.lists(st.integers(1, 20_000_000_000), max_size=60)


@given(st.lists(st.lists(latencies, min_size=1, max_size=4), min_size=1, max_size=5))
def test_percentiles_are_those_of_all_ios_pooled(hosts: list[list[Interval]]) -> None:
    joint = sum_hosts({f"h{number}": pooled(host) for number, host in enumerate(hosts)})
    every = [latency for host in hosts for interval in host for latency in interval]
    assert joint.sides["read"].total_ios == len(every)
    assert dict(joint.sides["read"].bins) == histogram_of(every).counts


def test_each_percentile_is_that_of_all_ios_and_no_mean_of_hosts() -> None:
    chance = random.Random(1)
    hosts = {
        "fast": [[round(chance.gauss(100_000, 9_000)) for _ in range(9000)] for _ in range(4)],
        "slow": [[round(chance.gauss(9_000_000, 90_000)) for _ in range(400)] for _ in range(4)],
    }
    joint = sum_hosts({name: pooled(intervals) for name, intervals in hosts.items()})
    whole = histogram_of(latency for intervals in hosts.values() for interval in intervals for latency in interval)
    seen = joint.sides["read"].latency_ns
    for name, percent in PERCENTILES.items():
        if name != "p99_99":
            assert getattr(seen, name) == whole.percentile(percent)
    assert seen.p99_99 is None  # fewer than ten of 37,600 lie beyond it
    averaged = [host.sides["read"].latency_ns.p99 for host in joint.hosts.values()]
    assert seen.p99 != sum(filter(None, averaged)) / 2


def test_rates_are_added() -> None:
    joint = sum_hosts({"a": pooled([[100] * 50]), "b": pooled([[100] * 100, [100] * 100])})
    assert [round(host.iops) for host in joint.hosts.values()] == [200, 400]
    assert joint.sides["read"].iops == pytest.approx(600)
    assert joint.sides["read"].bytes_per_second == pytest.approx(600 * 4096)


def test_directions_are_apart() -> None:
    joint = sum_hosts({"a": pooled([[100] * 10]), "b": pooled([[900] * 30], name="write")})
    assert {name: side.total_ios for name, side in joint.sides.items()} == {"read": 10, "write": 30}


def test_flushes_are_summed_and_are_no_ios() -> None:
    host = IntervalSum()
    counts = IoCounts(ios=10, bytes=0, histogram=histogram_of([100] * 10))
    host.add(1.0, {"write": counts, "sync": counts})
    joint = sum_hosts({"a": host.figures(), "b": host.figures()})
    assert joint.sides["sync"].iops == pytest.approx(20)
    assert [stats.iops for stats in joint.hosts.values()] == [pytest.approx(10)] * 2


def test_the_spread_names_slowest_and_fastest() -> None:
    joint = sum_hosts({"a": pooled([[1] * 90]), "b": pooled([[1] * 100]), "c": pooled([[1] * 110])})
    assert joint.spread is not None
    assert (joint.spread.slowest, joint.spread.fastest) == ("a", "c")
    assert joint.spread.variation == pytest.approx(0.1)


def test_one_host_has_no_spread() -> None:
    assert sum_hosts({"a": pooled([[1]])}).spread is None


def test_nothing_measured_is_nothing() -> None:
    assert sum_hosts({}).sides == {}
    assert IntervalSum().figures().iops == 0
