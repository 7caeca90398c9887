"""The backend as the registry finds it: what it is made of is imported where there is a tool or a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backends.change import Change
from backends.host import Host
from backends.model import Inventory, Problem, Target, Task
from backends.protocol import Told
from backends.settings import Reading, Setting
from backends.vendors.megaraid.presence import anything

if TYPE_CHECKING:
    from backends.vendors.megaraid.backend import MegaRaid


class Door:
    """Cards behind the MegaRAID tools of one host; see `MegaRaid`. Most machines have neither card nor tool."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._opened: MegaRaid | None = None

    @property
    def behind(self) -> MegaRaid:
        """The backend itself."""
        if self._opened is None:
            from backends.vendors.megaraid.backend import MegaRaid

            self._opened = MegaRaid(self._host)
        return self._opened

    async def inventory(self) -> Inventory:
        """All cards; nothing, at no cost, where there is neither tool nor card."""
        return await self.behind.inventory() if await anything(self._host) else Inventory()

    async def inventory_in_parts(self, told: Told) -> Inventory:
        """See `MegaRaid.inventory_in_parts`."""
        return await self.behind.inventory_in_parts(told) if await anything(self._host) else Inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """See `MegaRaid.settings`."""
        return self.behind.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """See `MegaRaid.read`."""
        return await self.behind.read(target)

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """See `MegaRaid.readings`."""
        return await self.behind.readings(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """See `MegaRaid.plan`."""
        return await self.behind.plan(target, key, value)

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """See `MegaRaid.plan_together`."""
        return await self.behind.plan_together(target, values)

    async def apply(self, change: Change) -> None:
        """See `MegaRaid.apply`."""
        await self.behind.apply(change)

    async def remake(self, change: Change) -> None:
        """See `MegaRaid.remake`."""
        await self.behind.remake(change)

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """See `MegaRaid.tasks`."""
        return await self.behind.tasks(target)

    async def diagnose(self) -> tuple[Problem, ...]:
        """See `MegaRaid.diagnose`."""
        return await self.behind.diagnose()


class MegaRaidVendor:
    """What the registry finds."""

    @property
    def name(self) -> str:
        """`megaraid`."""
        return "megaraid"

    def backend(self, host: Host) -> Door:
        """The backend on a host."""
        return Door(host)
