"""Hosts: this machine, recorded and simulated machines, and wrappers around them."""
