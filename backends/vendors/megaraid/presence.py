"""Presence check: is a tool installed, or a controller bound to a matching kernel driver? Cheap to import.

Also finds the kernel disk of a virtual drive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from backends.host import Host
from backends.pci import function_of
from backends.protocol import RootReads
from backends.topology import Node
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive

STORCLI_7 = ("storcli64", "storcli", "perccli64", "perccli")
"""Names of storcli and perccli version 7 on PATH."""

STORCLI_7_PLACES = (
    "/opt/MegaRAID/storcli/storcli64",
    "/opt/MegaRAID/perccli/perccli64",
    "/opt/hpe/storcli/storcli64",
    "/opt/lsi/storcli/storcli",
)
"""Paths at which packages install storcli and perccli version 7."""

STORCLI_8 = ("storcli2", "perccli2")
"""Names of storcli and perccli version 8 on PATH."""

STORCLI_8_PLACES = ("/opt/MegaRAID/storcli2/storcli2", "/opt/MegaRAID/perccli2/perccli2")
"""Paths at which packages install storcli and perccli version 8."""

MEGACLI_PLACES = (
    "/opt/MegaRAID/MegaCli/MegaCli64",
    "/opt/MegaRAID/MegaCli/MegaCli",
    "/opt/MegaRAID/CmdTool2/CmdTool2_64",
    "/opt/MegaRAID/CmdTool2/CmdTool264",
    "/opt/MegaRAID/CmdTool2/CmdTool2",
    "/opt/lsi/MegaCLI/MegaCli64",
    "/opt/lsi/MegaCLI/MegaCli",
)
"""Paths where the vendor's packages install MegaCli. The 64-bit program comes first, because libraries for the 32-bit
one may be missing."""

MEGACLI = (
    "MegaCli64",
    "MegaCli",
    "megacli",
    "megacli64",
    "CmdTool2_64",
    "CmdTool264",
    "CmdTool2",
    "megaraid-cli",
)
"""Names under which distributions put MegaCli on PATH. CmdTool2 is Intel's name for the same program."""

DRIVERS = ("megaraid_sas", "mpi3mr")
"""Kernel drivers of the controllers that these tools manage."""


async def kernel_cards(host: Host, drivers: Sequence[str] = DRIVERS) -> int:
    """Return the number of PCI devices bound to these drivers."""
    paths = [path for driver in drivers for path in await host.list(f"/sys/bus/pci/drivers/{driver}/*:*:*.*")]
    return len(paths)


async def is_present(host: Host) -> bool:
    """Return whether a tool is installed, or a controller is bound to one of the kernel drivers."""
    tools = (*STORCLI_7_PLACES, *STORCLI_7, *STORCLI_8_PLACES, *STORCLI_8, *MEGACLI_PLACES, *MEGACLI)
    return host.which(tools) is not None or await kernel_cards(host) > 0


# A kernel disk matches a virtual drive if the tool reports its device node and the world wide names do not contradict.
# Otherwise it matches by world wide name, or by SCSI address: megaraid_sas shows virtual drives on channel 2 with their
# number as target (drivers/scsi/megaraid).

_ADDRESS = re.compile(r"/host(\d+)/target\d+:\d+:\d+/(\d+):(\d+):(\d+):(\d+)/", re.ASCII)
_CHANNELS = (2, 3)
"""Channels on which megaraid_sas shows virtual drives. Channels 0 and 1 are for physical drives
(MEGASAS_MAX_PD_CHANNELS = 2)."""


def volume_node(volume: VirtualDrive, card: Card, nodes: Iterable[Node]) -> Node | None:
    """Return the kernel disk of a virtual drive, or None if no disk matches for certain."""
    disks = [node for node in nodes if node.parent is None]
    named = next((node for node in disks if node.device == volume.os_device), None)
    if named is not None and not _contradicts(named, volume.wwn):
        return named
    if volume.wwn is not None:
        same = [node for node in disks if naa(node) == volume.wwn]
        if len(same) == 1:
            return same[0]
    placed = [node for node in disks if _is_at(node, volume, card) and not _contradicts(node, volume.wwn)]
    return placed[0] if len(placed) == 1 else None


