"""The live graph: what it says, what it survives, and how little of it is sent again."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.chart import ChartData, LineChart, Reference, Series


def samples(count: int, name: str = "read", value: float = 50.0) -> ChartData:
    points = tuple((float(second), value) for second in range(count))
    return ChartData(series=(Series(name=name, points=points),), x_max=60.0)


class Watched(LineChart):
    """Remembers what it asked to be painted anew."""

    asked: list[tuple[Region, ...]]

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Watched:
        self.__dict__.setdefault("asked", []).append(regions)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


async def test_an_empty_graph_says_that_it_waits() -> None:
    app = Stage(LineChart(title="IOPS"))
    async with app.run_test(size=(80, 24)):
        assert "waiting for the first sample" in screen_text(app)


async def test_the_message_goes_with_the_first_sample() -> None:
    chart = LineChart()
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.data = samples(3)
        await pilot.pause()
        assert "waiting" not in screen_text(app)


async def test_what_came_while_it_was_hidden_is_drawn_when_it_is_as_large_as_before() -> None:
    chart = LineChart()
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "waiting" in screen_text(app)
        chart.display = False
        await pilot.pause()
        chart.data = samples(3)
        await pilot.pause()
        chart.display = True
        await pilot.pause()
        assert "waiting" not in screen_text(app)


async def test_the_legend_tells_series_apart_by_sign() -> None:
    chart = LineChart(ChartData(series=(Series(name="read"), Series(name="write"), Series(name="trim"))))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)):
        assert "── read  ·· write  ╌╌ trim" in screen_text(app)


async def test_the_legend_names_the_reference_with_its_value() -> None:
    chart = LineChart(ChartData(references=(Reference(label="baseline", value=84.0),)))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)):
        assert "┈┈ baseline 84" in screen_text(app)


async def test_a_new_sample_paints_only_the_cells_it_touches() -> None:
    chart = Watched(samples(20))
    app = Stage(chart)
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        chart.asked.clear()
        chart.data = samples(21)
        assert sum(region.area for regions in chart.asked for region in regions) <= 4


async def test_the_same_data_paints_nothing() -> None:
    chart = Watched(samples(20))
    app = Stage(chart)
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        chart.asked.clear()
        chart.data = samples(20, value=50.0)
        assert chart.asked == []


async def test_a_frozen_graph_stands_still() -> None:
    chart = LineChart(samples(5))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.frozen = True
        await pilot.pause()
        before = screen_text(app)
        chart.data = samples(50)
        await pilot.pause()
        assert screen_text(app) == before


async def test_a_frozen_graph_says_so() -> None:
    chart = LineChart(samples(5))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.frozen = True
        await pilot.pause()
        assert "FROZEN" in screen_text(app)


async def test_a_thawed_graph_catches_up() -> None:
    chart, straight = LineChart(samples(5)), LineChart(samples(50))
    app, other = Stage(chart), Stage(straight)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.frozen = True
        chart.data = samples(50)
        chart.frozen = False
        await pilot.pause()
        thawed = screen_text(app)
    async with other.run_test(size=(80, 24)):
        assert thawed == screen_text(other)


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 9), (20, 4), (19, 3), (40, 6), (200, 60)])
async def test_any_terminal_size_is_drawn(size: tuple[int, int]) -> None:
    app = Stage(LineChart(samples(20), title="IOPS"))
    async with app.run_test(size=size):
        assert app.is_running


async def test_a_graph_follows_the_size_of_the_terminal() -> None:
    app = Stage(LineChart(samples(20)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.resize_terminal(100, 10)
        await pilot.pause()
        assert "60 s" in screen_text(app).splitlines()[-1][80:]


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_name_is_only_text(text: str) -> None:
    chart = LineChart(ChartData(series=(Series(name=text, color=text),)), title=text)
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(LineChart, offset=(5, 0))
        assert (app.boomed, screen_text(app).replace("\n", "").isprintable()) == (0, True)


async def test_another_theme_is_taken_on() -> None:
    chart = LineChart(samples(20))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        before = chart.render_line(0)
        app.theme = "textual-light"
        await pilot.pause()
        assert [segment.style for segment in chart.render_line(0)] != [segment.style for segment in before]


async def test_zoom_and_scale_can_be_changed_while_it_runs() -> None:
    chart = LineChart(samples(50))
    app = Stage(chart)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.log_scale = True
        chart.window = 10.0
        await pilot.pause()
        assert screen_text(app).splitlines()[0].endswith("log")


async def test_a_graph_whose_styles_were_renewed_goes_on_drawing() -> None:
    chart = LineChart(samples(1))
    app = Stage(chart)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        chart.notify_style_update()
        chart.data = samples(9, "write")
        await pilot.pause()
        assert "write" in screen_text(app)
