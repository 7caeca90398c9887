"""Storage controllers of the PCI bus with their SCSI hosts, read from sysfs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import field

from backends.host import Host
from backends.pci import DEVICES, SLOT, Link, link_of, node_of, version_of
from backends.text import clean
from backends.values import dataclass

KINDS: Mapping[str, str] = {
    "0100": "SCSI controller",
    "0101": "IDE controller",
    "0104": "RAID controller",
    "0105": "ATA controller",
    "0106": "SATA controller",
    "0107": "SAS controller",
    "0180": "storage controller",
    "0c04": "Fibre Channel adapter",
}
"""Kinds of storage controllers by PCI class and subclass. 0108 (NVMe) is not among them: that function is a drive."""

_DISKS_THEMSELVES = ("virtio_blk", "xen_blkfront")
"""Drivers of functions that are a single disk rather than a controller."""

_ATTRIBUTES = ("vendor", "device", "subsystem_vendor", "subsystem_device", *SLOT)

MODEL = ("board_name", "model_name", "modelname", "model", "host_fw_model")
"""sysfs attributes with the model, of the drivers mpt3sas, qla2xxx, lpfc, smartpqi and aacraid, arcmsr."""

FIRMWARE = (
    "version_fw",
    "fw_version",
    "fwrev",
    "firmware_version",
    "firmware_revision",
    "hba_kernel_version",
    "host_fw_version",
)
"""sysfs attributes with the firmware version, of mpt3sas and mpi3mr, qla2xxx, lpfc, smartpqi, hpsa, aacraid, arcmsr."""

SERIAL = ("board_tracer_number", "board_tracer", "serial_number", "serialnum", "serial_num")
"""sysfs attributes with the serial number, of the drivers mpt3sas, smartpqi and aacraid, lpfc, qla2xxx."""

BIOS = ("version_bios", "optrom_bios_version", "hba_bios_version")
"""sysfs attributes with the BIOS version."""

LIMITS = ("can_queue", "cmd_per_lun", "sg_tablesize", "nr_hw_queues")
"""sysfs attributes with the SCSI layer's limits for a SCSI host.

In this order, they limit commands in flight, commands for one device, segments of a command and hardware queues.
"""

_HOST_ATTRIBUTES = ("proc_name", "state", *MODEL, *FIRMWARE, *SERIAL, *BIOS, *LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScsiHost:
    """A SCSI host of the kernel: one port of a SATA controller, or a complete RAID controller."""

    number: int
    """N in `hostN`."""
    path: str
    """Its sysfs folder, with links resolved."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """sysfs attributes of its driver, cleaned, without empty ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A PCI function that is a storage controller."""

    address: str
    """PCI address: `0000:03:00.0`."""
    path: str
    """Its sysfs folder, with links resolved."""
    kind: str
    """PCI class and subclass, a key of `KINDS`: `0104`."""
    vendor: str | None
    """PCI vendor id as four hexadecimal digits, like the next three; None if not readable."""
    device: str | None
    """PCI device id."""
    subsystem_vendor: str | None
    """PCI vendor id of the board."""
    subsystem_device: str | None
    """PCI device id of the board."""
    driver: str | None
    """Kernel driver; None if no driver is bound."""
    driver_version: str | None
    """Version of the driver's kernel module; None if it reports none."""
    numa_node: int | None
    """NUMA node; None if the machine has none."""
    link: Link = field(default_factory=Link)
    """PCI Express link."""
    hosts: tuple[ScsiHost, ...] = ()
    """Its SCSI hosts, by number."""

    def attribute(self, names: tuple[str, ...]) -> str | None:
        """Return the value of the first of the attributes `names` on the first SCSI host that has any, or None."""
        return next((host.attributes[name] for host in self.hosts for name in names if name in host.attributes), None)


async def functions(host: Host) -> tuple[Function, ...]:
    """Return every storage controller on the PCI bus, sorted by address."""
    paths = await host.list(f"{DEVICES}/*")
    classes = await host.read_many([f"{path}/class" for path in paths])
    storage = {path: kind for path in paths if (kind := _kind(classes.get(f"{path}/class"))) in KINDS}
    hosts = await _hosts(host)
    storage_functions = await asyncio.gather(*(_function(host, path, kind, hosts) for path, kind in storage.items()))
    return tuple(function for function in storage_functions if function.driver not in _DISKS_THEMSELVES)


async def _function(host: Host, path: str, kind: str, hosts: tuple[ScsiHost, ...]) -> Function:
    texts = await host.read_many([f"{path}/{name}" for name in _ATTRIBUTES])
    attributes = {name: clean(texts.get(f"{path}/{name}", "")) for name in _ATTRIBUTES}
    real = await host.link(path) or path
    function_hosts = tuple(scsi_host for scsi_host in hosts if scsi_host.path.startswith(f"{real}/"))
    driver = await _driver(host, path, real, function_hosts)
    return Function(
        address=path.rsplit("/", 1)[1],
        path=real,
        kind=kind,
        vendor=_id(attributes["vendor"]),
        device=_id(attributes["device"]),
        subsystem_vendor=_id(attributes["subsystem_vendor"]),
        subsystem_device=_id(attributes["subsystem_device"]),
        driver=driver,
        driver_version=await version_of(host, driver),
        numa_node=node_of(attributes),
        link=link_of(attributes),
        hosts=function_hosts,
    )


async def _driver(host: Host, path: str, real: str, hosts: tuple[ScsiHost, ...]) -> str | None:
    """Return the driver of a function. For a virtio function it is the driver of the virtio device, not virtio-pci."""
    named = next(
        (scsi_host.attributes["proc_name"] for scsi_host in hosts if "proc_name" in scsi_host.attributes), None
    )
    bound = await host.link(f"{path}/driver")
    name = bound.rsplit("/", 1)[1] if bound else None
    if name == "virtio-pci":
        inner = [await host.link(f"{name}/driver") for name in await host.list(f"{real}/virtio*")]
        return named or next((name.rsplit("/", 1)[1] for name in inner if name), name)
    return name or named


async def _hosts(host: Host) -> tuple[ScsiHost, ...]:
    paths = [path for path in await host.list("/sys/class/scsi_host/host*") if path.rsplit("host", 1)[1].isdigit()]
    texts = await host.read_many([f"{path}/{name}" for path in paths for name in _HOST_ATTRIBUTES])
    scsi_hosts = []
    for path in paths:
        pairs = ((name, clean(texts.get(f"{path}/{name}", ""))) for name in _HOST_ATTRIBUTES)
        attributes = {name: value for name, value in pairs if value}
        number = int(path.rsplit("host", 1)[1])
        scsi_hosts.append(ScsiHost(number=number, path=await host.link(path) or path, attributes=attributes))
    return tuple(sorted(scsi_hosts, key=lambda scsi_host: scsi_host.number))


def _kind(text: str | None) -> str:
    """Return PCI class and subclass: `0104` for `0x010400`."""
    return (text or "").strip().removeprefix("0x")[:4].lower()


def _id(text: str) -> str | None:
    digits = text.removeprefix("0x").lower()
    return digits if len(digits) == 4 and all(char in "0123456789abcdef" for char in digits) else None