def drive_node(drive: PhysicalDrive, nodes: Iterable[Node]) -> Node | None:
    """Return the kernel disk of a drive that the controller passes through; None for members of virtual drives."""
    if drive.wwn is None:
        return None
    same = [node for node in nodes if node.parent is None and naa(node) == drive.wwn]
    return same[0] if len(same) == 1 else None


def naa(node: Node) -> str | None:
    """Return the world wide name of a disk in lower case, without prefix."""
    kernel_wwn = node.attributes.get("device/wwid", "") or node.attributes.get("wwid", "")
    udev_wwn = node.udev.get("ID_WWN_WITH_EXTENSION", "") or node.udev.get("ID_WWN", "")
    text = kernel_wwn if kernel_wwn.startswith("naa.") else udev_wwn
    return text.removeprefix("naa.").removeprefix("0x").lower() or None


def _contradicts(node: Node, wwn: str | None) -> bool:
    node_wwn = naa(node)
    return node_wwn is not None and wwn is not None and node_wwn != wwn


def _is_at(node: Node, volume: VirtualDrive, card: Card) -> bool:
    """Return whether the disk is at the SCSI address of this virtual drive on this controller."""
    match = _ADDRESS.search(node.path or "")
    if match is None or int(match[3]) not in _CHANNELS or int(match[4]) != volume.number or int(match[5]) != 0:
        return False
    if card.host_number is not None:
        return int(match[1]) == card.host_number
    slot = (function_of(card.pci) or "").partition(":")[2]  # not every tool reports the PCI domain, so it is left out
    return bool(slot) and f":{slot}/" in (node.path or "")


_ANY_CARD = r"-a\d{1,3}"
_CARD = r"/c\d{1,3}"
_PROPERTIES = "patrolread|cc|perfmode|aso|ncq|copyback|cachebypass"

_STORCLI = (
    ("show",),
    (_CARD, "show"),
    (_CARD, "show", f"all|{_PROPERTIES}"),
    (rf"{_CARD}/(vall|v\d{{1,4}})", "show"),
    (rf"{_CARD}/(vall|v\d{{1,4}})", "show", "all|autobgi"),
    (rf"{_CARD}(/eall)?/sall", "show"),
    (rf"{_CARD}(/eall)?/sall", "show", "all|rebuild"),
    (rf"{_CARD}/(cv|bbu)", "show", "all"),
)

_MEGACLI = (
    ("-v",),
    ("-adpCount",),
    ("-AdpAllInfo", f"-aALL|{_ANY_CARD}"),
    ("-AdpGetPciInfo|-LdPdInfo|-PDList|-AdpBbuCmd", _ANY_CARD),
    ("-LDInfo", "-LALL", _ANY_CARD),
    ("-ELF", "-ControllerFeatures", _ANY_CARD),
    ("-AdpPR|-AdpCcSched", "-Info", _ANY_CARD),
    ("-AdpGetProp", "NCQDsply", _ANY_CARD),
    ("-LDBI", "-GetSetting", "-LALL", _ANY_CARD),
    ("-LDInit|-LDBI|-LDCC", "-ShowProg", "-LALL", _ANY_CARD),
    ("-PDRbld", "-ShowProg", r"-PhysDrv\[\d{0,5}:\d{1,5}(,\d{0,5}:\d{1,5}){0,255}\]", _ANY_CARD),
)

ROOT_READS: RootReads = {
    (*STORCLI_7, *STORCLI_7_PLACES, *STORCLI_8, *STORCLI_8_PLACES): tuple(
        (*words, *ending) for words in _STORCLI for ending in (("J", "nolog"), ("J",))
    ),
    (*MEGACLI_PLACES, *MEGACLI): tuple((*words, "-NoLog") for words in _MEGACLI),
}
"""Arguments, by program, of the commands that the root helper may run for a user. All of them only read."""
