"""The table of commands: what it promises, the screens keep."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.pilot import Pilot

from app.features.arrays.screen import NewArrayScreen
from app.features.check.screen import FindingsScreen
from app.features.fleet.screen.findings import HostFindingsScreen
from app.features.fleet.screen.host import HostScreen
from app.features.fleet.screen.multihost_run import JointScreen
from app.features.fleet.screen.screen import HostsScreen
from app.features.history.screen import HistoryScreen
from app.features.observe.screen import ObservationScreen
from app.features.plots.screen.screen import ExploreScreen
from app.features.slowest.screen import SlowestScreen
from app.features.sweep.screen.screen import SweepScreen
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.bench.past_run import RunScreen
from app.tui.bench.screen import BenchScreen
from app.tui.commands import COMMANDS, INPUT_FIELD, SCREENS, SHEETS, CommandSpec, commands_of, footer_keys, footer_of
from app.tui.devices.screen import DevicesScreen
from app.tui.log.screen import LogScreen
from app.tui.runs.compare import CompareScreen
from app.tui.runs.screen import RunsScreen
from tests.case_loop import loop_over
from tests.tui.stage import Table, app_of, notices, opened, text_of, until
from widgets.pane import Pane

CLASSES: dict[str, type[WorkbenchScreen]] = {
    "devices": DevicesScreen,
    "bench": BenchScreen,
    "runs": RunsScreen,
    "sweep": SweepScreen,
    "log": LogScreen,
    "run": RunScreen,
    "compare": CompareScreen,
    "history": HistoryScreen,
    "explore": ExploreScreen,
    "slowest": SlowestScreen,
    "observe": ObservationScreen,
    "array": NewArrayScreen,
    "hosts": HostsScreen,
    "host": HostScreen,
    "joint": JointScreen,
    "findings": FindingsScreen,
    "host-findings": HostFindingsScreen,
}
ALL = (*SCREENS, *SHEETS)
OWN = [(screen, command) for screen in ALL for command in commands_of(screen, shared=False)]


def name_of(value: object) -> str:
    return value.id if isinstance(value, CommandSpec) else str(value)


def test_every_id_is_used_once() -> None:
    assert [id for id, count in Counter(command.id for command in COMMANDS).items() if count > 1] == []


@loop_over("screen", ALL)
def test_no_key_does_two_things_on_one_screen(screen: str) -> None:
    keys = Counter(key for command in commands_of(screen) for key in command.keys)
    assert [key for key, count in keys.items() if count > 1] == []


@loop_over(("screen", "command"), OWN, ids=name_of)
def test_every_action_of_a_screen_is_one_of_its_methods(screen: str, command: CommandSpec) -> None:
    assert hasattr(CLASSES[screen], f"action_{command.action.partition('(')[0]}")


@loop_over("command", [c for c in COMMANDS if "all" in c.screens], ids=name_of)
def test_every_shared_action_is_a_method_of_the_app(command: CommandSpec) -> None:
    assert hasattr(WorkbenchApp, f"action_{command.action.partition('(')[0]}")


@loop_over("command", COMMANDS, ids=name_of)
def test_every_command_belongs_to_a_screen_there_is(command: CommandSpec) -> None:
    assert set(command.screens) <= {*ALL, "all"}


PANES = {
    ("devices", "devices-pane"): "enter Open  a Apply  / Filter  ! Findings",
    ("devices", "detail-pane"): "enter Open  ] Next value  a Apply  esc Back  bksp Unstage",
    ("devices", "facts-pane"): "a Apply  esc Back",
    ("bench", "bench-idle"): "r Run  p Profile  e Edit  T Target",
    ("bench", "bench-running"): "x Stop  v Heat map",
    ("bench", "bench-ended"): "r Run  c Compare  B A/B  b Baseline  E Export  v Heat map",
    ("runs", "runs-list"): "space Mark  c Compare  enter Open  b Baseline",
    ("runs", "runs-preview"): "c Compare  b Baseline",
    ("sweep", "sweep-left"): "r Run  space Tick  T Target  o Open plan",
    ("sweep", "sweep-right"): "r Run  T Target  o Open plan",
    ("sweep", "sweep-running"): "x Stop  v Plan or sweep",
    ("sweep", "sweep-over"): "r Run  v Plan or sweep  E Export",
    ("log", "log-pane"): "f Show  / Search",
    ("compare", "compared"): "esc Back",
}
"""What the footer of each pane begins with on the smallest terminal, the most important first."""


def footer(screen: str, pane: str, width: int) -> str:
    """As it is drawn, without the blank before it."""
    return "".join(f" {key} {label} " for key, label in footer_keys(screen, pane, width)).strip()


@loop_over(("screen", "pane"), PANES)
def test_a_small_terminal_names_the_most_important_keys_of_a_pane_first(screen: str, pane: str) -> None:
    assert footer(screen, pane, 80).startswith(PANES[screen, pane])


@loop_over(("screen", "pane"), PANES)
@loop_over("width", [70, 80, 120, 200])
def test_no_key_of_a_footer_is_cut_and_help_and_the_way_out_end_it(screen: str, pane: str, width: int) -> None:
    told = footer(screen, pane, width)
    assert (len(told) + 2 <= width, told.endswith("? Keys  q Quit")) == (True, True)


@loop_over("screen", ALL)
@loop_over("width", [70, 80, 120, 200])
def test_the_way_back_is_never_left_out(screen: str, width: int) -> None:
    for pane in {"", *(pane for command in commands_of(screen) for pane in command.panes)}:
        back = {command.label for command in footer_of(screen, pane) if "escape" in command.keys}
        assert back <= {label for _, label in footer_keys(screen, pane, width)}


def test_what_is_less_important_goes_first() -> None:
    assert footer("runs", "runs-list", 45) == "space Mark  c Compare  ? Keys  q Quit"


def test_a_key_of_the_keymap_is_the_one_that_is_shown() -> None:
    assert ("ctrl+r", "Run") in footer_keys("bench", "bench-idle", 80, {"bench.run": "ctrl+r"})


def test_in_a_field_letters_are_letters() -> None:
    assert footer("log", INPUT_FIELD, 80) == "enter Done  esc Clear"


@pytest.mark.long
async def test_every_pane_that_a_footer_knows_is_on_a_screen(table: Table) -> None:
    goings_on = {"bench-idle", "bench-running", "bench-ended", "run", "sweep-running", "sweep-over"}
    named = {pane for command in COMMANDS for pane in command.panes} - goings_on
    async with opened(table, (180, 50)) as pilot:  # room for all of them
        found: set[str] = set()
        for key in "012345":
            await pilot.press(key)
            found |= {pane.id or "" for pane in pilot.app.screen.query(Pane)}
    assert named - found == set()


@loop_over("screen", ALL)
def test_the_places_in_a_footer_are_taken_once(screen: str) -> None:
    places = [command.footer for command in footer_of(screen)]
    assert len(set(places)) == len(places)


@loop_over("command", COMMANDS, ids=name_of)
def test_every_command_is_explained_in_a_sentence(command: CommandSpec) -> None:
    assert command.help.endswith(".")


@loop_over("command", COMMANDS, ids=name_of)
def test_a_label_has_room_in_footer_and_palette(command: CommandSpec) -> None:
    assert len(command.label) <= 14


@loop_over("screen", ALL)
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


def last_line(pilot: Pilot[int]) -> str:
    return text_of(pilot).splitlines()[-1]


async def test_the_footer_follows_the_focus(table: Table) -> None:
    async with opened(table) as pilot:
        await until(pilot, lambda: "Filter" in last_line(pilot) and "Unstage" not in last_line(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "Filter" not in last_line(pilot) and "Unstage" in last_line(pilot))


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        ("1", ("devices", "devices-pane")),
        ("2", ("bench", "bench-idle")),
        ("3", ("runs", "runs-list")),
        ("4", ("sweep", "sweep-left")),
        ("5", ("log", "log-pane")),
    ],
)
async def test_the_footer_of_each_screen_is_that_of_its_pane(table: Table, keys: str, pane: tuple[str, str]) -> None:
    async with opened(table, (80, 24)) as pilot:
        await pilot.press(keys)
        await until(pilot, lambda: last_line(pilot).strip() == footer(*pane, 80))


def test_one_key_writes_the_report_wherever_there_is_one() -> None:
    assert {command.keys for command in COMMANDS if command.label == "Export"} == {("E",)}


async def test_a_key_that_does_nothing_is_no_event_of_the_session(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("F")
        await until(pilot, lambda: "F does nothing on Devices" in text_of(pilot))
        await pilot.press("5", "f", "f", "f")
        assert "does nothing" not in "".join(one.text for one in app_of(pilot).notices.messages)


@pytest.mark.parametrize("keys", ["1", "5"])
async def test_while_a_field_has_the_keys_the_footer_says_how_it_is_left(table: Table, keys: str) -> None:
    async with opened(table, (80, 24)) as pilot:
        await pilot.press(keys, "slash")
        await until(pilot, lambda: last_line(pilot).strip() == "enter Done  esc Clear")


@pytest.mark.long
@pytest.mark.parametrize("key", ["h", "escape"])
@pytest.mark.parametrize("screen", "2345")
async def test_where_nothing_was_opened_the_way_back_says_so(table: Table, screen: str, key: str) -> None:
    async with opened(table) as pilot:
        await pilot.press(screen, key)
        await until(pilot, lambda: notices(pilot) == "There is no previous screen: 1 to 5 show the screens.")
