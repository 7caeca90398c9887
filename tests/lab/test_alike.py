"""The questions by which the simulated Linux host is held to real Linux, asked of real Linux."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from backends.system.local import LocalHost
from tests.lab.disks import Disk
from tests.lab.making import Md, bcache_device, dm_node, dm_target, two_path_disk
from tests.lab.running import run
from tests.lab.uses import zfs_pool
from tests.linux_alike import Place, unlike

GROUP = "labalike"
BUILT = os.environ.get("RAIDBENCH_LAB_ZFS", "")
"""Where ZFS was built for the guest (docs/dev/lab.md); without it nothing is asked of a zvol."""

Array = Callable[..., Md]


@pytest.fixture
def place(blank: Callable[..., tuple[Disk, ...]], array: Array, stack: ExitStack) -> Iterator[Place]:
    """A mirror of hard disks with volumes behind an NVMe drive, a disk behind another one, and a disk on two paths."""
    own = Path(os.environ["LVM_SYSTEM_DIR"], "lvm.conf").read_text()
    Path("/etc/lvm").mkdir(exist_ok=True)
    Path("/etc/lvm/lvm.conf").write_text(own)
    os.environ["LVM_SUPPRESS_FD_WARNINGS"] = "1"
    run("modprobe", "-a", "dm-cache", "dm-cache-smq", "dm-writecache", "dm-round-robin")
    mirror = array("raid1", ["sata0", "sata1"], size="160M")
    slow, fast, front = blank("sata2", "nvme0", "nvme1")
    first, second = stack.enter_context(two_path_disk())
    pathed = stack.enter_context(
        dm_target(f"0 65536 multipath 0 0 1 1 round-robin 0 2 1 {first.device} 1000 {second.device} 1000")
    )
    cached = stack.enter_context(bcache_device(slow.device, front.device))
    run("pvcreate", "--yes", mirror.device, fast.device)
    run("vgcreate", "--yes", "--physicalextentsize=1M", GROUP, mirror.device, fast.device)
    plain = ("--yes", "--zero=n", "--wipesignatures=n")
    sizes = {"spare": "8M", "mail": "24M", "db": "24M"}
    for name, size in sizes.items():
        run("lvcreate", *plain, f"--size={size}", "--name", name, GROUP, mirror.device)
    for name in ("fastmail", "fastdb"):
        run("lvcreate", *plain, "--size=20M", "--activate=n", "--name", name, GROUP, fast.device)
    run("lvconvert", "--yes", "--type=writecache", "--cachevol=fastdb", f"{GROUP}/db")
    run("lvconvert", "--yes", "--type=cache", "--cachevol=fastmail", "--cachemode=writethrough", f"{GROUP}/mail")
    zvol = {}
    if BUILT:
        stack.enter_context(zfs_pool(Path(BUILT), *blank("nvme2", "nvme3")))
        zvol["zvol"] = "zd0"
    node = {name: dm_node(f"{GROUP}-{name}").removeprefix("/dev/") for name in sizes}
    yield Place(
        disks={
            "array": mirror.kernel,
            "volume": node["spare"],
            "cached": node["mail"],
            "writecached": node["db"],
            "bcache": cached.kernel,
            "multipath": pathed.kernel,
            **zvol,
        },
        volumes={"volume": f"{GROUP}/spare", "cached": f"{GROUP}/mail", "writecached": f"{GROUP}/db"},
        caches={"cached": "fastmail", "writecached": "fastdb"},
    )
    run("vgremove", "--yes", "--force", GROUP)
    run("pvremove", "--yes", mirror.device, fast.device)


@pytest.mark.seconds(600)
async def test_linux_tells_what_the_simulated_host_is_held_to(place: Place) -> None:
    assert await unlike(LocalHost(), place) == {}
