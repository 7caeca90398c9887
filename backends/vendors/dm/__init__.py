"""Device-mapper's devices that no other vendor tells of: encrypted volumes, disks on several paths, plain targets."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="dm",
    backend=lazy_backend("backends.vendors.dm.backend:Dm"),
    present=present_if_found("/sys/block/dm-*"),
    root_reads="backends.vendors.dm.backend:ROOT_READS",
)
"""Found by the registry."""
