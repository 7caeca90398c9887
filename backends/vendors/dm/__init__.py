"""Device-mapper devices that no other vendor module lists: encrypted volumes, multipath devices, plain targets."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="dm",
    backend=lazy_backend("backends.vendors.dm.backend:Dm"),
    present=present_if_found("/sys/block/dm-*"),
    root_reads="backends.vendors.dm.backend:ROOT_READS",
)
"""Registry entry."""
