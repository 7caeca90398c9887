"""Mainboards of the simulated hosts, and their PCI functions and SCSI hosts in sysfs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.rack import Rack
from backends.values import dataclass

AHCI_HOST = 8
"""SCSI host number of the mainboard's first SATA port or, if the SATA drives are attached to an HBA, of this HBA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chassis:
    """Mainboard of a host, without adapters."""

    processor: str
    """Model name in /proc/cpuinfo."""
    mhz: int
    """Processor clock in MHz."""
    ahci: str
    """PCI address of the SATA controller."""
    lists_ahci: bool = True
    """True if the SATA controller appears in sysfs."""
    hba: str = ""
    """PCI address of the SAS adapter that the SATA drives are attached to instead, or ""."""


_GOLD = Chassis(processor="Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", mhz=3000, ahci="0000:00:17.0")
_X5680 = Chassis(processor="Intel(R) Xeon(R) CPU X5680 @ 3.33GHz", mhz=3333, ahci="0000:00:1f.2")
CHASSIS: Mapping[str, Chassis] = {
    "lsi": replace(_X5680, lists_ahci=False),
    "hpe": _GOLD,
    "linux": _GOLD,
    "arrays": replace(_GOLD, hba="0000:5e:00.0"),
    "ssds": replace(_X5680, hba="0000:05:00.0"),
}
"""Mainboards by name of the simulated host."""


def folder_of(address: str) -> str:
    """Return the sysfs folder of a PCI function, with links resolved."""
    return f"/sys/devices/pci0000:00/{address}"


SLOT = {
    "numa_node": "0",
    "current_link_speed": "5.0 GT/s PCIe",
    "current_link_width": "8",
    "max_link_speed": "5.0 GT/s PCIe",
    "max_link_width": "8",
    "irq": "16",
}
"""Sysfs files about slot and interrupt, which have the same values for every PCI adapter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PciCard:
    """PCI identification of an adapter model, and its driver."""

    ids: tuple[str, str, str, str]
    """PCI IDs: vendor, device, subsystem vendor and subsystem device."""
    kind: str
    """PCI class."""
    driver: str
    """Kernel driver."""
    version: str
    """Version of the driver module, or ""."""
    speed: str
    """Link speed."""


_ADAPTEC, _SAS3008 = ("9005", "028f"), ("1000", "0097", "1000", "30e0")
_RAID, _SAS, _FIBRE = "010400", "010700", "0c0400"
_SMARTPQI, _MPT3SAS = ("smartpqi", "2.1.18-045"), ("mpt3sas", "43.100.00.00")
_SLOW, _MIDDLE, _FAST, _FASTEST = (f"{rate} GT/s PCIe" for rate in ("2.5", "5.0", "8.0", "16.0"))
CARDS: Mapping[str, PciCard] = {
    model: PciCard(ids=ids, kind=kind, driver=driver, version=version, speed=speed)
    for model, ids, kind, (driver, version), speed in (
        ("HPE Smart Array P408i-a SR Gen10", (*_ADAPTEC, "103c", "0602"), _RAID, _SMARTPQI, _FAST),
        ("Adaptec SmartRAID 3204-8i", (*_ADAPTEC, "9005", "14a1"), _SAS, _SMARTPQI, _FASTEST),
        ("Adaptec 5805", ("9005", "0285", "9005", "02b6"), _RAID, ("aacraid", "1.2.1[50983]-custom"), _SLOW),
        ("9690SA-8I", ("13c1", "1005", "13c1", "1005"), _RAID, ("3w-9xxx", "2.26.02.014"), _SLOW),
        ("ioDrive", ("1aed", "1005", "1aed", "1010"), "018000", ("iomemory-vsl", "3.2.16"), _SLOW),
        ("QLE2562", ("1077", "2532", "103c", "3263"), _FIBRE, ("qla2xxx", "10.02.07.900-k"), _MIDDLE),
        ("SAS9300-8e", _SAS3008, _SAS, _MPT3SAS, _FAST),
        ("SAS9300-8i", _SAS3008, _SAS, _MPT3SAS, _FAST),
        ("AHCI", ("8086", "a182", "1590", "00d2"), "010601", ("ahci", "3.0"), _FAST),
    )
}
"""Adapters by model. The IDs are from the PCI ID repository and the tables in the drivers."""


_SAS_HOST = {"version_fw": "16.00.12.00", "version_bios": "08.37.00.00"}
_HOST_FILES: Mapping[str, Mapping[str, str]] = {
    "QLE2562": {"model_name": "QLE2562", "fw_version": "8.08.207 (d0d5)", "optrom_bios_version": "3.13"},
    "SAS9300-8e": {"board_name": "SAS9300-8e", **_SAS_HOST},
    "SAS9300-8i": {"board_name": "SAS9300-8i", **_SAS_HOST},
}
"""Sysfs files, by adapter model, of an adapter's SCSI host."""


