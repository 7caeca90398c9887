"""The table of commands: what it promises, the screens keep."""

from __future__ import annotations

from collections import Counter

import pytest

from app.commands import COMMANDS, SCREENS, SHEETS, CommandSpec, commands_of, footer_of
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.screens.bench.screen import BenchScreen
from app.tui.screens.devices.screen import DevicesScreen
from app.tui.screens.log.screen import LogScreen
from app.tui.screens.runs.compare import CompareScreen
from app.tui.screens.runs.screen import RunsScreen
from app.tui.screens.sweep.screen import SweepScreen
from tests.tui.stage import Table, opened, text_of

CLASSES: dict[str, type[WorkbenchScreen]] = {
    "devices": DevicesScreen,
    "bench": BenchScreen,
    "runs": RunsScreen,
    "sweep": SweepScreen,
    "log": LogScreen,
    "compare": CompareScreen,
}
ALL = (*SCREENS, *SHEETS)
OWN = [(screen, command) for screen in ALL for command in commands_of(screen, shared=False)]


def name_of(value: object) -> str:
    return value.id if isinstance(value, CommandSpec) else str(value)


def test_every_id_is_used_once() -> None:
    assert [id for id, count in Counter(command.id for command in COMMANDS).items() if count > 1] == []


@pytest.mark.parametrize("screen", ALL)
def test_no_key_does_two_things_on_one_screen(screen: str) -> None:
    keys = Counter(key for command in commands_of(screen) for key in command.keys)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize(("screen", "command"), OWN, ids=name_of)
def test_every_action_of_a_screen_is_one_of_its_methods(screen: str, command: CommandSpec) -> None:
    assert hasattr(CLASSES[screen], f"action_{command.action.partition('(')[0]}")


@pytest.mark.parametrize("command", [c for c in COMMANDS if "all" in c.screens], ids=name_of)
def test_every_shared_action_is_a_method_of_the_app(command: CommandSpec) -> None:
    assert hasattr(WorkbenchApp, f"action_{command.action.partition('(')[0]}")


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_command_belongs_to_a_screen_there_is(command: CommandSpec) -> None:
    assert set(command.screens) <= {*ALL, "all"}


@pytest.mark.parametrize("screen", ALL)
def test_the_places_in_a_footer_are_taken_once(screen: str) -> None:
    places = [command.footer for command in footer_of(screen)]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_command_is_explained_in_a_sentence(command: CommandSpec) -> None:
    assert command.help.endswith(".")


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_a_label_has_room_in_footer_and_palette(command: CommandSpec) -> None:
    assert len(command.label) <= 14


@pytest.mark.parametrize("screen", ALL)
def test_help_and_the_way_out_are_in_every_footer(screen: str) -> None:
    assert {"app.help", "app.quit"} <= {command.id for command in footer_of(screen)}


def test_keys_are_shown_as_people_write_them() -> None:
    assert [command.shown_keys for command in COMMANDS if command.id in ("devices.filter", "app.help")] == ["/", "?"]


@pytest.mark.parametrize(
    ("pane", "named", "not_named"),
    [("devices-pane", "devices.filter", "devices.next"), ("detail-pane", "devices.next", "devices.filter")],
)
def test_a_footer_names_the_keys_of_the_pane_that_has_the_focus(pane: str, named: str, not_named: str) -> None:
    here = {command.id for command in footer_of("devices", pane)}
    assert (named in here, not_named in here) == (True, False)


async def test_the_footer_follows_the_focus(table: Table) -> None:
    async with opened(table) as pilot:
        before = text_of(pilot).splitlines()[-1]
        await pilot.press("enter")
        await pilot.pause()
        after = text_of(pilot).splitlines()[-1]
        assert ("Filter" in before, "Unstage" in before, "Filter" in after, "Unstage" in after) == (
            True,
            False,
            False,
            True,
        )
