"""Hosts above this machine: a row each, the devices of one, and nothing that could be set there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.multihost_names import joint_folders
from app.features.fleet.hosts.overview import WORDS
from app.features.fleet.hosts.wire_format import RawResponse
from app.features.fleet.screen.host import HostScreen
from app.features.fleet.screen.multihost_run import JointScreen, MultiHostRunController
from app.features.fleet.screen.screen import NOBODY, HostsScreen
from app.tui.devices.screen import DevicesScreen
from backends.errors import ToolMissingError
from tests.features.fleet.fleets import ToldFleet, a_fleet, facts
from tests.features.fleet.multihost.test_conductor import HostDouble
from tests.features.fleet.multihost.test_conductor import Table as Doubles
from tests.tui.stage import SIZES, answer, app_of, heard, notices, opened, set_table, text_in, text_of, until
from widgets.field_dialog import TextDialog
from widgets.keyed_table import KeyedTable
from widgets.question import QuestionDialog


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
        await pilot.press("0", "r")
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


async def measuring(pilot: Pilot[int], *typed: str) -> None:
    """Two hosts are marked, a workload is chosen, the target is typed, and it begins."""
    await told(pilot, "4 of 5 hosts answered")
    await pilot.press("end", "space", "up", "space", "b")
    await answer(pilot, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
    await heard(pilot)
    await pilot.press(*typed, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
    await heard(pilot)
    await pilot.press("s")
    await until(pilot, lambda: isinstance(pilot.app.screen, JointScreen))


async def test_marked_hosts_measure_together(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1"), HostDouble("n5", dies=4))
    async with opened(set_table(tmp_path, fleet=fleet.fleet())) as pilot:
        await measuring(pilot, *"sda")
        await until(pilot, lambda: (joint := joint_of(pilot)) is not None and not joint.running)
        await told(pilot, "Total: 1 of 2 hosts")
        assert fleet.asked[-1] == (("n1", "n5"), ("--profile=randread-4k", "--", "sda"))
        assert "n5 is not in the total (lost)" in " ".join(text_of(pilot).split())
        assert [folder.name for folder in joint_folders(tmp_path / "sessions" / "2026-11-21-120000")] == ["j1"]
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HostsScreen)


@pytest.mark.long
async def test_stopped_hosts_are_told_and_what_they_did_is_kept(tmp_path: Path) -> None:
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1", ticks=100_000), HostDouble("n5", ticks=100_000))
    async with opened(set_table(tmp_path, fleet=fleet.fleet()), (80, 24)) as pilot:
        await measuring(pilot, *"sda")
        await told(pilot, "2 of 2 hosts measuring")
        await pilot.press("escape", "b")  # it goes on, and is shown again
        await until(pilot, lambda: isinstance(pilot.app.screen, JointScreen))
        await pilot.press("q")
        await answer(pilot, "escape")
        await pilot.press("ctrl+z")
        await told(pilot, "Not suspended: hosts are measuring, and stop if raidbench does not answer")
        await pilot.press("x")
        await told(pilot, "The run was stopped early.")
        assert all(host.words[-1] == "bye" for host in fleet.doubles.hosts.values())


async def test_no_device_is_written_over_there(tmp_path: Path) -> None:
    fleet = a_fleet()
    async with opened(set_table(tmp_path, fleet=fleet.fleet(), profile="randwrite-4k")) as pilot:
        await told(pilot, "4 of 5 hosts answered")
        await pilot.press("b")
        assert "No host is marked" in notices(pilot)
        await pilot.press("space", "b")
        await answer(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
        await heard(pilot)
        await pilot.press(*"sda", "enter")
        await until(pilot, lambda: "multi-host runs never write to devices" in notices(pilot))
        assert joint_of(pilot) is None
