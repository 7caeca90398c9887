"""Linux software RAID: arrays of the md driver, from sysfs, /proc/mdstat and mdadm."""

from backends.vendors.mdraid.backend import VENDOR

__all__ = ["VENDOR"]
