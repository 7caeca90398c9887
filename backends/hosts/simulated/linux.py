"""The rack's host as Linux tells it: sysfs, procfs, udev's database. Pure but for reading the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.host import FileStat
from backends.hosts.simulated.calibration import CORES, DriveType
from backends.hosts.simulated.card import SimulatedCard
from backends.hosts.simulated.md_array import SYSTEM, MdArray
from backends.hosts.simulated.mdadm import spelled
from backends.hosts.simulated.queue import CAN_QUEUE, DEPTH, TAGS, default_queue
from backends.hosts.simulated.rack import Rack
from backends.hosts.simulated.volume import Content, Volume
from backends.model import Media
from backends.values import dataclass

NAME = "rack-demo"
"""Host name."""

_MAJORS = (8, *range(65, 72), *range(128, 136))
"""Numbers of SCSI disks, sixteen each (Documentation/admin-guide/devices.txt)."""

_AHCI = 8
"""SCSI host number of the mainboard's first SATA port."""

_EFI = 512 << 20
_START = 1 << 20

_SLOT = {
    "numa_node": "0",
    "current_link_speed": "5.0 GT/s PCIe",
    "current_link_width": "8",
    "max_link_speed": "5.0 GT/s PCIe",
    "max_link_width": "8",
    "irq": "16",
}
"""What sysfs says of the slot of a card, and of the line of its interrupt."""

_CPU = """processor\t: {number}
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) CPU X5680 @ 3.33GHz (simulated)
cpu MHz\t\t: 3333.000
"""


@dataclass(slots=True)
class Kernel:
    """Everything that can be read of the host at one moment."""

    files: dict[str, str] = field(default_factory=dict)
    """Texts by path."""
    links: dict[str, str] = field(default_factory=dict)
    """Where links lead."""
    nodes: dict[str, FileStat] = field(default_factory=dict)
    """Device nodes."""
    names: dict[str, str] = field(default_factory=dict)
    """Kernel name of the disk by node, partitions too."""


def kernel(rack: Rack) -> Kernel:
    """The host as it is now."""
    found = Kernel()
    mounts = ["25 1 0:22 / /proc rw,relatime shared:1 - proc proc rw"]
    for card, volume in rack.volumes():
        _volume(found, rack, card, volume, mounts)
    for number, name in enumerate(rack.nvme):
        _nvme(found, rack, name, rack.drive(name), number)
    for number, name in enumerate(rack.sata):
        _sata(found, rack, name, rack.drive(name), number)
    for array in rack.md.values():
        _md(found, rack, array)
    for card in rack.cards:
        address = f"0000:{card.bus:02x}:00.0"
        found.links[f"/sys/bus/pci/drivers/megaraid_sas/{address}"] = f"/sys/devices/{card.bus}"
        found.links[f"/sys/bus/pci/devices/{address}/driver"] = "/sys/bus/pci/drivers/megaraid_sas"
        found.files |= {f"/sys/bus/pci/devices/{address}/{name}": text for name, text in _SLOT.items()}
    table = "\n".join(mounts)
    found.files |= {
        "/proc/self/mountinfo": table,
        "/proc/1/mountinfo": table,
        "/proc/1/comm": "systemd",
        "/proc/1/task/1/fd/0": "",
        "/proc/mdstat": _mdstat(rack),
        "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority",
        "/proc/cpuinfo": "\n".join(_CPU.format(number=number) for number in range(CORES)),
        "/proc/meminfo": "MemTotal:       98955508 kB\nMemFree:        91238744 kB",
        "/proc/self/smaps": "KernelPageSize:        4 kB",
        "/proc/sys/kernel/osrelease": "6.1.0-18-amd64",
        "/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 ro quiet",
        "/sys/devices/system/cpu/cpufreq/boost": "1",
        "/sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI",
        "/proc/sys/dev/raid/speed_limit_min": str(SYSTEM["sync_speed_min"]),
        "/proc/sys/dev/raid/speed_limit_max": str(SYSTEM["sync_speed_max"]),
        "/sys/devices/system/cpu/online": f"0-{CORES - 1}",
        "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm), simulated"',
        "/sys/module/megaraid_sas/version": "07.719.03.00-rc1",
    }
    found.files |= rack.installed
    return found


def _index(name: str) -> int:
    """0 for sda, 26 for sdaa."""
    number = 0
    for char in name.removeprefix("sd"):
        number = number * 26 + ord(char) - ord("a") + 1
    return number - 1


