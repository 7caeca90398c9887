"""A change at the end of a line does not send the line's beginning again."""

from __future__ import annotations

from typing import Any

import pyte
import pytest
from rich.console import Console
from textual._compositor import Compositor
from textual.geometry import Region

from tests.headless import UPDATE
from tests.widgets.stage import Stage, screen_text
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


async def test_nothing_is_drawn_while_updates_are_held_back_and_all_of_it_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    details = Details(facts("abcdefghij"))
    app = Stage(details)
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        drawn: list[Compositor] = []

        def counted(one: Compositor, **words: Any) -> object:
            drawn.append(one)
            return UPDATE(one, **words)

        monkeypatch.setattr(Compositor, "render_update", counted)
        with app.batch_update():
            details.groups = facts("klmnopqrst")
            app.screen._refresh_layout()
            await pilot.pause()
            assert not drawn
        await pilot.pause()
        assert drawn
        assert "klmnopqrst" in screen_text(app)
