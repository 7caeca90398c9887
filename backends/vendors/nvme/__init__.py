"""NVMe controllers and namespaces: sysfs tells what there is, nvme-cli adds settings and health."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="nvme", backend=lazily("backends.vendors.nvme.backend:Nvme"), present=where("/sys/class/nvme/nvme*")
)
"""Found by the registry."""
