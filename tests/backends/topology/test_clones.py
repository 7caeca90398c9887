"""Content with the UUID of what is in use elsewhere: in use as well, unless the device is proven to be a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backends import guard
from backends.errors import RefusedError
from backends.guard import GuardResult, Intent, judge_device
from backends.host import THIS_MACHINE, Command, Completed, FileStat, FilesystemSpace
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine

UUID = "31a552dc-646f-4b73-98be-e2b3acc8e2f0"
NUMBERS = {
    "sdk": "8:160",
    "sdk1": "8:161",
    "sdl": "8:176",
    "sdl1": "8:177",
    "sdm": "8:192",
    "nvme1n1": "259:1",
    "nvme4n1": "259:4",
    "dm-0": "253:0",
    "dm-1": "253:1",
    "md0": "9:0",
    "loop0": "7:0",
    "loop1": "7:1",
    "zram0": "252:0",
}
SATA = "/sys/devices/pci0/ata{0}/host{0}/target{0}:0:0/{0}:0:0:0/block/"
ISCSI = "/sys/devices/platform/host{0}/session{0}/target{0}:0:0/{0}:0:0:0/block/"
FC = "/sys/devices/pci0/host{0}/rport-{0}:0-1/target{0}:0:0/{0}:0:0:0/block/"
SRP = "/sys/devices/pci0/host{0}/port-{0}:1/target{0}:0:0/{0}:0:0:0/block/"
SAS = "/sys/devices/pci0/host{0}/port-{0}:0/end_device-{0}:0/target{0}:0:0/{0}:0:0:0/block/"
VIRTIO_SCSI = "/sys/devices/pci0/virtio4/host{0}/target{0}:0:0/{0}:0:0:0/block/"
USB = "/sys/devices/pci0/usb3/host{0}/target{0}:0:0/{0}:0:0:0/block/"
GADGET = "/sys/devices/platform/dummy_hcd.0/usb3/host{0}/target{0}:0:0/{0}:0:0:0/block/"


@pytest.fixture(autouse=True)
def openable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything can be opened for oneself alone, and nothing be read past the cache."""
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    monkeypatch.setattr(guard, "marks_on", lambda _host: None)


class Probing(FakeHost):
    """blkid and wipefs find nothing but what udev is said to know."""

    unlisted: Mapping[str, str] = {}
    """By kernel name, content that udev knows nothing of."""

    def which(self, names: Sequence[str]) -> str | None:
        return next((f"/sbin/{name}" for name in names if name in ("blkid", "wipefs", *self.tools)), None)

    async def run(self, command: Command) -> Completed:
        program, device = command.argv[0].rpartition("/")[2], command.argv[-1].rpartition("/")[2]
        if program in self.tools:
            return self.tools[program]
        record = self.files.get(f"/run/udev/data/b{NUMBERS.get(device)}", self.unlisted.get(device, ""))
        told = dict(line[2:].split("=", 1) for line in record.split("\n") if line.startswith("E:"))
        keys = {
            "ID_FS_TYPE": "TYPE",
            "ID_FS_UUID": "UUID",
            "ID_PART_TABLE_TYPE": "PTTYPE",
            "ID_PART_TABLE_UUID": "PTUUID",
        }
        if program == "wipefs":
            return Completed(returncode=0, stdout='{"signatures": []}', stderr="")
        lines = [f"{keys[key]}={value}\n" for key, value in told.items()]
        return Completed(returncode=0 if lines else 2, stdout="".join(lines), stderr="")


def content(name: str, uuid: str = UUID, kind: str = "ext4") -> dict[str, str]:
    """What udev knows of a filesystem."""
    return {f"/run/udev/data/b{NUMBERS[name]}": f"E:ID_FS_TYPE={kind}\nE:ID_FS_UUID={uuid}"}


def table(name: str, uuid: str = UUID) -> dict[str, str]:
    """What udev knows of a partition table."""
    return {f"/run/udev/data/b{NUMBERS[name]}": f"E:ID_PART_TABLE_TYPE=gpt\nE:ID_PART_TABLE_UUID={uuid}"}


def part(name: str) -> dict[str, str]:
    base = f"/sys/block/{name[:3]}/{name}"
    return {f"{base}/partition": name[3:], f"{base}/dev": NUMBERS[name], f"{base}/size": "2048"}


def built(above: str, *below: str) -> dict[str, str]:
    files: dict[str, str] = {}
    for one in below:
        place = f"{one[:3]}/{one}" if one[-1].isdigit() and one.startswith("sd") else one
        files |= {f"/sys/block/{above}/slaves/{one}": "", f"/sys/block/{place}/holders/{above}": ""}
    return files


