"""Pictures: they keep to their size, are told apart without colours, and lie about nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_loop import loop_over
from tests.widgets.plot_render.making import DAY, NOON, PICTURES, TWO, course, latencies, measured
from widgets.plot_render.painter import paint
from widgets.plot_render.plot_data import (
    BoxData,
    BoxSample,
    Data,
    HistogramData,
    HistoryData,
    HistoryEpoch,
    PercentileData,
    StaticPlot,
    StaticPlotKind,
    TimelineData,
    Unit,
)
from widgets.plot_render.style import PALETTE, PlotStyle, too_small
from widgets.text_utils.text import width_of

PLAIN = PlotStyle(width=80, height=20, palette=())
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def rows(
    data: Data, look: PlotStyle = PLAIN, title: str = "4k random read, ssd", *, simulated: bool = False
) -> list[str]:
    return paint(StaticPlot(title=title, data=data, simulated=simulated), look)


def text(data: Data, look: PlotStyle = PLAIN) -> str:
    return "\n".join(rows(data, look))


@pytest.mark.long
@loop_over("kind", list(StaticPlotKind))
@loop_over("size", [(60, 15), (80, 20), (100, 30), (200, 60)])
@loop_over("ascii_only", [False, True])
def test_a_picture_is_never_larger_than_its_place(
    kind: StaticPlotKind, size: tuple[int, int], ascii_only: bool
) -> None:
    drawn = rows(PICTURES[kind], PlotStyle(width=size[0], height=size[1], ascii=ascii_only))
    widths = [width_of(ESCAPE.sub("", row)) for row in drawn]
    assert (max(widths) <= size[0], len(drawn) <= size[1]) == (True, True)


@pytest.mark.parametrize("kind", [kind for kind in StaticPlotKind if kind is not StaticPlotKind.BOX])
def test_a_picture_takes_the_height_that_it_is_given(kind: StaticPlotKind) -> None:
    assert len(rows(PICTURES[kind])) == 20


@pytest.mark.parametrize("kind", list(StaticPlotKind))
def test_with_ascii_it_is_ascii(kind: StaticPlotKind) -> None:
    assert text(PICTURES[kind], replace(PLAIN, ascii=True)).isascii()


@pytest.mark.parametrize("kind", list(StaticPlotKind))
def test_without_colours_there_is_no_escape(kind: StaticPlotKind) -> None:
    assert "\x1b" not in text(PICTURES[kind])


@pytest.mark.parametrize("kind", list(StaticPlotKind))
def test_colours_change_nothing_but_the_colour(kind: StaticPlotKind) -> None:
    coloured = [ESCAPE.sub("", row).rstrip() for row in rows(PICTURES[kind], replace(PLAIN, palette=PALETTE))]
    assert coloured == rows(PICTURES[kind])


def test_no_reset_resets_nothing() -> None:
    written = "\n".join(rows(PICTURES[StaticPlotKind.PERCENTILES], replace(PLAIN, palette=PALETTE)))
    assert len(re.findall(r"\x1b\[0m", written)) == len(re.findall(r"\x1b\[38;", written))


@pytest.mark.parametrize("ascii_only", [False, True])
def test_signs_tell_series_apart_where_colours_do_not(ascii_only: bool) -> None:
    look = replace(PLAIN, ascii=ascii_only)
    drawn = text(PICTURES[StaticPlotKind.SCATTER], look)
    assert [look.sign(at) in drawn for at in range(2)] == [True, True]
    assert len({look.sign(at) for at in range(6)}) == 6


def test_the_legend_names_settings_and_has_the_figures() -> None:
    told = rows(PICTURES[StaticPlotKind.PERCENTILES])[1:3]
    assert [("read-ahead none" in told[0], "p99" in told[0]), ("read-ahead on" in told[1], "µs" in told[1])] == [
        (True, True),
        (True, True),
    ]


def test_simulated_stands_in_the_title() -> None:
    assert rows(PICTURES[StaticPlotKind.BOX], simulated=True)[0].startswith("SIMULATED  ")


def test_a_line_feed_or_an_escape_in_a_name_breaks_no_row() -> None:
    hostile = BoxData(
        lots=(BoxSample(name="a\nb\x1b[2J", values=(1.0, 2.0)), BoxSample(name="好好", values=(3.0,))), unit=Unit.IOPS
    )
    drawn = rows(hostile, title="x\ny\x1b[31mz")
    assert ("\x1b" in "".join(drawn), max(map(width_of, drawn)) <= 80) == (False, True)


def test_percentiles_end_where_ten_ios_lie_beyond() -> None:
    few, many = (text(PercentileData(series=(latencies("a", 7e5, count),))) for count in (2_000, 2_000_000))
    assert ("p99.9" in few, "p99.9" in many, "p99.999" in many) == (False, True, True)


def test_ticks_of_latency_are_round_and_have_units() -> None:
    ticks = [row.split("┤")[0].strip() for row in rows(PICTURES[StaticPlotKind.PERCENTILES]) if "┤" in row]
    assert all(re.fullmatch(r"(1|1\.2|1\.5|2|2\.5|3|4|5|6|7|8)0* (µs|ms)", tick) for tick in ticks), ticks


def test_the_rarest_ios_show_only_as_ratios() -> None:
    two = replace(TWO[0], bins=(*TWO[0].bins, (60_000_000, 3)))
    linear, log = (text(HistogramData(series=(two,), log=log)) for log in (False, True))
    assert ("10 ms" in linear, "10 ms" in log) == (False, True)


def test_an_axis_that_does_not_begin_at_0_says_so() -> None:
    own = PICTURES[StaticPlotKind.BOX]
    assert isinstance(own, BoxData)
    assert ("the axis begins at" in text(own), "the axis begins at" in text(replace(own, zero=True))) == (True, False)


def test_a_box_has_a_sign_for_each_run() -> None:
    box = BoxData(lots=(BoxSample(name="a", values=(1e3, 2e3, 3e3, 4e3)),), unit=Unit.IOPS)
    assert text(box).count("●") == 4


def test_a_stall_is_marked_and_what_was_not_measured_is_shaded() -> None:
    drawn = text(PICTURES[StaticPlotKind.TIMELINE])
    assert ("!" in drawn, "░" in drawn, "not measured" in drawn) == (True, True, True)


def test_of_two_runs_over_time_only_the_p99_is_drawn() -> None:
    drawn = text(TimelineData(courses=(course("one"), course("two")), unit=Unit.IOPS))
    assert ("p99.9" in drawn, "·" in drawn) == (False, False)


def test_a_curve_has_a_tick_for_each_value_that_was_tried() -> None:
    assert rows(PICTURES[StaticPlotKind.CURVE])[-2].split() == ["1", "2", "4", "8", "16", "32"]


def test_no_line_leads_over_a_change_of_settings() -> None:
    before, after = (
        HistoryEpoch(name=name, points=measured((at, 8e4))) for name, at in (("a", NOON), ("b", NOON + 9 * DAY))
    )
    one = HistoryEpoch(name="a", points=(*before.points, *after.points))
    apart, joined = (text(HistoryData(stages=stages, unit=Unit.IOPS)) for stages in ((before, after), (one,)))
    braille = re.compile(r"[\u2801-\u28ff]")
    assert (bool(braille.search(apart)), bool(braille.search(joined))) == (False, True)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("days", [0.01, 0.3, 2, 9, 30, 200, 900])
def test_dates_have_no_tick_twice(days: float) -> None:
    autumn = time.mktime((2026, 10, 24, 12, 0, 0, 0, 0, -1))  # summer time ends in the night
    points = measured((autumn, 8e4), (autumn + days * DAY, 8.1e4))
    ticks = rows(HistoryData(stages=(HistoryEpoch(name="", points=points),), unit=Unit.IOPS))[-2]
    words = re.split(r"\s{2,}", ticks.strip())
    assert (len(set(words)), len(words) >= 2) == (len(words), True), ticks


@pytest.mark.long
def test_threads_draw_what_one_thread_draws() -> None:
    kinds = list(StaticPlotKind) * 6
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda kind: text(PICTURES[kind]), kinds))
    assert together == [text(PICTURES[kind]) for kind in kinds]


def test_a_place_that_shows_nothing_is_told_in_a_sentence() -> None:
    small = replace(PLAIN, width=59)
    assert (" ".join(rows(PICTURES[StaticPlotKind.BOX], small)), too_small(PLAIN)) == (too_small(small), "")


FIGURES = st.floats(1e-3, 1e15)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(FIGURES, min_size=1, max_size=5), min_size=1, max_size=40), st.booleans(), st.booleans())
def test_no_figures_are_too_odd_for_boxes(lots: list[list[float]], zero: bool, log: bool) -> None:
    drawn = rows(
        BoxData(
            lots=tuple(BoxSample(name=str(at), values=tuple(lot)) for at, lot in enumerate(lots)),
            unit=Unit.LATENCY,
            zero=zero,
            log=log,
        )
    )
    assert len(drawn) <= 20


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(1, 10**12), st.integers(1, 10**9), min_size=1, max_size=30))
def test_no_latencies_are_too_odd_to_be_drawn(counts: dict[int, int]) -> None:
    series = (replace(TWO[0], bins=tuple(sorted(counts.items()))), TWO[1])
    both: list[Data] = [
        PercentileData(series=series),
        HistogramData(series=series),
        HistogramData(series=series, log=True),
    ]
    assert [len(rows(data)) for data in both] == [20, 20, 20]


# -- eyes of all kinds ------------------------------------------------------------------------------------------------

Three = tuple[float, float, float]

_EYES: dict[str, tuple[Three, ...]] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Machado, Oliveira and Fernandes 2009, of full severity, on linear light."""


