"""What arrays, caches and queues make of jobs, the questions of the articles among them."""

from __future__ import annotations

from dataclasses import replace

from app.core.benchmark.conditions.facts import Condition, Geometry
from app.core.session.results import MemberStats
from backends.model import Level, Media
from tests.features.advice.facts import BLAMELESS, RAID5, G, K, M, going, keys, over, run, said, set_to

WRITES = {"rw": "write", "bs": "4M"}
"""Article B: 4M sequential."""


def member(device: str, *, reads: float, share: float, queue: float = 8.0, role: str = "") -> MemberStats:
    return MemberStats(
        device=device,
        role=role,
        read_iops=reads,
        write_iops=0.0,
        utilisation=0.95,
        queue=queue,
        share_of_reads=share,
        share_of_writes=None,
    )


def test_article_b_a_4m_write_is_no_whole_number_of_stripes() -> None:
    message = said(run(job=WRITES, array=RAID5), "stripe-read-modify-write").message
    assert (
        "1408 KiB (22 x 64 KiB): a write of 4M is 2.91 full stripes. It touches 3.82 stripes, 1.82 of them partially"
        in message
    )


def test_article_b_costs_a_fifth_more_member_ios_than_whole_stripes() -> None:
    message = said(run(job=WRITES, array=RAID5), "stripe-read-modify-write").message
    assert "31 % of the bytes need a read first: at least 80 member I/Os instead of 67" in message


def test_article_b_on_raid0_has_no_parity_to_read() -> None:
    assert keys(run(job=WRITES, array=replace(RAID5, level=Level.RAID0))) == []


def test_sixteen_data_drives_take_4m_whole() -> None:
    assert keys(run(job=WRITES, array=replace(RAID5, data_drives=16))) == []


def test_small_random_writes_cost_four_ios_on_raid5() -> None:
    facts = run(job={"rw": "randwrite"}, array=RAID5)
    assert (
        "every write of 4k is a partial stripe and costs at least 4 member I/Os"
        in said(facts, "stripe-read-modify-write").message
    )


def test_a_mix_of_sizes_is_told_with_its_range() -> None:
    facts = run(job={"rw": "randwrite", "bssplit": "4k/50:4M/50"}, array=RAID5)
    assert "at least 4 to" in said(facts, "stripe-read-modify-write").message


def test_reads_tear_no_stripe() -> None:
    assert keys(run(array=RAID5)) == []


def test_an_array_of_unknown_width_is_not_judged() -> None:
    assert keys(run(job=WRITES, array=Geometry(level=Level.RAID6, strip_bytes=64 * K))) == []


def test_article_c_the_write_mostly_member_serves_reads_all_the_same() -> None:
    below = (
        member("nvme0n1", reads=10_900, share=0.55),
        member("sdc", reads=8_900, share=0.45, role="write-mostly"),
    )
    assert (
        "sdc is marked write-mostly, but serves 45 % of the reads"
        in said(run(measured=over(members=below)), "member-imbalance").message
    )


def test_a_member_whose_ios_take_four_times_as_long_sets_the_pace() -> None:
    below = (member("nvme0n1", reads=10_000, share=0.5, queue=2.0), member("sdc", reads=10_000, share=0.5, queue=30.0))
    assert (
        "sdc is slower than the other members: 3.00 ms per I/O"
        in said(run(measured=going(members=below)), "member-imbalance").message
    )


def test_a_share_twice_an_even_one_is_told() -> None:
    below = (member("sda", reads=9000, share=0.9, queue=9.0), member("sdb", reads=1000, share=0.1, queue=1.0))
    assert (
        said(run(measured=over(members=below)), "member-imbalance").message
        == "sda serves 90 % of the reads, sdb only 10 %."
    )


def test_idle_halves_of_a_mirror_are_said_to_be_the_balancing_of_reads() -> None:
    below = (member("sda", reads=9000, share=0.9, queue=9.0), member("sdb", reads=1000, share=0.1, queue=1.0))
    for level, told in ((Level.RAID10, True), (Level.RAID1, True), (Level.RAID5, False)):
        advice = said(run(array=Geometry(level=level), measured=over(members=below)), "member-imbalance")
        assert ("Each read uses only one copy" in advice.message, "run more jobs" in advice.do) == (told, told)


