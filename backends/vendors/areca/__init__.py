"""Areca cards, through cli64: listed with what it says."""

from backends.protocol import Vendor, lazy_backend, present_if_found

CARDS = "/sys/bus/pci/drivers/arcmsr/*:*"
"""What the kernel's driver has taken."""

VENDOR = Vendor(
    name="areca",
    backend=lazy_backend("backends.vendors.areca.backend:Areca"),
    present=present_if_found(CARDS),
    drivers=("arcmsr",),
    root_reads="backends.vendors.areca.presence:ROOT_READS",
)
"""Found by the registry."""
