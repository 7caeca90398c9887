"""NetApp E-Series and EF disk systems, accessed through their own SANtricity web services or those of a proxy."""

from backends.protocol import Vendor, lazy_backend, present_if_found

VENDOR = Vendor(
    name="santricity",
    backend=lazy_backend("backends.vendors.santricity.backend:Santricity"),
    present=present_if_found("/santricity:/*"),
    declares=("backends.vendors.santricity.readings:SETTINGS",),
)
"""Vendor entry that the registry finds; present only if the configuration names an address. See
`backends.system.https`."""
