"""IBM DS3000, DS4000, DS5000 and their NetApp E-Series and Dell MD kin, through SMcli."""

from backends.protocol import Vendor, lazy_backend
from backends.vendors.smcli.presence import installed

VENDOR = Vendor(
    name="smcli",
    backend=lazy_backend("backends.vendors.smcli.backend:Smcli"),
    present=installed,
    declares=("backends.vendors.smcli.readings:VOLUME_SETTINGS", "backends.vendors.smcli.readings:SYSTEM_SETTINGS"),
    root_reads="backends.vendors.smcli.dialects:ROOT_READS",
)
"""Found by the registry."""
