"""Linux software RAID: arrays of the md driver, from sysfs, /proc/mdstat and mdadm."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="md",
    backend=lazily("backends.vendors.mdraid.backend:MdRaid"),
    present=where("/sys/block/*/md/array_state"),
    declares=("backends.vendors.mdraid.settings:GENERAL", "backends.vendors.mdraid.settings:OF_MEMBERS"),
    root_reads="backends.vendors.mdraid.details:ROOT_READS",
)
"""Found by the registry."""
