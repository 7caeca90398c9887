"""Whether a machine manages such disk systems: where SMcli may be."""

from __future__ import annotations

from backends.host import Host

PLACES = (
    "/opt/IBM_DS/client/SMcli",
    "/opt/IBM_DS4000/client/SMcli",
    "/opt/SMgr/client/SMcli",
    "/opt/dell/mdstoragemanager/client/SMcli",
    "/opt/dell/mdstoragesoftware/mdstoragemanager/client/SMcli",
    "SMcli",
)
"""Where its packages put it, then PATH."""


async def installed(host: Host) -> bool:
    """Whether SMcli is there; nothing is run."""
    return host.which(PLACES) is not None
