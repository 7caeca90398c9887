"""The drawing of a difference: zero and what is too small to matter are always in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.interval_bar import IntervalMark, draw_interval

SLOWER = IntervalMark(middle=-18.0, low=-20.0, high=-16.0, points=(-19.0, -17.0, -18.5), threshold=2.0, tone="bad")


def text(mark: IntervalMark, width: int = 80, *, ascii_only: bool = False) -> list[str]:
    return ["".join(piece for _, piece in line) for line in draw_interval(mark, width, ascii_only=ascii_only)]


def test_every_line_is_as_wide_as_its_place() -> None:
    assert [len(line) for line in text(SLOWER)] == [80] * 4


def test_the_bar_stands_left_of_zero_where_all_of_it_is_less() -> None:
    bar = text(SLOWER)[0]
    assert bar.rindex("━") < bar.index("│")


def test_the_middle_lies_on_the_bar() -> None:
    bar = text(SLOWER)[0]
    assert bar.index("━") < bar.index("◆") < bar.rindex("━")


def test_each_value_is_a_point_below_the_bar() -> None:
    assert text(SLOWER)[1].count("•") == 3


def test_what_does_not_matter_is_shaded_on_both_sides_of_zero() -> None:
    bar = text(SLOWER)[0]
    assert bar.index("░") < bar.index("│") < bar.rindex("░")


def test_a_bar_across_zero_shows_where_it_crosses() -> None:
    bar = text(IntervalMark(middle=1.0, low=-5.0, high=7.0, threshold=2.0))[0]
    assert bar.index("━") < bar.index("┿") < bar.rindex("━")


def test_zero_is_named_on_the_axis_below_where_it_is() -> None:
    lines = text(SLOWER)
    assert lines[-1][lines[0].index("│")] == "0"


def test_values_up_bear_their_sign_and_the_last_its_unit() -> None:
    labels = text(IntervalMark(middle=8.0, low=6.0, high=10.0, threshold=2.0))[-1]
    assert ("+5" in labels, labels.rstrip().endswith(" %")) == (True, True)


def test_without_an_interval_there_is_no_bar() -> None:
    lines = text(IntervalMark(middle=5.0, threshold=2.0))
    assert ("━" in lines[0], "◆" in lines[0], len(lines)) == (False, True, 3)


def test_the_bar_has_the_colour_of_what_it_means() -> None:
    assert ("bad", "━") in {(kind, piece[0]) for kind, piece in draw_interval(SLOWER, 80)[0]}


def test_ascii_is_all_ascii() -> None:
    assert all(line.isascii() for line in text(SLOWER, ascii_only=True))


@given(
    middle=st.floats(-100, 1e6, allow_nan=False),
    half=st.floats(0, 1e6),
    width=st.integers(1, 200),
    points=st.lists(st.floats(-100, 1e6), max_size=5),
)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_it_draws_any_difference_in_any_width(
    middle: float, half: float, width: int, points: list[float], ascii_only: bool
) -> None:
    mark = IntervalMark(middle=middle, low=middle - half, high=middle + half, points=tuple(points), threshold=2.0)
    assert {len(line) for line in text(mark, width, ascii_only=ascii_only)} == {width}
