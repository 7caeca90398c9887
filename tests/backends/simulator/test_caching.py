"""Caches of the kernel in the load model: whose speed a request has, by kind, mode and how full the cache is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.simulator.cache_model import write_out_rate
from backends.simulator.queueing_model import Direction, PredictedPerformance, predict
from backends.simulator.workload_target import CacheKind, CacheMode, IoPattern, WorkloadTarget
from tests.backends.simulator.tiers import FAST, MIX, READS, SLOW, STREAM, WRITES, G, K, M, cached

DM, WRITECACHE, BCACHE = CacheKind.DM_CACHE, CacheKind.WRITECACHE, CacheKind.BCACHE
THROUGH, BACK, AROUND = CacheMode.WRITE_THROUGH, CacheMode.WRITE_BACK, CacheMode.WRITE_AROUND

NEAR_SLOW, NEAR_FAST = 1.5, 0.4
"""At most so many times as fast as the slow part alone; at least so many times as fast as the fast one."""


def as_fast_as(layout: WorkloadTarget, work: IoPattern) -> str:
    """Which part's speed a load has on the device."""
    here, slow, fast = (predict(one, work).iops for one in (layout, SLOW, FAST))
    if here < slow * NEAR_SLOW:
        return "slow"
    return "fast" if here > fast * NEAR_FAST else "between"


