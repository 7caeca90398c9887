"""`sd` disks in sysfs, and detection of volumes of RAID controllers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum

from backends.text import clean
from backends.topology import Node
from backends.topology.device_identity import interface
from backends.topology.tree import number
from backends.values import dataclass

# -- volumes of RAID controllers --------------------------------------------------------------------------------------

_ANY_CHANNEL: Callable[[int], bool] = lambda channel: True  # noqa: E731

_VOLUME_CHANNELS: dict[str, Callable[[int], bool]] = {
    "megaraid_sas": lambda channel: channel >= 2,
    "megaraid_legacy": _ANY_CHANNEL,
    "aacraid": lambda channel: channel == 0,
    "mptsas": lambda channel: channel == 1,
    "mptspi": lambda channel: channel == 1,
    "mpt2sas": lambda channel: channel == 1,
    "mpt3sas": lambda channel: channel == 1,
    "3w-xxxx": _ANY_CHANNEL,
    "3w-9xxx": _ANY_CHANNEL,
    "3w-sas": _ANY_CHANNEL,
    "arcmsr": _ANY_CHANNEL,
    "ips": _ANY_CHANNEL,
    "hptiop": _ANY_CHANNEL,
    "stex": _ANY_CHANNEL,
}
"""Function that returns whether a SCSI channel has RAID volumes, by driver name (scsi_host/proc_name).
Sources: megaraid_sas.h MEGASAS_MAX_PD_CHANNELS 2; aacraid.h CONTAINER_CHANNEL 0; mptsas.h MPTSAS_RAID_CHANNEL 1;
mpt3sas_scsih.c RAID_CHANNEL 1. The 3ware, Areca, ServeRAID, HighPoint and Promise drivers show volumes only.
"""

_VOLUMES_UNLESS_SAS = ("mpi3mr",)
"""Drivers with RAID volumes and drives on the same channel. Disks below a SAS end device are drives, others volumes."""

_NO_LEVEL = ("", "n/a", "unknown")
"""Values of `raid_level` for a passthrough drive of hpsa or smartpqi (drivers/scsi/hpsa.c, raid_level_show)."""


def is_volume(driver: str | None, channel: int | None, path: str, raid_level: str | None, maker: str) -> bool:
    """Return whether the disk is a volume of a controller.

    `driver`: driver of the host adapter. `channel`: the disk's channel on the adapter. `path`: sysfs path of the disk.
    `raid_level`: attribute of hpsa and smartpqi. `maker`: vendor in the inquiry data.
    """
    if raid_level is not None:
        return raid_level.strip().lower() not in _NO_LEVEL
    if driver is None or channel is None:
        return False
    if driver in _VOLUMES_UNLESS_SAS:
        return "/end_device-" not in path and maker not in ("ATA", "NVMe")
    rule = _VOLUME_CHANNELS.get(driver)
    return rule is not None and rule(channel)


# -- `sd` disks -------------------------------------------------------------------------------------------------------


_HCTL = re.compile(r"/(\d{1,9}:\d{1,9}:\d{1,9}:\d{1,20})/block/[^/]+$", re.ASCII)
_PCI = re.compile(r"/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)")

DEVICE_ATTRIBUTES = ("queue_depth", "raid_level")
"""Attributes below `device/` that are read for every disk."""

VOLUME_INTERFACE = "raid volume"
"""Interface of a RAID controller's volume."""


_PER_LUN = ("virtio_scsi",)
"""Drivers that silently limit the queue depth to the adapter's cmd_per_lun (drivers/scsi/virtio_scsi.c,
change_queue_depth).
"""


