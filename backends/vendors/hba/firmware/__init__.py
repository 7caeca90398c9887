"""Firmware queries to MegaRAID controllers on hosts without a vendor tool."""
