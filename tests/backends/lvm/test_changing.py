"""What is run to change a logical volume, what takes it back, and what LVM's lies come to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.change import Change, ChangeStep
from backends.errors import (
    AnotherDeviceError,
    BlockedError,
    InvalidValueError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed
from backends.settings import Effect, Persistence, Risk
from backends.simulator.caches import CacheCounts
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.vendors.lvm.backend import Lvm
from tests.backends.lvm.machines import CACHES, KINDS, done, host, target
from tests.backends.lvm.test_conformance import volumes_rack
from tests.backends.simulator.asking import NOW

DB, MAIL, SPARE = (target(f"vg0/{name}") for name in ("db", "mail", "spare"))
MIRROR, PARITY = target("r-1/mir"), target("r-1/par")


class Moving:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Listening(SimulatedHost):
    """Notes what changes something."""

    def __init__(self, rack: Rack) -> None:
        super().__init__(rack, speed=1e9)
        self.ran: list[tuple[str, ...]] = []

    async def run(self, command: Command) -> Completed:
        if command.mutates:
            self.ran.append(command.argv)
        return await super().run(command)


@pytest.fixture
def clock() -> Moving:
    return Moving()


@pytest.fixture
def machine(clock: Moving) -> Listening:
    return Listening(volumes_rack(clock))


@pytest.fixture
def lvm(machine: Listening) -> Lvm:
    return Lvm(machine)


def lines(writes: tuple[ChangeStep, ...]) -> list[str]:
    """Without the folder."""
    return [write.shown().removeprefix("/usr/sbin/") for write in writes]


@pytest.mark.parametrize(
    ("where", "key", "value", "forward", "back"),
    [
        (
            MAIL,
            "cache_mode",
            "write-back",
            ["lvchange --yes --cachemode writeback vg0/mail"],
            ["lvchange --cachemode writethrough vg0/mail"],
        ),
        (
            MAIL,
            "migration_threshold",
            "8192",
            ["lvchange --cachesettings migration_threshold=8192 vg0/mail"],
            ["lvchange --cachesettings migration_threshold=default vg0/mail"],
        ),
        (
            DB,
            "high_watermark",
            "71",
            ["lvchange --cachesettings high_watermark=71 vg0/db"],
            ["lvchange --yes --cachesettings '' vg0/db"],
        ),
        (
            DB,
            "cleaner",
            "on",
            ["lvchange --cachesettings cleaner=1 vg0/db"],
            ["lvchange --cachesettings cleaner=0 vg0/db"],
        ),
        (
            SPARE,
            "lv_read_ahead",
            "1024",
            ["lvchange --readahead 2048 vg0/spare"],
            ["lvchange --readahead none vg0/spare", "lvchange --readahead auto vg0/spare"],
        ),
        (
            MIRROR,
            "write_mostly.sdd",
            "on",
            ["lvchange --writemostly /dev/sdd:y r-1/mir"],
            ["lvchange --writemostly /dev/sdd:n r-1/mir"],
        ),
        (
            MIRROR,
            "max_recovery_rate",
            "5000",
            ["lvchange --maxrecoveryrate 5000 r-1/mir"],
            ["lvchange --maxrecoveryrate 0 r-1/mir"],
        ),
        (
            PARITY,
            "stripe_size",
            "131072",
            ["lvconvert --yes --stripesize 128k r-1/par"],
            ["lvconvert --yes --stripesize 64k r-1/par"],
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_the_very_commands_are_planned_and_those_that_take_them_back(
    lvm: Lvm, machine: Listening, where: object, key: str, value: str, forward: list[str], back: list[str]
) -> None:
    change = await lvm.plan(where, key, value)  # type: ignore[arg-type]
    assert (lines(change.writes), lines(change.undo)) == (forward, back)
    assert change.persistence is Persistence.STORED
    assert machine.ran == []


async def test_back_to_the_default_clears_all_and_sets_the_others_again(lvm: Lvm, machine: Listening) -> None:
    for key, value in (("high_watermark", "80"), ("autocommit_time", "500")):
        await lvm.apply(await lvm.plan(DB, key, value))
    change = await lvm.plan(DB, "high_watermark", "default")
    assert lines(change.writes) == [
        "lvchange --yes --cachesettings '' vg0/db",
        "lvchange --cachesettings autocommit_time=500 vg0/db",
    ]
    await lvm.apply(change)
    now = {key: one.now for key, one in (await lvm.read(DB)).items()}
    assert (now["high_watermark"], now["autocommit_time"]) == ("default", "500")


async def test_both_watermarks_are_set_in_the_order_in_which_each_is_legal(lvm: Lvm) -> None:
    down = await lvm.plan_together(DB, {"high_watermark": "30", "low_watermark": "20"})
    assert [one.key for one in down] == ["low_watermark", "high_watermark"]
    for one in down:
        await lvm.apply(one)
    up = await lvm.plan_together(DB, {"low_watermark": "70", "high_watermark": "90"})
    assert [one.key for one in up] == ["high_watermark", "low_watermark"]
    for one in up:
        await lvm.apply(one)
    now = await lvm.read(DB)
    assert (now["low_watermark"].now, now["high_watermark"].now) == ("70", "90")


async def test_both_recovery_rates_are_set_in_the_order_in_which_each_is_legal(lvm: Lvm) -> None:
    for low, high, first in (("5000", "9000", "max"), ("1000", "2000", "min"), ("3000", "8000", "max")):
        changes = await lvm.plan_together(MIRROR, {"min_recovery_rate": low, "max_recovery_rate": high})
        assert changes[0].key == f"{first}_recovery_rate"
        for one in changes:
            await lvm.apply(one)
        now = await lvm.read(MIRROR)
        assert (now["min_recovery_rate"].now, now["max_recovery_rate"].now) == (low, high)


@pytest.mark.parametrize(
    ("where", "key", "value", "hint"),
    [
        (DB, "low_watermark", "51", "from 0 to 50 %"),
        (DB, "high_watermark", "44", "from 45 to 100 %"),
        (DB, "autocommit_time", "3600001", "from 1 to 3600000 ms"),
        (MAIL, "migration_threshold", "1023", "from 1024 to"),
        (SPARE, "lv_read_ahead", "6", "in steps of 4"),
        (SPARE, "lv_read_ahead", "0", "from 4 to"),
        (MIRROR, "write_behind", "32767", "from 1 to 32766"),
    ],
)
async def test_what_the_kernel_refuses_or_changes_is_not_planned(
    lvm: Lvm, where: object, key: str, value: str, hint: str
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        await lvm.plan(where, key, value)  # type: ignore[arg-type]
    assert hint in refused.value.hint


async def test_write_back_says_what_is_lost_with_which_device(lvm: Lvm) -> None:
    change = await lvm.plan(MAIL, "cache_mode", "write-back")
    assert change.risk is Risk.POWER_LOSS
    assert change.risk_text.endswith("The cache is on /dev/nvme3n1.")
    through = await lvm.plan(MAIL, "cache_mode", "write-through")
    assert (through.risk, through.risk_text) == (Risk.NONE, "")


async def test_a_cache_on_a_mirror_makes_write_back_harmless() -> None:
    rack = linux_rack(lambda: NOW)
    next(one for one in rack.lvm["vg0"].volumes if one.name == "mail").fast_place = "md0"
    rack.lvm["vg0"].places.append("md0")
    change = await Lvm(SimulatedHost(rack, speed=1e9)).plan(MAIL, "cache_mode", "write-back")
    assert (change.risk, change.risk_text) == (Risk.NONE, "")


async def test_a_reshape_is_told_as_such(lvm: Lvm, machine: Listening, clock: Moving) -> None:
    change = await lvm.plan(PARITY, "stripe_size", "131072")
    assert (change.effect, change.risk) == (Effect.RESHAPE, Risk.OUTAGE)
    await lvm.apply(change)
    assert [one.kind for one in await lvm.tasks(PARITY)] == ["reshape"]
    assert "a reshape is running" in str((await lvm.read(PARITY))["stripe_size"].availability.why_not)
    clock.now += 100
    assert await lvm.tasks(PARITY) == ()


async def test_stripes_that_cannot_be_moved_say_why() -> None:
    made = Lvm(host(*KINDS))
    with pytest.raises(BlockedError, match="LVM cannot move the data of a striped volume"):
        await made.plan(target("vg0/str"), "stripe_size", "131072")


async def test_the_value_that_is_set_sends_nothing(lvm: Lvm, machine: Listening) -> None:
    await lvm.apply(await lvm.plan(MAIL, "cache_mode", "write-through"))
    await lvm.apply(await lvm.plan(SPARE, "lv_read_ahead", "auto"))
    assert machine.ran == []


async def test_a_value_that_is_set_and_not_in_force_is_sent() -> None:
    lvs = CACHES[0].replace('"lv_name":"db"', '"lv_name":"db", "cache_settings":"high_watermark=80"')
    made = host(lvs.replace('"cache_settings":"", "devices":"db_wcorig', '"devices":"db_wcorig'), CACHES[1])
    reading = (await Lvm(made).read(DB))["high_watermark"]
    assert (reading.now, reading.effective) == ("80", "default")
    made.tools["lvchange"] = done("", 5, "  heard\n")
    with pytest.raises(ToolFailedError, match="heard"):
        await Lvm(made).apply(await Lvm(made).plan(DB, "high_watermark", "80"))


def planted(change: Change, *argv: str) -> Change:
    """The change with another command."""
    return replace(change, writes=(ChangeStep(argv=("/usr/sbin/lvchange", *argv)),))


@pytest.mark.parametrize(
    "argv",
    [
        ("--yes", "--cachemode", "writethrough", "vg0/db"),
        ("--cachesettings", "high_watermark=60", "vg0/mail"),
        ("--activate", "n", "vg0/db"),
        ("--test", "--cachesettings", "high_watermark=60", "vg0/db"),
        ("--cachesettings", "block_size=512;x=1", "vg0/db"),
        ("--readahead", "auto", "--permission", "r", "vg0/db"),
        ("vg0/db",),
    ],
    ids=" ".join,
)
async def test_a_step_of_a_journal_that_is_none_of_ours_is_refused(
    lvm: Lvm, machine: Listening, argv: tuple[str, ...]
) -> None:
    change = await lvm.plan(DB, "high_watermark", "60")
    with pytest.raises(RefusedError, match="Refusing to run"):
        await lvm.apply(planted(change, *argv))
    other = replace(change, writes=(ChangeStep(argv=("/usr/sbin/lvremove", "--yes", "vg0/db")),))
    with pytest.raises(RefusedError):
        await lvm.apply(other)
    assert machine.ran == []


async def test_what_the_kernel_refuses_fails_without_the_word_changed(lvm: Lvm, machine: Listening) -> None:
    change = await lvm.plan(DB, "low_watermark", "50")
    volume = next(one for one in machine.rack.lvm["vg0"].volumes if one.name == "db")
    volume.settings["high_watermark"] = 46  # somebody else's, meanwhile
    with pytest.raises(ToolFailedError) as failed:
        await lvm.apply(change)
    assert "Invalid argument" in failed.value.message
    assert "changed" not in failed.value.message
    assert "changed" in failed.value.evidence
    assert (await lvm.read(DB))["low_watermark"].now == "default"


async def test_a_question_answered_by_no_is_a_failure_whatever_the_status(lvm: Lvm) -> None:
    await lvm.apply(await lvm.plan(DB, "high_watermark", "80"))
    change = await lvm.plan(DB, "high_watermark", "default")
    unsure = replace(change, writes=(ChangeStep(argv=("/usr/sbin/lvchange", "--cachesettings", "", "vg0/db")),))
    with pytest.raises(ToolFailedError, match="No settings changed"):
        await lvm.apply(unsure)


async def test_another_volume_under_the_same_name_is_not_changed(lvm: Lvm, machine: Listening) -> None:
    change = await lvm.plan(MAIL, "cache_mode", "write-back")
    assert change.identity is not None
    other = replace(change, identity=replace(change.identity, wwn="dm.LVM-of-before"))
    with pytest.raises(AnotherDeviceError):
        await lvm.apply(other)
    assert machine.ran == []


async def test_while_a_flush_runs_nothing_else_is_begun(lvm: Lvm, machine: Listening, clock: Moving) -> None:
    await lvm.apply(await lvm.plan(MAIL, "cache_mode", "write-back"))
    waiting = await lvm.plan(MAIL, "migration_threshold", "8192")
    machine.rack.note_cached({"dm-5": CacheCounts(held_bytes=6e9, dirty_bytes=6e9, at=clock.now)})
    back = await lvm.plan(MAIL, "cache_mode", "write-through")
    assert "The cache has 5.59 GiB of unwritten data" in back.risk_text
    await lvm.apply(back)
    (task,) = await lvm.tasks(MAIL)
    assert (task.kind, task.progress is not None) == ("flush", True)
    with pytest.raises(BlockedError, match=r"its cache is being flushed, 5\.59 GiB are left"):
        await lvm.plan(MAIL, "cache_mode", "passthrough")
    with pytest.raises(BlockedError, match="its cache is being flushed"):
        await lvm.apply(waiting)
    clock.now += 60
    (later,) = await lvm.tasks(MAIL)
    assert (later.progress or 0) > (task.progress or 0)
    clock.now += 100
    assert await lvm.tasks(MAIL) == ()
    assert (await lvm.read(MAIL))["cache_mode"].now == "write-through"


async def test_volumes_of_one_group_take_one_lock_and_those_of_another_do_not(lvm: Lvm) -> None:
    first = await lvm.plan(MAIL, "lv_read_ahead", "none")
    second = await lvm.plan(SPARE, "lv_read_ahead", "none")
    other = await lvm.plan(MIRROR, "lv_read_ahead", "none")
    assert first.shares_lock(second)
    assert not first.shares_lock(other)


async def test_a_device_mapper_lock_is_also_that_of_a_run_on_the_volume(lvm: Lvm, machine: Listening) -> None:
    found = await lvm.inventory()
    mail = next(one for one in found.arrays if one.target == MAIL)
    change = await lvm.plan(MAIL, "lv_read_ahead", "none")
    assert mail.identity is not None
    assert f"disk-{mail.identity.lasting}" in change.locks


async def test_what_is_not_there_is_said(lvm: Lvm) -> None:
    with pytest.raises(NotFoundError):
        await lvm.read(replace(MAIL, backend="md"))
    for address in ("vg0/none", "vg0/mail_corig", "nowhere", "", "-rf"):
        with pytest.raises(Exception, match="does not exist"):
            await lvm.read(target(address))


async def test_without_root_everything_says_so() -> None:
    made = host(*CACHES, root=False)
    made.files["/sbin/lvchange"] = ""
    readings = await Lvm(made).read(target("vg0/mail"))
    assert {one.availability.why_not for one in readings.values()} == {"needs root"}


async def test_changed_verified_and_undone_through_the_workbench(machine: Listening, tmp_path: Path) -> None:
    paths = Paths.at(tmp_path)
    bench = Workbench(machine, paths=paths)
    await bench.open()
    await bench.hardware.probe()
    ended = await bench.changes.apply(await bench.hardware.plan(MAIL, "cache_mode", "write-back"))
    assert (ended.result, ended.now) == ("verified", "write-back")
    undone = await bench.changes.undo(ended.id)
    assert (undone.result, undone.now) == ("verified", "write-through")
    assert len(machine.ran) == 2
    bench.close()
    await asyncio.sleep(0)