def mounted(name: str, kind: str = "ext4") -> str:
    return f"40 25 {NUMBERS[name]} / /srv rw - {kind} /dev/{name} rw\n"


def host_of(*parts: Mapping[str, str], mounts: str = "", paths: Mapping[str, str] | None = None) -> Probing:
    files = machine(*parts) | {"/proc/self/mountinfo": f"{MOUNTS}\n{mounts}", "/proc/1/task/1/fd/0": ""}
    stats = {f"/dev/{name}": FileStat(kind="block", size=0, devno=devno) for name, devno in NUMBERS.items()}
    links = {
        f"/sys/block/{name}": path.format(number) + name for number, (name, path) in enumerate((paths or {}).items(), 1)
    }
    host = Probing(files, stats=stats, links=links)
    host.reached = THIS_MACHINE
    return host


def pair(
    path: str = SATA, other: str = SATA, *more: Mapping[str, str], mounts: str | None = None, **own: Any
) -> Probing:
    """The mounted disk /dev/sdk, and /dev/sdl with the same content."""
    first, second = own.pop("first", {"serial": "S1"}), own.pop("second", {"serial": "S2"})
    return host_of(
        disk("sdk", devno=NUMBERS["sdk"], **first),
        disk("sdl", devno=NUMBERS["sdl"], **second),
        content("sdk"),
        content("sdl"),
        *more,
        mounts=mounted("sdk") if mounts is None else mounts,
        paths={"sdk": path, "sdl": other},
    )


async def verdict(host: FakeHost, device: str = "/dev/sdl") -> GuardResult:
    return (await judge_device(host, device, Intent.WRITE))[1]


COPY = "its data is on a disk with another serial number or WWN, so it is a copy"
IN_USE = f"/dev/sdl is possibly the same data as /dev/sdk, with the same UUID (ext4 {UUID}), mounted on /srv."


@pytest.mark.parametrize("path", [SATA, SAS, VIRTIO_SCSI, USB], ids=["SATA", "SAS", "virtio-scsi", "USB"])
async def test_a_local_disk_with_another_serial_number_is_named_as_a_copy(path: str) -> None:
    answer = await verdict(pair(path, path))
    assert answer.ok
    assert answer.needs_confirmation
    assert f"/dev/sdl: its ext4 has the UUID of /dev/sdk, which is mounted on /srv; {COPY}" in answer.content


UNPROVEN: Mapping[str, Probing] = {
    "remote by iSCSI": pair(SATA, ISCSI),
    "the other is remote by iSCSI": pair(ISCSI, SATA),
    "both remote by iSCSI": pair(ISCSI, ISCSI),
    "remote by Fibre Channel": pair(SATA, FC),
    "remote by SRP": pair(SATA, SRP),
    "served by a USB gadget": pair(SATA, GADGET),
    "remote with another WWN": pair(
        SATA, FC, first={"device__wwid": "naa.5000000000000001"}, second={"device__wwid": "naa.5000000000000002"}
    ),
    "no serial number": pair(second={"device__model": "M", "device__wwid": "naa.5000000000000002"}),
    "the other has no serial number": pair(first={"device__model": "M"}),
}


@pytest.mark.parametrize("host", UNPROVEN.values(), ids=UNPROVEN)
async def test_what_may_be_the_same_data_is_in_use(host: Probing) -> None:
    answer = await verdict(host)
    assert IN_USE in answer.refused
    assert "change its UUID" in answer.hint


async def test_another_serial_number_of_one_local_namespace_with_another_wwn_is_a_copy() -> None:
    one, two = ({"serial": "S", "device__wwid": f"naa.500000000000000{number}"} for number in (1, 2))
    answer = await verdict(pair(first=one, second=two))
    assert answer.ok
    assert any(COPY in line for line in answer.content)


