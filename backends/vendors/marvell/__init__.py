"""Marvell 88SE9230 boot cards and their kin (Dell BOSS-S1), through mvcli: listed with what it says."""

from backends.protocol import Vendor, lazily
from backends.vendors.marvell.presence import installed

VENDOR = Vendor(name="marvell", backend=lazily("backends.vendors.marvell.backend:Marvell"), present=installed)
"""Found by the registry."""