def _number(index: int) -> tuple[int, int]:
    """Major and first minor of a SCSI disk."""
    group, within = divmod(index % 256, 16)
    return _MAJORS[group], within * 16 + index // 256 * 256


def _volume(found: Kernel, rack: Rack, card: SimulatedCard, volume: Volume, mounts: list[str]) -> None:
    """The disk that a volume is to the kernel, its partitions and its mount."""
    name = volume.device
    major, minor = _number(_index(name))
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
    _disk(found, rack, name, folder, own, rotational=spinning, flushes=volume.writes_back(card.protected))
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
        record += _content(found, volume, volume.content, folder, (major, minor), mounts)
    found.files[f"/run/udev/data/b{major}:{minor}"] = "\n".join(record)


def _identified(card: SimulatedCard) -> tuple[str, str]:
    """SCSI vendor and product of a card's volumes."""
    short = card.product.split()[-1]
    if "Intel" in card.product:
        return "Intel", short
    return ("AVAGO", f"MR{short}") if "AVAGO" in card.product else ("LSI", f"MR{short}")


def _disk(
    found: Kernel,
    rack: Rack,
    name: str,
    folder: str,
    own: Mapping[str, str],
    *,
    rotational: bool,
    flushes: bool,
) -> None:
    base = f"/sys/block/{name}"
    queue = default_queue(rotational=rotational, flushes=flushes)
    queue |= {"nr_requests": own["mq/0/nr_tags"], **rack.queues.get(name, {})}
    depth = queue.pop(DEPTH, None)
    for key, text in own.items():
        found.files[f"{base}/{key}"] = depth if key == f"device/{DEPTH}" and depth is not None else text
    for key, text in queue.items():
        found.files[f"{base}/queue/{key}"] = text
    found.files[f"{folder}/queue/logical_block_size"] = queue["logical_block_size"]
    found.links[base] = folder
    _node(found, name, name, folder, own["dev"])


def _node(found: Kernel, name: str, disk: str, folder: str, devno: str) -> None:
    found.links[f"/sys/dev/block/{devno}"] = folder
    found.links[f"/dev/{name}"] = f"/dev/{name}"
    found.nodes[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)
    found.names[f"/dev/{name}"] = disk


