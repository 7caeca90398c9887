"""LVM: logical volumes with their caches, mirrors and stripes, through lvs, lvchange and lvconvert."""

from backends.protocol import Vendor, lazily
from backends.vendors.lvm.presence import any_volume

VENDOR = Vendor(
    name="lvm",
    backend=lazily("backends.vendors.lvm.backend:Lvm"),
    present=any_volume,
    declares=("backends.vendors.lvm.settings:GENERAL", "backends.vendors.lvm.settings:OF_MEMBERS"),
)
"""Found by the registry."""
