"""A change at the end of a line does not send the line's beginning again."""

from __future__ import annotations

import pyte
from rich.console import Console
from textual.geometry import Region

from tests.widgets.stage import Stage
from widgets.details import Detail, Details, FactGroup


def facts(value: str) -> tuple[FactGroup, ...]:
    return (FactGroup(facts=(Detail(label="State", value=value),)),)


async def update_after(region: Region) -> str:
    app = Stage(Details(facts("abcdefghij")))
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        app.widget.refresh(region)
        app.screen._compositor.update_widgets({app.widget})
        update = app.screen._compositor.render_partial_update()
        assert update is not None
        return update.render_segments(Console(color_system=None, force_terminal=True))


async def test_only_the_changed_cells_are_sent() -> None:
    assert "abc" not in await update_after(Region(12, 0, 2, 1))


async def test_the_changed_cells_land_where_they_belong() -> None:
    terminal = pyte.Screen(40, 5)
    pyte.Stream(terminal).feed(await update_after(Region(12, 0, 2, 1)))
    assert terminal.display[0].rstrip() == " " * 12 + "fg"
