"""What is told of a thing of which little is known, or something rare."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from backends.host import Command, Completed
from backends.identity import Identity
from backends.model import Array, Controller, Drive, Fact, Level, Protection, State, Target
from backends.protocol import InventoryBackend
from backends.vendors._cards import BackgroundOperation
from backends.vendors.bcache.backend import Bcache
from backends.vendors.fusionio.facts import Adapter, Cards, IoVolume, Module
from backends.vendors.fusionio.inventory import controller as card_of
from backends.vendors.fusionio.inventory import drive as volume_of
from backends.vendors.lvm.backend import Lvm
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.megaraid import inventory as megaraid
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.nvme.backend import Nvme
from backends.vendors.santricity import inventory as santricity
from backends.vendors.santricity.facts import WebController, WebHardware, WebSystem
from backends.vendors.scsi.inventory import _health
from backends.vendors.scsi.smartctl import LifeLeft, SmartAnswer
from backends.vendors.smartarray import inventory as smartarray
from backends.vendors.smartarray.facts import LogicalDrive, PowerSource, RaidCard
from backends.vendors.smcli.backend import Smcli
from backends.vendors.threeware.backend import Threeware
from backends.vendors.zfs.inventory import controller as zfs_module
from backends.vendors.zfs.parameters import ModuleView
from tests.backends.bcache import machines as bcache
from tests.backends.listed.texts import PlayedUnit
from tests.backends.lvm import machines as lvm
from tests.backends.mdraid.machines import MdHost, array
from tests.backends.nvme.drives import PlayedDrive, controller, namespace
from tests.backends.santricity.services import DOOR
from tests.backends.smcli.systems import PlayedSystem


def told(thing: Array | Controller | Drive) -> dict[str, str]:
    return {fact.label: fact.value for fact in thing.facts}


def first_array(backend: InventoryBackend) -> Array:
    return asyncio.run(backend.inventory()).arrays[0]


# Device-mapper and md


def volume(name: str, **columns: str) -> dict[str, str]:
    """What is told of a volume of a recording, with these columns of `lvs` otherwise."""
    said, tables = json.loads(lvm.CACHES[0]), lvm.CACHES[1]
    for row in said["report"][0]["lv"]:
        if row["lv_name"] == name:
            row.update(columns)
    found = asyncio.run(Lvm(lvm.host(json.dumps(said), tables)).inventory())
    return told(next(one for one in found.arrays if one.name == f"vg0/{name}"))


READ = {"cache_read_hits": "3", "cache_read_misses": "1"}
WRITTEN = {"cache_write_hits": "1", "cache_write_misses": "1"}


@pytest.mark.parametrize(
    ("columns", "hits"),
    [
        (READ | WRITTEN, "75 % of reads, 50 % of writes"),
        (READ | {"cache_write_hits": "0", "cache_write_misses": "0"}, "75 % of reads"),
        ({"cache_read_hits": "", "cache_read_misses": "1"} | WRITTEN, "50 % of writes"),
        ({"cache_read_hits": "3", "cache_read_misses": ""} | WRITTEN, "50 % of writes"),
    ],
)
def test_hits_of_a_cache_are_shares_of_what_was_asked(columns: dict[str, str], hits: str) -> None:
    assert volume("mail", **columns)["Cache hits"] == hits


@pytest.mark.parametrize(
    ("total", "free", "used"), [("4080", "80", "4000 of 4080 blocks used"), ("", "80", None), ("4080", "", None)]
)
def test_how_full_a_writecache_is_needs_both_of_its_numbers(total: str, free: str, used: str | None) -> None:
    found = volume("db", writecache_total_blocks=total, writecache_free_blocks=free)
    assert found.get("Writecache") == used


def test_a_bcache_device_that_the_kernel_does_not_show_has_no_size() -> None:
    host = bcache.files()
    del host.files["/sys/block/bcache0/size"]
    assert first_array(Bcache(host)).size_bytes is None


@pytest.mark.parametrize(("level", "kind"), [("", "no level (never started)"), ("multipath", "multipath")])
def test_what_has_no_level_says_what_it_is(level: str, kind: str) -> None:
    assert told(first_array(MdRaid(MdHost(array(level)))))["Kind"] == kind


def test_a_resync_that_waits_says_so() -> None:
    host = MdHost(array("raid1", ("sda", "sdb"), sync_action="resync", sync_completed="delayed"))
    assert told(first_array(MdRaid(host)))["Task"].startswith("resync, waiting")


# Cards


def test_a_card_that_is_known_to_have_no_battery_says_so_and_of_another_nothing_is_said() -> None:
    card = Card(number=0)
    assert megaraid._protection(replace(card, backup_known=True)) == Protection(kind="none", state="missing")
    assert megaraid._protection(replace(card, backup_known=False)) is None


@pytest.mark.parametrize(("secured", "shown"), [(True, "yes"), (False, None), (None, None)])
def test_an_encrypted_volume_says_so(secured: bool | None, shown: str | None) -> None:
    volume = VirtualDrive(card=0, number=0, secured=secured)
    facts = {fact.label: fact.value for fact in megaraid._volume_facts(Card(number=0), volume)}
    assert facts.get("Encrypted") == shown


@pytest.mark.parametrize(("progress", "shown"), [(0.25, "rebuild 25 %"), (None, "rebuild")])
def test_work_on_a_drive_is_told_with_how_far_it_is_where_that_is_known(progress: float | None, shown: str) -> None:
    drive = PhysicalDrive(card=0, enclosure=1, slot=2, jobs=(BackgroundOperation(kind="rebuild", progress=progress),))
    assert shown in {fact.value for fact in megaraid._drive_facts(drive)}


@pytest.mark.parametrize(
    ("healthy", "words", "state"),
    [
        (True, "OK", "optimal"),
        (True, "Charged", "optimal"),
        (None, "ZMM", "unknown"),
        (None, "Recharging", "unknown"),
        (False, "Recharging", "charging"),
        (False, "Failed", "failed"),
    ],
)
def test_a_battery_that_is_charging_has_not_failed(healthy: bool | None, words: str, state: str) -> None:
    power = PowerSource(kind="bbu", state=words, healthy=healthy)
    protection = smartarray._protection(RaidCard(number="0", power=power))
    assert protection == Protection(kind="bbu", state=state)


def test_a_slot_without_a_battery_misses_one() -> None:
    power = PowerSource(kind="none", state="", healthy=False)
    assert smartarray._protection(RaidCard(number="0", power=power)) == Protection(kind="none", state="missing")


@pytest.mark.parametrize(("stripe", "data"), [(4 << 16, 4), ((4 << 16) + 1, 3), (None, 3)])
def test_a_stripe_of_whole_strips_counts_them(stripe: int | None, data: int) -> None:
    volume = LogicalDrive(number=1, level=Level.RAID5, strip_bytes=1 << 16, stripe_bytes=stripe, drives=("a",) * 4)
    assert smartarray._data_drives(volume, counted=True) == data


def test_a_stripe_of_a_cut_answer_is_told_by_its_strips_alone() -> None:
    whole = LogicalDrive(number=1, level=Level.RAID5, strip_bytes=1 << 16, stripe_bytes=4 << 16, drives=("a",) * 4)
    told = [smartarray._data_drives(one, counted=False) for one in (whole, replace(whole, stripe_bytes=None))]
    assert told == [4, None]


class OneUnwell(PlayedUnit):
    """tw_cli counts one unit that is not well."""

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        return replace(done, stdout=done.stdout.replace("1       0       2", "1       1       2"))


@pytest.mark.parametrize(("host", "shown"), [(PlayedUnit(), None), (OneUnwell(), "1")])
def test_units_of_a_3ware_card_that_are_not_well_are_counted(host: PlayedUnit, shown: str | None) -> None:
    (card,) = asyncio.run(Threeware(host).inventory()).controllers
    assert told(card).get("Units with faults") == shown


def test_a_disk_system_of_no_model_is_called_as_its_controllers() -> None:
    system = WebSystem(door=DOOR, id="1", name="array1")
    hardware = WebHardware(controllers=(WebController(id="a", place="A", model="5700", firmware="08.74"),))
    target = Target(backend="santricity", address="lab/array1")
    named, silent = (santricity._controller(system, (), each, target) for each in (hardware, WebHardware()))
    assert (named.model, named.firmware) == ("5700", "08.74")
    assert (silent.model, silent.firmware) == (None, None)


def test_a_disk_systems_volume_that_is_no_disk_here_is_known_by_its_world_wide_name() -> None:
    host = PlayedSystem()
    for path in [path for path in host.files if "/sdb/" in path]:
        del host.files[path]
    volume = first_array(Smcli(host))
    assert (volume.device, volume.identity) == (
        None,
        Identity(name="fast", wwn=f"naa.{host.system.volumes[0].wwn.lower()}"),
    )


# Drives


def adapter(product: str | None = None, driver: str | None = None) -> Cards:
    return Cards(adapters=(Adapter(modules=("fct0",), product=product),), driver=driver)


def test_an_io_memory_module_is_called_as_its_card_and_without_one_as_itself() -> None:
    module = Module(name="fct0", product="ioDimm3", link="4 lanes at 5.0 Gt/sec each")
    volume = IoVolume(name="fioa")
    assert (card_of(module, adapter(product="ioDrive2")).model, card_of(module, Cards()).model) == (
        "ioDrive2",
        "ioDimm3",
    )
    assert (volume_of(volume, module, adapter(product="ioDrive2")).model, volume_of(volume, module, Cards()).model) == (
        "ioDrive2",
        "ioDimm3",
    )
    assert told(card_of(module, Cards()))["PCIe link"] == "4 lanes at 5.0 Gt/sec each"


def test_a_driver_of_unknown_version_is_unknown() -> None:
    module = Module(name="fct0")
    assert card_of(module, Cards()).driver is None
    assert card_of(module, adapter(driver="3.2.16")).driver == "iomemory-vsl 3.2.16"


@pytest.mark.parametrize(
    ("known", "size"),
    [
        ({"size_bytes": 7, "sectors": 10, "sector_bytes": 512, "gigabytes": 1.0}, 7),
        ({"sectors": 10, "sector_bytes": 512, "gigabytes": 1.0}, 5120),
        ({"sectors": 10, "gigabytes": 1.0}, 10**9),
        ({"sector_bytes": 512, "gigabytes": 1.0}, 10**9),
        ({"sector_bytes": 512}, None),
    ],
)
def test_the_most_exact_size_that_is_told_is_shown(known: dict[str, float], size: int | None) -> None:
    volume = IoVolume(name="fioa", **known)  # type: ignore[arg-type]
    assert volume_of(volume, Module(name="fct0"), Cards()).size_bytes == size


@pytest.mark.parametrize(
    ("reserve", "shown", "state"),
    [("Healthy", None, State.ONLINE), ("Low metadata", "Low metadata", State.DEGRADED), (None, None, State.ONLINE)],
)
def test_spare_flash_that_runs_out_is_told(reserve: str | None, shown: str | None, state: State) -> None:
    drive = volume_of(IoVolume(name="fioa", state="Online"), Module(name="fct0", reserve_state=reserve), Cards())
    assert (told(drive).get("Reserve space"), drive.state) == (shown, state)


def test_a_namespace_of_which_the_kernel_says_little_is_called_as_its_controller() -> None:
    plain = {path: text for path, text in namespace("nvme0n1").items() if "/device/" not in path}
    (drive,) = asyncio.run(Nvme(PlayedDrive(controller("nvme0", "nvme0n1"), plain)).inventory()).drives
    assert (drive.model, drive.serial, drive.firmware) == ("ACME SSD 9", "S1", "1.0")


def test_a_namespace_is_called_as_it_says_itself() -> None:
    own = namespace("nvme0n1") | {"/sys/block/nvme0n1/device/firmware_rev": "2.0"}
    own |= {"/sys/block/nvme0n1/device/model": "ACME SSD 9 LE"}
    (drive,) = asyncio.run(Nvme(PlayedDrive(controller("nvme0", "nvme0n1"), own)).inventory()).drives
    assert (drive.model, drive.firmware) == ("ACME SSD 9 LE", "2.0")


def test_what_is_left_of_a_drives_life_is_told_in_its_own_words() -> None:
    health = SmartAnswer(life_left=LifeLeft(percent=97, id=233, name="Media_Wearout_Indicator"))
    assert Fact.from_rows(_health(health)) == (
        Fact(label="Life left", value="97 % (attribute 233 Media_Wearout_Indicator)"),
    )


@pytest.mark.parametrize(("version", "driver"), [("2.1.5", "zfs 2.1.5"), ("", "zfs")])
def test_zfs_is_told_with_its_version_where_that_is_known(version: str, driver: str) -> None:
    module = ModuleView(texts={}, refusals={}, arc={}, memory_bytes=None, version=version)
    assert zfs_module(module).driver == driver
