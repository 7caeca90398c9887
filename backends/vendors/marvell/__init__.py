"""Marvell boot controllers, shown only: SATA (Dell BOSS-S1) through mvcli, NVMe through mnv_cli."""

from backends.protocol import Vendor, lazy_backend
from backends.vendors.marvell.presence import installed

VENDOR = Vendor(
    name="marvell",
    backend=lazy_backend("backends.vendors.marvell.backend:Marvell"),
    present=installed,
    root_reads="backends.vendors.marvell.presence:ROOT_READS",
)
"""Vendor entry that the registry finds."""
