"""What brings a limit of the ARC back that was left to ZFS."""

from __future__ import annotations

import pytest

from backends.change import Change, ChangeStep
from backends.errors import InvalidValueError, RefusedError
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.inventory import MODULE, target_of
from tests.backends.simulator.asking import FAST
from tests.backends.taking_back import way_back

ARC = "/sys/module/zfs/parameters/zfs_arc_max"
FILES = target_of("tank/files")


@pytest.fixture
def rack() -> Rack:
    return linux_rack()


@pytest.fixture
def zfs(rack: Rack) -> Zfs:
    return Zfs(SimulatedHost(rack, speed=FAST))


async def limited(zfs: Zfs) -> Change:
    """The automatic limit of the ARC, made 8 GiB."""
    change = await zfs.plan(MODULE, "zfs_arc_max", str(8 << 30))
    await zfs.apply(change)
    return change


def writes(*texts: str, path: str = ARC) -> tuple[ChangeStep, ...]:
    return tuple(ChangeStep(path=path, text=text) for text in texts)


async def test_what_zfs_had_chosen_by_itself_comes_back_before_the_choice(zfs: Zfs, rack: Rack) -> None:
    assert rack.zfs is not None
    half = str(rack.zfs.c_max)
    change = await limited(zfs)
    assert change.companions == {"in_force": half}
    assert (await way_back(zfs, change)).writes == change.undo == writes(half, "0")


@pytest.mark.parametrize(("key", "value"), [("zfs_arc_max", str(4 << 30)), ("zfs_txg_timeout", "5")])
async def test_a_number_has_no_limit_beside_it(zfs: Zfs, key: str, value: str) -> None:
    with pytest.raises(RefusedError, match="in_force=1 cannot be restored together with"):
        await zfs.back(MODULE, key, value, {"in_force": "1"})


async def test_a_value_that_the_pool_takes_no_more_may_have_been_there(zfs: Zfs, rack: Rack) -> None:
    back = await zfs.back(FILES, "recordsize", str(16 << 20), {})
    assert back.writes[0].argv[1:] == ("set", f"recordsize={16 << 20}", "tank/files")


@pytest.mark.parametrize("value", ["lz4 tank", "-r", "off;", "received"])
async def test_what_is_no_value_never_was_one(zfs: Zfs, value: str) -> None:
    with pytest.raises(InvalidValueError):
        await zfs.back(FILES, "compression", value, {})
