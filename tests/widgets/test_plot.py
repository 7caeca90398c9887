"""The plot copes with any values, and a line that grows looks like one drawn afresh."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.chart_data import ChartData, Reference, Series, TimeMark
from widgets.plot import FIRST_SERIES, REFERENCE, Plot
from widgets.plot_frame import MARK

VALUES = st.none() | st.floats()
POINTS = st.lists(st.tuples(st.floats(), VALUES), max_size=12).map(tuple)
SERIES = st.builds(Series, name=st.text(), points=POINTS, color=st.text())
DATA = st.builds(
    ChartData,
    series=st.lists(SERIES, max_size=4).map(tuple),
    references=st.lists(st.builds(Reference, label=st.text(), value=st.floats()), max_size=2).map(tuple),
    x_max=st.none() | st.floats(),
)
TIMED = st.lists(st.floats(1, 1000), min_size=1, max_size=30).map(
    lambda values: tuple((float(second), value) for second, value in enumerate(values))
)


def line(*values: float | None) -> ChartData:
    points = tuple((float(second), value) for second, value in enumerate(values))
    return ChartData(series=(Series(name="read", points=points),), x_max=float(max(1, len(values) - 1)))


def columns_drawn(data: ChartData, width: int = 40, height: int = 10) -> int:
    """How many columns show something of the first series."""
    rows = Plot().draw(data, width, height)
    return sum(any(codes[column] == FIRST_SERIES for _, codes in rows) for column in range(width))


@pytest.mark.exhaustive
@given(DATA, st.integers(1, 200), st.integers(1, 60), st.booleans(), st.floats(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_data_fills_any_size_exactly(
    data: ChartData, width: int, height: int, log: bool, window: float, ascii_only: bool
) -> None:
    rows = Plot().draw(data, width, height, log=log, window=window, ascii_only=ascii_only)
    assert {(len(text), len(codes)) for text, codes in rows} == {(width, width)}


@pytest.mark.exhaustive
@given(st.lists(TIMED, min_size=1, max_size=3), st.integers(1, 29), st.booleans())
@settings(deadline=None)
def test_a_line_that_grew_looks_like_one_drawn_afresh(
    lines: list[tuple[tuple[float, float], ...]], known: int, log: bool
) -> None:
    def upto(count: int) -> ChartData:
        series = tuple(Series(name="", points=points[:count]) for points in lines)
        ends = (Reference(label="", value=1.0), Reference(label="", value=1000.0))
        return ChartData(series=series, references=ends, x_max=30.0)

    grown, fresh = Plot(), Plot()
    grown.draw(upto(known), 40, 12, log=log)
    assert grown.draw(upto(30), 40, 12, log=log) == fresh.draw(upto(30), 40, 12, log=log)


def named(count: int) -> ChartData:
    """Two lines with names at their ends, which cross as they grow."""
    lines = {
        name: tuple((float(at), 500.0 + 490.0 * math.sin(at * speed)) for at in range(count))
        for name, speed in (("p50", 0.9), ("p99", 1.7))
    }
    series = tuple(Series(name=name, points=points) for name, points in lines.items())
    ends = (Reference(label="", value=1.0), Reference(label="", value=1000.0))
    return ChartData(series=series, references=ends, x_max=30.0, ends=True)


@pytest.mark.parametrize("height", [6, 20])
def test_names_at_the_ends_of_lines_that_grew_are_those_of_lines_drawn_afresh(height: int) -> None:
    grown = Plot()
    for count in range(1, 30):
        assert grown.draw(named(count), 90, height) == Plot().draw(named(count), 90, height), count


def test_a_graph_that_has_become_lower_is_drawn_afresh() -> None:
    plot = Plot()
    plot.draw(named(20), 90, 30)
    assert plot.draw(named(21), 90, 6) == Plot().draw(named(21), 90, 6)


def test_a_new_sample_leaves_the_other_rows_the_same_objects() -> None:
    points = tuple((float(second), 50.0) for second in range(30))
    plot = Plot()
    before = plot.draw(ChartData(series=(Series(name="", points=points[:20]),), x_max=60.0), 80, 20)
    after = plot.draw(ChartData(series=(Series(name="", points=points),), x_max=60.0), 80, 20)
    assert sum(old is not new for old, new in zip(before, after, strict=True)) == 1


def test_a_missing_value_breaks_the_line() -> None:
    assert columns_drawn(line(5, 5, None, 5, 5)) < columns_drawn(line(5, 5, 5, 5, 5))


def test_not_a_number_breaks_the_line() -> None:
    assert columns_drawn(line(5, 5, math.nan, 5, 5)) == columns_drawn(line(5, 5, None, 5, 5))


def test_a_single_sample_is_a_dot() -> None:
    assert columns_drawn(line(5)) == 1


def test_a_logarithmic_graph_draws_no_zero() -> None:
    codes = b"".join(codes for _, codes in Plot().draw(line(0, 0, 0), 40, 10, log=True))
    assert FIRST_SERIES not in codes


def test_a_reference_reaches_from_edge_to_edge() -> None:
    data = ChartData(references=(Reference(label="baseline", value=10.0),), x_max=60.0)
    rows = Plot().draw(data, 80, 10)
    assert max(codes.count(REFERENCE) for _, codes in rows) == (80 - 10) // 2


def test_the_time_axis_stands_still_when_the_length_is_known() -> None:
    plot = Plot()
    begun = plot.draw(line(1, 2), 60, 12)[-1]
    data = ChartData(series=line(1, 2, 1, 2, 1).series, x_max=1.0)
    assert begun[0].split()[0] == plot.draw(data, 60, 12)[-1][0].split()[0] == "0"


def test_a_window_shows_the_newest_seconds() -> None:
    data = line(*range(100))
    assert "80 s" in Plot().draw(data, 60, 12, window=20.0)[-1][0]


def test_a_window_stands_still_between_its_steps() -> None:
    plot = Plot()
    first = plot.draw(ChartData(series=line(*range(92)).series), 60, 12, window=40.0)[-1]
    second = plot.draw(ChartData(series=line(*range(99)).series), 60, 12, window=40.0)[-1]
    assert first == second


def test_the_scale_labels_are_the_callers() -> None:
    data = ChartData(series=line(1000, 2000).series, y_format=lambda value: f"{value / 1000:g}k")
    assert any("2k" in text for text, _ in Plot().draw(data, 40, 10))


def test_a_tiny_graph_does_without_axes() -> None:
    assert not any("│" in text or "┤" in text for text, _ in Plot().draw(line(1, 2, 3), 10, 3))


def test_ascii_only_holds_nothing_else() -> None:
    assert all(text.isascii() for text, _ in Plot().draw(line(1, 5, 2), 60, 12, ascii_only=True))


def test_points_that_are_not_joined_stand_alone() -> None:
    peaks = tuple((float(second), 5.0 if second % 10 == 0 else None) for second in range(21))
    series = Series(name="max", points=(*peaks, (25.0, 5.0), (30.0, 5.0)), joined=False)
    assert columns_drawn(ChartData(series=(series,), x_max=30.0)) == 5


def test_what_happened_is_marked_on_the_time_axis_at_its_second() -> None:
    data = ChartData(series=line(*([1.0] * 61)).series, x_max=60.0, marks=(TimeMark(at=30.0, sign="S"),))
    axis, codes = next(row for row in Plot().draw(data, 70, 12) if "S" in row[0])
    assert (axis.index("S"), codes[axis.index("S")]) == (10 + 30, MARK)


def test_a_mark_that_comes_later_is_drawn_too() -> None:
    plot, data = Plot(), line(1.0, 2.0, 3.0)
    plot.draw(data, 40, 10)
    later = ChartData(series=data.series, x_max=data.x_max, marks=(TimeMark(at=1.0, sign="S"),))
    assert any("S" in text for text, _ in plot.draw(later, 40, 10))


def test_what_does_not_count_is_shaded() -> None:
    data = ChartData(series=line(*([1.0] * 61)).series, x_max=60.0, shaded_until=15.0)
    plot = Plot()
    plot.draw(data, 70, 12)
    assert plot.shaded == range(10, 26)


def test_what_does_not_count_is_named() -> None:
    data = ChartData(series=line(*([1.0] * 61)).series, x_max=60.0, shaded_until=15.0, shaded_text="ramp")
    assert "ramp" in Plot().draw(data, 70, 12)[-3][0][10:26]


def test_what_happened_is_told_in_the_graph_from_its_second_on() -> None:
    data = ChartData(
        series=line(*([1.0] * 61)).series, x_max=60.0, marks=(TimeMark(at=30.0, sign="S", text="stall 2 s"),)
    )
    assert Plot().draw(data, 70, 12)[0][0].index("S stall 2 s") == 10 + 30


def test_what_happened_near_the_end_is_told_whole() -> None:
    data = ChartData(
        series=line(*([1.0] * 61)).series, x_max=60.0, marks=(TimeMark(at=60.0, sign="S", text="stall 2 s"),)
    )
    assert Plot().draw(data, 70, 12)[0][0].endswith("S stall 2 s")


def test_words_never_lie_over_one_another() -> None:
    marks = tuple(TimeMark(at=at, sign="S", text="stall 2 s") for at in (30.0, 31.0))
    data = ChartData(series=line(*([1.0] * 61)).series, x_max=60.0, marks=marks)
    assert Plot().draw(data, 70, 12)[0][0].count("stall 2 s") == 1


def test_a_band_fills_the_rows_within_its_reach() -> None:
    band = (Reference(label="baseline", value=50.0, half=20.0),)
    rows = Plot().draw(ChartData(series=line(100.0, 100.0).series, references=band, x_max=60.0), 60, 22)[:-2]
    filled = [at for at, (text, _) in enumerate(rows) if "░" in text]
    assert filled == list(range(filled[0], filled[-1] + 1))
    assert 6 <= len(filled) <= 9


def test_two_graphs_of_other_values_have_one_time_axis() -> None:
    few, long = line(1.0, 2.0), line(1e-9, 99_999.0)
    corners = {Plot().draw(data, 60, 12)[-2][0].index("└") for data in (few, long)}
    assert len(corners) == 1


def test_a_low_graph_marks_what_happened_in_its_last_row() -> None:
    data = ChartData(
        series=line(*([1.0] * 61)).series, x_max=60.0, marks=(TimeMark(at=30.0, sign="S", text="check began"),)
    )
    rows = [text for text, _ in Plot().draw(data, 70, 5)]
    assert rows[-2].index("S") == 10 + 30
    assert "check began" not in "".join(rows)


def test_an_axis_of_no_length_that_a_number_can_tell_is_no_axis() -> None:
    data = ChartData(series=(Series(name="", points=((-1.0, 0.0),)),), x_max=2.2250738585e-313)
    assert len(Plot().draw(data, 1, 1)) == 1
