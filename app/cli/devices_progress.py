"""Prints the device list piece by piece, while some sources (vendors' tools, controllers) have not responded yet.

A group of rows (a controller with its devices) is printed once all of its devices are known. The remaining groups
follow at the end.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from app.cli.devices_text import device_table, list_heading, print_device_list
from app.cli.options import is_terminal
from app.cli.output import lines, say, terminal_width
from app.cli.render import LineLayout
from app.core.presentation import device
from app.core.presentation.device_table import OTHERS
from app.core.presentation.device_tree import DeviceTreeNode, build_device_tree
from app.core.presentation.setting import TuningCells, tuning_cells
from app.core.presentation.table import Row
from backends.display_names import name_of
from backends.errors import RaidbenchError
from backends.model import Array, Device, Drive, Inventory, Target
from backends.partial_inventory import PartialInventoryListener
from backends.registry import MachineBackends
from backends.text import clean
from widgets.text_utils.text import shorten

AT_ONCE_S = 0.3
"""Seconds after which the first groups are printed. On most machines all sources have responded by then."""

WAITING_S = 1.0
"""Seconds after which the sources that have not responded yet are named."""


class DevicesProgress:
    """Scans a machine and prints its devices. A slow controller does not delay the groups that are complete."""

    def __init__(
        self,
        machine: MachineBackends,
        columns: Sequence[str],
        *,
        wide: bool,
        simulated: bool,
        at_once_s: float = AT_ONCE_S,
    ) -> None:
        """`columns`, `wide`, `simulated`: see `device_table`.

        `at_once_s`: seconds until the first groups are printed.
        """
        self._machine = machine
        self._columns, self._wide = columns, wide
        self._head = list_heading(machine.host.name, simulated=simulated)
        self._at_once_s = at_once_s
        self._parts = PartialInventoryListener(machine)
        self._news = asyncio.Event()
        self._is_printing = self._late = False
        self._tuned: dict[Target, TuningCells] = {}
        self._layout: LineLayout | None = None
        self._printed: set[str] = set()
        self._waiting = WaitingStatusLine()

    async def run(self) -> Inventory:
        """Print all devices and return the inventory.

        Raises BrokenPipeOutputError or StorageError if the output cannot be written.
        """
        loop = asyncio.get_running_loop()
        timers = (loop.call_later(self._at_once_s, self._start_printing), loop.call_later(WAITING_S, self._mark_late))
        tasks = probing, following = (
            asyncio.create_task(self._machine.probe(self._take_part)),
            asyncio.create_task(self._follow()),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if following.done():  # this task ends only if the output fails
                following.result()
            inventory = await probing
        finally:
            for waiting in (*timers, *tasks):
                waiting.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._waiting.clear()
        self._tuned |= await tunings(self._machine, inventory, self._tuned)
        if self._layout is None:
            print_device_list(inventory, self._head, self._tuned, self._columns, wide=self._wide)
        else:
            self._print(inventory, None)
            say(" · ".join(device.count_texts(inventory)))
        return inventory

    def _take_part(self, part: str, inventory: Inventory) -> None:
        self._parts.add_part(part, inventory)
        self._news.set()

    def _start_printing(self) -> None:
        self._is_printing = True
        self._news.set()

    def _mark_late(self) -> None:
        self._late = True
        self._news.set()

    async def _follow(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._is_printing:
                await self._print_settled()
            if self._late:
                sources = self._parts.pending()
                names = [source if isinstance(source, str) else name_of(source) for source in sources]
                self._waiting.show([clean(name, 64) for name in names])

    async def _print_settled(self) -> None:
        partial = await self._parts.read_present()
        groups = {str(branch.device.target): tuple(_things(branch)) for branch in build_device_tree(partial.inventory)}
        settled = {key: group for key, group in groups.items() if partial.is_settled(group)}
        if not partial.waited_for or settled.keys() <= self._printed:
            return
        shown = {device.target for group in settled.values() for device in group}
        blocks = {array.target for array in partial.inventory.arrays} | {
            drive.target for drive in partial.inventory.drives
        }
        self._tuned |= await tunings(self._machine, partial.inventory, {*self._tuned, *(blocks - shown)})
        self._print(partial.inventory, settled.keys())

    def _print(self, inventory: Inventory, heads: Collection[str] | None) -> None:
        """Print the new rows of some groups. `heads`: keys of the groups' first rows; None for all groups."""
        shown = device_table(inventory, self._tuned, self._columns, wide=self._wide)
        groups = [group for group in _groups(shown.rows) if heads is None or group[0].key in heads]
        rows = [row for group in groups for row in self._fresh(group)]
        first = self._layout is None
        layout = self._layout = self._layout or LineLayout.growing(
            replace(shown, rows=tuple(rows)), None if self._wide else terminal_width()
        )
        self._waiting.clear()
        if first:
            say(self._head)
        lines([*(layout.heading() if first else []), *layout.rows(rows)])

    def _fresh(self, group: Sequence[Row]) -> list[Row]:
        """Return the rows of a group that are not printed yet; after the row of the controller again if others are."""
        continued = group[0].key in self._printed
        fresh = [row for row in group if row.key not in self._printed and not (continued and row.key.endswith(OTHERS))]
        self._printed |= {row.key for row in fresh}
        return [group[0], *fresh] if fresh and continued and group[0].banner else fresh


async def tunings(
    machine: MachineBackends, inventory: Inventory, excluded: Collection[Target] = ()
) -> dict[Target, TuningCells]:
    """Return cells with the main settings of each array and drive; without those `excluded` or unreadable."""

    async def read_tuning(device: Array | Drive) -> TuningCells | None:
        try:
            return tuning_cells(await machine.quick_settings(device, inventory))
        except RaidbenchError:
            return None

    twins = inventory.twins
    shown = [
        device for device in inventory.block_devices if device.target not in twins and device.target not in excluded
    ]
    cells = await asyncio.gather(*map(read_tuning, shown))
    return {
        device.target: tuning_cells
        for device, tuning_cells in zip(shown, cells, strict=True)
        if tuning_cells is not None
    }


class WaitingStatusLine:
    """A terminal line with the sources that have not responded yet. It is removed before more rows are printed."""

    def __init__(self) -> None:
        self._able = is_terminal(sys.stderr)
        self._erases = os.environ.get("TERM") not in (None, "", "dumb")
        self._said = False

    def show(self, names: Sequence[str]) -> None:
        """Show the names of the sources. If the terminal cannot erase a line, they are shown only once."""
        self.clear()
        if not names or not self._able or (self._said and not self._erases):
            return
        self._said = True
        text = shorten(f"waiting for {', '.join(names)} ...", max(1, shutil.get_terminal_size().columns - 1), "..")
        say(text, end="" if self._erases else "\n")

    def clear(self) -> None:
        """Remove the line."""
        if self._said and self._erases:
            say("\r\x1b[K", end="")
            self._said = False


def _things(branch: DeviceTreeNode) -> Iterator[Device]:
    yield branch.device
    for below in branch.below:
        yield from _things(below)


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows as groups, each of a top-level row and its children."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.depth == 0:
            groups.append([])
        groups[-1].append(row)
    return groups
