"""A disk of LVM, bcache, ZFS or a container is in use, and the layer is named: on machines made by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from backends.errors import ToolTimeoutError
from backends.guard import Intent, judge
from backends.host import THIS_MACHINE, Command, Completed, FileStat
from backends.topology import Node, scan_topology
from backends.topology.facts import gather_facts
from backends.topology.signatures import group_in
from backends.topology.stacking import is_volume, parse_status
from tests.backends.fakes import MOUNTS, FakeHost, disk, dm_tables, machine

GROUP, VOLUME = "g" * 32, "v" * 32
STATUS = """\
  pool: tank
 state: ONLINE
config:

\tNAME                 STATE     READ WRITE CKSUM
\ttank                 ONLINE       0     0     0
\t  mirror-0           ONLINE       0     0     0
\t    /dev/sda1        ONLINE       0     0     0
\t    /dev/sdb         ONLINE       0     0     0
\tspecial\t
\t  /dev/sdc           ONLINE       0     0     0
\tlogs\t
\t  mirror-1           ONLINE       0     0     0
\t    /dev/sdd         ONLINE       0     0     0
\t    9318294871204    UNAVAIL      0     0     0  was /dev/sdz1
\tcache
\t  /dev/sde           ONLINE       0     0     0
\tspares
\t  /dev/sdf           AVAIL

errors: No known data errors

  pool: cache
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\tcache       ONLINE       0     0     0
\t  /dev/sdg  ONLINE       0     0     0
\tdedup
\t  /srv/file ONLINE       0     0     0

