"""Axes end at round numbers, hold all values and do not tremble."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.scale import AxisSpan, fit, time_label, time_ticks
from widgets.text_utils.units import elapsed

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_a_scale_grows_at_once() -> None:
    assert fit([120.0], previous=fit([90.0])).high >= 120.0


def test_a_scale_keeps_its_end_while_the_values_need_more_than_half() -> None:
    before = fit([100.0])
    assert fit([80.0], previous=before) == before


def test_a_scale_shrinks_when_the_values_need_clearly_less() -> None:
    assert fit([10.0], previous=fit([100.0])).high < 20.0


def test_positive_values_are_measured_from_zero() -> None:
    assert fit([80_000.0, 85_000.0]).low == 0.0


def test_a_logarithmic_scale_passes_over_zero() -> None:
    assert fit([0.0, 0.001, 0.1], log=True).low == pytest.approx(0.001)


def test_other_kinds_of_scale_do_not_mix() -> None:
    assert fit([5.0], log=True, previous=fit([5.0])).log


@given(st.lists(FINITE, max_size=20), st.integers(1, 8))
def test_no_more_ticks_than_asked_for(values: list[float], most: int) -> None:
    assert len(fit(values).ticks(most)) <= max(2, most)


@given(st.lists(FINITE, max_size=20), st.booleans())
def test_a_scale_has_a_length_whatever_the_values(values: list[float], log: bool) -> None:
    assert fit(values, log=log).span > 0.0


@pytest.mark.parametrize("high", [0.5, 1.0, 15.0, 80.0, 100_000.0])
def test_a_linear_axis_has_three_to_six_ticks(high: float) -> None:
    assert 3 <= len(AxisSpan(low=0.0, high=high).ticks(5)) <= 6


@given(st.floats(0, 1e6), st.floats(0.001, 1e6), st.integers(1, 10))
def test_ticks_of_time_are_within_the_axis(start: float, length: float, most: int) -> None:
    ticks = time_ticks(start, start + length, most)
    assert all(start - 0.1 <= tick <= start + length + 0.1 for tick in ticks)


@pytest.mark.parametrize(
    ("seconds", "span", "label"),
    [(15, 60, "15 s"), (0.5, 1, "0.5 s"), (90, 300, "1:30"), (3725, 7200, "1:02:05")],
)
def test_a_label_of_time_suits_the_span(seconds: float, span: float, label: str) -> None:
    assert time_label(seconds, span) == label


@pytest.mark.parametrize("seconds", [math.nan, math.inf])
def test_a_clock_without_a_time_says_so(seconds: float) -> None:
    assert elapsed(seconds) == "?"


@given(st.lists(st.floats(0.0, 1e12), min_size=1, max_size=6))
def test_a_close_scale_holds_all_values_and_little_more(values: list[float]) -> None:
    found = fit(values, close=True)
    wide = max(max(values) - min(values), 0.02 * max(values))
    assert found.low <= min(values)
    assert max(values) <= found.high
    assert found.low >= 0.0
    assert found.span <= max(3.0 * wide, 1.0) or found.span <= 1e-6


def test_a_close_scale_shows_three_percent_as_a_third_of_it() -> None:
    found = fit([82_000.0, 84_500.0], close=True)
    assert 2_500.0 / found.span > 0.3
    assert found.low > 0.0


def test_a_close_scale_gives_way_to_one_from_zero_at_once() -> None:
    assert fit([84_000.0], previous=fit([84_000.0], close=True)).low == 0.0
    assert fit([84_000.0], close=True, previous=fit([84_000.0])).low > 0.0
