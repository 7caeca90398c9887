"""MegaRAID, PERC and their OEM cards, through storcli, perccli or MegaCli."""

from backends.vendors.megaraid.backend import VENDOR, MegaRaid

__all__ = ["VENDOR", "MegaRaid"]
