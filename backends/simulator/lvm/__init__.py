"""Simulated LVM: volume groups, and the output of its tools and dmsetup."""