@pytest.mark.parametrize(
    ("transport", "copy"), [("pcie", True), ("tcp", False), ("rdma", False), ("fc", False)], ids=str
)
@pytest.mark.parametrize("hidden", [False, True], ids=["one path", "several"])
async def test_an_nvme_namespace_is_local_on_pci_express_alone(transport: str, copy: bool, hidden: bool) -> None:
    name = "nvme4c4n1" if hidden else "nvme4n1"
    told = {
        f"/sys/block/{name}/device/transport": transport,
        f"/sys/block/{name}/device/address": "traddr=192.0.2.1",
    }
    route = told | {f"/sys/block/{name}/hidden": "1"} if hidden else {}
    host = host_of(
        disk("sdk", devno=NUMBERS["sdk"], serial="S1"),
        disk("nvme4n1", devno=NUMBERS["nvme4n1"], device__serial="S2") | ({} if hidden else told),
        route,
        content("sdk"),
        content("nvme4n1"),
        mounts=mounted("sdk"),
        paths={"sdk": SATA},
    )
    answer = await verdict(host, "/dev/nvme4n1")
    assert answer.ok is copy
    assert any(COPY in line for line in answer.content) is copy
    assert any("possibly the same data as /dev/sdk" in line for line in answer.refused) is not copy


async def test_a_copy_of_what_is_not_in_use_is_not_told_of() -> None:
    answer = await verdict(pair(mounts=""))
    assert answer.ok
    assert not any("so it is a copy" in line for line in answer.content)


async def test_what_may_be_the_same_data_and_is_not_in_use_needs_the_word() -> None:
    answer = await verdict(pair(SATA, ISCSI, mounts=""))
    assert (answer.ok, answer.needs_confirmation) == (True, True)


async def test_other_uuids_are_other_content() -> None:
    answer = await verdict(pair(SATA, ISCSI, content("sdk", UUID.replace("3", "4"))))
    assert answer.ok
    assert not any("so it is a copy" in line for line in answer.content)


async def test_a_uuid_of_zeros_is_none() -> None:
    zeros = "00000000-0000-0000-0000-000000000000"
    assert (await verdict(pair(SATA, ISCSI, content("sdk", zeros), content("sdl", zeros)))).ok


async def test_letters_of_a_uuid_may_be_capitals() -> None:
    assert not (await verdict(pair(SATA, ISCSI, content("sdk", UUID.upper())))).ok


@pytest.mark.parametrize("name", ["dm-0", "md0"])
async def test_what_an_open_volume_lies_on_is_in_use_by_its_uuid(name: str) -> None:
    above = disk(name, devno=NUMBERS[name], dm__name="open", dm__uuid="CRYPT-LUKS1-x-open")
    luks = [content("sdk", kind="crypto_LUKS"), content("sdl", kind="crypto_LUKS")]
    answer = await verdict(pair(SATA, ISCSI, above, built(name, "sdk"), *luks, mounts=""))
    assert any(f"(crypto_LUKS {UUID}): /dev/" in line and "is built on it" in line for line in answer.refused)


async def test_active_swap_is_in_use_by_its_uuid() -> None:
    host = pair(SATA, ISCSI, content("sdk", kind="swap"), content("sdl", kind="swap"), mounts="")
    host.files["/proc/swaps"] = "Filename\tType\tSize\tUsed\tPriority\n/dev/sdk partition 8 0 -2\n"
    assert any("active swap" in line for line in (await verdict(host)).refused)


async def test_a_partition_table_of_one_uuid_makes_the_disk_in_use_by_the_partitions_of_the_other() -> None:
    host = pair(SATA, ISCSI, table("sdk"), table("sdl"), part("sdk1"), mounts=mounted("sdk1"))
    words = (
        f"/dev/sdl is possibly the same data as /dev/sdk, with the same UUID (gpt {UUID}): /dev/sdk1 is mounted on "
        "/srv."
    )
    assert words in (await verdict(host)).refused


async def test_a_partition_with_the_content_of_a_whole_disk_is_in_use() -> None:
    host = pair(SATA, ISCSI, part("sdl1"), content("sdl1"))
    host.files.pop("/run/udev/data/b8:176")
    for device in ("/dev/sdl1", "/dev/sdl"):
        assert any("possibly the same data as /dev/sdk" in line for line in (await verdict(host, device)).refused)


async def test_members_of_an_array_have_rules_of_their_own() -> None:
    members = [content(name, kind="linux_raid_member") for name in ("sdk", "sdl")]
    answer = await verdict(pair(SATA, ISCSI, *members, disk("md0", devno="9:0"), built("md0", "sdk"), mounts=""))
    assert answer.refused == ("/dev/sdl is a member of a RAID or multipath set (linux_raid_member).",)


async def test_a_mounted_device_that_udev_does_not_know_is_probed() -> None:
    host = pair(SATA, ISCSI)
    host.unlisted = {"sdk": host.files.pop("/run/udev/data/b8:160")}
    assert IN_USE in (await verdict(host)).refused


# -- what is built on disks -------------------------------------------------------------------------------------------


