"""The host's own drives: NVMe, SATA at the mainboard, ioMemory."""

from __future__ import annotations

from backends.model import Media
from backends.racks.calibration import DriveType
from backends.racks.fusionio import IoMemory
from backends.racks.linux.chassis import AHCI_HOST, CHASSIS, Chassis, folder_of
from backends.racks.linux.metadata import built_on
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
    record = ["E:ID_BUS=nvme", *built_on(rack, name)]
    if name in rack.lying:
        record += put_content(found, name, own["dev"], drive.size_bytes, rack.lying[name], folder, mounts)
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(record)


def put_sata(found: Kernel, rack: Rack, name: str, drive: DriveType | None, number: int, mounts: list[str]) -> None:
    """A drive at a port of the mainboard, or of the HBA."""
    if drive is None:
        return
    major, minor = scsi_number(name)
    address, folder, path = _attached(CHASSIS[rack.name], number)
    samsung = drive.model.startswith("MZ")
    serial = f"{'S47FNA0M2017' if samsung else '9QG5K7'}{number:02d}"
    wwn = f"{'5002538e' if samsung else '5000c500'}{number + 1:08x}"
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
    folder = f"{folder}/target{address[:-2]}/{address}/block/{name}"
    put_disk(found, rack, name, folder, own, rotational=drive.media is Media.HDD, flushes=True)
    found.files |= {
        f"/sys/class/scsi_disk/{address}/cache_type": rack.queues.get(name, {}).get(CACHE, "write back"),
    }
    if not CHASSIS[rack.name].hba:
        host = f"/sys/class/scsi_host/host{AHCI_HOST + number}"
        found.files |= {f"{host}/proc_name": "ahci", f"{host}/can_queue": "32"}
    record = [
        f"E:ID_SERIAL_SHORT={serial}",
        f"E:ID_WWN=0x{wwn}",
        f"E:ID_PATH={path}",
        "E:ID_BUS=ata",
        *built_on(rack, name),
    ]
    if name in rack.lying:
        record += put_content(found, name, own["dev"], drive.size_bytes, rack.lying[name], folder, mounts)
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(record)


def _attached(chassis: Chassis, number: int) -> tuple[str, str, str]:
    """SCSI address, folder of what it hangs from, and udev's path of the n-th SATA drive."""
    if not chassis.hba:
        folder = f"{folder_of(chassis.ahci)}/ata{number + 1}/host{AHCI_HOST + number}"
        return f"{AHCI_HOST + number}:0:0:0", folder, f"pci-{chassis.ahci}-ata-{number + 1}"
    end = f"{AHCI_HOST}:{number}"
    folder = f"{folder_of(chassis.hba)}/host{AHCI_HOST}/port-{end}/end_device-{end}"
    return f"{AHCI_HOST}:0:{number}:0", folder, f"pci-{chassis.hba}-sas-phy{number}-lun-0"


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
