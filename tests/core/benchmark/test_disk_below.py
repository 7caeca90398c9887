"""The disk below a filesystem: its node and its block size, also if the filesystem is on a partition."""

from __future__ import annotations

from app.core.benchmark.device_access import DeviceAccess
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over

DISK = "/sys/devices/pci0000:00/nvme/nvme0/nvme0n1"
FILES = {f"{DISK}/queue/logical_block_size": "4096", f"{DISK}/nvme0n1p2/partition": "2"}
LINKS = {"/sys/dev/block/259:0": DISK, "/sys/dev/block/259:2": f"{DISK}/nvme0n1p2"}


@loop_over(
    ("number", "below"),
    [
        ("259:0", ("/dev/nvme0n1", 4096)),
        ("259:2", ("/dev/nvme0n1", 4096)),
        ("0:50", (None, 512)),
    ],
)
async def test_a_filesystem_is_on_the_disk_of_its_device_number(number: str, below: tuple[str | None, int]) -> None:
    host = FakeHost(FILES)
    host.links |= LINKS
    assert await DeviceAccess(host).disk_below(number) == below


@loop_over("size", ["", "0", "none", "-512"])
async def test_a_block_size_that_is_not_reported_is_that_of_a_sector(size: str) -> None:
    host = FakeHost({**FILES, f"{DISK}/queue/logical_block_size": size})
    host.links |= LINKS
    assert await DeviceAccess(host).disk_below("259:0") == ("/dev/nvme0n1", 512)
