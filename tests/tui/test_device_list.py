"""The list of devices while hardware is found and looked for again: what somebody chose stays chosen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from app.tui.devices.device_list import DeviceList
from backends.model import Drive, Inventory, Target
from tests.tui.test_devices_view import array, drive, rack

LATER = Inventory(controllers=rack().controllers)
"""The card answers; its arrays are still to come."""


class Alone(App[None]):
    """Nothing but the list."""

    def compose(self) -> ComposeResult:
        yield DeviceList()


@asynccontextmanager
async def listed(*inventories: Inventory) -> AsyncIterator[tuple[DeviceList, Pilot[None]]]:
    """The list with the keys, after these were found."""
    async with Alone().run_test(size=(80, 24)) as pilot:
        devices = pilot.app.query_one(DeviceList)
        devices.focus()
        look(devices, *inventories)
        await pilot.pause()
        yield devices, pilot


def look(devices: DeviceList, *inventories: Inventory) -> None:
    """Hardware is looked for; each is what is known by then."""
    for inventory in inventories:
        devices.show(inventory, {}, ())


def disk() -> Inventory:
    """What is an array, before its backend has answered."""
    node = Target(backend="block", address="md0")
    return Inventory(drives=(Drive(target=node, device="/dev/md0"), drive("sda", free=True)))


def found() -> Inventory:
    """And after that."""
    return replace(disk(), arrays=(replace(array("md0"), device="/dev/md0", controller=None),))


async def test_the_cursor_stays_on_its_row_when_hardware_is_looked_for_again() -> None:
    async with listed(rack()) as (devices, pilot):
        await pilot.press("G")
        look(devices, rack())
        assert devices.cursor == "mega:sda"


async def test_an_array_that_is_missing_for_a_moment_is_open_and_chosen_again() -> None:
    async with listed(rack()) as (devices, _):
        devices.go_to("mega:good")
        devices.open_branch()
        look(devices, LATER, rack())
        assert (devices.selected, "mega:d0" in [row.key for row in devices.rows]) == ("mega:good", True)


async def test_nothing_else_is_chosen_while_it_is_missing() -> None:
    async with listed(rack()) as (devices, _):
        devices.go_to("mega:good")
        look(devices, LATER)
        assert devices.selected == "mega:good"


async def test_a_disk_that_turns_out_to_be_an_array_stays_chosen() -> None:
    async with listed(disk()) as (devices, _):
        devices.go_to("block:md0")
        look(devices, found())
        assert devices.selected == "mega:md0"


async def test_it_is_known_again_after_it_was_missing() -> None:
    async with listed(disk()) as (devices, _):
        devices.go_to("block:md0")
        look(devices, LATER, found())
        assert devices.selected == "mega:md0"


async def test_what_went_for_good_leaves_the_cursor_to_the_next_key() -> None:
    async with listed(rack()) as (devices, pilot):
        devices.go_to("mega:good")
        look(devices, LATER)
        await pilot.press("g")
        look(devices, rack())
        assert devices.selected == "mega:/c0"


@pytest.mark.parametrize("acts", ["open_branch", "close_branch", "pin_cursor"])
async def test_what_somebody_acted_on_is_chosen_though_the_cursor_was_never_moved(
    acts: str,
) -> None:
    async with listed(Inventory(arrays=(array("good"),), drives=(drive("d0", of=array("good")),))) as (devices, _):
        getattr(devices, acts)()
        look(devices, rack())
        assert devices.selected == "mega:good"


async def test_until_then_the_cursor_is_on_the_first_row() -> None:
    async with listed(Inventory(arrays=(array("good"),))) as (devices, _):
        look(devices, rack())
        assert devices.selected == "mega:/c0"


async def test_the_row_of_the_others_goes_to_the_array_when_all_are_well_again() -> None:
    async with listed(rack()) as (devices, _):
        devices.go_to("mega:bad/others")
        well = tuple(one for one in rack().drives if one.target.address != "d2")
        look(devices, replace(rack(), drives=well))
        assert devices.cursor == "mega:bad"


async def test_a_filter_leaves_the_cursor_where_it_went() -> None:
    async with listed(rack()) as (devices, _):
        devices.go_to("mega:good")
        devices.filter("sda")
        devices.filter("")
        look(devices, rack())
        assert devices.cursor == "mega:sda"


async def test_one_click_goes_to_a_row_and_no_further() -> None:
    chosen: list[object] = []

    class Watched(DeviceList):
        def action_select(self) -> None:
            chosen.append(self.cursor)

    class Clicked(Alone):
        def compose(self) -> ComposeResult:
            yield Watched()

    async with Clicked().run_test(size=(80, 24)) as pilot:
        devices = pilot.app.query_one(Watched)
        look(devices, rack())
        await pilot.pause()
        await pilot.click(Watched, offset=(4, 5))
        assert (devices.cursor, chosen) == ("mega:good", [])


async def test_one_key_opens_every_array_and_closes_again_what_is_well() -> None:
    async with listed(rack()) as (devices, _):
        usual = [row.key for row in devices.rows]
        assert devices.toggle_all()
        assert {str(one.target) for one in rack().drives} <= {row.key for row in devices.rows}
        assert not devices.toggle_all()
        assert [row.key for row in devices.rows] == usual


async def test_on_a_drive_that_goes_out_of_sight_the_cursor_goes_to_its_array() -> None:
    async with listed(rack()) as (devices, _):
        devices.toggle_all()
        devices.go_to("mega:d0")
        devices.toggle_all()
        assert devices.selected == "mega:good"


async def test_a_filter_counts_what_is_shown() -> None:
    async with listed(rack()) as (devices, _):
        devices.filter("d0")
        assert devices.count.startswith("1 of ")
        assert [row.key for row in devices.rows if row.key == "mega:d0"]
