"""Every human format of a figure."""

from __future__ import annotations

import pytest

from tests.case_loop import loop_over
from widgets.text_utils import units


@loop_over(
    ("value", "shown"),
    [
        (None, "-"),
        (0, "0"),
        (0.5, "0.500"),
        (8.54, "8.54"),
        (99.96, "100"),
        (854.4, "854"),
        (999.4, "999"),
        (999.6, "1.00k"),
        (85_432, "85.4k"),
        (999_600, "1.00M"),
        (1_203_000, "1.20M"),
        (float("nan"), "-"),
    ],
)
def test_iops_have_three_significant_figures(value: float | None, shown: str) -> None:
    assert units.iops(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (1 << 20, "1.00 MiB/s"), (348_210_380, "332 MiB/s"), (13_000 * (1 << 20), "13000 MiB/s")],
)
def test_rates_are_always_mib_per_second(value: float | None, shown: str) -> None:
    assert units.rate(value) == shown


@loop_over(
    ("value", "shown"),
    [
        (None, "-"),
        (854, "0.854 µs"),
        (9_996, "10.0 µs"),
        (741_376, "741 µs"),
        (999_600, "1.00 ms"),
        (12_345_678, "12.3 ms"),
        (1_200_000_000, "1.20 s"),
        (75_000_000_000, "75.0 s"),
    ],
)
def test_latencies_choose_their_unit(value: float | None, shown: str) -> None:
    assert units.latency(value) == shown


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [(100.0, 103.14, "+3.1 %"), (100.0, 90.0, "-10.0 %"), (0.0, 5.0, "-"), (None, 1.0, "-"), (5.0, None, "-")],
)
def test_differences_carry_their_sign(old: float | None, new: float | None, shown: str) -> None:
    assert units.difference(old, new) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "-"),
        (0.42, "0.420 s"),
        (3, "3 s"),
        (60, "60 s"),
        (119.6, "2 min"),
        (320, "5 min 20 s"),
        (7_500, "2 h 05 min"),
    ],
)
def test_durations_use_the_units_of_a_clock(seconds: float | None, shown: str) -> None:
    assert units.duration(seconds) == shown


@pytest.mark.parametrize(("value", "shown"), [(None, "-"), (9.12, "9.1 %"), (9.96, "10 %"), (67.0, "67 %")])
def test_percentages_keep_a_decimal_only_below_ten(value: float | None, shown: str) -> None:
    assert units.percent(value) == shown
