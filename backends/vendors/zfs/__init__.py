"""OpenZFS: pools, their filesystems and volumes through zpool and zfs, the kernel module through its parameters."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="zfs",
    backend=lazily("backends.vendors.zfs.backend:Zfs"),
    present=where("/sys/module/zfs/parameters/zfs_txg_timeout"),
    declares=(
        "backends.vendors.zfs.settings:OF_DATASETS",
        "backends.vendors.zfs.settings:OF_POOLS",
        "backends.vendors.zfs.parameters:PARAMETERS",
    ),
)
"""PoolsFound by the registry."""
