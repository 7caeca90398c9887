"""Whether there is anything for this backend to do: tools by name, cards by their kernel driver. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Host

STORCLI_7 = ("storcli64", "storcli", "perccli64", "perccli")
"""Names of storcli and perccli of version 7 on PATH."""

STORCLI_7_PLACES = (
    "/opt/MegaRAID/storcli/storcli64",
    "/opt/MegaRAID/perccli/perccli64",
    "/opt/hpe/storcli/storcli64",
    "/opt/lsi/storcli/storcli",
)
"""Where their packages put them."""

STORCLI_8 = ("storcli2", "perccli2")
"""Names of version 8."""

STORCLI_8_PLACES = ("/opt/MegaRAID/storcli2/storcli2", "/opt/MegaRAID/perccli2/perccli2")
"""Where their packages put them."""

MEGACLI = (
    "/opt/MegaRAID/MegaCli/MegaCli64",
    "/opt/MegaRAID/MegaCli/MegaCli",
    "/opt/MegaRAID/CmdTool2/CmdTool2_64",
    "/opt/MegaRAID/CmdTool2/CmdTool264",
    "/opt/MegaRAID/CmdTool2/CmdTool2",
    "/opt/lsi/MegaCLI/MegaCli64",
    "/opt/lsi/MegaCLI/MegaCli",
    "MegaCli64",
    "MegaCli",
    "megacli",
    "megacli64",
    "CmdTool2_64",
    "CmdTool264",
    "CmdTool2",
    "megaraid-cli",
)
"""Where MegaCli is found: the vendor's packages, then the names under which distributions put it on PATH.
CmdTool2 is Intel's name for the same program. 64-bit first: the 32-bit one may lack its libraries."""

DRIVERS = ("megaraid_sas", "mpi3mr")
"""Kernel drivers of the cards that these tools serve."""


async def kernel_cards(host: Host, drivers: Sequence[str] = DRIVERS) -> int:
    """How many PCI devices these drivers have bound."""
    found = [path for driver in drivers for path in await host.list(f"/sys/bus/pci/drivers/{driver}/*:*:*.*")]
    return len(found)


async def anything(host: Host) -> bool:
    """Whether a tool is installed or the kernel has a card."""
    tools = (*STORCLI_7_PLACES, *STORCLI_7, *STORCLI_8_PLACES, *STORCLI_8, *MEGACLI)
    return host.which(tools) is not None or await kernel_cards(host) > 0
