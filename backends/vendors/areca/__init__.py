"""Areca cards, through cli64: listed with what it says."""

from backends.protocol import Vendor, lazily, where

CARDS = "/sys/bus/pci/drivers/arcmsr/*:*"
"""What the kernel's driver has taken."""

VENDOR = Vendor(
    name="areca",
    backend=lazily("backends.vendors.areca.backend:Areca"),
    present=where(CARDS),
    drivers=("arcmsr",),
    root_reads="backends.vendors.areca.presence:ROOT_READS",
)
"""Found by the registry."""
