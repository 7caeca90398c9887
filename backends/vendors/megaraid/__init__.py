"""MegaRAID, PERC and their OEM cards, through storcli, perccli or MegaCli."""

from backends.vendors.megaraid.door import MegaRaidVendor

VENDOR = MegaRaidVendor()
"""Found by the registry."""

__all__ = ["VENDOR"]
