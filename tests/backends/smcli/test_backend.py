"""Disk systems behind SMcli: what is shown, what is in force, and the statements that change them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Array, Level, Media, State, Target
from backends.settings import Effect, Reading, Risk
from backends.simulator.smcli import DiskSystem, HostDisk
from backends.vendors.smcli import VENDOR
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.inventory import system_target, volume_target
from tests.backends.fakes import FakeHost, machine
from tests.backends.smcli.systems import PlayedSystem

SYSTEM = system_target("DS4700_A")
FAST = volume_target("DS4700_A", "fast")
WWN = "600a0b80002618d6000004d44a2f7a01"


async def array(host: PlayedSystem) -> Array:
    return (await Smcli(host).inventory()).arrays[0]


async def reading(key: str, system: DiskSystem | None = None, target: Target = FAST) -> Reading:
    return (await Smcli(PlayedSystem(system)).read(target))[key]


async def planned(host: PlayedSystem, key: str, value: str, target: Target = FAST) -> Change:
    return await Smcli(host).plan(target, key, value)


async def test_a_logical_drive_is_shown_with_its_shape() -> None:
    one = await array(PlayedSystem())
    assert (one.name, one.level, one.state, one.size_bytes, one.strip_bytes, one.data_drives) == (
        "fast",
        Level.RAID5,
        State.OPTIMAL,
        200 << 30,
        64 << 10,
        4,
    )


async def test_a_logical_drive_is_the_disk_of_its_world_wide_name() -> None:
    assert (await array(PlayedSystem())).device == "/dev/sdb"


async def test_the_size_of_a_logical_drive_is_that_of_its_disk_which_is_not_rounded() -> None:
    host = PlayedSystem()
    host.files["/sys/block/sdb/size"] = str((200 << 21) + 6)
    assert (await array(host)).size_bytes == (200 << 30) + 6 * 512


async def test_a_logical_drive_with_two_paths_and_no_multipath_is_no_disk_for_certain() -> None:
    host = PlayedSystem()
    host.files |= {path.replace("/sdb/", "/sdc/"): text for path, text in host.files.items() if "/sdb/" in path}
    assert (await array(host)).device is None


async def test_a_logical_drive_behind_multipath_is_its_multipath_device() -> None:
    host = PlayedSystem()
    own = {path.replace("/sdb/", "/dm-3/"): text for path, text in host.files.items() if "/sdb/" in path}
    host.files |= own | {"/sys/block/dm-3/dm/uuid": f"mpath-3{WWN}", "/sys/block/dm-3/dev": "253:3"}
    assert (await array(host)).device == "/dev/dm-3"


async def test_its_drives_are_members_by_enclosure_and_slot() -> None:
    found = await Smcli(PlayedSystem()).inventory()
    assert [str(member) for member in found.arrays[0].members] == [f"smcli:DS4700_A/drive 0,{n}" for n in range(1, 6)]
    assert {(one.media, one.state, str(one.array)) for one in found.drives} == {
        (Media.HDD, State.ONLINE, "smcli:DS4700_A/fast")
    }


async def test_the_disk_system_tells_of_both_controllers() -> None:
    (one,) = (await Smcli(PlayedSystem(DiskSystem(second="Offline"))).inventory()).controllers
    assert [fact.value for fact in one.facts][:2] == ["Online", "Offline"]
    assert one.protection is not None
    assert one.protection.state == "optimal"


async def test_every_setting_of_a_disk_system_has_its_value() -> None:
    found = await Smcli(PlayedSystem()).read(SYSTEM)
    assert {key: one.now for key, one in found.items()} == {
        "cache_block_size": "4",
        "cache_flush_start": "80",
        "cache_flush_stop": "80",
    }


async def test_every_setting_of_a_logical_drive_has_its_value() -> None:
    found = await Smcli(PlayedSystem()).read(FAST)
    assert {key: one.now for key, one in found.items()} == {
        "read_cache": "on",
        "write_cache": "write-back",
        "cache_without_battery": "off",
        "cache_mirroring": "on",
        "read_prefetch": "on",
        "flush_modifier": "10",
        "segment_size": "64",
        "modification_priority": "high",
    }


@pytest.mark.parametrize(
    ("battery", "without", "force"),
    [
        ("Optimal", False, None),
        ("Optimal", True, None),
        ("Failed", False, "write-through"),
        ("Battery learning", False, "write-through"),
        ("Failed", True, "write-back, not protected"),
    ],
)
async def test_without_a_charged_battery_the_write_cache_is_not_in_force(
    battery: str, without: bool, force: str | None
) -> None:
    system = DiskSystem(battery=battery)
    system.volumes[0].without_battery = without
    assert (await reading("write_cache", system)).effective == force


@pytest.mark.parametrize(("mirroring", "force"), [(True, "write-through"), (False, None)])
async def test_a_cache_mirrored_to_a_controller_that_is_gone_is_not_in_force(
    mirroring: bool, force: str | None
) -> None:
    system = DiskSystem(second="Offline")
    system.volumes[0].mirroring = mirroring
    assert (await reading("write_cache", system)).effective == force


async def test_a_write_cache_that_is_off_is_off() -> None:
    system = DiskSystem(battery="Failed")
    system.volumes[0].write_cache = False
    found = await reading("write_cache", system)
    assert (found.now, found.effective) == ("write-through", None)


async def test_write_back_on_an_unprotected_cache_risks_data() -> None:
    system = DiskSystem(battery="Failed")
    system.volumes[0].without_battery = True
    risks = {choice.value: choice.risk for choice in (await reading("write_cache", system)).choices}
    assert risks == {"write-back": Risk.POWER_LOSS, "write-through": Risk.NONE}


@pytest.mark.parametrize(
    ("target", "key", "value", "statement"),
    [
        (SYSTEM, "cache_block_size", "16", "set storageSubsystem cacheBlockSize=16;"),
        (SYSTEM, "cache_flush_stop", "50", "set storageSubsystem cacheFlushStop=50;"),
        (FAST, "read_cache", "off", 'set logicalDrive ["fast"] readCacheEnabled=FALSE;'),
        (FAST, "write_cache", "write-through", 'set logicalDrive ["fast"] writeCacheEnabled=FALSE;'),
        (FAST, "cache_without_battery", "on", 'set logicalDrive ["fast"] cacheWithoutBatteryEnabled=TRUE;'),
        (FAST, "cache_mirroring", "off", 'set logicalDrive ["fast"] mirrorCacheEnabled=FALSE;'),
        (FAST, "read_prefetch", "off", 'set logicalDrive ["fast"] cacheReadPrefetch=FALSE;'),
        (FAST, "flush_modifier", "0.25", 'set logicalDrive ["fast"] cacheFlushModifier=250;'),
        (FAST, "flush_modifier", "infinite", 'set logicalDrive ["fast"] cacheFlushModifier=Infinite;'),
        (FAST, "segment_size", "128", 'set logicalDrive ["fast"] segmentSize=128;'),
        (FAST, "modification_priority", "low", 'set logicalDrive ["fast"] modificationPriority=low;'),
    ],
)
async def test_a_change_is_one_statement(target: Target, key: str, value: str, statement: str) -> None:
    host = PlayedSystem()
    await Smcli(host).apply(await planned(host, key, value, target))
    assert host.ran == [statement]


async def test_the_words_are_single_words_and_no_shell_reads_them() -> None:
    change = await planned(PlayedSystem(), "read_cache", "off")
    assert change.writes[0].argv[1:4] == ("-n", "DS4700_A", "-c")


async def test_an_equal_value_is_not_sent() -> None:
    host = PlayedSystem()
    await Smcli(host).apply(await planned(host, "segment_size", "64"))
    assert host.ran == []


async def test_another_segment_size_moves_all_data_and_says_so() -> None:
    change = await planned(PlayedSystem(), "segment_size", "128")
    assert (change.effect, change.risk, change.confirmed) == (Effect.RESHAPE, Risk.OUTAGE, False)
    assert "cannot be stopped" in change.risk_text


async def test_a_refusal_shows_the_words_of_the_disk_system() -> None:
    host = PlayedSystem(DiskSystem(locked=True))
    with pytest.raises(ToolFailedError, match="error code 4 - Resource is busy"):
        await Smcli(host).apply(await planned(host, "read_cache", "off"))


@pytest.mark.parametrize(
    ("now", "wanted", "first"),
    [
        ((90, 90), {"cache_flush_start": "80", "cache_flush_stop": "70"}, "cache_flush_stop"),
        ((90, 90), {"cache_flush_stop": "70", "cache_flush_start": "80"}, "cache_flush_stop"),
        ((80, 80), {"cache_flush_stop": "90", "cache_flush_start": "95"}, "cache_flush_start"),
    ],
)
async def test_both_thresholds_are_set_in_the_order_in_which_none_crosses_the_other(
    now: tuple[int, int], wanted: dict[str, str], first: str
) -> None:
    host = PlayedSystem(DiskSystem(flush_start=now[0], flush_stop=now[1], strict=True))
    changes = await Smcli(host).plan_together(SYSTEM, wanted)
    assert changes[0].key == first
    assert not any("above" in change.risk_text for change in changes)
    for change in changes:
        await Smcli(host).apply(change)
    there = {"cache_flush_start": str(host.system.flush_start), "cache_flush_stop": str(host.system.flush_stop)}
    assert there == wanted


async def test_a_stop_above_the_start_is_warned_of_and_left_to_the_disk_system() -> None:
    host = PlayedSystem(DiskSystem(flush_start=80, flush_stop=80))
    change = await planned(host, "cache_flush_stop", "84", SYSTEM)
    assert "would stop at 84 %, which is above its start at 80 %" in change.risk_text
    await Smcli(host).apply(change)
    assert host.system.flush_stop == 84
    back = await planned(host, "cache_flush_stop", "70", SYSTEM)
    await Smcli(host).apply(back)
    await Smcli(host).apply(await Smcli(host).back(SYSTEM, "cache_flush_stop", "84", back.companions))
    assert host.system.flush_stop == 84
    with pytest.raises(ToolFailedError, match="not valid for the parameter cacheFlushStop"):
        await Smcli(PlayedSystem(DiskSystem(strict=True))).apply(change)


async def test_another_disk_system_under_the_same_name_is_left_alone() -> None:
    host = PlayedSystem()
    change = await planned(host, "read_cache", "off")
    host.system.volumes[0].wwn = "600a0b80002618d60000000000000000"
    with pytest.raises(DeviceGoneError, match="WWN was"):
        await Smcli(host).apply(change)


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "DS4700_A", "-c", "delete allLogicalDrives;"),
        (
            "-n",
            "DS4700_A",
            "-c",
            'set logicalDrive ["fast"] readCacheEnabled=FALSE; clear storageSubsystem configuration;',
        ),
        ("-n", "other", "-c", 'set logicalDrive ["fast"] readCacheEnabled=FALSE;'),
    ],
)
async def test_a_statement_that_is_not_of_this_change_is_not_run(words: tuple[str, ...]) -> None:
    host = PlayedSystem()
    change = await planned(host, "read_cache", "off")
    foreign = replace(change, writes=(ChangeStep(argv=(change.writes[0].argv[0], *words)),))
    with pytest.raises(RefusedError, match="the recorded step does not set read cache"):
        await Smcli(host).apply(foreign)
    assert host.ran == []


@pytest.mark.parametrize("name", ['x"] segmentSize=8; set logicalDrive ["fast', "two words", "-x"])
async def test_a_name_that_cannot_be_said_in_a_statement_blocks_every_setting(name: str) -> None:
    system = DiskSystem()
    system.volumes[0].name = name
    found = await Smcli(PlayedSystem(system)).read(volume_target("DS4700_A", name))
    assert {one.availability.why_not for one in found.values()} == {
        "its name has characters that SMcli commands do not accept"
    }


async def test_two_logical_drives_of_one_name_are_not_changed() -> None:
    system = DiskSystem()
    system.volumes.append(HostDisk(name="fast", wwn="600a0b80002618d6000004d44a2f7a02"))
    with pytest.raises(BlockedError, match="its name is not unique"):
        await planned(PlayedSystem(system), "read_cache", "off")


async def test_a_logical_drive_that_is_gone_is_told_as_such() -> None:
    with pytest.raises(DeviceGoneError):
        await Smcli(PlayedSystem()).read(volume_target("DS4700_A", "slow"))


async def test_a_disk_system_that_smcli_does_not_know_fails_in_its_words() -> None:
    with pytest.raises(ToolFailedError, match="was not found in the configuration file"):
        await Smcli(PlayedSystem()).read(system_target("DS9999"))


async def test_no_drive_has_settings() -> None:
    backend = Smcli(PlayedSystem())
    assert backend.settings((await backend.inventory()).drives[0].target) == ()


async def test_no_other_address_is_taken_for_one_of_its_own() -> None:
    with pytest.raises(NotFoundError):
        await Smcli(PlayedSystem()).plan(Target(backend="smcli", address="-c"), "read_cache", "off")


async def test_what_was_read_is_kept_for_who_cannot_wait() -> None:
    host = PlayedSystem()
    backend = Smcli(host)
    await backend.inventory()
    host.system.volumes[0].read_cache = False
    assert (await backend.readings(FAST))["read_cache"].now == "on"
    assert (await backend.read(FAST))["read_cache"].now == "off"


@pytest.mark.parametrize("there", [True, False])
async def test_it_is_looked_for_where_smcli_is(there: bool) -> None:
    host = PlayedSystem() if there else FakeHost(machine())
    assert await VENDOR.present(host) is there


async def test_doctor_names_a_controller_that_is_not_online() -> None:
    (problem,) = await Smcli(PlayedSystem(DiskSystem(second="Offline"))).diagnose()
    assert problem.message == "The controller of DS4700_A in Enclosure 85, Slot B is offline."


class _TwoSystems(PlayedSystem):
    """SMcli lists a disk system that does not answer before the one that does."""

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        if command.argv[1:] == ("-d",):
            name, _, rest = next(line for line in done.stdout.splitlines() if "DS4700_A" in line).partition("DS4700_A")
            return replace(done, stdout=f"{name}DEAD{rest}\n{done.stdout}")
        return done


async def test_a_disk_system_that_does_not_answer_hides_no_other() -> None:
    found = await Smcli(_TwoSystems(DiskSystem(second="Offline"))).inventory()
    assert [one.where for one in found.problems] == ["smcli:DEAD"]
    assert len(found.controllers) == 1
    told = await Smcli(_TwoSystems(DiskSystem(second="Offline"))).diagnose()
    assert [one.where for one in told] == ["smcli:DEAD", "smcli:DS4700_A"]


@pytest.mark.parametrize("address", ["", "DS4700_A/", "DS4700_A/drive 0,1", "a b/fast", "-x/fast", "/fast"])
async def test_what_is_no_disk_system_and_no_logical_drive_has_no_settings(address: str) -> None:
    target = Target(backend="smcli", address=address)
    assert Smcli(PlayedSystem()).settings(target) == ()
    assert Smcli(PlayedSystem()).settings(replace(FAST, backend="block")) == ()


async def test_without_smcli_nothing_of_it_is_there() -> None:
    host = PlayedSystem()
    host.which = lambda names: None  # type: ignore[method-assign]
    with pytest.raises(NotFoundError):
        await Smcli(host).read(FAST)
    assert (await Smcli(host).inventory()).controllers == ()
    assert await Smcli(host).diagnose() == ()
