"""What the kernel's caches and ZFS make of jobs: when it is said, and from which border on."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.benchmark.conditions.facts import ARC, Condition, Policy, RunFacts, UpstreamCache
from app.core.session.results import CacheStats
from app.features.advice.cache_rules import amplification
from backends.topology.stacking import BCACHE, DM_CACHE, WRITECACHE
from tests.case_loop import loop_over
from tests.features.advice.facts import G, K, going, keys, over, run, said

READS, WRITES = {"rw": "randread"}, {"rw": "randwrite"}


def before(kind: str, size: int | None = 40 * G, **changes: Any) -> UpstreamCache:
    return UpstreamCache(kind=kind, size_bytes=size, **changes)


def are(**settings: str) -> Condition:
    return Condition(policies={key: Policy(label=key, now=value) for key, value in settings.items()})


ZFS = {"sync": "standard", "logbias": "latency", "compression": "off", "primarycache": "all"}


@pytest.mark.parametrize(("area", "told"), [(40 * G, True), (160 * G - 1, True), (160 * G, False)])
def test_an_area_below_four_times_the_arc_measures_memory(area: int, told: bool) -> None:
    facts = run(area_bytes=area, upstream_cache=before(ARC))
    assert ("cache-larger-than-area" in keys(facts)) is told


def test_it_says_that_direct_io_does_not_help_and_what_does() -> None:
    advice = said(run(area_bytes=8 * G, upstream_cache=before(ARC)), "cache-larger-than-area")
    assert (
        "the ZFS cache in memory (ARC) of 40 GiB, which can hold all of it."
        " Before OpenZFS 2.3, direct I/O does not bypass"
    ) in advice.message
    assert "zfs_arc_max" in advice.do


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, True),
        ({"upstream_cache": before(ARC, is_bypassed=True)}, False),
        ({"upstream_cache": before(ARC, None)}, False),
        ({"before": are(primarycache="metadata")}, False),
        ({"before": are(primarycache="all")}, True),
        ({"job": WRITES}, False),
        ({"upstream_cache": before(ARC, is_bypassed=True), "job": {"direct": "no"}}, True),
    ],
)
def test_memory_is_said_where_it_answers(changes: dict[str, Any], told: bool) -> None:
    facts = run(**{"area_bytes": 8 * G, "upstream_cache": before(ARC), **changes})
    assert ("cache-larger-than-area" in keys(facts)) is told


@loop_over(
    ("kind", "job", "settings", "told"),
    [
        (DM_CACHE, READS, {"cache_mode": "write-through"}, True),
        (DM_CACHE, READS, {"cache_mode": "passthrough"}, False),
        (DM_CACHE, WRITES, {"cache_mode": "write-through"}, False),
        (DM_CACHE, WRITES, {"cache_mode": "write-back"}, True),
        (DM_CACHE, READS, {}, True),
        (DM_CACHE, WRITES, {}, False),
        (BCACHE, READS, {"cache_mode": "write-around"}, True),
        (BCACHE, WRITES, {"cache_mode": "write-around"}, False),
        (BCACHE, {"rw": "read"}, {"sequential_cutoff": "4194304"}, False),
        (BCACHE, {"rw": "read"}, {"sequential_cutoff": "0"}, True),
        (WRITECACHE, READS, {}, False),
        (WRITECACHE, WRITES, {}, True),
        (WRITECACHE, WRITES, {"cleaner": "on"}, False),
    ],
)
def test_a_cache_of_the_kernel_is_measured_where_it_answers(
    kind: str, job: dict[str, str], settings: dict[str, str], told: bool
) -> None:
    facts = run(job=job, area_bytes=8 * G, upstream_cache=before(kind), before=are(**settings))
    assert ("cache-larger-than-area" in keys(facts)) is told


@pytest.mark.parametrize(
    ("job", "cutoff", "told"),
    [
        ({"rw": "read", "bs": "1M"}, "4194304", True),
        ({"rw": "randread", "bs": "4M"}, "4194304", True),
        ({"rw": "randread", "bs": "2M"}, "4194304", False),
        ({"rw": "read", "bs": "1M"}, "0", False),
    ],
)
def test_streams_that_pass_by_bcache_are_said(job: dict[str, str], cutoff: str, told: bool) -> None:
    facts = run(job=job, upstream_cache=before(BCACHE), before=are(sequential_cutoff=cutoff))
    assert ("stream-bypasses-cache" in keys(facts)) is told


def test_what_is_no_bcache_has_no_cutoff() -> None:
    facts = run(job={"rw": "read"}, upstream_cache=before(DM_CACHE), before=are(sequential_cutoff="4194304"))
    assert "stream-bypasses-cache" not in keys(facts)


@pytest.mark.parametrize(
    ("share", "area", "told"), [(0.89, 8 * G, True), (0.9, 8 * G, False), (0.44, 80 * G, True), (0.45, 80 * G, False)]
)
def test_a_cache_that_served_less_than_it_could_hold_was_cold(share: float, area: int, told: bool) -> None:
    done = over(caches=(CacheStats(device="vg0/mail", share_of_reads=share),))
    facts = run(area_bytes=area, upstream_cache=before(DM_CACHE), measured=done)
    assert ("cache-cold" in keys(facts)) is told


def test_it_tells_both_shares_and_is_silent_while_it_runs_and_where_nothing_was_counted() -> None:
    figures = (CacheStats(device="bcache0", share_of_reads=0.12),)
    facts = run(area_bytes=80 * G, upstream_cache=before(BCACHE), measured=over(caches=figures))
    assert "it served 12 % of the reads, although 50 % of the area fits into it" in said(facts, "cache-cold").message
    assert "cache-cold" not in keys(
        run(area_bytes=8 * G, upstream_cache=before(BCACHE), measured=going(caches=figures))
    )
    assert "cache-cold" not in keys(run(area_bytes=8 * G, upstream_cache=before(BCACHE), measured=over()))


def test_a_writecache_serves_no_reads_and_so_is_never_cold() -> None:
    figures = (CacheStats(device="vg0/db", share_of_reads=0.0),)
    job = {"rw": "randrw"}
    assert "cache-cold" not in keys(
        run(job=job, area_bytes=G, upstream_cache=before(WRITECACHE), measured=over(caches=figures))
    )


@pytest.mark.parametrize(
    ("written", "ramp", "area", "high", "told"),
    [
        (20 * G, 0, 100 * G, "", False),
        (20 * G + 1, 0, 100 * G, "", True),
        (10 * G, 10 * G + 1, 100 * G, "", True),
        (90 * G, 0, 20 * G, "", False),
        (20 * G, 0, 100 * G, "40", True),
    ],
)
def test_a_writecache_that_fills_up_to_its_watermark_changes_the_figures(
    written: int, ramp: int, area: int, high: str, told: bool
) -> None:
    settings = {"high_watermark": high} if high else {}
    facts = run(
        job=WRITES,
        area_bytes=area,
        upstream_cache=before(WRITECACHE),
        before=are(**settings),
        measured=going(written_bytes=written, ramp_bytes=ramp),
    )
    assert ("writecache-fills" in keys(facts)) is told


def test_what_a_mixed_ramp_moved_is_not_all_written() -> None:
    done = going(written_bytes=15 * G, ramp_bytes=90 * G)
    facts = run(job={"rw": "randrw"}, area_bytes=100 * G, upstream_cache=before(WRITECACHE), measured=done)
    assert "writecache-fills" not in keys(facts)


@pytest.mark.parametrize(
    ("align", "size", "block", "times"),
    [
        (4 * K, 4 * K, 128 * K, 32.0),
        (4 * K, 4 * K, 16 * K, 4.0),
        (16 * K, 16 * K, 16 * K, 1.0),
        (128 * K, 128 * K, 16 * K, 1.0),
        (4 * K, 16 * K, 16 * K, 1.75),
        (512, 4 * K, 4 * K, 1.875),
    ],
)
def test_blocks_are_moved_whole(align: int, size: int, block: int, times: float) -> None:
    assert amplification(align, ((size, 100),), block) == pytest.approx(times)


@pytest.mark.parametrize(
    ("job", "settings", "words"),
    [
        ({"rw": "randwrite"}, {"recordsize": "131072"}, "recordsize is 128k: a write reads partially changed blocks"),
        ({"rw": "randread"}, {"volblocksize": "16384"}, "volblocksize is 16k: a read fetches every touched block"),
        ({"rw": "randrw"}, {"volblocksize": "16384"}, "4.00 times the requested bytes"),
    ],
)
def test_blocks_of_zfs_larger_than_those_of_the_job_are_said(
    job: dict[str, str], settings: dict[str, str], words: str
) -> None:
    assert words in said(run(job=job, before=are(**settings)), "zfs-block-size").message


@pytest.mark.parametrize(
    ("job", "settings"),
    [
        ({"rw": "randwrite"}, {"recordsize": "4096"}),
        ({"rw": "write"}, {"recordsize": "131072"}),
        ({"rw": "randwrite", "bs": "128k"}, {"volblocksize": "16384"}),
        ({"rw": "randwrite"}, {}),
        ({"rw": "randwrite"}, {"recordsize": "unknown"}),
    ],
)
def test_blocks_that_fit_are_not(job: dict[str, str], settings: dict[str, str]) -> None:
    assert "zfs-block-size" not in keys(run(job=job, before=are(**settings)))


@pytest.mark.parametrize(
    ("job", "word", "told"),
    [
        ({"rw": "randwrite", "fsync": "1"}, "disabled", True),
        ({"rw": "randwrite", "sync": "dsync"}, "disabled", True),
        ({"rw": "randtrim"}, "always", False),
        ({"rw": "randwrite"}, "disabled", False),
        ({"rw": "randwrite"}, "always", True),
        ({"rw": "randwrite", "fsync": "1"}, "standard", False),
        ({"rw": "randread"}, "always", False),
    ],
)
def test_what_sync_makes_of_writes_is_said(job: dict[str, str], word: str, told: bool) -> None:
    assert ("zfs-sync" in keys(run(job=job, before=are(**{**ZFS, "sync": word})))) is told


def test_sync_of_anything_else_is_none_of_it() -> None:
    assert "zfs-sync" not in keys(run(job=WRITES, before=are(sync="always")))


@pytest.mark.parametrize(
    ("job", "word", "told"),
    [
        (WRITES, "lz4", True),
        (WRITES, "off", False),
        (WRITES, "zle", False),
        (READS, "lz4", False),
        ({**WRITES, "buffer_compress_percentage": "50"}, "lz4", False),
        ({**WRITES, "zero_buffers": "yes"}, "lz4", True),
    ],
)
def test_compression_that_saves_nothing_of_random_data_is_said(job: dict[str, str], word: str, told: bool) -> None:
    assert ("zfs-compression" in keys(run(job=job, before=are(**{**ZFS, "compression": word})))) is told


@pytest.mark.parametrize(("front", "told"), [(None, True), (before(ARC), True), (before(BCACHE), False)])
def test_a_cache_of_flash_before_disks_is_not_unwritten_flash(front: UpstreamCache | None, told: bool) -> None:
    facts: RunFacts = run(content=False, area_bytes=400 * G, upstream_cache=front)
    assert ("unwritten-flash" in keys(facts)) is told
