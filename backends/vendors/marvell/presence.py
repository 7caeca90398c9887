"""Whether a machine may have such a card: its driver is that of any SATA port, so the program tells."""

from __future__ import annotations

import re

from backends.answers import Whole
from backends.host import Host

PLACES = ("/opt/marvell/bin/mvcli", "/opt/dell/mvcli/mvcli", "mvcli")
"""Where the program is looked for."""

READS = (("info", "-o", "hba"), ("info", "-o", "vd"), ("info", "-o", "pd"))
"""What it is asked: cards, virtual disks, drives."""


def _last(label: str, words: str) -> Whole:
    """By the last label that is recorded of such an answer."""
    shape = re.compile(rf"^{re.escape(label)}:", re.MULTILINE)
    return Whole(
        tool=f"mvcli info -o {words}",
        mark=f"a line `{label}:`",
        missing=lambda text: "" if shape.search(text) else f"`{label}` is missing",
        statuses=frozenset(),
    )


CARDS = _last("HBA info image health", "hba")
VOLUMES = _last("Total # of VD", "vd")
_FROM_C7 = re.compile(r"^(?:C[7-9A-F]|[DEF][0-9A-F]) [^\n]{20,200}\n", re.ASCII | re.MULTILINE)

SMART = Whole(
    tool="mvcli smart",
    mark="a whole row of an attribute from C7 on",
    missing=lambda text: "" if _FROM_C7.search(text) else "its attributes from C7 on are missing",
    statuses=frozenset(),
    hides="that an attribute behind C7 is at its threshold",
)
DRIVE_READ = ("smart", "-p", r"\d{1,3}")
"""What it is asked about one drive, as patterns."""
DISKS = _last("Total # of PD", "pd")


async def installed(host: Host) -> bool:
    """Whether mvcli is there; nothing is run."""
    return host.which(PLACES) is not None


async def on_bus(host: Host) -> bool:
    """Whether a SATA controller of Marvell's (PCI vendor 1b4b) is there."""
    paths = [f"{path}/vendor" for path in await host.list("/sys/bus/pci/drivers/ahci/*:*:*.*")]
    return "0x1b4b" in {text.strip() for text in (await host.read_many(paths)).values()}
