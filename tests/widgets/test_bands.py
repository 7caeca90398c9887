"""An outlier is seen at any height, and every line says at its end what it is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_loop import loop_over
from tests.widgets.test_plot import DATA
from widgets.band_plot import LOW, BandedPlot, Bands
from widgets.chart_data import ChartData, Series
from widgets.plot import FIRST_SERIES, Plot
from widgets.plot_frame import AXIS
from widgets.text_utils import units

MS = 1_000_000.0


def latencies(spike_at: float = 26.0, until: float = 30.0) -> ChartData:
    """Percentiles every quarter of a second, of which nothing is completed for two seconds and one I/O takes 2.1 s."""

    def points(usual: float, spike: float) -> tuple[tuple[float, float | None], ...]:
        at = [number * 0.25 for number in range(1, round(until * 4) + 1)]
        return tuple(
            (second, None if spike_at - 2 <= second < spike_at else spike if second == spike_at else usual)
            for second in at
        )

    return ChartData(
        series=(
            Series(name="max", points=points(3 * MS, 2110 * MS), joined=False),
            Series(name="p50", points=points(0.741 * MS, 0.741 * MS)),
            Series(name="p99", points=points(1.16 * MS, 1.2 * MS)),
            Series(name="p99.9", points=points(1.8 * MS, 2100 * MS)),
        ),
        x_max=40.0,
        y_format=units.latency,
        ends=True,
        bands=True,
    )


def drawn(data: ChartData, height: int, *, width: int = 78, ascii_only: bool = False) -> list[str]:
    rows = BandedPlot().draw(data, width, height, log=True, window=0.0, ascii_only=ascii_only)
    assert {(len(text), len(codes)) for text, codes in rows} == {(width, width)}
    return [text for text, _ in rows]


def test_below_eight_rows_each_percentile_has_a_band_of_its_own() -> None:
    assert [row[:8].strip() for row in drawn(latencies(), 5)] == ["p50", "p99", "p99.9", "max", ""]


@pytest.mark.parametrize(("height", "names"), [(3, ["p50", "p99", "max"]), (2, ["p99", "max"])])
def test_where_there_are_fewer_rows_the_tail_stays(height: int, names: list[str]) -> None:
    assert [row[:8].strip() for row in drawn(latencies(), height)] == names


@pytest.mark.long
@loop_over("height", range(2, LOW))
@loop_over("quarter", range(12, 116))
def test_an_outlier_is_the_highest_sign_of_its_band_wherever_it_falls(height: int, quarter: int) -> None:
    rows = drawn(latencies(spike_at=quarter / 4), height)
    assert sum(row.count("█") for row in rows) >= 1


@pytest.mark.long
@loop_over("height", [LOW, 11, 20])
@loop_over("quarter", range(12, 116))
def test_with_room_for_lines_an_outlier_is_a_stroke_wherever_it_falls(height: int, quarter: int) -> None:
    rows = BandedPlot().draw(latencies(spike_at=quarter / 4), 78, height, log=True, window=0.0, ascii_only=False)
    tail = FIRST_SERIES + 3
    assert sum(any(code == tail for code in codes[:70]) for _, codes in rows) >= height // 2


def test_what_only_wavers_is_flat() -> None:
    wavering = Series(name="p50", points=tuple((float(at), 1.0 + 0.02 * (at % 3)) for at in range(1, 40)))
    (first, *_) = drawn(ChartData(series=(wavering, wavering), x_max=40.0, bands=True), 3)
    assert set(first[10:].replace(" ", "")) == {"▁"}


def test_a_band_ends_with_its_value_and_the_largest_with_its_second() -> None:
    rows = drawn(latencies(), 5, width=118)
    assert [
        row.rstrip().endswith(end)
        for row, end in zip(rows, ("741 µs", "1.16 ms", "1.80 ms", "2.11 s 0:26"), strict=False)
    ] == [True] * 4


def test_bands_do_without_utf_8() -> None:
    assert all(row.isascii() for row in drawn(latencies(), 5, ascii_only=True) if "µ" not in row)


def test_a_line_says_at_its_end_what_it_is() -> None:
    rows = drawn(latencies(), 12, width=118)
    ends = [row.rstrip().rpartition("  ")[2].strip() for row in rows]
    assert [name for name in ("p99.9 1.80 ms", "p99 1.16 ms", "p50 741 µs") if name in ends] == [
        "p99.9 1.80 ms",
        "p99 1.16 ms",
        "p50 741 µs",
    ]


def test_a_narrow_graph_has_the_names_alone() -> None:
    assert [
        name
        for name in ("p99.9", "p99", "p50")
        if any(row.rstrip().endswith(f" {name}") for row in drawn(latencies(), 12))
    ] == ["p99.9", "p99", "p50"]


def test_of_a_run_that_is_over_no_interval_is_told_at_the_end() -> None:
    over = replace(latencies(), over=True)
    for height in (5, 12):
        text = "\n".join(drawn(over, height, width=118))
        assert ("p99.9" in text, "1.80 ms" in text) == (True, False)


def test_bands_that_grew_look_like_ones_drawn_afresh() -> None:
    grown = Bands()
    for until in (10.0, 20.0, 25.0):
        grown.draw(latencies(until=until), 78, 5, log=True, window=0.0, ascii_only=False)
    rows = grown.draw(latencies(), 78, 5, log=True, window=0.0, ascii_only=False)
    assert rows == Bands().draw(latencies(), 78, 5, log=True, window=0.0, ascii_only=False)


def test_a_new_sample_leaves_the_bands_that_it_does_not_touch_the_same_objects() -> None:
    bands = Bands()
    before = bands.draw(latencies(until=29.75), 78, 5, log=True, window=0.0, ascii_only=False)
    after = bands.draw(latencies(until=29.75), 78, 5, log=True, window=0.0, ascii_only=False)
    assert all(old is new for old, new in zip(before, after, strict=True))


def test_both_graphs_of_a_width_have_one_time_axis() -> None:
    iops = ChartData(series=(Series(name="read", points=((1.0, 80_000.0),)),), x_max=40.0, ends=True)
    upper = Plot().draw(iops, 118, 9)
    lower = BandedPlot().draw(latencies(), 118, 5, log=True, window=0.0, ascii_only=False)
    assert upper[-1][0].rstrip().rpartition(" ")[0].rstrip() == lower[-1][0].rstrip().rpartition(" ")[0].rstrip()


@pytest.mark.exhaustive
@given(DATA, st.integers(1, 200), st.integers(1, LOW - 1), st.booleans(), st.floats())
@settings(max_examples=200, deadline=None)
def test_any_data_fills_any_size_exactly(
    data: ChartData, width: int, height: int, ascii_only: bool, window: float
) -> None:
    if not data.series or not math.isfinite(window):
        return
    rows = Bands().draw(data, width, height, log=True, window=window, ascii_only=ascii_only)
    assert {(len(text), len(codes)) for text, codes in rows} == {(width, width)}
    assert AXIS > FIRST_SERIES
