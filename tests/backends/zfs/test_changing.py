"""Changes of ZFS: the source of a value comes back with it, and what else moves is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.errors import (
    AnotherDeviceError,
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed
from backends.identity import Identity
from backends.model import Target
from backends.settings import Risk
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.simulator.zfs.pool import VOLUME, Dataset
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.inventory import MODULE, target_of
from backends.vendors.zfs.parameters import FOLDER
from tests.backends.simulator.asking import FAST
from tests.backends.taking_back import take_back

FILES, VOLUME_TARGET, POOL = target_of("tank/files"), target_of("tank/vm"), target_of("tank")
ZFS = "/usr/sbin/zfs"


@pytest.fixture
def rack() -> Rack:
    return linux_rack()


@pytest.fixture
def zfs(rack: Rack) -> Zfs:
    return Zfs(SimulatedHost(rack, speed=FAST))


def source(rack: Rack, key: str, name: str = "tank/files") -> str:
    return " ".join(rack.pools["tank"].value(name, key))


def shown(writes: tuple[ChangeStep, ...]) -> list[str]:
    return [one.shown() for one in writes]


async def test_a_value_that_was_inherited_is_inherited_again(zfs: Zfs, rack: Rack) -> None:
    change = await zfs.plan(FILES, "compression", "off")
    assert shown(change.undo) == [f"{ZFS} inherit compression tank/files"]
    assert (change.before, change.after) == ("inherit", "off")
    await zfs.apply(change)
    assert source(rack, "compression") == "off local"
    await take_back(zfs, change)
    assert source(rack, "compression") == "lz4 inherited from tank"


async def test_a_value_of_its_own_stays_its_own_though_the_one_above_is_the_same(zfs: Zfs, rack: Rack) -> None:
    rack.pools["tank"].datasets["tank/files"].values["compression"] = "lz4"
    change = await zfs.plan(FILES, "compression", "zstd")
    await zfs.apply(change)
    await take_back(zfs, change)
    assert source(rack, "compression") == "lz4 local"


async def test_a_received_value_is_received_again(zfs: Zfs, rack: Rack) -> None:
    rack.pools["tank"].datasets["tank/files"].received["compression"] = "gzip"
    change = await zfs.plan(FILES, "compression", "off")
    assert shown(change.undo) == [f"{ZFS} inherit -S compression tank/files"]
    await zfs.apply(change)
    await take_back(zfs, change)
    assert source(rack, "compression") == "gzip received"


async def test_to_set_what_is_inherited_makes_it_its_own(zfs: Zfs, rack: Rack) -> None:
    await zfs.apply(await zfs.plan(FILES, "compression", "lz4"))
    assert source(rack, "compression") == "lz4 local"
    await zfs.apply(await zfs.plan(FILES, "compression", "inherit"))
    assert source(rack, "compression") == "lz4 inherited from tank"


async def test_what_is_in_force_of_an_inherited_value_is_told_and_is_no_fault(zfs: Zfs) -> None:
    reading = (await zfs.read(FILES))["compression"]
    assert (reading.now, reading.effective, reading.why_effective) == ("inherit", "lz4", "inherited from tank")
    assert not reading.overruled
    assert (await zfs.read(FILES))["sync"].why_effective == "it was not set"


async def test_datasets_that_inherit_are_named(zfs: Zfs, rack: Rack) -> None:
    assert (await zfs.plan(POOL, "compression", "off")).also == ("tank/files", "tank/vm")
    assert (await zfs.plan(POOL, "atime", "off")).also == ()  # files has its own, a volume has none
    rack.pools["tank"].datasets |= {
        "tank/files/a": Dataset(guid=21),
        "tank/files/a/b": Dataset(guid=22),
        "tank/files/own": Dataset(guid=23, values={"compression": "zle"}),
        "tank/files/own/c": Dataset(guid=24),
    }
    assert (await zfs.plan(FILES, "compression", "off")).also == ("tank/files/a", "tank/files/a/b")
    rack.pools["tank"].datasets |= {f"tank/v{at}": Dataset(guid=30 + at, kind=VOLUME) for at in range(9)}
    assert (await zfs.plan(POOL, "sync", "always")).also[-1] == "9 more"


@pytest.mark.parametrize(("value", "risk"), [("disabled", Risk.POWER_LOSS), ("always", Risk.NONE)])
async def test_only_to_disable_sync_risks_data(zfs: Zfs, value: str, risk: Risk) -> None:
    change = await zfs.plan(VOLUME_TARGET, "sync", value)
    assert (change.risk, "power failure" in change.risk_text) == (risk, risk is Risk.POWER_LOSS)


async def test_changes_in_one_pool_take_turns_and_a_volumes_wait_for_runs_on_its_disk(zfs: Zfs) -> None:
    files, volume, pool = [await zfs.plan(one, "sync", "always") for one in (FILES, VOLUME_TARGET, POOL)]
    assert files.shares_lock(volume)
    assert files.shares_lock(pool)
    assert "block-zd0" in volume.locks


async def test_a_dataset_made_anew_under_the_old_name_is_another(zfs: Zfs, rack: Rack) -> None:
    change = await zfs.plan(FILES, "sync", "always")
    rack.pools["tank"].datasets["tank/files"] = Dataset(guid=99)
    with pytest.raises(AnotherDeviceError):
        await zfs.apply(change)
    assert source(rack, "sync") == "standard default"


async def test_a_dataset_that_is_gone_is_said_to_be(zfs: Zfs, rack: Rack) -> None:
    change = await zfs.plan(FILES, "sync", "always")
    del rack.pools["tank"].datasets["tank/files"]
    with pytest.raises(DeviceGoneError):
        await zfs.apply(change)


@pytest.mark.parametrize("name", ["", "/etc", "-r", "tank@snap", "tank/files#mark", "tank\tfiles", "tank\nfiles"])
async def test_what_no_dataset_can_be_called_is_never_asked_for(zfs: Zfs, name: str) -> None:
    with pytest.raises(NotFoundError):
        await zfs.read(target_of(name))


@pytest.mark.parametrize(
    "step",
    [
        ChangeStep(argv=(ZFS, "set", "sync=disabled", "tank")),
        ChangeStep(argv=(ZFS, "set", "mountpoint=/etc", "tank/files")),
        ChangeStep(argv=(ZFS, "destroy", "-r", "tank/files")),
        ChangeStep(argv=(ZFS, "inherit", "-r", "sync", "tank/files")),
        ChangeStep(argv=("/usr/sbin/zpool", "set", "sync=disabled", "tank/files")),
        ChangeStep(path="/etc/passwd", text="disabled"),
    ],
)
async def test_steps_that_are_none_of_ours_are_refused(zfs: Zfs, rack: Rack, step: ChangeStep) -> None:
    change = replace(await zfs.plan(FILES, "sync", "disabled"), writes=(step,))
    with pytest.raises(RefusedError):
        await zfs.apply(change)
    assert rack.pools == linux_rack().pools


@pytest.mark.parametrize("after", ["disabled tank", "disabled,atime=on", "", "$(x)"])
async def test_a_value_that_no_setting_has_is_refused_though_its_step_says_the_same(
    zfs: Zfs, rack: Rack, after: str
) -> None:
    step = ChangeStep(argv=(ZFS, "set", f"sync={after}", "tank/files"))
    change = replace(await zfs.plan(FILES, "sync", "disabled"), after=after, writes=(step,))
    with pytest.raises(RefusedError):
        await zfs.apply(change)
    assert rack.pools == linux_rack().pools


class Lying(SimulatedHost):
    """Says one thing otherwise."""

    old, new = "\tlocal\n", "\twritten in the stars\n"

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        return replace(done, stdout=done.stdout.replace(self.old, self.new))


def lying(rack: Rack, old: str, new: str) -> Zfs:
    host = Lying(rack, speed=FAST)
    host.old, host.new = old, new
    return Zfs(host)


async def test_what_a_mount_option_overrides_is_not_set(rack: Rack) -> None:
    with pytest.raises(BlockedError, match="is remounted"):
        await lying(rack, "\tlocal\n", "\ttemporary\n").plan(FILES, "atime", "on")


@pytest.mark.parametrize(
    ("feature", "key", "value"),
    [("zstd_compress", "compression", "zstd"), ("large_blocks", "recordsize", str(256 << 10))],
)
async def test_what_the_pool_has_no_feature_for_is_not_offered(
    zfs: Zfs, rack: Rack, feature: str, key: str, value: str
) -> None:
    assert (await zfs.plan(FILES, key, value)).after == value
    with pytest.raises(InvalidValueError):
        await lying(rack, f"@{feature}\tenabled", f"@{feature}\tdisabled").plan(FILES, key, value)


async def test_small_blocks_go_to_special_devices_only_where_there_are_any(zfs: Zfs, rack: Rack) -> None:
    with pytest.raises(NotFoundError):
        await zfs.plan(FILES, "special_small_blocks", "4096")
    special = lying(rack, "@allocation_classes\tenabled", "@allocation_classes\tactive")
    assert (await special.plan(FILES, "special_small_blocks", "4096")).after == "4096"


async def test_a_value_of_a_source_that_is_not_known_has_no_way_back(rack: Rack) -> None:
    change = await Zfs(Lying(rack, speed=FAST)).plan(FILES, "atime", "on")
    assert (change.before, change.undo) == ("unknown", ())


@pytest.mark.parametrize(
    "writes",
    [
        (),
        (ChangeStep(path=f"{FOLDER}zfs_txg_timeout", text=str(8 << 30)),),
        (
            ChangeStep(path=f"{FOLDER}zfs_arc_max", text="all"),
            ChangeStep(path=f"{FOLDER}zfs_arc_max", text=str(8 << 30)),
        ),
        (ChangeStep(path="/sys/module/zfs/parameters/../../../../etc/passwd", text="7"),),
        (ChangeStep(path=f"{FOLDER}zfs_arc_max", text="8"),),
        (ChangeStep(argv=(ZFS, "set", "sync=disabled", "tank")),),
    ],
)
async def test_steps_of_the_module_only_write_its_own_parameter(
    zfs: Zfs, rack: Rack, writes: tuple[ChangeStep, ...]
) -> None:
    change = replace(await zfs.plan(MODULE, "zfs_arc_max", str(8 << 30)), writes=writes)
    with pytest.raises(RefusedError):
        await zfs.apply(change)
    assert (rack.zfs, rack.pools) == (linux_rack().zfs, linux_rack().pools)


async def test_another_version_of_the_module_is_another(zfs: Zfs, rack: Rack) -> None:
    change = await zfs.plan(MODULE, "zfs_txg_timeout", "9")
    with pytest.raises(AnotherDeviceError):
        await zfs.apply(replace(change, identity=Identity(name="zfs", model="2.3.0-1")))
    assert rack.zfs == linux_rack().zfs


async def test_a_limit_of_the_cache_that_was_automatic_is_so_again_in_truth(zfs: Zfs, rack: Rack) -> None:
    assert rack.zfs is not None
    half = rack.zfs.c_max
    change = await zfs.plan(MODULE, "zfs_arc_max", str(8 << 30))
    await zfs.apply(change)
    assert rack.zfs.c_max == 8 << 30
    await take_back(zfs, change)
    assert (rack.zfs.c_max, rack.zfs.values["zfs_arc_max"]) == (half, 0)


async def test_a_limit_that_zfs_would_not_heed_is_refused_and_one_that_it_does_not_heed_is_told(
    zfs: Zfs, rack: Rack
) -> None:
    with pytest.raises(InvalidValueError):
        await zfs.plan(MODULE, "zfs_arc_max", str(1 << 30))  # less than it keeps at least
    assert (await zfs.plan(MODULE, "zfs_arc_max", "5000000000")).after == "5000000000"
    assert rack.zfs is not None
    rack.zfs.write("zfs_arc_max", "4096")
    reading = (await Zfs(SimulatedHost(rack, speed=FAST)).read(MODULE))["zfs_arc_max"]
    assert (reading.now, reading.effective, reading.overruled) == ("4096", str(rack.zfs.c_max), True)


async def test_fewer_background_writes_at_least_than_at_most(zfs: Zfs) -> None:
    with pytest.raises(InvalidValueError):
        await zfs.plan(MODULE, "zfs_vdev_async_write_max_active", "1")
    with pytest.raises(InvalidValueError):
        await zfs.plan(MODULE, "zfs_vdev_async_write_min_active", "31")


@pytest.mark.parametrize(("least", "most"), [("40", "50"), ("1", "2")])
async def test_what_bounds_each_other_is_set_in_the_order_in_which_each_is_legal(
    zfs: Zfs, least: str, most: str
) -> None:
    low, high = "zfs_vdev_async_write_min_active", "zfs_vdev_async_write_max_active"
    for wanted in ({low: "5", high: "9"}, {low: least, high: most}, {high: "30", low: "10"}):
        for change in await zfs.plan_together(MODULE, wanted):
            await zfs.apply(change)
        now = await zfs.read(MODULE)
        assert {key: now[key].now for key in wanted} == wanted


@pytest.mark.parametrize(
    ("asked", "read"), [("zstd-5", "zstd-5"), ("gzip-6", "gzip"), ("zstd-fast-1", "zstd-fast"), ("lzjb", "lzjb")]
)
async def test_a_level_that_is_not_offered_is_taken_as_zfs_reads_it(zfs: Zfs, asked: str, read: str) -> None:
    assert (await zfs.plan(FILES, "compression", asked)).after == read


@pytest.mark.parametrize("value", ["zstd-20", "gzip-0", "lz5", "off;reboot"])
async def test_a_compression_that_there_is_not_is_refused(zfs: Zfs, value: str) -> None:
    with pytest.raises(InvalidValueError):
        await zfs.plan(FILES, "compression", value)


@pytest.mark.parametrize(
    ("target", "key", "why"),
    [(VOLUME_TARGET, "volblocksize", "it is fixed at creation"), (POOL, "ashift", "added to the pool")],
)
async def test_what_is_chosen_once_is_shown_only(zfs: Zfs, target: Target, key: str, why: str) -> None:
    with pytest.raises(BlockedError, match=why):
        await zfs.plan(target, key, "4096")


async def test_a_refusal_is_told_in_the_words_of_zfs(zfs: Zfs, rack: Rack) -> None:
    change = await zfs.plan(FILES, "recordsize", str(64 << 10))
    rack.pools["tank"].datasets["tank/files"].kind = VOLUME
    with pytest.raises(ToolFailedError, match="'recordsize' does not apply to datasets of this type"):
        await zfs.apply(change)


async def test_nothing_is_run_for_what_is_so_already(zfs: Zfs, rack: Rack) -> None:
    change: Change = await zfs.plan(FILES, "compression", "inherit")
    rack.pools["tank"].datasets["tank/files"].received["compression"] = "gzip"  # inherit would stand over it now
    await zfs.apply(change)
    assert rack.pools["tank"].datasets["tank/files"].values == {"atime": "off"}
