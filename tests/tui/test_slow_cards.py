"""While a card is still being read, the list says so: until then its volumes are plain disks of the kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

from backends.model import Inventory, Problem
from backends.protocol import Vendor
from backends.vendors.block import VENDOR as BLOCK
from tests.tui.stage import app_of, set_table, settled, until
from widgets.pane import Pane


class Card:
    """A card that answers when the test says so."""

    def __init__(self) -> None:
        self.told = asyncio.Event()

    async def inventory(self) -> Inventory:
        await self.told.wait()
        return Inventory()

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()


async def test_who_is_waited_for_stands_below_the_list_until_it_has_answered(tmp_path: Path) -> None:
    card = Card()
    table = set_table(tmp_path, vendors=(BLOCK, Vendor(name="slow", backend=lambda _host: card)))
    async with table.app().run_test(size=(120, 40)) as pilot:
        app = app_of(pilot)
        await until(pilot, lambda: app.opened and app.session.inventory.drives)
        pane = app.screen.query_one("#devices-pane", Pane)
        await until(pilot, lambda: pane.note == "waiting for slow ...")
        card.told.set()
        await settled(pilot)
        await until(pilot, lambda: pane.note == "3 drives")
