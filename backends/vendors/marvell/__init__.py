"""Marvell boot controllers: SATA (Dell BOSS-S1) read through mvcli, NVMe read through mnv_cli. Nothing is set."""

from backends.protocol import Vendor, lazy_backend, present_if_found
from backends.vendors.marvell.presence import NVME_PLACES, PLACES

VENDOR = Vendor(
    name="marvell",
    backend=lazy_backend("backends.vendors.marvell.backend:Marvell"),
    present=present_if_found(programs=(*PLACES, *NVME_PLACES)),
    root_reads="backends.vendors.marvell.presence:ROOT_READS",
)
"""Vendor entry that the registry finds."""
