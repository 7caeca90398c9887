"""Jobs that measure something else than they seem to."""

from __future__ import annotations

from app.core.fio.profiles import profile
from app.features.advice.job_rules import misaligned_share
from backends.model import Media
from tests.features.advice.facts import BLAMELESS, G, M, keys, over, run, said


def test_nothing_is_said_against_a_blameless_job() -> None:
    assert keys(BLAMELESS) == []


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert keys(type(BLAMELESS)(job=BLAMELESS.job)) == []


def test_buffered_io_measures_memory_that_holds_the_area() -> None:
    facts = run(job={"direct": "no", "ioengine": "psync", "iodepth": "1"}, area_bytes=G)
    assert "the area of 1 GiB fits into the memory of 64 GiB" in said(facts, "page-cache").message


def test_buffered_writes_that_are_flushed_one_by_one_do_not_measure_memory() -> None:
    buffered = {"rw": "write", "direct": "no", "ioengine": "psync", "iodepth": "1"}
    assert "page-cache" not in keys(run(job=buffered | {"fdatasync": "1"}))
    assert "page-cache" in keys(run(job=buffered | {"fdatasync": "8"}))
    assert "page-cache" in keys(run(job=buffered | {"rw": "rw", "fdatasync": "1"}))


def test_a_synchronous_engine_has_no_queue() -> None:
    facts = run(job={"ioengine": "psync", "iodepth": "32", "numjobs": "4"})
    assert "The queue depth 32 has no effect; the actual depth is 4" in said(facts, "sync-depth").message


def test_libaio_without_direct_io_has_no_queue_either() -> None:
    assert "sync-depth" in keys(run(job={"direct": "no"}))


def test_a_synchronous_engine_at_depth_one_is_as_it_seems() -> None:
    assert keys(run(job={"ioengine": "psync", "iodepth": "1"})) == []


def test_thirty_seconds_are_too_short() -> None:
    assert said(run(job={"runtime": "30s"}), "too-short").do == "Use a run time of at least 50 s."


def test_a_run_that_was_stopped_early_is_too_short_whatever_was_planned() -> None:
    assert "too-short" in keys(run(measured=over(seconds=12.0, rounds=())))


def test_a_short_run_that_had_settled_before_is_not() -> None:
    assert keys(run(measured=over(seconds=12.0, rounds=(), settled=True))) == []


def test_the_same_seed_reads_from_the_cache_what_the_last_run_left() -> None:
    assert "same-seed" in keys(run(job={"randseed": "7"}, cache_bytes=512 * M, area_bytes=G))


def test_the_same_seed_over_four_caches_is_no_matter() -> None:
    assert keys(run(job={"randseed": "7"}, cache_bytes=512 * M, area_bytes=2 * G)) == []


def test_sequential_jobs_at_one_place_are_told() -> None:
    assert "same-blocks" in keys(run(job={"rw": "read", "numjobs": "4", "offset_increment": "0"}))


def test_sequential_jobs_that_share_the_area_out_are_not() -> None:
    assert keys(run(job={"rw": "read", "numjobs": "4"})) == []


def test_the_map_of_a_large_device_is_told_with_its_size() -> None:
    facts = run(job={"norandommap": "no"}, area_bytes=8 << 40, memory_bytes=16 * G)
    assert "256 MiB" in said(facts, "random-map").message


def test_one_in_eight_requests_at_multiples_of_a_sector_is_aligned() -> None:
    """Of 200,000 requests of 4k in Iometer's file server 12.4 % were."""
    facts = run(job={"rw": "randrw", "bssplit": "4k/100", "blockalign": "512"})
    assert misaligned_share(facts, 4096) == 7 / 8


def test_sector_aligned_iometer_jobs_are_told_on_flash() -> None:
    facts = type(BLAMELESS)(job=profile("iometer-file-server").job, media=Media.SSD, area_bytes=G)
    assert "page of flash" in said(facts, "sector-misaligned").message


def test_the_blocks_below_4k_of_the_aligned_variant_still_are() -> None:
    facts = type(BLAMELESS)(job=profile("iometer-file-server-4k").job, media=Media.SSD, area_bytes=G)
    assert said(facts, "sector-misaligned").message.startswith("20 %")


def test_512_byte_sectors_of_a_hard_disk_take_512_byte_requests() -> None:
    facts = run(job={"bs": "512"}, media=Media.HDD, physical_block=512)
    assert keys(facts) == []


def test_512_byte_requests_are_told_on_a_512e_disk() -> None:
    assert "sector of 4 KiB" in said(run(job={"bs": "512"}, media=Media.HDD), "sector-misaligned").message
