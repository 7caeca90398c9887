"""ZFS for real: what raidbench sets, zfs and the module tell independently, and the source of a value comes back.

The module is not among Debian's: where it was not built (`python -m tests.lab --zfs`), this is skipped, so nothing of
it stands in the tables that `make lab` compares.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Level, State, Target
from backends.system.local import LocalHost
from backends.topology import scan_topology
from backends.vendors.zfs.inventory import MODULE, target_of
from tests.lab.disks import Disks
from tests.lab.running import run
from tests.lab.uses import zfs_pool

BUILT = os.environ.get("RAIDBENCH_LAB_ZFS", "")

pytestmark = [
    pytest.mark.vendors("block", "zfs"),
    pytest.mark.skipif(not BUILT, reason="the module zfs was not built: python -m tests.lab --zfs"),
]

ARC = Path("/sys/module/zfs/parameters/zfs_arc_max")


@pytest.fixture(scope="module")
def pool(disks: Disks) -> Iterator[str]:
    """A mirror `lab` with a filesystem that has a value of its own, and a volume."""
    with zfs_pool(Path(BUILT), disks["nvme0"], disks["nvme1"]) as name:
        yield name


def told(key: str, name: str) -> str:
    """A value with its source, out of the tool's own mouth."""
    return " ".join(run("zfs", "get", "-Hp", "-o", "value,source", key, name).split())


async def test_pools_volumes_and_filesystems_are_found(pool: str, workbench: Workbench, disks: Disks) -> None:
    found = {one.name: one for one in (await workbench.hardware.probe()).arrays}
    members = {member.address for member in found[pool].members}
    assert (found[pool].level, found[pool].state) == (Level.RAID1, State.OPTIMAL)
    assert members == {disks["nvme0"].kernel, disks["nvme1"].kernel}
    assert (found["lab/vm"].level, found["lab/vm"].device, found["lab/vm"].size_bytes) == (
        Level.ZVOL,
        "/dev/zd0",
        32 << 20,
    )
    assert (found["lab/files"].level, found["lab/files"].folder) == (Level.FILESYSTEM, "/lab/files")
    assert "zfs" in {use.kind for use in (await scan_topology(LocalHost())).uses(disks["nvme0"].kernel)}


SETTINGS = [
    ("lab/files", "sync", "disabled", "disabled local"),
    ("lab/vm", "primarycache", "metadata", "metadata local"),
    ("lab/files", "compression", "lz4", "lz4 local"),
    ("lab/files", "compression", "gzip-6", "gzip local"),
    ("lab", "compression", "off", "off local"),
    ("lab/files", "recordsize", "1048576", "1048576 local"),
    ("lab/files", "atime", "inherit", "on default"),
    ("lab/files", "xattr", "sa", "sa local"),
    ("lab/files", "xattr", "dir", "on local"),
    ("lab/files", "redundant_metadata", "none", "none local"),
]


@pytest.mark.parametrize(("name", "key", "value", "expected"), SETTINGS)
async def test_a_value_is_set_and_its_source_comes_back(
    pool: str, workbench: Workbench, name: str, key: str, value: str, expected: str
) -> None:
    before = told(key, name)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target_of(name), key, value))
    assert ended.result == "verified", ended.message
    assert told(key, name) == expected
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    assert told(key, name) == before


async def test_a_received_value_is_received_again(pool: str, workbench: Workbench) -> None:
    run("zfs", "set", "compression=zle", "lab/files")
    run("zfs", "snapshot", "lab/files@one")
    run("sh", "-c", "zfs send -p lab/files@one | zfs receive -u lab/got")
    try:
        assert told("compression", "lab/got") == "zle received"
        ended = await workbench.changes.apply(await workbench.hardware.plan(target_of("lab/got"), "compression", "off"))
        assert (ended.result, told("compression", "lab/got")) == ("verified", "off local")
        assert (await workbench.changes.undo(ended.id)).result == "verified"
        assert told("compression", "lab/got") == "zle received"
    finally:
        run("zfs", "destroy", "-r", "lab/got")
        run("zfs", "destroy", "lab/files@one")
        run("zfs", "inherit", "compression", "lab/files")


async def test_the_pool_trims_by_itself_and_no_longer(pool: str, workbench: Workbench) -> None:
    ended = await workbench.changes.apply(await workbench.hardware.plan(target_of(pool), "autotrim", "on"))
    assert ended.result == "verified", ended.message
    assert run("zpool", "get", "-Hp", "-o", "value", "autotrim", pool).strip() == "on"
    assert (await workbench.changes.undo(ended.id)).result == "verified"
    assert run("zpool", "get", "-Hp", "-o", "value", "autotrim", pool).strip() == "off"


async def test_datasets_that_inherit_are_named_and_the_others_not(pool: str, workbench: Workbench) -> None:
    async def also(target: Target, key: str, value: str) -> tuple[str, ...]:
        return (await workbench.hardware.plan(target, key, value)).also

    assert set(await also(target_of(pool), "compression", "off")) == {"lab/files", "lab/vm"}
    assert await also(target_of(pool), "atime", "off") == ()


async def test_a_file_keeps_its_records(pool: str, workbench: Workbench) -> None:
    old, new = Path("/lab/files/old"), Path("/lab/files/new")
    old.write_bytes(bytes(200_000))
    ended = await workbench.changes.apply(await workbench.hardware.plan(target_of("lab/files"), "recordsize", "16384"))
    new.write_bytes(bytes(200_000))
    run("sync")
    assert (old.stat().st_blksize, new.stat().st_blksize) == (131072, 16384)
    await workbench.changes.undo(ended.id)


def c_max() -> int:
    rows = Path("/proc/spl/kstat/zfs/arcstats").read_text().splitlines()
    return int(next(row.split()[2] for row in rows if row.startswith("c_max ")))


async def test_a_limit_of_the_cache_goes_back_to_automatic_in_truth(pool: str, workbench: Workbench) -> None:
    before = c_max()
    assert ARC.read_text() == "0\n"
    ended = await workbench.changes.apply(await workbench.hardware.plan(MODULE, "zfs_arc_max", "300000000"))
    assert (ended.result, c_max()) == ("verified", 300_000_000)
    assert (await workbench.changes.undo(ended.id)).result == "verified"
    assert (c_max(), ARC.read_text()) == (before, "0\n")


async def test_a_limit_that_is_not_heeded_is_told(pool: str, workbench: Workbench) -> None:
    ARC.write_text("1000")
    try:
        reading = (await workbench.hardware.read(MODULE))["zfs_arc_max"]
        assert (reading.now, reading.effective, reading.overruled) == ("1000", str(c_max()), True)
    finally:
        ARC.write_text("0")
