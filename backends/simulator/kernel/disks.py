"""Adds the block devices of a simulated host to sysfs and udev, with one function per kind of device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from backends.model import Media
from backends.simulator.bcache import BLOCK_BYTES, BcacheDevice
from backends.simulator.calibration import DRIVES, DriveType
from backends.simulator.controller import SimulatedCard
from backends.simulator.disk import MultipathDisk
from backends.simulator.fusionio import IoMemory
from backends.simulator.kernel.functions import AHCI_HOST, CHASSIS, Chassis, folder_of
from backends.simulator.kernel.tree import (
    SimulatedSysfs,
    member_record,
    put_disk,
    put_node,
    put_record,
    put_stacked,
    scsi_number,
)
from backends.simulator.lvm.volumes import DmNode, LvmGroup, LvmVolume
from backends.simulator.md_array import MdArray
from backends.simulator.mdadm import mdadm_uuid
from backends.simulator.queue import CACHE, CAN_QUEUE, TAGS
from backends.simulator.rack import Rack
from backends.simulator.smartarray.cards import SmartCard, SmartVolume
from backends.simulator.threeware import SimulatedThreeware, SimulatedUnit
from backends.simulator.volume import Volume
from backends.simulator.zfs.pool import VOLUME, Dataset


def put_disks(sysfs: SimulatedSysfs, rack: Rack) -> None:
    """Add all disks of the host to sysfs, each one after the disks that it is built on."""
    for card, volume in rack.volumes():
        _put_volume(sysfs, rack, card, volume)
    for smart, drive in rack.logical_drives():
        _put_logical_drive(sysfs, rack, smart, drive)
    for threeware, unit in rack.units():
        _put_unit(sysfs, rack, threeware, unit)
    for disk in rack.pathed:
        _put_multipath(sysfs, rack, disk)
    for module in rack.flash:
        _put_fusionio(sysfs, rack, module)
    for number, (name, model) in enumerate(rack.nvme.items()):
        _put_nvme(sysfs, rack, name, DRIVES[model], number)
    for number, (name, model) in enumerate(rack.sata.items()):
        _put_sata(sysfs, rack, name, DRIVES[model], number)
    for array in rack.md.values():
        _put_array(sysfs, rack, array)
    _put_pools(sysfs, rack)
    for group in rack.lvm.values():
        _put_group(sysfs, rack, group)
    for device in rack.bcache.values():
        _put_bcache(sysfs, rack, device)


def _put_nvme(sysfs: SimulatedSysfs, rack: Rack, name: str, drive: DriveType, number: int) -> None:
    """Add an NVMe namespace."""
    extra = {
        "dev": f"259:{number * 16}",
        "size": str(drive.size_bytes // 512),
        "diskseq": str(2 + number),
        "wwid": f"eui.0025385{number:09x}",
        "device/model": f"SAMSUNG {drive.model}",
        "device/serial": f"S437NX0K6013{number:02d}",
        "device/firmware_rev": drive.firmware,
        "device/state": "live",
        "mq/0/nr_tags": "1023",
    }
    folder = f"/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme{number}/{name}"
    put_disk(sysfs, rack, name, folder, extra, rotational=drive.media is Media.HDD, flushes=False)
    put_record(sysfs, name, ["E:ID_BUS=nvme", *member_record(rack, name)], rack.lying.get(name))


def _put_scsi(
    sysfs: SimulatedSysfs,
    rack: Rack,
    name: str,
    address: str,
    parent: str,
    extra: Mapping[str, str],
    *,
    size_bytes: int,
    rotational: bool,
    flushes: bool,
) -> None:
    """Add a SCSI disk. `parent`: folder of its host or port. `extra`: its additional files."""
    major, minor = scsi_number(name)
    files = {
        "dev": f"{major}:{minor}",
        "size": str(size_bytes // 512),
        "diskseq": str(10 + major + minor // 16),
        "device/state": "running",
        "device/queue_depth": "256",
        "mq/0/nr_tags": str(TAGS),
    }
    folder = f"{parent}/target{address.rpartition(':')[0]}/{address}/block/{name}"
    put_disk(sysfs, rack, name, folder, {**files, **extra}, rotational=rotational, flushes=flushes)
    caching = rack.queues.get(name, {}).get(CACHE, "write back" if flushes else "write through")
    sysfs.files[f"/sys/class/scsi_disk/{address}/cache_type"] = caching


def _put_sata(sysfs: SimulatedSysfs, rack: Rack, name: str, drive: DriveType, number: int) -> None:
    """Add a drive at a port of the mainboard or of the HBA."""
    address, parent, path = _sata_path(CHASSIS[rack.name], number)
    samsung = drive.model.startswith("MZ")
    serial = f"{'S47FNA0M2017' if samsung else '9QG5K7'}{number:02d}"
    wwn = f"{'5002538e' if samsung else '5000c500'}{number + 1:08x}"
    extra = {
        "diskseq": str(6 + number),
        "device/vendor": "ATA     ",
        "device/model": f"{'SAMSUNG ' if samsung else ''}{drive.model}"[:16],
        "device/rev": drive.firmware[:4],
        "device/wwid": f"naa.{wwn}",
        "device/queue_depth": "32",
        "mq/0/nr_tags": "32",
    }
    spinning = drive.media is Media.HDD
    _put_scsi(sysfs, rack, name, address, parent, extra, size_bytes=drive.size_bytes, rotational=spinning, flushes=True)
    if not CHASSIS[rack.name].hba:
        host = f"/sys/class/scsi_host/host{AHCI_HOST + number}"
        sysfs.files |= {f"{host}/proc_name": "ahci", f"{host}/can_queue": "32"}
    record = [f"E:ID_SERIAL_SHORT={serial}", f"E:ID_WWN=0x{wwn}", f"E:ID_PATH={path}", "E:ID_BUS=ata"]
    put_record(sysfs, name, [*record, *member_record(rack, name)], rack.lying.get(name))


def _sata_path(chassis: Chassis, number: int) -> tuple[str, str, str]:
    """Return SCSI address, port folder and udev path of the n-th SATA drive."""
    if not chassis.hba:
        folder = f"{folder_of(chassis.ahci)}/ata{number + 1}/host{AHCI_HOST + number}"
        return f"{AHCI_HOST + number}:0:0:0", folder, f"pci-{chassis.ahci}-ata-{number + 1}"
    end = f"{AHCI_HOST}:{number}"
    folder = f"{folder_of(chassis.hba)}/host{AHCI_HOST}/port-{end}/end_device-{end}"
    return f"{AHCI_HOST}:0:{number}:0", folder, f"pci-{chassis.hba}-sas-phy{number}-lun-0"


def _put_fusionio(sysfs: SimulatedSysfs, rack: Rack, module: IoMemory) -> None:
    """Add the block device of an ioMemory module, if it is attached."""
    if not (module.driver and module.attached):
        return
    name = module.volume
    extra = {
        "dev": f"252:{module.number * 16}",
        "size": str(module.size_bytes // 512),
        "diskseq": str(30 + module.number),
        "serial": module.serial,
        "mq/0/nr_tags": "1024",
    }
    folder = f"{folder_of(f'0000:{module.pci}')}/block/{name}"
    put_disk(sysfs, rack, name, folder, extra, rotational=False, flushes=False, sector=module.sector_bytes)
    put_record(sysfs, name, [f"E:ID_SERIAL_SHORT={module.serial}"])


def _put_volume(sysfs: SimulatedSysfs, rack: Rack, card: SimulatedCard, volume: Volume) -> None:
    """Add a MegaRAID virtual drive with its partitions and mounted filesystem."""
    address, pci = f"{card.host}:2:{volume.number}:0", f"0000:{card.bus:02x}:00.0"
    maker, product = _scsi_names(card)
    extra = {
        "ro": "1" if volume.access == "read-only" else "0",
        "diskseq": str(10 + volume.sequence),
        "device/vendor": f"{maker:<8}",
        "device/model": f"{product:<16}",
        "device/rev": card.firmware[:4],
        "device/wwid": f"naa.{volume.naa}",
    }
    _put_scsi(
        sysfs,
        rack,
        volume.device,
        address,
        f"{folder_of(pci)}/host{card.host}",
        extra,
        size_bytes=volume.size_bytes,
        rotational=not card.is_on_flash(volume),
        flushes=volume.writes_back(card.protected),
    )
    host = f"/sys/class/scsi_host/host{card.host}"
    sysfs.files |= {f"{host}/proc_name": "megaraid_sas", f"{host}/can_queue": str(CAN_QUEUE)}
    names = [f"E:ID_SCSI_SERIAL={volume.naa[::-1]}", f"E:ID_WWN_WITH_EXTENSION=0x{volume.naa}"]
    path = f"E:ID_PATH=pci-{pci}-scsi-{address}"
    put_record(sysfs, volume.device, [*names, path, "E:ID_BUS=scsi"], volume.content)


def _scsi_names(card: SimulatedCard) -> tuple[str, str]:
    """Return the SCSI vendor and product strings of a controller's virtual drives."""
    short = card.product.split()[-1]
    if "Intel" in card.product:
        return "Intel", short
    return ("AVAGO", f"MR{short}") if "AVAGO" in card.product else ("LSI", f"MR{short}")


