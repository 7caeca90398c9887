"""What stands before a device: read from the names and sizes of its parts."""

from __future__ import annotations

import pytest

from app.core.benchmark.conditions.collector import upstream_cache_of
from app.core.benchmark.conditions.facts import ARC, UpstreamCache
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.topology.stacking import BCACHE, DM_CACHE, WRITECACHE
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
    found = await upstream_cache_of(rack, disk, on_zfs=False)
    assert found is not None
    assert found.kind == kind
    assert found.size_bytes is not None
    assert least <= found.size_bytes <= most


@pytest.mark.parametrize("disk", ["dm-10", "dm-0", "md3", "sdk", None])
async def test_what_has_no_cache_has_none(rack: SimulatedHost, disk: str | None) -> None:
    assert await upstream_cache_of(rack, disk, on_zfs=False) is None


async def test_a_file_on_a_dataset_is_behind_the_arc(rack: SimulatedHost) -> None:
    found = await upstream_cache_of(rack, None, on_zfs=True)
    assert found is not None
    assert found.kind == ARC


async def test_a_bcache_device_whose_cache_is_gone_has_none() -> None:
    host = FakeHost({"/sys/block/bcache0/slaves/sdm": "", "/sys/block/sdm/size": "1000"})
    assert await upstream_cache_of(host, "bcache0", on_zfs=False) is None


@pytest.mark.parametrize(
    ("version", "passed"), [("2.2.99-1", False), ("2.3.0-1", True), ("3.0.0", True), ("", False), ("git", False)]
)
async def test_direct_io_passes_by_the_arc_since_2_3(version: str, passed: bool) -> None:
    host = FakeHost({"/sys/module/zfs/version": version, "/proc/spl/kstat/zfs/arcstats": "c_max 4 1024"})
    assert await upstream_cache_of(host, "zd0", on_zfs=False) == UpstreamCache(
        kind=ARC, size_bytes=1024, is_bypassed=passed
    )


def lvm_parts(**names: str) -> FakeHost:
    """dm-0 on parts of these names in device-mapper, each with LVM's UUID and a gibibyte."""
    files = {f"/sys/block/dm-0/slaves/{part}": "" for part in names}
    for at, (part, name) in enumerate(names.items(), 1):
        own = {"dev": f"253:{at}", "dm/name": name, "dm/uuid": f"LVM-{at}", "size": "2097152"}
        files |= {f"/sys/block/{part}/{key}": text for key, text in own.items()}
    return FakeHost(files)


async def test_the_metadata_of_a_cache_hold_no_data() -> None:
    host = lvm_parts(a="vg-lv_corig", b="vg-fast_cvol-cdata", c="vg-fast_cvol-cmeta")
    assert await upstream_cache_of(host, "dm-0", on_zfs=False) == UpstreamCache(kind=DM_CACHE, size_bytes=G)


async def test_a_device_that_is_only_called_like_a_part_of_lvms_is_no_cache() -> None:
    host = lvm_parts(a="data_corig", b="fast_cdata")
    for part in "ab":
        host.files[f"/sys/block/{part}/dm/uuid"] = "CRYPT-LUKS2-1"
    assert await upstream_cache_of(host, "dm-0", on_zfs=False) is None


async def test_a_size_that_is_not_told_is_unknown() -> None:
    host = lvm_parts(a="vg-lv_corig", b="vg-fast_cvol-cdata")
    del host.files["/sys/block/b/size"]
    assert await upstream_cache_of(host, "dm-0", on_zfs=False) == UpstreamCache(kind=DM_CACHE)


def bcache_on(*parts: str, caches: tuple[str, ...], sizes: dict[str, str]) -> FakeHost:
    """bcache0 with its parts by their folders below /sys/block."""
    names = {f"/sys/block/bcache0/slaves/{part.rpartition('/')[2]}": "" for part in parts}
    sets = {f"/sys/block/{part}/bcache/{'set' if part in caches else 'running'}": "" for part in parts}
    told = {f"/sys/block/{part}/size": size for part, size in sizes.items()}
    return FakeHost({"/sys/fs/bcache/register": "", **names, **sets, **told})


async def test_of_two_caches_of_which_one_does_not_tell_the_size_is_unknown() -> None:
    host = bcache_on("sda", "sdb", "sdm", caches=("sda", "sdb"), sizes={"sda": "8"})
    assert await upstream_cache_of(host, "bcache0", on_zfs=False) == UpstreamCache(kind=BCACHE)


async def test_a_partition_may_be_the_cache() -> None:
    host = bcache_on("sda/sda1", "sdm", caches=("sda/sda1",), sizes={"sda/sda1": "2097152"})
    assert await upstream_cache_of(host, "bcache0", on_zfs=False) == UpstreamCache(kind=BCACHE, size_bytes=G)
