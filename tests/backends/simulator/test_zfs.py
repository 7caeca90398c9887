"""zpool, zfs and their module on the simulated rack: where values come from, and what is refused in whose words."""

from __future__ import annotations

import pytest

from backends.errors import ToolFailedError
from backends.simulator.host import SimulatedHost
from backends.simulator.kernel.machine import build_sysfs
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.simulator.zfs.module import PARAMETERS
from backends.simulator.zfs.tools import zfs_output, zpool_output
from backends.topology import scan_topology
from tests.backends.simulator.asking import FAST


def zfs(rack: Rack, words: str) -> str:
    return zfs_output(rack, words.split()).text


def value(rack: Rack, key: str, name: str) -> str:
    return zfs(rack, f"get -Hp -o value,received,source {key} {name}").strip()


@pytest.fixture
def rack() -> Rack:
    return linux_rack()


def test_a_value_that_is_set_is_local_and_what_lies_below_inherits_it(rack: Rack) -> None:
    assert value(rack, "sync", "tank/files") == "standard\t-\tdefault"
    assert zfs(rack, "set sync=always tank") == ""
    assert value(rack, "sync", "tank") == "always\t-\tlocal"
    assert value(rack, "sync", "tank/files") == "always\t-\tinherited from tank"
    zfs(rack, "inherit sync tank")
    assert value(rack, "sync", "tank/files") == "standard\t-\tdefault"


def test_a_received_value_comes_back_only_with_its_own_option(rack: Rack) -> None:
    rack.pools["tank"].datasets["tank/files"].received["compression"] = "zstd"
    assert value(rack, "compression", "tank/files") == "zstd\tzstd\treceived"
    zfs(rack, "set compression=off tank/files")
    zfs(rack, "inherit compression tank/files")
    assert value(rack, "compression", "tank/files") == "lz4\tzstd\tinherited from tank"
    zfs(rack, "inherit -S compression tank/files")
    assert value(rack, "compression", "tank/files") == "zstd\tzstd\treceived"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "set sync=never tank/vm",
            "cannot set property for 'tank/vm': 'sync' must be one of 'standard | always | disabled'",
        ),
        ("set volblocksize=16384 tank/vm", "cannot set property for 'tank/vm': 'volblocksize' is readonly"),
        (
            "set recordsize=3000 tank/files",
            "cannot set property for 'tank/files': 'recordsize' must be power of 2 from 512B to 1M",
        ),
        (
            "set recordsize=8192 tank/vm",
            "cannot set property for 'tank/vm': 'recordsize' does not apply to datasets of this type",
        ),
        ("inherit volblocksize tank/vm", "volblocksize property is read-only"),
        ("set sync=always tank/gone", "cannot open 'tank/gone': dataset does not exist"),
        ("get -Hp -o value sync tank/gone", "cannot open 'tank/gone': dataset does not exist"),
    ],
)
def test_what_is_refused_is_said_in_the_words_of_zfs_and_changes_nothing(rack: Rack, words: str, said: str) -> None:
    before = linux_rack().pools
    answer = zfs_output(rack, words.split())
    assert (answer.text.strip(), answer.code) == (said, 1)
    assert rack.pools == before


def test_a_pool_that_is_not_there_is_said_to_be_missing(rack: Rack) -> None:
    answer = zpool_output(rack, ("get", "-Hp", "all", "none"))
    assert (answer.text, answer.code) == ("cannot open 'none': no such pool\n", 1)


async def test_a_file_keeps_the_records_that_it_was_laid_out_in(rack: Rack) -> None:
    host = SimulatedHost(rack, speed=FAST)
    rack.records["/tank/files/data"] = rack.pools["tank"].record_bytes("tank/files")
    zfs(rack, "set recordsize=16384 tank/files")
    assert rack.records["/tank/files/data"] == 131072
    await host.install("/tank/files/data", b"", before=None)
    assert rack.records == {}


async def test_limits_of_the_cache_that_do_not_fit_are_kept_and_not_heeded(rack: Rack) -> None:
    host, path = SimulatedHost(rack, speed=FAST), f"{PARAMETERS}zfs_arc_max"
    assert rack.zfs is not None
    half = rack.zfs.c_max
    await host.write(path, "1000")
    assert (await host.read(path), rack.zfs.c_max) == ("1000", half)
    await host.write(path, str(1 << 30))
    assert rack.zfs.c_max == half  # below what it keeps at least
    await host.write(path, str(8 << 30))
    assert rack.zfs.c_max == 8 << 30
    await host.write(path, "0")
    assert rack.zfs.c_max == 8 << 30
    with pytest.raises(ToolFailedError, match="Invalid argument"):
        await host.write(path, "8G")
    await host.restart()
    assert (await host.read(path), rack.zfs.c_max) == ("0", half)


async def test_a_volume_is_a_disk_and_the_disks_of_the_pool_are_in_use(rack: Rack) -> None:
    picture = await scan_topology(SimulatedHost(rack, speed=FAST))
    assert picture.tree.nodes["zd0"].size_bytes == 100 << 30
    assert picture.uses("zd0") == ()
    assert {use.kind for use in picture.uses("sdn")} == {"zfs"}
    assert build_sysfs(rack).links["/dev/zvol/tank/vm"] == "/dev/zd0"


async def test_what_the_pool_does_is_counted_on_the_partitions_that_it_lies_on(rack: Rack) -> None:
    rack.totals["sdn"] = [5.0, 40.0, 2.0, 16.0, 9.0, 11.0]
    rows = {row.split()[2]: row.split()[3:] for row in (await still(rack)).splitlines()}
    assert rows["sdn1"] == rows["sdn"] != rows["sdo1"] == rows["sdo"]


async def still(rack: Rack) -> str:
    return await SimulatedHost(rack, speed=FAST).read("/proc/diskstats") or ""
