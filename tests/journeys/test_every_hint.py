"""Every hint is pressed: where a sentence on the screen names a key, the key does something there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.bench.screen import BenchScreen
from app.tui.commands import COMMANDS, SCREENS, with_keys
from app.tui.options import ScreenOptions
from app.tui.status_lines import TRIAL_COMMANDS, TrialLine
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.table import MACHINES
from backends.simulator.rack import Rack
from tests.backends.simulator.asking import FAST, still_rack
from tests.features.fleet.fleets import a_fleet
from tests.features.fleet.multihost.test_conductor import HostDouble
from tests.features.fleet.multihost.test_conductor import Table as Doubles
from tests.features.fleet.test_screen import joint_of, measuring, told
from tests.journeys.bench_walk import run_once, start
from tests.tui.stage import (
    Table,
    answer,
    app_of,
    heard,
    notices,
    opened,
    paths_in,
    set_table,
    settled,
    text_in,
    text_of,
    until,
)

BY_ID = {command.id: command for command in COMMANDS}
IN_HINT = re.compile(r"<([a-z]+(?:\.[a-z-]+)+)>")
WRITTEN = {"esc": "escape"}
IN_DIALOG = re.compile(
    r"(?:^|(?<=\s\s)|(?<=[(,;:] )|(?<=\()|(?<=press ))(enter|esc|space|tab|[a-z]|ctrl\+s)"
    r"(?= (?:chooses|cancels|closes?|marks|copies|shows|saves|goes|raw|and type|change)\b)",
    re.IGNORECASE,
)
"""A key in a sentence of a dialog, which knows no commands."""
ON_ENTER = re.compile(r"\bEnter (?:stages|goes to|expands) ")
"""What a list of findings says about the row under the cursor."""


@dataclass
class Stage:
    """A workbench, and the hints that it shows."""

    pilot: Pilot[int]
    table: Table | None
    said: list[str]
    """All hints so far, with command ids."""


Opened = AbstractAsyncContextManager[Stage]
Opener = Callable[[Path, tuple[int, int], list[str]], Opened]
Walk = Callable[[Stage], Awaitable[None]]


def keys(*pressed: str) -> Walk:
    """Press keys; a dialog is waited for."""

    async def walk(stage: Stage) -> None:
        for key in pressed:
            await heard(stage.pilot)
            await stage.pilot.press(key)
            await settled(stage.pilot)
        await calm(stage.pilot)

    return walk


def both(*walks: Walk) -> Walk:
    async def walk(stage: Stage) -> None:
        for one in walks:
            await one(stage)

    return walk


async def running(stage: Stage) -> None:
    assert stage.table is not None
    await stage.pilot.press("1", "m")
    await start(stage.pilot, stage.table)


async def ended(stage: Stage) -> None:
    assert stage.table is not None
    await stage.pilot.press("1", "m")
    await until(stage.pilot, lambda: isinstance(stage.pilot.app.screen, BenchScreen))
    await run_once(stage.pilot, stage.table)


async def on_trial(stage: Stage) -> None:
    await keys("1", "slash", "s", "s", "d", "enter", "enter", "down", "space", "a")(stage)
    await answer(stage.pilot, "t")
    await until(stage.pilot, lambda: app_of(stage.pilot).workbench.changes.trial_sets())
    await until(stage.pilot, lambda: "Trial, " in text_of(stage.pilot))


async def measured_together(stage: Stage) -> None:
    await measuring(stage.pilot)
    await until(stage.pilot, lambda: (joint := joint_of(stage.pilot)) is not None and not joint.running)
    await told(stage.pilot, "Total: ")


async def calm(pilot: Pilot[int]) -> None:
    """Wait until two looks at the screen agree."""
    before = ""
    for _ in range(100):
        if (now := seen(pilot)) == before:
            return
        before = now
        await asyncio.sleep(0.03)
        await pilot.pause()


def seen(pilot: Pilot[int]) -> str:
    """Return everything that a key may change: the stack of screens, the focus, the text, and the messages."""
    stack = " ".join(type(screen).__name__ for screen in pilot.app.screen_stack)
    focus = pilot.app.focused
    return f"{stack} {None if focus is None else focus.id}\n{text_of(pilot)}\n{notices(pilot)}"


def small_machine(*, first_start: bool = False) -> Opener:
    @asynccontextmanager
    async def opener(folder: Path, size: tuple[int, int], said: list[str]) -> AsyncIterator[Stage]:
        table = set_table(folder, first_start=first_start)
        async with opened(table, size) as pilot:
            yield Stage(pilot, table, said)

    return opener


@asynccontextmanager
async def hosts(folder: Path, size: tuple[int, int], said: list[str]) -> AsyncIterator[Stage]:
    async with opened(set_table(folder, fleet=a_fleet().fleet()), size) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        yield Stage(pilot, None, said)


@asynccontextmanager
async def measuring_hosts(folder: Path, size: tuple[int, int], said: list[str]) -> AsyncIterator[Stage]:
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1"), HostDouble("n5"))
    async with opened(set_table(folder, fleet=fleet.fleet()), size) as pilot:
        yield Stage(pilot, None, said)


def simulated(machine: Callable[[], Rack]) -> Opener:
    @asynccontextmanager
    async def opener(folder: Path, size: tuple[int, int], said: list[str]) -> AsyncIterator[Stage]:
        bench = Workbench(SimulatedHost(machine(), speed=FAST), paths=paths_in(folder), advisor=advise)
        app = WorkbenchApp(bench, ScreenOptions(session=folder / "session"))
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            yield Stage(pilot, None, said)

    return opener


PLAIN = small_machine()
RACK = simulated(still_rack)
ARRAYS = simulated(MACHINES["arrays"])
LINUX = simulated(linux_rack)


@dataclass(frozen=True)
class Stop:
    """A place on the screens where a hint is shown."""

    walk: Walk
    hint: str
    """A part of the hint, to be sure that it is shown."""
    opener: Opener = PLAIN
    least: int = 80
    most: int = 1000
    """The widest terminal at which the hint is on one line of its pane."""
    """Columns of the narrowest terminal that shows the hint."""
    before: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the hint asks for before the key of a command, by its id."""


