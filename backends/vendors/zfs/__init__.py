"""OpenZFS: pools, filesystems and volumes through zpool and zfs, and parameters of the kernel module through sysfs."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="zfs",
    backend=lazy_backend("backends.vendors.zfs.backend:Zfs"),
    present=present_if_found("/sys/module/zfs/parameters/zfs_txg_timeout"),
    declares=(
        "backends.vendors.zfs.settings:OF_DATASETS",
        "backends.vendors.zfs.settings:OF_POOLS",
        "backends.vendors.zfs.parameters:PARAMETERS",
    ),
)
"""Registry entry."""
