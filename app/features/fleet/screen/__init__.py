"""Screens for many hosts: the list of hosts, and the devices of one."""