def _put_logical_drive(sysfs: SimulatedSysfs, rack: Rack, card: SmartCard, volume: SmartVolume) -> None:
    """Add a logical drive. smartpqi lists logical drives on channel 1 by LUN, aacraid on channel 0 by target."""
    name = (volume.device or "").removeprefix("/dev/")
    address = f"{card.host}:0:{volume.number}:0" if card.series else f"{card.host}:1:0:{volume.number}"
    extra = {
        "diskseq": _sequence_number(name, volume.sequence),
        "device/vendor": f"{'Adaptec' if card.model.startswith('Adaptec') else 'HPE':<8}",
        "device/model": f"{volume.name if card.series else 'LOGICAL VOLUME':<16}",
        "device/rev": "V1.0" if card.series else card.firmware[:4],
    }
    record = [f"E:ID_PATH=pci-{card.pci}-scsi-{address}", "E:ID_BUS=scsi"]
    if not card.series:
        extra |= {"device/wwid": f"naa.{volume.wwn}", "device/raid_level": f"RAID {volume.level}"}
        record += [f"E:ID_WWN_WITH_EXTENSION=0x{volume.wwn}", f"E:ID_SCSI_SERIAL={card.serial}"]
    elif volume.serial:
        record += [f"E:ID_SCSI_SERIAL={volume.serial}"]
    spinning, parent = not card.is_flash(volume.group), f"{folder_of(card.pci)}/host{card.host}"
    _put_scsi(
        sysfs,
        rack,
        name,
        address,
        parent,
        extra,
        size_bytes=volume.size_bytes,
        rotational=spinning,
        flushes=False,
    )
    put_record(sysfs, name, record, volume.content)


