"""Finds the kernel disks of logical drives and drives, and the PCI addresses of controllers. No I/O.

A disk matches by world wide name. Otherwise it matches by the device node that the tool reports, if the size agrees and
no world wide name contradicts. For series 2 to 8 it may also match by SCSI address: aacraid shows logical drives on
channel 0 with their number as target (drivers/scsi/aacraid).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from backends.pci import function_of
from backends.topology import Node
from backends.vendors.megaraid.presence import naa
from backends.vendors.smartarray.facts import BayDrive, Family, LogicalDrive

_ADDRESS = re.compile(r"/host\d+/target\d+:\d+:\d+/\d+:(\d+):(\d+):(\d+)/", re.ASCII)
_ROUNDED = 0.01
"""Largest relative error of the rounded sizes that the tools print."""


def volume_node(volume: LogicalDrive, family: Family, pci: str | None, nodes: Iterable[Node]) -> Node | None:
    """Return the kernel disk of a logical drive, or None if no disk matches for certain."""
    disks = [node for node in nodes if node.parent is None]
    if volume.wwn is not None and len(same := [node for node in disks if naa(node) == volume.wwn]) == 1:
        return same[0]
    fitting = [node for node in disks if _fits(node, volume)]
    named = next((node for node in fitting if node.device == volume.device), None)
    if named is not None:
        return named
    placed = [
        node for node in fitting if family is Family.SERIES and pci is not None and _is_at(node, pci, volume.number)
    ]
    return placed[0] if len(placed) == 1 else None


def drive_node(drive: BayDrive, nodes: Iterable[Node]) -> Node | None:
    """Return the kernel disk of a drive that the controller exposes, or None."""
    disks = [node for node in nodes if node.parent is None]
    if drive.wwn is not None and len(same := [node for node in disks if naa(node) == drive.wwn]) == 1:
        return same[0]
    return next((node for node in disks if node.device == drive.device and _fits(node, drive)), None)


def _fits(node: Node, drive: LogicalDrive | BayDrive) -> bool:
    node_wwn = naa(node)
    if node_wwn is not None and drive.wwn is not None and node_wwn != drive.wwn:
        return False
    size, number = node.size_bytes, drive.size_bytes
    return size is not None and number is not None and abs(size - number) <= _ROUNDED * max(size, number)


def _is_at(node: Node, pci: str, number: int) -> bool:
    match = _ADDRESS.search(node.path or "")
    return f"/{pci}/" in (node.path or "") and match is not None and match.groups() == ("0", str(number), "0")


def pci_address(output: str | None, addresses: Collection[str]) -> str | None:
    """Return a controller's PCI address in the kernel's format.

    It is the address in the tool's `output`, or else the only one in `addresses`; None if neither exists.
    """
    return function_of(output) or (next(iter(addresses)) if len(addresses) == 1 else None)