@pytest.mark.parametrize(
    ("layout", "reads", "writes"),
    [
        (cached(DM, THROUGH), "fast", "slow"),
        (cached(DM, BACK), "fast", "fast"),
        (cached(DM, CacheMode.PASSTHROUGH), "slow", "slow"),
        (cached(DM, BACK, held_bytes=0), "slow", "slow"),
        (cached(WRITECACHE), "slow", "fast"),
        (cached(WRITECACHE, dirty_bytes=40 * G), "fast", "slow"),
        (cached(BCACHE, THROUGH), "fast", "slow"),
        (cached(BCACHE, BACK), "fast", "fast"),
        (cached(BCACHE, BACK, held_bytes=0), "slow", "fast"),
        (cached(BCACHE, BACK, dirty_bytes=27 * G), "fast", "fast"),
        (cached(BCACHE, BACK, dirty_bytes=28.1 * G), "fast", "slow"),
        (cached(BCACHE, AROUND), "fast", "slow"),
        (cached(BCACHE, CacheMode.NONE, held_bytes=0), "slow", "slow"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_mode_has_the_speed_of_the_part_that_serves(layout: WorkloadTarget, reads: str, writes: str) -> None:
    assert (as_fast_as(layout, READS), as_fast_as(layout, WRITES)) == (reads, writes)


def test_a_write_through_takes_as_long_as_the_slow_part() -> None:
    alone = IoPattern(read_share=0.0, region_bytes=8 * G)
    through, slow = latency(predict(cached(DM, THROUGH), alone).write), latency(predict(SLOW, alone).write)
    assert slow < through < slow + 50


@pytest.mark.parametrize(("held", "share"), [(8 * G, 1.0), (4 * G, 0.5), (2 * G, 0.25)])
def test_the_share_of_the_area_that_the_cache_holds_is_answered_by_it(held: int, share: float) -> None:
    found = predict(cached(BCACHE, held_bytes=held), READS).read
    assert found is not None
    assert found.fast_share == share


def test_an_area_larger_than_the_cache_is_held_in_part_and_is_hardly_faster_than_the_disks() -> None:
    all_of_it = IoPattern(depth=32)
    found, slow = predict(cached(DM), all_of_it), predict(SLOW, replace(all_of_it, region_bytes=200 * G))
    assert found.read is not None
    assert found.read.fast_share == 0.2
    assert found.iops < 1.3 * slow.iops


def latency(found: Direction | None) -> float:
    assert found is not None
    return found.mean_us


def test_hits_and_misses_are_two_populations_whose_mean_is_that_of_all() -> None:
    found = predict(cached(BCACHE, held_bytes=4 * G), READS).read
    assert found is not None
    fast, slow = found.request_classes
    assert (fast.share, slow.share) == (0.5, 0.5)
    assert fast.mean_us < 100 < 10_000 < slow.mean_us
    assert fast.share * fast.mean_us + slow.share * slow.mean_us == pytest.approx(found.mean_us)


def test_what_the_cache_answers_does_not_wait_for_the_disks() -> None:
    """In a mix whose writes go through to the disks."""
    found = predict(cached(DM, THROUGH), MIX)
    assert latency(found.read) < 200
    assert latency(found.write) > 30_000


@pytest.mark.parametrize("work", [READS, WRITES, MIX, STREAM])
@pytest.mark.parametrize("layout", [cached(DM, THROUGH, held_bytes=3 * G), cached(WRITECACHE), cached(BCACHE)])
def test_little_s_law_holds(layout: WorkloadTarget, work: IoPattern) -> None:
    found = predict(layout, work)
    both = [one for one in (found.read, found.write) if one is not None]
    in_flight = sum(one.iops * (one.mean_us + found.submit_us) for one in both) / 1e6
    assert in_flight == pytest.approx(work.depth, rel=0.02)


@pytest.mark.parametrize(
    ("cutoff", "work", "speed"),
    [
        (4 * M, STREAM, "slow"),
        (0, STREAM, "fast"),
        (8 * G, STREAM, "fast"),
        (8 * G - 1, STREAM, "slow"),
        (4 * M, WRITES, "fast"),
        (4 * K, WRITES, "slow"),
        (4 * K + 1, WRITES, "fast"),
    ],
)
def test_bcache_lets_streams_of_its_cutoff_pass_by(cutoff: int, work: IoPattern, speed: str) -> None:
    assert as_fast_as(cached(BCACHE, cutoff_bytes=cutoff), replace(work, read_share=0.0)) == speed


def test_a_stream_is_read_from_bcache_where_it_lies_there_all_the_same() -> None:
    assert as_fast_as(cached(BCACHE, cutoff_bytes=4 * M), STREAM) == "fast"


@pytest.mark.parametrize(("unwritten", "slower"), [(20 * G, False), (20 * G + 1, True)])
def test_beyond_its_high_watermark_a_writecache_writes_out_and_reads_wait_for_that(
    unwritten: int, slower: bool
) -> None:
    """Reads of what is not in the cache: the area is larger."""
    all_of_it = IoPattern(depth=32)
    below = predict(cached(WRITECACHE, dirty_bytes=20 * G), all_of_it).iops
    assert (predict(cached(WRITECACHE, dirty_bytes=unwritten), all_of_it).iops < 0.6 * below) is slower


def test_a_full_writecache_writes_out_in_the_order_of_places_and_so_faster_than_the_disks_at_random() -> None:
    full, slow = predict(cached(WRITECACHE, dirty_bytes=40 * G), WRITES).iops, predict(SLOW, WRITES).iops
    assert 1.1 < full / slow < 1.3


@pytest.mark.parametrize("size", [4 * K, 512 * K])
def test_a_writecache_takes_each_block_of_a_large_write_by_itself(size: int) -> None:
    """2,759 MiB/s of blocks of 4 KiB at most (commit dcd195071f22 of Linux)."""
    ram = replace(FAST.drive, write_us=0.01, write_alone_us=1.0, write_mbps=1e6)
    layout = cached(WRITECACHE)
    assert layout.cache is not None
    layout = replace(layout, cache=replace(layout.cache, fast=replace(FAST, drive=ram)))
    found: PredictedPerformance = predict(layout, replace(WRITES, sizes=((size, 1.0),), jobs=16))
    assert found.iops * size / M <= 2800


def test_bcache_adds_to_a_request_what_was_published() -> None:
    """142,292 reads and 38,055 writes a second with one in flight, on memory that takes about a microsecond itself."""
    for share, rate in ((1.0, 142_292), (0.0, 38_055)):
        work = IoPattern(read_share=share, region_bytes=G)
        with_it, without = (alone(layout, work) for layout in (cached(BCACHE), FAST))
        assert with_it - without == pytest.approx(1e6 / rate - 1, rel=0.15)


def alone(layout: WorkloadTarget, work: IoPattern) -> float:
    found = predict(layout, work)
    return latency(found.read or found.write)


@pytest.mark.parametrize(
    ("layout", "us"),
    [
        (cached(DM, THROUGH), 8300),
        (cached(DM, BACK), 900),
        (cached(WRITECACHE), 900),
        (cached(BCACHE, BACK), 900),
        (cached(BCACHE, AROUND), 8300),
    ],
)
def test_a_flush_ends_where_the_writes_do(layout: WorkloadTarget, us: float) -> None:
    assert predict(layout, WRITES).flush_us == us


def test_what_lies_close_together_is_written_out_as_a_stream() -> None:
    few, many = (cached(BCACHE, BACK, dirty_bytes=dirty).cache for dirty in (G // 100, 8 * G))
    assert few is not None
    assert many is not None
    slow, fast = (write_out_rate(one, 8 * G, shared=False) / 1e6 for one in (few, many))
    assert slow < 5 < 50 < fast < 80
    assert write_out_rate(many, 8 * G, shared=True) == pytest.approx(fast * 1e6 / 2)
