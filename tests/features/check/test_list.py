"""The list of findings, by keys at three sizes: one number everywhere, whole sentences, and Enter leads to the fix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.presentation.finding_counts import findings_text
from app.core.session.events import MachineChecked
from app.core.workbench import Workbench
from app.features.check.entries import FindingEntry, finding_entries
from app.features.check.runner import CheckResult, check
from app.features.check.screen import FindingsScreen
from app.features.check.tracker import CheckFindings
from app.tui.app import WorkbenchApp
from app.tui.devices.screen import DevicesScreen
from app.tui.options import ScreenOptions
from backends.host import Host
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST, NOW
from tests.features.check.planted import MACHINES as RECORDED
from tests.features.check.planted import PLANTED, Plant, PlantedHost
from tests.tui.stage import answer, app_of, notices, paths_in, settled, text_in, text_of, until
from widgets.keyed_table import KeyedTable
from widgets.text_utils.units import plural

SIZES = ((80, 24), (120, 40), (200, 60))
EVERY_SIZE = [SIZES[0], *(pytest.param(size, marks=pytest.mark.long) for size in SIZES[1:])]


def host(machine: str = "lsi") -> Host:
    """A simulated or recorded machine; `MACHINE, planted` has all faults that are planted into it, at once."""
    name, _, planted = machine.partition(", ")
    bare = SimulatedHost(MACHINES[name](lambda: NOW), speed=FAST) if name in MACHINES else RECORDED[name]()
    faults = [one.fault for one in PLANTED if one.machine == name] if planted else []
    every = Plant(
        answers=tuple(chain.from_iterable(fault.answers for fault in faults)),
        files=dict(chain.from_iterable(fault.files.items() for fault in faults)),
        edits=tuple(chain.from_iterable(fault.edits for fault in faults)),
        links=dict(chain.from_iterable(fault.links.items() for fault in faults)),
    )
    return PlantedHost(bare, every)


@asynccontextmanager
async def opened(
    folder: Path, size: tuple[int, int] = (80, 24), machine: str = "lsi", *, first_start: bool = False
) -> AsyncIterator[Pilot[int]]:
    app = WorkbenchApp(
        Workbench(host(machine), paths=paths_in(folder)),
        ScreenOptions(session=folder / "session", config=folder / "config.toml", first_start=first_start),
    )
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


def entries(pilot: Pilot[int]) -> tuple[FindingEntry, ...]:
    tracker = app_of(pilot).findings
    assert isinstance(tracker, CheckFindings)
    assert tracker.checked is not None
    return finding_entries(tracker.checked)


async def show(pilot: Pilot[int], rule: str) -> None:
    """Open the list, and go to the first finding of a rule."""
    await pilot.press("exclamation_mark")
    await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
    await pilot.press("home", *["down"] * [entry.rule for entry in entries(pilot)].index(rule))


async def to_devices(pilot: Pilot[int]) -> DevicesScreen:
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, DevicesScreen))
    await settled(pilot)
    assert isinstance(pilot.app.screen, DevicesScreen)
    return pilot.app.screen


def plain(text: str) -> str:
    """The words of a pane without its frame."""
    return " ".join(text.translate(dict.fromkeys(map(ord, "│╭╮╰╯─▁▂▃▄▅▆▇█"), " ")).split())


async def checked(machine: str) -> CheckResult:
    """What the command `check` finds on the machine."""
    backends = MachineBackends.of(host(machine))
    return await check(backends, await backends.probe())


async def compare_counts(pilot: Pilot[int], severities: tuple[str, ...]) -> None:
    """The list, the header and the pane of each finding at the present size; `severities`: what `check` finds."""
    size = (pilot.app.size.width, pilot.app.size.height)
    await pilot.press("exclamation_mark")
    await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
    assert findings_text(severities) in text_of(pilot), size
    if size[1] > 24 and severities:
        assert f" {plural(len(severities), 'finding')} (!)" in text_of(pilot)
    elif "fault" in severities:
        assert f"▲{len(severities)} " in text_of(pilot)
    table = pilot.app.screen.query_one("#findings", KeyedTable)
    await pilot.press("home")
    for entry in entries(pilot):
        shown = plain(text_in(pilot, "#finding-pane"))
        assert plain(entry.message) in shown, (size, shown)
        assert all(plain(text) in shown for _, text in entry.lines), (size, shown)
        await pilot.press("down")
    assert len(table.rows) == len(entries(pilot))
    await pilot.press("escape")
    assert isinstance(pilot.app.screen, DevicesScreen)


async def test_header_list_log_and_command_count_the_same_and_no_sentence_is_cut(tmp_path: Path) -> None:
    severities = (await checked("lsi")).severities
    async with opened(tmp_path) as pilot:
        await compare_counts(pilot, severities)
        await pilot.press("5")
        await pilot.pause()
        assert findings_text(severities) in text_of(pilot)
        events = [event for event in app_of(pilot).session.events if isinstance(event, MachineChecked)]
        assert [len(event.findings) for event in events] == [len(severities)]


@pytest.mark.long
@pytest.mark.parametrize("machine", [*MACHINES, *(f"{name}, planted" for name in RECORDED)])
async def test_every_machine_counts_alike_at_every_size(tmp_path: Path, machine: str) -> None:
    severities = (await checked(machine)).severities
    async with opened(tmp_path, machine=machine) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await compare_counts(pilot, severities)


@pytest.mark.long
@pytest.mark.parametrize("size", EVERY_SIZE)
async def test_enter_stages_the_fix_and_puts_the_cursor_on_its_setting(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path, size) as pilot:
        await show(pilot, "card-read-ahead")
        assert "Enter stages read_ahead=none." in text_of(pilot)
        screen = await to_devices(pilot)
        assert app_of(pilot).staged == {"megaraid:/c2/v0": {"read_ahead": "none"}}
        assert (screen.devices.selected, screen.panel.place) == ("megaraid:/c2/v0", ("megaraid:/c2/v0", "read_ahead"))
        assert screen.focused is screen.panel.table
        await pilot.press("exclamation_mark")  # the list is where it was, and the finding is marked
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
        row = pilot.app.screen.query_one("#findings", KeyedTable).cursor_row
        assert row is not None
        assert (row.key, row.marked) == ("card-read-ahead megaraid:/c2/v0", True)
        assert "The fix is staged." in text_of(pilot)


@pytest.mark.parametrize("size", EVERY_SIZE)
async def test_a_finding_about_no_setting_leads_to_the_facts_of_its_device(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(tmp_path, size, first_start=True) as pilot:
        await show(pilot, "drive-errors")
        screen = await to_devices(pilot)
        assert screen.devices.selected == "megaraid:/c0/e245/s11"
        facts = "#facts-beside" if size[0] == 200 else "#facts-scroll"
        await until(pilot, lambda: "The drive reports media errors" in plain(text_in(pilot, facts)))
        await pilot.press("escape")
        assert (pilot.app.screen, screen.focused) == (screen, screen.devices)
        await pilot.press("enter")  # a drive without settings shows its facts, too
        await settled(pilot)
        assert "media errors" in text_in(pilot, facts)
        assert app_of(pilot).staged == {}


async def test_a_finding_about_a_setting_without_a_fix_leads_to_the_setting(tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await pilot.press("2", "exclamation_mark")  # the key works where the header names it
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
        await pilot.press("slash", *"not-in-force", "enter")
        assert f"1 of {len(entries(pilot))} match" in text_of(pilot)
        assert "Enter goes to the setting write cache." in text_of(pilot)
        screen = await to_devices(pilot)
        assert screen.panel.place == ("megaraid:/c2/v0", "write_cache")
        assert app_of(pilot).staged == {}


async def test_a_filter_is_cleared_before_the_list_is_closed(tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
        table = pilot.app.screen.query_one("#findings", KeyedTable)
        every = len(table.rows)
        await pilot.press("slash", *"zzz")
        await pilot.pause()
        assert "nothing matches zzz: Esc shows all" in text_of(pilot)
        await pilot.press("enter", "enter", "escape")
        await pilot.pause()
        assert (len(table.rows), isinstance(pilot.app.screen, FindingsScreen)) == (every, True)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, DevicesScreen)


@pytest.mark.long
async def test_a_finding_about_no_device_stays_in_the_list(tmp_path: Path) -> None:
    async with opened(tmp_path, machine="linux, planted") as pilot:
        await show(pilot, "governor")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, FindingsScreen)
        assert "is no device of this machine" in notices(pilot)


@pytest.mark.long
async def test_a_change_of_a_device_that_is_not_shown_brings_its_finding_and_its_undo_takes_it_away(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as pilot:
        count = len(entries(pilot))

        def is_count(number: int) -> bool:
            return len(entries(pilot)) == number

        app_of(pilot).stage("megaraid:/c1", "rebuild_rate", "80")  # the cursor is on c0
        for key, expected in (("a", count + 1), ("u", count)):
            await pilot.press(key)
            await answer(pilot, "enter")
            await until(pilot, partial(is_count, expected))
            await settled(pilot)
            assert f"▲{expected} " in text_of(pilot)
