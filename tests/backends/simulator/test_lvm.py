"""The rack's volume group: what LVM says of it is what the kernel has, lies included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backends.host import Command, Completed
from backends.simulator.caches import CacheCounts
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.programs import PATHS
from backends.simulator.rack import Rack
from backends.topology import scan_topology
from tests.backends.simulator.asking import NOW, ask


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rack(clock: Clock) -> Rack:
    return linux_rack(clock)


@pytest.fixture
def host(rack: Rack) -> SimulatedHost:
    return SimulatedHost(rack, speed=1e9)


async def row(host: SimulatedHost, name: str) -> dict[str, Any]:
    said = await ask(host, "lvs", "--reportformat json -a -o lv_all,seg_all,vg_name")
    rows = json.loads(said.stdout)["report"][0]["lv"]
    return next(one for one in rows if one["lv_name"] == name)


async def table(host: SimulatedHost, name: str) -> str:
    said = await ask(host, "dmsetup", "table")
    return next(line for line in said.stdout.splitlines() if line.startswith(f"{name}: "))


async def change(host: SimulatedHost, words: str) -> Completed:
    return await ask(host, "lvchange", words, mutates=True)


async def test_each_volume_is_free_and_its_parts_are_not(host: SimulatedHost) -> None:
    picture = await scan_topology(host)
    names = {node.name: node.attributes.get("dm/name", "") for node in picture.tree.nodes.values()}
    free = {given for name, given in names.items() if given.startswith("vg0") and not picture.uses(name)}
    assert free == {"vg0-db", "vg0-mail", "vg0-spare"}
    assert all(picture.uses(name) for name in ("sdk", "sdl", "md3", "nvme3n1"))
    assert [one.kind for one in picture.signatures_of("nvme3n1")] == ["LVM2_member"]
    assert await host.link("/dev/vg0/mail") == "/dev/dm-5"


async def test_a_lie_is_told_before_the_kernel_refuses(host: SimulatedHost) -> None:
    before = await row(host, "mail")
    said = await change(host, "--cachesettings nonsense=1 vg0/mail")
    assert (said.returncode, said.stdout.splitlines()[0]) == (5, "  Logical volume vg0/mail changed.")
    assert await row(host, "mail") == before
    same = await change(host, f"--cachemode {before['cache_mode']} vg0/mail")
    assert (same.returncode, "changed" in same.stdout) == (0, True)


async def test_a_question_that_nobody_answers_is_told_as_done(host: SimulatedHost) -> None:
    await change(host, "--cachesettings high_watermark=60 vg0/db")
    said = await host.run(Command(argv=(PATHS["lvchange"], "--cachesettings", "", "vg0/db"), mutates=True))
    assert (said.returncode, "changed" in said.stdout) == (0, True)
    assert (await row(host, "db"))["cache_settings"] == "high_watermark=60"


async def test_watermarks_out_of_order_are_refused_by_the_kernel(host: SimulatedHost) -> None:
    assert (await change(host, "--cachesettings low_watermark=51 vg0/db")).returncode == 5
    assert (await change(host, "--cachesettings low_watermark=50 vg0/db")).returncode == 0
    assert (await table(host, "vg0-db")).endswith("4096 2 low_watermark 50")


async def test_a_flush_takes_its_time_and_is_seen_in_the_kernel(rack: Rack, host: SimulatedHost, clock: Clock) -> None:
    assert (await change(host, "--yes --cachemode writeback vg0/mail")).returncode == 0
    rack.note_cached({"dm-5": CacheCounts(dirty_bytes=6e9, at=clock.now)})
    flush = await change(host, "--cachemode writethrough vg0/mail")
    assert flush.seconds == pytest.approx(101, abs=2)
    during = await row(host, "mail")
    assert (during["cache_mode"], during["kernel_cache_policy"]) == ("writeback", "cleaner")
    assert "writethrough cleaner" in await table(host, "vg0-mail")
    assert "Can't get lock" in (await change(host, "--readahead none vg0/mail")).stdout
    clock.now += 50
    half = int((await row(host, "mail"))["cache_dirty_blocks"])
    clock.now += 60
    after = await row(host, "mail")
    assert 0 < half < int(during["cache_dirty_blocks"])
    assert (after["cache_mode"], after["cache_dirty_blocks"], after["kernel_cache_policy"]) == (
        "writethrough",
        "0",
        "mq",
    )


async def test_its_volumes_lie_one_after_the_other_on_what_they_share(host: SimulatedHost) -> None:
    picture = await scan_topology(host, everywhere=True)
    volumes = [name for name, node in picture.tree.nodes.items() if node.attributes.get("dm/name", "").startswith("vg")]
    assert picture.mapped is not None
    assert set(volumes) <= set(picture.mapped)  # each is told whole
    assert not any("same part" in relation.text for name in volumes for relation in picture.related(name))
    starts = [one.start for name in ("dm-8", "dm-7") for one in picture.mapped[name]]
    assert starts == [0, (1 << 23) // 512]
