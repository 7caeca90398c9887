"""btrfs of several devices is an array: level, members, what is missing, met errors, and what is under way."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from backends.model import Array, Level, State, Target
from backends.system.local import LocalHost
from backends.vendors.btrfs import Btrfs
from tests.backends.loops import loop, mounted, needs_loops, run
from tests.backends.topology.thin_machines import ThinMachine
from tests.packages import needs

UUID, OTHER = "93105e3f-e21b-4393-a735-c7139535713c", "a3f8a2eb-0a70-492f-b6d5-70b0e4ac4d7d"
GIB = 1 << 30


def host(
    profile: str = "raid1",
    *,
    devices: tuple[str, ...] = ("sda", "sdb"),
    gone: int = 0,
    label: str = "pool",
    operation: str = "none",
    uuid: str = UUID,
    made: ThinMachine | None = None,
) -> ThinMachine:
    """A btrfs that is mounted on /srv, as the kernel tells of it."""
    machine = made or ThinMachine()
    folder = f"/sys/fs/btrfs/{uuid}"
    texts = {"label": f"{label}\n", "exclusive_operation": f"{operation}\n"}
    texts |= {f"allocation/data/{one}/total_bytes": f"{GIB}\n" for one in profile.split()}
    texts |= {"allocation/data/single/total_bytes": "0\n"} if "single" not in profile else {}
    texts |= {"allocation/metadata/raid1/total_bytes": "1\n"}
    for number in range(1, len(devices) + gone + 1):
        texts[f"devinfo/{number}/missing"] = "0\n" if number <= len(devices) else "1\n"
        texts[f"devinfo/{number}/error_stats"] = "write_errs 0\nread_errs 0\ncorruption_errs 0\n"
    for name in devices:
        machine.add(name)
        texts[f"devices/{name}/size"] = "1"
    machine.files |= {f"{folder}/{path}": text for path, text in texts.items()}
    mounts = machine.files.get("/proc/self/mountinfo", "")
    machine.files["/proc/self/mountinfo"] = f"{mounts.rstrip()}\n40 25 0:39 / /srv rw - btrfs /dev/{devices[0]} rw\n"
    return machine


async def only(machine: ThinMachine) -> Array:
    (array,) = (await Btrfs(machine).inventory()).arrays
    return array


def told(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


async def test_it_is_told_by_its_label_with_its_members_and_where_it_is_mounted() -> None:
    array = await only(host())
    assert (str(array.target), array.level, array.state, array.folder) == (
        "btrfs:pool",
        Level.RAID1,
        State.OPTIMAL,
        "/srv",
    )
    assert [str(member) for member in array.members] == ["block:sda", "block:sdb"]
    assert [use.kind for use in array.uses] == ["mount"]
    assert told(array) == {"UUID": UUID, "Data": "raid1", "Metadata": "raid1"}


@pytest.mark.parametrize(
    ("profile", "devices", "level", "strip", "data"),
    [
        ("raid0", 3, Level.RAID0, 64 << 10, 3),
        ("raid5", 3, Level.RAID5, 64 << 10, 2),
        ("raid6", 4, Level.RAID6, 64 << 10, 2),
        ("raid10", 4, Level.RAID10, 64 << 10, 2),
        ("raid1c3", 3, Level.RAID1, None, None),
        ("single", 2, Level.CONCAT, None, None),
        ("single raid1", 2, Level.UNKNOWN, None, None),
    ],
)
async def test_its_level_is_that_of_its_data(
    profile: str, devices: int, level: Level, strip: int | None, data: int | None
) -> None:
    array = await only(host(profile, devices=tuple(f"sd{letter}" for letter in "abcd"[:devices])))
    assert (array.level, array.strip_bytes, array.data_drives) == (level, strip, data)


@pytest.mark.parametrize(
    ("profile", "sizes", "usable"),
    [
        ("raid1", (1, 1, 1), 1.5),
        ("raid1", (1, 1, 4), 2),
        ("single", (1, 4), 5),
        ("raid5", (1, 1, 1), 2),
        ("raid5", (1, 1, 4), None),
    ],
)
async def test_what_it_holds_is_told_where_unequal_devices_do_not_leave_it_open(
    profile: str, sizes: tuple[int, ...], usable: float | None
) -> None:
    names = tuple(f"sd{letter}" for letter in "abc"[: len(sizes)])
    machine = host(profile, devices=names)
    machine.files |= {
        f"/sys/block/{name}/size": str(size * GIB // 512) for name, size in zip(names, sizes, strict=True)
    }
    assert (await only(machine)).size_bytes == (None if usable is None else usable * GIB)


async def test_what_is_missing_makes_it_degraded_even_where_one_device_is_left() -> None:
    array = await only(host(devices=("sda",), gone=1))
    assert (array.state, array.why, array.size_bytes) == (State.DEGRADED, "1 of 2 devices missing", None)


async def test_of_one_device_it_is_no_array() -> None:
    assert (await Btrfs(host("single", devices=("sda",))).inventory()).arrays == ()


async def test_errors_are_told_by_device() -> None:
    machine = host()
    machine.files[f"/sys/fs/btrfs/{UUID}/devinfo/2/error_stats"] = "write_errs 0\nread_errs 3\ncorruption_errs 1\n"
    assert told(await only(machine))["Errors, 2"] == "3 read, 1 corruption"


@pytest.mark.parametrize(
    ("operation", "tasks"),
    [("none", []), ("balance", ["balance"]), ("device replace", ["rebuild"]), ("balance paused", []), ("resize", [])],
)
async def test_what_is_under_way_is_a_task(operation: str, tasks: list[str]) -> None:
    array = await only(host(operation=operation))
    assert [task.kind for task in array.tasks] == tasks
    assert told(array).get("Paused") == ("balance" if "paused" in operation else None)


async def test_two_of_one_label_are_told_by_their_uuids() -> None:
    both = host(devices=("sdc", "sdd"), uuid=OTHER, made=host())
    addresses = [array.target.address for array in (await Btrfs(both).inventory()).arrays]
    assert sorted(addresses) == [UUID, OTHER]


async def test_a_hostile_label_is_only_text() -> None:
    assert (await only(host(label="\x1b]0;x\x07po\u202eol"))).target.address.isprintable()


@pytest.mark.slow
@needs_loops()
@needs("mkfs.btrfs", "mount")
async def test_the_kernel_tells_the_same_of_real_devices(tmp_path: Path) -> None:
    with ExitStack() as stack:
        devices = [stack.enter_context(loop(tmp_path / name, size=200 << 20)) for name in "abc"]
        nodes = [device.sure() for device in devices]
        run("mkfs.btrfs", "-q", "-K", "-L", tmp_path.name[-8:], "-d", "raid0", "-m", "raid1", *nodes)
        point = stack.enter_context(mounted(nodes[0], tmp_path / "point"))
        found = (await Btrfs(LocalHost()).inventory()).arrays
        (array,) = [array for array in found if array.folder == str(point)]
        assert (array.level, array.data_drives, array.size_bytes) == (Level.RAID0, 3, 600 << 20)
        assert set(array.members) == {Target(backend="block", address=device.name) for device in devices}
