"""Exports of kernel targets, and the disks that a machine imports from itself, on machines made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backends.guard import Intent, judge_device
from backends.host import THIS_MACHINE, FileStat
from backends.topology import scan_topology
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine

NVMET = "/sys/kernel/config/nvmet/subsystems"
CORE = "/sys/kernel/config/target/core"
LOOPBACK = "/sys/kernel/config/target/loopback/naa.6001405000000001/tpgt_1"
SCST = "/sys/kernel/scst_tgt/devices"
GADGET = "/sys/kernel/config/usb_gadget/g1"

PASSED = {f"{NVMET}/t1/passthru/device_path": "/dev/nvme9\n", f"{NVMET}/t1/passthru/enable": "1\n"}

UUID = "3656c2ae-1464-4e2c-92bd-177a085499e8"
ON_SDB = MOUNTS + "\n40 25 8:16 / /srv rw - ext4 /dev/sdb rw"
ON_LOOP = MOUNTS + "\n40 25 7:0 / /srv rw - ext4 /dev/loop0 rw"
FILE = "/data/image"
FILE_INFO = (
    "Status: ACTIVATED  Max Queue Depth: 0\n        TCM FILEIO ID: 0        File: {}  Size: 25165824  Mode: O_DSYNC"
)
BLOCK_INFO = (
    "Status: ACTIVATED\n        iBlock device: sdb  UDEV PATH: /dev/sdb  readonly: 0\n"
    "        Major: 8 Minor: 16  CLAIMED: IBLOCK\n"
)
PASSED_INFO = "Status: ACTIVATED\n        SCSI Device Bus Location: Channel ID: 0 Target ID: 2 LUN: 3 Host ID: 1\n"
USER_INFO = "Status: ACTIVATED\n        Config: {} Size: 1048576 MaxDataAreaMB: 1024\n"
UNIT_SERIAL = "T10 VPD Unit Serial Number: {}\n"
FIB = (
    "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.2.15\n        /32 host LOCAL\n"
    "     |-- 10.0.2.2\n        /32 link UNICAST\n"
)
IF_INET6 = (
    "fe80000000000000505400fffe123456 02 40 20 80     eth0\n20010db8000000000000000000000007 02 40 00 80     eth0\n"
)


def nvmet(path: str, *, name: str = "t1", enable: str = "1", uuid: str = UUID, nguid: str = "") -> dict[str, str]:
    """A namespace of the NVMe target."""
    folder = f"{NVMET}/{name}/namespaces/1"
    told = {"device_path": path, "enable": enable, "device_uuid": uuid, "device_nguid": nguid}
    return {f"{folder}/{key}": f"{text}\n" for key, text in told.items()}


def lio(info: str, *, kind: str = "fileio", name: str = "lab", serial: str = "", **more: str) -> dict[str, str]:
    """A backstore of the SCSI target."""
    folder = f"{CORE}/{kind}_7/{name}"
    told = {"info": info, "wwn/vpd_unit_serial": UNIT_SERIAL.format(serial), "wwn/company_id": "0x001405", **more}
    return {f"{folder}/{key}": text for key, text in told.items()}


def host_of(*parts: Mapping[str, str], mounts: str = ON_SDB, **links: str) -> FakeHost:
    """A machine with /dev/sdb, a loop device on FILE, and the disk /dev/sdx or /dev/nvme4n1 that may be theirs."""
    files = machine(
        disk("sdb", devno="8:16", device__wwid="naa.5000c500a1b2c3d4"),
        disk("loop0", devno="7:0", loop__backing_file=FILE),
    )
    for part in parts:
        files |= part
    files |= {"/proc/self/mountinfo": mounts, "/proc/1/task/1/fd/0": ""}
    numbers = {"sdb": "8:16", "loop0": "7:0", "sdx": "65:0", "nvme4n1": "259:5"}
    stats = {f"/dev/{name}": FileStat(kind="block", size=0, devno=devno) for name, devno in numbers.items()}
    stats[FILE] = FileStat(kind="file", size=4096, place="8:1:12")
    host = FakeHost(files, stats=stats, links={"/sys/block/sdb": "/sys/devices/pci0/host1/1:0:2:3/block/sdb"} | links)
    host.reached = THIS_MACHINE
    return host


def fabrics(*, transport: str = "tcp", address: str = "traddr=192.0.2.1,trsvcid=4420", **own: Any) -> dict[str, str]:
    """A namespace of the subsystem t1, with one hidden path, which has no number."""
    told = {"nsid": "1", "device__subsysnqn": "t1", "device__serial": "058d70bd945a99d6ae94", **own}
    path = disk("nvme4c4n1", hidden="1", device__transport=transport, device__address=address)
    del path["/sys/block/nvme4c4n1/dev"]
    return disk("nvme4n1", devno="259:5", **told) | path


def scsi(**own: Any) -> dict[str, str]:
    """A SCSI disk."""
    return disk("sdx", devno="65:0", **own)


def at(path: str) -> dict[str, str]:
    """Where /dev/sdx hangs."""
    return {"/sys/block/sdx": path}


async def said(host: FakeHost, device: str) -> str:
    return " ".join((await judge_device(host, device, Intent.WRITE))[1].refused)


# -- what is exported -------------------------------------------------------------------------------------------------

EXPORTED: Mapping[str, tuple[Mapping[str, str], str]] = {
    "NVMe": (nvmet("/dev/sdb"), "the NVMe target t1"),
    "NVMe, not enabled": (nvmet("/dev/sdb", enable="0"), "the NVMe target t1 (not enabled)"),
    "LIO, block": (lio(BLOCK_INFO, kind="iblock", udev_path="/dev/gone"), "the SCSI target lab"),
    "LIO, block, not enabled": (
        lio("Status: DEACTIVATED\n", kind="iblock", udev_path="/dev/sdb\n", enable="0\n"),
        "the SCSI target lab (not enabled)",
    ),
    "LIO, file": (lio(FILE_INFO.format("/dev/sdb")), "the SCSI target lab"),
    "LIO, passed through": (lio(PASSED_INFO, kind="pscsi"), "the SCSI target lab"),
    "LIO, a program's": (lio(USER_INFO.format("fbo//dev/sdb"), kind="user"), "the SCSI target lab"),
    "SCST": ({f"{SCST}/disk1/filename": "/dev/sdb\n[key]\n"}, "the SCST target disk1"),
    "USB gadget": (
        {f"{GADGET}/functions/mass_storage.0/lun.0/file": "/dev/sdb\n", f"{GADGET}/UDC": "dummy_udc.0\n"},
        "the USB gadget g1",
    ),
    "USB gadget, not enabled": (
        {f"{GADGET}/functions/mass_storage.0/lun.0/file": "/dev/sdb\n", f"{GADGET}/UDC": "\n"},
        "the USB gadget g1 (not enabled)",
    ),
}


@pytest.mark.parametrize(("files", "words"), EXPORTED.values(), ids=EXPORTED)
async def test_what_a_target_exports_is_in_use(files: Mapping[str, str], words: str) -> None:
    assert f"/dev/sdb is exported by {words}." in await said(host_of(files, mounts=MOUNTS), "/dev/sdb")


async def test_a_device_that_scst_passes_through_is_in_use() -> None:
    place = "/sys/devices/pci0/host1/1:0:2:3"
    host = host_of(mounts=MOUNTS, **{f"{SCST}/1:0:2:3/scsi_device": place})
    assert "/dev/sdb is exported by the SCST target 1:0:2:3." in await said(host, "/dev/sdb")


async def test_all_namespaces_of_a_controller_that_is_passed_through_are_in_use() -> None:
    files = {f"{NVMET}/t1/passthru/device_path": "/dev/nvme4\n", f"{NVMET}/t1/passthru/enable": "1\n"}
    host = host_of(files, fabrics(), {"/sys/block/nvme4n1/device/nvme4/dev": "245:4"}, mounts=MOUNTS)
    host.stats["/dev/nvme4"] = FileStat(kind="char", size=0, devno="245:4")
    assert "/dev/nvme4n1 is exported by the NVMe target t1." in await said(host, "/dev/nvme4n1")


async def test_a_namespace_behind_one_without_a_path_is_seen() -> None:
    host = host_of(nvmet("(null)", name="a"), nvmet("/dev/sdb", name="b"), mounts=MOUNTS)
    assert "/dev/sdb is exported by the NVMe target b." in await said(host, "/dev/sdb")


async def test_a_namespace_behind_a_controller_that_is_passed_through_is_seen() -> None:
    passed = {f"{NVMET}/a/passthru/device_path": "/dev/nvme9\n", f"{NVMET}/a/passthru/enable": "0\n"}
    twice = passed | {path.replace("/a/", "/b/"): text for path, text in passed.items()}
    host = host_of(twice, fabrics(), {"/sys/block/nvme4n1/device/nvme4/dev": "245:4"}, mounts=MOUNTS)
    host.files[f"{NVMET}/b/passthru/device_path"] = "/dev/nvme4\n"
    host.stats["/dev/nvme4"] = FileStat(kind="char", size=0, devno="245:4")
    assert "/dev/nvme4n1 is exported by the NVMe target b (not enabled)." in await said(host, "/dev/nvme4n1")


async def test_a_file_in_the_place_of_a_controller_is_none() -> None:
    host = host_of(PASSED)
    host.stats["/dev/nvme9"] = FileStat(kind="file", size=0, place="0:5:1")
    assert "exports /dev/nvme9, which does not exist now" in await said(host, "/dev/sdb")


async def test_several_targets_are_all_named() -> None:
    host = host_of(nvmet("/dev/sdb"), nvmet("/dev/sdb", name="t2"), mounts=MOUNTS)
    assert "exported by the NVMe target t1 and the NVMe target t2." in await said(host, "/dev/sdb")


@pytest.mark.parametrize(
    "files",
    [nvmet("/dev/gone"), PASSED, lio(FILE_INFO.format("/gone"))],
    ids=["NVMe", "NVMe, passed through", "LIO"],
)
async def test_where_an_open_export_cannot_be_found_every_disk_counts_as_in_use(files: Mapping[str, str]) -> None:
    assert "which does not exist now, so the exported device is unknown" in await said(host_of(files), "/dev/sdb")


@pytest.mark.parametrize(
    "files",
    [
        nvmet("/dev/gone", enable="0"),
        nvmet("(null)"),
        lio(USER_INFO.format("rbd/pool/image"), kind="user"),
        nvmet("/dev/sdb"),
        nvmet(FILE),
        lio("Status: ACTIVATED\n  TCM RamDisk ID: 0\n", kind="rd_mcp"),
    ],
    ids=["not enabled", "no path", "a program's", "a disk that is there", "a file that is there", "memory"],
)
async def test_what_the_kernel_has_not_open_or_can_be_found_blinds_nobody(files: Mapping[str, str]) -> None:
    assert not (await scan_topology(host_of(files), everywhere=True)).blind


async def test_nothing_is_read_of_targets_and_addresses_where_there_is_none() -> None:
    class Noting(FakeHost):
        async def read(self, path: str) -> str | None:
            asked.append(path)
            return await super().read(path)

        async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
            asked.extend(paths)
            return await super().read_many(paths)

    asked: list[str] = []
    plain = host_of(mounts=MOUNTS)
    await scan_topology(Noting(plain.files, stats=plain.stats, links=plain.links), everywhere=True)
    assert "/proc/self/mountinfo" in asked
    assert not [path for path in asked if path.startswith(("/sys/kernel", "/proc/net", "/sys/class/iscsi"))]


# -- what is imported from oneself ------------------------------------------------------------------------------------

LOOPED = {f"{LOOPBACK}/address": "8:0:1\n"}
UNIT = {f"{LOOPBACK}/lun/lun_0/x": f"{CORE}/fileio_7/lab"}
ADAPTER = at("/sys/devices/tcm_loop_0/tcm_loop_adapter_0/host8/target8:0:1/8:0:1:0/block/sdx")
VPD = "\0\ufffd\0\x0babc-serial\0"

IMPORTS: Mapping[str, tuple[str, tuple[Mapping[str, str], ...], Mapping[str, str]]] = {
    "NVMe, by subsystem and number": ("nvme4n1", (fabrics(),), {}),
    "NVMe, by UUID": ("nvme4n1", (fabrics(device__subsysnqn="other", uuid=UUID.upper()),), {}),
    "NVMe, by NGUID": ("nvme4n1", (fabrics(device__subsysnqn="other", nguid="a0-b0"),), {}),
    "SCSI, by address": ("sdx", (scsi(), LOOPED), UNIT | ADAPTER),
    "SCSI, by serial number": ("sdx", (scsi(device__vpd_pg80=VPD),), {}),
    "SCSI, by WWN": ("sdx", (scsi(device__wwid="naa.6001405abcea00000000000000000000"),), {}),
    "SCST, by serial number": ("sdx", (scsi(serial="usn1"),), {}),
}


def exports_of(path: str) -> dict[str, str]:
    """Every target exports it."""
    return {
        **nvmet(path, nguid="a0b0"),
        **lio(FILE_INFO.format(path), serial="abc-serial"),
        f"{SCST}/disk1/filename": f"{path}\n",
        f"{SCST}/disk1/usn": "usn1\n[key]\n",
    }


@pytest.mark.parametrize(("name", "parts", "links"), IMPORTS.values(), ids=IMPORTS)
async def test_an_import_is_in_use_by_what_uses_the_exported_disk(
    name: str, parts: tuple[Mapping[str, str], ...], links: Mapping[str, str]
) -> None:
    host = host_of(exports_of("/dev/sdb"), *parts, **links)
    told = await said(host, f"/dev/{name}")
    assert f"/dev/{name} is set up on /dev/sdb, mounted on /srv." in told
    assert f"/dev/{name} is set up on /dev/sdb, exported by" in told


@pytest.mark.parametrize(("name", "parts", "links"), IMPORTS.values(), ids=IMPORTS)
async def test_an_import_is_in_use_by_what_uses_the_exported_file(
    name: str, parts: tuple[Mapping[str, str], ...], links: Mapping[str, str]
) -> None:
    host = host_of(exports_of(FILE), *parts, mounts=ON_LOOP, **links)
    told = await said(host, f"/dev/{name}")
    assert f"/dev/{name} is set up on the same data as /dev/loop0, mounted on /srv." in told
    assert f"/dev/{name} is set up on {FILE}, exported by" in told


@pytest.mark.parametrize(("name", "parts", "links"), IMPORTS.values(), ids=IMPORTS)
async def test_the_exported_disk_is_in_use_by_its_import(
    name: str, parts: tuple[Mapping[str, str], ...], links: Mapping[str, str]
) -> None:
    host = host_of(exports_of("/dev/sdb"), *parts, mounts=MOUNTS, **links)
    assert f"/dev/sdb: /dev/{name} is set up on it." in await said(host, "/dev/sdb")


async def test_an_import_of_a_partition_is_in_use_with_the_disk() -> None:
    part = {"/sys/block/sdb/sdb1/partition": "1", "/sys/block/sdb/sdb1/dev": "8:17", "/sys/block/sdb/sdb1/size": "8"}
    host = host_of(part, nvmet("/dev/sdb1"), fabrics(), mounts=ON_SDB.replace("8:16", "8:17"))
    host.stats["/dev/sdb1"] = FileStat(kind="block", size=0, devno="8:17")
    assert "/dev/nvme4n1 is set up on /dev/sdb1: /dev/sdb1 is mounted on /srv." in await said(host, "/dev/nvme4n1")


async def test_an_import_that_may_be_either_of_two_exports_counts_as_in_use() -> None:
    both = nvmet("/dev/sdb", name="a") | nvmet(FILE, name="b")
    told = await said(host_of(both, fabrics(device__subsysnqn="c", uuid=UUID)), "/dev/nvme4n1")
    assert "may be an export of the NVMe target a or the NVMe target b." in told


async def test_two_exports_of_one_disk_are_no_doubt() -> None:
    both = nvmet("/dev/sdb", name="a") | nvmet("/dev/sdb", name="b")
    told = await said(host_of(both, fabrics(device__subsysnqn="c", uuid=UUID)), "/dev/nvme4n1")
    assert "/dev/nvme4n1 is set up on /dev/sdb, mounted on /srv." in told
    assert "may be an export" not in told


async def test_two_exports_of_one_file_are_no_doubt() -> None:
    both = nvmet(FILE, name="a") | nvmet(FILE, name="b")
    told = await said(host_of(both, fabrics(device__subsysnqn="c", uuid=UUID), mounts=ON_LOOP), "/dev/nvme4n1")
    assert "/dev/nvme4n1 is set up on the same data as /dev/loop0, mounted on /srv." in told
    assert "may be an export" not in told


async def test_two_exports_of_memory_and_a_disk_are_a_doubt() -> None:
    both = lio("  TCM RamDisk ID: 0\n", kind="rd_mcp", serial="m") | lio(FILE_INFO.format(FILE), name="b", serial="m")
    assert "may be an export" in await said(host_of(both, scsi(serial="m")), "/dev/sdx")


async def test_another_path_to_the_exported_disk_is_that_and_no_import() -> None:
    own = {"serial": "abc-serial", "device__wwid": "naa.5000c500a1b2c3d4"}
    host = host_of(lio(FILE_INFO.format("/dev/sdb"), serial="abc-serial"), scsi(**own))
    told = await said(host, "/dev/sdx")
    assert "/dev/sdx is the same disk as /dev/sdb, mounted on /srv." in told
    assert "sdx" not in (await scan_topology(host, everywhere=True)).backings


async def test_an_import_of_what_a_program_serves_counts_as_in_use() -> None:
    host = host_of(lio(USER_INFO.format("rbd/pool/image"), kind="user", serial="m1"), scsi(serial="m1"))
    told = await said(host, "/dev/sdx")
    assert "its backing device or file rbd/pool/image is exported by the SCSI target lab." in told


async def test_the_wwn_of_a_long_serial_number_is_its_first_digits_with_the_company() -> None:
    long = "1-2 34567890ABCDEF1234567890abcdef"
    files = lio(FILE_INFO.format("/dev/sdb"), serial=long) | {f"{CORE}/fileio_7/lab/wwn/company_id": "0x00abcd\n"}
    host = host_of(files, scsi(device__wwid="naa.600abcd1234567890abcdef123456789"))
    assert "/dev/sdx is set up on /dev/sdb, mounted on /srv." in await said(host, "/dev/sdx")


async def test_the_address_of_an_adapter_decides_between_two_exports_of_one_serial_number() -> None:
    both = lio(FILE_INFO.format("/dev/sdb"), serial="s") | lio(FILE_INFO.format(FILE), name="other", serial="s")
    host = host_of(both, scsi(serial="s"), LOOPED, **UNIT, **ADAPTER)
    assert "/dev/sdx is set up on /dev/sdb, mounted on /srv." in await said(host, "/dev/sdx")


async def test_an_import_of_memory_counts_as_in_use() -> None:
    host = host_of(lio("Status: ACTIVATED\n  TCM RamDisk ID: 0\n", kind="rd_mcp", serial="m1"), scsi(serial="m1"))
    told = await said(host, "/dev/sdx")
    assert "its backing device or file memory of this host is exported by the SCSI target lab" in told


async def test_a_disk_that_is_exported_is_no_import_of_itself() -> None:
    files = lio(PASSED_INFO, kind="pscsi", serial="abc-serial") | nvmet("/dev/nvme4n1", uuid=UUID)
    picture = await scan_topology(
        host_of(files, fabrics(uuid=UUID, device__subsysnqn="other"), {"/sys/block/sdb/serial": "abc-serial"}),
        everywhere=True,
    )
    assert set(picture.backings) == {"loop0"}


NO_TARGET_KNOWN: Mapping[str, tuple[str, tuple[Mapping[str, str], ...], Mapping[str, str]]] = {
    "NVMe loop": ("nvme4n1", (fabrics(transport="loop", address=""),), {}),
    "TCP to 127.0.0.1": ("nvme4n1", (fabrics(address="traddr=127.0.0.1,trsvcid=4420,src_addr=127.0.0.1"),), {}),
    "TCP to another loopback address": ("nvme4n1", (fabrics(address="trsvcid=4420,traddr=127.8.0.3"),), {}),
    "TCP to an own address": ("nvme4n1", (fabrics(address="traddr=10.0.2.15,trsvcid=4420"),), {}),
    "RDMA to an own address of IPv6": (
        "nvme4n1",
        (fabrics(transport="rdma", address="traddr=2001:db8::7,trsvcid=4420"),),
        {},
    ),
    "TCP to an own link address": ("nvme4n1", (fabrics(address="traddr=fe80::5054:ff:fe12:3456%eth0"),), {}),
    "SCSI loopback": ("sdx", (scsi(serial="s"),), ADAPTER),
    "SCST local": ("sdx", (scsi(serial="s"),), at("/sys/devices/scst_local/scst_lcl_0/host9/9:0:0:0/block/sdx")),
    "iSCSI to an own address": (
        "sdx",
        (scsi(serial="s"), {"/sys/class/iscsi_connection/connection3:0/address": "10.0.2.15\n"}),
        at("/sys/devices/platform/host9/session3/target9:0:0/9:0:0:0/block/sdx"),
    ),
    "iSCSI to an own name": (
        "sdx",
        (scsi(serial="s"), {"/sys/class/iscsi_connection/connection3:0/persistent_address": "::1\n"}),
        at("/sys/devices/platform/host9/session3/target9:0:0/9:0:0:0/block/sdx"),
    ),
    "USB gadget": (
        "sdx",
        (scsi(serial="s"),),
        at("/sys/devices/platform/dummy_hcd.0/usb3/3-1/host9/9:0:0:0/block/sdx"),
    ),
}
ADDRESSES = {"/proc/net/fib_trie": FIB, "/proc/net/if_inet6": IF_INET6}


@pytest.mark.parametrize(("name", "parts", "links"), NO_TARGET_KNOWN.values(), ids=NO_TARGET_KNOWN)
async def test_what_this_machine_serves_without_telling_what_counts_as_in_use(
    name: str, parts: tuple[Mapping[str, str], ...], links: Mapping[str, str]
) -> None:
    told = await said(host_of(*parts, ADDRESSES, **links), f"/dev/{name}")
    assert "its backing device or file a device that this host exports to itself is not reported by" in told


ELSEWHERE: Mapping[str, tuple[str, tuple[Mapping[str, str], ...], Mapping[str, str]]] = {
    "NVMe over TCP": ("nvme4n1", (fabrics(address="traddr=10.0.2.2,trsvcid=4420,src_addr=10.0.2.15"),), {}),
    "NVMe over TCP to a name": ("nvme4n1", (fabrics(address="traddr=target.example,trsvcid=4420"),), {}),
    "NVMe over Fibre Channel": ("nvme4n1", (fabrics(transport="fc", address="traddr=nn-0x1:pn-0x2"),), {}),
    "iSCSI": (
        "sdx",
        (
            scsi(serial="s", device__vendor="LIO-ORG"),
            {"/sys/class/iscsi_connection/connection4:0/address": "10.0.2.15\n"},
            {"/sys/class/iscsi_connection/connection3:0/address": "10.0.2.2\n"},
        ),
        at("/sys/devices/platform/host9/session3/target9:0:0/9:0:0:0/block/sdx"),
    ),
    "SATA": ("sdx", (scsi(serial="s"),), at("/sys/devices/pci0/ata3/host9/target9:0:0/9:0:0:0/block/sdx")),
}


@pytest.mark.parametrize(("name", "parts", "links"), ELSEWHERE.values(), ids=ELSEWHERE)
async def test_what_another_machine_serves_is_no_import_from_oneself(
    name: str, parts: tuple[Mapping[str, str], ...], links: Mapping[str, str]
) -> None:
    exported = nvmet("/dev/sdb", name="another", uuid=UUID) | lio(FILE_INFO.format(FILE), serial="another")
    host = host_of(exported, *parts, ADDRESSES, **links)
    assert name not in (await scan_topology(host, everywhere=True)).backings
    assert "set up on" not in await said(host, f"/dev/{name}")
