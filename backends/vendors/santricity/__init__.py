"""NetApp E-Series and EF through SANtricity's web services: those of the array itself, or a proxy's."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="santricity",
    backend=lazy_backend("backends.vendors.santricity.backend:Santricity"),
    present=present_if_found("/santricity:/*"),
    declares=("backends.vendors.santricity.readings:SETTINGS",),
)
"""Found by the registry; only where the configuration names one. See `backends.system.https`."""