ON_A_SETTING = {"devices.next": ("enter", "down")}
DEAD = " does nothing on "
"""What is said about a key without a command."""

STOPS: dict[str, Stop] = {
    "dead key": Stop(keys("1", "F"), "F does nothing on Devices: ? shows the keys."),
    "nothing staged": Stop(keys("1", "a"), "On a setting, ] stages the next value", before=ON_A_SETTING),
    "no filter": Stop(keys("1", "n"), "There is no filter: / starts one."),
    "tabs": Stop(keys("1", "enter"), "t switches"),
    "all drives": Stop(keys("1", "asterisk"), "collapses the healthy ones.", RACK),
    "findings": Stop(keys("1"), "(!)", RACK, least=120),
    "list of findings": Stop(keys("1", "exclamation_mark"), "Enter goes to ", RACK, least=120, most=120),
    "findings of hosts": Stop(keys("exclamation_mark", "down"), "Enter expands ", hosts, least=120, most=120),
    "trial": Stop(both(on_trial, keys("5")), "Trial, ", RACK, least=120, most=120),
    "hosts have measured": Stop(measured_together, "to write the report.", measuring_hosts, least=120, most=120),
    "no job": Stop(keys("2"), "r runs the job; p chooses another, T the target."),
    "nothing to compare": Stop(keys("2", "c"), "yet. Press r to run it again."),
    "no previous screen": Stop(keys("2", "escape"), "1 to 5 show the screens."),
    "a job runs": Stop(both(running, keys("r")), "A job is running already: x stops it."),
    "no suspension": Stop(both(running, keys("ctrl+z")), "x stops it, q quits."),
    "after a run": Stop(both(ended, keys("1", "2")), "r run it again"),
    "no runs": Stop(keys("3"), "2 goes to Bench, r runs its job"),
    "no marks": Stop(both(ended, keys("3", "c")), "Mark two runs with space, then press c."),
    "no history": Stop(keys("3", "H"), "Press 2 for Bench, then r to start one."),
    "running elsewhere": Stop(both(running, keys("3", "enter")), "Its graphs are on Bench (2)."),
    "nothing to explore": Stop(keys("3", "X"), "Press 2 for Bench, then r to start one."),
    "no chart": Stop(both(ended, keys("3", "X", "H")), "Press * for all sessions."),
    "no spread": Stop(both(ended, keys("3", "X", "v", "home", "down", "down", "enter")), "Press 3 to mark more runs"),
    "no baseline": Stop(both(ended, keys("3", "X", "b")), "Press b on Runs to save one."),
    "hidden events": Stop(both(ended, keys("5")), "more with f"),
    "no search": Stop(keys("5", "n"), "There is no search: / starts one."),
    "matches": Stop(keys("5", "slash", "s", "enter"), "n next, N previous"),
    "no plan": Stop(keys("4"), "Nothing to compare yet.", RACK),
    "no values": Stop(keys("4", "r"), "Select two values of an axis first", RACK),
    "no sweep": Stop(keys("4", "v"), "There is no sweep yet. Press r to start one.", RACK),
    "no sweep to explore": Stop(keys("4", "X"), "There is no sweep yet. Press r to start one.", RACK),
    "no drive": Stop(keys("A", "a"), "No drive is selected. Press space", ARRAYS),
    "no drive for a comparison": Stop(keys("A", "c"), "No drive is selected. Press space", ARRAYS),
    "slowest": Stop(keys("slash", "m", "d", "1", "enter", "S"), "Press r to start.", LINUX),
    "no host": Stop(keys("m"), "No host is marked. Press space to mark a host", hosts),
    "values": Stop(keys("1", "enter", "enter"), "enter chooses   esc cancels"),
    "targets": Stop(keys("2", "T"), "space marks several"),
    "columns": Stop(keys("1", "C"), "Columns: Enter shows or hides one, Esc closes"),
    "form": Stop(keys("2", "e"), "ctrl+s saves"),
    "help": Stop(keys("2", "question_mark"), "Keys (esc closes)"),
    "results": Stop(both(ended, keys("3", "enter", "f")), "v raw output"),
    "staged value in pairs": Stop(keys("1", "enter", "space", "B"), "tab goes to the threshold"),
    "welcome": Stop(
        keys("1"), "all keys; viewing never", small_machine(first_start=True), least=120, most=169, before=ON_A_SETTING
    ),
    "review": Stop(keys("1", "enter", "down", "space", "a"), "c copies"),
}
"""Every kind of hint, and the way to it."""


