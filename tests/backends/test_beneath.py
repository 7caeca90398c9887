"""What lies beneath a device, and what lies on its other path, counts as use of it, through any number of layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from backends.guard import Intent, judge_device
from backends.host import Completed, FileStat
from backends.topology import scan_topology
from tests.backends.fakes import ON_SDK, FakeHost, disk, one_disk

NUMBERS = {
    "sdk1": "8:161",
    "sdk2": "8:162",
    "sdl1": "8:177",
    "sdm": "8:192",
    "loop0": "7:0",
    "loop1": "7:1",
    "md0": "9:0",
    "bcache0": "251:0",
    "zram0": "252:0",
    "dm-0": "253:0",
    "dm-1": "253:1",
    "nvme0n1": "259:0",
    "nvme0c0n1": "259:1",
}


def add(host: FakeHost, name: str, *, on: str = "", **own: Any) -> None:
    """A device more; `on`: what it is built on."""
    host.files |= disk(name, devno=NUMBERS[name], **own)
    host.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=NUMBERS[name])
    for below in on.split():
        parent = f"{below[:3]}/{below}" if below[:2] == "sd" and below[-1].isdigit() else below
        host.files |= {f"/sys/block/{name}/slaves/{below}": "", f"/sys/block/{parent}/holders/{name}": ""}


def part(host: FakeHost, name: str) -> None:
    base = f"/sys/block/{name[:3]}/{name}"
    host.files |= {f"{base}/partition": name[3:], f"{base}/dev": NUMBERS[name], f"{base}/size": "2048"}
    host.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=NUMBERS[name])


def mounted(host: FakeHost, name: str) -> None:
    host.files["/proc/self/mountinfo"] = ON_SDK.replace("8:160", NUMBERS.get(name, "8:160")).replace("sdk", name)


@pytest.fixture
def host() -> FakeHost:
    return one_disk()


async def said(host: FakeHost, device: str) -> str:
    return " ".join((await judge_device(host, device, Intent.WRITE))[1].refused)


LAYERS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "loop device": ({"loop__backing_file": "/dev/sdl1"}, "loop0"),
    "zram": ({"backing_dev": "/dev/sdl1"}, "zram0"),
}


@pytest.mark.parametrize(("own", "name"), LAYERS.values(), ids=LAYERS)
async def test_what_is_set_up_on_a_partition_of_the_other_path_is_used_with_the_disk(
    host: FakeHost, own: Mapping[str, str], name: str
) -> None:
    part(host, "sdl1")
    add(host, name, **own)
    mounted(host, "sdk")
    sentence = f"/dev/{name} is set up on /dev/sdl1, the same disk as /dev/sdk, mounted on /mnt."
    assert sentence in await said(host, f"/dev/{name}")


@pytest.mark.parametrize(("own", "name"), LAYERS.values(), ids=LAYERS)
async def test_a_disk_on_whose_partition_something_is_set_up_is_used_by_its_other_path(
    host: FakeHost, own: Mapping[str, str], name: str
) -> None:
    part(host, "sdl1")
    add(host, name, **own)
    sentence = f"/dev/sdk is the same disk as /dev/sdl: /dev/{name} is set up on it."
    assert sentence in await said(host, "/dev/sdk")


async def test_a_loop_device_over_a_partition_beside_a_mounted_one_is_used(host: FakeHost) -> None:
    part(host, "sdk1")
    part(host, "sdk2")
    add(host, "loop0", loop__backing_file="/dev/sdk1")
    mounted(host, "sdk2")
    assert "/dev/loop0 is set up on /dev/sdk1: /dev/sdk2 is mounted on /mnt." in await said(host, "/dev/loop0")


@pytest.mark.parametrize("name", ["md0", "dm-0", "bcache0"])
async def test_what_is_built_on_a_partition_of_the_other_path_is_used_with_the_disk(host: FakeHost, name: str) -> None:
    part(host, "sdl1")
    add(host, name, on="sdl1")
    mounted(host, "sdk")
    sentence = f"/dev/{name} is built on /dev/sdl, the same disk as /dev/sdk, mounted on /mnt."
    assert sentence in await said(host, f"/dev/{name}")


@pytest.mark.parametrize("name", ["md0", "dm-0", "bcache0"])
async def test_a_disk_on_which_something_is_built_is_used_by_its_other_path(host: FakeHost, name: str) -> None:
    add(host, name, on="sdk")
    assert f"/dev/sdl is the same disk as /dev/sdk: /dev/{name} is built on it." in await said(host, "/dev/sdl")


async def test_what_is_built_on_both_paths_is_told_once(host: FakeHost) -> None:
    add(host, "dm-0", on="sdk sdl")
    add(host, "dm-1", on="sdl")
    told = [use.detail for use in (await scan_topology(host)).uses("sdk")]
    assert told == ["/dev/dm-0 is built on it", "the same disk as /dev/sdl: /dev/dm-1 is built on it"]


async def test_a_target_over_a_target_over_a_loop_device_on_a_mounted_disk_is_used(host: FakeHost) -> None:
    add(host, "loop0", loop__backing_file="/dev/sdl")
    add(host, "dm-0", on="loop0")
    add(host, "dm-1", on="dm-0")
    mounted(host, "sdk")
    sentence = "/dev/dm-1 is built on /dev/loop0, set up on /dev/sdl, the same disk as /dev/sdk, mounted on /mnt."
    assert sentence in await said(host, "/dev/dm-1")


async def test_a_loop_device_is_used_by_what_is_built_on_another_one_over_the_same_file(host: FakeHost) -> None:
    host.stats["/srv/image"] = FileStat(kind="file", size=4096, place="8:1:12")
    add(host, "loop0", loop__backing_file="/srv/image")
    add(host, "loop1", loop__backing_file="/srv/image")
    add(host, "md0", on="loop1")
    sentence = "/dev/loop0 is set up on the same data as /dev/loop1: /dev/md0 is built on it."
    assert sentence in await said(host, "/dev/loop0")


async def test_a_backing_device_of_zram_that_cannot_be_looked_at_counts_as_in_use(host: FakeHost) -> None:
    add(host, "zram0", backing_dev="/dev/gone")
    sentence = "its backing device or file /dev/gone cannot be read."
    assert sentence in await said(host, "/dev/zram0")


async def test_the_hidden_paths_of_an_nvme_namespace_are_not_other_disks(host: FakeHost) -> None:
    add(host, "nvme0n1", wwid="eui.0025388b710116a1")
    add(host, "nvme0c0n1", wwid="eui.0025388b710116a1", hidden="1")
    assert "the same disk as" not in await said(host, "/dev/nvme0n1")


@pytest.mark.parametrize(
    ("name", "own", "on"),
    [
        ("loop0", {"loop__backing_file": "/dev/sdm"}, ""),
        ("zram0", {"backing_dev": "/dev/sdm"}, ""),
        ("dm-0", {"dm__name": "a", "dm__uuid": "CRYPT-a"}, "sdm"),
        ("md0", {"md__uuid": "1:2"}, "sdm"),
        ("bcache0", {"bcache__backing_dev_uuid": "u"}, "sdm"),
    ],
)
async def test_what_lies_on_a_disk_without_an_identity_has_none_either(
    host: FakeHost, name: str, own: Mapping[str, str], on: str
) -> None:
    add(host, "sdm")
    add(host, name, on=on, **own)
    path = f"/dev/mapper/{given}" if (given := own.get("dm__name")) else f"/dev/{name}"
    underlying = "its underlying device /dev/sdm has no serial number and no WWN, so it may be a different disk"
    sentence = f"{path} cannot be verified as unused: {underlying}"
    assert sentence in await said(host, f"/dev/{name}")


async def test_through_any_number_of_layers(host: FakeHost) -> None:
    add(host, "sdm")
    add(host, "loop0", loop__backing_file="/dev/sdm")
    add(host, "dm-0", on="loop0", dm__uuid="CRYPT-a")
    assert "/dev/dm-0 cannot be verified as unused: its underlying device /dev/sdm has no serial number" in await said(
        host, "/dev/dm-0"
    )


async def test_what_lies_on_a_disk_with_an_identity_is_not_refused_for_that(host: FakeHost) -> None:
    add(host, "loop0", loop__backing_file="/dev/sdl")
    add(host, "dm-0", on="loop0", dm__uuid="CRYPT-a")
    assert "underlying device" not in await said(host, "/dev/dm-0")


async def test_a_disk_that_a_zram_writes_back_to_is_refused_with_what_gives_it_back(host: FakeHost) -> None:
    add(host, "zram0", backing_dev="/dev/sdl")
    answer = (await judge_device(host, "/dev/sdl", Intent.WRITE))[1]
    assert "/dev/sdl: /dev/zram0 is set up on it." in answer.refused
    assert "zramctl -r" in answer.hint


def dm_on_disk(host: FakeHost, start: int = 0) -> None:
    """Add dm-0, 1000 sectors of /dev/sdk from `start`; sdk1 is sectors 0 to 2047, sdk2 the 2048 behind them."""
    for name, first in (("sdk1", "0"), ("sdk2", "2048")):
        part(host, name)
        host.files[f"/sys/block/sdk/{name}/start"] = first
    add(host, "dm-0", on="sdk", dm__name="a", dm__uuid="CRYPT-a", size=1000 * 512)
    host.tools["dmsetup"] = Completed(returncode=0, stdout=f"a: 0 1000 linear 8:160 {start}\n", stderr="")


BESIDE = "/dev/mapper/a is on the same part of /dev/sdk as"


async def test_a_loop_device_on_a_partition_counts_for_a_target_on_the_same_sectors(host: FakeHost) -> None:
    dm_on_disk(host)
    add(host, "loop0", loop__backing_file="/dev/sdk1", loop__offset="0", size=2048 * 512)
    mounted(host, "loop0")
    text = await said(host, "/dev/dm-0")
    assert f"{BESIDE} /dev/sdk1: /dev/loop0 is set up on it." in text
    assert "/dev/mapper/a is on the same part of /dev/sdk1 as" not in text
    assert f"{BESIDE} /dev/loop0, which is set up there." in text
    assert f"{BESIDE} /dev/loop0, mounted on /mnt." in text


async def test_a_program_that_has_such_a_partition_open_counts(host: FakeHost) -> None:
    dm_on_disk(host)
    host.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": "postgres"}
    host.stats["/proc/77/task/77/fd/3"] = FileStat(kind="block", size=0, devno=NUMBERS["sdk1"])
    assert f"{BESIDE} /dev/sdk1: postgres (process 77) has it open." in await said(host, "/dev/dm-0")


async def test_an_export_of_such_a_partition_counts(host: FakeHost) -> None:
    dm_on_disk(host)
    host.files["/sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path"] = "/dev/sdk1"
    assert f"{BESIDE} /dev/sdk1, exported by the NVMe target nqn." in await said(host, "/dev/dm-0")


async def test_what_is_behind_the_sectors_of_a_target_does_not_count(host: FakeHost) -> None:
    dm_on_disk(host)
    add(host, "loop0", loop__backing_file="/dev/sdk2", loop__offset="0", size=2048 * 512)
    mounted(host, "loop0")
    assert BESIDE not in await said(host, "/dev/dm-0")
    assert f"{BESIDE} /dev/loop0, mounted on /mnt." in await said_of_moved(host)


async def said_of_moved(host: FakeHost) -> str:
    host.tools["dmsetup"] = Completed(returncode=0, stdout="a: 0 1000 linear 8:160 2047\n", stderr="")
    return await said(host, "/dev/dm-0")


async def test_a_partition_that_nobody_uses_does_not_count_and_is_not_held(host: FakeHost) -> None:
    dm_on_disk(host)
    facts, _ = await judge_device(host, "/dev/dm-0", Intent.WRITE)
    assert BESIDE not in await said(host, "/dev/dm-0")
    assert "sdk1" not in [identity.name for identity in facts.along]  # the kernel gives no part of a claimed disk


async def test_the_disk_below_a_target_below_a_loop_device_counts(host: FakeHost) -> None:
    dm_on_disk(host)
    add(host, "loop1", loop__backing_file="/dev/dm-0", loop__offset="0", size=1000 * 512)
    host.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": "dd"}
    host.stats["/proc/77/task/77/fd/3"] = FileStat(kind="block", size=0, devno="8:160")
    sentence = "/dev/loop1 is set up on /dev/dm-0, built on /dev/sdk: dd (process 77) has it open."
    assert sentence in await said(host, "/dev/loop1")


async def test_the_parts_of_a_container_are_read_with_the_tree(host: FakeHost) -> None:
    add(host, "md0", on="sdk")
    host.files |= {"/sys/block/md0/md/dev-sdk/offset": "2048", "/sys/block/md0/md/dev-sdk/size": "500"}
    assert (
        "md/dev-sdk/offset" not in (await scan_topology(host)).tree.nodes["md0"].attributes
    )  # no list of devices needs it
    node = (await scan_topology(host, everywhere=True)).tree.nodes["md0"]
    assert (node.attributes["md/dev-sdk/offset"], node.attributes["md/dev-sdk/size"]) == ("2048", "500")


@pytest.mark.parametrize(
    ("name", "own", "hint"),
    [("loop0", {"loop__backing_file": "/dev/sdk1"}, "losetup -d"), ("md0", {}, "delete that device")],
)
async def test_the_hint_says_how_to_take_away_what_is_set_up_there(
    host: FakeHost, name: str, own: Mapping[str, str], hint: str
) -> None:
    dm_on_disk(host)
    add(host, name, on="" if own else "sdk1", **own)
    answer = (await judge_device(host, "/dev/dm-0", Intent.WRITE))[1]
    assert f"{BESIDE} /dev/{name}, which is set up there." in answer.refused
    assert hint in answer.hint