def volumes(path: str, other: str, *, below: str = "sdl") -> Probing:
    """The mounted volume dm-0 on /dev/sdk, and dm-1 of the same content."""
    start = 2097152 if below == "sdk" else 0
    tables = f"one: 0 2097152 linear 8:160 0\nother: 0 2097152 linear {NUMBERS[below]} {start}\n"
    host = pair(
        path,
        other,
        disk("dm-0", devno=NUMBERS["dm-0"], dm__name="one", dm__uuid="CRYPT-1"),
        disk("dm-1", devno=NUMBERS["dm-1"], dm__name="other", dm__uuid="CRYPT-2"),
        built("dm-0", "sdk"),
        built("dm-1", below),
        content("dm-0"),
        content("dm-1"),
        mounts=mounted("dm-0"),
    )
    for disk_ in ("sdk", "sdl"):
        host.files.pop(f"/run/udev/data/b{NUMBERS[disk_]}")
    host.tools["dmsetup"] = Completed(returncode=0, stdout=tables, stderr="")
    return host


async def test_a_volume_on_another_local_disk_is_a_copy() -> None:
    answer = await verdict(volumes(SATA, SATA), "/dev/dm-1")
    assert answer.ok, answer.refused
    assert any("its ext4 has the UUID of /dev/mapper/one" in line and COPY in line for line in answer.content)


async def test_a_volume_on_a_remote_disk_is_in_use_by_the_volume_of_its_uuid() -> None:
    answer = await verdict(volumes(SATA, ISCSI), "/dev/dm-1")
    words = (
        f"/dev/mapper/other is possibly the same data as /dev/mapper/one, with the same UUID (ext4 {UUID}), mounted "
        "on /srv."
    )
    assert words in answer.refused


async def test_a_volume_on_another_part_of_the_same_disk_is_a_copy_wherever_that_is() -> None:
    answer = await verdict(volumes(ISCSI, ISCSI, below="sdk"), "/dev/dm-1")
    assert answer.ok, answer.refused
    assert any("its data is on another part of the same disk, so it is a copy" in line for line in answer.content)


def images(
    *,
    first: str = "/srv/a",
    second: str = "/srv/b",
    places: tuple[str, str] = ("8:192:1", "8:192:2"),
    fstype: str = "ext4",
) -> Probing:
    """The mounted loop device loop0, and loop1 of the same content; the files are on /dev/sdm, which has no number."""
    host = host_of(
        disk("sdm", devno=NUMBERS["sdm"], device__model="M"),
        disk("sdk", devno=NUMBERS["sdk"], serial="S1"),
        disk("loop0", devno=NUMBERS["loop0"], loop__backing_file=first),
        disk("loop1", devno=NUMBERS["loop1"], loop__backing_file=second),
        content("loop0"),
        content("loop1"),
        mounts=f"40 25 {NUMBERS['loop0']} / /data rw - ext4 /dev/loop0 rw\n"
        f"41 25 {NUMBERS['sdm']} / /srv rw - ext4 /dev/sdm rw\n"
        f"42 25 {NUMBERS['sdk']} / /mnt rw - ext4 /dev/sdk rw\n"
        f"43 25 0:40 / /tmp rw - {fstype} none rw\n",
        paths={"sdk": SATA},
    )
    for name, file, place in (("loop0", first, places[0]), ("loop1", second, places[1])):
        host.stats[file] = FileStat(kind="file", size=1 << 30, place=place, allocated=1 << 30)
        host.spaces[file] = host.spaces[file.rpartition("/")[0]] = FilesystemSpace(size=1 << 40, free=1 << 39)
        numbers, inode = place.rsplit(":", 1)
        told = host.tools.get("losetup", Completed(returncode=0, stdout="", stderr="")).stdout
        host.tools["losetup"] = Completed(returncode=0, stdout=f"{told}/dev/{name} {numbers} {inode}\n", stderr="")
    return host


async def test_another_file_of_one_file_system_is_a_copy() -> None:
    answer = await verdict(images(), "/dev/loop1")
    assert answer.ok, answer.refused
    line = "/dev/loop1: its ext4 has the UUID of /dev/loop0, which is mounted on /data; its data is in another file"
    assert any(line in found for found in answer.content)


async def test_a_file_on_another_disk_that_reports_nothing_is_no_copy() -> None:
    answer = await verdict(images(second="/mnt/b", places=("8:192:1", "8:160:1")), "/dev/loop1")
    assert any("/dev/loop1 is possibly the same data as /dev/loop0" in line for line in answer.refused)


