"""Machines with arrays, as files, and the kernel's counters of their disks."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.benchmark.device_stats import MemberSampler, member_meter
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

STATS = "/proc/diskstats"


def line(
    name: str, *, reads: int = 0, writes: int = 0, busy: int = 0, waited: int = 0, sectors: int = 8, took: int = 7
) -> str:
    """A device's line as Linux 6.1 writes it; every I/O moves as many sectors, and all reads took so many ms."""
    moved = f"{reads} 3 {reads * sectors} {took} {writes} 5 {writes * sectors} 11 2 {busy} {waited} 0 0 0 0 1 4"
    return f" 259       2 {name} {moved}"


def stats(**devices: Mapping[str, int]) -> str:
    """The whole file; dashes of names as underscores. Others come before, between and after."""
    noise = [line("loop0", reads=9), line("ram1", reads=9)]
    own = [line(name.replace("_", "-"), **counts) for name, counts in devices.items()]
    return "\n".join([noise[0], *own, noise[1]])


def array(name: str, level: str = "raid1", **members: str) -> dict[str, str]:
    """sysfs files of an md array; each member with the words of its state."""
    base = f"/sys/block/{name}"
    files = disk(name, md__level=level, md__raid_disks=str(len(members)))
    for slot, (member, state) in enumerate(members.items()):
        files |= {f"{base}/slaves/{member}": "", f"{base}/md/dev-{member}/state": state}
        files[f"{base}/md/dev-{member}/slot"] = str(slot)
    return files


def mirror(first: str = "in_sync", second: str = "in_sync,write_mostly", **more: str) -> FakeHost:
    """A mirror of an NVMe and a SATA disk."""
    return FakeHost(
        machine(
            disk("nvme0n1", device__model="SAMSUNG MZQL2960"),
            disk("sda", device__model="SM883"),
            array("md0", nvme0n1=first, sda=second),
            {STATS: stats(nvme0n1={}, sda={})},
            **more,
        )
    )


def nested() -> FakeHost:
    """A stripe over two mirrors."""
    disks = [disk(name) for name in ("sda", "sdb", "sdc", "sdd")]
    mirrors = [array("md1", sda="in_sync", sdb="in_sync"), array("md2", sdc="in_sync", sdd="in_sync")]
    top = array("md0", "raid0", md1="in_sync", md2="in_sync")
    return FakeHost(machine(*disks, *mirrors, top, {STATS: stats(md1={}, sda={}, sdb={}, md2={}, sdc={}, sdd={})}))


def uncounted(host: FakeHost, name: str) -> FakeHost:
    """The host, no count being kept of a disk."""
    host.files[f"/sys/block/{name}/queue/iostats"] = "0"
    return host


QUIET = {**QUEUE, "iostats": "0"}
"""The queue of a disk that is not counted."""


async def meter(host: FakeHost, device: str = "/dev/md0", seconds: float = 0.5) -> MemberSampler:
    """A meter for whom every reading is so much later."""
    made = await member_meter(host, (device,))
    at = iter(range(1 << 20))
    made._clock = lambda: next(at) * seconds
    return made
