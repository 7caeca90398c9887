"""Fusion-io ioMemory modules. fio-status reports them, fio-format changes their sector size."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="fusionio",
    backend=lazy_backend("backends.vendors.fusionio.backend:FusionIo"),
    present=present_if_found("/sys/module/iomemory_vsl*"),
    drivers=("iomemory-vsl", "iomemory-vsl4"),
    declares=("backends.vendors.fusionio.sector:SETTINGS",),
    root_reads="backends.vendors.fusionio.tool:ROOT_READS",
)
"""Vendor entry that the registry finds.

Without the driver, raidbench runs no tool: an old fio-status crashed a DL580 Gen8 in this case.
"""
