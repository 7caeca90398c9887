"""Every disk of the kernel: inventory from sysfs, settings of its request queue."""

from backends.vendors.block.backend import VENDOR

__all__ = ["VENDOR"]
