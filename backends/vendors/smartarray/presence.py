"""Whether there is anything for this backend to do: tools by name, cards by their kernel driver. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Host
from backends.protocol import RootReads

SSACLI = ("ssacli", "hpssacli", "hpacucli")
"""HPE's tool on PATH, newest name first: one grammar under three names."""

SSACLI_PLACES = ("/opt/smartstorageadmin/ssacli/bin/ssacli", "/opt/hp/hpssacli/bld/hpssacli")
"""Where its packages put it."""

ARCCONF = ("arcconf",)
"""Adaptec's tool on PATH."""

ARCCONF_PLACES = ("/usr/Arcconf/arcconf", "/usr/StorMan/arcconf", "/opt/StorMan/arcconf")
"""Where its packages put it."""

DRIVERS = ("hpsa", "cciss", "smartpqi", "aacraid")
"""Kernel drivers of the cards that these tools serve."""

SERIES_DRIVERS = ("aacraid",)
"""That of Adaptec's series 2 to 8."""


async def kernel_cards(host: Host, drivers: Sequence[str] = DRIVERS) -> tuple[str, ...]:
    """PCI addresses of the cards that these drivers have bound."""
    paths = [path for driver in drivers for path in await host.list(f"/sys/bus/pci/drivers/{driver}/*:*:*.*")]
    return tuple(sorted(path.rsplit("/", 1)[-1] for path in paths))


async def anything(host: Host) -> bool:
    """Whether a tool is installed or the kernel has a card."""
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
"""What root starts for a user: it reads, and changes nothing."""
