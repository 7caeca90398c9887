"""The simulated rack: a host that answers the vendors' command lines, sysfs and fio from a model.

It is no vendor: the real backends speak to it. Nothing is imported here, since the registry looks into every folder
beside this one and a real machine has no use for the rest.
"""

from __future__ import annotations

VENDOR = None
"""Passed over by the registry."""
