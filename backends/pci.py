"""PCI functions in sysfs: link, NUMA node and driver. Also finds storage controllers that no tool reports."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from backends.host import Host
from backends.model import Controller
from backends.text import clean
from backends.values import dataclass

DEVICES = "/sys/bus/pci/devices"
"""Folder of all PCI functions."""

SLOT = ("numa_node", "current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
"""sysfs attributes that describe a function's NUMA node and link (Documentation/ABI/testing/sysfs-bus-pci)."""

_ADDRESS = re.compile(r"(?<=/)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A PCI Express link with its current and maximum speed and width. A field is None if unknown."""

    speed: str | None = None
    """Speed of one lane, `8.0 GT/s`."""
    width: int | None = None
    """Number of lanes."""
    max_speed: str | None = None
    """Maximum speed of one lane of the controller."""
    max_width: int | None = None
    """Maximum number of lanes of the controller."""

    @property
    def shown(self) -> str | None:
        """Return the link as text, `8.0 GT/s x4, the device supports 8.0 GT/s x8`; None if unknown."""
        if self.speed is None or self.width is None:
            return None
        now = f"{self.speed} x{self.width}"
        return f"{now}, the device supports {self.best}" if self.link_degraded else now

    @property
    def best(self) -> str:
        """Return the maximum speed and width."""
        return f"{self.max_speed} x{self.max_width}"

    @property
    def link_degraded(self) -> bool:
        """Return whether the link is slower or narrower than the controller's maximum."""
        lanes = self.width is not None and self.max_width is not None and self.width < self.max_width
        now, best = rate_of(self.speed), rate_of(self.max_speed)
        return lanes or (now is not None and best is not None and now < best)


_PARTS = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})[:.]0?([0-7])", re.ASCII | re.IGNORECASE)


def function_of(text: str | None) -> str | None:
    """Return the address of a PCI function as the kernel writes it, `0000:e5:00.0`; None for any other text.

    Tools write `e5:00.00`, `00:e5:00:00` or `0:e5:0:0`.
    """
    match = _PARTS.fullmatch(text.strip()) if text is not None else None
    if match is None:
        return None
    domain, bus, device, function = (int(part or "0", 16) for part in match.groups())
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def address_of(path: str | None) -> str | None:
    """Return the address of the PCI function nearest to a device in its resolved sysfs path; None if it has none."""
    return next(reversed(_ADDRESS.findall(path or "")), None)


async def version_of(host: Host, driver: str | None) -> str | None:
    """Return the version of a driver's module; None if the module has no version of its own."""
    if driver is None:
        return None
    return clean(await host.read(f"/sys/module/{driver.replace('-', '_')}/version") or "", 64) or None


def node_of(attributes: Mapping[str, str]) -> int | None:
    """Return the NUMA node from the attributes in `SLOT`; None if the machine has no NUMA nodes."""
    return int(attributes["numa_node"]) if attributes["numa_node"].isdigit() else None


def link_of(attributes: Mapping[str, str]) -> Link:
    """Return the link from the attributes in `SLOT`. Functions inside the chipset report `Unknown`, 0 or 255."""
    return Link(
        speed=_speed(attributes["current_link_speed"]),
        width=_width(attributes["current_link_width"]),
        max_speed=_speed(attributes["max_link_speed"]),
        max_width=_width(attributes["max_link_width"]),
    )


def _speed(text: str) -> str | None:
    return text.removesuffix(" PCIe") if rate_of(text) is not None else None


def rate_of(text: str | None) -> float | None:
    """Return the number in `8.0 GT/s PCIe`; None if there is none."""
    try:
        return float((text or "").split()[0])
    except (IndexError, ValueError):
        return None


def _width(text: str) -> int | None:
    return int(text) if text.isdigit() and 0 < int(text) <= 32 else None


# -- storage controllers on the PCI bus that no tool reports ----------------------------------------------------------

_CLASSES = ("0x0104", "0x0107")
"""Beginnings of the PCI class codes of RAID controllers and SAS controllers."""

_NVME_CLASS = "0x0108"
_NVME_RAID = frozenset((("0x1b4b", "0x2241"),))
"""NVMe controllers that are RAID 1 boot cards, by vendor and device: Dell BOSS-N1, HPE NS204i, Lenovo M.2 kits."""

