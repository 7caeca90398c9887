"""Storage controllers of any maker, as the PCI bus and the SCSI layer show them."""

from backends.vendors.hba.backend import HbaVendor

VENDOR = HbaVendor()
"""Found by the registry."""

__all__ = ["VENDOR"]
