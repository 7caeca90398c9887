"""Whether a machine manages such disk systems: where SMcli may be, and how its whole answers are known."""

from __future__ import annotations

from backends.host import Host
from backends.tool_output import CompletenessCheck, last_line

PLACES = (
    "/opt/IBM_DS/client/SMcli",
    "/opt/IBM_DS4000/client/SMcli",
    "/opt/SMgr/client/SMcli",
    "/opt/dell/mdstoragemanager/client/SMcli",
    "/opt/dell/mdstoragesoftware/mdstoragemanager/client/SMcli",
    "SMcli",
)
"""Where its packages put it, then PATH."""

WHOLE = CompletenessCheck(
    tool="SMcli",
    mark="its last line is `SMcli completed successfully.` or `SMcli failed.`",
    missing=last_line("SMcli completed successfully.", "SMcli failed."),
    statuses=frozenset(),
)


async def installed(host: Host) -> bool:
    """Whether SMcli is there; nothing is run."""
    return host.which(PLACES) is not None
