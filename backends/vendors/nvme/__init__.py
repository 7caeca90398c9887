"""NVMe controllers and namespaces from sysfs, with settings and health from nvme-cli."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="nvme",
    backend=lazy_backend("backends.vendors.nvme.backend:Nvme"),
    present=present_if_found("/sys/class/nvme/nvme*"),
    declares=(
        "backends.vendors.nvme.settings:NAMESPACE_SETTINGS",
        "backends.vendors.nvme.settings:CONTROLLER_SETTINGS",
    ),
    root_reads="backends.vendors.nvme.identify:ROOT_READS",
)
"""Registry entry."""
