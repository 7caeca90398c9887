"""fio's buckets, their differences and percentiles."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.fio.histogram import Histogram
from backends.fio_buckets import LAST_BUCKET, LAST_VALUE, bucket_of, edges_of, value_of
from tests.core.fio.documents import histogram_of

latencies = st.integers(min_value=0, max_value=1 << 40)
histograms = st.lists(latencies, max_size=60).map(histogram_of)


def test_every_printed_value_is_in_its_own_bucket() -> None:
    for bucket in range(LAST_BUCKET + 1):
        assert bucket_of(value_of(bucket)) == bucket


def test_buckets_follow_each_other_without_a_gap() -> None:
    ends = [edges_of(bucket) for bucket in range(LAST_BUCKET + 1)]
    assert all(before[1] == after[0] for before, after in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("value", "printed"), [(0, 0), (127, 127), (128, 129), (1693, 1688), (7072, 7072), (46161302, 46399488)]
)
def test_fios_own_values(value: int, printed: int) -> None:
    assert value_of(bucket_of(value)) == printed


@given(st.integers(min_value=128, max_value=17_179_869_183))
def test_the_midpoint_is_at_most_one_in_128_off(latency: int) -> None:
    assert abs(value_of(bucket_of(latency)) - latency) * 128 <= latency


def test_all_that_is_too_long_is_in_the_last_bucket() -> None:
    assert value_of(bucket_of(60 * 10**9)) == LAST_VALUE == 17_112_760_320


@given(st.lists(latencies, max_size=60), st.lists(latencies, max_size=60))
def test_what_came_since_is_what_was_added(before: list[int], after: list[int]) -> None:
    if after:
        assert histogram_of([*before, *after]).since(histogram_of(before)) == histogram_of(after)


@given(histograms, histograms)
def test_merging_keeps_every_count(first: Histogram, second: Histogram) -> None:
    merged = Histogram.merged([first, second])
    assert merged.total == first.total + second.total
    assert merged.since(first).total == second.total or not second.total


def test_a_restarted_histogram_is_new_altogether() -> None:
    fresh = Histogram({100: 3})
    assert fresh.since(Histogram({100: 50, 120: 9})) == fresh


def test_a_count_that_fell_is_not_negative() -> None:
    assert Histogram({100: 9, 120: 8}).since(Histogram({100: 10})) == Histogram({120: 8})


@given(st.lists(latencies, min_size=1, max_size=200), st.sampled_from([50.0, 90.0, 95.0, 99.0, 99.9, 100.0]))
def test_a_percentile_is_the_first_bucket_that_reaches_its_share(values: list[int], percent: float) -> None:
    ordered = sorted(value_of(bucket_of(value)) for value in values)
    share = Fraction(percent) / 100 * len(ordered)
    expected = next(value for at, value in enumerate(ordered, 1) if at >= share or at == len(ordered))
    found = histogram_of(values).percentile(percent)
    # Equal values share a bucket, so compare the first of them.
    assert found == expected


def test_percentiles_in_one_pass_are_those_one_by_one() -> None:
    histogram = histogram_of(range(0, 100_000, 37))
    assert histogram.percentiles((50.0, 99.0, 99.9)) == tuple(map(histogram.percentile, (50.0, 99.0, 99.9)))


def test_an_empty_histogram_knows_nothing() -> None:
    empty = Histogram()
    assert (empty.total, empty.mean, empty.top, empty.percentile(50), empty.bins) == (0, None, None, None, ())


def test_the_mean_is_close() -> None:
    values = list(range(1_000, 2_000_000, 997))
    assert histogram_of(values).mean == pytest.approx(sum(values) / len(values), rel=0.0078)


def test_a_coarse_spread_counts_every_io_in_the_quarter_of_its_doubling() -> None:
    first, counts = Histogram({1024: 3, 1100: 2, 1449: 1, 4096: 7}).spread()
    assert (first, counts) == (40, (5, 0, 1, 0, 0, 0, 0, 0, 7))


def test_nothing_has_no_spread() -> None:
    assert Histogram().spread() == (0, ())
