"""What stands before a device: read from the names and sizes of its parts."""

from __future__ import annotations

import pytest

from app.engine.advisor.fronts import ARC, BCACHE, DM_CACHE, WRITECACHE, FrontCache, front_of
from backends.hosts.simulated.host import SimulatedHost
from backends.hosts.simulated.machines.linux import linux_rack
from tests.backends.fakes import FakeHost

G = 1 << 30


@pytest.fixture(scope="module")
def rack() -> SimulatedHost:
    return SimulatedHost(linux_rack())


@pytest.mark.parametrize(
    ("disk", "kind", "least", "most"),
    [
        ("dm-5", DM_CACHE, 79 * G, 80 * G),
        ("dm-2", WRITECACHE, 40 * G, 40 * G),
        ("bcache0", BCACHE, 890 * G, 900 * G),
        ("zd0", ARC, 47 * G, 48 * G),
    ],
)
async def test_each_cache_of_the_rack_is_found_with_its_size(
    rack: SimulatedHost, disk: str, kind: str, least: int, most: int
) -> None:
    found = await front_of(rack, disk, on_zfs=False)
    assert found is not None
    assert found.kind == kind
    assert found.size_bytes is not None
    assert least <= found.size_bytes <= most


@pytest.mark.parametrize("disk", ["dm-10", "dm-0", "md3", "sdk", None])
async def test_what_has_no_cache_has_none(rack: SimulatedHost, disk: str | None) -> None:
    assert await front_of(rack, disk, on_zfs=False) is None


async def test_a_file_on_a_dataset_is_behind_the_arc(rack: SimulatedHost) -> None:
    found = await front_of(rack, None, on_zfs=True)
    assert found is not None
    assert found.kind == ARC


async def test_a_bcache_device_whose_cache_is_gone_has_none() -> None:
    host = FakeHost({"/sys/block/bcache0/slaves/sdm": "", "/sys/block/sdm/size": "1000"})
    assert await front_of(host, "bcache0", on_zfs=False) is None


@pytest.mark.parametrize(
    ("version", "passed"), [("2.2.99-1", False), ("2.3.0-1", True), ("3.0.0", True), ("", False), ("git", False)]
)
async def test_direct_io_passes_by_the_arc_since_2_3(version: str, passed: bool) -> None:
    host = FakeHost({"/sys/module/zfs/version": version, "/proc/spl/kstat/zfs/arcstats": "c_max 4 1024"})
    assert await front_of(host, "zd0", on_zfs=False) == FrontCache(kind=ARC, size_bytes=1024, passed_by=passed)


async def test_a_size_that_is_not_told_is_unknown() -> None:
    names = {"/sys/block/dm-1/dm/name": "vg-lv_corig", "/sys/block/dm-2/dm/name": "vg-fast_cvol-cdata"}
    host = FakeHost({"/sys/block/dm-0/slaves/dm-1": "", "/sys/block/dm-0/slaves/dm-2": "", **names})
    assert await front_of(host, "dm-0", on_zfs=False) == FrontCache(kind=DM_CACHE)


async def test_of_two_caches_of_which_one_does_not_tell_the_size_is_unknown() -> None:
    parts = {f"/sys/block/bcache0/slaves/{one}": "" for one in ("sda", "sdb", "sdm")}
    sets = {f"/sys/block/{one}/bcache/set": "" for one in ("sda", "sdb")}
    host = FakeHost({**parts, **sets, "/sys/block/sda/size": "8"})
    assert await front_of(host, "bcache0", on_zfs=False) == FrontCache(kind=BCACHE)
