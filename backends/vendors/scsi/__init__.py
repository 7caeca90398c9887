"""SATA and SAS disks: settings of the drive itself, in addition to those of the kernel's queue."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="scsi",
    backend=lazy_backend("backends.vendors.scsi.backend:ScsiBackend"),
    present=present_if_found("/sys/block/sd*"),
    declares=("backends.vendors.scsi.settings:SETTINGS",),
    root_reads="backends.vendors.scsi.drive_queries:ROOT_READS",
)
"""Registry entry."""