errors: No known data errors
"""
DISKS = ("sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh")


def lvm(name: str, layer: str = "") -> dict[str, str]:
    return {"dm__name": name, "dm__uuid": f"LVM-{GROUP}{VOLUME}{layer}"}


class Machine(FakeHost):
    """Disks and what is built on them; `zpool` answers only to the words that are asked for."""

    def __init__(self) -> None:
        super().__init__(machine({}))
        self.files["/proc/1/task/1/fd/0"] = ""
        self.reached = THIS_MACHINE
        self.asked: list[tuple[str, ...]] = []
        self.hanging = False
        self.tools["dmsetup"] = Completed(returncode=0, stdout="", stderr="")
        self.add("vda")

    def add(self, name: str, *below: str, **own: str) -> None:
        """A device, and what it is built on."""
        devno = f"250:{len(self.stats)}"
        own = {"wwid": f"naa.{len(self.stats)}", **own}
        self.files |= disk(name, devno=devno)
        self.files |= {f"/sys/block/{name}/{key.replace('__', '/')}": text for key, text in own.items()}
        self.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)
        for one in below:
            self.files |= {f"/sys/block/{name}/slaves/{one}": "", f"/sys/block/{one}/holders/{name}": ""}

    def part(self, name: str) -> None:
        """A partition of a disk."""
        base, devno = f"/sys/block/{name[:3]}/{name}", f"250:{len(self.stats)}"
        self.files |= {f"{base}/partition": name[3:], f"{base}/dev": devno, f"{base}/size": "2048"}
        self.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=devno)

    async def run(self, command: Command) -> Completed:
        self.asked.append(command.argv)
        if self.hanging:
            raise ToolTimeoutError(f"{command.argv[0]} gave no answer.")
        if command.argv[0].endswith("/dmsetup"):
            return dm_tables(self)
        return await super().run(command)


async def said(host: FakeHost, name: str) -> str:
    """Why it must not be written to, if the kernel lets everything be opened."""
    facts = await gather_facts(host, f"/dev/{name}", claim=lambda device, devno: None)
    return " ".join(judge(facts, Intent.WRITE).refused)


def volumes() -> Machine:
    """vg0 on sda and sdb: a linear volume, caches of two kinds, a thin pool, a RAID, a snapshot."""
    host = Machine()
    for name in ("sda", "sdb"):
        host.add(name)
    for number, (name, layer, below) in enumerate(
        (
            ("vg0-spare", "", "sda"),
            ("vg0-mail_corig", "", "sda"),
            ("vg0-fast_cvol", "-cvol", "sdb"),
            ("vg0-fast_cvol-cdata", "-cdata", "dm-2"),
            ("vg0-fast_cvol-cmeta", "-cmeta", "dm-2"),
            ("vg0-mail", "", "dm-1 dm-3 dm-4"),
            ("vg0-p_tdata", "-tdata", "sda"),
            ("vg0-p_tmeta", "-tmeta", "sda"),
            ("vg0-p-tpool", "-tpool", "dm-6 dm-7"),
            ("vg0-thin--1", "", "dm-8"),
            ("vg0-r_rimage_0", "", "sda"),
            ("vg0-r_rmeta_0", "", "sda"),
            ("vg0-r", "", "dm-10 dm-11"),
            ("vg0-data-real", "-real", "sdb"),
            ("vg0-snap-cow", "-cow", "sdb"),
            ("vg0-snap", "", "dm-13 dm-14"),
            ("vg0-db_wcorig", "", "sdb"),
        )
    ):
        host.add(f"dm-{number}", *below.split(), **lvm(name, layer))
    return host


PARTS = {
    "sda": "a physical volume of vg0 (vg0/spare, vg0/thin-1, vg0/r, metadata of vg0/thin-1, vg0/r, origin of vg0/mail)",
    "sdb": "a physical volume of vg0 (cache of vg0/mail, origin of vg0/snap, vg0/db, snapshot of vg0/snap)",
    "dm-1": "the origin of vg0/mail",
    "dm-2": "the cache of vg0/mail",
    "dm-3": "the cache of vg0/mail",
    "dm-4": "the cache metadata of vg0/mail",
    "dm-6": "a part of vg0/thin-1",
    "dm-7": "the metadata of vg0/thin-1",
    "dm-8": "a part of vg0/thin-1",
    "dm-10": "a part of vg0/r",
    "dm-11": "the metadata of vg0/r",
    "dm-13": "the origin of vg0/snap",
    "dm-14": "the snapshot of vg0/snap",
}


@pytest.mark.parametrize("name", PARTS)
async def test_what_lvm_has_is_named_with_its_role(name: str) -> None:
    host = volumes()
    given = host.files.get(f"/sys/block/{name}/dm/name")
    path = f"/dev/mapper/{given}" if given else f"/dev/{name}"
    assert await said(host, name) == f"{path} is {PARTS[name]}."


@pytest.mark.parametrize("name", ["dm-0", "dm-5", "dm-9", "dm-12", "dm-15"])
async def test_a_volume_that_nothing_uses_is_free(name: str) -> None:
    assert (await scan_topology(volumes())).uses(name) == ()


async def test_a_part_of_a_volume_that_is_not_active_is_told_by_its_own_name() -> None:
    host = Machine()
    host.add("sda")
    host.add("dm-0", "sda", **lvm("vg0-pool_tdata", "-tdata"))
    assert await said(host, "sda") == "/dev/sda is a physical volume of vg0 (vg0/pool)."


async def test_a_group_with_many_volumes_is_told_with_some_of_them() -> None:
    host = Machine()
    host.add("sda")
    for number in range(7):
        host.add(f"dm-{number}", "sda", **lvm(f"vg--0-lv{number}"))
    told = "a physical volume of vg-0 (vg-0/lv0, vg-0/lv1, vg-0/lv2, vg-0/lv3 and 3 more)"
    assert await said(host, "sda") == f"/dev/sda is {told}."


async def test_a_physical_volume_on_a_volume_of_another_group_is_one() -> None:
    host = volumes()
    host.add("dm-30", "dm-0", **lvm("inner-lv"))
    assert await said(host, "dm-0") == "/dev/vg0/spare is a physical volume of inner (inner/lv)."


async def test_a_target_that_lvm_did_not_make_is_told_by_its_name() -> None:
    host = Machine()
    host.add("sda")
    host.add("dm-0", "sda", dm__name="a-b", dm__uuid="CRYPT-LUKS2-x")
    assert await said(host, "sda") == "/dev/sda: /dev/mapper/a-b is built on it."


async def test_what_lvm_has_beside_another_target_is_told_with_it() -> None:
    host = Machine()
    host.add("sda")
    host.add("dm-0", "sda", dm__name="crypt")
    host.add("dm-1", "sda", **lvm("vg0-db"))
    told = "/dev/sda is a physical volume of vg0 (vg0/db). /dev/sda: /dev/mapper/crypt is built on it."
    assert await said(host, "sda") == told


async def test_four_volumes_of_a_group_are_all_told() -> None:
    host = Machine()
    host.add("sda")
    for number in range(4):
        host.add(f"dm-{number}", "sda", **lvm(f"vg0-lv{number}"))
    assert await said(host, "sda") == "/dev/sda is a physical volume of vg0 (vg0/lv0, vg0/lv1, vg0/lv2, vg0/lv3)."


async def test_a_name_of_a_group_steers_no_terminal() -> None:
    host = Machine()
    host.add("sda")
    host.add("dm-0", "sda", **lvm("v\x1bg-l\x1bv"))
    assert "\x1b" not in await said(host, "sda")


def cached() -> Machine:
    """bcache0 on sda with the cache sdb; sdc waits for its cache, sdd1 caches nothing."""
    host = Machine()
    for name in ("sda", "sdb", "sdc", "sdd"):
        host.add(name)
    host.part("sdd1")
    host.add("bcache0", "sda", "sdb", bcache__running="1")
    host.files |= {
        "/sys/fs/bcache/register": "",
        "/sys/block/sda/bcache/running": "1",
        "/sys/block/sdb/bcache/set": "",
        "/sys/block/sdc/bcache/running": "0",
        "/sys/block/sdd/sdd1/bcache/set": "",
    }
    return host


BCACHE = {
    "sda": "/dev/sda is the backing device of bcache0.",
    "sdb": "/dev/sdb is the cache device of bcache0.",
    "sdc": "/dev/sdc is the backing device of a bcache device that is not running.",
    "sdd1": "/dev/sdd1 is a cache device of bcache, of a set without a backing device.",
    "sdd": "/dev/sdd1 is a cache device of bcache, of a set without a backing device.",
}


@pytest.mark.parametrize("name", BCACHE)
async def test_what_bcache_has_is_named_with_its_role(name: str) -> None:
    assert await said(cached(), name) == BCACHE[name]


async def test_another_target_on_a_device_of_bcache_is_told_by_its_name() -> None:
    host = cached()
    host.add("dm-0", "sdc", dm__name="own")
    assert "/dev/sdc: /dev/mapper/own is built on it." in await said(host, "sdc")


async def test_a_bcache_device_that_nothing_uses_is_free() -> None:
    assert (await scan_topology(cached())).uses("bcache0") == ()


async def test_without_bcache_in_the_kernel_nothing_is_looked_for() -> None:
    host = cached()
    del host.files["/sys/fs/bcache/register"]
    assert (await scan_topology(host)).bcache == {}


def container() -> Machine:
    """Two disks and a spare of an IMSM container, with a volume on two of them."""
    host = Machine()
    for name in ("sda", "sdb", "sdc"):
        host.add(name)
    host.add("md127", "sda", "sdb", "sdc", md__metadata_version="external:imsm")
    host.add("md126", "sda", "sdb", md__metadata_version="external:/md127/0")
    return host


async def test_a_spare_of_a_container_is_one_of_its_disks() -> None:
    assert await said(container(), "sdc") == "/dev/sdc is a disk of the container /dev/md127 (imsm)."


async def test_a_disk_of_a_container_is_told_with_the_volume_on_it() -> None:
    told = "/dev/sda: /dev/md126 is built on it. /dev/sda is a disk of the container /dev/md127 (imsm)."
    assert await said(container(), "sda") == told


async def test_a_container_that_is_read_only_by_its_metadata_is_no_container_of_volumes() -> None:
    host = container()
    host.files["/sys/block/md126/md/metadata_version"] = "external:-md127/0"
    assert "/dev/md126 is built on it." in await said(host, "sda")


def pools(status: str | None = STATUS, code: int = 0) -> Machine:
    """Pools tank and cache, and the volumes zd0 of the one and zd16 that no link names; sdh is free."""
    host = Machine()
    for name in (*DISKS, "zd0", "zd16"):
        host.add(name)
    host.part("sda1")
    host.files |= {"/proc/spl/kstat/zfs/tank/state": "ONLINE", "/proc/spl/kstat/zfs/cache/state": "ONLINE"}
    host.links["/dev/zvol/tank/a/vm"] = "/dev/zd0"
    room = "tank/a/vm\trefreservation\t9\ntank/a/vm\tvolsize\t9\ntank/a/vm\tavailable\t9\n"
    told = f"{room}tank\tavailable\t9\ntank\tused\t9\n"
    host.tools["zfs"] = Completed(returncode=0, stdout=told, stderr="")
    if status is not None:
        host.tools["zpool"] = Completed(returncode=code, stdout=status, stderr="")
    return host


VDEVS = {
    "sda": "/dev/sda1 is part of the ZFS pool tank.",
    "sda1": "/dev/sda1 is part of the ZFS pool tank.",
    "sdb": "/dev/sdb is part of the ZFS pool tank.",
    "sdc": "/dev/sdc is part of the ZFS pool tank (special).",
    "sdd": "/dev/sdd is part of the ZFS pool tank (log).",
    "sde": "/dev/sde is part of the ZFS pool tank (cache).",
    "sdf": "/dev/sdf is part of the ZFS pool tank (spare).",
    "sdg": "/dev/sdg is part of the ZFS pool cache.",
    "sdh": "",
}


@pytest.mark.parametrize("name", VDEVS)
async def test_a_device_of_a_pool_is_named_with_its_role(name: str) -> None:
    assert await said(pools(), name) == VDEVS[name]


async def test_zpool_is_asked_only_where_a_pool_is_imported() -> None:
    host = pools()
    await scan_topology(host)
    assert ("/sbin/zpool", "status", "-LP") in host.asked
    host.asked.clear()
    host.files = {path: text for path, text in host.files.items() if not path.startswith("/proc/spl")}
    await scan_topology(host)
    assert host.asked == []


UNTOLD: Mapping[str, tuple[str | None, int]] = {
    "there is no zpool": (None, 0),
    "zpool fails": (STATUS, 1),
    "zpool says nothing": ("", 0),
    "zpool leaves a pool out": (STATUS.partition("  pool: cache")[0], 0),
}


@pytest.mark.parametrize(("status", "code"), UNTOLD.values(), ids=UNTOLD)
async def test_where_zpool_does_not_tell_every_disk_counts_as_in_use(status: str | None, code: int) -> None:
    host = pools(status, code)
    host.files["/run/udev/data/" + "b" + (host.stats["/dev/sdh"].devno or "")] = "E:ID_FS_TYPE=zfs_member"
    words = "zpool does not report the devices of the imported pools (cache, tank)."
    assert words in await said(host, "sdh")
    assert "ZFS member while pools are imported (cache, tank)" in await said(host, "sdh")


async def test_a_zpool_that_gives_no_answer_tells_nothing() -> None:
    host = pools()
    host.hanging = True
    assert "zpool does not report the devices of the imported pools" in await said(host, "sdh")


async def test_the_mark_of_a_pool_that_is_not_imported_is_not_its_use() -> None:
    host = pools()
    host.files["/run/udev/data/" + "b" + (host.stats["/dev/sdh"].devno or "")] = "E:ID_FS_TYPE=zfs_member"
    assert (await scan_topology(host)).uses("sdh") == ()


async def test_a_volume_lies_on_the_disks_of_its_pool_and_is_free_all_the_same() -> None:
    found = await scan_topology(pools())
    assert found.backing_disks_and_files("zd0") == {"/dev/zd0", *(f"/dev/sd{letter}" for letter in "abcdef")}
    assert await said(pools(), "zd0") == ""


async def test_a_volume_of_which_nothing_tells_the_pool_lies_on_the_disks_of_all() -> None:
    assert {"/dev/sda", "/dev/sdg"} <= (await scan_topology(pools())).backing_disks_and_files("zd16")


@pytest.mark.parametrize(("name", "volume"), [("zd0", True), ("zd16", True), ("zdx", False), ("md1", False)])
def test_a_volume_of_a_pool_is_known_by_its_name(name: str, volume: bool) -> None:
    assert is_volume(Node(name=name, devno="230:0", size_bytes=1)) is volume
    assert not is_volume(Node(name=name, devno="230:1", size_bytes=1, parent="zd0"))


async def test_a_volume_in_use_is_refused() -> None:
    host = pools()
    devno = host.stats["/dev/zd0"].devno
    host.files["/proc/self/mountinfo"] = f"{MOUNTS}\n40 25 {devno} / /mnt rw - ext4 /dev/zd0 rw"
    assert await said(host, "zd0") == "/dev/zvol/tank/a/vm is mounted on /mnt."


async def test_a_system_that_lies_in_a_pool_makes_its_disks_the_systems() -> None:
    host = pools()
    host.files["/proc/self/mountinfo"] = "25 1 0:30 / / rw - zfs tank/ROOT/debian rw\n26 1 0:31 / /a rw - zfs cache rw"
    system = (await scan_topology(host)).system
    assert {"sda", "sdb"} <= system
    assert not {"sdg", "sdh"} & system


@pytest.mark.parametrize("name", ["zd0", "bcache0"])
async def test_what_has_no_serial_number_is_told_apart_by_the_kernels_count(name: str) -> None:
    host = pools()
    if name == "bcache0":
        host.add(name)
    del host.files[f"/sys/block/{name}/wwid"]
    del host.files[f"/sys/block/{name}/diskseq"]
    assert "has no serial number and no WWN" in await said(host, name)
    host.files[f"/sys/block/{name}/diskseq"] = "12"
    assert "reports neither" not in await said(host, name)


async def test_a_node_that_the_kernel_has_under_another_name_is_found_by_its_number() -> None:
    host = pools(STATUS.replace("/dev/sdb ", "/dev/disk/by-id/x "))
    host.stats["/dev/disk/by-id/x"] = host.stats["/dev/sdb"]
    assert await said(host, "sdb") == VDEVS["sdb"]


def mounts(host: FakeHost, *on: tuple[str, str]) -> None:
    """Filesystems on devices, and datasets where it is no device's name."""
    lines = [MOUNTS]
    for number, (what, point) in enumerate(on):
        stat = host.stats.get(f"/dev/{what}")
        own = f"0:{60 + number} / {point} rw - zfs {what} rw"
        lines.append(f"4{number} 25 {own if stat is None else f'{stat.devno} / {point} rw - ext4 /dev/{what} rw'}")
    host.files["/proc/self/mountinfo"] = "\n".join(lines)


