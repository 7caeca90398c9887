"""LVM of the simulated host: volume groups and what lvs, lvchange, lvconvert and dmsetup say of them."""
