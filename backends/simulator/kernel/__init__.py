"""The simulated host as Linux tells it: sysfs, procfs, the database of udev."""
