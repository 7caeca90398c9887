"""The third rack's cached volumes and its pool under load: what runs there is counted, and told while it runs."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.fio.job import Job
from app.core.fio.load import FioLoad
from app.core.session.event_types import SampleTaken
from backends.simulator.diskstats import DISKSTATS
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.simulator.state_file import rack_data, rack_from_data
from backends.simulator.workload_target import CacheMode
from backends.simulator.zfs.module import ARCSTATS
from tests.backends.simulator.asking import FAST, NOW, ask
from tests.backends.simulator.loads import on, run
from tests.backends.simulator.tiers import G, K

SMALL = {"bs": "4k", "iodepth": "32", "size": "4G", "runtime": "20", "ramp": "0"}


@pytest.fixture
def rack() -> Rack:
    return linux_rack(lambda: NOW)


@pytest.fixture
def host(rack: Rack) -> SimulatedHost:
    return SimulatedHost(rack, speed=FAST)


async def iops(host: SimulatedHost, folder: Path, device: str, rw: str, **more: str) -> float:
    ran = await run(host, Job.from_fields({**SMALL, "rw": rw, **more}), folder, f"/dev/{device}")
    done = ran.figures.read or ran.figures.write
    assert done is not None
    return done.iops


async def counted(host: SimulatedHost, path: str) -> dict[str, list[str]]:
    """Rows of a file of counters by their first word that is no number."""
    text = await host.read(path) or ""
    rows = [line.split() for line in text.splitlines()]
    return {next((word for word in row if not word.isdigit()), ""): row for row in rows}


async def status(host: SimulatedHost, name: str) -> list[str]:
    """The words of a line of `dmsetup status`."""
    lines = (await ask(host, "dmsetup", "status")).stdout.splitlines()
    return next(line for line in lines if line.startswith(f"{name}:")).split()


def test_a_cached_volume_has_its_parts_and_a_plain_one_none(rack: Rack) -> None:
    mail, db, spare = (rack.layout(name) for name in ("dm-5", "dm-2", "dm-10"))
    assert mail is not None
    assert db is not None
    assert spare is not None
    assert mail.cache is not None
    assert db.cache is not None
    assert (mail.cache.kind.value, mail.cache.mode, mail.cache.block_bytes) == (
        "dm-cache",
        CacheMode.WRITE_THROUGH,
        64 * K,
    )
    assert (db.cache.kind.value, db.cache.high, db.cache.low) == ("dm-writecache", 0.5, 0.45)
    assert (spare.cache, mail.size_bytes, spare.size_bytes) == (None, 200 * G, 50 * G)


@pytest.mark.parametrize(
    ("values", "high", "cutoff", "mode"),
    [
        ({}, 0.1, 4 << 20, CacheMode.WRITE_THROUGH),
        (
            {"writeback_percent": "30", "sequential_cutoff": "0", "cache_mode": "writearound"},
            0.3,
            0,
            CacheMode.WRITE_AROUND,
        ),
        ({"writeback_running": "0", "cache_mode": "writeback"}, 1.0, 4 << 20, CacheMode.WRITE_BACK),
    ],
)
def test_what_is_set_on_bcache_is_in_force(
    rack: Rack, values: dict[str, str], high: float, cutoff: int, mode: CacheMode
) -> None:
    rack.bcache["bcache0"].values = values
    layout = rack.layout("bcache0")
    assert layout is not None
    assert layout.cache is not None
    assert (layout.cache.high, layout.cache.low, layout.cache.cutoff_bytes, layout.cache.mode) == (
        high,
        high,
        cutoff,
        mode,
    )


def test_a_device_without_its_cache_is_as_fast_as_its_disk(rack: Rack) -> None:
    rack.bcache["bcache0"].state = "no cache"
    assert rack.layout("bcache0") == rack.layout("sdm")


@pytest.mark.long
async def test_bcache_counts_reads_and_what_is_unwritten(host: SimulatedHost, rack: Rack, tmp_path: Path) -> None:
    rack.bcache["bcache0"].values["cache_mode"] = "writeback"
    folder = "/sys/block/bcache0/bcache"
    await iops(host, tmp_path, "bcache0", "randread")
    assert int(await host.read(f"{folder}/stats_total/cache_hits") or "") > 100_000
    assert await host.read(f"{folder}/state") == "clean"
    assert await iops(host, tmp_path, "bcache0", "randwrite") > 10_000
    assert await host.read(f"{folder}/state") == "dirty"


def test_watermarks_and_the_cleaner_are_in_force(rack: Rack) -> None:
    volume = rack.logical_volume("dm-2")
    assert volume is not None
    volume.settings = {"high_watermark": 70, "low_watermark": 40, "cleaner": 1}
    layout = rack.layout("dm-2")
    assert layout is not None
    assert layout.cache is not None
    assert (layout.cache.high, layout.cache.low, layout.cache.mode) == (0.7, 0.4, CacheMode.NONE)


@pytest.mark.long
async def test_write_back_is_as_fast_as_the_cache_and_write_through_as_the_disks(
    host: SimulatedHost, rack: Rack, tmp_path: Path
) -> None:
    through = await iops(host, tmp_path, "dm-5", "randwrite")
    assert (await ask(host, "lvchange", "--cachemode writeback --yes vg0/mail", mutates=True)).returncode == 0
    back = await iops(host, tmp_path, "dm-5", "randwrite")
    assert through < 1000 < 50_000 < back
    assert int((await status(host, "vg0-mail"))[14]) > 0


async def test_hits_are_counted_by_device_mapper(host: SimulatedHost, tmp_path: Path) -> None:
    await iops(host, tmp_path, "dm-5", "randread")
    hits, misses = map(int, (await status(host, "vg0-mail"))[8:10])
    assert (hits > 100_000, misses) == (True, 0)


@pytest.mark.long
async def test_a_writecache_becomes_slow_in_the_middle_of_a_run_that_fills_it(
    host: SimulatedHost, tmp_path: Path
) -> None:
    job = Job.from_fields({**SMALL, "rw": "randwrite", "size": "", "runtime": "240"})
    ran = await run(host, job, tmp_path, "/dev/dm-2")
    rates = [sample.write.iops for sample in ran.samples if sample.write is not None]
    assert rates[8] > 50_000
    assert rates[-8] < 1000
    _, _, _, _, _, total, free = (await status(host, "vg0-db"))[:7]
    assert int(free) < 0.01 * int(total)


async def test_counters_of_all_parts_move(host: SimulatedHost, tmp_path: Path) -> None:
    """With write-through both have the writes, and both disks of the mirror."""
    await iops(host, tmp_path, "dm-5", "randwrite")
    rows = await counted(host, DISKSTATS)
    written = {name: int(rows[name][7]) for name in ("dm-5", "dm-9", "md3", "sdk", "sdl", "dm-7", "dm-6", "nvme3n1")}
    assert len(set(written.values())) == 1
    assert written["dm-5"] > 1000


@pytest.mark.long
async def test_what_was_read_from_a_pool_once_is_in_memory(host: SimulatedHost, rack: Rack, tmp_path: Path) -> None:
    cold = await iops(host, tmp_path, "zd0", "randread")
    rack.caches["zd0"] = replace(rack.caches["zd0"], held_bytes=4.0 * G)
    warm = await iops(host, tmp_path, "zd0", "randread")
    assert cold < 1000 < 50_000 < warm
    rows = await counted(host, ARCSTATS)
    assert int(rows["demand_data_hits"][2]) > int(rows["demand_data_misses"][2]) > 1000
    assert int(rows["size"][2]) > 4 * G


async def test_a_smaller_arc_holds_less(rack: Rack) -> None:
    rack.caches["zd0"] = replace(rack.cache_counts("zd0"), held_bytes=8.0 * G)
    assert rack.zfs is not None
    rack.zfs.write("zfs_arc_max", str(4 * G))
    layout = rack.layout("zd0")
    assert layout is not None
    assert layout.pool is not None
    assert (layout.pool.held_bytes, layout.pool.arc_bytes) == (4 * G, 4 * G)


def test_what_is_set_on_a_dataset_is_in_force_and_a_file_keeps_its_records(rack: Rack) -> None:
    pool = rack.pools["tank"]
    for key, word in (("recordsize", "16384"), ("sync", "always"), ("primarycache", "metadata")):
        assert pool.set("tank/files", key, word) == ""
    rack.records["/tank/files/old"] = 131072
    new, old = rack.layout("tank/files", "/tank/files/new"), rack.layout("tank/files", "/tank/files/old")
    assert new is not None
    assert old is not None
    assert new.pool is not None
    assert old.pool is not None
    assert (new.pool.record_bytes, new.pool.sync, new.pool.caches_data, new.pool.volume) == (
        16384,
        "always",
        False,
        False,
    )
    assert old.pool.record_bytes == 131072


async def test_counters_move_while_a_job_runs(host: SimulatedHost, tmp_path: Path) -> None:
    seen = []
    load = FioLoad(host).run(Job.from_fields({**SMALL, "rw": "randread"}), [on("/dev/zd0")], tmp_path, asyncio.Event())
    async with aclosing(load) as events:
        async for event in events:
            if isinstance(event, SampleTaken):
                seen.append(int((await counted(host, ARCSTATS))["demand_data_misses"][2]))
    assert len(set(seen)) > 10
    assert seen == sorted(seen)


def test_what_caches_hold_is_part_of_the_rack_on_disk(rack: Rack) -> None:
    rack.note_cached({"dm-5": replace(rack.cache_counts("dm-5"), read_hits=7.0), "zd0": rack.cache_counts("zd0")})
    again = rack_from_data(json.loads(json.dumps(rack_data(rack))))
    assert again.cache_counts("dm-5") == rack.cache_counts("dm-5")
    assert (again.cache_counts("dm-5").read_hits, set(again.caches)) == (7.0, {"bcache0", "zd0"})


@pytest.mark.parametrize("device", ["md3", "zd0"])
async def test_like_disks_of_a_mirror_are_as_busy(host: SimulatedHost, tmp_path: Path, device: str) -> None:
    await iops(host, tmp_path, device, "randread")
    rows = await counted(host, DISKSTATS)
    first, second = (int(rows[name][13]) for name in (("sdk", "sdl") if device == "md3" else ("sdn", "sdo")))
    assert first == pytest.approx(second, rel=0.01)
    assert first > 1000
