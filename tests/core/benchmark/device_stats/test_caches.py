"""What caches served of a run: by what the kernel and ZFS count, unknown where nothing tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.benchmark.device_stats.cache_counters import CacheHitCounters, of_arc, of_bcache, parse_status, since
from app.core.benchmark.device_stats.caches import ARCSTATS, LAGS, SLOW_EVERY, CacheDevice, CacheMeter
from app.core.presentation.members import cache_cells, cache_line, cache_text
from app.core.session.results import CacheStats
from backends.host import Completed
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over

DM = CacheDevice("dm", "vg0-mail", "vg0/mail")
BCACHE = CacheDevice("bcache", "bcache0", "bcache0")
ARC, L2ARC = CacheDevice("arc", "arc", "ARC"), CacheDevice("l2arc", "l2arc", "L2ARC")


def cache_target(*counts: int) -> str:
    """Read hits, read misses, write hits, write misses, dirty blocks of 200."""
    rh, rm, wh, wm, dirty = counts
    tail = "1 writethrough 2 migration_threshold 2048 smq 0 rw -"
    return f"vg0-mail: 0 81920 cache 8 27/4096 128 100/200 {rh} {rm} {wh} {wm} 7 9 {dirty} {tail}"


def answers(host: FakeHost, text: str, code: int = 0) -> None:
    host.tools["dmsetup"] = Completed(returncode=code, stdout=text, stderr="")


def counted(host: FakeHost, *counts: int) -> None:
    names = ("cache_hits", "cache_misses", "cache_bypass_hits", "cache_bypass_misses")
    for name, count in zip(names, counts, strict=True):
        host.files[f"/sys/block/bcache0/bcache/stats_total/{name}"] = str(count)


def arcstats(host: FakeHost, **counts: int) -> None:
    lines = ["13 1 0x01 123 33456 1 2", "name                            type data"]
    host.files[ARCSTATS] = "\n".join([*lines, *(f"{name:<31} 4    {count}" for name, count in counts.items())])


async def test_dm_cache_is_the_difference_of_two_answers() -> None:
    host = FakeHost({})
    answers(host, cache_target(1000, 1000, 50, 50, 20))
    meter = CacheMeter(host, (DM,))
    await meter.begin()
    answers(host, cache_target(1090, 1010, 80, 120, 10))
    assert await meter.total() == (CacheStats(device="vg0/mail", share_of_reads=0.9, share_of_writes=0.3, dirty=0.05),)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (cache_target(1, 2, 3, 4, 5), CacheHitCounters(reads=3, read_hits=1, writes=7, write_hits=3, dirty=0.025)),
        (
            "vg0-db: 0 9 writecache 0 1000 400 7 50 20 90 1 2 30 60 0 8 9",
            CacheHitCounters(reads=50, read_hits=20, writes=90, write_hits=60, dirty=0.6),
        ),
        ("vg0-db: 0 9 writecache 0 1000 400 7", CacheHitCounters(dirty=0.6)),
    ],
)
def test_every_field_of_a_target_is_the_one_the_kernel_means(line: str, counts: CacheHitCounters) -> None:
    name = line.partition(":")[0]
    assert parse_status(f"vg0-x: 0 5 linear\n{line}\nvg0-y: 0 5 striped 2 A A") == {name: counts}


@loop_over(
    "line",
    [
        "",
        "No devices found",
        "a: 0 5 cache Fail",
        "a: 0 5 cache 8 27/4096 128 100 1 2 3 4 5 6 7",
        "a: 0 5 cache 8 27/4096 128 100/200 1 2 3 4 5 6",
        "a: 0 5 cache 8 27/4096 128 100/200 1 2 3 x 5 6 7",
        "a: 0 5 writecache 0 9",
        "a: 0 5 writecache 0 x 9 1",
        "a: 0 5 writecache 0 9 x 1",
    ],
)
def test_what_a_target_does_not_tell_is_not_made_up(line: str) -> None:
    assert parse_status(line) == {}


@given(st.text())
def test_no_answer_is_too_odd(text: str) -> None:
    parse_status(text)
    of_arc(text)
    of_bcache({"cache_hits": text})


def test_a_count_that_began_anew_is_unknown() -> None:
    before, now = (
        CacheHitCounters(reads=9, read_hits=5, writes=3, write_hits=1),
        CacheHitCounters(reads=8, read_hits=6, writes=4),
    )
    assert since(before, now) == CacheHitCounters(writes=1)


@pytest.mark.parametrize(
    ("tools", "root", "why"),
    [
        ({}, True, "dmsetup is not installed"),
        ({"dmsetup": Completed(returncode=1, stdout="", stderr="Permission denied")}, False, "dmsetup needs root"),
        ({"dmsetup": Completed(returncode=1, stdout="", stderr="x")}, True, "dmsetup failed"),
        ({"dmsetup": Completed(returncode=0, stdout="", stderr="")}, True, "dmsetup does not report it"),
    ],
)
async def test_what_is_not_told_is_unknown_and_why(tools: dict[str, Completed], root: bool, why: str) -> None:
    meter = CacheMeter(FakeHost({}, tools=tools, root=root), (DM,))
    await meter.begin()
    assert await meter.total() == (CacheStats(device="vg0/mail", why_not=why),)


async def test_a_kernel_that_does_not_count_says_so() -> None:
    host = FakeHost({})
    answers(host, "vg0-mail: 0 9 writecache 0 1000 400 7")
    meter = CacheMeter(host, (DM,))
    await meter.begin()
    (found,) = await meter.total()
    assert (found.share_of_reads, found.why_not) == (None, "this kernel does not count its hits")
    assert cache_text(found) == "unknown (this kernel does not count its hits), 60 % of it dirty"


async def test_a_cache_to_which_nothing_came_says_so() -> None:
    host = FakeHost({})
    answers(host, cache_target(1, 1, 1, 1, 0))
    meter = CacheMeter(host, (DM,))
    await meter.begin()
    assert [cache_text(one) for one in await meter.total()] == ["unknown (it received no I/O), 0.0 % of it dirty"]


async def bcache(*readings: tuple[int, int, int, int]) -> CacheStats:
    """What is told after these readings, of which the first is that of the beginning."""
    host = FakeHost({})
    meter = CacheMeter(host, (BCACHE,))
    for number, reading in enumerate(readings):
        counted(host, *reading)
        await (meter.begin() if number == 0 else meter.take())
    (found,) = await meter.total()
    return found


async def test_bcache_counts_between_the_first_and_the_last_step_of_the_kernel() -> None:
    steps = [(10, 10, 0, 0), (10, 10, 0, 0), (500, 500, 0, 0), (500, 500, 0, 0), (560, 520, 10, 10)]
    assert (await bcache(*steps)).share_of_reads == 0.7


@pytest.mark.parametrize("steps", [[(1, 1, 0, 0)], [(1, 1, 0, 0), (1, 1, 0, 0)], [(1, 1, 0, 0), (90, 10, 0, 0)]])
async def test_a_run_shorter_than_two_steps_has_no_share(steps: list[tuple[int, int, int, int]]) -> None:
    assert await bcache(*steps) == CacheStats(device="bcache0", why_not=LAGS)


async def test_reads_that_bypass_the_cache_are_reads_too() -> None:
    texts = {"cache_hits": "5", "cache_misses": "6", "cache_bypass_hits": "7", "cache_bypass_misses": "8"}
    assert of_bcache(texts) == CacheHitCounters(reads=26, read_hits=12)
    assert of_bcache({**texts, "cache_misses": "4.0k"}) is None
    assert of_bcache({"cache_hits": "5"}) is None


async def test_the_arc_is_what_was_waited_for() -> None:
    host = FakeHost({})
    arcstats(host, hits=9, misses=9, demand_data_hits=100, demand_data_misses=100, l2_hits=0, l2_misses=9, l2_size=0)
    meter = CacheMeter(host, (ARC, L2ARC))
    await meter.begin()
    arcstats(host, hits=99, misses=9, demand_data_hits=130, demand_data_misses=110, l2_hits=9, l2_misses=9, l2_size=0)
    assert await meter.total() == (CacheStats(device="ARC", share_of_reads=0.75),)


async def test_a_second_level_is_told_where_there_is_one() -> None:
    host = FakeHost({})
    arcstats(host, demand_data_hits=0, demand_data_misses=0, l2_hits=0, l2_misses=0, l2_size=4096)
    meter = CacheMeter(host, (ARC, L2ARC))
    await meter.begin()
    arcstats(host, demand_data_hits=1, demand_data_misses=9, l2_hits=3, l2_misses=6, l2_size=4096)
    assert [(one.device, one.share_of_reads) for one in await meter.total()] == [("ARC", 0.1), ("L2ARC", 3 / 9)]


async def test_an_arc_that_cannot_be_read_is_unknown() -> None:
    meter = CacheMeter(FakeHost({}), (ARC, L2ARC))
    await meter.begin()
    assert await meter.total() == (CacheStats(device="ARC", why_not="ZFS does not report it"),)


async def test_while_it_runs_a_program_is_asked_now_and_then_only() -> None:
    host = FakeHost({})
    answers(host, cache_target(0, 0, 0, 0, 0))
    meter = CacheMeter(host, (DM,))
    await meter.begin()
    answers(host, cache_target(1, 1, 0, 0, 0))
    told = [await meter.take() for _ in range(SLOW_EVERY)]
    assert told[:-1] == [()] * (SLOW_EVERY - 1)
    assert [one.share_of_reads for one in told[-1]] == [0.5]


async def test_without_a_cache_nothing_is_told() -> None:
    meter = CacheMeter(FakeHost({}), ())
    await meter.begin()
    assert (await meter.take(), await meter.total()) == ((), ())


def test_a_cache_in_words() -> None:
    one = CacheStats(device="vg0/mail", share_of_reads=0.97, share_of_writes=0.8, dirty=0.03)
    other = CacheStats(device="bcache0", why_not="because")
    assert cache_line((one, other)) == (
        "Cache: vg0/mail 97 % of reads, 80 % of writes, 3.0 % of it dirty; bcache0 unknown (because)"
    )
    assert cache_line((one, other), brief=True) == "Cache: vg0/mail 97 % of reads, 80 % of writes; bcache0 unknown"
    assert cache_line(()) == ""
    assert cache_cells(other) == ("bcache0", "-", "-", "-", "because")
