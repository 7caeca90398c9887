"""A change at the end of a line does not send the line's beginning again."""

from __future__ import annotations

from typing import Any

import pyte
import pytest
from rich.console import Console
from textual._compositor import Compositor
from textual.geometry import Region, Size
from textual.messages import Update
from textual.screen import Screen
from textual.widgets import Button

from tests.headless import UPDATE
from tests.widgets.stage import Stage, screen_text
from widgets.details import Detail, Details, FactGroup
from widgets.question import KeyedAnswer, QuestionDialog


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


async def test_a_dialog_is_drawn_whole_once_and_not_laid_out_anew_for_the_size_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Compositor] = []
    sizes: list[Screen[Any]] = []
    render, lay_out = Compositor.render_full_update, Screen._refresh_layout

    def counted(one: Compositor, simplify: bool = False) -> object:
        drawn.append(one)
        return render(one, simplify)

    def resized(screen: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
        sizes.extend([screen] if size is not None else [])
        lay_out(screen, size, scroll)

    monkeypatch.setattr(Compositor, "render_update", UPDATE)
    monkeypatch.setattr(Compositor, "render_full_update", counted)
    monkeypatch.setattr(Screen, "_refresh_layout", resized)
    app = Stage(Details(facts("abcdefghij")))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.push_screen(QuestionDialog("Keep?", (KeyedAnswer(key="y", label="Yes", value="yes"),)))
        await pilot.pause()
        assert drawn.count(app.screen._compositor) == 1
        assert sizes.count(app.screen) == 1
        await pilot.resize_terminal(70, 20)
        await pilot.pause()
        assert sizes.count(app.screen) == 2
        assert app.screen.size == (70, 20)


def record_drawing(monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """Return a list to which the regions that are drawn from now on are added."""
    drawn: list[Region] = []

    def recorded(compositor: Compositor, **options: Any) -> object:
        drawn.extend(compositor._dirty_regions)
        return UPDATE(compositor, **options)

    monkeypatch.setattr(Compositor, "render_update", recorded)
    return drawn


async def test_a_widget_of_a_dialog_is_drawn_although_a_part_of_the_screen_below_is_drawn_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Stage(Details(facts("abcdefghij")))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.push_screen(QuestionDialog("Keep?", (KeyedAnswer(key="y", label="Yes", value="yes"),)))
        await pilot.pause()
        app.screen.refresh()
        await pilot.pause()
        button = app.screen.query(Button).first()
        drawn = record_drawing(monkeypatch)
        with app.batch_update():
            button.refresh()
            await pilot.pause()
            app.screen.refresh(Region(0, 0, 3, 1))  # as Textual does it for a widget of the screen below
        await pilot.pause()
        assert Region(0, 0, 3, 1) in drawn
        assert button.region in drawn


async def test_a_widget_that_changes_after_a_layout_that_is_held_back_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Stage(Details(facts("abcdefghij")))
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        drawn = record_drawing(monkeypatch)
        with app.batch_update():
            app.widget._set_dirty()
            app.screen.post_message(Update(app.widget))
            app.screen._refresh_layout()  # draws after the end of the batch, and after the message
        await pilot.pause()
        assert app.widget.region in drawn