async def test_above_a_disk_are_the_volumes_and_mounts_on_it_and_no_parts_of_volumes() -> None:
    host = volumes()
    mounts(host, ("dm-5", "/var/mail"))
    assert (await scan_topology(host)).above("sdb") == ("vg0/snap", "vg0/mail", "mounted on /var/mail")
    assert (await scan_topology(host)).above("dm-5") == ("mounted on /var/mail",)
    assert (await scan_topology(host)).above("dm-9") == ()


async def test_above_a_bcache_cache_is_the_device_and_what_stands_on_that() -> None:
    host = cached()
    host.add("dm-0", "bcache0", **lvm("vg1-home"))
    mounts(host, ("dm-0", "/home"))
    assert (await scan_topology(host)).above("sdb") == ("bcache0", "vg1/home", "mounted on /home")


async def test_above_a_device_of_a_pool_are_its_volumes_what_stands_on_them_and_its_datasets() -> None:
    host = pools()
    mounts(host, ("zd0", "/vm"), ("tank/files", "/srv"), ("cache", "/other"))
    above = ("tank/a/vm", "ZFS pool tank", "mounted on /vm", "mounted on /srv")
    assert (await scan_topology(host)).above("sda") == above
    assert (await scan_topology(host)).above("sdh") == ()


async def test_above_a_disk_of_a_container_are_container_and_volume() -> None:
    assert (await scan_topology(container())).above("sda") == ("md126", "the container md127")


