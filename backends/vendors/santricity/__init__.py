"""NetApp E-Series and EF through SANtricity's web services: those of the array itself, or a proxy's."""

from backends.protocol import Vendor, lazily, where

VENDOR = Vendor(
    name="santricity",
    backend=lazily("backends.vendors.santricity.backend:Santricity"),
    present=where("/santricity:/*"),
    declares=("backends.vendors.santricity.readings:SETTINGS",),
)
"""Found by the registry; only where the configuration names one. See `backends.system.https`."""
