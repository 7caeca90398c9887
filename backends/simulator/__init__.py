"""Simulator: a host whose vendor tools, sysfs files and fio results come from a model."""
