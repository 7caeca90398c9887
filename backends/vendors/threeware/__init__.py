"""3ware cards, through tw_cli."""

from backends.host import Host
from backends.protocol import Vendor, lazy_backend
from backends.vendors.threeware.presence import PLACES

CARDS = "/sys/bus/pci/drivers/3w-*/*:*"
"""What the kernel's drivers 3w-9xxx, 3w-sas and 3w-xxxx have taken."""


async def anything(host: Host) -> bool:
    """Return whether the tool is installed, or the kernel has a card."""
    return host.which(PLACES) is not None or bool(await host.list(CARDS))


VENDOR = Vendor(
    name="threeware",
    backend=lazy_backend("backends.vendors.threeware.backend:Threeware"),
    present=anything,
    drivers=("3w-9xxx", "3w-sas", "3w-xxxx"),
    declares=("backends.vendors.threeware.settings:UNIT_SETTINGS",),
    root_reads="backends.vendors.threeware.presence:ROOT_READS",
)
"""Found by the registry."""
