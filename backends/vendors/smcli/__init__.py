"""IBM DS3000, DS4000 and DS5000, and the related NetApp E-Series and Dell MD, accessed through SMcli."""

from backends.protocol import Vendor, lazy_backend, present_if_found
from backends.tool_output import CompletenessCheck, last_line

PLACES = (
    "/opt/IBM_DS/client/SMcli",
    "/opt/IBM_DS4000/client/SMcli",
    "/opt/SMgr/client/SMcli",
    "/opt/dell/mdstoragemanager/client/SMcli",
    "/opt/dell/mdstoragesoftware/mdstoragemanager/client/SMcli",
    "SMcli",
)
"""Paths at which packages install SMcli, then its name on PATH."""

WHOLE = CompletenessCheck(
    tool="SMcli",
    mark="the last line `SMcli completed successfully.` or `SMcli failed.`",
    missing=last_line("SMcli completed successfully.", "SMcli failed."),
    statuses=frozenset(),
)


VENDOR = Vendor(
    name="smcli",
    backend=lazy_backend("backends.vendors.smcli.backend:Smcli"),
    present=present_if_found(programs=PLACES),
    declares=("backends.vendors.smcli.readings:VOLUME_SETTINGS", "backends.vendors.smcli.readings:SYSTEM_SETTINGS"),
    root_reads="backends.vendors.smcli.dialects:ROOT_READS",
)
"""Vendor entry that the registry finds."""
