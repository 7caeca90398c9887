"""What the rules see comes from sysfs and procfs as the kernel writes them."""

from __future__ import annotations

import pytest

from app.features.check.collector import cpu_list, gather
from app.features.check.runner import evaluate
from app.features.check.snapshot import SystemSnapshot
from backends.model import Controller, Inventory, Scope, Target
from tests.backends.fakes import FakeHost

PCI = "/sys/bus/pci/devices/0000:03:00.0"
REAL = "/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0"
FILES = {
    f"{PCI}/current_link_speed": "8.0 GT/s PCIe",
    f"{PCI}/current_link_width": "4",
    f"{PCI}/max_link_speed": "8.0 GT/s PCIe",
    f"{PCI}/max_link_width": "8",
    f"{PCI}/numa_node": "1",
    f"{PCI}/msi_irqs/40": "msix",
    f"{PCI}/msi_irqs/41": "msix",
    "/proc/irq/40/effective_affinity_list": "3",
    "/proc/irq/41/effective_affinity_list": "3",
    "/sys/devices/pci0000:00/0000:00:01.0/max_link_speed": "8.0 GT/s PCIe",
    "/sys/devices/pci0000:00/0000:00:01.0/max_link_width": "16",
    "/sys/devices/system/node/node0/cpulist": "0-3",
    "/sys/devices/system/node/node1/cpulist": "4-7",
    "/sys/devices/system/cpu/online": "0-7",
    "/sys/fs/cgroup/system.slice/db.service/io.max": "8:0 rbps=1048576 wbps=max riops=max wiops=max",
    "/sys/class/nvme-subsystem/nvme-subsys0/iopolicy": "numa",
    "/sys/class/nvme-subsystem/nvme-subsys0/nvme0/state": "live",
    "/sys/class/nvme-subsystem/nvme-subsys0/nvme1/state": "live",
    "/sys/class/nvme-subsystem/nvme-subsys0/nvme0n1/size": "1",
    "/sys/block/md0/md/dev-sda1/offset": "2049",
    "/sys/block/md0/queue/discard_max_bytes": "0",
    "/sys/block/sda/queue/discard_max_bytes": "2147450880",
    "/sys/block/sda/sda1/start": "2048",
    "/proc/self/mountinfo": "31 25 8:1 / /srv rw,noatime shared:1 - ext4 /dev/sda1 rw,nobarrier",
}
LINKS = {PCI: REAL, "/sys/block/md0/slaves/sda1": f"{REAL}/block/sda/sda1"}


@pytest.fixture
async def snapshot() -> SystemSnapshot:
    card = Controller(
        target=Target(backend="hba", address="0000:03:00.0", scope=Scope.CONTROLLER), vendor="hba", pci="0000:03:00.0"
    )
    return await gather(FakeHost(FILES, links=LINKS), Inventory(controllers=(card,)), {})


async def test_the_faults_of_a_kernel_are_found_in_its_files(snapshot: SystemSnapshot) -> None:
    found = {(one.rule.id, one.outcome.where) for one in evaluate(snapshot).findings}
    assert found >= {
        ("pcie-link-slow", "hba:0000:03:00.0"),
        ("irq-one-cpu", "hba:0000:03:00.0"),
        ("irq-far", "hba:0000:03:00.0"),
        ("io-capped", "system.slice/db.service"),
        ("path-policy", "nvme-subsys0"),
        ("trim-lost", "md0"),
        ("barriers-off", "/srv"),
    }


async def test_a_member_of_md_begins_where_its_partition_and_its_offset_say(snapshot: SystemSnapshot) -> None:
    from dataclasses import replace

    from backends.model import Drive

    drive = Drive(target=Target(backend="block", address="sda"), device="/dev/sda", physical_block=4096)
    seen = replace(snapshot, inventory=Inventory(drives=(drive,)))
    assert [one.outcome.where for one in evaluate(seen).findings if one.rule.id == "misaligned"] == ["md0 on sda1"]


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("", set()), ("x", set()), ("1-", {1}), ("0-9999999", set())],
)
def test_a_list_of_processors_is_read(text: str, cpus: set[int]) -> None:
    assert cpu_list(text) == cpus
