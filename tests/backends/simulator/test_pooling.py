"""ZFS in the load model: memory, blocks larger and smaller than what is asked for, the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.simulator.queueing_model import predict
from backends.simulator.workload_target import IoPattern, WorkloadTarget
from backends.simulator.zfs_model import pool_flow, pool_threads
from tests.backends.simulator.tiers import FAST, MIX, READS, SLOW, STREAM, WRITES, G, K, M, pooled


def flow(layout: WorkloadTarget, work: IoPattern) -> tuple[float, float, float]:
    """Hits, blocks read for a read, blocks written for a write."""
    assert layout.pool is not None
    found = pool_flow(layout, layout.pool, work)
    return round(found.hits, 3), round(found.record_reads, 3), round(found.record_writes, 3)


def test_what_the_arc_holds_is_read_from_memory() -> None:
    assert predict(pooled(held_bytes=8 * G), READS).iops > 100 * predict(pooled(), READS).iops


def test_what_it_does_not_hold_costs_a_whole_block_of_the_disks() -> None:
    large = replace(READS, sizes=((128 * K, 1.0),))
    assert predict(pooled(128 * K), READS).iops == pytest.approx(predict(SLOW, large).iops, rel=0.05)


@pytest.mark.parametrize(("held", "hits"), [(2 * G, 0.25), (8 * G, 1.0), (47 * G, 1.0)])
def test_the_share_of_the_area_in_the_arc_is_answered_by_it(held: int, hits: float) -> None:
    assert flow(pooled(held_bytes=held), READS) == (hits, 1 - hits, 1.0)


def test_without_data_in_the_arc_each_read_fetches_its_block_again() -> None:
    layout = pooled(held_bytes=8 * G, caches_data=False)
    small = replace(STREAM, sizes=((4 * K, 1.0),))
    assert (flow(layout, READS), flow(layout, small)) == ((0.0, 1.0, 1.0), (0.0, 1.0, 1.0))


def test_a_stream_of_small_reads_fetches_each_block_once() -> None:
    assert flow(pooled(128 * K), replace(STREAM, sizes=((4 * K, 1.0),)))[1] == round(1 / 32, 3)


@pytest.mark.parametrize(("record", "slower"), [(4 * K, 1.0), (16 * K, 3.5), (128 * K, 25.0)])
def test_small_writes_cost_their_whole_block(record: int, slower: float) -> None:
    """All of it in memory, so that nothing is read before."""
    whole = predict(pooled(4 * K, held_bytes=8 * G), WRITES).iops
    assert whole / predict(pooled(record, held_bytes=8 * G), WRITES).iops >= slower


def test_what_is_changed_in_part_is_read_first_unless_it_is_in_memory() -> None:
    cold, warm = (predict(pooled(held_bytes=held), WRITES).iops for held in (0, 8 * G))
    assert cold < 0.6 * warm


def test_writes_of_whole_blocks_read_nothing_first() -> None:
    whole = replace(WRITES, sizes=((128 * K, 1.0),))
    assert predict(pooled(), whole).iops == predict(pooled(held_bytes=8 * G), whole).iops


def test_small_writes_that_meet_in_a_block_within_a_group_are_written_once() -> None:
    """64 blocks are written once in five seconds, however many writes there are."""
    few = replace(WRITES, region_bytes=8 * M)
    layout = pooled(held_bytes=8 * M)
    assert flow(layout, few)[2] < 0.01
    assert predict(layout, few).iops > 50 * predict(layout, WRITES).iops


@pytest.mark.parametrize(
    ("sync", "log", "least", "most"),
    [
        ("standard", False, 300, 5000),
        ("always", False, 90, 121),
        ("always", True, 2000, 5000),
        ("disabled", False, 300, 5000),
    ],
)
def test_a_write_that_is_waited_for_costs_a_turn_of_the_disk_or_the_log_device(
    sync: str, log: bool, least: float, most: float
) -> None:
    layout = pooled(16 * K, held_bytes=8 * G, sync=sync, log=FAST if log else None)
    assert least < predict(layout, replace(WRITES, depth=1)).iops < most


def test_those_that_wait_together_share_a_turn() -> None:
    layout = pooled(16 * K, held_bytes=8 * G, sync="always")
    assert predict(layout, WRITES).iops > 10 * predict(layout, replace(WRITES, depth=1)).iops


@pytest.mark.parametrize(
    ("sync", "log", "us"), [("standard", False, 8300), ("standard", True, 42), ("disabled", False, 12)]
)
def test_a_flush_ends_at_the_log(sync: str, log: bool, us: float) -> None:
    assert predict(pooled(sync=sync, log=FAST if log else None), WRITES).flush_us == us


def test_hits_wait_for_no_disk() -> None:
    found = predict(pooled(held_bytes=4 * G), MIX).read
    assert found is not None
    assert [round(way.share, 2) for way in found.request_classes] == [0.5, 0.5]
    assert found.request_classes[0].mean_us < 50


@pytest.mark.parametrize(
    ("volume", "engine", "threads"),
    [(True, "libaio", 32), (False, "libaio", 4), (True, "io_uring", 32), (False, "io_uring", 1 << 20)],
)
def test_libaio_waits_for_each_request_to_a_file(volume: bool, engine: str, threads: int) -> None:
    pool = pooled(volume=volume).pool
    assert pool is not None
    assert pool_threads(pool, engine, jobs=4) == threads