def _content(
    found: Kernel, volume: Volume, content: Content, folder: str, number: tuple[int, int], mounts: list[str]
) -> list[str]:
    """Partitions, filesystems and mounts; gives the lines of the disk's own record."""
    major, minor = number
    if content.table is None:
        if content.mount is not None:
            mounts.append(_mount(len(mounts), f"{major}:{minor}", content, volume.device))
        return [*_filesystem(content)]
    parts = [(Content(filesystem="vfat", label="EFI", uuid="7A1C-93F0", mount="/boot/efi"), _EFI)]
    parts = parts if content.mount == "/" else []
    parts.append((content, volume.size_bytes - sum(size for _, size in parts) - 2 * _START))
    start = _START
    for at, (part, size) in enumerate(parts, start=1):
        name, devno = f"{volume.device}{at}", f"{major}:{minor + at}"
        base = f"/sys/block/{volume.device}/{name}"
        texts = {"dev": devno, "size": str(size // 512), "ro": "0", "partition": str(at), "start": str(start // 512)}
        found.files |= {f"{base}/{key}": text for key, text in texts.items()}
        found.files[f"{folder}/{name}/partition"] = str(at)
        _node(found, name, volume.device, f"{folder}/{name}", devno)
        found.files[f"/run/udev/data/b{devno}"] = "\n".join(_filesystem(part))
        if part.mount is not None:
            mounts.append(_mount(len(mounts), devno, part, name))
        start += size
    return [f"E:ID_PART_TABLE_TYPE={content.table}", f"E:ID_PART_TABLE_UUID={content.uuid[::-1]}"]


def _filesystem(content: Content) -> list[str]:
    return [
        f"E:ID_FS_TYPE={content.filesystem}",
        f"E:ID_FS_LABEL_ENC={content.label}",
        f"E:ID_FS_UUID={content.uuid}",
    ]


def _mount(at: int, devno: str, content: Content, name: str) -> str:
    where = f"{devno} / {content.mount} rw,relatime shared:{at}"
    return f"{30 + at} 25 {where} - {content.filesystem} /dev/{name} rw"


def _nvme(found: Kernel, rack: Rack, name: str, drive: DriveType | None, number: int) -> None:
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
    _disk(found, rack, name, folder, own, rotational=drive.media is Media.HDD, flushes=False)
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(["E:ID_BUS=nvme", *_raid_member(rack, name)])


def _sata(found: Kernel, rack: Rack, name: str, drive: DriveType | None, number: int) -> None:
    """A drive at a port of the mainboard."""
    if drive is None:
        return
    major, minor = _number(_index(name))
    address = f"{_AHCI + number}:0:0:0"
    serial = f"S47FNA0M2017{number:02d}"
    own = {
        "dev": f"{major}:{minor}",
        "size": str(drive.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(6 + number),
        "device/vendor": "ATA     ",
        "device/model": f"SAMSUNG {drive.model}"[:16],
        "device/rev": drive.firmware[:4],
        "device/state": "running",
        "device/wwid": f"naa.5002538e{number + 1:08x}",
        "device/queue_depth": "32",
        "mq/0/nr_tags": "32",
    }
    port = f"/sys/devices/pci0000:00/0000:00:1f.2/ata{number + 1}/host{_AHCI + number}"
    folder = f"{port}/target{address[:-2]}/{address}/block/{name}"
    _disk(found, rack, name, folder, own, rotational=drive.media is Media.HDD, flushes=True)
    found.files |= {
        f"/sys/class/scsi_disk/{address}/cache_type": "write back",
        f"/sys/class/scsi_host/host{_AHCI + number}/proc_name": "ahci",
        f"/sys/class/scsi_host/host{_AHCI + number}/can_queue": "32",
    }
    record = [
        f"E:ID_SERIAL_SHORT={serial}",
        f"E:ID_WWN=0x5002538e{number + 1:08x}",
        f"E:ID_PATH=pci-0000:00:1f.2-ata-{number + 1}",
        "E:ID_BUS=ata",
        *_raid_member(rack, name),
    ]
    found.files[f"/run/udev/data/b{own['dev']}"] = "\n".join(record)


def _raid_member(rack: Rack, name: str) -> list[str]:
    """What udev says of the metadata on a member."""
    arrays = (*rack.md.values(), *rack.stopped.values())
    array = next((one for one in arrays if name in {member.name for member in one.members}), None)
    if array is None:
        return []
    return ["E:ID_FS_TYPE=linux_raid_member", f"E:ID_FS_UUID={array.uuid}", f"E:ID_FS_LABEL_ENC={array.label}"]


def _md(found: Kernel, rack: Rack, array: MdArray) -> None:
    """An array of the kernel's RAID driver, and how it hangs together with its members."""
    name, now = array.name, rack.now()
    number = f"9:{name.removeprefix('md')}"
    folder, base = f"/sys/devices/virtual/block/{name}", f"/sys/block/{name}"
    own = {
        "dev": number,
        "size": str(array.size_bytes // 512),
        "ro": "0",
        "removable": "0",
        "diskseq": str(40 + array.sequence),
    }
    queue = {
        "read_ahead_kb": str(array.chunk * len(array.members) // 512 or 128),
        "nr_requests": "128",
        "rotational": "0",
        "scheduler": "none",
        "logical_block_size": "512",
        "physical_block_size": "4096",
        "max_sectors_kb": "512",
        "max_hw_sectors_kb": "2147483647",
        "nomerges": "0",
        "rq_affinity": "0",
        "add_random": "0",
        "iostats": "1",
        "write_cache": "write back",
        "zoned": "none",
    }
    queue |= rack.queues.get(name, {})
    for kind, texts in (("", own), ("queue/", queue), ("md/", array.files(now))):
        found.files |= {f"{base}/{kind}{key}": text for key, text in texts.items()}
    found.files[f"{folder}/queue/logical_block_size"] = "512"
    found.links[base] = folder
    _node(found, name, name, folder, number)
    for member in array.members:
        found.links[f"{base}/slaves/{member.name}"] = f"/sys/block/{member.name}"
        found.links[f"/sys/block/{member.name}/holders/{name}"] = folder
    record = {"MD_LEVEL": array.level, "MD_METADATA": "1.2", "MD_UUID": spelled(array.uuid), "MD_NAME": array.label}
    found.files[f"/run/udev/data/b{number}"] = "\n".join(f"E:{key}={text}" for key, text in record.items())


def _mdstat(rack: Rack) -> str:
    lines = ["Personalities : [raid1] [raid10]"]
    for array in rack.md.values():
        lines += array.stat_lines(rack.now())
    return "\n".join([*lines, "unused devices: <none>", ""])
