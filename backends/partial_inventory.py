"""Decide which devices of an inventory are final while some vendors or controllers have not answered yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.merge_inventory import BUS, join_parts
from backends.model import KERNEL, Controller, Device, Drive, Inventory
from backends.protocol import BEING_READ
from backends.registry import MachineBackends
from backends.values import dataclass

LOCAL = frozenset({KERNEL, BUS, "bcache", "btrfs", "dm", "drbd", "md", "nvme", "scsi", "stratis"})
"""Backends that report kernel facts about devices of all vendors. Nothing is final until they have answered."""

_FUNCTION = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialInventory:
    """An incomplete inventory, with the vendors and controllers that may still add to it."""

    inventory: Inventory
    """The parts received so far, joined."""
    waited_for: frozenset[str]
    """Vendors that have not answered."""
    anywhere: bool
    """Whether a pending vendor may own any disk: a storage system, or a controller whose driver hides its disks."""
    unread: frozenset[str]
    """PCI addresses of controllers that a pending vendor's tool may still report."""
    ways: Mapping[str, frozenset[str]]
    """PCI addresses on the path to each kernel disk, by device node."""

    def is_settled(self, group: Sequence[Device]) -> bool:
        """Return whether a group of devices can no longer change. Its main device comes first.

        A vendor's controller and its devices are final once the controller has answered. Devices that only the kernel
        reports, such as an md array, are final once no pending vendor may own one of their disks.
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
            return False  # once a vendor has claimed it, the drive will be shown below that controller
        return (
            not self.anywhere
            and not ways & self.unread
            and not (isinstance(head, Controller) and self._stray(head.pci))
        )

    def _stray(self, address: str | None) -> bool:
        """Return whether some disk is behind the controller at this PCI address but not yet assigned to it."""
        twins = self.inventory.twins
        drives = (drive for drive in self.inventory.drives if drive.controller is None and drive.target not in twins)
        return any(address in self.ways.get(drive.device or "", ()) for drive in drives)


class PartialInventoryListener:
    """Collects the parts of an inventory during a scan."""

    def __init__(self, machine: MachineBackends) -> None:
        """Start without any part of the inventory of `machine`."""
        self._machine = machine
        self._parts: dict[str, Inventory] = {}
        self._cards: frozenset[str] | None = None
        self._ways: dict[str, frozenset[str]] = {}

    def add_part(self, part: str, inventory: Inventory) -> None:
        """Store the inventory of a vendor or of one of its controllers."""
        self._parts[part] = inventory

    def pending(self) -> tuple[Controller | str, ...]:
        """Return the controllers that have not answered, and the vendors that have not reported any controller."""
        waited_for = self._machine.waited_for
        reporting = {part.partition(":")[0] for part in self._parts}
        cards = (controller for name in sorted(self._parts) for controller in self._parts[name].controllers)
        reading = (card for card in cards if card.model == BEING_READ and card.target.backend in waited_for)
        return (*reading, *sorted(waited_for - reporting))

    async def read_present(self) -> PartialInventory:
        """Return the inventory of the parts received so far. Reads a few links of sysfs, each only once."""
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
