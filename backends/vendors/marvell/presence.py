"""Whether a machine may have such a card: its driver is that of any SATA port, so the program tells."""

from __future__ import annotations

from backends.host import Host

PLACES = ("/opt/marvell/bin/mvcli", "/opt/dell/mvcli/mvcli", "mvcli")
"""Where the program is looked for."""

READS = (("info", "-o", "hba"), ("info", "-o", "vd"), ("info", "-o", "pd"))
"""What it is asked: cards, virtual disks, drives."""


async def installed(host: Host) -> bool:
    """Whether mvcli is there; nothing is run."""
    return host.which(PLACES) is not None
