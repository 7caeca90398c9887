"""Linux software RAID: arrays of the md driver, from sysfs, /proc/mdstat and mdadm."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="md",
    backend=lazy_backend("backends.vendors.mdraid.backend:MdRaid"),
    present=present_if_found("/sys/block/*/md/array_state"),
    declares=("backends.vendors.mdraid.settings:GENERAL", "backends.vendors.mdraid.settings:OF_MEMBERS"),
    root_reads="backends.vendors.mdraid.details:ROOT_READS",
)
"""Registry entry."""
