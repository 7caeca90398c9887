"""Vendor modules, each exporting VENDOR."""