def _times(matrix: tuple[Three, ...], vector: Three) -> Three:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def linear(color: int) -> Three:
    """Of one of the 216 in the cube of xterm's 256."""
    levels = (0, 95, 135, 175, 215, 255)
    place = color - 16
    parts = [levels[place // 36], levels[place // 6 % 6], levels[place % 6]]
    r, g, b = (((part / 255 + 0.055) / 1.055) ** 2.4 if part > 10 else part / 255 / 12.92 for part in parts)
    return r, g, b


def lab(rgb: Three) -> Three:
    r, g, b = (min(max(part, 0.0), 1.0) for part in rgb)
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@loop_over("eye", list(_EYES))
@loop_over(("many", "apart"), [(4, 30), (6, 19)])
def test_colours_are_told_apart_by_every_eye(eye: str, many: int, apart: float) -> None:
    seen = [lab(_times(_EYES[eye], linear(int(str(color))))) for color in PALETTE[:many]]
    nearest = min(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
        for at, one in enumerate(seen)
        for other in seen[:at]
    )
    assert nearest >= apart


def test_colours_are_seen_on_black_and_on_white() -> None:
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(int(str(color))) for color in PALETTE)]
    assert min(min((one + 0.05) / 0.05, 1.05 / (one + 0.05)) for one in light) >= 3.1
