"""The line with the present I/O of the selected device."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from app.core.benchmark.device_stats.activity import ActivityMeter
from app.core.presentation.activity import activity_line
from app.core.presentation.device_tree import members_by_array
from backends.model import Array, Device, Inventory
from backends.topology import kernel_name
from widgets.text_panel import Line, TextPanel


class ActivityLine(TextPanel):
    """Rates of the last second and the utilisation of the last minute. It is blank for a device without counters."""

    DEFAULT_CSS = "ActivityLine { height: 1; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__(id="activity")
        self._device: str | None = None
        self._members: tuple[str, ...] = ()
        self._meter: ActivityMeter | None = None

    def select(self, inventory: Inventory, device: Device | None) -> None:
        """Show this device from now on; None for a row without a device."""
        self._device = node_name(device)
        members = members_by_array(inventory).get(device.target, ()) if isinstance(device, Array) else ()
        self._members = tuple(name for member in members if (name := node_name(member)) is not None)
        self.update_lines()

    @property
    def devices(self) -> Collection[str]:
        """The kernel names of the device and its members, as far as the line is visible."""
        return (self._device, *self._members) if self.size.width and self._device is not None else ()

    def show(self, meter: ActivityMeter) -> None:
        """Show the latest rates of a meter."""
        self._meter = meter
        self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the line."""
        if self._device is None:
            return [()]
        rates = self._meter.rates if self._meter is not None else {}
        minute = self._meter.minute(self._device) if self._meter is not None else ()
        members = [rates[name] for name in self._members if name in rates]
        ascii = bool(getattr(self.app, "ascii", False))
        return [(("value", activity_line(rates.get(self._device), minute, members, width, ascii=ascii)),)]


def node_names(inventory: Inventory) -> Mapping[str, str]:
    """Return the kernel names of the devices that have a block device, by address."""
    return {str(device.target): name for device in inventory.block_devices if (name := node_name(device)) is not None}


def node_name(device: Device | None) -> str | None:
    """Return the kernel name of a device's block device; None if it has none."""
    node = getattr(device, "device", None)
    return None if node is None else kernel_name(node)