def _sequence_number(name: str, made: int) -> str:
    """Return the kernel's sequence number of a disk. It differs between disks that have had the same name."""
    major, minor = scsi_number(name)
    return str(10 + major + minor // 16 + 1000 * made)


def _put_unit(sysfs: SimulatedSysfs, rack: Rack, card: SimulatedThreeware, unit: SimulatedUnit) -> None:
    """Add a 3ware unit. 3w-9xxx uses the unit number as SCSI target, and the unit has its own serial number."""
    name, address = unit.device or "", f"{card.host}:0:{unit.number}:0"
    extra = {
        "diskseq": _sequence_number(name, unit.sequence),
        "device/vendor": "AMCC    ",
        "device/model": f"{card.model:<11} DISK",
        "device/rev": "4.10",
        "device/queue_depth": "254",
    }
    parent = f"{folder_of(card.pci)}/host{card.host}"
    _put_scsi(sysfs, rack, name, address, parent, extra, size_bytes=unit.size_bytes, rotational=True, flushes=False)
    record = [f"E:ID_PATH=pci-{card.pci}-scsi-{address}", "E:ID_BUS=scsi", f"E:ID_SCSI_SERIAL={unit.serial}"]
    put_record(sysfs, name, record, unit.content)


def _put_multipath(sysfs: SimulatedSysfs, rack: Rack, disk: MultipathDisk) -> None:
    """Add a multipath disk with its paths."""
    layout = rack.layout(disk.device)
    if layout is None:
        return
    spinning = layout.drive.media is Media.HDD
    for index, name in enumerate(disk.paths):
        _put_path(sysfs, rack, disk, index, size_bytes=layout.size_bytes, spinning=spinning)
        sysfs.links[f"/sys/block/{disk.device}/slaves/{name}"] = f"/sys/block/{name}"
    number = disk.device.removeprefix("dm-")
    extra = {
        "dev": f"254:{number}",
        "size": str(layout.size_bytes // 512),
        "diskseq": str(60 + int(number)),
        "dm/name": disk.alias,
        "dm/uuid": f"mpath-3{disk.wwn}",
        "dm/suspended": "0",
        "mq/0/nr_tags": "2048",
    }
    folder = f"/sys/devices/virtual/block/{disk.device}"
    put_disk(sysfs, rack, disk.device, folder, extra, rotational=spinning, flushes=not spinning)
    put_node(sysfs, f"mapper/{disk.alias}", disk.device, folder, extra["dev"])
    for name in disk.paths:
        sysfs.links[f"/sys/block/{name}/holders/{disk.device}"] = folder
    put_record(sysfs, disk.device, [f"E:DM_NAME={disk.alias}", f"E:DM_UUID={extra['dm/uuid']}"])


def _put_path(
    sysfs: SimulatedSysfs, rack: Rack, disk: MultipathDisk, index: int, *, size_bytes: int, spinning: bool
) -> None:
    name, host = disk.paths[index], disk.hosts[index]
    fibre = disk.transport == "rport"
    address = f"{host}:0:0:{disk.lun}" if fibre else f"{host}:0:{disk.lun}:0"
    ports = f"rport-{host}:0-0" if fibre else f"port-{host}:{disk.lun}/end_device-{host}:{disk.lun}"
    extra = {
        "device/vendor": f"{disk.vendor:<8}",
        "device/model": f"{disk.product:<16}",
        "device/rev": disk.rev,
        "device/wwid": f"naa.{disk.wwn}",
        "device/queue_depth": "32",
        "mq/0/nr_tags": "2048",
    }
    parent = f"{folder_of(disk.pci[index])}/host{host}/{ports}"
    _put_scsi(
        sysfs, rack, name, address, parent, extra, size_bytes=size_bytes, rotational=spinning, flushes=not spinning
    )
    if spinning:
        sysfs.files[f"/sys/class/scsi_disk/{address}/cache_type"] = rack.queues.get(name, {}).get(CACHE, "write back")
    serial = f"E:ID_SERIAL_SHORT={DRIVES[disk.model].vendor[:1]}{disk.wwn[-8:].upper()}" if disk.model else ""
    record = [f"E:ID_WWN_WITH_EXTENSION=0x{disk.wwn}", "E:ID_BUS=scsi", "E:ID_FS_TYPE=mpath_member", serial]
    put_record(sysfs, name, list(filter(None, record)))


def _put_array(sysfs: SimulatedSysfs, rack: Rack, array: MdArray) -> None:
    """Add an md array and the links to its members."""
    name, now = array.name, rack.now()
    number = f"9:{name.removeprefix('md')}"
    put_stacked(
        sysfs,
        rack,
        name,
        number,
        size_bytes=array.size_bytes,
        sequence=40 + array.sequence,
        queue={"read_ahead_kb": str(array.chunk * len(array.members) // 512 or 128), "iostats": "1"},
        extra={f"md/{key}": text for key, text in array.files(now).items()},
        below=tuple(member.name for member in array.members),
    )
    record = {"MD_LEVEL": array.level, "MD_METADATA": "1.2", "MD_UUID": mdadm_uuid(array.uuid), "MD_NAME": array.label}
    put_record(sysfs, name, [*(f"E:{key}={text}" for key, text in record.items()), *member_record(rack, name)])


def mdstat(rack: Rack) -> str:
    """Return the text of /proc/mdstat."""
    levels = sorted({"raid1", "raid10", *(array.level for array in rack.md.values())})
    lines = [f"Personalities : {' '.join(f'[{level}]' for level in levels)}"]
    for array in rack.md.values():
        lines += array.stat_lines(rack.now())
    return "\n".join([*lines, "unused devices: <none>", ""])


_LISTED = 70
"""First sequence number (`diskseq`) of logical volumes."""


def _put_group(sysfs: SimulatedSysfs, rack: Rack, group: LvmGroup) -> None:
    """Add all logical volumes of a volume group, and the LVM signatures on its physical volumes."""
    for volume in group.volumes:
        for node in _lowest_first(volume.nodes(rack.now())):
            name, number = node.kernel, f"254:{node.number}"
            is_visible = node.number == volume.number
            fields = {"dm/name": group.dm_name(node), "dm/uuid": group.dm_uuid(node), "dm/suspended": "0"}
            ahead = volume.queue_sectors if is_visible else 256
            folder = put_stacked(
                sysfs,
                rack,
                name,
                number,
                size_bytes=node.size_bytes,
                sequence=_LISTED + node.number,
                queue={"read_ahead_kb": str(ahead // 2), **(_blocks(volume) if is_visible else {})},
                extra=fields,
                below=node.slaves,
            )
            aliases = [f"mapper/{fields['dm/name']}", *([f"{group.name}/{node.name}"] if is_visible else [])]
            for alias in aliases:
                put_node(sysfs, alias, name, folder, number)
                sysfs.links[f"/dev/{alias}"] = f"/dev/{name}"
            record = [f"E:DM_NAME={fields['dm/name']}", f"E:DM_UUID={fields['dm/uuid']}"]
            record += [f"E:DM_VG_NAME={group.name}", f"E:DM_LV_NAME={volume.name}"] if is_visible else []
            put_record(sysfs, name, record)
    sysfs.files[f"/etc/lvm/backup/{group.name}"] = f"# Generated by LVM2\n{group.name} {{\n}}"
    for member in group.places:
        devno = sysfs.files[f"/sys/block/{member}/dev"]
        path = f"/run/udev/data/b{devno}"
        marks = ("E:ID_FS_TYPE=LVM2_member", f"E:ID_FS_UUID={group.uuid_of(member)}")
        sysfs.files[path] = "\n".join(filter(None, (sysfs.files.get(path, ""), *marks)))


def _lowest_first(nodes: Iterable[DmNode]) -> Iterator[DmNode]:
    """Yield the nodes in an order in which each node follows the nodes that it is built on."""
    left = {node.kernel: node for node in nodes}
    while left:
        ready = [name for name, node in left.items() if not left.keys() & node.slaves]
        yield from (left.pop(name) for name in ready)


def _blocks(volume: LvmVolume) -> dict[str, str]:
    """Return the sysfs files with the block sizes of a volume that has a writecache; {} for other volumes.

    The block size is that of the cache (dm-writecache.c, writecache_io_hints).
    """
    if volume.kind != "writecache":
        return {}
    return dict.fromkeys(("logical_block_size", "physical_block_size"), str(volume.chunk_bytes))


_ZVOL_MAJOR, _ZVOL_MINORS = 230, 16
"""Device major of zvols, and minors per zvol (zvol_major; include/sys/fs/zfs.h, ZVOL_MINORS)."""

_ZVOL_QUEUE = {
    "rotational": "0",
    "iostats": "1",
    "nomerges": "2",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "16384",
}
"""Queue settings of a zvol in OpenZFS 2.1, which has no scheduler (os/linux/zfs/zvol_os.c)."""


def _put_pools(sysfs: SimulatedSysfs, rack: Rack) -> None:
    """Add ZFS parameters, pools, zvols and mounts."""
    if rack.zfs is None:
        return
    sysfs.files |= rack.zfs.files(rack.arc_counts())
    index = 0
    for pool in rack.pools.values():
        sysfs.files[f"/proc/spl/kstat/zfs/{pool.name}/state"] = "ONLINE"
        for name, dataset in pool.datasets.items():
            if dataset.kind == VOLUME:
                _put_zvol(sysfs, rack, name, dataset)
            elif dataset.mountpoint:
                index += 1
                mount_text = f"0:{40 + index} / {dataset.mountpoint} rw,relatime shared:{400 + index}"
                sysfs.mounts.append(f"{400 + index} 25 {mount_text} - zfs {name} rw,xattr,noacl")


def _put_zvol(sysfs: SimulatedSysfs, rack: Rack, name: str, dataset: Dataset) -> None:
    number = int(dataset.node.removeprefix("zd"))
    devno = f"{_ZVOL_MAJOR}:{number}"
    put_stacked(
        sysfs,
        rack,
        dataset.node,
        devno,
        size_bytes=dataset.size_bytes,
        sequence=80 + number // _ZVOL_MINORS,
        queue={**_ZVOL_QUEUE, "physical_block_size": str(dataset.block_bytes)},
        extra={},
        below=(),
    )
    put_record(sysfs, dataset.node, [f"S:zvol/{name}"])
    sysfs.links[f"/dev/zvol/{name}"] = f"/dev/{dataset.node}"


_CACHED_MAJOR, _CACHED_MINORS = 251, 128
"""Device major of bcache in Linux 6.1, and minors per device."""

_ANY = "2147483647"
"""Maximum request size of bcache: no limit, because it splits requests itself."""


def _put_bcache(sysfs: SimulatedSysfs, rack: Rack, device: BcacheDevice) -> None:
    """Add a bcache device and its cache set. Its disks must already be present."""
    name, index = device.name, int(device.name.removeprefix("bcache"))
    layout = rack.layout(name)
    if layout is None:
        return
    number = f"{_CACHED_MAJOR}:{index * _CACHED_MINORS}"
    put_stacked(
        sysfs,
        rack,
        name,
        number,
        size_bytes=layout.size_bytes,
        sequence=120 + index,
        queue={"read_ahead_kb": "128", "rotational": "0"}
        | dict.fromkeys(("max_sectors_kb", "max_hw_sectors_kb"), _ANY)
        | dict.fromkeys(("logical_block_size", "physical_block_size"), str(BLOCK_BYTES)),
        extra={f"bcache/{key}": text for key, text in device.files(rack.cache_counts(name)).items()},
        below=rack.members(name),
    )
    base, kernel_set = f"/sys/block/{name}/bcache", f"/sys/fs/bcache/{device.set_uuid}"
    sysfs.links[base] = f"{sysfs.links[f'/sys/block/{device.backing}']}/bcache"
    sysfs.files[f"/sys/block/{device.backing}/bcache/running"] = "1"
    if device.attached:
        cache = f"{sysfs.links[f'/sys/block/{device.cache}']}/bcache"
        sysfs.files |= {f"{kernel_set}/{key}": text for key, text in device.set_files().items()}
        sysfs.links |= {
            f"{base}/cache": kernel_set,
            f"/sys/block/{device.cache}/bcache/set": kernel_set,
            f"{base}/cache/cache0": cache,
            f"{kernel_set}/cache0": cache,
            f"{kernel_set}/bdev0": sysfs.links[base],
        }
    sysfs.files["/sys/fs/bcache/register"] = ""
    put_record(sysfs, name, [f"E:CACHED_UUID={device.uuid}"])
