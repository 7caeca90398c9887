"""Presence check for tools and for controllers with a matching kernel driver. It is cheap to import."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Host
from backends.protocol import RootReads

SSACLI = ("ssacli", "hpssacli", "hpacucli")
"""Names of HPE's tool on PATH, newest first. The commands of all three have the same form."""

SSACLI_PLACES = ("/opt/smartstorageadmin/ssacli/bin/ssacli", "/opt/hp/hpssacli/bld/hpssacli")
"""Paths at which packages install HPE's tool."""

ARCCONF = ("arcconf",)
"""Names of Adaptec's tool on PATH."""

ARCCONF_PLACES = ("/usr/Arcconf/arcconf", "/usr/StorMan/arcconf", "/opt/StorMan/arcconf")
"""Paths at which packages install Adaptec's tool."""

DRIVERS = ("hpsa", "cciss", "smartpqi", "aacraid")
"""Kernel drivers of the controllers that these tools manage."""

SERIES_DRIVERS = ("aacraid",)
"""Kernel drivers of Adaptec's series 2 to 8."""


async def kernel_cards(host: Host, drivers: Sequence[str] = DRIVERS) -> tuple[str, ...]:
    """Return the PCI addresses of the controllers bound to these drivers."""
    paths = [path for driver in drivers for path in await host.list(f"/sys/bus/pci/drivers/{driver}/*:*:*.*")]
    return tuple(sorted(path.rsplit("/", 1)[-1] for path in paths))


async def is_present(host: Host) -> bool:
    """Return whether a tool is installed, or a controller is bound to one of the kernel drivers."""
    tools = (*SSACLI_PLACES, *SSACLI, *ARCCONF_PLACES, *ARCCONF)
    return host.which(tools) is not None or bool(await kernel_cards(host))


_SLOT = r"slot=[0-9]{1,3}[A-Za-z]?"

_SSACLI = (
    ("ctrl", "all", "show"),
    ("ctrl", _SLOT, "show", "config", "detail"),
    ("ctrl", _SLOT, "modify", r"[a-z]{2,40}=\?"),
    ("ctrl", _SLOT, "ld", r"\d{1,5}", "modify", r"[a-z]{2,40}=\?"),
)

_ARCCONF = (
    ("list|getversion|setcache",),
    ("getconfig", r"\d{1,3}", "al"),
    ("getstatus", r"\d{1,3}"),
)

ROOT_READS: RootReads = {(*SSACLI, *SSACLI_PLACES): _SSACLI, (*ARCCONF, *ARCCONF_PLACES): _ARCCONF}
"""Arguments, by program, of the commands that the root helper may run for a user. All of them only read."""
