"""The kernel's counters: which line, which field, and what lies between two readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters, counts_flushes, is_reset, parse, since

TEXT = """\
   8       0 sda 101 2 303 4 505 6 707 8 9 1010 1111 12 13 14 15 16 17
   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
 259       0 nvme0n1 3 0 24 0 0 0 0 0 0 4 2
 104       0 cciss/c0d0 4 0 32 0 0 0 0 0 0 4 2
   8      16 sdb 5 6 7 8
   8      32 sdc 3 0 24 2 0 x 0 0 0 4 2 0 0"""


def test_every_counter_comes_from_its_own_field() -> None:
    assert parse(TEXT, ["sda"])["sda"] == (101, 303, 505, 707, 1010, 1111, 4, 8, 16, 17)


def test_a_name_is_the_whole_word() -> None:
    assert parse(TEXT, ["sda1"])["sda1"].reads == 1


def test_the_eleven_fields_of_old_kernels_are_enough() -> None:
    assert parse(TEXT, ["nvme0n1"])["nvme0n1"] == DiskCounters(3, 24, 0, 0, 4, 2)


def test_flushes_are_counted_since_linux_5_5() -> None:
    old = TEXT.split("\n")[2]
    assert (counts_flushes(TEXT), counts_flushes(old), counts_flushes("")) == (True, False, False)
    assert parse(old, ["nvme0n1"])["nvme0n1"].flushes == 0


def test_a_wrap_is_no_reset_and_a_device_that_was_added_again_is_one() -> None:
    before = DiskCounters(reads=(1 << 32) - 5, busy_ms=1000)
    assert not is_reset(before, DiskCounters(reads=5, busy_ms=1000))
    assert not is_reset(before, before)
    assert is_reset(before, DiskCounters(reads=(1 << 32) - 5, busy_ms=10))


def test_a_mean_latency_is_known_only_if_the_kernel_counted_time() -> None:
    rates = DeviceRates(DiskCounters(reads=4, read_ms=10, writes=3, flushes=2, flush_ms=3), 2.0)
    assert (rates.read_latency_ns, rates.write_latency_ns, rates.flush_latency_ns) == (2.5e6, None, 1.5e6)
    assert (rates.flush_iops, rates.latency_ns) == (1.0, 10e6 / 7)


def test_a_slash_in_a_name_is_an_exclamation_mark_in_sysfs() -> None:
    assert parse(TEXT, ["cciss!c0d0"])["cciss!c0d0"].reads == 4


@pytest.mark.parametrize("name", ["sdb", "sdc", "sdz", "sd", "8", ""])
def test_what_has_no_good_line_is_left_out(name: str) -> None:
    assert parse(TEXT, [name]) == {}


def test_only_what_is_wanted_is_given() -> None:
    assert set(parse(TEXT, ["nvme0n1", "sda", "sdz"])) == {"nvme0n1", "sda"}


@given(st.text(alphabet="sda1 0\n-x", max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    assert set(parse(text, ["sda", "sda1"])) <= {"sda", "sda1"}


counts = st.builds(DiskCounters, *[st.integers(0, (1 << 31) - 1)] * 10)


@given(counts, counts)
def test_the_difference_is_what_was_added(before: DiskCounters, done: DiskCounters) -> None:
    now = DiskCounters(*(old + more for old, more in zip(before, done, strict=True)))
    assert since(before, now) == done


@given(st.builds(DiskCounters, *[st.integers(0, (1 << 32) - 1)] * 10), counts)
def test_counters_of_32_bits_may_wrap(before: DiskCounters, done: DiskCounters) -> None:
    now = DiskCounters(*((old + more) % (1 << 32) for old, more in zip(before, done, strict=True)))
    assert since(before, now) == done


def test_a_wrap_by_almost_half_is_one() -> None:
    step = (1 << 31) - 1
    before, now = DiskCounters(reads=1 << 31 | 9), DiskCounters(reads=8)
    assert since(before, now).reads == step


@pytest.mark.parametrize("counter", DiskCounters._fields)
def test_a_device_that_came_back_counts_from_nothing(counter: str) -> None:
    before = DiskCounters(*[10] * 8)._replace(**{counter: 5000})
    now = DiskCounters(*[20] * 8)
    assert since(before, now) == now


def test_counters_of_64_bits_that_fall_count_from_nothing() -> None:
    now = DiskCounters(1, 2, 3, 4, 5, 6)
    assert since(DiskCounters(1 << 40, 1 << 40, 1, 1, 1, 1), now) == now


@pytest.mark.parametrize("count", ["9" * 5000, "٣", "-1", "nan"])
def test_a_count_that_cannot_be_is_no_line(count: str) -> None:
    assert parse(f"8 0 sda 1 2 3 4 {count} 6 7 8 9 10 11", ("sda",)) == {}


def test_latency_is_the_time_that_each_completed_request_took() -> None:
    done = DiskCounters(reads=30, writes=10, read_ms=60, write_ms=40, busy_ms=50, waited_ms=900)
    assert DeviceRates(done, 2.0).latency_ns == pytest.approx(2.5e6)


def test_without_a_completed_request_there_is_no_latency() -> None:
    assert DeviceRates(DiskCounters(busy_ms=1000, waited_ms=1000), 1.0).latency_ns is None


def test_a_latency_below_what_the_kernel_counts_is_unknown() -> None:
    assert DeviceRates(DiskCounters(reads=30), 1.0).latency_ns is None


def test_a_device_is_never_busier_than_all_of_the_time() -> None:
    assert DeviceRates(DiskCounters(busy_ms=1004), 1.0).utilisation == 1.0
