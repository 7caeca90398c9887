"""A heat map shows how the values of each moment are spread, and grows as if it were drawn afresh."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.color import Color

from widgets.chart_data import ChartData, HeatInterval
from widgets.heat_plot import FIRST_LEVEL, LEAST_CONTRAST, LEVELS, HeatPlot, contrast, faintest, level_of
from widgets.text_utils.ticks import bin_of

INTERVALS = st.lists(
    st.tuples(st.integers(-20, 150), st.lists(st.integers(0, 5000), max_size=12).map(tuple)), max_size=30
).map(
    lambda rows: tuple(
        HeatInterval(at=float(end + 1), seconds=1.0, first=first, counts=counts)
        for end, (first, counts) in enumerate(rows)
    )
)


def second(at: float, **counts: int) -> HeatInterval:
    """An interval of a second with counts by the power of two of their value: `p10=5` is five times 1024."""
    bins = {bin_of(2.0 ** int(name[1:])): count for name, count in counts.items()}
    first = min(bins)
    return HeatInterval(
        at=at, seconds=1.0, first=first, counts=tuple(bins.get(each, 0) for each in range(first, max(bins) + 1))
    )


def levels(data: ChartData, column: int) -> list[int]:
    """The strengths of a column of a map of 40 by 20, from the top; 0 where nothing is."""
    rows = HeatPlot().draw(data, 40, 20)[:-2]
    return [code - FIRST_LEVEL + 1 if (code := codes[column]) >= FIRST_LEVEL else 0 for _, codes in rows]


def test_two_populations_are_two_bands() -> None:
    heat = tuple(second(float(at), p10=900, p16=100) for at in range(1, 31))
    found = [row for row, level in enumerate(levels(ChartData(heat=heat, x_max=30.0), 25)) if level]
    assert any(after - before > 1 for before, after in itertools.pairwise(found))


def test_the_more_frequent_is_the_stronger() -> None:
    heat = tuple(second(float(at), p10=900, p16=100) for at in range(1, 31))
    upper, lower = (level for level in levels(ChartData(heat=heat, x_max=30.0), 25) if level)
    assert lower > upper


def test_a_moment_without_values_stays_empty() -> None:
    heat = (second(1.0, p10=5), second(30.0, p10=5))
    assert not any(levels(ChartData(heat=heat, x_max=30.0), 25))


@pytest.mark.parametrize(("share", "level"), [(0.0, 0), (1e-6, 1), (1e-4, 1), (0.01, 4), (1.0, LEVELS)])
def test_equal_ratios_are_equal_steps(share: float, level: int) -> None:
    assert level_of(share) == level


def test_a_new_interval_leaves_the_other_rows_the_same_objects() -> None:
    plot = HeatPlot()
    heat = tuple(second(float(at), p10=900, p20=1) for at in range(1, 20))
    before = plot.draw(ChartData(heat=heat, x_max=60.0), 60, 20)
    after = plot.draw(ChartData(heat=(*heat, second(20.0, p10=3, p20=1)), x_max=60.0), 60, 20)
    assert sum(old is not new for old, new in zip(before, after, strict=True)) <= 2


@pytest.mark.exhaustive
@given(INTERVALS, st.integers(0, 30), st.booleans())
@settings(deadline=None)
def test_a_map_that_grew_looks_like_one_drawn_afresh(
    heat: tuple[HeatInterval, ...], known: int, ascii_only: bool
) -> None:
    edges = (second(0.5, p1=1, p40=1),)
    plot = HeatPlot()
    plot.draw(ChartData(heat=(*edges, *heat[:known]), x_max=40.0), 60, 16, ascii_only=ascii_only)
    whole = ChartData(heat=(*edges, *heat), x_max=40.0)
    grown = plot.draw(whole, 60, 16, ascii_only=ascii_only)
    assert grown == HeatPlot().draw(whole, 60, 16, ascii_only=ascii_only)


@pytest.mark.exhaustive
@given(INTERVALS, st.integers(1, 120), st.integers(1, 50), st.booleans())
@settings(deadline=None)
def test_any_counts_fill_any_size_exactly(
    heat: tuple[HeatInterval, ...], width: int, height: int, ascii_only: bool
) -> None:
    rows = HeatPlot().draw(ChartData(heat=heat), width, height, ascii_only=ascii_only)
    assert {(len(text), len(codes)) for text, codes in rows} == {(width, width)}


@pytest.mark.parametrize(("ground", "ink"), [("#000000", "#0000aa"), ("#ffffff", "#5599ff"), ("#12181f", "#4aa3ff")])
def test_the_faintest_strength_is_told_from_the_ground(ground: str, ink: str) -> None:
    found = faintest(Color.parse(ground), Color.parse(ink))
    assert found == Color.parse(ink) or contrast(found, Color.parse(ground)) >= LEAST_CONTRAST
