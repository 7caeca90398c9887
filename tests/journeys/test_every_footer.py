"""Every key that a footer names does something there: on each screen, and while a dialog or a sheet lies upon it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from app.tui.base import WorkbenchScreen, dialog_keys
from app.tui.commands import COMMANDS, footer_keys
from app.tui.status_lines import KeyLine
from tests.journeys.bench_walk import start
from tests.tui.stage import Table, app_of, opened, settled, until

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


async def ended(pilot: Pilot[int], table: Table) -> None:
    await running(pilot, table)
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
    "settings": pressing("1", "enter"),
    "bench": pressing("2"),
    "running": running,
    "ended": ended,
    "runs": after(ended, "3"),
    "run": after(ended, "3", "enter"),
    "history": after(ended, "3", "H"),
    "sweep": pressing("4"),
    "log": pressing("5"),
}
"""How one comes to each screen."""

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


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_key_of_a_footer_is_bound(table: Table, screen: str) -> None:
    async with opened(table) as pilot:
        await SCREENS[screen](pilot, table)
        front = pilot.app.screen
        assert isinstance(front, WorkbenchScreen)
        shown = footer_keys(front.NAME, front.place, 120)
        assert [key for key, _ in shown if not bound(pilot, key_of(key))] == []


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
