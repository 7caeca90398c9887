"""Makes `storage-server/machine.json`: two NVMe drives, four SATA SSDs and four SAS disks that never existed.

`python -m tests.machines.storage_server` writes it anew. The files of sysfs, procfs and udev are set up by hand, read
through the real backends by a recording host, and so hold exactly what raidbench asks for.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.core.fio.preflight import preflight
from app.core.session.machine import machine_facts
from backends.errors import ToolMissingError
from backends.host import Command, Completed, FileStat
from backends.registry import MachineBackends
from backends.system.recorded import RecordingHost
from backends.topology.facts import gather_facts
from tests.backends.fakes import FakeHost

NAME = "storage1"
FOLDER = Path(__file__).parent / "storage-server"

_T = 10**12
_FLASH = {
    "scheduler": "[none] mq-deadline",
    "read_ahead_kb": "128",
    "nr_requests": "1023",
    "rq_affinity": "1",
    "nomerges": "0",
    "wbt_lat_usec": "2000",
    "max_sectors_kb": "128",
    "max_hw_sectors_kb": "128",
    "write_cache": "write through",
    "add_random": "0",
    "iostats": "1",
    "rotational": "0",
    "logical_block_size": "512",
    "physical_block_size": "4096",
    "zoned": "none",
}
_SATA = _FLASH | {
    "scheduler": "[mq-deadline] none",
    "nr_requests": "64",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "4096",
    "write_cache": "write back",
}
_DISK = _SATA | {
    "nr_requests": "256",
    "wbt_lat_usec": "75000",
    "rotational": "1",
    "max_hw_sectors_kb": "16384",
    "write_cache": "write through",
}
_SCHEDULERS = {"read_expire": "500", "write_expire": "5000", "writes_starved": "2", "front_merges": "1"}


class Server(FakeHost):
    """A host made of the tables below."""

    @property
    def name(self) -> str:
        return NAME

    async def run(self, command: Command) -> Completed:
        program = command.argv[0].rsplit("/", 1)[-1]
        match program, command.argv[1:2]:
            case "fio", ("--version",):
                return Completed(returncode=0, stdout="fio-3.33\n", stderr="")
            case "fio", ("--enghelp",):
                engines = "\n".join(f"\t{name}" for name in ("sync", "psync", "libaio", "io_uring", "null"))
                return Completed(returncode=0, stdout=f"Available IO engines:\n{engines}\n", stderr="")
            case "fio", _:
                return Completed(returncode=0, stdout='{\n  "fio version" : "fio-3.33"\n}\n', stderr="")
            case "blkid", _:
                return Completed(returncode=2, stdout="", stderr="")
            case "wipefs", _:
                return Completed(returncode=0, stdout='{"signatures": []}', stderr="")
            case _:
                raise ToolMissingError(f"{program} is not there.")

    def which(self, names: Sequence[str]) -> str | None:
        return next((f"/usr/bin/{name}" for name in names if name in ("fio", "blkid", "wipefs")), None)


class Parts:
    """Files, links and device nodes, collected drive by drive."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.stats: dict[str, FileStat] = {}

    def disk(
        self,
        name: str,
        devno: str,
        size: int,
        bus: str,
        queue: Mapping[str, str],
        *,
        udev: Mapping[str, str],
        tags: int,
        **attributes: str,
    ) -> None:
        """One whole disk; further attributes with `__` for `/`."""
        base, real = f"/sys/block/{name}", f"/sys/devices/{bus}/{name}"
        own = {"dev": devno, "size": str(size // 512), "ro": "0", "removable": "0", "diskseq": str(len(self.links) + 1)}
        own |= {f"queue/{key}": value for key, value in queue.items()}
        own |= {key.replace("__", "/"): value for key, value in attributes.items()} | {"mq/0/nr_tags": str(tags)}
        if "[mq-deadline]" in queue["scheduler"]:
            own |= {f"queue/iosched/{key}": value for key, value in _SCHEDULERS.items()}
        self.files |= {f"{base}/{key}": value for key, value in own.items()}
        self.files[f"{real}/queue/logical_block_size"] = queue["logical_block_size"]
        self.links |= {base: real, f"/sys/dev/block/{devno}": real}
        self._node(name, devno, udev)

    def part(self, disk: str, name: str, devno: str, start: int, size: int, **udev: str) -> None:
        """One partition."""
        base = f"/sys/block/{disk}/{name}"
        digits = name.removeprefix(disk).removeprefix("p")
        own = {"dev": devno, "size": str(size // 512), "ro": "0", "partition": digits, "start": str(start)}
        self.files |= {f"{base}/{key}": value for key, value in own.items()}
        self._node(name, devno, udev)

    def _node(self, name: str, devno: str, udev: Mapping[str, str]) -> None:
        self.files[f"/run/udev/data/b{devno}"] = "\n".join(f"E:{key}={value}" for key, value in udev.items())
        self.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)


def server() -> Server:
    """The whole machine."""
    parts = Parts()
    for number, serial in enumerate(("S6A2NE0T401377", "S6A2NE0T401392")):
        address = f"0000:{65 + number}:00.0"
        parts.disk(
            f"nvme{number}n1",
            f"259:{number * 4}",
            1920383410176,
            f"pci0000:64/0000:64:0{number}.0/{address}/nvme/nvme{number}",
            _FLASH,
            tags=1023,
            udev={"ID_PATH": f"pci-{address}-nvme-1"} | ({"ID_PART_TABLE_TYPE": "gpt"} if number == 0 else {}),
            wwid=f"eui.36413230{serial[-4:]}00010025385300000001",
            device__model="SAMSUNG MZQL21T9HCJR-00A07",
            device__serial=serial,
            device__firmware_rev="GDC5602Q",
            device__state="live",
        )
    parts.part("nvme0n1", "nvme0n1p1", "259:1", 2048, 512 << 20, ID_FS_TYPE="vfat", ID_FS_UUID="6C1E-22A0")
    parts.part("nvme0n1", "nvme0n1p2", "259:2", 1050624, 1919 * 10**9, ID_FS_TYPE="ext4", ID_FS_LABEL="system")
    for number, serial in enumerate(("BTYF0350", "BTYF0351", "BTYF0357", "BTYF0368")):
        uses = {"ID_PART_TABLE_TYPE": "gpt"} if number == 0 else {}
        parts.disk(
            f"sd{'abcd'[number]}",
            f"8:{number * 16}",
            960197124096,
            f"pci0000:00/0000:00:17.0/ata{number + 1}/host{number}/target{number}:0:0/{number}:0:0:0/block",
            _SATA,
            tags=32,
            udev={"ID_PATH": f"pci-0000:00:17.0-ata-{number + 1}", "ID_SERIAL_SHORT": f"{serial}960CGN"} | uses,
            device__vendor="ATA",
            device__model="INTEL SSDSC2KG96",
            device__rev="0132",
            device__wwid=f"naa.55cd2e415{serial[-4:]}a1c",
            device__state="running",
        )
    parts.part("sda", "sda1", "8:1", 2048, 960 * 10**9, ID_FS_TYPE="xfs", ID_FS_LABEL="database")
    for number, serial in enumerate(("ZA1D7K0M", "ZA1D7K3R", "ZA1D7L9Q", "ZA1D7M2T")):
        uses = {"ID_FS_TYPE": "LVM2_member"} if number == 0 else {}
        parts.disk(
            f"sd{'efgh'[number]}",
            f"8:{(number + 4) * 16}",
            8 * _T + 1563090944,
            f"pci0000:3a/0000:3a:00.0/0000:3b:00.0/host8/port-8:{number}/end_device-8:{number}"
            f"/target8:0:{number}/8:0:{number}:0/block",
            _DISK,
            tags=256,
            udev={"ID_PATH": f"pci-0000:3b:00.0-sas-phy{number}-lun-0", "ID_SCSI_SERIAL": serial} | uses,
            device__vendor="SEAGATE",
            device__model="ST8000NM0185",
            device__rev="PT51",
            device__wwid=f"naa.5000c500a6{number}b3f7",
            device__state="running",
        )
    parts.files |= {
        "/sys/block/dm-0/dev": "253:0",
        "/sys/block/dm-0/size": str(4 * _T // 512),
        "/sys/block/dm-0/ro": "0",
        "/sys/block/dm-0/dm/name": "backup-archive",
        "/sys/block/dm-0/dm/uuid": "LVM-q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6",
        "/sys/block/dm-0/queue/scheduler": "none",
        "/sys/block/dm-0/slaves/sde": "",
        "/sys/block/sde/holders/dm-0": "",
    }
    parts.links["/sys/block/dm-0"] = "/sys/devices/virtual/block/dm-0"
    parts.files |= _procfs()
    parts.links |= {
        "/proc/self/ns/mnt": "/proc/900/ns/mnt:[4026531841]",
        "/proc/1/ns/mnt": "/proc/1/ns/mnt:[4026531841]",
    }
    parts.stats["/proc/1/task/1/fd/0"] = FileStat(kind="char", size=0, devno="1:3")
    return Server(parts.files, links=parts.links, stats=parts.stats)


def _procfs() -> dict[str, str]:
    cpu = "model name\t: AMD EPYC 7313P 16-Core Processor"
    mounts = (
        "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw",
        "30 22 259:1 / /boot/efi rw,relatime shared:9 - vfat /dev/nvme0n1p1 rw",
        "41 22 8:1 / /srv/database rw,noatime shared:21 - xfs /dev/sda1 rw",
        "44 22 253:0 / /srv/archive rw,noatime shared:24 - xfs /dev/mapper/backup-archive rw",
    )
    return {
        "/proc/cpuinfo": "\n\n".join(f"processor\t: {number}\n{cpu}" for number in range(32)),
        "/proc/meminfo": "MemTotal:       131813504 kB",
        "/proc/sys/kernel/osrelease": "6.1.0-28-amd64",
        "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
        "/proc/self/mountinfo": "\n".join(mounts),
        "/proc/1/mountinfo": "\n".join(mounts),
        "/proc/1/comm": "systemd",
        "/proc/1/task/1/fd/0": "",
        "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority",
        "/proc/self/smaps": "KernelPageSize:        4 kB",
    }


async def record(folder: Path) -> None:
    """Ask all that the screens and commands ask, and keep the answers."""
    host = RecordingHost(server())
    await machine_facts(host)
    await preflight(host)
    machine = MachineBackends.of(host)
    inventory = await machine.probe()
    for drive in inventory.drives:
        backend = machine.setter(drive.target)
        now = await backend.read(drive.target)
        other = next(
            (choice.value for choice in now["scheduler"].choices if choice.value != now["scheduler"].now), None
        )
        if other is not None:
            await backend.plan(drive.target, "scheduler", other)
        await host.link(f"/sys/dev/block/{drive.identity.devno}" if drive.identity else "")
        await gather_facts(host, drive.device or "", claim=None)
    for path in sorted(path for path in server().files if path.endswith("/queue/logical_block_size")):
        await host.read(path)
    host.save(folder)


if __name__ == "__main__":
    asyncio.run(record(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