async def test_above_a_disk_is_what_stands_on_its_partitions_and_swap() -> None:
    host = pools()
    host.files["/proc/swaps"] = "Filename\n/dev/sdh partition 1 0 -2"
    mounts(host, ("sda1", "/part"))
    assert (await scan_topology(host)).above("sdh") == ("active swap",)
    assert "mounted on /part" in (await scan_topology(host)).above("sda")


async def test_above_one_path_is_what_stands_on_the_other_and_on_a_loop_device() -> None:
    host = Machine()
    for name in ("sda", "sdb"):
        host.add(name, wwid="naa.5")
    host.add("loop0", loop__backing_file="/dev/sda")
    host.add("md0", "loop0")
    assert (await scan_topology(host)).above("sdb") == ("loop0", "md0")


@pytest.mark.parametrize("text", ["", "pool:", "config:\n\t/dev/sda", "\tlogs", ":\n::", "  pool: a\n\t/dev/b"])
def test_no_answer_of_zpool_is_too_odd(text: str) -> None:
    assert parse_status(text) == ()


GROUPS = {
    '{"report":[{"pv":[{"vg_name":"vg0"}]}]}': "vg0",
    '{"report":[{"pv":[{"vg_name":""}]}]}': None,
    '{"report":[{"pv":[{"vg_name":"a"},{"vg_name":"b"}]}]}': None,
    '{"report":[{"pv":[]}]}': None,
    "no such device": None,
}


