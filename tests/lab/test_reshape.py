"""Chunk and layout: data moved while the array is in use, or the array created again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.errors import BlockedError, RefusedError
from backends.model import Scope, Target
from backends.settings import Effect, Risk
from tests.lab.disks import Disks, wait_until
from tests.lab.making import Made, Md
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import mount

FOUR = ("nvme0", "nvme1", "nvme2", "nvme3")


pytestmark = pytest.mark.vendors("block", "md")


def target(made: Made) -> Target:
    return Target(backend="md", address=made.kernel, scope=Scope.ARRAY)


def filled(made: Made) -> str:
    """Random data from end to end; their digest."""
    run("dd", "if=/dev/urandom", f"of={made.device}", "bs=1M", "oflag=direct", status=None)  # ends when it is full
    return digest(made)


def digest(made: Made) -> str:
    """Of what the members hold, not of what the page cache does."""
    run("blockdev", "--flushbufs", made.device)
    with open(made.device, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(made: Md) -> None:
    """A RAID 0 is a RAID 4 for the time of its reshape, and a RAID 0 again a moment after it."""
    if (made.sysfs / "md/sync_action").exists():
        made.settle(180)


GEOMETRIES = [
    ("raid5", (), "chunk_size", "131072"),
    ("raid5", (), "layout", "right-asymmetric"),
    ("raid4", (), "chunk_size", "32768"),
    ("raid6", (), "chunk_size", "131072"),
    ("raid6", (), "layout", "parity-last"),
    ("raid10", ("--layout=n2",), "chunk_size", "131072"),
]


@pytest.mark.seconds(400)
@pytest.mark.parametrize(("level", "options", "key", "value"), GEOMETRIES, ids=str)
async def test_data_stay_the_same_over_a_reshape_and_back(
    workbench: Workbench,
    array: Callable[..., Md],
    table: Results,
    level: str,
    options: tuple[str, ...],
    key: str,
    value: str,
) -> None:
    made = array(level, FOUR, "--chunk=64", *options, size="16M")
    data = filled(made)
    made.write("md/sync_speed_max", "4000")
    plan = await workbench.hardware.plan(target(made), key, value)
    assert (plan.effect, plan.risk) == (Effect.RESHAPE, Risk.OUTAGE)
    ended = await workbench.changes.apply(plan)
    assert ended.result == "verified", ended.message
    reading = (await workbench.hardware.read(target(made)))[key]
    during = reading.now, reading.availability.available
    with pytest.raises(BlockedError):
        await workbench.changes.undo(ended.id)
    made.write("md/sync_speed_max", "system")
    settle(made)
    moved = digest(made)
    before, after = plan.before, (await workbench.hardware.read(target(made)))[key].now
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    settle(made)
    assert table.setting(
        backend="md",
        on=level,
        setting=f"{key}, reshape",
        before=before,
        after=value,
        read_back=after,
        undone=(await workbench.hardware.read(target(made)))[key].now,
    )
    assert during == (value, False)
    assert (moved, digest(made)) == (data, data)


@pytest.mark.seconds(400)
async def test_a_raid0_is_reshaped_by_way_of_raid4(
    workbench: Workbench, array: Callable[..., Md], dm: Callable[[str], Made], table: Results, disks: Disks
) -> None:
    sectors = 48 * 2048
    lower = [dm(f"0 {sectors} linear {disk.device} 0") for disk in map(disks.__getitem__, FOUR)]
    made = array("raid0", lower, "--chunk=64")
    data = filled(made)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(made), "chunk_size", "131072"))
    assert ended.result == "verified", ended.message
    await becomes_raid0(made)
    same = digest(made) == data
    chunk = made.read("md/chunk_size")
    undone = await workbench.changes.undo(ended.id)
    await becomes_raid0(made)
    assert table.setting(
        backend="md",
        on="raid0",
        setting="chunk_size, reshape",
        before="65536",
        after="131072",
        read_back=chunk,
        undone=made.read("md/chunk_size"),
    )
    assert same
    assert undone.result == "verified"
    assert digest(made) == data


async def becomes_raid0(made: Md) -> None:

    wait_until(lambda: made.read("md/level") == "raid0", f"{made.device} is a RAID 0 again", 180)


@pytest.mark.parametrize(
    ("layout", "key", "value"), [("f2", "chunk_size", "131072"), ("o2", "chunk_size", "131072"), ("n2", "layout", "f2")]
)
async def test_far_copies_are_made_anew(
    workbench: Workbench, array: Callable[..., Md], table: Results, layout: str, key: str, value: str
) -> None:
    made = array("raid10", FOUR, f"--layout={layout}", "--chunk=64", size="16M")
    told = made.detail()
    plan = await workbench.hardware.plan(target(made), key, value)
    assert (plan.effect, plan.risk) == (Effect.RECREATED, Risk.DESTROYS_DATA)
    ended = await workbench.changes.apply(plan)
    assert ended.result == "verified", ended.message
    after = (await workbench.hardware.read(target(made)))[key].now
    same = {name: made.detail()[name] == told[name] for name in ("MD_UUID", "MD_NAME", "MD_DEVICES", "MD_METADATA")}
    undone = await workbench.changes.undo(ended.id, confirm=(await workbench.hardware.device_label(target(made))).token)
    assert undone.result == "verified", undone.message
    assert all(same.values()), same
    assert table.setting(
        backend="md",
        on=f"raid10 {layout}",
        setting=f"{key}, created again",
        before=plan.before,
        after=value,
        read_back=after,
        undone=(await workbench.hardware.read(target(made)))[key].now,
    )


async def test_it_is_not_made_anew_while_mounted(
    workbench: Workbench, array: Callable[..., Md], tmp_path: Path
) -> None:
    made = array("raid10", FOUR, "--layout=f2", "--chunk=64")
    run("mkfs.ext4", "-q", made.device)
    plan = await workbench.hardware.plan(target(made), "chunk_size", "131072")
    assert "ext4" in plan.risk_text
    with mount(made.device, tmp_path / "point"):
        with pytest.raises(RefusedError, match="is mounted on"):
            await workbench.hardware.plan(target(made), "chunk_size", "131072")
        ended = await workbench.changes.apply(plan)
        assert (ended.result, "is mounted on" in (ended.message or "")) == ("failed", True)
    assert made.read("md/chunk_size") == "65536"


@pytest.mark.seconds(400)
async def test_a_backup_file_is_used_where_the_members_have_no_room(
    workbench: Workbench, array: Callable[..., Md], dm: Callable[[str], Made], table: Results, disks: Disks
) -> None:
    lower = [dm(f"0 {sectors()} linear {disk.device} 0") for disk in map(disks.__getitem__, FOUR)]
    made = array("raid5", lower, "--chunk=64", "--data-offset=128K", size="16M")
    data = filled(made)
    plan = await workbench.hardware.plan(target(made), "chunk_size", "524288")
    option = next((word for word in plan.writes[0].argv if word.startswith("--backup-file=")), None)
    assert option is not None
    ended = await workbench.changes.apply(plan)
    assert ended.result == "verified", ended.message
    settle(made)
    same = digest(made) == data
    assert table.add("Arrays", "raid5 without room", "reshape with a backup file", "data the same", ok=same)


def sectors() -> int:
    """16 MiB of data, 128 KiB before and next to nothing behind."""
    return 16 * 2048 + 256 + 8
