"""Marvell boot cards, listed with what their tools say: SATA (Dell BOSS-S1) through mvcli, NVMe through mnv_cli."""

from backends.protocol import Vendor, lazily
from backends.vendors.marvell.presence import installed

VENDOR = Vendor(
    name="marvell",
    backend=lazily("backends.vendors.marvell.backend:Marvell"),
    present=installed,
    root_reads="backends.vendors.marvell.presence:ROOT_READS",
)
"""Found by the registry."""
