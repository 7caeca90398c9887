"""3ware cards, through tw_cli."""

from backends.protocol import Vendor, lazily, where

CARDS = "/sys/bus/pci/drivers/3w-*/*:*"
"""What the kernel's drivers 3w-9xxx, 3w-sas and 3w-xxxx have taken."""

VENDOR = Vendor(
    name="threeware",
    backend=lazily("backends.vendors.threeware.backend:Threeware"),
    present=where(CARDS),
    drivers=("3w-9xxx", "3w-sas", "3w-xxxx"),
    declares=("backends.vendors.threeware.settings:UNIT_SETTINGS",),
)
"""Found by the registry."""
