"""Which SCSI disks are no drives but volumes of a RAID controller. Pure."""

from __future__ import annotations

from collections.abc import Callable

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
"""By the driver's own name (scsi_host/proc_name): channels whose disks are volumes.

megaraid_sas.h MEGASAS_MAX_PD_CHANNELS 2; aacraid.h CONTAINER_CHANNEL 0; mptsas.h MPTSAS_RAID_CHANNEL 1;
mpt3sas_scsih.c RAID_CHANNEL 1. The 3ware, Areca, ServeRAID, HighPoint and Promise drivers show volumes only.
"""

_VOLUMES_UNLESS_SAS = ("mpi3mr",)
"""Drivers that show volumes and drives on one channel: what hangs from a SAS end device is a drive."""

_NO_LEVEL = ("", "n/a", "unknown")
"""`raid_level` of a drive that hpsa or smartpqi passes through (drivers/scsi/hpsa.c, raid_level_show)."""


def is_volume(driver: str | None, channel: int | None, path: str, raid_level: str | None, maker: str) -> bool:
    """Whether a controller made this disk out of others.

    `driver` is the host adapter's, `path` the disk's in sysfs, `raid_level` that of hpsa and smartpqi,
    `maker` the vendor in the inquiry data.
    """
    if raid_level is not None:
        return raid_level.strip().lower() not in _NO_LEVEL
    if driver is None or channel is None:
        return False
    if driver in _VOLUMES_UNLESS_SAS:
        return "/end_device-" not in path and maker not in ("ATA", "NVMe")
    rule = _VOLUME_CHANNELS.get(driver)
    return rule is not None and rule(channel)
