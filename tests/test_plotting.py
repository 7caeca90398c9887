"""Graphs that stand still, as text."""

from __future__ import annotations

import re

from app.engine.view.plot import PlotLine, PlotPoint, PlotView
from app.plotting import drawn


def view(*points: PlotPoint, mark: tuple[float, str] | None = None, log: bool = False) -> PlotView:
    line = PlotLine(name="mean", points=points)
    return PlotView(
        title="Latency by IOPS", lines=(line,), x_text="{:g} IOPS".format, y_text="{:g} us".format, y_log=log, mark=mark
    )


def plain(shown: PlotView, *, ascii_only: bool = True) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", drawn(shown, 60, 14, ascii_only=ascii_only))


THREE = tuple(PlotPoint(x=x, y=y, low=y / 2, high=y * 2) for x, y in ((10.0, 100.0), (20.0, 120.0), (30.0, 400.0)))


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn(view(), 60, 14) == ""


def test_every_row_is_as_wide_as_its_place() -> None:
    assert {len(row) for row in plain(view(*THREE)).splitlines()} == {60}


def test_title_legend_and_what_is_marked_are_named() -> None:
    text = plain(view(*THREE, mark=(20.0, "knee 20")))
    assert all(words in text for words in ("Latency by IOPS", "mean", "knee 20"))


def test_an_error_bar_reaches_from_end_to_end() -> None:
    flat = tuple(PlotPoint(x=x, y=100.0) for x in (10.0, 20.0, 30.0))
    bar = PlotPoint(x=20.0, y=100.0, low=20.0, high=180.0)
    assert plain(view(*flat)).count("|") == 0
    assert plain(view(flat[0], bar, flat[2])).count("|") >= 5


def test_a_logarithmic_axis_has_round_ticks_in_the_unit_of_its_values() -> None:
    assert "100 us" in plain(view(*THREE, log=True))


def test_a_single_point_is_drawn() -> None:
    assert "*" in plain(view(PlotPoint(x=10.0, y=5.0)))


def test_with_utf8_lines_are_drawn_in_braille() -> None:
    assert re.search(r"[\u2801-\u28ff]", plain(view(*THREE), ascii_only=False))