async def test_a_mounted_image_whose_file_is_not_known_proves_nothing() -> None:
    host = images()
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 8:192 7\n/dev/loop1 8:192 2\n", stderr="")
    answer = await verdict(host, "/dev/loop1")
    assert any("/dev/loop1 is possibly the same data as /dev/loop0" in line for line in answer.refused)


async def test_a_file_in_memory_is_a_copy() -> None:
    answer = await verdict(images(second="/tmp/b", places=("8:192:1", "0:40:1"), fstype="tmpfs"), "/dev/loop1")
    assert any("one of the two is in memory), so it is a copy" in found for found in answer.content), answer.refused


async def test_a_file_of_btrfs_which_tells_another_number_than_its_mount_is_found_by_its_path() -> None:
    host = images(second="/var/b", places=("8:160:1", "0:51:1"))
    host.files["/proc/self/mountinfo"] += "44 25 0:50 / /var rw - btrfs /dev/sdl rw\n"
    host.files |= disk("sdl", devno=NUMBERS["sdl"], serial="S2")
    host.links["/sys/block/sdl"] = SATA.format(7) + "sdl"
    answer = await verdict(host, "/dev/loop1")
    assert any(COPY in found for found in answer.content), answer.refused


@pytest.mark.parametrize(("path", "copy"), [(SATA, True), (ISCSI, False)], ids=["local", "remote"])
async def test_a_loop_device_over_a_disk_is_as_local_as_the_disk(path: str, copy: bool) -> None:
    host = pair(SATA, path, disk("loop0", devno=NUMBERS["loop0"], loop__backing_file="/dev/sdl"), content("loop0"))
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 0:5 99\n", stderr="")
    host.stats["/dev/sdl"] = FileStat(kind="block", size=0, devno=NUMBERS["sdl"], node="0:5:99")
    answer = await verdict(host, "/dev/loop0")
    assert answer.ok is copy
    assert any(line.startswith("/dev/loop0") and COPY in line for line in answer.content) is copy


@pytest.mark.parametrize("remote", ["sdl", "sdm"])
async def test_one_remote_member_is_enough_for_an_array_to_be_no_proven_copy(remote: str) -> None:
    host = host_of(
        *(disk(name, devno=NUMBERS[name], serial=name) for name in ("sdk", "sdl", "sdm")),
        disk("md0", devno=NUMBERS["md0"], md__uuid="1:2"),
        built("md0", "sdl", "sdm"),
        content("sdk"),
        content("md0"),
        mounts=mounted("sdk"),
        paths={name: ISCSI if name == remote else SATA for name in ("sdk", "sdl", "sdm")},
    )
    answer = await verdict(host, "/dev/md0")
    assert any("/dev/md0 is possibly the same data as /dev/sdk" in line for line in answer.refused)


@pytest.mark.parametrize(("path", "copy"), [("/sys/devices/pci0/nvme/", True), ("/sys/devices/virtual/nvme/", False)])
async def test_a_namespace_whose_transport_is_not_told_is_known_by_its_place(path: str, copy: bool) -> None:
    host = host_of(
        disk("sdk", devno=NUMBERS["sdk"], serial="S1"),
        disk("nvme1n1", devno=NUMBERS["nvme1n1"], device__serial="S2"),
        content("sdk"),
        content("nvme1n1"),
        mounts=mounted("sdk"),
        paths={"sdk": SATA, "nvme1n1": path},
    )
    assert (await verdict(host, "/dev/nvme1n1")).ok is copy


async def test_compressed_memory_is_a_copy() -> None:
    host = pair(ISCSI, ISCSI, disk("zram0", devno=NUMBERS["zram0"]), content("zram0"))
    answer = await verdict(host, "/dev/zram0")
    assert any("one of the two is in memory), so it is a copy" in found for found in answer.content), answer.refused


# -- between the question and the answer ------------------------------------------------------------------------------


async def test_what_turns_out_to_be_a_copy_after_the_question_is_asked_again() -> None:
    shown = (await verdict(pair(mounts=""))).content
    answer = await verdict(pair())
    with pytest.raises(RefusedError, match=r"changed after you confirmed it: .*so it is a copy"):
        guard.require_confirmed_content(answer, shown)


async def test_what_is_no_copy_of_anything_in_use_any_more_needs_no_new_answer() -> None:
    shown = (await verdict(pair())).content
    guard.require_confirmed_content(await verdict(pair(mounts="")), shown)