@pytest.mark.parametrize("text", GROUPS)
async def test_a_physical_volume_of_a_stopped_group_is_named_after_it(text: str) -> None:
    assert group_in(text) == GROUPS[text]
    host = Machine()
    host.add("sda")
    host.tools |= {
        "blkid": Completed(returncode=0, stdout="TYPE=LVM2_member", stderr=""),
        "wipefs": Completed(returncode=0, stdout='{"signatures":[{"type":"LVM2_member"}]}', stderr=""),
        "lvm": Completed(returncode=0, stdout=text, stderr=""),
    }
    of = "" if GROUPS[text] is None else f" of {GROUPS[text]}"
    assert f"/dev/sda holds a physical volume{of} (LVM2_member)." in await said(host, "sda")
    assert ("/sbin/lvm", "pvs", "--readonly", "--reportformat", "json", "-o", "vg_name", "/dev/sda") in host.asked


async def test_what_lvm_does_not_answer_names_no_group() -> None:
    host = Machine()
    host.add("sda")
    host.tools |= {
        "blkid": Completed(returncode=0, stdout="TYPE=LVM2_member", stderr=""),
        "wipefs": Completed(returncode=0, stdout='{"signatures":[{"type":"LVM2_member"}]}', stderr=""),
        "lvm": Completed(returncode=5, stdout=next(iter(GROUPS)), stderr=""),
    }
    assert "/dev/sda holds a physical volume (LVM2_member)." in await said(host, "sda")
