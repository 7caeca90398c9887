"""Simulated ZFS: pools, and the output of zpool, zfs and the kernel module."""
