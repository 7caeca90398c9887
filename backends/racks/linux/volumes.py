"""Virtual drives of RAID cards as the kernel's disks."""

from __future__ import annotations

from backends.racks.card import SimulatedCard
from backends.racks.linux.chassis import folder_of
from backends.racks.linux.tree import Kernel, put_content, put_disk, scsi_number
from backends.racks.queue import CAN_QUEUE, TAGS
from backends.racks.rack import Rack
from backends.racks.smartarray.cards import SmartCard, SmartVolume
from backends.racks.threeware import SimulatedThreeware, SimulatedUnit
from backends.racks.volume import Volume


def put_volume(found: Kernel, rack: Rack, card: SimulatedCard, volume: Volume, mounts: list[str]) -> None:
    """The disk that a volume is to the kernel, its partitions and its mount."""
    name = volume.device
    major, minor = scsi_number(name)
    address = f"{card.host}:2:{volume.number}:0"
    pci = f"0000:{card.bus:02x}:00.0"
    folder = f"/sys/devices/pci0000:00/{pci}/host{card.host}/target{address[:-2]}/{address}/block/{name}"
    maker, product = _identified(card)
    own = {
        "dev": f"{major}:{minor}",
        "size": str(volume.size_bytes // 512),
        "ro": "1" if volume.access == "read-only" else "0",
        "removable": "0",
        "diskseq": str(10 + volume.sequence),
        "device/vendor": f"{maker:<8}",
        "device/model": f"{product:<16}",
        "device/rev": card.firmware[:4],
        "device/state": "running",
        "device/wwid": f"naa.{volume.naa}",
        "device/queue_depth": "256",
        "mq/0/nr_tags": str(TAGS),
    }
    spinning = not card.on_flash(volume)
    put_disk(found, rack, name, folder, own, rotational=spinning, flushes=volume.writes_back(card.protected))
    caching = "write back" if volume.writes_back(card.protected) else "write through"
    found.files |= {
        f"/sys/class/scsi_disk/{address}/cache_type": caching,
        f"/sys/class/scsi_host/host{card.host}/proc_name": "megaraid_sas",
        f"/sys/class/scsi_host/host{card.host}/can_queue": str(CAN_QUEUE),
    }
    record = [
        f"E:ID_SCSI_SERIAL={volume.naa[::-1]}",
        f"E:ID_WWN_WITH_EXTENSION=0x{volume.naa}",
        f"E:ID_PATH=pci-{pci}-scsi-{address}",
        "E:ID_BUS=scsi",
    ]
    if volume.content is not None:
        record += put_content(found, name, own["dev"], volume.size_bytes, volume.content, folder, mounts)
    found.files[f"/run/udev/data/b{major}:{minor}"] = "\n".join(record)


def _identified(card: SimulatedCard) -> tuple[str, str]:
    """SCSI vendor and product of a card's volumes."""
    short = card.product.split()[-1]
    if "Intel" in card.product:
        return "Intel", short
    return ("AVAGO", f"MR{short}") if "AVAGO" in card.product else ("LSI", f"MR{short}")


def put_logical_drive(found: Kernel, rack: Rack, card: SmartCard, volume: SmartVolume, mounts: list[str]) -> None:
    """The same of a Smart Array or Adaptec card: smartpqi shows them on channel 1 by LUN, aacraid on 0 by target."""
    name = (volume.device or "").removeprefix("/dev/")
    major, minor = scsi_number(name)
    address = f"{card.host}:0:{volume.number}:0" if card.series else f"{card.host}:1:0:{volume.number}"
    folder = f"{folder_of(card.pci)}/host{card.host}/target{address.rpartition(':')[0]}/{address}/block/{name}"
    maker = "Adaptec" if card.model.startswith("Adaptec") else "HPE"
    own = {
        "dev": f"{major}:{minor}",
        "size": str(volume.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(10 + major + minor // 16 + 1000 * volume.sequence),
        "device/vendor": f"{maker:<8}",
        "device/model": f"{volume.name if card.series else 'LOGICAL VOLUME':<16}",
        "device/rev": "V1.0" if card.series else card.firmware[:4],
        "device/state": "running",
        "device/queue_depth": "256",
        "mq/0/nr_tags": str(TAGS),
    }
    record = [f"E:ID_PATH=pci-{card.pci}-scsi-{address}", "E:ID_BUS=scsi"]
    if not card.series:
        own |= {"device/wwid": f"naa.{volume.wwn}", "device/raid_level": f"RAID {volume.level}"}
        record += [f"E:ID_WWN_WITH_EXTENSION=0x{volume.wwn}", f"E:ID_SCSI_SERIAL={card.serial}"]
    elif volume.serial:
        record += [f"E:ID_SCSI_SERIAL={volume.serial}"]
    put_disk(found, rack, name, folder, own, rotational=not card.flash(volume.group), flushes=False)
    found.files[f"/sys/class/scsi_disk/{address}/cache_type"] = "write through"
    if volume.content is not None:
        record += put_content(found, name, own["dev"], volume.size_bytes, volume.content, folder, mounts)
    found.files[f"/run/udev/data/b{major}:{minor}"] = "\n".join(record)


def put_unit(found: Kernel, rack: Rack, card: SimulatedThreeware, unit: SimulatedUnit, mounts: list[str]) -> None:
    """The same of a 3ware card: 3w-9xxx shows units by their number as target, with their own serial number."""
    name = unit.device or ""
    major, minor = scsi_number(name)
    address = f"{card.host}:0:{unit.number}:0"
    folder = f"{folder_of(card.pci)}/host{card.host}/target{address.rpartition(':')[0]}/{address}/block/{name}"
    own = {
        "dev": f"{major}:{minor}",
        "size": str(unit.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(10 + major + minor // 16 + 1000 * unit.sequence),
        "device/vendor": "AMCC    ",
        "device/model": f"{card.model:<11} DISK",
        "device/rev": "4.10",
        "device/state": "running",
        "device/queue_depth": "254",
        "mq/0/nr_tags": str(TAGS),
    }
    record = [f"E:ID_PATH=pci-{card.pci}-scsi-{address}", "E:ID_BUS=scsi", f"E:ID_SCSI_SERIAL={unit.serial}"]
    put_disk(found, rack, name, folder, own, rotational=True, flushes=False)
    found.files[f"/sys/class/scsi_disk/{address}/cache_type"] = "write through"
    if unit.content is not None:
        record += put_content(found, name, own["dev"], unit.size_bytes, unit.content, folder, mounts)
    found.files[f"/run/udev/data/b{major}:{minor}"] = "\n".join(record)
