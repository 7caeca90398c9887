"""Which block device of the kernel is which virtual drive or JBOD drive. Pure.

By the name that the tool gives, if the world wide names do not contradict; else by world wide name; else by SCSI
address: megaraid_sas shows virtual drives on channel 2 with their number as target (drivers/scsi/megaraid).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.topology import Node
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive

_ADDRESS = re.compile(r"/host(\d+)/target\d+:\d+:\d+/(\d+):(\d+):(\d+):(\d+)/")
_PCI = re.compile(r"(?:([0-9a-f]{2,4}):)?([0-9a-f]{2}):([0-9a-f]{2})[:.]0?([0-7])", re.IGNORECASE | re.ASCII)
_CHANNELS = (2, 3)
"""Channels on which megaraid_sas shows virtual drives (MEGASAS_MAX_PD_CHANNELS = 2 come first)."""


def volume_node(volume: VirtualDrive, card: Card, nodes: Iterable[Node]) -> Node | None:
    """The disk that this virtual drive is; None if none is it for certain."""
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
    """The disk that a drive is which the card passes through; None for members of virtual drives."""
    if drive.wwn is None:
        return None
    same = [node for node in nodes if node.parent is None and naa(node) == drive.wwn]
    return same[0] if len(same) == 1 else None


def naa(node: Node) -> str | None:
    """World wide name of a disk in lower case, without prefix."""
    own = node.attributes.get("device/wwid", "") or node.attributes.get("wwid", "")
    known = node.udev.get("ID_WWN_WITH_EXTENSION", "") or node.udev.get("ID_WWN", "")
    text = own if own.startswith("naa.") else known
    return text.removeprefix("naa.").removeprefix("0x").lower() or None


def _contradicts(node: Node, wwn: str | None) -> bool:
    own = naa(node)
    return own is not None and wwn is not None and own != wwn


def _is_at(node: Node, volume: VirtualDrive, card: Card) -> bool:
    """Whether it sits at the SCSI address of this virtual drive on this very card."""
    found = _ADDRESS.search(node.path or "")
    if found is None or int(found[3]) not in _CHANNELS or int(found[4]) != volume.number or int(found[5]) != 0:
        return False
    if card.host_number is not None:
        return int(found[1]) == card.host_number
    slot = pci_slot(card.pci)
    return slot is not None and f":{slot}/" in (node.path or "")


def pci_address(text: str | None) -> str | None:
    """The same with its domain, as the kernel writes it: `0000:c1:00.0`; else None."""
    found = _PCI.fullmatch(text.strip()) if text is not None else None
    return f"{found[1] or '':0>4}:{pci_slot(text)}".lower() if found is not None else None


def pci_slot(text: str | None) -> str | None:
    """`00:c1:00:00`, `0000:c1:00.0` or `c1:00.0` as sysfs has it behind the domain: `c1:00.0`; else None."""
    found = _PCI.fullmatch(text.strip()) if text is not None else None
    return f"{found[2]}:{found[3]}.{found[4]}".lower() if found is not None else None
