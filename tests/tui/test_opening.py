"""The workbench opens with its first screen, as large as the terminal, and nothing before it."""

from __future__ import annotations

import pytest
from textual._compositor import Compositor, LayoutUpdate
from textual.screen import Screen
from textual.widgets._toast import ToastRack
from textual.widgets._tooltip import Tooltip

from app.tui.devices.screen import DevicesScreen
from tests.headless import UPDATE
from tests.tui.stage import Table, app_of, opened


async def test_no_other_screen_is_made_before_the_first_one(table: Table) -> None:
    async with opened(table) as pilot:
        screens = [screen for stack in app_of(pilot)._screen_stacks.values() for screen in stack]
        assert [type(screen) for screen in screens] == [DevicesScreen]


@pytest.mark.parametrize(
    ("size", "fitting"),
    [((80, 24), {"-narrow", "-short"}), ((120, 40), {"-beside", "-tall"}), ((180, 50), {"-three", "-tall"})],
)
async def test_a_screen_is_of_the_terminal_s_size_before_anything_is_styled(
    table: Table, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], fitting: set[str]
) -> None:
    first: list[frozenset[str]] = []
    compose = Screen._compose

    async def composing(screen: Screen[object]) -> None:
        first.append(screen.classes)
        await compose(screen)

    monkeypatch.setattr(Screen, "_compose", composing)
    async with opened(table, size) as pilot:
        assert first == [fitting]
        assert app_of(pilot).screen.classes & {"-narrow", "-beside", "-three", "-short", "-tall"} == fitting


async def test_the_whole_screen_is_drawn_once(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Compositor] = []
    render = Compositor.render_full_update
    monkeypatch.setattr(Compositor, "render_update", UPDATE)

    def counted(one: Compositor, simplify: bool = False) -> LayoutUpdate:
        drawn.append(one)
        return render(one, simplify)

    monkeypatch.setattr(Compositor, "render_full_update", counted)
    async with opened(table):
        assert len(drawn) == 1


async def test_textual_s_notices_and_tooltips_are_nowhere_since_nothing_shows_in_them(table: Table) -> None:
    app = table.app()
    assert app._disable_notifications
    assert app._disable_tooltips
    async with app.run_test(notifications=False, tooltips=False):
        assert not app.screen.query(ToastRack)
        assert not app.screen.query(Tooltip)
