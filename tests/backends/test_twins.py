"""One disk under several names is one disk: its use counts for all of them, and all are held together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.core.benchmark.device_access import DeviceAccess
from backends import guard
from backends.errors import RefusedError
from backends.guard import GuardResult, Intent, claim_device, judge_device
from backends.host import FileStat
from backends.topology import scan_topology
from tests.backends.fakes import MOUNTS, ON_SDK, WWN, FakeHost, disk, dm_tables, one_disk, two_paths


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices that are held, for there are none."""
    devices: list[str] = []

    class Holding(SimpleNamespace):
        def __init__(self, device: str, *_: object, **__: object) -> None:
            super().__init__(path=device)

        async def __aenter__(self) -> Holding:
            devices.append(self.path)
            return self

        async def __aexit__(self, *_: object) -> None: ...

    monkeypatch.setattr(guard, "DeviceClaim", Holding)
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    return devices


async def verdict(host: FakeHost, device: str = "/dev/sdl") -> GuardResult:
    return (await judge_device(host, device, Intent.WRITE))[1]


async def test_the_second_path_to_a_mounted_disk_is_refused() -> None:
    answer = await verdict(one_disk(**{"/proc/self/mountinfo": ON_SDK}))
    assert answer.refused == ("/dev/sdl is the same disk as /dev/sdk, mounted on /mnt.",)


async def test_the_list_shows_the_second_path_as_used() -> None:
    picture = await scan_topology(one_disk(**{"/proc/self/mountinfo": ON_SDK}))
    assert [use.detail for use in picture.uses("sdl")] == ["the same disk as /dev/sdk, mounted on /mnt"]


async def test_a_mounted_partition_on_the_other_path_is_named() -> None:
    host = one_disk(**{"/proc/self/mountinfo": MOUNTS + "\n40 25 8:161 / /mnt rw - ext4 /dev/sdk1 rw"})
    base = "/sys/block/sdk/sdk1"
    host.files |= {f"{base}/dev": "8:161", f"{base}/size": "2048", f"{base}/partition": "1"}
    host.stats["/dev/sdk1"] = FileStat(kind="block", size=0, devno="8:161")
    assert (await verdict(host)).refused == ("/dev/sdl is the same disk as /dev/sdk: /dev/sdk1 is mounted on /mnt.",)


async def test_a_program_that_has_the_other_path_open_is_named() -> None:
    host = one_disk(**{"/proc/77/task/78/fd/3": "", "/proc/77/comm": "qemu"})
    host.stats["/proc/77/task/78/fd/3"] = FileStat(kind="block", size=0, devno="8:160")
    answer = await verdict(host)
    assert answer.refused == ("/dev/sdl is the same disk as /dev/sdk: qemu (process 77) has it open.",)


async def test_the_other_path_claimed_by_somebody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda device, _: "taken" if device == "/dev/sdk" else None)
    answer = await verdict(one_disk())
    assert answer.refused == ("/dev/sdl is the same disk as /dev/sdk: taken.",)


async def test_both_paths_are_held_during_a_run(held: list[str]) -> None:
    host = one_disk()
    typed = (await verdict(host)).confirm_text
    async with claim_device(host, "/dev/sdl", Intent.WRITE, typed):
        assert held == ["/dev/sdl", "/dev/sdk"]


async def test_a_run_on_one_path_locks_the_other_too(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement = await DeviceAccess(one_disk()).judge("/dev/sdl", writes=False)
    assert judgement.along == ("/dev/sdk",)


DESCRIBED = {"serial": "S1", "device__model": "ST4000"}


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"device__wwid": WWN}, {"device__wwid": WWN}, True),
        (DESCRIBED, DESCRIBED, True),
        (DESCRIBED | {"device__wwid": WWN}, DESCRIBED, True),
        (DESCRIBED, DESCRIBED | {"serial": "S2"}, False),
        (DESCRIBED, DESCRIBED | {"device__model": "ST8000"}, False),
        ({"serial": "S1"}, {"serial": "S1"}, False),
        (DESCRIBED | {"device__wwid": WWN}, DESCRIBED | {"device__wwid": "naa.5000c500a1b2c3d5"}, False),
        ({}, {}, False),
        ({"device__wwid": WWN, "serial": "S1"}, {"device__wwid": WWN, "serial": "S2"}, False),
        ({"device__wwid": WWN, "serial": "S1"}, {"device__wwid": WWN}, True),
        ({"device__wwid": WWN, "serial": "S1"}, {"device__wwid": WWN, "serial": "s1 "}, True),
        ({"device__wwid": WWN, "serial": "ZA1234"}, {"device__wwid": WWN, "serial": "ZA1234C0001"}, True),
        ({"device__wwid": WWN, "serial": "Z1X2"}, {"device__wwid": WWN, "serial": "5000c500a1b2c3d4"}, True),
        ({"device__wwid": WWN, "device__model": "A"}, {"device__wwid": WWN, "device__model": "B"}, False),
        ({"device__wwid": WWN, "size": 4096}, {"device__wwid": WWN}, False),
        ({"device__wwid": WWN, "size": 0}, {"device__wwid": WWN}, True),
        ({"device__wwid": "naa.0000000000000000"}, {"device__wwid": "naa.0000000000000000"}, False),
        ({"device__wwid": WWN, "hidden": "1"}, {"device__wwid": WWN}, False),
    ],
)
async def test_what_makes_two_nodes_one_disk(first: dict[str, Any], second: dict[str, Any], same: bool) -> None:
    assert bool((await scan_topology(two_paths(first=first, second=second))).twins) is same


