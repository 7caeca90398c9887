"""Pools of the simulated host, with what zpool, zfs and the kernel module say of them."""
