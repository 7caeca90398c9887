"""Every key that a footer names does something there: on each screen, and while a dialog or a sheet lies upon it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from app.tui.base import WorkbenchScreen, dialog_keys
from app.tui.commands import COMMANDS, footer_keys
from app.tui.status_lines import KeyLine
from tests.journeys.bench_walk import start
from tests.tui.conftest import stillness
from tests.tui.stage import Table, app_of, opened, set_table, settled, until

WRITTEN = {
    "esc": "escape",
    "bksp": "backspace",
    "?": "question_mark",
    "/": "slash",
    "!": "exclamation_mark",
    "*": "asterisk",
}
"""Keys in Textual's words, where a footer writes them otherwise."""

Walk = Callable[[Pilot[int], Table], Awaitable[None]]


def pressing(*keys: str) -> Walk:
    async def walk(pilot: Pilot[int], table: Table) -> None:
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return walk


async def running(pilot: Pilot[int], table: Table) -> None:
    await pilot.press("1", "m")
    await start(pilot, table, samples=8)


async def finished(pilot: Pilot[int], table: Table) -> None:
    table.load.finish()
    await until(pilot, lambda: not table.bench.jobs.running)
    await settled(pilot)


def after(walk: Walk, *keys: str) -> Walk:
    async def further(pilot: Pilot[int], table: Table) -> None:
        await walk(pilot, table)
        await pressing(*keys)(pilot, table)

    return further


SCREENS: dict[str, Walk] = {
    "hosts": pressing("0"),
    "devices": pressing("1"),
    "settings": pressing("enter"),
    "bench": pressing("2"),
    "sweep": pressing("4"),
    "log": pressing("5"),
    "running": running,
    "ended": finished,
    "runs": pressing("3"),
    "run": pressing("enter"),
    "history": pressing("3", "H"),
}
"""How to go from each screen to the next one."""

DIALOGS: dict[str, Walk] = {
    "review": pressing("1", "enter", "down", "space", "a"),
    "values": pressing("1", "enter", "down", "enter"),
    "number": pressing("1", "enter", "down", "down", "enter"),
    "sort": pressing("1", "s"),
    "columns": pressing("1", "C"),
    "keys": pressing("1", "question_mark"),
    "profile": pressing("2", "p"),
    "form": pressing("2", "e"),
    "target": pressing("2", "T"),
    "steady": pressing("2", "M"),
    "leaving": after(running, "q"),
    "report": pressing("5", "E"),
    "settings": pressing("1", "E"),
}
"""How one comes to each dialog and sheet."""


def key_of(shown: str) -> str:
    key = WRITTEN.get(shown, shown).replace("^", "ctrl+")
    return {"]": "right_square_bracket"}.get(key, key)


def bound(pilot: Pilot[int], key: str) -> bool:
    """Whether a press of it reaches an action that may be taken, or is the Enter of a list."""
    active = pilot.app.screen.active_bindings.get(key)
    if active is None:
        return key == "enter"
    name = active.binding.action.rpartition(".")[2].partition("(")[0]
    nodes = (active.node, pilot.app.screen, pilot.app)
    return active.enabled and any(hasattr(node, f"action_{name}") for node in nodes)


@pytest.fixture(scope="module")
def dead_keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the keys that each footer names and that are not bound there, from one walk through all screens."""
    table = set_table(tmp_path_factory.mktemp("footers"))
    dead: dict[str, list[str]] = {}
    places: set[str] = set()

    async def walk() -> None:
        async with opened(table) as pilot:
            for screen, go in SCREENS.items():
                await go(pilot, table)
                front = pilot.app.screen
                assert isinstance(front, WorkbenchScreen)
                shown = footer_keys(front.NAME, front.place, 120)
                places.add(front.place)
                dead[screen] = [key for key, _ in shown if not bound(pilot, key_of(key))]

    with stillness():
        asyncio.run(walk())
    assert len(places) == len(SCREENS)
    return dead


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_of_a_footer_is_bound(dead_keys: dict[str, list[str]], screen: str) -> None:
    assert dead_keys[screen] == []


@pytest.mark.long
@pytest.mark.parametrize("dialog", DIALOGS)
async def test_a_footer_beneath_a_dialog_names_the_keys_of_the_dialog(table: Table, dialog: str) -> None:
    async with opened(table) as pilot:
        await DIALOGS[dialog](pilot, table)
        front = pilot.app.screen
        assert isinstance(front, ModalScreen)
        beneath = app_of(pilot).screen_stack[-2]
        shown = beneath.query_one(KeyLine).over
        assert shown == dialog_keys(front)
        assert shown
        assert [key for key, _ in shown if not bound(pilot, key_of(key))] == []


@pytest.mark.long
@pytest.mark.parametrize("dialog", DIALOGS)
async def test_escape_leaves_every_dialog_and_the_footer_is_the_screens_again(table: Table, dialog: str) -> None:
    async with opened(table) as pilot:
        await DIALOGS[dialog](pilot, table)
        beneath = app_of(pilot).screen_stack[-2]
        await pilot.press("escape")
        await until(pilot, lambda: app_of(pilot).screen_stack[-1] is beneath)
        assert beneath.query_one(KeyLine).over is None


def test_every_key_of_the_table_has_a_name_in_footers() -> None:
    assert [command.id for command in COMMANDS if command.footer and not command.shown_keys] == []
