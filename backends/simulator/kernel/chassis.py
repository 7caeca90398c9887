"""What the simulated hosts are called, and what is on their mainboards."""

from __future__ import annotations

from collections.abc import Mapping

from backends.values import dataclass

AHCI_HOST = 8
"""SCSI host number of the mainboard's first SATA port, or of the HBA in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chassis:
    """One host without its cards."""

    processor: str
    """As /proc/cpuinfo has it."""
    mhz: int
    """Clock."""
    ahci: str
    """PCI address of its SATA controller."""
    lists_ahci: bool = True
    """Whether that is told as a controller of its own."""
    hba: str = ""
    """PCI address of the SAS adapter that the SATA drives hang from instead; "" for none."""


CHASSIS: Mapping[str, Chassis] = {
    "lsi": Chassis(
        processor="Intel(R) Xeon(R) CPU X5680 @ 3.33GHz",
        mhz=3333,
        ahci="0000:00:1f.2",
        lists_ahci=False,
    ),
    "hpe": Chassis(processor="Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", mhz=3000, ahci="0000:00:17.0"),
    "linux": Chassis(processor="Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", mhz=3000, ahci="0000:00:17.0"),
    "arrays": Chassis(
        processor="Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", mhz=3000, ahci="0000:00:17.0", hba="0000:5e:00.0"
    ),
    "ssds": Chassis(
        processor="Intel(R) Xeon(R) CPU X5680 @ 3.33GHz", mhz=3333, ahci="0000:00:1f.2", hba="0000:05:00.0"
    ),
}
"""By the rack's name."""


def folder_of(address: str) -> str:
    """Where a PCI function lies in sysfs, links resolved."""
    return f"/sys/devices/pci0000:00/{address}"
