"""Storage controllers of any vendor, as the kernel's PCI bus and SCSI layer report them."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="hba",
    backend=lazy_backend("backends.vendors.hba.backend:HbaBackend"),
    present=present_if_found("/sys/bus/pci/devices/*"),
)
"""Vendor entry that the registry finds."""
