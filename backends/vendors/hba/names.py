"""Names of controllers: from the driver, lspci or a small table, else the PCI ids. Only running lspci is I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from backends.host import Command, Host
from backends.model import Problem
from backends.text import clean
from backends.tool_output import CompletenessCheck, run_checked, truncation_problem
from backends.values import dataclass
from backends.vendors.hba.functions import MODEL, Function

VENDORS: Mapping[str, str] = {
    "1000": "Broadcom / LSI",
    "1014": "IBM",
    "1022": "AMD",
    "1028": "Dell",
    "103c": "HPE",
    "1077": "QLogic",
    "1095": "Silicon Image",
    "10df": "Emulex",
    "1103": "HighPoint",
    "13c1": "3ware",
    "1590": "HPE",
    "17d3": "Areca",
    "197b": "JMicron",
    "1aed": "SanDisk / Fusion-io",
    "1af4": "Red Hat",
    "1b21": "ASMedia",
    "1b4b": "Marvell",
    "8086": "Intel",
    "9005": "Adaptec / Microchip",
}
"""Vendors of storage controllers by PCI vendor id (the PCI ID repository)."""

CHIPS: Mapping[tuple[str, str], str] = {
    ("1000", "005b"): "MegaRAID SAS 2208",
    ("1000", "005d"): "MegaRAID SAS-3 3108",
    ("1000", "005f"): "MegaRAID SAS-3 3008",
    ("1000", "0014"): "MegaRAID Tri-Mode SAS3516",
    ("1000", "0015"): "MegaRAID Tri-Mode SAS3416",
    ("1000", "0016"): "MegaRAID Tri-Mode SAS3508",
    ("1000", "0017"): "MegaRAID Tri-Mode SAS3408",
    ("1000", "0060"): "MegaRAID SAS 1078",
    ("1000", "0064"): "SAS2116 Meteor",
    ("1000", "0072"): "SAS2008 Falcon",
    ("1000", "0073"): "MegaRAID SAS 2008",
    ("1000", "0079"): "MegaRAID SAS 2108",
    ("1000", "0086"): "SAS2308 Mustang",
    ("1000", "0087"): "SAS2308 Mustang",
    ("1000", "0096"): "SAS3004",
    ("1000", "0097"): "SAS3008 Fury",
    ("1000", "00a5"): "SAS4116 tri-mode",
    ("1000", "00ac"): "SAS3416 tri-mode",
    ("1000", "00af"): "SAS3408 tri-mode",
    ("1000", "00c4"): "SAS3224",
    ("1000", "00c9"): "SAS3216",
    ("1000", "00e6"): "SAS38xx tri-mode",
    ("1000", "10e1"): "MegaRAID 12Gb SAS39xx",
    ("1000", "10e2"): "MegaRAID 12Gb SAS39xx",
    ("1000", "10e5"): "MegaRAID 12Gb SAS38xx",
    ("1000", "10e6"): "MegaRAID 12Gb SAS38xx",
    ("103c", "323b"): "Smart Array Gen8",
    ("103c", "3239"): "Smart Array Gen9",
    ("9005", "028b"): "Series 6",
    ("9005", "028c"): "Series 7",
    ("9005", "028d"): "Series 8",
    ("9005", "028f"): "Smart Storage PQI SAS",
    ("13c1", "1004"): "9650SE",
    ("13c1", "1005"): "9690SA",
    ("13c1", "1010"): "9750",
    ("1af4", "1004"): "Virtio SCSI",
    ("1af4", "1048"): "Virtio SCSI",
    ("8086", "2922"): "ICH9 SATA (AHCI)",
    ("8086", "a182"): "C620 SATA (AHCI)",
    ("8086", "201d"): "Volume Management Device",
    ("8086", "28c0"): "Volume Management Device",
    ("8086", "9a0b"): "Volume Management Device",
}
"""Common chips by vendor and device id (the PCI ID repository), for machines without lspci."""

_NAMED_BY_BOARD = ("0100", "0104", "0107", "0180", "0c04")
"""PCI classes whose subsystem ids name the board. For a chipset's SATA controller they would name the main board."""

