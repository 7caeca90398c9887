"""What uses what, on machines made by hand: layers of LVM, md, btrfs, swap and partitions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed, FileStat
from backends.identity import Use
from backends.topology import Topology, scan_topology
from backends.topology.open_files import OpenFileHolder, openers
from backends.topology.tree import page_bytes
from tests.backends.fakes import FakeHost, disk, machine


def part(parent: str, name: str, devno: str) -> dict[str, str]:
    base = f"/sys/block/{parent}/{name}"
    return {f"{base}/partition": "1", f"{base}/dev": devno, f"{base}/size": "2048", f"{base}/ro": "0"}


def built(above: str, *below: str) -> dict[str, str]:
    """`above` lies on `below`: the links the kernel makes in both directions."""
    files = {}
    for path in below:
        files[f"/sys/block/{path}/holders/{above}"] = ""
        files[f"/sys/block/{above}/slaves/{path.rsplit('/', 1)[-1]}"] = ""
    return files


def mountinfo(*mounts: tuple[str, str, str, str]) -> str:
    return "\n".join(
        f"{30 + index} 1 {devno} / {point} rw shared:1 - {fstype} {source} rw"
        for index, (devno, point, fstype, source) in enumerate(mounts)
    )


async def picture(*parts: dict[str, str], mounts: str, everywhere: bool = False) -> Topology:
    files = machine(*parts) | {"/proc/self/mountinfo": mounts}
    stats = {"/dev/sdb2": FileStat(kind="block", size=0, devno="8:18")}
    return await scan_topology(FakeHost(files, stats=stats), everywhere=everywhere)


async def test_root_on_lvm_on_md_makes_all_disks_below_the_systems() -> None:
    found = await picture(
        disk("sda") | part("sda", "sda1", "8:1"),
        disk("sdb", devno="8:16") | part("sdb", "sdb1", "8:17"),
        disk("sdc", devno="8:32"),
        disk("md0", devno="9:0"),
        disk("dm-0", devno="253:0", dm__name="vg-root"),
        built("md0", "sda/sda1", "sdb/sdb1"),
        built("dm-0", "md0"),
        mounts=mountinfo(("253:0", "/", "ext4", "/dev/mapper/vg-root")),
    )
    assert {"sda", "sdb"} <= found.system
    assert found.uses("sdc") == ()
    assert Use(kind="holder", detail="/dev/md0 is built on it", part="sda1") in found.uses("sda")
    assert Use(kind="holder", detail="/dev/mapper/vg-root is built on it") in found.uses("md0")


async def test_the_second_device_of_a_mounted_btrfs_is_used() -> None:
    found = await picture(
        disk("sdb", devno="8:16"),
        disk("sdc", devno="8:32"),
        {"/sys/fs/btrfs/u-u-i-d/devices/sdb": "", "/sys/fs/btrfs/u-u-i-d/devices/sdc": ""},
        mounts=mountinfo(("0:40", "/srv", "btrfs", "/dev/sdb")),
    )
    assert {use.detail for use in found.uses("sdc")} == {"mounted on /srv", "part of the mounted btrfs u-u-i-d"}


async def test_swap_on_a_partition_uses_the_whole_disk() -> None:
    swaps = "Filename\tType\tSize\tUsed\tPriority\n/dev/sdb2 partition 1024 0 -2\n/swap\\040file file 1 0 -3"
    found = await picture(
        disk("sdb", devno="8:16") | part("sdb", "sdb2", "8:18"), {"/proc/swaps": swaps}, mounts=mountinfo()
    )
    assert found.uses("sdb") == (Use(kind="swap", detail="active swap", part="sdb2"),)
    assert found.swaps == ("8:18", "/swap file")


async def test_a_mount_seen_only_by_another_program_is_found_and_named() -> None:
    theirs = mountinfo(("8:16", "/mnt/a\\040b", "ext4", "/dev/sdb"))
    found = await picture(
        disk("sdb", devno="8:16"),
        {"/proc/77/mountinfo": theirs, "/proc/77/comm": "container"},
        mounts=mountinfo(),
        everywhere=True,
    )
    (use,) = found.uses("sdb")
    assert use.detail == "mounted on /mnt/a b (in the mount namespace of container, process 77)"


async def test_what_is_mounted_here_is_not_told_again_of_every_other_mount_namespace() -> None:
    here = mountinfo(("8:16", "/", "ext4", "/dev/sdb"))
    files = {}
    for pid, more in ((77, "/srv/a"), (78, "/srv/b")):
        files[f"/proc/{pid}/comm"] = "box"
        files[f"/proc/{pid}/mountinfo"] = mountinfo(
            ("8:16", "/", "ext4", "/dev/sdb"), ("8:16", more, "ext4", "/dev/sdb")
        )
    found = await picture(disk("sdb", devno="8:16"), files, mounts=here, everywhere=True)
    assert [use.detail for use in found.uses("sdb") if use.kind == "mount"] == [
        "mounted on /",
        "mounted on /srv/a (in the mount namespace of box, process 77)",
        "mounted on /srv/b (in the mount namespace of box, process 78)",
    ]


async def test_names_with_a_slash_are_understood() -> None:
    found = await picture(
        disk("cciss!c0d0", devno="104:0") | part("cciss!c0d0", "cciss!c0d0p1", "104:1"),
        mounts=mountinfo(("104:1", "/home", "ext4", "/dev/cciss/c0d0p1")),
    )
    assert found.tree.nodes["cciss!c0d0p1"].device == "/dev/cciss/c0d0p1"
    assert [use.part for use in found.uses("cciss!c0d0")] == ["cciss!c0d0p1"]


async def test_partitions_are_in_the_order_of_their_numbers() -> None:
    disks = disk("sda")
    for number in (10, 2, 1):
        disks |= part("sda", f"sda{number}", f"8:{number}")
    found = await picture(disks, mounts=mountinfo())
    assert found.tree.nodes["sda"].partitions == ("sda1", "sda2", "sda10")


async def test_a_zfs_member_is_used_while_pools_are_imported() -> None:
    member = {"/run/udev/data/b8:16": "E:ID_FS_TYPE=zfs_member"}
    pool = {"/proc/spl/kstat/zfs/tank/state": "ONLINE"}
    idle = await picture(disk("sdb", devno="8:16"), member, mounts=mountinfo())
    busy = await picture(disk("sdb", devno="8:16"), member, pool, mounts=mountinfo())
    assert idle.uses("sdb") == ()
    assert "tank" in busy.uses("sdb")[0].detail


async def test_an_exported_device_is_used() -> None:
    path = "/sys/kernel/config/nvmet/subsystems/nqn.example/namespaces/1/device_path"
    found = await picture(
        disk("sdb", devno="8:16") | part("sdb", "sdb2", "8:18"),
        {path: "/dev/sdb2"},
        mounts=mountinfo(),
        everywhere=True,
    )
    assert [use.kind for use in found.uses("sdb")] == ["export"]


SCSI_TARGET = "Status: ACTIVATED  SectorSize: 512\n        TCM FILEIO ID: 0        File: {}  Size: 8192  Mode: O_DSYNC"


async def test_a_device_exported_as_a_file_is_used() -> None:
    told = {"/sys/kernel/config/target/core/fileio_0/disk1/info": SCSI_TARGET.format("/dev/sdb2")}
    disks = disk("sdb", devno="8:16") | part("sdb", "sdb2", "8:18")
    found = await picture(disks, told, mounts=mountinfo(), everywhere=True)
    assert [use.detail for use in found.uses("sdb")] == ["exported by the SCSI target disk1"]


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("nvmet/subsystems/nqn/namespaces/1/device_path", "/srv/image", "the NVMe target nqn"),
        ("target/core/fileio_3/disk1/info", SCSI_TARGET.format("/srv/image"), "the SCSI target disk1"),
    ],
)
async def test_a_loop_device_on_an_exported_image_is_used(path: str, text: str, words: str) -> None:
    host = FakeHost(
        disk("loop0", devno="7:0", loop__backing_file="/srv/image")
        | {"/proc/self/mountinfo": mountinfo(), f"/sys/kernel/config/{path}": text},
        stats={"/srv/image": FileStat(kind="file", size=4096, place="8:1:12")},
    )
    found = await scan_topology(host, everywhere=True)
    assert [use.detail for use in found.uses("loop0")] == [f"set up on /srv/image, exported by {words}"]


async def test_openers_are_found_by_number_and_our_own_do_not_count() -> None:
    host = FakeHost(
        {"/proc/7/task/7/fd/3": "", "/proc/8/task/9/fd/4": "", "/proc/8/task/8/fd/5": "", "/proc/8/comm": "qemu"},
        stats={
            "/proc/7/task/7/fd/3": FileStat(kind="block", size=0, devno="8:16"),
            "/proc/8/task/9/fd/4": FileStat(kind="block", size=0, devno="8:16"),
            "/proc/8/task/8/fd/5": FileStat(kind="char", size=0, devno="8:16"),
        },
    )
    assert await openers(host, ("8:16",), ignore=(7,)) == ({"8:16": (OpenFileHolder("qemu", "8"),)}, None)


async def test_what_cannot_be_read_is_told() -> None:
    found = await scan_topology(FakeHost(disk("sdb")))
    assert set(found.blind) == {"/proc/self/mountinfo could not be read", "/proc/swaps could not be read"}


async def test_an_lsblk_that_gives_no_answer_hides_no_disk_and_counts_as_not_knowing() -> None:
    class Stuck(FakeHost):
        def which(self, names: Sequence[str]) -> str | None:
            return "/bin/lsblk" if "lsblk" in names else None

        async def run(self, command: Command) -> Completed:
            raise ToolTimeoutError("lsblk did not finish within 20 s.")

    found = await scan_topology(Stuck(machine(disk("sda"))))
    assert "sda" in found.tree.nodes
    assert found.blind == ("lsblk did not finish within 20 s, so the content of the devices is unknown",)


@pytest.mark.parametrize(
    ("smaps", "size"),
    [("KernelPageSize:       64 kB\nMMUPageSize: 4 kB", 65536), ("KernelPageSize: 0 kB", 4096), ("", 4096)],
)
async def test_the_kernels_page_is_asked_of_the_kernel(smaps: str, size: int) -> None:
    assert await page_bytes(FakeHost({"/proc/self/smaps": smaps})) == size


async def test_without_smaps_the_page_is_the_usual_one() -> None:
    assert await page_bytes(FakeHost({})) == 4096


async def layers() -> Topology:
    """A volume on an array on partitions of two disks, and a third disk."""
    return await picture(
        disk("sda") | part("sda", "sda1", "8:1") | part("sda", "sda2", "8:2"),
        disk("sdb", devno="8:16") | part("sdb", "sdb1", "8:17"),
        disk("sdc", devno="8:32"),
        disk("md0", devno="9:0"),
        disk("dm-0", devno="253:0", dm__name="vg-data"),
        built("md0", "sda/sda1", "sdb/sdb1"),
        built("dm-0", "md0"),
        mounts=mountinfo(),
    )


@pytest.mark.parametrize("other", ["md0", "dm-0", "sda1", "sda2"])
async def test_a_disk_has_data_in_common_with_all_that_is_built_on_it(other: str) -> None:
    found = await layers()
    assert found.backing_disks_and_files("sda") & found.backing_disks_and_files(other) == {"/dev/sda"}


async def test_disks_of_their_own_have_nothing_in_common() -> None:
    found = await layers()
    assert found.backing_disks_and_files("sdc") & found.backing_disks_and_files("dm-0") == set()
