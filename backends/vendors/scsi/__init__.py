"""SATA and SAS disks: what the drive itself does, beside what the kernel's queue in front of it does."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="scsi",
    backend=lazy_backend("backends.vendors.scsi.backend:ScsiBackend"),
    present=present_if_found("/sys/block/sd*"),
    declares=("backends.vendors.scsi.settings:SETTINGS",),
    root_reads="backends.vendors.scsi.drive_queries:ROOT_READS",
)
"""Found by the registry."""
