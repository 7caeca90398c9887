"""Linux kernel of a simulated host: sysfs, procfs and the udev database."""
