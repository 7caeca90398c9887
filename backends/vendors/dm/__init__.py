"""Device-mapper's devices that no other vendor tells of: encrypted volumes, disks on several paths, plain targets."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="dm",
    backend=lazily("backends.vendors.dm.backend:Dm"),
    present=where("/sys/block/dm-*"),
    root_reads="backends.vendors.dm.backend:ROOT_READS",
)
"""Found by the registry."""
