"""bcache: disks of the kernel with a cache on a faster one before them, from sysfs alone."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="bcache",
    backend=lazy_backend("backends.vendors.bcache.backend:Bcache"),
    present=present_if_found("/sys/fs/bcache/register"),
    declares=("backends.vendors.bcache.settings:SETTINGS",),
)
"""Found by the registry."""
