"""3ware controllers, accessed through tw_cli: its locations, its commands, and the check for complete output."""

from backends.protocol import RootReads, Vendor, lazy_backend, present_if_found
from backends.tool_output import CompletenessCheck, line_end

PLACES = ("/opt/3ware/CLI/tw_cli", "tw_cli", "tw-cli")
"""Names and paths of the program."""

POLICIES = ("storsave", "qpolicy")
"""Keys of the unit settings that none of tw_cli's tables contains. The keys are also the arguments of its `show`."""

READS = (
    ("info",),
    ("info", r"c\d{1,3}", "unitstatus|drivestatus|bbustatus"),
    (r"/c\d{1,3}/u\d{1,4}", "show", "|".join((*POLICIES, "all"))),
    (r"/c\d{1,3}/p\d{1,4}", "show", "serial"),
)
"""Commands that only read, as a pattern for each argument."""

WHOLE = CompletenessCheck(
    tool="tw_cli",
    mark="as many units and drives as `info` counts, the battery if `info` names one, as many controllers as the "
    "kernel has",
    missing=line_end,
    hides="ports without a drive",
    statuses=frozenset(),
)
"""How to detect truncated output. tw_cli prints no end marker, so `missing_rows` compares the numbers of parsed rows
with those that `info` reports."""

ROOT_READS: RootReads = {PLACES: READS}
"""Commands that the root helper runs for a user. All of them only read."""

CARDS = "/sys/bus/pci/drivers/3w-*/*:*"
"""Pattern of the PCI devices that are bound to the kernel drivers 3w-9xxx, 3w-sas and 3w-xxxx."""


VENDOR = Vendor(
    name="threeware",
    backend=lazy_backend("backends.vendors.threeware.backend:Threeware"),
    present=present_if_found(CARDS, programs=PLACES),
    drivers=("3w-9xxx", "3w-sas", "3w-xxxx"),
    declares=("backends.vendors.threeware.settings:UNIT_SETTINGS",),
    root_reads="backends.vendors.threeware:ROOT_READS",
)
"""Vendor entry that the registry finds."""
