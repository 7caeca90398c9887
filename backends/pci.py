"""A PCI function as sysfs has it: its PCI Express link, NUMA node and driver, and where its interrupts go."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.host import Host
from backends.text import clean
from backends.values import dataclass

DEVICES = "/sys/bus/pci/devices"
"""Every PCI function."""

SLOT = ("numa_node", "current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
"""What sysfs says of the slot that a function sits in (Documentation/ABI/testing/sysfs-bus-pci)."""

_ADDRESS = re.compile(r"(?<=/)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A PCI Express link: what it has become and what the card is made for. None where it is not told."""

    speed: str | None = None
    """`8.0 GT/s`."""
    width: int | None = None
    """Lanes."""
    max_speed: str | None = None
    """As the card could."""
    max_width: int | None = None
    """Lanes that the card has."""

    @property
    def shown(self) -> str | None:
        """`8.0 GT/s x4, the card can do 8.0 GT/s x8`; None if it is not known."""
        if self.speed is None or self.width is None:
            return None
        now = f"{self.speed} x{self.width}"
        return f"{now}, the card can do {self.best}" if self.link_degraded else now

    @property
    def best(self) -> str:
        """What the card can do."""
        return f"{self.max_speed} x{self.max_width}"

    @property
    def link_degraded(self) -> bool:
        """Whether the card has fewer lanes, or slower ones, than it is made for."""
        lanes = self.width is not None and self.max_width is not None and self.width < self.max_width
        now, best = rate_of(self.speed), rate_of(self.max_speed)
        return lanes or (now is not None and best is not None and now < best)


_PARTS = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})[:.]0?([0-7])", re.ASCII | re.IGNORECASE)


def function_of(text: str | None) -> str | None:
    """Return the address of a function as the kernel writes it, `0000:e5:00.0`; None for what is none.

    Tools write `e5:00.00`, `00:e5:00:00` or `0:e5:0:0`.
    """
    match = _PARTS.fullmatch(text.strip()) if text is not None else None
    if match is None:
        return None
    domain, bus, device, function = (int(part or "0", 16) for part in match.groups())
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def address_of(path: str | None) -> str | None:
    """The function that a device hangs from, by its folder in sysfs with links resolved; None if from none."""
    return next(reversed(_ADDRESS.findall(path or "")), None)


async def version_of(host: Host, driver: str | None) -> str | None:
    """Version of a driver's module, None if it has none of its own."""
    if driver is None:
        return None
    return clean(await host.read(f"/sys/module/{driver.replace('-', '_')}/version") or "", 64) or None


def node_of(attributes: Mapping[str, str]) -> int | None:
    """The NUMA node, by what SLOT says; None if the machine has none."""
    return int(attributes["numa_node"]) if attributes["numa_node"].isdigit() else None


def link_of(attributes: Mapping[str, str]) -> Link:
    """The link, by what SLOT says; functions inside the chipset say `Unknown`, 0 or 255."""
    return Link(
        speed=_speed(attributes["current_link_speed"]),
        width=_width(attributes["current_link_width"]),
        max_speed=_speed(attributes["max_link_speed"]),
        max_width=_width(attributes["max_link_width"]),
    )


def _speed(text: str) -> str | None:
    return text.removesuffix(" PCIe") if rate_of(text) is not None else None


def rate_of(text: str | None) -> float | None:
    """8.0 of `8.0 GT/s PCIe`."""
    try:
        return float((text or "").split()[0])
    except (IndexError, ValueError):
        return None


def _width(text: str) -> int | None:
    return int(text) if text.isdigit() and 0 < int(text) <= 32 else None
