"""Hosts above this machine: a row each, the devices of one, and nothing that could be set there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.multihost_names import joint_folders
from app.features.check.collector import gather
from app.features.check.entries import finding_entries
from app.features.check.runner import evaluate
from app.features.fleet.hosts.facts import facts_json, findings_of, targets_of
from app.features.fleet.hosts.overview import WORDS
from app.features.fleet.hosts.wire_format import RawResponse
from app.features.fleet.screen.findings import HostFindingsScreen
from app.features.fleet.screen.host import HostScreen
from app.features.fleet.screen.multihost_run import JointScreen, MultiHostRunController
from app.features.fleet.screen.screen import NOBODY, HostsScreen
from app.features.fleet.screen.targets import FOLDER, FolderDialog
from app.tui.devices.screen import DevicesScreen
from backends.errors import ToolMissingError
from backends.model import Array, Drive
from backends.registry import MachineBackends
from tests.backends.simulator.asking import still_host
from tests.features.fleet.fleets import UNFIT, ToldFleet, a_fleet, facts, thing
from tests.features.fleet.multihost.test_conductor import HostDouble
from tests.features.fleet.multihost.test_conductor import Table as Doubles
from tests.tui.stage import SIZES, answer, app_of, heard, notices, opened, set_table, text_in, text_of, until
from widgets.choice_list import ChoiceDialog
from widgets.keyed_table import KeyedTable
from widgets.question import QuestionDialog
from widgets.table_layout import plain

THREE_SIZES = SIZES | {"wide": (200, 60)}
SMALL_FIRST = ["small", *(pytest.param(size, marks=pytest.mark.long) for size in ("large", "wide"))]


def hosts_of(pilot: Pilot[int]) -> list[str]:
    """The rows, from the top."""
    return [row.key for row in pilot.app.screen.query_one("#hosts", KeyedTable).rows]


def joint_of(pilot: Pilot[int]) -> MultiHostRunController | None:
    """The run on many hosts, if there is one."""
    work = app_of(pilot).background.get("joint")
    assert work is None or isinstance(work, MultiHostRunController)
    return work


async def told(pilot: Pilot[int], words: str) -> None:
    """Until the screen says so."""
    await until(pilot, lambda: words in text_of(pilot))


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_wrong_comes_first(tmp_path: Path, size: str) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet()), SIZES[size]) as pilot:
        assert isinstance(pilot.app.screen, HostsScreen)
        await told(pilot, "4 of 5 hosts answered; missing: n3")
        assert hosts_of(pilot) == ["n3", "n2", "n4", "n1", "n5"]
        assert "The host is unreachable." in text_in(pilot, "#hosts")
        assert "1 fault, 1 warning" in text_in(pilot, "#hosts")
        assert "Connection refused" in text_in(pilot, "#host-facts")  # the cursor is on what is worst
        await pilot.press("down")
        assert "array-degraded: an array is degraded or failed (md:md0)" in text_in(pilot, "#host-facts")
        await pilot.press("down")
        await pilot.press("tab", "end")
        assert "read_ahead_kb 0; 128 on 3 of 4" in text_of(pilot).replace("\n", " ") or size == "small"


async def test_rows_fill_in_as_answers_come_and_a_moved_cursor_stays(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.gates = {"n3": asyncio.Event()}
    async with opened(set_table(tmp_path, fleet=fleet.fleet())) as pilot:
        await told(pilot, "2 of 5 hosts answered")
        assert "Hosts, waiting for 3" in text_of(pilot)
        assert hosts_of(pilot)[0] == "n2"
        assert text_in(pilot, "#hosts").count("waiting for the response") == 3
        await pilot.press("end")
        assert "Available when all hosts have responded." in text_in(pilot, "#host-facts")
        fleet.gates["n3"].set()
        await told(pilot, "4 of 5 hosts answered")
        assert pilot.app.screen.query_one("#hosts", KeyedTable).cursor == "n1"


async def test_a_host_is_read_and_never_set(tmp_path: Path) -> None:
    fleet = a_fleet()
    table = set_table(tmp_path, fleet=fleet.fleet())
    async with opened(table, (80, 24)) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("down", "enter")
        await told(pilot, "1 drive")
        assert isinstance(pilot.app.screen, HostScreen)
        assert text_of(pilot).splitlines()[0].startswith(" n2 ")
        assert "read-only" in text_of(pilot).splitlines()[0]
        await pilot.press("enter")
        assert "I/O scheduler" in text_of(pilot)
        await pilot.press("enter")
        await told(pilot, "Settings of other hosts cannot be changed here")
        await pilot.press("space", "right_square_bracket", "backspace", "a")
        assert (app_of(pilot).staged, table.host.written) == ({}, [])
        await pilot.press("t")
        assert "no-such-rule" in text_of(pilot)
        await pilot.press("escape", "escape")
        assert isinstance(pilot.app.screen, HostsScreen)
        assert [hosts for hosts, words in fleet.asked if words != WORDS] == [("n2",)]


async def test_what_is_staged_here_is_not_that_of_a_disk_of_the_same_name_there(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet())) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        app_of(pilot).stage("block:sda", "scheduler", "bfq")
        await pilot.press("down", "enter")
        await told(pilot, "I/O scheduler")
        assert "bfq" not in text_in(pilot, "#settings")
        assert "staged" not in text_of(pilot).splitlines()[0]
        await pilot.press("enter", *[key for _ in range(8) for key in ("backspace", "down")])
        assert app_of(pilot).staged == {"block:sda": {"scheduler": "bfq"}}


async def test_a_host_that_is_missing_says_why_instead_of_devices(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet()), (80, 24)) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("enter")
        await until(pilot, lambda: "The host is unreachable." in text_in(pilot, "#devices-pane"))
        assert "ssh n3 true" in " ".join(text_in(pilot, "#devices-pane").split())


async def test_the_hosts_stand_above_the_screens_of_this_machine(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet())) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        assert " 0 Hosts " in text_of(pilot)
        await pilot.press("1")
        assert isinstance(pilot.app.screen, DevicesScreen)
        await pilot.press("0")
        assert isinstance(pilot.app.screen, HostsScreen)


async def test_without_hosts_there_is_a_sentence(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path)) as pilot:
        assert "Hosts" not in text_of(pilot)
        await pilot.press("0", "R")
        assert NOBODY in " ".join(text_of(pilot).split())
        await pilot.press("right")
        assert "There is no host to open" in notices(pilot)


async def test_without_ssh_nobody_is_waited_for(tmp_path: Path) -> None:
    async def ask(hosts: tuple[str, ...], words: tuple[str, ...]) -> AsyncIterator[RawResponse]:
        if hosts:
            raise ToolMissingError("OpenSSH (ssh) is not installed.", hint="It comes in openssh-client.")
        yield RawResponse(host="", status=0)

    fleet = replace(a_fleet().fleet(("n1",)), ask=ask)
    async with opened(set_table(tmp_path, fleet=fleet)) as pilot:
        await until(pilot, lambda: "OpenSSH (ssh) is not installed" in text_in(pilot, "#hosts"))
        assert "waiting for the response" not in text_of(pilot)


async def test_five_hundred_answers_are_drawn_in_few_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = ToldFleet(told={f"n{number}": facts() for number in range(500)})
    drawn: list[int] = []
    rows = HostsScreen._draw

    def draw(screen: HostsScreen) -> None:
        drawn.append(1)
        rows(screen)

    monkeypatch.setattr(HostsScreen, "_draw", draw)
    monkeypatch.setattr("app.features.fleet.screen.screen.REDRAW", 3600.0)  # however slow the machine is
    many.gates = {"n0": asyncio.Event()}
    async with opened(set_table(tmp_path, fleet=many.fleet())) as pilot:
        await told(pilot, "waiting for 500")
        assert len(hosts_of(pilot)) == 500
        many.gates["n0"].set()
        await told(pilot, "500 of 500 hosts answered")
        assert len(drawn) == 2  # all of them waited for, and all of them there


async def test_a_host_is_not_believed(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.told["n1"] = facts(("\x1b[2J[red]rule", "place\x07"), kernel="\x1b]0;owned\x07")
    around = [{"address": f"md:md{n}", "members": [f"md:md{(n + 1) % 90}"], "level": "raid0"} for n in range(90)]
    fleet.devices = {**fleet.devices, "arrays": around, "problems": [{"where": 7, "message": "\x1b[31mred"}]}
    async with opened(set_table(tmp_path, fleet=replace(fleet.fleet(), hosts=("n1", "n2")))) as pilot:
        await told(pilot, "2 of 2 hosts answered")
        await pilot.press("end")
        await until(pilot, lambda: "[red]rule" in text_in(pilot, "#host-facts"))
        await pilot.press("enter")
        await told(pilot, "90 arrays")
        assert "\x1b" not in text_of(pilot)


async def choosing_target(pilot: Pilot[int], *keys: str) -> ChoiceDialog:
    """After these keys, the first workload is chosen, and the list of targets is open."""
    await pilot.press(*keys, "m")
    await answer(pilot, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog) and "md:md0" in pilot.app.screen._choices)
    await heard(pilot)
    assert isinstance(pilot.app.screen, ChoiceDialog)
    return pilot.app.screen


async def measuring(pilot: Pilot[int]) -> None:
    """Two hosts are marked, a workload and the disk that both have are chosen, and it begins."""
    await told(pilot, "4 of 5 hosts answered")
    await choosing_target(pilot, "end", "space", "up", "space")
    await pilot.press("down", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
    await heard(pilot)
    await pilot.press("s")
    await until(pilot, lambda: isinstance(pilot.app.screen, JointScreen))


async def test_marked_hosts_measure_together(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1"), HostDouble("n5", dies=4))
    async with opened(set_table(tmp_path, fleet=fleet.fleet())) as pilot:
        await measuring(pilot)
        await until(pilot, lambda: (joint := joint_of(pilot)) is not None and not joint.running)
        await told(pilot, "Total: 1 of 2 hosts")
        assert fleet.asked[-1] == (("n1", "n5"), ("--profile=randread-4k", "--", "block:sda"))
        assert "n5 is not in the total (lost)" in " ".join(text_of(pilot).split())
        assert [folder.name for folder in joint_folders(tmp_path / "sessions" / "2026-11-21-120000")] == ["j1"]
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HostsScreen)


@pytest.mark.long
async def test_stopped_hosts_are_told_and_what_they_did_is_kept(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1", ticks=100_000), HostDouble("n5", ticks=100_000))
    async with opened(set_table(tmp_path, fleet=fleet.fleet()), (80, 24)) as pilot:
        await measuring(pilot)
        await told(pilot, "2 of 2 hosts measuring")
        await pilot.press("escape", "m")  # it goes on, and is shown again
        await until(pilot, lambda: isinstance(pilot.app.screen, JointScreen))
        await pilot.press("q")
        await answer(pilot, "escape")
        await pilot.press("ctrl+z")
        await told(pilot, "Not suspended: hosts are measuring, and stop if raidbench does not answer")
        await pilot.press("x")
        await told(pilot, "The run was stopped early.")
        assert all(host.words[-1] == "bye" for host in fleet.doubles.hosts.values())


@pytest.mark.long
async def test_no_device_is_written_over_there(tmp_path: Path) -> None:
    fleet = a_fleet()
    async with opened(set_table(tmp_path, fleet=fleet.fleet(), profile="randwrite-4k")) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("m")
        assert "No host is marked" in notices(pilot)
        await pilot.press("space", "m")
        await answer(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FolderDialog))
        await heard(pilot)
        assert "Multi-host runs never write to devices." in " ".join(text_of(pilot).replace("│", " ").split())
        await pilot.press(*"/dev/sda", "enter")
        await pilot.pause()
        assert "Not accepted: not the path of a folder" in text_of(pilot)
        await pilot.press("escape")
        assert joint_of(pilot) is None


@pytest.mark.parametrize("size", SMALL_FIRST)
async def test_the_targets_of_the_marked_hosts_are_offered(tmp_path: Path, size: str) -> None:
    fleet = a_fleet()
    odd = facts()
    fleet.told["n5"] = odd | {"things": [*odd["things"], thing("md:md9", "array", "raid0 of 2")]}  # type: ignore[misc]
    async with opened(set_table(tmp_path, fleet=fleet.fleet()), THREE_SIZES[size]) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        dialog = await choosing_target(pilot, "end", "space", "up", "space")
        assert list(dialog._choices) == ["md:md0", "block:sda", "md:md9", FOLDER]
        assert "missing on 1" in text_of(pilot)
        await pilot.press("end", "up")
        await pilot.pause()
        assert "It is missing on n1." in " ".join(text_in(pilot, ".dialog-help").split())
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FolderDialog))


@pytest.mark.parametrize("size", SMALL_FIRST)
async def test_hosts_are_filtered_by_words_of_their_row(tmp_path: Path, size: str) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet()), THREE_SIZES[size]) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("slash", *"FAULT", "enter")
        await until(pilot, lambda: hosts_of(pilot) == ["n2"])
        assert "1 of 5 match" in text_of(pilot)
        await pilot.press("asterisk")  # only what is listed is marked
        assert "1 host marked." in notices(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: len(hosts_of(pilot)) == 5)
        assert isinstance(pilot.app.screen, HostsScreen)


def rows_of(pilot: Pilot[int]) -> list[str]:
    """The first cell of each row of the list of findings."""
    return [plain((row.banner or row.cells)[0]) for row in pilot.app.screen.query_one("#findings", KeyedTable).rows]


@pytest.mark.parametrize("size", SMALL_FIRST)
async def test_the_findings_of_all_hosts_are_folded_to_a_row_for_each(tmp_path: Path, size: str) -> None:
    fleet = a_fleet()
    fleet.told["n4"] = facts(whole=(UNFIT,))
    async with opened(set_table(tmp_path, fleet=fleet.fleet()), THREE_SIZES[size]) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        assert "3 findings (!)" in text_of(pilot) or "0 Hosts ▲3" in text_of(pilot)
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HostFindingsScreen))
        assert "3 findings (1 fault, 2 warnings)" in text_of(pilot)
        assert rows_of(pilot) == ["  n3", "▸ n2", "▸ n4", "  n1", "  n5"]
        assert "2 findings (1 fault, 1 warning)" in text_in(pilot, "#findings")
        table = pilot.app.screen.query_one("#findings", KeyedTable)
        before = table.columns
        await pilot.press("down", "down", "right")
        assert rows_of(pilot) == ["  n3", "▸ n2", "▾ n4", "   block:sda", "  n1", "  n5"]
        assert table.columns == before  # no column moves when a host is unfolded
        await pilot.press("down")
        shown = " ".join(text_in(pilot, "#finding-pane").replace("│", " ").split())
        assert "The scheduler is bfq on flash. It costs IOPS." in shown
        assert "fix raidbench set block:sda scheduler=none Set scheduler to none." in shown
        await pilot.press("escape")
        assert (rows_of(pilot)[2], table.cursor) == ("▸ n4", "n4")
        await pilot.press("slash", *"bfq", "enter")
        await pilot.pause()
        assert rows_of(pilot) == ["▾ n4", "   block:sda"]
        await pilot.press("escape", "escape")
        assert isinstance(pilot.app.screen, HostsScreen)


async def test_a_finding_leads_to_the_setting_on_its_host_and_back(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.told["n4"] = facts(whole=(UNFIT,))
    async with opened(set_table(tmp_path, fleet=fleet.fleet()), (80, 24)) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HostFindingsScreen))
        await pilot.press("asterisk", "end", "up", "up")  # all are unfolded; n1 and n5 have none
        assert "block:sda" in text_in(pilot, "#finding-pane")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HostScreen))
        await until(pilot, lambda: isinstance(pilot.app.screen, HostScreen) and pilot.app.screen.panel.parts)
        screen = pilot.app.screen
        assert isinstance(screen, HostScreen)
        await until(pilot, lambda: screen.focused is screen.panel.table)
        assert screen.panel.place == ("block:sda", "scheduler")
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HostFindingsScreen))
        await pilot.press("home", "enter")
        assert "n3: The host is unreachable." in notices(pilot)


async def test_a_missing_device_of_a_finding_is_told(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path, fleet=a_fleet().fleet()), (80, 24)) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("down", "enter")
        await told(pilot, "1 drive")
        await pilot.press("exclamation_mark", "down", "enter")  # the host is unfolded: its array, which it lacks
        await until(pilot, lambda: "md:md0 is not in the list of devices" in notices(pilot))
        assert isinstance(pilot.app.screen, HostScreen)


async def test_what_a_host_tells_of_its_findings_is_what_its_check_finds() -> None:
    backends = MachineBackends.of(still_host())
    inventory = await backends.probe()
    readings, problems = await backends.read_devices(inventory)
    snapshot = await gather(backends.host, inventory, readings)
    checked = evaluate(snapshot, problems=problems)
    document = json.loads(json.dumps(facts_json(inventory, readings, checked, "6.1.0")))
    here = [entry for entry in finding_entries(checked) if entry.severity is not None]
    assert list(findings_of(document)) == [replace(entry, staged=None) for entry in here]
    assert any(entry.fix for entry in here)
    devices: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
    nodes = {str(one.target) for one in devices if one.device is not None}
    assert {target.address for target in targets_of(document)} == nodes - {str(twin) for twin in inventory.twins}
