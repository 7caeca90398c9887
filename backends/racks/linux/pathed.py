"""Disks on several paths: a SCSI disk for each, and the multipath disk on top of them."""

from __future__ import annotations

from backends.model import Media
from backends.racks.calibration import DRIVES
from backends.racks.linux.chassis import folder_of
from backends.racks.linux.tree import Kernel, put_disk, put_node, scsi_number
from backends.racks.pathed import PathedDisk
from backends.racks.queue import CACHE
from backends.racks.rack import Rack


def put_pathed(found: Kernel, rack: Rack, disk: PathedDisk) -> None:
    """All of one disk."""
    layout = rack.layout(disk.device)
    if layout is None:
        return
    spinning, size = layout.drive.media is Media.HDD, str(layout.size_bytes // 512)
    for at, name in enumerate(disk.paths):
        _put_path(found, rack, disk, at, size=size, spinning=spinning)
        found.links[f"/sys/block/{disk.device}/slaves/{name}"] = f"/sys/block/{name}"
    number = disk.device.removeprefix("dm-")
    own = {
        "dev": f"254:{number}",
        "size": size,
        "ro": "0",
        "removable": "0",
        "diskseq": str(60 + int(number)),
        "dm/name": disk.alias,
        "dm/uuid": f"mpath-3{disk.wwn}",
        "dm/suspended": "0",
        "mq/0/nr_tags": "2048",
    }
    folder = f"/sys/devices/virtual/block/{disk.device}"
    put_disk(found, rack, disk.device, folder, own, rotational=spinning, flushes=not spinning)
    put_node(found, f"mapper/{disk.alias}", disk.device, folder, own["dev"])
    for name in disk.paths:
        found.links[f"/sys/block/{name}/holders/{disk.device}"] = folder
    found.files[f"/run/udev/data/b{own['dev']}"] = f"E:DM_NAME={disk.alias}\nE:DM_UUID={own['dm/uuid']}"


def _put_path(found: Kernel, rack: Rack, disk: PathedDisk, at: int, *, size: str, spinning: bool) -> None:
    name, host = disk.paths[at], disk.hosts[at]
    major, minor = scsi_number(name)
    address = f"{host}:0:0:{disk.lun}" if disk.transport == "rport" else f"{host}:0:{disk.lun}:0"
    ports = f"rport-{host}:0-0" if disk.transport == "rport" else f"port-{host}:{disk.lun}/end_device-{host}:{disk.lun}"
    target = address.rpartition(":")[0]
    folder = f"{folder_of(disk.pci[at])}/host{host}/{ports}/target{target}/{address}/block/{name}"
    own = {
        "dev": f"{major}:{minor}",
        "size": size,
        "ro": "0",
        "removable": "0",
        "diskseq": str(10 + major + minor // 16),
        "device/vendor": f"{disk.vendor:<8}",
        "device/model": f"{disk.product:<16}",
        "device/rev": disk.rev,
        "device/state": "running",
        "device/wwid": f"naa.{disk.wwn}",
        "device/queue_depth": "32",
        "mq/0/nr_tags": "2048",
    }
    put_disk(found, rack, name, folder, own, rotational=spinning, flushes=not spinning)
    found.files[f"/sys/class/scsi_disk/{address}/cache_type"] = rack.queues.get(name, {}).get(CACHE, "write back")
    serial = f"E:ID_SERIAL_SHORT={DRIVES[disk.model].vendor[:1]}{disk.wwn[-8:].upper()}" if disk.model else ""
    record = [f"E:ID_WWN_WITH_EXTENSION=0x{disk.wwn}", "E:ID_BUS=scsi", "E:ID_FS_TYPE=mpath_member", serial]
    found.files[f"/run/udev/data/b{major}:{minor}"] = "\n".join(filter(None, record))
