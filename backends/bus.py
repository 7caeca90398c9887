"""Storage controllers on the PCI bus, compared with those that tools report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from backends.host import Host
from backends.model import Controller
from backends.pci import DEVICES, function_of
from backends.values import dataclass

_CLASSES = ("0x0104", "0x0107")
"""RAID controllers and SAS controllers, by the first digits of a class."""

_NVME_CLASS = "0x0108"
_NVME_RAID = frozenset((("0x1b4b", "0x2241"),))
"""NVMe controllers that are RAID 1 boot cards, by vendor and device: Dell BOSS-N1, HPE NS204i, Lenovo M.2 kits."""

_NO_CARDS = frozenset(("0x8086", "0x1022", "0x15ad", "0x1af4", "0x5853", "0x1414"))
"""PCI vendors whose functions of these classes are chipsets or virtual machines: no tool speaks to them."""

_VENDORS = {
    "megaraid": ("megaraid_sas", "mpi3mr"),
    "smartarray": ("hpsa", "cciss", "smartpqi", "aacraid"),
    "threeware": ("3w-9xxx", "3w-sas", "3w-xxxx"),
    "areca": ("arcmsr",),
    "hba": ("mpt3sas", "mpt2sas", "mptsas", "pm80xx", "mvsas"),
}
KERNEL_LIST = "hba"
"""The backend that lists controllers out of the kernel's tables."""

_BY_DRIVER = {driver: vendor for vendor, drivers in _VENDORS.items() for driver in drivers}
_BY_MAKER = {"0x1000": "megaraid", "0x9005": "smartarray", "0x103c": "smartarray", "0x13c1": "threeware"}
_BY_MAKER |= {"0x17d3": "areca", "0x1b4b": "marvell"}
"""Vendors by driver and, for functions without one, by the maker's PCI number."""

_TOOLS = {
    "megaraid": "storcli64 or perccli64 (96xx and PERC 12: storcli2, perccli2)",
    "smartarray": "ssacli (HPE) or arcconf (Adaptec, Microchip)",
    "threeware": "tw_cli",
    "areca": "cli64",
    "marvell": "mnv_cli",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BusCard:
    """A storage controller on the bus."""

    address: str
    """`0000:5e:00.0`."""
    ids: str
    """`1000:0016`."""
    driver: str | None
    """The kernel driver that has bound it; None if none has."""
    vendor: str | None
    """The backend that would list it; None if none is known."""

    def reported_by(self, backends: Iterable[str]) -> bool:
        """Return whether one of these backends lists what the controller has."""
        return any(name != KERNEL_LIST or self.vendor in (KERNEL_LIST, None) for name in backends)

    @property
    def advice(self) -> str:
        """Return what to do so that it is listed."""
        if self.vendor not in _TOOLS:
            return "raidbench knows no tool for it: use that of its maker."
        return f"Install {_TOOLS[self.vendor]}, start raidbench as root, and see whether the tool lists it by itself."


async def bus_cards(host: Host) -> tuple[BusCard, ...]:
    """Return the storage controllers on the bus; none where the bus cannot be read."""
    folders = [path.rstrip("/") for path in await host.list(f"{DEVICES}/*")]
    texts = await host.read_many([f"{path}/{name}" for path in folders for name in ("class", "vendor", "device")])
    cards = []
    for path in sorted(folders):
        kind, maker, device = (texts.get(f"{path}/{name}", "").strip() for name in ("class", "vendor", "device"))
        nvme = kind.startswith(_NVME_CLASS) and (maker, device) in _NVME_RAID
        if not nvme and (not kind.startswith(_CLASSES) or maker in _NO_CARDS):
            continue
        link = await host.link(f"{path}/driver")
        driver = link.rpartition("/")[2] if link else None
        vendor = "marvell" if nvme else _BY_DRIVER.get(driver or "", _BY_MAKER.get(maker) if driver is None else None)
        ids = f"{maker.removeprefix('0x')}:{device.removeprefix('0x')}"
        cards.append(BusCard(address=path.rpartition("/")[2], ids=ids, driver=driver, vendor=vendor))
    return tuple(cards)


def unreported(cards: Sequence[BusCard], controllers: Iterable[Controller]) -> tuple[BusCard, ...]:
    """Return the controllers on the bus that no tool reports.

    Addresses decide. What the kernel alone says of a RAID controller does not report its arrays and drives.
    A controller without an address accounts for one card of its vendor.
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
        if card.reported_by(backends_at[card.address]):
            continue
        if card.vendor is not None and nameless[card.vendor] > 0:
            nameless[card.vendor] -= 1
            continue
        left.append(card)
    return tuple(left)
