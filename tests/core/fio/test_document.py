"""Documents of all versions, read without trusting them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.fio.document import FioDocument
from tests.core.fio.documents import START_MS, direction, document, reads

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def touch_everything(found: FioDocument) -> None:
    assert found.version is not None
    assert all(isinstance(code, int) for code in found.errors)
    for name in ("read", "write", "trim", "mixed"):
        if (part := found.counters(name)) is not None:
            assert part.total_ios >= 0
            assert part.histogram.total >= 0
    _ = (found.timestamp_ms, found.total_ios, found.cpu_percent_of_core, found.jobs)


def test_one_direction_is_read_in_full() -> None:
    part = reads(1000, {1688: 900, 99840: 100}).counters("read")
    assert part is not None
    assert (part.completed, part.total_ios, part.io_bytes, part.runtime_ms) == (1000, 1000, 4096_000, 1000)
    assert part.percentiles[99.0] == part.histogram.percentile(99.0) == 99840


def test_a_direction_without_io_is_none() -> None:
    assert reads(1000, {1688: 1}).counters("write") is None


def test_jobs_are_added_up() -> None:
    data = document(1000, read=direction({1688: 30}, runtime_ms=990))
    data["jobs"].append(document(1000, read=direction({1688: 10, 7072: 20}, runtime_ms=1000), error=5)["jobs"][0])
    found = FioDocument(data)
    part = found.counters("read")
    assert part is not None
    assert (part.completed, part.runtime_ms, part.histogram.bins) == (60, 1000, ((1688, 40), (7072, 20)))
    assert found.errors == (5,)


def test_times_are_in_nanoseconds_whatever_the_version() -> None:
    entry: dict[str, Any] = {
        "io_bytes": 4,
        "bw": 4,
        "iops": 1.0,
        "runtime": 1000,
        "total_ios": 1,
        "clat": {"min": 120, "max": 120, "mean": 120.0, "stddev": 0.0, "bins": {"120": 1, "FIO_IO_U_PLAT_BITS": 6}},
    }
    part = FioDocument({"fio version": "fio-2.16", "jobs": [{"read": entry}]}).counters("read")
    assert part is not None
    assert (part.max_ns, part.io_bytes, part.histogram.bins, part.completed) == (120_000, 4096, ((120_000, 1),), 1)


def test_numbered_buckets_of_old_versions_become_their_midpoints() -> None:
    entry: dict[str, Any] = {
        "io_bytes": 4,
        "iops": 1.0,
        "runtime": 1000,
        "total_ios": 1,
        "clat": {"max": 1000, "bins": {"127": 0, "128": 1, "FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_NR": 1216}},
    }
    part = FioDocument({"fio version": "fio-2.16", "jobs": [{"read": entry}]}).counters("read")
    assert part is not None
    assert part.histogram.bins == ((129_000, 1),)


def test_before_3_18_the_bins_tell_how_many_were_timed() -> None:
    data = document(1000, read=direction({1688: 7}, runtime_ms=1000, issued=9))
    del data["jobs"][0]["read"]["clat_ns"]["N"]
    part = FioDocument(data).counters("read")
    assert part is not None
    assert part.completed == 7


def test_all_clients_of_a_client_run_are_not_counted_twice() -> None:
    job = document(1000, read=direction({1688: 7}, runtime_ms=1000))["jobs"][0]
    data = {"fio version": "fio-3.33", "client_stats": [job, {**job, "jobname": "All clients"}]}
    assert FioDocument(data).total_ios == 7


def test_a_duplicate_of_both_directions_is_told_apart_by_its_name() -> None:
    data = document(1000, mixed=direction({1688: 7}, runtime_ms=1000))
    assert FioDocument(data).counters("mixed") is not None


def test_the_share_of_a_core_is_that_of_all_threads() -> None:
    data = document(1000, read=direction({1688: 7}, runtime_ms=1000), job_runtime=4000)
    assert FioDocument(data).cpu_percent_of_core == 120.0


def test_the_time_falls_back_to_seconds() -> None:
    data = reads(2000, {1688: 1})
    assert data.timestamp_ms == START_MS + 2000
    assert FioDocument({"timestamp": 5}).timestamp_ms == 5000
    assert FioDocument({}).timestamp_ms is None


@pytest.mark.exhaustive
@given(st.dictionaries(st.sampled_from(["jobs", "disk_util", "fio version", "timestamp_ms", "global options"]), values))
def test_no_content_raises(data: dict[str, Any]) -> None:
    touch_everything(FioDocument(data))


@pytest.mark.exhaustive
@given(st.dictionaries(st.sampled_from([*direction({1: 1}, runtime_ms=1), "clat", "lat_ns", "bw"]), values))
def test_no_direction_raises(entry: dict[str, Any]) -> None:
    touch_everything(FioDocument({"jobs": [{"read": entry, "mixed": {"clat_ns": entry, "iops": 1}}, entry]}))


@pytest.mark.exhaustive
@given(st.dictionaries(st.text(max_size=3) | st.just("120"), values))
def test_no_bins_raise(bins: dict[str, Any]) -> None:
    entry = {"total_ios": 1, "clat_ns": {"max": 1, "bins": bins, "percentile": bins}}
    touch_everything(FioDocument({"jobs": [{"read": entry}]}))


def timed(latencies: dict[int, int]) -> dict[str, Any]:
    """A block of latencies as fio prints it."""
    block = direction(latencies, runtime_ms=1000)["clat_ns"]
    assert isinstance(block, dict)
    return block


def test_a_latency_is_the_total_and_its_parts_are_kept() -> None:
    entry = {**direction({1000: 30}, runtime_ms=1000), "lat_ns": timed({1688: 30}), "slat_ns": timed({688: 30})}
    found = FioDocument(document(1000, read=entry)).counters("read", split=True)
    assert found is not None
    assert (found.mean_ns, found.histogram.counts) == (1688, {1688: 30})
    assert found.completion is not None
    assert found.submission is not None
    assert (found.completion.mean_ns, found.submission.mean_ns) == (1000, 688)


def test_where_the_total_has_no_histogram_the_completion_is_the_latency() -> None:
    plain = {key: value for key, value in timed({1688: 30}).items() if key not in ("bins", "percentile")}
    found = FioDocument(document(1000, read={**direction({1000: 30}, runtime_ms=1000), "lat_ns": plain})).counters(
        "read"
    )
    assert found is not None
    assert (found.mean_ns, found.completion) == (1000, None)


def test_flushes_are_told_with_the_time_of_the_writes() -> None:
    sync = {"total_ios": 8, "lat_ns": timed({99840: 8})}
    found = FioDocument(document(1000, write=direction({1688: 64}, runtime_ms=980), sync=sync)).counters("sync")
    assert found is not None
    assert (found.completed, found.total_ios, found.runtime_ms, found.mean_ns) == (8, 8, 980, 99840)


def test_a_job_without_flushes_has_none() -> None:
    assert FioDocument(document(1000, write=direction({1688: 64}, runtime_ms=980))).counters("sync") is None
