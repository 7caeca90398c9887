"""PCI functions of the simulated hosts: what sysfs says of each, and of its SCSI hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from backends.simulator.kernel.chassis import AHCI_HOST, CHASSIS, folder_of
from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.rack import Rack
from backends.values import dataclass

SLOT = {
    "numa_node": "0",
    "current_link_speed": "5.0 GT/s PCIe",
    "current_link_width": "8",
    "max_link_speed": "5.0 GT/s PCIe",
    "max_link_width": "8",
    "irq": "16",
}
"""What sysfs says of the slot of a card, and of the line of its interrupt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PciCard:
    """A model of card as the PCI bus tells it, and what its driver says of it."""

    ids: tuple[str, str, str, str]
    """Vendor, device, subsystem vendor, subsystem device."""
    kind: str
    """Class."""
    driver: str
    """Kernel driver."""
    version: str
    """That of its module; "" if it has none of its own."""
    speed: str = "8.0 GT/s PCIe"
    """Of the link."""
    hosts: tuple[int, ...] = ()
    """SCSI hosts, where the rack's own things do not say."""
    says: Mapping[str, str] = field(default_factory=dict)
    """Files of its SCSI hosts."""


_SMARTPQI = "2.1.18-045"

CARDS: Mapping[str, PciCard] = {
    "HPE Smart Array P408i-a SR Gen10": PciCard(
        ids=("9005", "028f", "103c", "0602"), kind="010400", driver="smartpqi", version=_SMARTPQI
    ),
    "Adaptec SmartRAID 3204-8i": PciCard(
        ids=("9005", "028f", "9005", "14a1"),
        kind="010700",
        driver="smartpqi",
        version=_SMARTPQI,
        speed="16.0 GT/s PCIe",
    ),
    "Adaptec 5805": PciCard(
        ids=("9005", "0285", "9005", "02b6"),
        kind="010400",
        driver="aacraid",
        version="1.2.1[50983]-custom",
        speed="2.5 GT/s PCIe",
    ),
    "9690SA-8I": PciCard(
        ids=("13c1", "1005", "13c1", "1005"),
        kind="010400",
        driver="3w-9xxx",
        version="2.26.02.014",
        speed="2.5 GT/s PCIe",
    ),
    "ioDrive": PciCard(
        ids=("1aed", "1005", "1aed", "1010"),
        kind="018000",
        driver="iomemory-vsl",
        version="3.2.16",
        speed="2.5 GT/s PCIe",
    ),
    "QLE2562": PciCard(
        ids=("1077", "2532", "103c", "3263"),
        kind="0c0400",
        driver="qla2xxx",
        version="10.02.07.900-k",
        speed="5.0 GT/s PCIe",
        says={"model_name": "QLE2562", "fw_version": "8.08.207 (d0d5)", "optrom_bios_version": "3.13"},
    ),
    "SAS9300-8e": PciCard(
        ids=("1000", "0097", "1000", "30e0"),
        kind="010700",
        driver="mpt3sas",
        version="43.100.00.00",
        says={"board_name": "SAS9300-8e", "version_fw": "16.00.12.00", "version_bios": "08.37.00.00"},
    ),
    "SAS9300-8i": PciCard(
        ids=("1000", "0097", "1000", "30e0"),
        kind="010700",
        driver="mpt3sas",
        version="43.100.00.00",
        says={"board_name": "SAS9300-8i", "version_fw": "16.00.12.00", "version_bios": "08.37.00.00"},
    ),
    "AHCI": PciCard(ids=("8086", "a182", "1590", "00d2"), kind="010601", driver="ahci", version="3.0"),
}
"""By model. Ids of the PCI ID repository and of the drivers' tables."""


def put_functions(sysfs: SimulatedSysfs, rack: Rack) -> None:
    """Everything of the rack that sits on the PCI bus."""
    for card in rack.cards:
        address = f"0000:{card.bus:02x}:00.0"
        sysfs.links[f"/sys/bus/pci/drivers/megaraid_sas/{address}"] = f"/sys/devices/{card.bus}"
        sysfs.links[f"/sys/bus/pci/devices/{address}/driver"] = "/sys/bus/pci/drivers/megaraid_sas"
        sysfs.files |= {f"/sys/bus/pci/devices/{address}/{name}": text for name, text in SLOT.items()}
        sysfs.files["/sys/module/megaraid_sas/version"] = "07.719.03.00-rc1"
    for address, model, hosts in _named(rack):
        _put(sysfs, address, CARDS[model], hosts)


def _named(rack: Rack) -> Iterator[tuple[str, str, dict[int, dict[str, str]]]]:
    """Address, key of `CARDS` and what is said of each SCSI host."""
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
            yield address, model, {host: {**CARDS[model].says, "can_queue": "2048"}}
    chassis = CHASSIS[rack.name]
    if rack.sata and chassis.hba:
        yield chassis.hba, "SAS9300-8i", {AHCI_HOST: {**CARDS["SAS9300-8i"].says, "can_queue": "9664"}}
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
    for number, says in hosts.items():
        own = f"/sys/class/scsi_host/host{number}"
        sysfs.links[own] = f"{real}/host{number}/scsi_host/host{number}"
        sysfs.files |= {f"{own}/{name}": text for name, text in {"proc_name": card.driver, **says}.items()}
