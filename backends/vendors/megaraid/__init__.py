"""MegaRAID, PERC and their OEM cards, through storcli, perccli or MegaCli."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backends.errors import NotFoundError
from backends.host import Host
from backends.model import Change, Inventory, Reading, Target
from backends.settings import Setting


class MegaRaid:
    """Cards behind the MegaRAID tools of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def inventory(self) -> Inventory:
        """Nothing where no tool is installed."""
        return Inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Settings of a target."""
        return ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Values of a target."""
        raise NotFoundError(f"There is no {target}.")

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """A change of a target."""
        raise NotFoundError(f"There is no {target}.")

    async def apply(self, change: Change) -> None:
        """Make a change."""
        raise NotFoundError(f"There is no {change.target}.")

    async def undo(self, change: Change) -> None:
        """Take a change back."""
        raise NotFoundError(f"There is no {change.target}.")


@dataclass(frozen=True, slots=True)
class MegaRaidVendor:
    """What the registry finds."""

    name: str = "megaraid"

    def backend(self, host: Host) -> MegaRaid:
        """The backend on a host."""
        return MegaRaid(host)


VENDOR = MegaRaidVendor()
