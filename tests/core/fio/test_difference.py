"""What came between two documents of one run: its extremes are its own, exactly where that can be known."""

from __future__ import annotations

import pytest

from app.core.fio.document import Counters
from app.core.fio.histogram import Histogram
from app.core.fio.sampler import counters_since
from backends.fio_buckets import LAST_VALUE

FAST, SLOW = 99840, 1048576
"""Buckets, named by their largest value: fio's own extremes are finer."""


def counters(counts: dict[int, int], low: int | None, high: int | None) -> Counters:
    """Counters of a run with these latencies so far."""
    total = sum(counts.values())
    return Counters(total_ios=total, completed=total, min_ns=low, max_ns=high, histogram=Histogram(counts))


def window(low: int | None, high: int | None, *, added: int = FAST) -> Counters:
    """The window after 10 slow I/Os of 1 040 000 ns: 5 more came, and the run's extremes are now these."""
    before = counters({SLOW: 10}, 1_040_000, 1_040_000)
    return counters_since(counters({SLOW: 10} | {added: 5 + (10 if added == SLOW else 0)}, low, high), before)


def test_a_minimum_that_fell_in_the_window_is_the_windows_to_the_nanosecond() -> None:
    assert window(99_127, 1_040_000).min_ns == 99_127


def test_a_minimum_from_before_the_window_is_not_the_windows() -> None:
    assert window(1_040_000, 1_040_000, added=2 * SLOW).min_ns == 2 * SLOW


def test_a_minimum_as_low_as_before_is_known_to_its_bucket() -> None:
    assert window(1_040_000, 1_040_000, added=SLOW).min_ns == SLOW


def test_a_window_after_a_ramp_without_latencies_has_the_runs_minimum() -> None:
    before = Counters(total_ios=0, completed=0)
    assert counters_since(counters({FAST: 5}, 99_127, 99_800), before).min_ns == 99_127


def test_a_maximum_that_rose_in_the_window_is_the_windows_to_the_nanosecond() -> None:
    assert window(1_040_000, 2_050_001, added=2 * SLOW).max_ns == 2_050_001


def test_a_maximum_from_before_the_window_is_not_the_windows() -> None:
    assert window(99_127, 1_040_000).max_ns == FAST


def test_a_maximum_beyond_the_last_bucket_is_at_least_what_the_run_saw() -> None:
    before = counters({LAST_VALUE: 1}, 1, 90_000_000_000)
    assert counters_since(counters({LAST_VALUE: 2}, 1, 90_000_000_000), before).max_ns == 90_000_000_000


@pytest.mark.parametrize("low", [None, 99_127])
def test_a_window_in_which_nothing_came_has_no_extremes_of_its_own(low: int | None) -> None:
    before = counters({FAST: 5}, low, low)
    found = counters_since(before, before)
    assert (found.min_ns, found.max_ns) == (None, None)
