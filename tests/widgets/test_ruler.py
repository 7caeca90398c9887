"""A label stands in the row of the value it names, and every value has a place."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.case_loop import loop_over
from widgets.axis_ticks import DOTS, Ruler, ruler
from widgets.scale import AxisSpan, fit

SPANS = st.builds(
    lambda values, log: fit(values, log=log), st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=5), st.booleans()
)


@given(SPANS, st.integers(6, 60))
@example(fit([50.0, 2e11], log=True), 11)  # ten decades from 50 on: eleven rows are one too few for one a row
def test_every_tick_is_drawn_in_the_middle_of_the_row_of_its_label(span: AxisSpan, rows: int) -> None:
    found = ruler(span, rows)
    assert all(abs(found.position_of(value) - (row * DOTS + 2)) <= 1.05 for row, value in found.ticks)


@given(SPANS, st.integers(1, 60))
def test_both_ends_of_the_span_are_on_the_rows(span: AxisSpan, rows: int) -> None:
    found = ruler(span, rows)
    assert -1e-6 <= found.position_of(span.high) < found.position_of(span.low) <= rows * DOTS - 1 + 1e-6


@given(SPANS, st.integers(2, 60))
def test_no_row_has_two_labels(span: AxisSpan, rows: int) -> None:
    labelled = [row for row, _ in ruler(span, rows).ticks]
    assert len(set(labelled)) == len(labelled)


@given(st.floats(), SPANS, st.integers(1, 60))
def test_any_value_has_a_dot(value: float, span: AxisSpan, rows: int) -> None:
    if value == value and (value > 0 or not span.log):
        assert 0 <= ruler(span, rows).dot_of(value) < rows * DOTS


@loop_over("rows", [8, 10, 12, 16, 24])
@loop_over("high", [0.5, 8_700.0, 20_000.0, 85_400.0])
def test_an_axis_has_three_to_seven_labels(high: float, rows: int) -> None:
    assert 3 <= len(ruler(fit([high]), rows).ticks) <= 7


@pytest.mark.parametrize("rows", [8, 12, 16, 24])
def test_most_of_the_height_is_used(rows: int) -> None:
    found = ruler(fit([85_400.0]), rows)
    assert found.position_of(0.0) - found.position_of(100_000.0) >= 0.75 * (rows - 1) * DOTS


def test_ticks_are_one_two_or_five_times_a_power_of_ten() -> None:
    def first_digit(found: Ruler) -> set[str]:
        steps = {after - before for (_, before), (_, after) in zip(found.ticks, found.ticks[1:], strict=False)}
        return {f"{step:e}"[0] for step in steps}

    assert {digit for rows in range(6, 40) for digit in first_digit(ruler(fit([21_000.0]), rows))} <= {"1", "2", "5"}


def test_a_high_logarithmic_axis_has_twos_and_fives_between_its_powers_of_ten() -> None:
    ticks = [value for _, value in ruler(AxisSpan(low=2e5, high=5e9, log=True), 40).ticks]
    assert {1e6, 2e6, 5e6, 1e9, 2e9}.issubset({float(f"{value:.3g}") for value in ticks})


def test_a_low_one_has_powers_of_ten_alone() -> None:
    ticks = [value for _, value in ruler(AxisSpan(low=2e5, high=5e9, log=True), 12).ticks]
    assert all(f"{value:.0e}".startswith("1e") for value in ticks)
