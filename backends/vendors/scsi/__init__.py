"""SATA and SAS disks: what the drive itself does, beside what the kernel's queue in front of it does."""

from backends.vendors.scsi.backend import VENDOR

__all__ = ["VENDOR"]