def test_even_members_are_not_told() -> None:
    below = (member("sda", reads=5200, share=0.52), member("sdb", reads=4800, share=0.48))
    assert keys(run(measured=over(members=below))) == []


def test_members_that_hardly_worked_are_not_judged() -> None:
    below = (member("sda", reads=4, share=1.0, queue=0.1), member("sdb", reads=0, share=0.0, queue=0.0))
    assert keys(run(measured=over(members=below))) == []


def test_article_d_reads_of_a_device_never_filled_touch_no_flash() -> None:
    assert "/dev/sdb may never have been written" in said(run(content=False), "unwritten-flash").message


def test_flash_that_was_written_in_this_session_is_read() -> None:
    assert keys(run(content=False, written=True)) == []


def test_a_hard_disk_is_read_whatever_lies_on_it() -> None:
    assert keys(run(content=False, media=Media.HDD)) == []


def test_a_file_with_holes_is_answered_by_the_filesystem() -> None:
    assert "The filesystem returns zeros" in said(run(scratch=True, written=False), "unwritten-flash").message


def test_an_array_made_anew_is_unwritten_even_on_hard_disks() -> None:
    assert "created again" in said(run(written=False, media=Media.HDD), "unwritten-flash").message


def test_writes_need_nothing_written_before() -> None:
    assert keys(run(job={"rw": "randwrite"}, content=False)) == []


def test_an_area_smaller_than_a_write_back_cache_is_the_cache() -> None:
    facts = run(job={"rw": "randwrite"}, area_bytes=200 * M, cache_bytes=512 * M, before=set_to("write-back"))
    assert "can hold all of it" in said(facts, "cache-larger-than-area").message


def test_a_write_through_cache_takes_no_writes() -> None:
    facts = run(job={"rw": "randwrite"}, area_bytes=200 * M, cache_bytes=512 * M, before=set_to("write-through"))
    assert keys(facts) == []


def test_write_back_that_is_not_in_force_takes_none_either() -> None:
    before = set_to("write-back", in_force="write-through")
    facts = run(job={"rw": "randwrite"}, area_bytes=200 * M, cache_bytes=512 * M, before=before)
    assert keys(facts) == ["policy-not-in-force"]


def test_read_ahead_makes_a_cache_of_reads() -> None:
    before = set_to("read-ahead", key="read_ahead", label="Read-ahead")
    assert "cache-larger-than-area" in keys(run(area_bytes=G, cache_bytes=512 * M, before=before))


def test_four_times_the_cache_are_enough() -> None:
    before = set_to("read-ahead", key="read_ahead", label="Read-ahead")
    assert keys(run(area_bytes=2 * G, cache_bytes=512 * M, before=before)) == []


def test_nothing_is_said_of_a_cache_before_its_settings_are_read() -> None:
    assert keys(run(area_bytes=200 * M, cache_bytes=512 * M, before=Condition())) == []


def test_a_short_ramp_leaves_the_write_cache_empty() -> None:
    done = over(writes=5_000_000, written_bytes=20 * G, ramp_bytes=900 * M)
    facts = run(job={"rw": "randwrite"}, cache_bytes=512 * M, before=set_to("write-back"), measured=done)
    assert keys(facts) == ["cache-not-full"]


def test_a_ramp_of_two_caches_fills_it() -> None:
    done = over(writes=5_000_000, written_bytes=20 * G, ramp_bytes=G)
    facts = run(job={"rw": "randwrite"}, cache_bytes=512 * M, before=set_to("write-back"), measured=done)
    assert keys(facts) == []


def test_a_depth_beyond_what_the_device_takes_waits_in_the_kernel() -> None:
    message = said(run(job={"iodepth": "64", "numjobs": "8"}), "depth-beyond-device").message
    assert "keeps 512 I/Os in flight, but the device accepts 256 at a time (queue_depth)" in message


def test_the_depth_that_the_device_takes_is_right() -> None:
    assert keys(run(job={"iodepth": "64", "numjobs": "4"})) == []


def test_the_facts_of_a_blameless_run_stay_blameless_when_it_is_over() -> None:
    assert keys(replace(BLAMELESS, measured=over(), after=Condition())) == []
