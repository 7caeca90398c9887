"""What paints pictures that stand still is not there while something is measured."""

from __future__ import annotations

import sys

import pytest

from tests.journeys.bench_walk import start
from tests.tui.stage import Table, opened, text_of, until

PAINTERS = ("widgets.plot_render.painter", "widgets.plot_render.axes_pane")


@pytest.mark.long
async def test_a_run_is_drawn_without_plotext_on_every_screen(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name in ("plotext", *PAINTERS)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotext", None)  # to import it is an error from now on
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        for at, key in enumerate("vv34512", 5):
            table.load.take(at / 4)
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: "IOPS" in text_of(pilot))
        assert "widgets.plot_render.painter" not in sys.modules
