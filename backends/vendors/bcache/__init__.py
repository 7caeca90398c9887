"""bcache: disks with a cache on a faster device, read from sysfs only."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="bcache",
    backend=lazy_backend("backends.vendors.bcache.backend:Bcache"),
    present=present_if_found("/sys/fs/bcache/register"),
    declares=("backends.vendors.bcache.settings:SETTINGS",),
)
"""Registry entry."""