_TELLING_BOARDS = ("smartpqi", "aacraid")
"""Drivers that report the model of the board instead of the chip: HPE's controllers have Microchip chips."""

_LINE = re.compile(r"(?P<name>.*) \[(?P<id>[0-9a-f]{4})\]")
_UNNAMED = re.compile(r"Device [0-9a-f]{4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionNames:
    """Names of a PCI function; a name is None if lspci has none."""

    vendor: str | None = None
    """Vendor of the chip."""
    device: str | None = None
    """Name of the chip."""
    board_vendor: str | None = None
    """Vendor of the board."""
    board: str | None = None
    """Name of the board."""


WHOLE = CompletenessCheck(
    tool="lspci -vmm",
    mark="an empty line after the last record, and a record of every controller of the kernel",
    missing=lambda text: "" if text.endswith("\n\n") else "the last record may be incomplete",
    statuses=frozenset(),
)


async def names(host: Host, addresses: Iterable[str]) -> tuple[Mapping[str, FunctionNames], tuple[Problem, ...]]:
    """Return lspci's names by address, and a problem if lspci does not name all of these addresses.

    A controller that lspci does not name is shown with the name of its chip instead of its board. Without lspci, the
    result is empty.
    """
    program = host.which(("lspci",))
    if program is None:
        return {}, ()
    command = Command(argv=(program, "-D", "-nn", "-vmm"), timeout=20)
    tool_output = await run_checked(host, WHOLE, command, "hba")
    by_address = parse_lspci(tool_output.text.rpartition("\n\n")[0] if tool_output.cut else tool_output.text)
    unnamed = [address for address in addresses if address not in by_address]
    problem = tool_output.problem
    if problem is None and unnamed:
        problem = truncation_problem("hba", command, f"{unnamed[0]} is not in it")
    if problem is None or not unnamed:
        return by_address, ()
    text = f"{problem.message} {', '.join(unnamed)}: called by the chip, not by the board."
    return by_address, (Problem(where=problem.where, message=text, hint=problem.hint),)


def parse_lspci(text: str) -> dict[str, FunctionNames]:
    """Return the names by address from `lspci -D -nn -vmm`: records of `Key:<tab>Value`, separated by empty lines."""
    by_address: dict[str, FunctionNames] = {}
    for record in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        for line in record.splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
        address = fields.get("Slot", "")
        if address:
            by_address[clean(address, 32)] = FunctionNames(
                vendor=_name(fields.get("Vendor")),
                device=_name(fields.get("Device")),
                board_vendor=_name(fields.get("SVendor")),
                board=_name(fields.get("SDevice")),
            )
    return by_address


def _name(text: str | None) -> str | None:
    """Return the name that precedes the id, or None if there is only the id."""
    match = _LINE.fullmatch(text or "")
    name = clean(match["name"] if match is not None else text or "")
    return None if not name or _UNNAMED.fullmatch(name) else name


def model(function: Function, named: FunctionNames) -> str:
    """Return the display name of the controller."""
    board = named.board if function.kind in _NAMED_BY_BOARD and function.subsystem_vendor != "1af4" else None
    of_board = board or (function.driver in _TELLING_BOARDS and function.attribute(MODEL))
    maker, number = (named.board_vendor, function.subsystem_vendor) if of_board else (named.vendor, function.vendor)
    chip = named.device or CHIPS.get((function.vendor or "", function.device or ""))
    product = function.attribute(MODEL) or board or chip or f"[{ids(function)}]"
    maker_name = VENDORS.get(number or "") or maker
    return (
        product
        if maker_name is None or product.lower().startswith(maker_name.split()[0].lower())
        else f"{maker_name} {product}"
    )


def ids(function: Function) -> str:
    """Return the PCI ids of the chip, and of the board if it has any: `1000:0079 (1000:9261)`."""
    chip = f"{function.vendor or '?'}:{function.device or '?'}"
    if function.subsystem_vendor in (None, "0000"):
        return chip
    return f"{chip} ({function.subsystem_vendor}:{function.subsystem_device or '?'})"