def flat(text: str) -> str:
    """Return the text without frames, on one line."""
    return " ".join(re.sub(r"[^\x20-\x7e]", " ", text).split())


@dataclass(frozen=True)
class Way:
    """The keys to press for a key that a hint names, which is the last one."""

    keys: tuple[str, ...]
    command: str = ""
    """Id of the command that the hint names; "" for a key of a dialog."""


def named(stage: Stage, stop: Stop) -> list[Way]:
    """Return the way to every key that a hint on the screen names."""
    app, front = app_of(stage.pilot), stage.pilot.app.screen
    text = flat(seen(stage.pilot))
    if not isinstance(front, WorkbenchScreen):
        found = IN_DIALOG.findall(text_in(stage.pilot, ".dialog, .sheet"))
        return [Way((WRITTEN.get(key, key),)) for key in dict.fromkeys(map(str.lower, found))]
    ways: dict[str, Way] = {}
    if ON_ENTER.search(text):
        ways["enter"] = Way(("enter",))
    if front.query_one(TrialLine).text:
        ways |= {name: Way((_key_of(name),), name) for name in TRIAL_COMMANDS}
    for hint in stage.said:
        if flat(with_keys(hint, app.custom_keys))[:14] in text:
            for name in IN_HINT.findall(hint):
                command = BY_ID[name]
                here = {front.NAME, "all"}.intersection(command.screens)
                way = () if here else (_key_of(f"app.{command.screens[0]}"),)
                ways[name] = Way((*way, *stop.before.get(name, ()), _key_of(name)), name)
    return list(ways.values())