def put_functions(sysfs: SimulatedSysfs, rack: Rack) -> None:
    """Add all PCI adapters of the host."""
    for card in rack.cards:
        address = f"0000:{card.bus:02x}:00.0"
        sysfs.links[f"/sys/bus/pci/drivers/megaraid_sas/{address}"] = f"/sys/devices/{card.bus}"
        sysfs.links[f"/sys/bus/pci/devices/{address}/driver"] = "/sys/bus/pci/drivers/megaraid_sas"
        sysfs.files |= {f"/sys/bus/pci/devices/{address}/{name}": text for name, text in SLOT.items()}
        sysfs.files["/sys/module/megaraid_sas/version"] = "07.719.03.00-rc1"
    for address, model, hosts in _adapters(rack):
        _put(sysfs, address, CARDS[model], hosts)


def _adapters(rack: Rack) -> Iterator[tuple[str, str, dict[int, dict[str, str]]]]:
    """Yield, for each adapter, its PCI address, its key in `CARDS`, and the files of its SCSI hosts by number."""
    for cards in rack.smart.values():
        for card in cards:
            fields = {
                "model": card.model.removeprefix("HPE Smart Array ").removeprefix("Adaptec "),
                "firmware_version": card.firmware,
                "serial_number": card.serial,
            }
            yield card.pci, card.model, {card.host: {**fields, "can_queue": "1014"}}
    for threeware in rack.threeware:
        yield threeware.pci, threeware.model, {threeware.host: {"can_queue": "254"}}
    for module in rack.flash:
        if module.driver:
            yield f"0000:{module.pci}", "ioDrive", {}
    for disk in rack.pathed:
        model = "QLE2562" if disk.transport == "rport" else "SAS9300-8e"
        for address, host in dict(zip(disk.pci, disk.hosts, strict=True)).items():
            yield address, model, {host: {**_HOST_FILES[model], "can_queue": "2048"}}
    chassis = CHASSIS[rack.name]
    if rack.sata and chassis.hba:
        yield chassis.hba, "SAS9300-8i", {AHCI_HOST: {**_HOST_FILES["SAS9300-8i"], "can_queue": "9664"}}
    elif rack.sata and chassis.lists_ahci:
        ports = range(AHCI_HOST, AHCI_HOST + len(rack.sata))
        yield chassis.ahci, "AHCI", {port: {"can_queue": "32"} for port in ports}


def _put(sysfs: SimulatedSysfs, address: str, card: PciCard, hosts: Mapping[int, Mapping[str, str]]) -> None:
    real = folder_of(address)
    base = f"/sys/bus/pci/devices/{address}"
    names = ("vendor", "device", "subsystem_vendor", "subsystem_device")
    texts = {**SLOT, "current_link_speed": card.speed, "max_link_speed": card.speed, "class": f"0x{card.kind}"}
    texts |= {name: f"0x{text}" for name, text in zip(names, card.ids, strict=True)}
    sysfs.files |= {f"{base}/{name}": text for name, text in texts.items()}
    sysfs.links |= {
        base: real,
        f"{base}/driver": f"/sys/bus/pci/drivers/{card.driver}",
        f"/sys/bus/pci/drivers/{card.driver}/{address}": real,
    }
    if card.version:
        sysfs.files[f"/sys/module/{card.driver.replace('-', '_')}/version"] = card.version
    for number, host_files in hosts.items():
        host_folder = f"/sys/class/scsi_host/host{number}"
        sysfs.links[host_folder] = f"{real}/host{number}/scsi_host/host{number}"
        sysfs.files |= {
            f"{host_folder}/{name}": text for name, text in {"proc_name": card.driver, **host_files}.items()
        }
