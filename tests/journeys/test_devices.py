"""A machine of many parts on the Devices screen: each thing once, in its place, trouble two keys away."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from app.tui.devices.device_list import DeviceList
from backends.model import Array, Controller, Drive, Fact, Inventory, Level, Media, Problem, Scope, State, Target
from backends.protocol import Vendor
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.fakes import QUEUE, FakeHost, disk, machine
from tests.journeys.test_pictures import Compare
from tests.tui.conftest import stillness
from tests.tui.stage import SIZES, Table, answer, app_of, opened, set_table, settled, text_in, text_of, until

FLASH = {**QUEUE, "scheduler": "[none] mq-deadline", "rotational": "0"}


def controller(backend: str, address: str, model: str, pci: str) -> Controller:
    target = Target(backend=backend, address=address, scope=Scope.CONTROLLER)
    return Controller(
        target=target, vendor=backend, model=model, pci=pci, driver="ahci" if backend == "hba" else "nvme"
    )


def drive(backend: str, name: str, model: str, media: Media, owner: Controller) -> Drive:
    return Drive(
        target=Target(backend=backend, address=name),
        controller=owner.target,
        model=model,
        media=media,
        interface="nvme" if media is Media.NVME else "sata",
        state=State.ONLINE,
        device=f"/dev/{name}",
    )


def array(name: str, level: Level, state: State, members: Mapping[str, str], why: str = "") -> Array:
    return Array(
        target=Target(backend="md", address=name, scope=Scope.ARRAY),
        level=level,
        state=state,
        device=f"/dev/{name}",
        strip_bytes=65536 if level is Level.RAID5 else None,
        members=tuple(Target(backend="block", address=member) for member in members),
        why=why,
        facts=tuple(Fact(label=f"Member {member}", value=f"/dev/{member}, {role}") for member, role in members.items()),
    )


AHCI = controller("hba", "0000:00:1f.2", "Intel C610 SATA (AHCI)", "0000:00:1f.2")
NVMES = tuple(controller("nvme", f"nvme{n}", "SAMSUNG MZQL2960", f"0000:6{n}:00.0") for n in range(3))
SEEN = {
    "hba": Inventory(controllers=(AHCI,)),
    "nvme": Inventory(
        controllers=NVMES,
        drives=tuple(drive("nvme", f"nvme{n}n1", "SAMSUNG MZQL2960", Media.NVME, NVMES[n]) for n in range(3)),
    ),
    "scsi": Inventory(drives=tuple(drive("scsi", f"sd{x}", "ST4000NM0035", Media.HDD, AHCI) for x in "abc")),
    "md": Inventory(
        arrays=(
            array("md0", Level.RAID5, State.OPTIMAL, {f"nvme{n}n1": "in sync" for n in range(3)}),
            array(
                "md1",
                Level.RAID1,
                State.DEGRADED,
                {"sda": "in sync", "sdb": "failed"},
                "1 of 2 members missing",
            ),
        )
    ),
}


class Seen:
    """A vendor that sees what it is told, with nothing to set."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def inventory(self) -> Inventory:
        return SEEN[self.name]

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()


def many_devices(folder: Path) -> Table:
    """Three NVMe drives in an array, three SATA disks, two of them in a mirror that has lost one."""
    disks = [disk(f"nvme{n}n1", devno=f"259:{n}", size=960 << 30, queue=FLASH) for n in range(3)]
    disks += [disk(f"sd{x}", devno=f"8:{16 * n}", size=4 << 40) for n, x in enumerate("abc")]
    disks += [disk("md0", devno="9:0", size=1920 << 30, queue=FLASH), disk("md1", devno="9:1", size=4 << 40)]
    host = FakeHost(machine(disk("vda", devno="254:0", size=32 << 30), *disks))
    others = [Vendor(name=name, backend=lambda _host, name=name: Seen(name)) for name in SEEN]  # type: ignore[misc]
    return set_table(folder, host, vendors=(BLOCK, *others))


@pytest.fixture
def many(tmp_path: Path) -> Table:
    return many_devices(tmp_path)


def devices(pilot: Pilot[int]) -> DeviceList:
    return pilot.app.screen.query_one(DeviceList)


def lines(pilot: Pilot[int], words: str) -> list[str]:
    return [line for line in text_of(pilot).splitlines() if words in line]


async def test_a_degraded_array_says_why_in_its_row(many: Table) -> None:
    async with opened(many, size=(80, 24)) as pilot:
        assert "▲ degraded: 1 of 2" in lines(pilot, "md1")[0].replace("!", "▲")


async def test_the_facts_of_an_array_say_what_is_missing(many: Table) -> None:
    async with opened(many) as pilot:
        devices(pilot).go_to("md:md1")
        await pilot.press("t")
        await settled(pilot)
        assert "degraded: 1 of 2 members missing" in text_in(pilot, "#facts-scroll")


@pytest.mark.long
async def test_on_a_wide_terminal_the_facts_stand_beside_the_settings_and_only_there(many: Table) -> None:
    async with opened(many, (200, 60)) as pilot:
        await pilot.press("j")
        await until(pilot, lambda: "Identity" in text_in(pilot, "#facts-pane"))
        assert ("Identity" in text_in(pilot, "#detail-pane"), "Facts" in text_in(pilot, "#tabs")) == (False, False)


