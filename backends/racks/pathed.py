"""A disk of the simulated host that the kernel reaches on several paths, and the multipath disk made of them."""

from __future__ import annotations

from backends.values import dataclass


@dataclass(slots=True, kw_only=True)
class PathedDisk:
    """One disk behind several ports."""

    device: str
    """Kernel name of the multipath disk, `dm-0`."""
    alias: str
    """Its name below /dev/mapper."""
    paths: tuple[str, ...]
    """Kernel names of the SCSI disks that are its paths."""
    hosts: tuple[int, ...]
    """SCSI host of each."""
    pci: tuple[str, ...]
    """PCI function of each."""
    lun: int
    """Number of the unit."""
    wwn: str
    """World wide name, 32 hex digits or 16."""
    vendor: str
    """SCSI vendor."""
    product: str
    """SCSI product."""
    model: str = ""
    """Key of `DRIVES`; "" for a logical drive of a disk system."""
    rev: str = "0736"
    """Revision."""
    transport: str = "rport"
    """`rport` for Fibre Channel, `sas`."""
