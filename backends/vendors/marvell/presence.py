"""Presence check, commands and completeness checks of mvcli and mnv_cli, and the parser for their records.

Only an installed program indicates that the host may have such a controller, because the controllers use the drivers of
all SATA ports (ahci) and NVMe drives (nvme).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.host import Host
from backends.protocol import RootReads
from backends.text import clean
from backends.tool_output import CompletenessCheck

PLACES = ("/opt/marvell/bin/mvcli", "/opt/dell/mvcli/mvcli", "mvcli")
"""Paths and names of the program, in the order of the search."""

NVME_PLACES = ("/opt/marvell/bin/mnv_cli", "/opt/dell/mnv_cli/mnv_cli", "mnv_cli")
"""Paths and names of the program for NVMe boot controllers (Dell BOSS-N1, HPE NS204i, Lenovo M.2 RAID kits)."""

READS = (("info", "-o", "hba"), ("info", "-o", "vd"), ("info", "-o", "pd"))
"""Arguments of the commands about controllers, virtual disks and drives."""


def _last_label_check(label: str, subject: str, program: str = "mvcli", *, head: str = "") -> CompletenessCheck:
    """Return a check that output contains `label`, which is the last label of the output in all recordings.

    `head`: label that starts each record, if the line with `label` states the number of records; the check then
    compares that number with the records.
    """
    shape = re.compile(rf"^{re.escape(label)}:[ \t]*(\d{{0,4}})", re.ASCII | re.MULTILINE)
    heads = re.compile(rf"^[ \t]*{re.escape(head)}:", re.IGNORECASE | re.MULTILINE)

    def missing(text: str) -> str:
        last = shape.search(text)
        if last is None:
            return f"`{label}` is missing"
        listed = len(heads.findall(text)) if head else 0
        return f"it counts {last[1]} and lists {listed}" if head and last[1] and listed < int(last[1]) else ""

    return CompletenessCheck(
        tool=f"{program} info -o {subject}",
        mark=f"a line `{label}:`" + (", and as many records as it counts" if head else ""),
        missing=missing,
        statuses=frozenset(),
    )


CARDS = _last_label_check("HBA info image health", "hba")
VOLUMES = _last_label_check("Total # of VD", "vd", head="id")
DISKS = _last_label_check("Total # of PD", "pd", head="PD ID")
NVME_CARDS = _last_label_check("Total # of HBA", "hba", "mnv_cli", head="Bus Device Fun")
NVME_VOLUMES = _last_label_check("Total # of VD", "vd", "mnv_cli", head="VD ID")
NVME_DISKS = _last_label_check("Total # of PD", "pd", "mnv_cli", head="PD ID")

_FROM_C7 = re.compile(r"^(?:C[7-9A-F]|[DEF][0-9A-F]) [^\n]{20,200}\n", re.ASCII | re.MULTILINE)

SMART = CompletenessCheck(
    tool="mvcli smart",
    mark="a complete row of attribute C7 or a later one",
    missing=lambda text: "" if _FROM_C7.search(text) else "its attributes from C7 on are missing",
    statuses=frozenset(),
    hides="an attribute after C7 that is at its threshold",
)
DRIVE_READ = ("smart", "-p", r"\d{1,3}")
"""Arguments of the command about one drive, as patterns."""


async def on_bus(host: Host) -> bool:
    """Return whether the host has a Marvell SATA controller (PCI vendor 1b4b, driver ahci)."""
    paths = [f"{path}/vendor" for path in await host.list("/sys/bus/pci/drivers/ahci/*:*:*.*")]
    return "0x1b4b" in {text.strip() for text in (await host.read_many(paths)).values()}


NAME = "marvell"
"""Prefix of the targets of this backend."""

LINES = 4000
"""Maximum number of lines to parse, more than any controller prints."""


def records(text: str, *firsts: str) -> tuple[Mapping[str, str], ...]:
    """Return the records that start with one of these labels, as values by label in lower case.

    Text before the first record is skipped.
    """
    listed_records: list[dict[str, str]] = []
    for line in text.splitlines()[:LINES]:
        key, colon, value = line.partition(":")
        label = clean(key).lower()
        if not colon or not 0 < len(label) <= 40:
            continue
        if label in firsts:
            listed_records.append({})
        if listed_records:
            listed_records[-1].setdefault(label, clean(value))
    return tuple(listed_records)


ROOT_READS: RootReads = {(*PLACES, *NVME_PLACES): (*READS, DRIVE_READ)}
"""Commands that the root helper runs for a user. All of them only read."""
