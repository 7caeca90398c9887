"""3ware cards, through tw_cli: where that may be, what it is asked, and how its whole answers are known."""

from backends.host import Host
from backends.protocol import RootReads, Vendor, lazy_backend
from backends.tool_output import CompletenessCheck, line_end

PLACES = ("/opt/3ware/CLI/tw_cli", "tw_cli", "tw-cli")
"""Where the program is looked for."""

POLICIES = ("storsave", "qpolicy")
"""Settings of a unit that no table tells: their keys, which are the words behind `show` too."""

READS = (
    ("info",),
    ("info", r"c\d{1,3}", "unitstatus|drivestatus|bbustatus"),
    (r"/c\d{1,3}/u\d{1,4}", "show", "|".join((*POLICIES, "all"))),
    (r"/c\d{1,3}/p\d{1,4}", "show", "serial"),
)
"""What it is asked, as patterns for each word."""

WHOLE = CompletenessCheck(
    tool="tw_cli",
    mark="as many units and drives as `info` counts, a battery where it names one, as many cards as the kernel has",
    missing=line_end,
    hides="ports of which the drive is gone",
    statuses=frozenset(),
)
"""No answer has an end of its own; the counts are compared where the rows are known (`missing_rows`)."""

ROOT_READS: RootReads = {PLACES: READS}
"""What root starts for a user: it reads, and changes nothing."""

CARDS = "/sys/bus/pci/drivers/3w-*/*:*"
"""What the kernel's drivers 3w-9xxx, 3w-sas and 3w-xxxx have taken."""


async def anything(host: Host) -> bool:
    """Return whether the tool is installed, or the kernel has a card."""
    return host.which(PLACES) is not None or bool(await host.list(CARDS))


VENDOR = Vendor(
    name="threeware",
    backend=lazy_backend("backends.vendors.threeware.backend:Threeware"),
    present=anything,
    drivers=("3w-9xxx", "3w-sas", "3w-xxxx"),
    declares=("backends.vendors.threeware.settings:UNIT_SETTINGS",),
    root_reads="backends.vendors.threeware:ROOT_READS",
)
"""Found by the registry."""
