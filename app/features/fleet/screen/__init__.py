"""Screens for many hosts: the list of hosts, the devices of one host, and a run on many hosts."""
