"""The simulated rack: a host that answers the vendors' command lines, sysfs and fio from a model."""
