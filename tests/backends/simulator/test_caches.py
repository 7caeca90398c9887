"""What a simulated cache holds and counts: warm-up, unwritten data, and what is written out while nothing is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.simulator.cache_model import cache_flow
from backends.simulator.caches import CacheCounts, fullness
from backends.simulator.workload_target import CacheKind, CacheMode, IoPattern, WorkloadTarget
from tests.backends.simulator.tiers import READS, STREAM, WRITES, G, K, M, cached, pooled

DM, WRITECACHE, BCACHE = CacheKind.DM_CACHE, CacheKind.WRITECACHE, CacheKind.BCACHE
THROUGH, BACK, AROUND = CacheMode.WRITE_THROUGH, CacheMode.WRITE_BACK, CacheMode.WRITE_AROUND


def after(
    layout: WorkloadTarget, work: IoPattern = READS, *, reads: int = 0, writes: int = 0, seconds: float = 1.0
) -> CacheCounts:
    """What a cache is like after so many requests of 4 KiB."""
    cache = layout.cache
    counts = CacheCounts()
    if cache is not None:
        counts = CacheCounts(held_bytes=cache.held_bytes, dirty_bytes=cache.dirty_bytes)
    elif layout.pool is not None:
        counts = CacheCounts(held_bytes=layout.pool.held_bytes)
    counts.add_job(layout, work, (reads, reads * 4096, writes, writes * 4096), seconds)
    return counts


def test_a_miss_brings_its_block_into_bcache() -> None:
    assert after(cached(BCACHE, held_bytes=0), reads=1000).held_bytes == 1000 * 4096


def test_only_one_miss_in_sixteen_brings_its_chunk_into_a_dm_cache() -> None:
    found = after(cached(DM, held_bytes=0), reads=1600)
    assert (found.promotions, found.held_bytes, found.demotions) == (100, 100 * 64 * K, 0)


def test_hits_bring_nothing_in() -> None:
    found = after(cached(DM), reads=1600)
    assert (found.read_hits, found.read_misses, found.promotions) == (1600, 0, 0)


def test_a_full_dm_cache_lets_as_many_chunks_go_as_come() -> None:
    found = after(cached(DM, held_bytes=40 * G), IoPattern(depth=32), reads=1600)
    assert (found.promotions, found.demotions, found.held_bytes) == (80, 80, 40 * G)


@pytest.mark.parametrize(("mode", "dirty"), [(BACK, 1000 * 4096), (THROUGH, 0), (AROUND, 0), (CacheMode.NONE, 0)])
def test_only_write_back_leaves_data_in_the_cache_that_the_disk_does_not_have(mode: CacheMode, dirty: int) -> None:
    assert after(cached(BCACHE, mode), WRITES, writes=1000).dirty_bytes == dirty


def test_a_chunk_of_a_dm_cache_is_unwritten_as_a_whole_and_only_once() -> None:
    """Of the 131,072 chunks of 8 GiB a half is so already: every second write hits one of these."""
    layout = cached(DM, BACK, held_bytes=8 * G, dirty_bytes=4 * G)
    assert after(layout, WRITES, writes=1000).dirty_bytes == 4 * G + 500 * 64 * K


def test_a_writecache_fills_by_what_is_written_and_holds_nothing_else() -> None:
    found = after(cached(WRITECACHE), WRITES, writes=1000)
    assert found.dirty_bytes == found.held_bytes == 1000 * 4096
    assert after(cached(WRITECACHE), reads=1000).held_bytes == 0


def test_a_writecache_is_full_and_no_fuller() -> None:
    assert (
        after(cached(WRITECACHE, dirty_bytes=40 * G - 4096), IoPattern(read_share=0.0), writes=9000).dirty_bytes
        <= 40 * G
    )


@pytest.mark.parametrize(("unwritten", "goes"), [(20 * G, False), (20 * G + 4096, True)])
def test_beyond_its_high_watermark_it_is_written_out_while_a_job_runs(unwritten: int, goes: bool) -> None:
    found = after(cached(WRITECACHE, dirty_bytes=unwritten), reads=1, seconds=10)
    assert (found.dirty_bytes < unwritten) is goes


def test_streams_that_pass_by_are_counted_by_themselves() -> None:
    found = after(cached(BCACHE, cutoff_bytes=4 * M, held_bytes=2 * G), STREAM, reads=1000)
    assert (found.bypass_hits, found.bypass_misses, found.bypassed_bytes) == (250, 750, 1000 * 4096)
    assert (found.read_hits, found.read_misses, found.held_bytes) == (0, 0, 2 * G)


def test_passthrough_throws_out_what_is_written() -> None:
    found = after(cached(DM, CacheMode.PASSTHROUGH, held_bytes=8 * G), WRITES, writes=1000)
    assert (found.demotions, found.held_bytes) == (1000, 8 * G - 1000 * 64 * K)


@pytest.mark.parametrize(
    ("layout", "work", "gone"),
    [
        (cached(BCACHE, AROUND, held_bytes=4 * G), WRITES, 500),
        (cached(BCACHE, CacheMode.NONE, held_bytes=4 * G), WRITES, 500),
        (cached(BCACHE, BACK, held_bytes=4 * G, cutoff_bytes=4 * M), replace(STREAM, read_share=0.0), 500),
        (cached(BCACHE, THROUGH, held_bytes=40 * G), WRITES, 0),
    ],
)
def test_what_is_written_past_bcache_is_thrown_out_of_it(layout: WorkloadTarget, work: IoPattern, gone: int) -> None:
    assert layout.cache is not None
    assert after(layout, work, writes=1000).held_bytes == layout.cache.held_bytes - gone * 4096


@pytest.mark.parametrize(
    ("layout", "left"),
    [
        (cached(DM, BACK, dirty_bytes=4 * G), 0),
        (cached(DM, BACK, dirty_bytes=0), 0),
        (cached(WRITECACHE, dirty_bytes=20 * G), 20 * G),
        (cached(WRITECACHE, dirty_bytes=21 * G), 18 * G),
        (cached(BCACHE, BACK, dirty_bytes=8 * G, high=0.1, low=0.1), 4 * G),
        (cached(BCACHE, BACK, dirty_bytes=3 * G, high=0.1, low=0.1), 3 * G),
        (cached(BCACHE, THROUGH, dirty_bytes=3 * G, high=0.1, low=0.1), 0),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_while_nothing_is_asked_it_is_written_out_as_far_as_the_driver_does_that(
    layout: WorkloadTarget, left: int
) -> None:
    assert layout.cache is not None
    counts = CacheCounts(held_bytes=layout.cache.held_bytes, dirty_bytes=layout.cache.dirty_bytes, at=100.0)
    counts.write_out_idle(layout.cache, layout.size_bytes, 100.0 + 7 * 24 * 3600)
    assert counts.dirty_bytes == left
    if layout.cache.kind is WRITECACHE:
        assert counts.held_bytes == left


def test_it_takes_its_time() -> None:
    layout = cached(DM, BACK, dirty_bytes=4 * G)
    assert layout.cache is not None
    counts = CacheCounts(held_bytes=8 * G, dirty_bytes=4 * G, at=100.0)
    counts.write_out_idle(layout.cache, layout.size_bytes, 101.0)
    assert 3.9 * G < counts.dirty_bytes < 4 * G


def test_the_arc_takes_in_whole_blocks_up_to_its_limit_and_the_area() -> None:
    assert after(pooled(128 * K), reads=100).held_bytes == 100 * 128 * K
    assert after(pooled(128 * K, held_bytes=6 * G), reads=200_000).held_bytes == 8 * G
    large = replace(READS, region_bytes=90 * G)
    assert after(pooled(128 * K, held_bytes=46 * G), large, reads=200_000).held_bytes == 47 * G
    assert after(pooled(128 * K, caches_data=False), reads=100).held_bytes == 0


def test_the_arc_counts_hits_and_misses() -> None:
    found = after(pooled(held_bytes=2 * G), reads=1000)
    assert (found.read_hits, found.read_misses) == (250, 750)


def test_a_job_is_as_fast_as_before_until_a_hundredth_of_it_changes() -> None:
    layouts = [cached(BCACHE, held_bytes=held) for held in (2 * G, 2 * G + M, 3 * G)]
    first, second, third = (fullness(layout, READS) for layout in layouts)
    assert first == second != third


def test_a_write_through_dm_cache_has_nothing_unwritten() -> None:
    assert after(cached(DM, THROUGH), WRITES, writes=1000).dirty_bytes == 0


@pytest.mark.parametrize("mode", [THROUGH, BACK])
def test_a_dm_cache_takes_only_writes_to_what_it_holds(mode: CacheMode) -> None:
    cache = cached(DM, mode, held_bytes=2 * G).cache
    assert cache is not None
    assert cache_flow(cache, 8 * G, WRITES).fast_writes == 0.25
