"""What comes back besides a value, vendor by vendor, and what a log may not make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.change import Change, ChangeStep
from backends.change_steps import run_steps, validated_old_value
from backends.errors import BlockedError, InvalidValueError, RefusedError
from backends.model import Scope, Target
from backends.settings import Availability, Choice, Reading, Risk, Setting, Span
from backends.simulator.host import SimulatedHost
from backends.simulator.smcli import DiskSystem
from backends.vendors.bcache.backend import Bcache
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.lvm.backend import Lvm
from backends.vendors.nvme.backend import Nvme
from backends.vendors.scsi.backend import ScsiBackend
from backends.vendors.smartarray.addresses import volume_target
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.inventory import system_target
from tests.backends.bcache.machines import BCACHE0, simulated
from tests.backends.nvme.drives import PlayedDrive
from tests.backends.scsi.drives import DriveHost, Scsi
from tests.backends.simulator.asking import FAST
from tests.backends.smartarray.cards import HPE, SSACLI, PlayedCards
from tests.backends.smcli.systems import PlayedSystem
from tests.backends.taking_back import take_back, way_back

CONTROLLER = Target(backend="nvme", address="nvme0", scope=Scope.CONTROLLER)
NAMESPACE = Target(backend="nvme", address="nvme0n1")
SDA = Target(backend="scsi", address="sda")
LD = volume_target("/slot0", 1)
SYSTEM = system_target("DS4700_A")
DB = Target(backend="lvm", address="vg0/db", scope=Scope.ARRAY)
SWITCH = Setting(key="switch", label="Switch", help="", risk=Risk.OUTAGE)
IN_WORDS = Reading(now="on", choices=(Choice(value="on", label="on"), Choice(value="off", label="off")))


def step(line: str) -> ChangeStep:
    return ChangeStep(argv=tuple(line.split()))


# For all of them


def test_what_is_there_already_needs_no_leave() -> None:
    blocked = replace(IN_WORDS, availability=Availability(why_not="it is in use"))
    assert validated_old_value(SDA, SWITCH, blocked, "on").value == "on"
    with pytest.raises(BlockedError, match="it is in use"):
        validated_old_value(SDA, SWITCH, blocked, "off")


@pytest.mark.parametrize("value", ["1; rm", "0x1", "1 2", "", "-", "²", "1" * 40])
def test_a_number_of_before_is_one_whatever_the_range_of_today(value: str) -> None:
    reading = Reading(now="5", span=Span(minimum=4, maximum=6))
    assert validated_old_value(SDA, SWITCH, reading, "4711").value == "4711"
    with pytest.raises(InvalidValueError):
        validated_old_value(SDA, SWITCH, reading, value)


async def test_a_step_that_a_log_only_tells_of_is_not_taken_nor_those_before_it() -> None:
    async def take(step: ChangeStep) -> None:
        raise AssertionError(step)

    steps = (ChangeStep(path="/sys/one", text="1"), ChangeStep(line="echo 1 > /sys/two"))
    change = Change(target=SDA, key="switch", label="Switch", before="on", after="off", writes=steps, undo=())
    with pytest.raises(RefusedError, match="shows this step but does not run it: echo 1 > /sys/two"):
        await run_steps(change, take)


# NVMe


async def test_a_format_comes_back_with_its_metadata_and_protection() -> None:
    host = PlayedDrive()
    host.space |= {"flbas": 0x12, "dps": 0x09}
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    assert change.companions == {"metadata": "extended", "protection": "1 first"}
    await Nvme(host).apply(change)
    back = await way_back(Nvme(host), change)
    assert back.writes == change.undo
    assert back.writes[0].argv[4:] == ("--lbaf=2", "--ms=1", "--pi=1", "--pil=1")
    assert back.risk is Risk.DESTROYS_DATA


@pytest.mark.parametrize(
    "line",
    [
        "nvme format /dev/nvme1n1 --namespace-id=1 --lbaf=0",
        "nvme format /dev/nvme0n1 --namespace-id=1 --lbaf=0 --ses=1",
        "nvme format /dev/nvme0n1 --namespace-id=1",
        "nvme format /dev/nvme0n1 --namespace-id=1 --lbaf=0 --lbaf=1",
        "nvme delete-ns /dev/nvme0 --namespace-id=1",
        "nvme sanitize /dev/nvme0n1 --namespace-id=1 --lbaf=0",
        "sh format /dev/nvme0n1 --namespace-id=1 --lbaf=0",
    ],
)
async def test_what_formats_anything_else_is_refused(line: str) -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    for program in (line.split()[0], f"/usr/sbin/{line.split()[0]}"):
        with pytest.raises(RefusedError):
            await Nvme(host).apply(replace(change, writes=(step(" ".join((program, *line.split()[1:]))),)))
    assert host.sets == []


async def test_a_format_without_a_risk_and_without_what_was_found_is_judged_anew() -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    await Nvme(host).apply(change)
    host.blkid = "DEVNAME=/dev/nvme0n1\nLABEL=precious\nTYPE=ext4\nUSAGE=filesystem\n"
    back = await way_back(Nvme(host), replace(change, risk=Risk.NONE, found=None))
    assert back.risk is Risk.DESTROYS_DATA
    assert [one.kind for one in back.found or ()] == ["ext4"]


async def test_a_power_state_that_is_offered_no_more_comes_back() -> None:
    host = PlayedDrive()
    host.features[2] = 0x22
    change = await Nvme(host).plan(CONTROLLER, "power_state", "0")
    await Nvme(host).apply(change)
    await take_back(Nvme(host), change)
    assert host.features[2] == 0x22
    with pytest.raises(InvalidValueError):
        await Nvme(host).back(CONTROLLER, "power_state", "7", {})


async def test_bits_of_other_settings_stay_as_they_are() -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(CONTROLLER, "irq_coalescing_threshold", "9")
    await Nvme(host).apply(change)
    assert (await Nvme(host).back(CONTROLLER, "irq_coalescing_threshold", "4", {})).writes == change.undo


async def test_a_step_that_sets_another_value_than_the_change_is_refused() -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(CONTROLLER, "irq_coalescing_threshold", "9")
    strange = step("/usr/sbin/nvme set-feature /dev/nvme0 --feature-id=8 --value=0x000001ff")
    with pytest.raises(RefusedError, match="the recorded step does not set"):
        await Nvme(host).apply(replace(change, writes=(strange,)))
    assert host.sets == []


# SCSI


def sas(now: int, saved: int) -> DriveHost:
    drive = Scsi(bits={"WCE": now, "RCD": 0, "DRA": 0}, saved={"WCE": saved, "RCD": 0, "DRA": 0})
    return DriveHost({"sda": drive}, root=True, tools=("sdparm",))


async def test_a_saved_value_comes_back_as_a_saved_one() -> None:
    host = sas(0, 1)
    change = await ScsiBackend(host).plan(SDA, "drive_cache", "on")
    assert change.companions == {"saved": "on"}
    await ScsiBackend(host).apply(change)
    assert (await way_back(ScsiBackend(host), change)).writes == change.undo


async def test_an_ata_drive_saves_nothing() -> None:
    from tests.backends.scsi.drives import Ata

    host = DriveHost({"sda": Ata(acoustic=128)}, root=True, tools=("hdparm",))
    with pytest.raises(RefusedError, match="saved=on cannot be restored"):
        await ScsiBackend(host).back(SDA, "drive_cache", "off", {"saved": "on"})
    assert (await ScsiBackend(host).back(SDA, "acoustic", "200", {})).writes[0].argv[1] == "-M200"


# Smart Array


def sharing(*served: str) -> PlayedCards:
    first = HPE.volumes[0]
    mates = tuple(
        replace(first, number=at + 1, acceleration=one, wwn=f"600508b1001c0000000000000000000{at + 1}", device=None)
        for at, one in enumerate(served)
    )
    return PlayedCards((replace(HPE, volumes=mates),))


async def test_smart_path_gives_the_cache_back_to_those_who_had_it() -> None:
    host = sharing("cache", "none", "cache")
    change = await SmartArray(host).plan(LD, "acceleration", "smart-path")
    assert change.companions == {"cached": "3"}
    await SmartArray(host).apply(change)
    back = await way_back(SmartArray(host), change)
    assert back.writes == change.undo
    await SmartArray(host).apply(back)
    assert [one.acceleration for one in host.hpe[0].volumes] == ["cache", "none", "cache"]


@pytest.mark.parametrize("numbers", ["4", "2,4", "1", "2;3", ",", "2,", "../x"])
async def test_a_logical_drive_of_another_array_gets_nothing(numbers: str) -> None:
    host = sharing("path", "path", "path")
    with pytest.raises(RefusedError, match="cannot be restored together with acceleration"):
        await SmartArray(host).back(LD, "acceleration", "controller-cache", {"cached": numbers})


@pytest.mark.parametrize(
    "line",
    ["ctrl slot=0 ld 1 delete forced", "ctrl slot=0 ld 7 modify caching=enable forced", "ctrl slot=0 array B modify x"],
)
async def test_a_step_of_anything_else_on_the_card_is_not_taken(line: str) -> None:
    host = sharing("cache", "cache")
    change = await SmartArray(host).plan(LD, "acceleration", "none")
    with pytest.raises(RefusedError):
        await SmartArray(host).apply(replace(change, writes=(step(f"{SSACLI} {line}"),)))
    assert host.sets == []


# SMcli


async def test_a_threshold_says_what_the_other_one_was() -> None:
    host = PlayedSystem(DiskSystem(flush_start=80, flush_stop=60))
    change = await Smcli(host).plan(SYSTEM, "cache_flush_start", "70")
    assert change.companions == {"cache_flush_stop": "60"}
    await Smcli(host).apply(change)
    assert (await way_back(Smcli(host), change)).writes == change.undo


async def test_a_threshold_whose_other_one_is_in_the_way_says_which_comes_first() -> None:
    host = PlayedSystem(DiskSystem(flush_start=80, flush_stop=80))
    stop = await Smcli(host).plan(SYSTEM, "cache_flush_stop", "20")
    await Smcli(host).apply(stop)
    start = await Smcli(host).plan(SYSTEM, "cache_flush_start", "30")
    await Smcli(host).apply(start)
    with pytest.raises(BlockedError, match="cannot be restored to 80 % while cache flush starts at 30 %") as caught:
        await way_back(Smcli(host), stop)
    assert caught.value.hint == "It was 80 % then. Undo that change first."
    await take_back(Smcli(host), start)
    await take_back(Smcli(host), stop)
    assert (host.system.flush_start, host.system.flush_stop) == (80, 80)


@pytest.mark.parametrize("value", ["101", "-1", "80;", "80; delete array", "1e2"])
async def test_what_is_no_percentage_gets_into_no_statement(value: str) -> None:
    with pytest.raises(InvalidValueError):
        await Smcli(PlayedSystem()).back(SYSTEM, "cache_flush_start", value, {})


# bcache, LVM, ioMemory


async def test_a_share_of_a_kernel_with_another_limit_comes_back() -> None:
    back = await Bcache(simulated()).back(BCACHE0, "writeback_percent", "60", {})
    assert back.writes[0].text == "60"
    with pytest.raises(InvalidValueError):
        await Bcache(simulated()).plan(BCACHE0, "writeback_percent", "60")


@pytest.fixture
def lvm() -> Lvm:
    from tests.backends.lvm.test_conformance import volumes_rack

    return Lvm(SimulatedHost(volumes_rack(lambda: 1.7e9), speed=1e9))


async def test_tunables_that_were_set_since_are_kept(lvm: Lvm) -> None:
    change = await lvm.plan(DB, "high_watermark", "71")
    await lvm.apply(change)
    await lvm.apply(await lvm.plan(DB, "writeback_jobs", "64"))
    back = await way_back(lvm, change)
    assert [step.argv[-2] for step in back.writes] == ["", "writeback_jobs=64"]


@pytest.mark.parametrize("value", ["100000", "3k", "-b512", "4096 -f"])
async def test_what_is_no_sector_size_formats_nothing(value: str) -> None:
    from backends.simulator.profiles.hpe import hpe_rack

    host: Any = SimulatedHost(hpe_rack(), speed=FAST)
    found = (await FusionIo(host).inventory()).drives[0].target
    with pytest.raises((InvalidValueError, RefusedError)):
        await FusionIo(host).back(found, "sector_size", value, {})