@pytest.mark.parametrize(
    ("way", "one"), [("ata{}/host{}", False), ("usb1/1-{}/host{}", False), ("host{1}/port-0:0/end_device-{0}", True)]
)
async def test_nodes_of_a_bus_with_one_path_are_two_disks_whatever_they_report(way: str, one: bool) -> None:
    host = two_paths(first=DESCRIBED | {"device__wwid": WWN}, second=DESCRIBED | {"device__wwid": WWN})
    attached(host, way)
    assert bool((await scan_topology(host)).twins) is one


def attached(host: FakeHost, way: str) -> None:
    """Both disks behind a bus, each at a port of its own."""
    for at, name in enumerate(("sdk", "sdl"), 1):
        host.links[f"/sys/block/{name}"] = f"/sys/devices/pci0/{way.format(at, at)}/{at}:0:0:0/block/{name}"


async def test_what_a_multipath_device_is_built_on_is_one_disk_whatever_it_reports() -> None:
    host = two_paths(first={"serial": "CONTROLLER-A"}, second={"serial": "CONTROLLER-B"})
    host.files |= disk("dm-0", devno="253:0", dm__name="mpatha", dm__uuid="mpath-3600")
    for name in ("sdk", "sdl"):
        host.files |= {f"/sys/block/dm-0/slaves/{name}": "", f"/sys/block/{name}/holders/dm-0": ""}
    assert (await scan_topology(host)).paths("sdl") == ("sdk", "sdl")


async def test_disks_of_different_size_are_not_one_by_their_serial_number() -> None:
    host = two_paths(first=DESCRIBED, second=DESCRIBED)
    host.files["/sys/block/sdl/size"] = "4096"
    assert not (await scan_topology(host)).twins


async def test_volumes_beside_it_on_the_same_member_do_not_count() -> None:
    host = two_paths(first={"serial": "S1"}, second={"serial": "S2"})
    for number, name in ((0, "dm-0"), (1, "dm-1")):
        host.files |= disk(name, devno=f"253:{number}", dm__name=f"vg-{name}", dm__uuid=f"LVM-{name}")
        host.files[f"/sys/block/{name}/slaves/sdk"] = ""
        host.files[f"/sys/block/sdk/holders/{name}"] = ""
        host.stats[f"/dev/{name}"] = FileStat(kind="block", size=0, devno=f"253:{number}")
    host.files["/proc/self/mountinfo"] += "\n40 25 253:1 / /mnt rw - ext4 /dev/mapper/vg-dm-1 rw"
    host.tools["dmsetup"] = dm_tables(host)
    assert (await verdict(host, "/dev/dm-0")).ok


@pytest.mark.parametrize(("program", "ok"), [("qemu", False), ("multipathd", True), ("mdmon", True)])
async def test_a_member_that_a_program_holds_open_counts_unless_it_looks_after_it(program: str, ok: bool) -> None:
    host = two_paths(first={"serial": "S1"}, second={"serial": "S2"})
    host.files |= disk("dm-0", devno="253:0", dm__name="data", dm__uuid="LVM-data")
    host.files |= {"/sys/block/dm-0/slaves/sdk": "", "/sys/block/sdk/holders/dm-0": ""}
    host.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": program}
    host.stats |= {
        "/dev/dm-0": FileStat(kind="block", size=0, devno="253:0"),
        "/proc/77/task/77/fd/3": FileStat(kind="block", size=0, devno="8:160"),
    }
    answer = await verdict(host, "/dev/dm-0")
    assert answer.refused == (() if ok else ("/dev/mapper/data is built on /dev/sdk: qemu (process 77) has it open.",))


async def test_a_run_is_refused_where_something_came_that_was_not_shown() -> None:
    host = one_disk()
    typed = (await verdict(host)).confirm_text
    with pytest.raises(RefusedError, match="The content of /dev/sdl changed after you confirmed it"):
        async with claim_device(host, "/dev/sdl", Intent.WRITE, typed, shown=()):
            raise AssertionError("it must not be handed over")
