"""NVMe controllers and namespaces: sysfs tells what there is, nvme-cli adds settings and health."""

from backends.vendors.nvme.door import NvmeVendor

VENDOR = NvmeVendor()
"""Found by the registry."""

__all__ = ["VENDOR"]