_NOT_MANAGED = frozenset(("0x8086", "0x1022", "0x15ad", "0x1af4", "0x5853", "0x1414"))
"""PCI vendors whose functions of these classes belong to chipsets or virtual machines: no tool manages them."""

_DRIVERS = {
    "megaraid": ("megaraid_sas", "mpi3mr"),
    "smartarray": ("hpsa", "cciss", "smartpqi", "aacraid"),
    "threeware": ("3w-9xxx", "3w-sas", "3w-xxxx"),
    "areca": ("arcmsr",),
    "hba": ("mpt3sas", "mpt2sas", "mptsas", "pm80xx", "mvsas"),
}
KERNEL_LIST = "hba"
"""Backend that lists controllers from the kernel's tables."""

_BY_DRIVER = {driver: vendor for vendor, drivers in _DRIVERS.items() for driver in drivers}
_BY_MAKER = {"0x1000": "megaraid", "0x9005": "smartarray", "0x103c": "smartarray", "0x13c1": "threeware"}
_BY_MAKER |= {"0x17d3": "areca", "0x1b4b": "marvell"}
"""Vendors by kernel driver and, for functions without a driver, by PCI vendor id."""

_TOOLS = {
    "megaraid": "storcli64 or perccli64 (96xx and PERC 12: storcli2, perccli2)",
    "smartarray": "ssacli (HPE) or arcconf (Adaptec, Microchip)",
    "threeware": "tw_cli",
    "areca": "cli64",
    "marvell": "mnv_cli",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BusController:
    """A storage controller on the PCI bus."""

    address: str
    """PCI address, `0000:5e:00.0`."""
    ids: str
    """PCI vendor id and device id, `1000:0016`."""
    driver: str | None
    """Kernel driver bound to it; None if there is none."""
    vendor: str | None
    """Backend that could list it; None if there is none."""

    @property
    def advice(self) -> str:
        """Return a hint how to get the controller listed."""
        if self.vendor not in _TOOLS:
            return "raidbench cannot manage this controller. Use the vendor's tool."
        return (
            f"Install {_TOOLS[self.vendor]} and run raidbench as root. If the controller is still missing, run the "
            "tool directly to check that it lists it."
        )


async def bus_controllers(host: Host) -> tuple[BusController, ...]:
    """Return the storage controllers on the PCI bus; () if the bus cannot be read."""
    folders = [path.rstrip("/") for path in await host.list(f"{DEVICES}/*")]
    texts = await host.read_many([f"{path}/{name}" for path in folders for name in ("class", "vendor", "device")])
    cards = []
    for path in sorted(folders):
        kind, maker, device = (texts.get(f"{path}/{name}", "").strip() for name in ("class", "vendor", "device"))
        nvme = kind.startswith(_NVME_CLASS) and (maker, device) in _NVME_RAID
        if not nvme and (not kind.startswith(_CLASSES) or maker in _NOT_MANAGED):
            continue
        link = await host.link(f"{path}/driver")
        driver = link.rpartition("/")[2] if link else None
        vendor = "marvell" if nvme else _BY_DRIVER.get(driver or "", _BY_MAKER.get(maker) if driver is None else None)
        ids = f"{maker.removeprefix('0x')}:{device.removeprefix('0x')}"
        cards.append(BusController(address=path.rpartition("/")[2], ids=ids, driver=driver, vendor=vendor))
    return tuple(cards)


def find_unreported(cards: Sequence[BusController], controllers: Iterable[Controller]) -> tuple[BusController, ...]:
    """Return the controllers on the PCI bus that no tool reports.

    Controllers are matched by PCI address. An entry that only the kernel lists does not count as a report, because it
    lacks the arrays and drives of a RAID controller. A reported controller without a PCI address accounts for one
    controller of its vendor.
    """
    backends_at: dict[str, set[str]] = defaultdict(set)
    nameless: Counter[str] = Counter()
    for controller in controllers:
        address = function_of(controller.pci)
        if address is None:
            nameless[controller.target.backend] += 1
        else:
            backends_at[address].add(controller.target.backend)
    left = []
    for card in cards:
        if any(name != KERNEL_LIST or card.vendor in (KERNEL_LIST, None) for name in backends_at[card.address]):
            continue
        if card.vendor is not None and nameless[card.vendor] > 0:
            nameless[card.vendor] -= 1
            continue
        left.append(card)
    return tuple(left)
