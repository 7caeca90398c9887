"""LVM: logical volumes with their caches, mirrors and stripes, through lvs, lvchange and lvconvert."""

from backends.protocol import Vendor, lazy_backend
from backends.vendors.lvm.presence import any_group

VENDOR = Vendor(
    name="lvm",
    backend=lazy_backend("backends.vendors.lvm.backend:Lvm"),
    present=any_group,
    declares=("backends.vendors.lvm.settings:GENERAL", "backends.vendors.lvm.settings:OF_MEMBERS"),
    root_reads="backends.vendors.lvm.lvs:ROOT_READS",
)
"""Found by the registry."""
