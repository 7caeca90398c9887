"""Graphs that stand still, as text."""

from __future__ import annotations

import re
from dataclasses import replace

from app.engine.view.plot import PlotBand, PlotLine, PlotMark, PlotPoint, PlotView
from app.plotting import drawn


def view(*points: PlotPoint, mark: PlotMark | None = None, log: bool = False) -> PlotView:
    line = PlotLine(name="mean", points=points)
    return PlotView(
        title="Latency by IOPS",
        lines=(line,),
        x_text="{:g} IOPS".format,
        y_text="{:g} us".format,
        y_log=log,
        marks=(mark,) if mark else (),
    )


def plain(shown: PlotView, *, ascii_only: bool = True) -> str:
    return "\n".join(drawn(shown, 60, 14, ascii_only=ascii_only))


FLAT = tuple(PlotPoint(x=x, y=100.0) for x in (10.0, 20.0, 30.0))
BRAILLE = re.compile(r"[\u2801-\u28ff]")
THREE = tuple(PlotPoint(x=x, y=y, low=y / 2, high=y * 2) for x, y in ((10.0, 100.0), (20.0, 120.0), (30.0, 400.0)))


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn(view(), 60, 14) == []


def test_no_row_is_wider_than_its_place() -> None:
    assert max(len(row) for row in plain(view(*THREE)).splitlines()) <= 60


def test_it_is_as_high_as_its_place() -> None:
    assert len(plain(view(*THREE)).splitlines()) == 14


def test_title_and_what_is_marked_are_named() -> None:
    text = plain(view(*THREE, mark=PlotMark(x=20.0, words="knee 20")))
    assert all(words in text for words in ("Latency by IOPS", "A knee 20"))


def test_several_lines_are_told_apart_in_a_legend() -> None:
    lines = tuple(PlotLine(name=name, points=THREE) for name in ("mean", "p99"))
    text = drawn(replace(view(), lines=lines), 60, 14)[0]
    assert [name in text for name in ("mean", "p99")] == [True, True]


def test_points_without_a_line_are_not_joined() -> None:
    apart = replace(view(), lines=(PlotLine(name="run", points=FLAT, joined=False),))
    joined, alone = ("".join(drawn(shown, 60, 14)[1:-2]) for shown in (view(*FLAT), apart))
    assert (len(BRAILLE.findall(joined)) > 30, len(BRAILLE.findall(alone)) <= 6) == (True, True)


def test_a_band_lies_beneath_the_points() -> None:
    held = replace(view(*FLAT), band=PlotBand(name="baseline r1", middle=100.0, half=40.0))
    assert "::" in plain(held)


def test_an_error_bar_reaches_from_end_to_end() -> None:
    bar = PlotPoint(x=20.0, y=100.0, low=20.0, high=180.0)
    rows = [len(BRAILLE.findall(row)) for row in drawn(view(FLAT[0], bar, FLAT[2]), 60, 14)[1:-2]]
    assert sum(found > 0 for found in rows) >= 8


def test_a_logarithmic_axis_has_round_ticks_in_the_unit_of_its_values() -> None:
    assert "100 us" in plain(view(*THREE, log=True))


def test_a_single_point_is_drawn() -> None:
    assert BRAILLE.search(plain(view(PlotPoint(x=10.0, y=5.0)), ascii_only=False))


def test_with_utf8_lines_are_drawn_in_braille() -> None:
    assert BRAILLE.search(plain(view(*THREE), ascii_only=False))
