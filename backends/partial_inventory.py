"""What is known for good of a machine while some of its vendors, or their cards, still answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.merge_inventory import BUS, join_parts
from backends.model import KERNEL, Controller, Device, Drive, Inventory
from backends.protocol import BEING_READ
from backends.registry import MachineBackends
from backends.values import dataclass

LOCAL = frozenset({KERNEL, BUS, "bcache", "btrfs", "dm", "drbd", "md", "nvme", "scsi", "stratis"})
"""Vendors that tell what the kernel knows of things of all the others: until they have answered nothing is settled."""

_FUNCTION = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialInventory:
    """What has been told of a machine, and what may yet come of it."""

    inventory: Inventory
    """Joined."""
    waited_for: frozenset[str]
    """Vendors that have not answered."""
    anywhere: bool
    """Whether one of them may have any disk: a disk system, or a card that its driver does not show."""
    unread: frozenset[str]
    """PCI addresses of cards that a vendor's tool may manage and none has told of."""
    ways: Mapping[str, frozenset[str]]
    """By node, the PCI addresses on the way to a disk of the kernel."""

    def settled(self, group: Sequence[Device]) -> bool:
        """Whether a group, its head first, stays as it is whatever is told yet.

        A vendor's card and what is behind it: once it has answered. What the kernel alone has, such as an md array:
        once nobody is waited for who may have one of its disks.
        """
        if self.waited_for & LOCAL:
            return False
        head = group[0]
        if isinstance(head, Controller) and head.target.backend != BUS:
            return head.model != BEING_READ and not self._stray(head.pci)
        drives = [device for device in group if isinstance(device, Drive)]
        ways = {
            address
            for drive in drives
            for node in (drive.device, *drive.paths)
            for address in self.ways.get(node or "", ())
        }
        if isinstance(head, Controller):
            ways.add(head.pci or "")
        elif isinstance(head, Drive) and ways & {controller.pci for controller in self.inventory.controllers}:
            return False  # it will hang from that one
        return (
            not self.anywhere
            and not ways & self.unread
            and not (isinstance(head, Controller) and self._stray(head.pci))
        )

    def _stray(self, address: str | None) -> bool:
        """Whether a disk is behind that controller and not yet told to be."""
        twins = self.inventory.twins
        loose = (drive for drive in self.inventory.drives if drive.controller is None and drive.target not in twins)
        return any(address in self.ways.get(drive.device or "", ()) for drive in loose)


class PartialInventoryListener:
    """Hears what the vendors of a machine tell while it is looked at."""

    def __init__(self, machine: MachineBackends) -> None:
        """Nothing has been told of `machine` yet."""
        self._machine = machine
        self._parts: dict[str, Inventory] = {}
        self._cards: frozenset[str] | None = None
        self._ways: dict[str, frozenset[str]] = {}

    def add_part(self, part: str, inventory: Inventory) -> None:
        """Note what a vendor, or a card of one, is."""
        self._parts[part] = inventory

    def awaited(self) -> tuple[Controller | str, ...]:
        """Cards that have not answered, and the names of vendors that have not told of any."""
        waited_for = self._machine.waited_for
        reporting = {part.partition(":")[0] for part in self._parts}
        cards = (controller for name in sorted(self._parts) for controller in self._parts[name].controllers)
        reading = (card for card in cards if card.model == BEING_READ and card.target.backend in waited_for)
        return (*reading, *sorted(waited_for - reporting))

    async def read_present(self) -> PartialInventory:
        """Return what is known now; a few links of sysfs are read for it, each once."""
        host, drivers = self._machine.host, self._machine.backends.drivers
        if self._cards is None:
            names = dict.fromkeys(driver for vendor_drivers in drivers.values() for driver in vendor_drivers)
            paths = [path for name in names for path in await host.list(f"/sys/bus/pci/drivers/{name}/*:*:*.*")]
            self._cards = frozenset(path.rsplit("/", 1)[-1] for path in paths)
        for node in {drive.device for part in self._parts.values() for drive in part.drives if drive.device} - {
            *self._ways
        }:
            link = await host.link(f"/sys/block/{node.removeprefix('/dev/').replace('/', '!')}")
            self._ways[node] = frozenset(_FUNCTION.findall(link or ""))
        inventory, waited_for = join_parts(self._parts), self._machine.waited_for
        read = {controller.pci for controller in inventory.controllers if controller.target.backend != BUS}
        return PartialInventory(
            inventory=inventory,
            waited_for=waited_for,
            anywhere=any(not drivers[name] for name in waited_for),
            unread=self._cards - read,
            ways=dict(self._ways),
        )