class Kind(Enum):
    """Command set of a disk."""

    ATA = "ATA"
    SCSI = "SCSI"
    VOLUME = "RAID volume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """One disk of the kernel's sd driver."""

    node: Node
    """Node of the kernel's disk."""
    kind: Kind
    """Command set."""
    interface: str | None
    """`sata`, `sas`, `usb`, `iscsi`, `virtio-scsi`, `raid volume`, ...; None if unknown."""
    libata: bool
    """Whether the disk is driven by libata. The kernel then notices when the disk's cache is switched."""
    hctl: str | None
    """Host, channel, target, LUN; None if the path does not have them."""
    pci: str | None
    """Address of its PCI function, or None."""
    driver: str | None
    """Driver of its host adapter."""
    host_depth: int | None
    """Maximum number of commands in flight per disk that the host adapter allows."""
    queue_depth: int | None
    """Maximum number of commands in flight for this disk."""
    cache_type: str | None
    """Cache mode that the sd driver assumes."""
    flushed: bool | None
    """Whether the kernel sends flushes to the disk; None if it is not reported."""

    @property
    def name(self) -> str:
        """Return the kernel name."""
        return self.node.name

    def device_file(self, attribute: str) -> str:
        """Return the path of a file of the SCSI device."""
        return f"/sys/block/{self.name}/device/{attribute}"

    @property
    def cache_path(self) -> str | None:
        """Return the path of sd's `cache_type`, or None.

        Writing it also sets the drive (Documentation/scsi/sd-parameters).
        """
        return None if self.hctl is None else f"/sys/class/scsi_disk/{self.hctl}/cache_type"

    @property
    def caches_by_kernel(self) -> bool | None:
        """Return whether the sd driver assumes that the drive caches writes; None if it is unknown."""
        return {"write back": True, "write back, no read (daft)": True, "write through": False, "none": False}.get(
            self.cache_type or ""
        )


def is_name(name: str) -> bool:
    """Return whether the name is one of the sd driver's disk names."""
    return re.fullmatch(r"sd[a-z]{1,8}", name) is not None


def is_disk(node: Node) -> bool:
    """Return whether the node is an `sd` disk with a SCSI address. Without the address, the command set is unknown."""
    return node.parent is None and is_name(node.name) and _hctl(node) is not None


def paths_of(node: Node) -> tuple[str, ...]:
    """Return the paths of the files that `disk_of` needs in addition to the attributes of the node."""
    front = f"/sys/block/{node.name}"
    paths = [f"{front}/device/{name}" for name in DEVICE_ATTRIBUTES]
    paths.append(f"{front}/queue/write_cache")
    hctl = _hctl(node)
    if hctl is not None:
        paths.append(f"/sys/class/scsi_disk/{hctl}/cache_type")
        host = f"/sys/class/scsi_host/host{hctl.split(':')[0]}"
        paths += [f"{host}/{name}" for name in ("proc_name", "can_queue", "cmd_per_lun")]
    return tuple(paths)


def disk_of(node: Node, texts: Mapping[str, str]) -> Disk:
    """Return the disk from its node. `texts`: contents of the files in `paths_of`, by path."""
    front, hctl, path = f"/sys/block/{node.name}", _hctl(node), node.path or ""
    host = f"/sys/class/scsi_host/host{(hctl or '').split(':')[0]}"
    driver = clean(texts.get(f"{host}/proc_name", "")) or None
    maker = clean(node.attributes.get("device/vendor", ""))
    channel = number(hctl.split(":")[1]) if hctl else None
    volume = is_volume(driver, channel, path, texts.get(f"{front}/device/raid_level"), maker)
    libata = re.search(r"/ata\d+/", path, re.ASCII) is not None
    ata = libata or maker == "ATA"
    functions = _PCI.findall(path.partition("/host")[0] + "/")
    cache = texts.get(f"{front}/queue/write_cache", "")
    cache_type = texts.get(f"/sys/class/scsi_disk/{hctl}/cache_type")
    return Disk(
        node=node,
        kind=Kind.VOLUME if volume else Kind.ATA if ata else Kind.SCSI,
        interface=_interface(node, volume, ata),
        libata=libata,
        hctl=hctl,
        pci=functions[-1] if functions else None,
        driver=driver,
        host_depth=number(texts.get(f"{host}/{'cmd_per_lun' if driver in _PER_LUN else 'can_queue'}")),
        queue_depth=number(texts.get(f"{front}/device/queue_depth")),
        cache_type=clean(cache_type) if cache_type else None,
        flushed={"write back": True, "write through": False}.get(cache),
    )


def _hctl(node: Node) -> str | None:
    match = _HCTL.search(node.path or "")
    return match[1] if match else None


def _interface(node: Node, volume: bool, ata: bool) -> str | None:
    """Return the interface of the drive itself: `sata` for a SATA drive behind a SAS adapter. None if unknown."""
    if volume:
        return VOLUME_INTERFACE
    link = interface(node)
    if link == "usb":
        return link
    if ata:
        return "sata"
    return {"virtio": "virtio-scsi"}.get(link or "", link)
