"""All disks of the kernel: inventory from sysfs, and settings of their request queues."""

from backends.protocol import Vendor, lazy_backend

VENDOR = Vendor(
    name="block",
    backend=lazy_backend("backends.vendors.block.backend:BlockBackend"),
    declares=("backends.vendors.block.settings:SETTINGS", "backends.vendors.block.settings:OF_NVME"),
)
"""Registry entry."""
