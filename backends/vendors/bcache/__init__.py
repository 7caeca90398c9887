"""bcache: disks of the kernel with a cache on a faster one before them, from sysfs alone."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="bcache",
    backend=lazily("backends.vendors.bcache.backend:Bcache"),
    present=where("/sys/fs/bcache/register"),
    declares=("backends.vendors.bcache.settings:SETTINGS",),
)
"""Found by the registry."""
