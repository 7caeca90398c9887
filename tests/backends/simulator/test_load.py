"""The load model: the articles' cells, and a sensible shape between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from backends.model import Level
from backends.simulator.calibration import CARDS, CORES, DRIVES, GB, MIB
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.queueing_model import IoPattern, PredictedPerformance, WorkloadTarget, predict
from tests.backends.simulator.articles import (
    PEAKS_F,
    SINGLE_B,
    TABLE_A,
    TABLE_B,
    TABLE_C,
    TABLE_D,
    TABLE_E,
    TABLE_F,
    Cell,
)

A = TABLE_A[0].layout
X25 = WorkloadTarget(
    card=CARDS["Intel(R) RAID Controller RS2BL080"],
    drive=DRIVES["SSDSA2SH064G1GC INTEL"],
    level=Level.RAID5,
    drives=8,
    strip_bytes=256 * 1024,
    write_back=True,
    read_ahead=True,
    drive_cache="off",
    cache_bytes=512 * MIB,
    size_bytes=448 * GB,
)
DEPTHS = [2**power for power in range(11)]
SIZES = [512 << power for power in range(14)]


def mean_us(found: PredictedPerformance) -> float:
    parts = [part for part in (found.read, found.write) if part is not None]
    return sum(part.iops * part.mean_us for part in parts) / found.iops


ALL = [*TABLE_A, *TABLE_B, *SINGLE_B, *TABLE_C, *TABLE_D, *TABLE_E, *TABLE_F]


@pytest.mark.parametrize("cell", ALL, ids=lambda cell: cell.name)
def test_every_cell_of_the_articles_is_within_five_percent(cell: Cell) -> None:
    assert predict(cell.layout, cell.work).iops == pytest.approx(cell.iops, rel=0.05)


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.mean_us], ids=lambda cell: cell.name)
def test_every_latency_of_the_articles_is_within_five_percent(cell: Cell) -> None:
    assert mean_us(predict(cell.layout, cell.work)) == pytest.approx(cell.mean_us, rel=0.05)


def test_small_reads_of_raid_6_are_above_those_of_raid_5_as_measured() -> None:
    rates = {cell.layout.level: predict(cell.layout, cell.work).iops for cell in TABLE_B[::4]}
    assert rates[Level.RAID0] > rates[Level.RAID6] > rates[Level.RAID5] > rates[Level.RAID50]


@pytest.mark.parametrize(("name", "layout", "work", "iops"), PEAKS_F, ids=lambda value: str(value)[:12])
def test_every_peak_of_article_f_is_within_five_percent(
    name: str, layout: WorkloadTarget, work: IoPattern, iops: float
) -> None:
    assert predict(layout, work).iops == pytest.approx(iops, rel=0.05), name


@pytest.mark.parametrize("share", [0.0, 0.3, 0.67, 1.0])
@pytest.mark.parametrize("sequential", [False, True])
def test_more_in_flight_never_does_less_and_always_waits_longer(share: float, sequential: bool) -> None:
    found = [predict(A, IoPattern(read_share=share, sequential=sequential, depth=depth)) for depth in DEPTHS]
    assert all(later.iops >= earlier.iops for earlier, later in pairwise(found))
    assert all(mean_us(later) >= mean_us(earlier) * 0.999 for earlier, later in pairwise(found))


@pytest.mark.parametrize("depth", DEPTHS)
def test_little_s_law_holds_with_what_waits_before_submission(depth: int) -> None:
    found = predict(A, IoPattern(depth=depth))
    assert found.iops * (mean_us(found) + found.submit_us) / 1e6 == pytest.approx(depth, rel=0.02)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("sequential", [False, True])
def test_larger_blocks_move_more_bytes_up_to_the_ceilings(share: float, sequential: bool) -> None:
    rates = [
        predict(X25, IoPattern(read_share=share, sequential=sequential, sizes=((size, 1.0),), depth=64)).iops
        * size
        / 1e6
        for size in SIZES
    ]
    assert max(rates) <= (1200 if share else 1400)
    assert rates[-1] > 10 * rates[0]


def test_the_older_cards_stay_below_their_ceilings() -> None:
    old = replace(X25, card=CARDS["MegaRAID SAS 84016E"], level=Level.RAID10, spans=4)
    large = predict(old, IoPattern(sequential=True, sizes=((1 << 20, 1.0),), depth=32))
    assert 700 < large.iops * (1 << 20) / 1e6 <= 845
    small = predict(X25, IoPattern(sequential=True, sizes=((512, 1.0),), depth=64))
    assert 120_000 < small.iops <= 160_000


def test_one_processor_core_bounds_one_job_and_more_jobs_help() -> None:
    fast = replace(TABLE_E[0].layout, level=Level.RAID10)
    one = predict(fast, IoPattern(depth=1024, scheduler="bfq"))
    two = predict(fast, IoPattern(depth=512, jobs=2, scheduler="bfq"))
    assert one.core_percent == pytest.approx(100)
    assert two.iops > one.iops * 1.5


JOBS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)


@pytest.mark.parametrize("cell", TABLE_B, ids=lambda cell: cell.name)
def test_more_jobs_on_an_md_array_never_do_less_and_cease_at_the_next_limit(cell: Cell) -> None:
    found = [predict(cell.layout, replace(cell.work, jobs=jobs)) for jobs in JOBS]
    assert all(later.iops >= earlier.iops * 0.9999 for earlier, later in pairwise(found))
    assert found[-1].iops <= found[-2].iops * 1.01  # the host has 24 cores
    assert all(one.core_percent <= 100 * min(jobs, CORES) for one, jobs in zip(found, JOBS, strict=True))


def test_one_job_on_an_array_without_parity_is_bound_by_its_core_and_more_by_the_adapters() -> None:
    cell = TABLE_B[0]
    assert cell.layout.software is not None
    one, two, many = (predict(cell.layout, replace(cell.work, jobs=jobs)) for jobs in (1, 2, 12))
    assert one.iops == pytest.approx(cell.iops, rel=0.05)
    assert one.core_percent == pytest.approx(100, rel=0.03)
    assert two.iops == pytest.approx(2 * one.iops, rel=0.05)
    assert many.iops == cell.layout.software.adapter_iops
    assert many.core_percent < 12 * 60


def test_the_same_requests_in_flight_do_more_from_twelve_jobs_than_from_one() -> None:
    cell = TABLE_B[0]
    one, twelve = (predict(cell.layout, replace(cell.work, depth=512 // jobs, jobs=jobs)) for jobs in (1, 12))
    assert twelve.iops > 3 * one.iops


def test_the_thread_of_an_array_with_parity_bounds_all_jobs_and_two_arrays_have_two() -> None:
    reads = {cell.name: cell for cell in TABLE_B if cell.work.sizes == ((4096, 1.0),) and cell.work.read_share == 1.0}
    (five,) = (cell for name, cell in reads.items() if name.startswith("raid5 "))
    (fifty,) = (cell for name, cell in reads.items() if name.startswith("raid50"))
    software = five.layout.software
    assert software is not None
    bound = 1e6 / (software.parity_us[1] * software.read_parity)
    assert 0.9 * bound < predict(five.layout, replace(five.work, jobs=24)).iops <= bound
    assert predict(fifty.layout, replace(fifty.work, jobs=24)).iops > 1.2 * bound


def test_jobs_reach_what_an_nvme_drive_does() -> None:
    rack = linux_rack()
    drive = rack.layout("nvme0n1")
    assert drive is not None
    many = predict(drive, IoPattern(depth=256, jobs=8))
    assert many.iops == pytest.approx(1e6 / drive.drive.read_us, rel=0.1)
    assert many.iops > 1.3 * predict(drive, IoPattern(depth=256)).iops


def test_parity_costs_more_writes_than_mirroring_and_that_more_than_none() -> None:
    layout = TABLE_E[0].layout
    work = IoPattern(read_share=0.0, depth=128)
    rates = [predict(replace(layout, level=level), work).iops for level in (Level.RAID0, Level.RAID10, Level.RAID5)]
    rates.append(predict(replace(layout, level=Level.RAID6), work).iops)
    assert rates == sorted(rates, reverse=True)


def test_whole_stripes_spare_the_reading_before() -> None:
    work = IoPattern(read_share=0.0, sizes=((128 * 1024, 1.0),), depth=32)
    whole = predict(A, work)
    broken = predict(A, replace(work, sizes=((96 * 1024, 1.0),)))
    assert whole.iops * 128 > broken.iops * 96 * 1.5


def test_lines_move_with_read_ahead_and_for_parity_in_a_write_back_cache_alone() -> None:
    parity, mirror = TABLE_F[0].layout, TABLE_F[1].layout
    reads, writes = TABLE_F[2].work, replace(TABLE_F[0].work, read_share=0.0)
    assert predict(replace(parity, read_ahead=False), reads).iops > 1.5 * predict(parity, reads).iops
    through = replace(parity, write_back=False)
    for layout in (mirror, through):
        assert layout.card is not None
        assert predict(layout, writes) == predict(replace(layout, card=replace(layout.card, line_bytes=0)), writes)


def test_a_drive_s_cache_that_is_off_slows_large_writes_as_it_slows_small_ones() -> None:
    layout = replace(X25, level=Level.RAID10, spans=4, write_back=False, drive_cache="default")
    for size in (4096, 65536):
        work = IoPattern(read_share=0.0, sizes=((size, 1.0),), depth=256)
        slower = predict(layout, work).iops / predict(replace(layout, drive_cache="off"), work).iops
        assert slower == pytest.approx(layout.drive.no_cache, rel=0.05)


def test_a_missing_drive_and_its_rebuild_slow_the_array() -> None:
    work = IoPattern(depth=32, read_share=0.7)
    sound = predict(X25, work).iops
    lame = predict(replace(X25, drives=7, degraded=1, rebuild_share=0.3), work).iops
    assert lame < sound * 0.95


def test_a_region_that_fits_the_cache_is_faster_when_reads_are_cached() -> None:
    cached = replace(A, cached=True)
    assert (
        predict(cached, IoPattern(depth=1, region_bytes=64 * MIB)).iops > 2 * predict(cached, IoPattern(depth=1)).iops
    )


def test_sector_alignment_costs_flash() -> None:
    aligned = IoPattern(read_share=0.0, depth=32, align=4096)
    assert predict(A, replace(aligned, align=512)).iops < 0.6 * predict(A, aligned).iops


def test_a_rate_limit_holds_and_leaves_little_waiting() -> None:
    held = predict(A, IoPattern(depth=64, rate_iops=10_000))
    assert held.iops == 10_000
    assert mean_us(held) < 300


def test_at_random_the_latency_scatters_by_its_waiting() -> None:
    work = IoPattern(depth=512, rate_iops=70_000.0)
    even, random = predict(A, work), predict(A, replace(work, at_random=True))
    assert even.read is not None
    assert random.read is not None
    assert random.read.mean_us == even.read.mean_us
    assert random.read.spread > 3 * even.read.spread


def test_a_rate_that_is_too_much_waits_in_a_queue_that_is_always_full() -> None:
    work = IoPattern(depth=512, rate_iops=900_000.0)
    assert predict(A, replace(work, at_random=True)) == predict(A, work)
