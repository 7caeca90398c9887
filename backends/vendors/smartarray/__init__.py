"""HPE Smart Array and Adaptec SmartRAID controllers, through ssacli or arcconf."""

from backends.protocol import Vendor, lazy_backend
from backends.vendors.smartarray.presence import DRIVERS, is_present

VENDOR = Vendor(
    name="smartarray",
    backend=lazy_backend("backends.vendors.smartarray.backend:SmartArray"),
    present=is_present,
    drivers=DRIVERS,
    declares=("backends.vendors.smartarray.settings:OF_DRIVES", "backends.vendors.smartarray.settings:OF_CARDS"),
    root_reads="backends.vendors.smartarray.presence:ROOT_READS",
)
"""Vendor entry that the registry finds."""
