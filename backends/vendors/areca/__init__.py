"""Areca controllers, read through cli64. raidbench shows them but sets nothing."""

from backends.protocol import Vendor, lazy_backend, present_if_found

CARDS = "/sys/bus/pci/drivers/arcmsr/*:*"
"""Pattern of the PCI devices bound to the kernel driver."""

VENDOR = Vendor(
    name="areca",
    backend=lazy_backend("backends.vendors.areca.backend:Areca"),
    present=present_if_found(CARDS),
    drivers=("arcmsr",),
    root_reads="backends.vendors.areca.presence:ROOT_READS",
)
"""Vendor entry that the registry finds."""
