"""The vendors' programs of the second rack: how they lie, when they refuse, how long they take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import BlockedError, ToolMissingError
from backends.host import Command
from backends.simulator.diskstats import shares
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.table import apply_states
from backends.simulator.programs import PATHS
from backends.simulator.queueing_model import IoPattern, predict
from backends.simulator.rack import Rack
from backends.simulator.state_file import RackFile
from backends.topology import scan_topology
from backends.vendors.hba.backend import HbaBackend
from backends.vendors.smartarray.addresses import card_target, volume_target
from backends.vendors.smartarray.backend import SmartArray
from tests.backends.simulator.asking import FAST, NOW, ask, still_rack

DETAIL = "ctrl slot=0 show config detail"
ANOTHER = "Another instance of ACU is already running"


def suffering(*states: str) -> SimulatedHost:
    """The second rack in these states."""
    rack = hpe_rack(lambda: NOW)
    apply_states(rack, states)
    return SimulatedHost(rack, speed=FAST)


@pytest.mark.parametrize(
    ("rack", "there"),
    [
        (still_rack, {"storcli64", "MegaCli64", "mdadm"}),
        (hpe_rack, {"ssacli", "arcconf", "SMcli", "fio-status", "fio-detach", "fio-format", "fio-attach", "mdadm"}),
        (linux_rack, {"lvs", "lvchange", "lvconvert", "dmsetup", "mdadm"}),
    ],
)
async def test_a_rack_has_the_programs_of_its_cards_alone(rack: Callable[[], Rack], there: set[str]) -> None:
    host = SimulatedHost(rack(), speed=FAST)
    known = {"storcli64", "MegaCli64", "ssacli", "arcconf", "SMcli", "fio-status", "fio-detach", "fio-format"}
    known |= {"lvs", "lvchange", "lvconvert", "dmsetup", "fio-attach", "mdadm"}
    assert {name for name in known if host.which((name,))} == there
    for name in known - there:
        with pytest.raises(ToolMissingError):
            await ask(host, name, "")


async def test_a_second_ssacli_gives_up_while_the_first_runs(tmp_path: Path) -> None:
    files = [RackFile(tmp_path / "rack.json", make=hpe_rack) for _ in range(2)]
    with files[0].lock_program("ssacli") as first:
        second = await ask(SimulatedHost(files[1], speed=FAST), "ssacli", DETAIL)
        other = await ask(SimulatedHost(files[1], speed=FAST), "arcconf", "list")
    assert (first, second.returncode, ANOTHER in second.stdout, other.returncode) == (True, 1, True, 0)
    assert (await ask(SimulatedHost(files[1], speed=FAST), "ssacli", DETAIL)).returncode == 0


async def test_two_at_once_in_one_process_are_two_as_well() -> None:
    host = SimulatedHost(hpe_rack(lambda: NOW), speed=FAST)
    said = await asyncio.gather(ask(host, "ssacli", DETAIL), ask(host, "ssacli", DETAIL))
    assert [ANOTHER in one.stdout for one in said] == [False, True]


async def test_a_locked_rack_says_so_of_every_question() -> None:
    said = await ask(suffering("locked"), "ssacli", "ctrl all show")
    assert (said.returncode, ANOTHER in said.stdout) == (1, True)


async def seconds(host: SimulatedHost, tool: str, line: str) -> float:
    return (await ask(host, tool, line)).seconds


@pytest.mark.parametrize(
    ("tool", "line"), [("ssacli", DETAIL), ("arcconf", "getconfig 1 al"), ("SMcli", "-d"), ("fio-status", "-fj")]
)
async def test_in_a_slow_rack_an_answer_takes_longer_and_more_text_longer_still(tool: str, line: str) -> None:
    slow = await seconds(suffering("slow"), tool, line)
    assert await seconds(suffering(), tool, line) < slow
    assert 0.5 <= slow <= 8.0


async def test_the_longest_answer_of_a_slow_rack_is_waited_for_longest() -> None:
    assert await seconds(suffering("slow"), "ssacli", "ctrl all show") < await seconds(
        suffering("slow"), "ssacli", DETAIL
    )


async def test_the_kernels_own_tool_is_not_slow() -> None:
    assert await seconds(suffering("slow"), "mdadm", "--detail /dev/md0 --export") < 0.5


async def test_arcconf_shows_what_a_newer_card_had_before_a_change_once_more() -> None:
    host = suffering()
    await ask(host, "arcconf", "setcache 2 cacheratio 50 50", mutates=True)
    shown = [await ask(host, "arcconf", "getconfig 2 al") for _ in range(2)]
    assert ["Read Cache Percentage" in one.stdout for one in shown] == [True, True]
    assert [": 50 percent" in one.stdout for one in shown] == [False, True]


async def test_an_old_card_is_shown_as_it_is_at_once() -> None:
    host = suffering()
    await ask(host, "arcconf", "setcache 1 logicaldrive 0 roff noprompt", mutates=True)
    assert host.rack.late == {}


async def test_a_change_that_is_shown_late_is_believed_in_the_end() -> None:
    backend = SmartArray(suffering())
    change = await backend.plan(card_target("/arc2"), "cache_ratio", "50/50")
    await backend.apply(change)
    assert (await backend.read(card_target("/arc2")))["cache_ratio"].now == "50/50"


async def test_a_line_without_its_end_still_names_the_disk() -> None:
    host = suffering()
    text = (await ask(host, "ssacli", DETAIL)).stdout
    assert "Disk Name: /dev/sda      Mount Points: " in text
    (system, *_) = [one for one in (await SmartArray(host).inventory()).arrays if one.name == "system"]
    assert system.device == "/dev/sda"


async def test_a_card_that_is_newer_than_its_tool_is_told_as_such() -> None:
    found = await SmartArray(suffering("old-tool")).inventory()
    known = {str(one.target) for one in found.arrays}
    assert "smartarray:/aac1/ld0" in known
    assert "smartarray:/arc2/ld0" not in known


async def test_a_card_whose_cache_has_a_problem_takes_no_changes_and_says_why() -> None:
    backend = SmartArray(suffering("cache-problem"))
    with pytest.raises(BlockedError, match="The cache on this controller has a problem"):
        await backend.plan(volume_target("/slot0", 1), "acceleration", "none")


async def test_a_rack_is_well_again_when_told() -> None:
    host = suffering("battery-failed", "cache-problem", "slow")
    apply_states(host.rack, ("sound",))
    assert host.rack.states == []
    assert {card.battery for cards in host.rack.smart.values() for card in cards} == {"OK"}
    assert (await SmartArray(host).read(card_target("/slot0")))["cache_ratio"].availability.available


async def test_without_batteries_no_write_is_cached_anywhere() -> None:
    rack = suffering("battery-failed").rack
    layouts = [rack.layout(name) for name in ("sda", "sdc", "sdd", "sde", "dm-0", "dm-1")]
    assert [one.write_back for one in layouts if one is not None] == [False] * 6


async def test_the_first_racks_own_failed_battery_stays_failed_when_the_others_are_well_again() -> None:
    rack = still_rack()
    apply_states(rack, ("battery-failed",))
    assert {card.battery.state for card in rack.cards if card.battery} == {"failed"}
    apply_states(rack, ("sound",))
    assert [card.battery.state for card in rack.cards if card.battery] == ["optimal", "optimal", "failed", "optimal"]


async def write(host: SimulatedHost, path: str, text: str) -> str | None:
    await host.write(path, text)
    return await host.read(path)


async def test_a_drives_cache_is_switched_through_the_kernel_and_measured_so() -> None:
    host = suffering()
    path = "/sys/class/scsi_disk/8:0:0:0/cache_type"
    assert await write(host, path, "write through") == "write through"
    assert await host.read("/sys/block/sdf/queue/write_cache") == "write through"
    own = host.rack.layout("sdf")
    assert own is not None
    assert own.drive_cache == "off"


async def test_a_belief_of_the_kernel_switches_nothing() -> None:
    host = suffering()
    path = "/sys/class/scsi_disk/8:0:0:0/cache_type"
    assert await write(host, path, "temporary write through") == "write back"
    assert await host.read("/sys/block/sdf/queue/write_cache") == "write through"


async def test_a_raid_0_is_a_raid_4_while_it_is_reshaped() -> None:
    moments = [NOW]
    host = SimulatedHost(hpe_rack(lambda: moments[-1]), speed=FAST)
    assert await host.read("/sys/block/md0/md/sync_action") is None
    await host.run(Command(argv=(PATHS["mdadm"], "--grow", "--chunk=128K", "/dev/md0"), mutates=True))
    during = await host.read("/proc/mdstat") or ""
    assert "active raid4" in during
    assert "[5/4] [UUUU_]" in during
    assert await host.read("/sys/block/md0/md/level") == "raid4"
    moments.append(NOW + 1e6)
    after = await host.read("/proc/mdstat") or ""
    assert "active raid0" in after
    assert "128k chunks" in after


async def test_what_is_written_to_a_logical_drive_takes_the_filesystem_with_it() -> None:
    rack = hpe_rack()
    assert [name for name, _ in rack.contents()] == ["sda"]
    rack.overwrite("sdb")
    assert [name for name, _ in rack.contents()] == ["sda"]
    rack.overwrite("sda")
    assert list(rack.contents()) == []


async def test_a_detached_iodrive_has_no_disk() -> None:
    host = suffering()
    assert await host.stat("/dev/fioa") is not None
    await ask(host, "fio-detach", "/dev/fct0", mutates=True)
    assert await host.stat("/dev/fioa") is None


async def told(host: SimulatedHost, statement: str) -> str:
    """What SMcli says to a statement."""
    words = ("-n", "DS4700_A", "-c", statement)
    return (await host.run(Command(argv=(PATHS["SMcli"], *words), mutates=True))).stdout


async def test_segments_of_another_size_take_their_time_and_cannot_be_changed_meanwhile() -> None:
    moments = [NOW]
    host = SimulatedHost(hpe_rack(lambda: moments[-1]), speed=FAST)
    again = 'set logicalDrive ["data"] segmentSize={};'
    assert "completed successfully" in await told(host, again.format(128))
    assert "operation on the logical drive data is in progress" in await told(host, again.format(256))
    assert "completed successfully" in await told(host, 'set logicalDrive ["fast"] segmentSize=128;')
    moments.append(NOW + 86_400)
    assert "completed successfully" in await told(host, again.format(256))


async def test_a_statement_for_more_logical_drives_than_are_safe_is_refused() -> None:
    host = suffering()
    names = " ".join(['"fast"', '"data"'] * 16)
    assert "completed successfully" in await told(host, f"set logicalDrives [{names}] readCacheEnabled=FALSE;")
    assert [one.read_cache for one in host.rack.systems[0].volumes] == [False, False]
    assert "32 logical drives at most" in await told(host, f'set logicalDrives [{names} "fast"] readCacheEnabled=TRUE;')
    assert [one.read_cache for one in host.rack.systems[0].volumes] == [False, False]


async def test_a_locked_disk_system_is_busy() -> None:
    said = await told(suffering("locked"), 'set logicalDrive ["fast"] readCacheEnabled=FALSE;')
    assert "another process changes the storage subsystem" in said


@pytest.mark.parametrize(
    ("rack", "name", "reads", "writes"),
    [
        (hpe_rack, "dm-0", {"sdj": 0.5, "sdk": 0.5}, {"sdj": 0.5, "sdk": 0.5}),
        (hpe_rack, "md0", dict.fromkeys(("sdf", "sdg", "sdh", "sdi"), 0.25), {}),
        (linux_rack, "md1", dict.fromkeys(("sdc", "sdd", "sde", "sdf"), 0.25), dict.fromkeys(("sdc", "sdf"), 0.5)),
    ],
)
def test_what_lies_below_a_disk_does_its_work(
    rack: Callable[[], Rack], name: str, reads: dict[str, float], writes: dict[str, float]
) -> None:
    made = rack()
    layout = made.layout(name)
    assert layout is not None
    work = IoPattern(depth=8, read_share=0.5)
    disks = {one.name: one for one in shares(name, made.members, layout, work, predict(layout, work))}
    assert {one: disks[one].reads for one in disks if one != name} == reads
    assert {one: disks[one].writes for one in writes} == writes


async def test_the_third_racks_system_lies_on_its_first_nvme_drive() -> None:
    host = SimulatedHost(linux_rack(), speed=FAST)
    picture = await scan_topology(host)
    assert [use.kind for use in picture.uses("nvme0n1")] != []
    assert await host.stat("/dev/nvme0n1p2") is not None
    host.rack.overwrite("nvme0n1")
    assert "nvme0n1" not in dict(host.rack.contents())


async def test_the_bus_names_a_card_by_its_board_whoever_made_the_chip() -> None:
    found = await HbaBackend(suffering()).inventory()
    models = {one.pci: one.model for one in found.controllers}
    assert models["0000:5c:00.0"] == "HPE P408i-a SR Gen10"
    assert models["0000:37:00.0"] == "Adaptec / Microchip SmartRAID 3204-8i"
    assert models["0000:12:00.0"] == "Adaptec / Microchip 5805"
    assert models["0000:af:00.0"] == "QLogic QLE2562"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("Transforming, 3% complete", "while the array is transforming"),
        ("Recovering, 12% complete", "while the array is recovering"),
        ("Initializing", "while the logical drive is initializing"),
        ("Interim Recovery Mode", "in the present status of the logical drive"),
    ],
)
@pytest.mark.parametrize("line", ["ld 1 modify caching=disable forced", "ld 1 modify ss=64"])
async def test_a_logical_drive_at_work_takes_no_changes(state: str, sentence: str, line: str) -> None:
    host = suffering()
    (card,) = host.rack.smart["ssacli"]
    volumes = tuple(replace(one, state=state if one.number == 1 else one.state) for one in card.volumes)
    host.rack.smart["ssacli"] = (replace(card, volumes=volumes),)
    said = await ask(host, "ssacli", f"ctrl slot=0 {line}", mutates=True)
    assert (said.returncode, sentence in said.stdout) == (1, True)
    other = await ask(host, "ssacli", "ctrl slot=0 ld 3 modify caching=disable forced", mutates=True)
    assert other.returncode == 0


async def test_a_card_that_nobody_caches_on_has_no_use_for_its_battery() -> None:
    host = suffering()
    (card,) = host.rack.smart["ssacli"]
    host.rack.smart["ssacli"] = (replace(card, volumes=card.volumes[1:2]),)
    said = await ask(host, "ssacli", "ctrl slot=0 modify nobatterywritecache=enable forced", mutates=True)
    assert (said.returncode, "every logical drive bypasses the cache" in said.stdout) == (1, True)
    reading = (await SmartArray(host).read(card_target("/slot0")))["no_battery_write_cache"]
    assert "every logical drive bypasses the cache" in (reading.availability.why_not or "")