@pytest.mark.feature("check")
async def test_two_keys_go_to_the_array_in_trouble(many: Table) -> None:
    async with opened(many) as pilot:
        await pilot.press("exclamation_mark", "enter")
        await until(pilot, lambda: devices(pilot).selected == "md:md1")
        assert "degraded: 1 of 2 members missing" in text_in(pilot, "#facts-scroll")


async def test_the_cursor_stays_while_hardware_is_still_being_found(many: Table) -> None:
    async with opened(many) as pilot:
        devices(pilot).go_to("md:md1")
        inventory = devices(pilot)._inventory
        seen: list[str] = []
        devices(pilot).watch(devices(pilot), "cursor", seen.append, init=False)
        for drives in (inventory.drives, (*inventory.drives[1:], inventory.drives[0])):
            devices(pilot).show(replace(inventory, drives=drives), {}, ())
            await pilot.pause()
            assert (devices(pilot).selected, seen) == ("md:md1", [])


async def test_controllers_of_one_model_are_told_apart_and_the_queue_of_a_drive_is_set_with_it(many: Table) -> None:
    async with opened(many) as pilot:
        assert len(lines(pilot, "nvme2  SAMSUNG")) == 1
        devices(pilot).go_to("nvme:nvme0n1")
        await pilot.pause()
        await settled(pilot)
        assert "Queue of /dev/nvme0n1" in text_in(pilot, "#settings")


@dataclass(frozen=True)
class Filtered:
    """The list while it is filtered."""

    selected: str | None
    devices: str
    """The text of the list."""
    text: str
    """The text of the screen."""


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Filtered]:
    """Return the list at 80x24 by what is typed into its filter, which begins at the same row each time."""

    async def walk() -> dict[str, Filtered]:
        seen = {}
        async with opened(many_devices(tmp_path_factory.mktemp("filtered")), (80, 24)) as pilot:
            first, count = devices(pilot).selected, len(devices(pilot).rows)
            for typed in ("md1", "nvme2n1", "st4000", "zzz"):
                await pilot.press("slash", *typed)
                await pilot.pause()
                seen[typed] = Filtered(devices(pilot).selected, text_in(pilot, "#devices"), text_of(pilot))
                await pilot.press("escape", "home")
                await pilot.pause()
                assert (devices(pilot).selected, len(devices(pilot).rows)) == (first, count)
        return seen

    with stillness():
        return asyncio.run(walk())


@pytest.mark.long
def test_a_filter_finds_a_model_that_no_row_shows_and_counts_it(filtered: Mapping[str, Filtered]) -> None:
    assert " match" in filtered["st4000"].text


@pytest.mark.parametrize(("typed", "chosen"), [("md1", "md:md1"), ("nvme2n1", "nvme:nvme2n1"), ("st4000", "scsi:sdc")])
def test_a_filter_goes_to_what_is_called_so(filtered: Mapping[str, Filtered], typed: str, chosen: str) -> None:
    assert filtered[typed].selected == chosen


def test_a_member_that_a_filter_finds_is_shown_by_its_own_name(filtered: Mapping[str, Filtered]) -> None:
    assert "nvme2n1 " in filtered["nvme2n1"].devices


def test_a_filter_that_matches_nothing_says_so(filtered: Mapping[str, Filtered]) -> None:
    assert "nothing matches zzz" in filtered["zzz"].text


async def test_right_opens_a_closed_array_and_left_closes_it(many: Table) -> None:
    async with opened(many) as pilot:
        devices(pilot).go_to("md:md0")
        seen = []
        for key in ("right", "left"):
            await pilot.press(key)
            seen.append("nvme:nvme1n1" in [row.key for row in devices(pilot).rows])
        assert seen == [True, False]


async def test_left_goes_from_a_member_to_its_array(many: Table) -> None:
    async with opened(many) as pilot:
        devices(pilot).go_to("md:md0")
        await pilot.press("right", "down", "left")
        assert devices(pilot).selected == "md:md0"


async def test_every_key_that_goes_back_leaves_the_device_and_stages_nothing(many: Table) -> None:
    async with opened(many, (80, 24)) as pilot:
        devices(pilot).go_to("md:md1")
        for key in ("left", "h", "escape"):
            await pilot.press("enter")
            assert app_of(pilot).focused is not devices(pilot)
            await pilot.press(key)
            await pilot.pause()
            assert (app_of(pilot).focused, app_of(pilot).staged) == (devices(pilot), {}), key


@pytest.mark.long
async def test_the_facts_are_fresh_after_a_change(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("enter", "enter")
        await answer(pilot, "down", "enter")
        await pilot.press("a")
        await answer(pilot, "enter")
        await until(pilot, lambda: table.bench.session.changes and table.bench.session.changes[-1].end)
        await settled(pilot)
        await pilot.press("t")
        await settled(pilot)
        told = text_in(pilot, "#facts-scroll")
        assert next(line.split() for line in told.splitlines() if "Scheduler" in line)[-1] == "kyber"


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_many_parts(many: Table, snap_compare: Compare, size: tuple[int, int]) -> None:
    async def look(pilot: Pilot[int]) -> None:
        await settled(pilot)

    assert snap_compare(many.app(), terminal_size=size, run_before=look)


async def test_a_key_that_follows_the_enter_of_the_filter_in_one_go_moves_the_cursor(table: Table) -> None:
    async with opened(table) as pilot:
        for key in ("slash", "d", "a", "enter", "j"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        devices = app_of(pilot).screen.query_one(DeviceList)
        await until(pilot, lambda: devices.has_focus and devices.cursor == devices.rows[1].key)
        assert devices.filter_text == "da"
