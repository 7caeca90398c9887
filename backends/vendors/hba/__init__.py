"""Storage controllers of any maker, as the PCI bus and the SCSI layer show them."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="hba", backend=lazily("backends.vendors.hba.backend:HbaBackend"), present=where("/sys/bus/pci/devices/*")
)
"""Found by the registry."""
