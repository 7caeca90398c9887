"""What the backend finds on cards of each kind, refuses, sends, and believes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from backends.change import Change
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
from backends.model import Inventory, State, Target
from backends.protocol import BEING_READ
from backends.settings import Effect, Risk
from backends.simulator.smartarray.cards import DEFAULTS, SmartCard
from backends.simulator.smartarray.ssacli import answer
from backends.simulator.tool_output import SimulatedOutput
from backends.vendors.smartarray import tools
from backends.vendors.smartarray.addresses import card_target, drive_target, volume_target
from backends.vendors.smartarray.backend import MOVING, SmartArray
from backends.vendors.smartarray.facts import Family
from backends.vendors.smartarray.ssacli.tool import Ssacli
from tests.backends.smartarray.cards import HPE, SERIES, SIZE, SMARTRAID, SSACLI, PlayedCards
from tests.backends.taking_back import take_back

CARD = card_target("/slot0")
LD = volume_target("/slot0", 1)
LOW = "Failed (Replace Batteries)"


async def found_on(host: PlayedCards) -> Inventory:
    return await SmartArray(host).inventory()


async def made(host: PlayedCards, key: str, value: str, target: Target = LD) -> Change:
    """Plan and apply."""
    backend = SmartArray(host)
    change = await backend.plan(target, key, value)
    await backend.apply(change)
    return change


def two_on_one_array(first: str, second: str) -> SmartCard:
    one = HPE.volumes[0]
    mate = replace(one, number=2, acceleration=second, wwn="600508b1001c00000000000000000002", device=None)
    return replace(HPE, volumes=(replace(one, acceleration=first), mate))


async def test_a_logical_drive_is_the_disk_of_its_world_wide_name() -> None:
    found = await found_on(PlayedCards((HPE,)))
    (array,) = found.arrays
    assert (array.device, array.size_bytes, array.state) == ("/dev/sdb", SIZE, State.OPTIMAL)
    assert array.members == (drive_target("/slot0", "2I:1:1"), drive_target("/slot0", "2I:1:2"))


async def test_a_name_alone_is_believed_only_with_the_size() -> None:
    other = replace(HPE.volumes[0], wwn="", size_gib=100.0)
    (array,) = (await found_on(PlayedCards((replace(HPE, volumes=(other,)),)))).arrays
    assert array.device is None
    assert ("Device reported by the tool", "/dev/sdb") in {(fact.label, fact.value) for fact in array.facts}


async def test_a_world_wide_name_that_is_another_contradicts_the_name() -> None:
    other = replace(HPE.volumes[0], wwn="600508b1001c000000000000000000ff")
    (array,) = (await found_on(PlayedCards((replace(HPE, volumes=(other,)),)))).arrays
    assert array.device is None


async def test_a_logical_device_of_series_5_is_found_by_its_scsi_address() -> None:
    host = PlayedCards(adaptec=(SERIES,))
    host.links["/sys/bus/pci/drivers/aacraid/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    path = "/sys/devices/pci0000:00/0000:05:00.0/host3/target3:0:0/3:0:0:0/block/sdb"
    host.links["/sys/block/sdb"] = path
    (array,) = (await found_on(host)).arrays
    assert array.device == "/dev/sdb"


async def test_members_are_in_use_by_the_card() -> None:
    found = await found_on(PlayedCards((HPE,)))
    owners = {drive.target.address: drive.array for drive in found.drives}
    assert owners == {"/slot0/2I:1:1": LD, "/slot0/2I:1:2": LD, "/slot0/2I:1:3": None}


async def test_both_tools_cards_are_found_at_once() -> None:
    found = await found_on(PlayedCards((HPE,), (SMARTRAID,)))
    assert {one.target.address: one.pci for one in found.controllers} == {
        "/slot0": "0000:5c:00.0",
        "/arc1": "0000:60:00.0",
    }


async def test_a_card_that_both_tools_see_is_there_once() -> None:
    found = await found_on(PlayedCards((HPE,), (replace(SMARTRAID, pci=HPE.pci),)))
    assert [one.target.address for one in found.controllers] == ["/arc1"]


@pytest.mark.parametrize(
    ("vendor", "asked"), [("0x9005", ["arcconf"]), ("0x1590", ["ssacli"]), ("0x1137", ["arcconf", "ssacli"])]
)
async def test_the_maker_of_the_card_decides_which_tool_is_asked(vendor: str, asked: list[str]) -> None:
    address = "0000:5c:00.0"
    files = {f"/sys/bus/pci/devices/{address}/subsystem_vendor": vendor}
    host = PlayedCards((HPE,), (SMARTRAID,), **files)
    host.links[f"/sys/bus/pci/drivers/smartpqi/{address}"] = "/sys/devices/pci0000:00/0000:5c:00.0"
    tried = [await tools.probe_program(host, program, {}) for program in tools.PROGRAMS]
    assert [one.kind.name for some in tried for one in some] == asked


async def test_a_card_that_no_tool_sees_is_told_with_what_to_install() -> None:
    host = PlayedCards()
    host.links["/sys/bus/pci/drivers/hpsa/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    (problem,) = await SmartArray(host).diagnose()
    assert (
        problem.message
        == "The kernel has a Smart Array or Adaptec controller, but no tool finds it: none is installed."
    )
    assert problem.hint == "Install ssacli."


async def test_another_ssacli_at_work_is_told_in_its_words() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0"] = SimulatedOutput(text="Error: Another instance of ACU is already running.\n\n", code=1)
    (problem,) = (await found_on(host)).problems
    assert "Another instance of ACU is already running" in problem.message
    assert problem.hint == "Try again when the other program has ended."


async def test_write_back_without_its_battery_is_write_through_and_says_why() -> None:
    host = PlayedCards((replace(HPE, battery=LOW),))
    reading = (await SmartArray(host).read(LD))["write_cache"]
    assert (reading.now, reading.effective) == ("write-back", "write-through")
    assert reading.why_effective == "the cache is temporarily disabled: Cache disabled; low batteries"
    (array,) = (await found_on(host)).arrays
    words = f"write-back, in force: write-through ({reading.why_effective})"
    assert ("Write cache", words) in {(fact.label, fact.value) for fact in array.facts}


async def test_a_ratio_without_writes_caches_none() -> None:
    host = PlayedCards((replace(HPE, values={**DEFAULTS, "cacheratio": "100/0"}),))
    assert (await SmartArray(host).read(LD))["write_cache"].now == "write-through"


async def test_without_a_battery_and_with_leave_to_do_without_it_is_always_write_back() -> None:
    host = PlayedCards((replace(HPE, battery="", values={**DEFAULTS, "nobatterywritecache": "enable"}),))
    reading = (await SmartArray(host).read(LD))["write_cache"]
    assert (reading.now, reading.effective) == ("always-write-back", None)
    (array,) = (await found_on(host)).arrays
    assert any(fact.label == "Unprotected" for fact in array.facts)


async def test_a_dead_battery_blocks_the_ratio_with_the_firmwares_reason() -> None:
    host = PlayedCards((replace(HPE, battery=LOW, values={**DEFAULTS, "nobatterywritecache": "disable"}),))
    with pytest.raises(BlockedError, match="while the cache is unprotected: the battery is failed"):
        await SmartArray(host).plan(CARD, "cache_ratio", "25/75")


async def test_a_card_with_a_cache_problem_takes_nothing_and_says_why() -> None:
    host = PlayedCards((replace(HPE, cache_problem=True),))
    backend = SmartArray(host)
    for target in (CARD, LD):
        for reading in (await backend.read(target)).values():
            assert not reading.availability.available
    assert "configuration changes to this controller are not" in str(
        (await backend.read(CARD))["elevator_sort"].availability.why_not
    )


async def test_smart_path_off_comes_before_the_cache_on() -> None:
    volume = replace(HPE.volumes[0], acceleration="path")
    host = PlayedCards((replace(HPE, volumes=(volume,)),))
    await made(host, "acceleration", "controller-cache")
    assert host.sets == [
        "ctrl slot=0 array A modify ssdsmartpath=disable forced",
        "ctrl slot=0 ld 1 modify caching=enable forced",
    ]


async def test_smart_path_takes_all_logical_drives_of_the_array_along_and_back() -> None:
    host = PlayedCards((two_on_one_array("cache", "cache"),))
    change = await made(host, "acceleration", "smart-path")
    assert change.risk_text == "Smart Path applies to the whole array. Logical drives 1, 2 change together."
    assert [one.acceleration for one in host.hpe[0].volumes] == ["path", "path"]
    await take_back(SmartArray(host), change)
    assert [one.acceleration for one in host.hpe[0].volumes] == ["cache", "cache"]


@pytest.mark.parametrize(
    ("served", "value", "there", "back"),
    [
        (
            ("cache", "cache"),
            "smart-path",
            ["ld 1 modify caching=disable", "ld 2 modify caching=disable", "array A modify ssdsmartpath=enable"],
            ["array A modify ssdsmartpath=disable", "ld 1 modify caching=enable", "ld 2 modify caching=enable"],
        ),
        (
            ("cache", "none"),
            "smart-path",
            ["ld 1 modify caching=disable", "array A modify ssdsmartpath=enable"],
            ["array A modify ssdsmartpath=disable", "ld 1 modify caching=enable"],
        ),
        (
            ("path", "path"),
            "controller-cache",
            ["array A modify ssdsmartpath=disable", "ld 1 modify caching=enable"],
            ["ld 1 modify caching=disable", "array A modify ssdsmartpath=enable"],
        ),
        (
            ("path", "path"),
            "none",
            ["array A modify ssdsmartpath=disable"],
            ["array A modify ssdsmartpath=enable"],
        ),
        (("cache", "cache"), "none", ["ld 1 modify caching=disable"], ["ld 1 modify caching=enable"]),
    ],
)
async def test_each_logical_drive_of_an_array_is_brought_to_what_serves_it_and_back(
    served: tuple[str, str], value: str, there: list[str], back: list[str]
) -> None:
    change = await SmartArray(PlayedCards((two_on_one_array(*served),))).plan(LD, "acceleration", value)
    told = [[" ".join(step.argv[3:]).removesuffix(" forced") for step in way] for way in (change.writes, change.undo)]
    assert told == [there, back]


async def test_smart_path_is_offered_for_flash_only() -> None:
    slow = replace(HPE, bays=tuple(replace(bay, ssd=False) for bay in HPE.bays))
    choices = (await SmartArray(PlayedCards((slow,))).read(LD))["acceleration"].choices
    assert [one.value for one in choices] == ["none", "controller-cache"]


async def test_arcconf_sets_no_bypass_and_says_so() -> None:
    volume = replace(SMARTRAID.volumes[0], acceleration="path")
    host = PlayedCards(adaptec=(replace(SMARTRAID, volumes=(volume,)),))
    reading = (await SmartArray(host).read(volume_target("/arc1", 1)))["acceleration"]
    assert reading.now == "smart-path"
    assert reading.availability.why_not == "it is smart-path (SSD I/O Bypass), which cannot be restored"


async def test_an_arcconf_that_names_no_words_for_caching_is_not_told_any() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    backend = SmartArray(host)
    host.instead["setcache"] = SimulatedOutput(text=" Usage: SETCACHE ...\n")
    reading = (await backend.read(volume_target("/arc1", 1)))["acceleration"]
    assert reading.availability.why_not == "the arcconf command for it is unknown"


async def test_a_value_that_is_set_already_is_never_sent() -> None:
    host = PlayedCards((HPE,))
    await made(host, "elevator_sort", "enable", CARD)
    assert host.sets == []


async def test_a_refusal_is_told_in_the_tools_words() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0 modify elevatorsort=disable"] = SimulatedOutput(
        text="\nError: Not on a Tuesday.\n\n", code=1
    )
    with pytest.raises(ToolFailedError, match="Not on a Tuesday") as raised:
        await made(host, "elevator_sort", "disable", CARD)
    assert "exit status 1" in raised.value.evidence


async def test_a_change_that_says_nothing_and_does_nothing_has_failed() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0 modify elevatorsort=disable"] = SimulatedOutput(text="\n")
    with pytest.raises(ToolFailedError, match="did not change, although the tool reported no error"):
        await made(host, "elevator_sort", "disable", CARD)


async def test_a_lie_about_a_refusal_does_not_outweigh_what_is_read_back() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    change = await backend.plan(LD, "acceleration", "none")
    host.lies["caching="] = SimulatedOutput(text="Error: Invalid drive specified: 1\n", code=1)
    await backend.apply(change)
    assert [one.acceleration for one in host.hpe[0].volumes] == ["none"]


async def test_an_arcconf_that_shows_the_old_value_once_more_is_asked_again() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    backend = SmartArray(host)
    target = card_target("/arc1")
    change = await backend.plan(target, "wait_for_cache_room", "enable")
    host.stale = 1
    await backend.apply(change)
    assert host.stale == 0
    assert (await backend.read(target))["wait_for_cache_room"].now == "enable"


async def test_a_question_is_never_answered() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0 modify drivewritecache=enable"] = SimulatedOutput(
        text="Warning: data loss.\n Continue? (y/n) ", code=1
    )
    with pytest.raises(ToolFailedError, match="asked a question, which raidbench does not answer"):
        await made(host, "drive_write_cache", "enable", CARD)


async def test_the_policy_of_new_cards_names_its_drives_and_is_forced() -> None:
    host = PlayedCards((HPE,))
    await made(host, "drive_write_cache_hba", "enable", CARD)
    assert host.sets == ["ctrl slot=0 modify drivewritecache=enable usage=hba forced"]


async def test_another_strip_size_wants_the_typed_word_and_tells_of_the_hours() -> None:
    change = await SmartArray(PlayedCards((HPE,))).plan(LD, "strip_size", "65536")
    assert (change.risk, change.effect) == (Risk.DESTROYS_DATA, Effect.RESHAPE)
    assert "hours" in change.risk_text
    assert "cannot be stopped" in change.risk_text


async def test_a_strip_size_under_way_is_pending_and_blocks_the_next() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    change = await backend.plan(LD, "strip_size", "65536")
    host.becomes["ss=64"] = (replace(HPE, volumes=(replace(HPE.volumes[0], state="Transforming, 3% complete"),)),)
    await backend.apply(change)
    reading = (await backend.read(LD))["strip_size"]
    assert (reading.now, reading.effective) == (MOVING, "262144")
    assert reading.why_effective == "the controller is moving the data, 3 % done"
    assert reading.availability.why_not == "a migration is running"


async def test_the_card_tells_which_strip_sizes_there_are() -> None:
    host = PlayedCards((HPE,))
    choices = (await SmartArray(host).read(LD))["strip_size"].choices
    assert choices[0].value == str(16 << 10)
    assert "ctrl slot=0 ld 1 modify ss=?" in host.ran


async def test_another_card_in_the_slot_is_not_touched() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    change = await backend.plan(CARD, "elevator_sort", "disable")
    host.hpe = (replace(HPE, serial="ANOTHER"),)
    with pytest.raises(AnotherDeviceError):
        await backend.apply(change)
    assert host.sets == []


async def test_a_step_of_a_journal_runs_no_other_program() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    change = await backend.plan(CARD, "elevator_sort", "disable")
    write = replace(change.writes[0], argv=("/bin/rm", *change.writes[0].argv[1:]))
    with pytest.raises(RefusedError, match=r"the recorded step does not set elevator sort"):
        await backend.apply(replace(change, writes=(write,)))


async def test_a_logical_drive_that_is_gone_is_told() -> None:
    with pytest.raises(DeviceGoneError):
        await SmartArray(PlayedCards((HPE,))).read(volume_target("/slot0", 9))


@pytest.mark.parametrize("address", ["/slot7", "/c0", "/slot0/ld", "slot0", "/slot0/../x"])
async def test_addresses_of_nothing_are_not_found(address: str) -> None:
    with pytest.raises(NotFoundError):
        await SmartArray(PlayedCards((HPE,))).read(replace(CARD, address=address))


async def test_values_that_the_card_does_not_offer_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="cannot be '33/67'"):
        await SmartArray(PlayedCards((HPE,))).plan(CARD, "cache_ratio", "33/67")


async def test_write_modes_of_series_5_are_three() -> None:
    host = PlayedCards(adaptec=(SERIES,))
    backend = SmartArray(host)
    target = volume_target("/aac1", 0)
    change = await backend.plan(target, "write_cache", "always-write-back")
    await backend.apply(change)
    assert host.sets == ["setcache 1 logicaldrive 0 wb noprompt"]
    assert change.risk is Risk.POWER_LOSS
    assert (await backend.read(target))["write_cache"].now == "always-write-back"


async def test_series_5_without_its_module_writes_through_and_the_card_says_so() -> None:
    reading = (await SmartArray(PlayedCards(adaptec=(replace(SERIES, battery=""),))).read(volume_target("/aac1", 0)))[
        "write_cache"
    ]
    assert (reading.now, reading.effective) == ("write-back", "write-through")
    assert "ZMM not installed" in str(reading.why_effective)


async def test_the_settings_say_whether_hardware_has_confirmed_them() -> None:
    backend = SmartArray(PlayedCards(adaptec=(SERIES,)))
    told = {one.key: one.confirmed for one in backend.settings(volume_target("/aac1", 0))}
    assert told == {"write_cache": False, "read_cache": True, "strip_size": False}


async def test_what_was_read_last_is_told_without_asking_again() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    await backend.inventory()
    asked = len(host.ran)
    assert (await backend.readings(CARD))["elevator_sort"].now == "enable"
    assert len(host.ran) == asked


async def test_every_legal_value_is_asked_for_and_nothing_is_changed() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    await backend.inventory()
    asked = await backend.ask_legal_values(CARD) + await backend.ask_legal_values(LD)
    assert asked == len([line for line in host.ran if line.endswith("=?")])
    assert "ctrl slot=0 modify rebuildpriority=?" in host.ran
    assert host.sets == []


async def test_a_drive_and_a_volume_that_is_gone_have_no_legal_values_to_ask_for() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    await backend.inventory()
    asked = len(host.ran)
    for target in (drive_target("/slot0", "2I:1:1"), volume_target("/slot0", 77)):
        assert await backend.ask_legal_values(target) == 0
    assert not [line for line in host.ran[asked:] if line.endswith("=?")]


async def test_what_is_no_question_is_not_asked() -> None:
    host = PlayedCards((HPE,))
    with pytest.raises(RefusedError, match="is not a read-only command"):
        await Ssacli(host, SSACLI)._ask(("ctrl", "slot=0", "modify", "elevatorsort=disable"))
    assert host.ran == []


async def test_a_card_is_told_while_another_tools_answer_is_held_back() -> None:
    host, held, out = PlayedCards((HPE,), (SMARTRAID,)), asyncio.Event(), asyncio.Event()
    answer = host.run

    async def run(command: Command) -> Completed:
        if command.argv[0] == SSACLI and "detail" in command.argv:
            await held.wait()
        return await answer(command)

    host.run = run  # type: ignore[method-assign]
    parts: dict[str, Inventory] = {}

    def told(part: str, inventory: Inventory) -> None:
        parts[part] = inventory
        if any(inventory.arrays for inventory in parts.values()):
            out.set()

    looking = asyncio.create_task(SmartArray(host).inventory_in_parts(told))
    await asyncio.wait_for(out.wait(), 120)
    waiting, known = parts["smartarray:/slot0"], parts["smartarray:/arc1"]
    assert ([one.model for one in waiting.controllers], waiting.arrays) == ([BEING_READ], ())
    assert [array.device for array in known.arrays] == ["/dev/sdb"]
    held.set()
    assert [str(one.target) for one in (await looking).controllers] == ["smartarray:/arc1", "smartarray:/slot0"]
    assert parts["smartarray:/slot0"].arrays


async def test_a_card_that_cannot_be_read_is_not_waited_for_any_longer() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0"] = SimulatedOutput(text="Error: no.\n\n", code=1)
    parts: dict[str, Inventory] = {}
    await SmartArray(host).inventory_in_parts(parts.__setitem__)
    assert [problem.where for problem in parts["smartarray:/slot0"].problems] == ["smartarray:/slot0"]
    assert parts["smartarray:/slot0"].controllers == ()


async def test_an_old_card_beside_a_newer_one_is_found_on_the_bus_by_its_driver() -> None:
    host = PlayedCards(adaptec=(SERIES, replace(SMARTRAID, number="2")))
    host.links["/sys/bus/pci/drivers/aacraid/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    host.links["/sys/bus/pci/drivers/smartpqi/0000:60:00.0"] = "/sys/devices/pci0000:00/0000:60:00.0"
    found = await found_on(host)
    assert {str(one.target): one.pci for one in found.controllers} == {
        "smartarray:/aac1": "0000:05:00.0",
        "smartarray:/arc2": "0000:60:00.0",
    }


async def test_each_family_is_looked_for_among_the_cards_of_its_own_drivers() -> None:
    host = PlayedCards(adaptec=(SERIES, SMARTRAID))
    host.links["/sys/bus/pci/drivers/aacraid/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    host.links["/sys/bus/pci/drivers/smartpqi/0000:60:00.0"] = "/sys/devices/pci0000:00/0000:60:00.0"
    arcconf = next(one for one in tools.PROGRAMS if one.name == "arcconf")
    assert await tools.family_addresses(host, arcconf, Family.SERIES) == ("0000:05:00.0",)
    assert await tools.family_addresses(host, arcconf, Family.SMART) == ("0000:60:00.0",)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("power_mode", "balanced", "modify powermode=balanced forced"),
        ("survival_mode", "disable", "modify survivalmode=disable forced"),
        ("spare_activation", "predictive", "modify spareactivationmode=predictive forced"),
    ],
)
async def test_a_mode_of_the_card_is_set_read_back_and_taken_back(key: str, value: str, line: str) -> None:
    host = PlayedCards((HPE,))
    before = (await SmartArray(host).read(CARD))[key].now
    change = await made(host, key, value, CARD)
    assert " ".join(change.writes[0].argv).endswith(line)
    assert (await SmartArray(host).read(CARD))[key].now == value
    await SmartArray(host).apply(await SmartArray(host).back(CARD, key, before or "", {}))
    assert (await SmartArray(host).read(CARD))[key].now == before


async def test_the_power_mode_waits_for_a_reboot_and_is_no_axis_of_a_sweep() -> None:
    (setting,) = (one for one in SmartArray(PlayedCards((HPE,))).settings(CARD) if one.key == "power_mode")
    assert setting.effect is Effect.REBOOT


def latency_card(line: str) -> PlayedCards:
    """A card whose description has one more line."""
    host = PlayedCards((HPE,))
    whole = answer((HPE,), ("ctrl", "slot=0", "show", "config", "detail"))[0].text
    host.instead["ctrl slot=0 show config detail"] = SimulatedOutput(
        text=whole.replace("   Survival Mode:", f"   {line}\n   Survival Mode:")
    )
    return host


async def test_the_latency_scheduler_is_shown_and_cannot_be_set() -> None:
    reading = (await SmartArray(latency_card("Latency Scheduler Setting: Aggressive Level 1")).read(CARD))[
        "latency_scheduler"
    ]
    assert (reading.now, reading.raw) == ("aggressive1", "Aggressive Level 1")
    assert reading.availability.why_not == "the ssacli command for it is not documented"


async def test_the_mode_that_a_reboot_brings_is_told_apart_from_the_present_one() -> None:
    reading = (await SmartArray(latency_card("Pending Power Mode: Balanced")).read(CARD))["power_mode"]
    assert (reading.now, reading.effective) == ("balanced", "maxperformance")
    same = (await SmartArray(latency_card("Pending Power Mode: Not Applicable")).read(CARD))["power_mode"]
    assert (same.now, same.effective) == ("maxperformance", None)
