"""Firmware queries to MegaRAID controllers, for hosts without a vendor tool."""
