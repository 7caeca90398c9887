"""MegaRAID, PERC and OEM controllers, through storcli, perccli or MegaCli."""

from backends.protocol import Vendor, lazy_backend
from backends.vendors.megaraid.presence import DRIVERS, is_present

VENDOR = Vendor(
    name="megaraid",
    backend=lazy_backend("backends.vendors.megaraid.backend:MegaRaid"),
    present=is_present,
    drivers=DRIVERS,
    declares=("backends.vendors.megaraid.settings:VOLUME_SETTINGS", "backends.vendors.megaraid.settings:CARD_SETTINGS"),
    root_reads="backends.vendors.megaraid.presence:ROOT_READS",
)
"""Vendor entry that the registry finds."""
