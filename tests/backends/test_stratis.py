"""Pools and filesystems of Stratis are listed with what they lie on, and guarded by name."""

from __future__ import annotations

import pytest

from backends import guard
from backends.guard import GuardResult, Intent, judge_device
from backends.model import Array, Level, State
from backends.vendors.dm.backend import Dm
from backends.vendors.stratis import VENDOR, Stratis
from tests.backends.topology.thin_machines import ThinMachine

POOL, FS, OTHER = "a" * 32, "b" * 32, "c" * 32
NAMES = f"E:STRATIS_POOL_NAME=data\nE:STRATIS_FS_NAME=home\nE:DM_NAME=stratis-1-{POOL}-thin-fs-{FS}\n"


def made(*, gauge: str = "512/1024", mode: str = "rw", named: bool = True, filesystem: bool = True) -> ThinMachine:
    """A pool on /dev/sda and /dev/sdb with a filesystem, as stratisd builds it."""
    host = ThinMachine()
    host.add("sda")
    host.add("sdb")
    parts = (
        ("dm-0", "physical-originsub", ("sda", "sdb"), "linear", "linear"),
        ("dm-1", "flex-thinmeta", ("dm-0",), "linear", "linear"),
        ("dm-2", "flex-thindata", ("dm-0",), "linear", "linear"),
        (
            "dm-3",
            "thinpool-pool",
            ("dm-1", "dm-2"),
            "thin-pool",
            f"thin-pool 1 10/100 {gauge} - {mode} discard_passdown",
        ),
    )
    for name, role, below, table, state in parts:
        given = f"stratis-1-private-{POOL}-{role}"
        words = {"linear": f"linear {host.number(below[0])} 0", "thin-pool": "thin-pool 250:2 250:3 2048 100"}[table]
        host.mapped(name, given, words, state, *below, dm__uuid=given)
    if filesystem:
        given = f"stratis-1-{POOL}-thin-fs-{FS}"
        host.mapped("dm-4", given, f"thin {host.number('dm-3')} 0", "thin 1024 2047", "dm-3", dm__uuid=given)
        if named:
            host.files[f"/run/udev/data/b{host.number('dm-4')}"] = NAMES
    return host


async def arrays(host: ThinMachine) -> dict[str, Array]:
    return {str(array.target): array for array in (await Stratis(host).inventory()).arrays}


def facts(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)


async def verdict(host: ThinMachine, device: str) -> GuardResult:
    return (await judge_device(host, device, Intent.WRITE))[1]


async def test_a_pool_and_its_filesystem_are_listed_with_the_disks_below() -> None:
    found = await arrays(made())
    assert found.keys() == {"stratis:data", "stratis:data/home"}
    pool, home = found["stratis:data"], found["stratis:data/home"]
    assert (pool.level, pool.state, pool.device) == (Level.THIN_POOL, State.OPTIMAL, None)
    assert (home.level, home.device, home.link) == (Level.THIN, "/dev/dm-4", "/dev/stratis/data/home")
    assert [str(one) for one in pool.members] == [str(one) for one in home.members] == ["block:sda", "block:sdb"]
    assert facts(pool) == {"Used, data": "50.0 %", "Used, metadata": "10.0 %"}


async def test_without_udevs_names_the_uuids_stand() -> None:
    found = await arrays(made(named=False))
    assert found.keys() == {f"stratis:{POOL}", f"stratis:{POOL}/{FS}"}
    assert found[f"stratis:{POOL}/{FS}"].link == f"/dev/mapper/stratis-1-{POOL}-thin-fs-{FS}"


async def test_device_mapper_does_not_list_them_again() -> None:
    assert (await Dm(made()).inventory()).arrays == ()


@pytest.mark.parametrize(
    ("gauge", "mode", "state", "why"),
    [
        ("512/1024", "rw", State.OPTIMAL, ""),
        ("920/1024", "rw", State.OPTIMAL, ""),
        ("922/1024", "rw", State.DEGRADED, "the data are 90 % full"),
        ("1024/1024", "out_of_data_space", State.FAILED, "it is full and accepts no more writes"),
        ("1/1024", "ro", State.FAILED, "the thin pool is read-only"),
        ("junk", "rw", State.UNKNOWN, ""),
    ],
)
async def test_a_pool_says_how_it_is(gauge: str, mode: str, state: State, why: str) -> None:
    found = await arrays(made(gauge=gauge, mode=mode))
    assert (found["stratis:data"].state, found["stratis:data"].why) == (state, why)
    failed = state is State.FAILED
    assert (found["stratis:data/home"].state is State.FAILED) is failed


@pytest.mark.parametrize(("machine", "there"), [(made(), True), (ThinMachine(), False)], ids=["with", "without"])
async def test_a_machine_without_it_is_not_asked(machine: ThinMachine, there: bool) -> None:
    assert await VENDOR.present(machine) is there


async def test_a_disk_of_a_pool_is_refused_by_the_pools_name() -> None:
    answer = await verdict(made(), "/dev/sda")
    assert answer.refused == ("/dev/sda is a part of the Stratis pool data.",)
    assert "stratis pool destroy" in answer.hint


@pytest.mark.parametrize("name", ["dm-0", "dm-1", "dm-2", "dm-3"])
@pytest.mark.parametrize("filesystem", [True, False])
async def test_what_a_pool_is_built_of_is_refused_with_and_without_a_filesystem(name: str, filesystem: bool) -> None:
    answer = await verdict(made(filesystem=filesystem), f"/dev/{name}")
    assert any("a part of the Stratis pool" in reason for reason in answer.refused)


async def test_a_filesystem_can_be_written_to_where_the_pool_has_room() -> None:
    answer = await verdict(made(gauge="0/1024"), "/dev/dm-4")
    assert not any("Stratis" in reason for reason in answer.refused)
    mounted = made()
    mounted.files["/proc/self/mountinfo"] += f"\n40 25 {mounted.number('dm-4')} / /home rw - xfs /dev/dm-4 rw\n"
    assert any("mounted on /home" in reason for reason in (await verdict(mounted, "/dev/dm-4")).refused)
