"""Simulator: a host whose vendor tools, sysfs and fio answers come from a model."""
