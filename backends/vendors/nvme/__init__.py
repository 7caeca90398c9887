"""NVMe controllers and namespaces: sysfs tells what there is, nvme-cli adds settings and health."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="nvme",
    backend=lazily("backends.vendors.nvme.backend:Nvme"),
    present=where("/sys/class/nvme/nvme*"),
    declares=(
        "backends.vendors.nvme.settings:NAMESPACE_SETTINGS",
        "backends.vendors.nvme.settings:CONTROLLER_SETTINGS",
    ),
    root_reads="backends.vendors.nvme.identify:ROOT_READS",
)
"""Found by the registry."""
