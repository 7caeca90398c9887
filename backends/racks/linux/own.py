"""The host's own drives: NVMe, SATA at the mainboard, ioMemory."""

from __future__ import annotations

from backends.model import Media
from backends.racks.calibration import DriveType
from backends.racks.fusionio import IoMemory
from backends.racks.linux.chassis import AHCI_HOST, CHASSIS, folder_of
from backends.racks.linux.tree import Kernel, put_content, put_disk, scsi_number
from backends.racks.queue import CACHE
from backends.racks.rack import Rack


def put_nvme(found: Kernel, rack: Rack, name: str, drive: DriveType | None, number: int, mounts: list[str]) -> None:
    """A namespace."""
    if drive is None:
        return
    own = {
        "dev": f"259:{number * 16}",
        "size": str(drive.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(2 + number),
        "wwid": f"eui.0025385{number:09x}",
        "device/model": f"SAMSUNG {drive.model}",
        "device/serial": f"S437NX0K6013{number:02d}",
        "device/firmware_rev": drive.firmware,
        "device/state": "live",
        "mq/0/nr_tags": "1023",
    }
    folder = f"/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme{number}/{name}"
    put_disk(found, rack, name, folder, own, rotational=drive.media is Media.HDD, flushes=False)
    record = ["E:ID_BUS=nvme", *_built_on(rack, name)]
    if name in rack.lying:
        record += put_content(found, name, own["dev"], drive.size_bytes, rack.lying[name], folder, mounts)
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(record)


def put_sata(found: Kernel, rack: Rack, name: str, drive: DriveType | None, number: int, mounts: list[str]) -> None:
    """A drive at a port of the mainboard."""
    if drive is None:
        return
    major, minor = scsi_number(name)
    address = f"{AHCI_HOST + number}:0:0:0"
    samsung = drive.model.startswith("MZ")
    serial = f"{'S47FNA0M2017' if samsung else '9QG5K7'}{number:02d}"
    wwn = f"{'5002538e' if samsung else '5000c500'}{number + 1:08x}"
    ahci = CHASSIS[rack.name].ahci
    own = {
        "dev": f"{major}:{minor}",
        "size": str(drive.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(6 + number),
        "device/vendor": "ATA     ",
        "device/model": f"{'SAMSUNG ' if samsung else ''}{drive.model}"[:16],
        "device/rev": drive.firmware[:4],
        "device/state": "running",
        "device/wwid": f"naa.{wwn}",
        "device/queue_depth": "32",
        "mq/0/nr_tags": "32",
    }
    port = f"{folder_of(ahci)}/ata{number + 1}/host{AHCI_HOST + number}"
    folder = f"{port}/target{address[:-2]}/{address}/block/{name}"
    put_disk(found, rack, name, folder, own, rotational=drive.media is Media.HDD, flushes=True)
    found.files |= {
        f"/sys/class/scsi_disk/{address}/cache_type": rack.queues.get(name, {}).get(CACHE, "write back"),
        f"/sys/class/scsi_host/host{AHCI_HOST + number}/proc_name": "ahci",
        f"/sys/class/scsi_host/host{AHCI_HOST + number}/can_queue": "32",
    }
    record = [
        f"E:ID_SERIAL_SHORT={serial}",
        f"E:ID_WWN=0x{wwn}",
        f"E:ID_PATH=pci-{ahci}-ata-{number + 1}",
        "E:ID_BUS=ata",
        *_built_on(rack, name),
    ]
    if name in rack.lying:
        record += put_content(found, name, own["dev"], drive.size_bytes, rack.lying[name], folder, mounts)
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(record)


def put_flash(found: Kernel, rack: Rack, module: IoMemory) -> None:
    """The block device of an ioMemory module, while it is attached."""
    if not (module.driver and module.attached):
        return
    name = module.volume
    own = {
        "dev": f"252:{module.number * 16}",
        "size": str(module.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(30 + module.number),
        "serial": module.serial,
        "mq/0/nr_tags": "1024",
    }
    folder = f"{folder_of(f'0000:{module.pci}')}/block/{name}"
    put_disk(found, rack, name, folder, own, rotational=False, flushes=False, sector=module.sector_bytes)
    found.files[f"/run/udev/data/b{own['dev']}"] = f"E:ID_SERIAL_SHORT={module.serial}"


def _built_on(rack: Rack, name: str) -> list[str]:
    """What udev says of the metadata on a member of an array, and on the disks of a bcache device."""
    if (cached := next((one for one in rack.bcache.values() if name in (one.backing, one.cache)), None)) is not None:
        return ["E:ID_FS_TYPE=bcache", f"E:ID_FS_UUID={cached.uuid if name == cached.backing else cached.set_uuid}"]
    arrays = (*rack.md.values(), *rack.stopped.values())
    array = next((one for one in arrays if name in {member.name for member in one.members}), None)
    if array is None:
        return []
    return ["E:ID_FS_TYPE=linux_raid_member", f"E:ID_FS_UUID={array.uuid}", f"E:ID_FS_LABEL_ENC={array.label}"]
