"""The backend as the registry finds it: what it is made of is imported where there is an NVMe controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backends.change import Change
from backends.host import Host
from backends.model import Inventory, Problem, Target
from backends.settings import Reading, Setting

if TYPE_CHECKING:
    from backends.vendors.nvme.backend import Nvme


class Door:
    """NVMe of one host; see `Nvme`. Many machines have none."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._opened: Nvme | None = None

    @property
    def behind(self) -> Nvme:
        """The backend itself."""
        if self._opened is None:
            from backends.vendors.nvme.backend import Nvme

            self._opened = Nvme(self._host)
        return self._opened

    async def inventory(self) -> Inventory:
        """All controllers and namespaces; nothing, at no cost, where the kernel has no controller."""
        return await self.behind.inventory() if await self._anything() else Inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """See `Nvme.settings`."""
        return self.behind.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """See `Nvme.read`."""
        return await self.behind.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """See `Nvme.plan`."""
        return await self.behind.plan(target, key, value)

    async def apply(self, change: Change) -> None:
        """See `Nvme.apply`."""
        await self.behind.apply(change)

    async def diagnose(self) -> tuple[Problem, ...]:
        """See `Nvme.diagnose`."""
        return await self.behind.diagnose() if await self._anything() else ()

    async def _anything(self) -> bool:
        return bool(await self._host.list("/sys/class/nvme/nvme*"))


class NvmeVendor:
    """What the registry finds."""

    @property
    def name(self) -> str:
        """`nvme`."""
        return "nvme"

    def backend(self, host: Host) -> Door:
        """The backend on a host."""
        return Door(host)