def _key_of(name: str) -> str:
    return BY_ID[name].keys[0]


async def works(stage: Stage, way: Way) -> str:
    """Press the keys; return "" if the last one does what its command promises, else what is wrong."""
    pilot, key = stage.pilot, way.keys[-1]
    await keys(*way.keys[:-1])(stage)
    await heard(pilot)
    before = seen(pilot)
    active = pilot.app.screen.active_bindings.get(key)
    if active is not None and not active.enabled:
        return f"{key} is disabled"
    if way.command and (active is None or active.binding.id != way.command):
        return f"{key} is not the key of {way.command}"
    shown = way.command.removeprefix("app.")
    await pilot.press(key)
    try:
        async with asyncio.timeout(60):  # for what never comes
            while seen(pilot) == before or (shown in SCREENS and getattr(pilot.app.screen, "NAME", "") != shown):
                await asyncio.sleep(0.02)
                await pilot.pause()
    except TimeoutError:
        return f"{key} changes nothing"
    new = set(seen(pilot).splitlines()) - set(before.splitlines())
    return f"{key} has no command" if any(DEAD in line for line in new) else ""


async def pressed(stop: Stop, folder: Path, size: tuple[int, int], said: list[str], *, most: int = 100) -> list[str]:
    """Go to a stop for each key that its hints name, `most` at most, and press it; return what is wrong."""
    wrong, number = [], 0
    while True:
        (folder / str(number)).mkdir(parents=True)
        said.clear()
        async with stop.opener(folder / str(number), size, said) as stage:
            await stop.walk(stage)
            assert flat(stop.hint) in flat(seen(stage.pilot))
            ways = named(stage, stop)
            if number < len(ways):
                wrong.append(await works(stage, ways[number]))
        number += 1
        if number >= min(most, len(ways)):
            break
    assert ways
    return [text for text in wrong if text]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hints that the app makes, with command ids."""
    hints: list[str] = []

    def spy(text: str, keymap: Mapping[str, str]) -> str:
        if IN_HINT.search(text):
            hints.append(text)
        return with_keys(text, keymap)

    monkeypatch.setattr("app.tui.app.with_keys", spy)
    return hints


async def test_a_key_without_a_command_is_noticed(tmp_path: Path, still: None, said: list[str]) -> None:
    async with PLAIN(tmp_path, (80, 24), said) as stage:
        assert await works(stage, Way(("1", "F"))) == "F has no command"
        assert await works(stage, Way(("2", "F"))) == "F has no command"
        assert await works(stage, Way(("F",), "bench.run")) == "F is not the key of bench.run"


DAILY = ("no filter",)
"""The stop of every day. It takes one start for each key."""


@pytest.mark.parametrize("name", DAILY)
async def test_a_key_in_a_hint_does_something(tmp_path: Path, still: None, said: list[str], name: str) -> None:
    assert await pressed(STOPS[name], tmp_path, (80, 24), said) == []


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(STOPS.keys() - set(DAILY)))
async def test_every_key_in_every_hint_does_something(tmp_path: Path, still: None, said: list[str], name: str) -> None:
    assert await pressed(STOPS[name], tmp_path, sizes(STOPS[name])[0], said) == []


@pytest.mark.long
@pytest.mark.parametrize("name", STOPS)
async def test_a_hint_is_whole_at_every_size(tmp_path: Path, still: None, said: list[str], name: str) -> None:
    """The keys are the same at each size, so one of them is pressed."""
    for number, size in enumerate(sizes(STOPS[name])[1:]):
        assert await pressed(STOPS[name], tmp_path / f"at-{number}", size, said, most=1) == []


def sizes(stop: Stop) -> list[tuple[int, int]]:
    """Return the sizes at which a stop has its hint, the smallest first."""
    return [size for size in ((80, 24), (120, 40), (200, 60)) if stop.least <= size[0] <= stop.most]
