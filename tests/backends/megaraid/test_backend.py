"""What the backend shows, plans, refuses and does, on a played card."""

from __future__ import annotations

import asyncio

import pytest

from backends.errors import (
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.model import Array, Level, State, Target
from backends.settings import Effect, Risk
from backends.vendors.megaraid.addresses import card_target, drive_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.fakes import MOUNTS
from tests.backends.megaraid import answers
from tests.backends.megaraid.cards import TOOL, PlayedCard

C0 = card_target("/c0")
V1 = volume_target("/c0", 1)


def backend(host: PlayedCard) -> MegaRaid:
    return MegaRaid(host)


async def test_addresses_are_those_of_the_command_line() -> None:
    found = await backend(PlayedCard()).inventory()
    assert [str(one.target) for one in found.controllers] == ["megaraid:/c0"]
    assert [str(one.target) for one in found.arrays] == ["megaraid:/c0/v1"]
    assert [str(one.target) for one in found.drives] == [f"megaraid:/c0/e245/s{slot}" for slot in (1, 2, 3)]
    assert found.problems == ()


async def test_the_array_is_matched_to_its_block_device_and_its_uses() -> None:
    host = PlayedCard()
    host.files["/proc/self/mountinfo"] = MOUNTS + "\n40 25 8:16 / /srv rw - ext4 /dev/sdb rw"
    (array,) = (await backend(host).inventory()).arrays
    assert (array.device, array.level, array.strip_bytes, array.data_drives) == ("/dev/sdb", Level.RAID5, 65536, 2)
    assert array.identity is not None
    assert array.identity.wwn == f"naa.{answers.NAA}"
    assert [use.kind for use in array.uses] == ["mount"]
    assert array.members == tuple(drive_target("/c0", f"245:{slot}") for slot in (1, 2, 3))


async def test_the_size_is_the_kernels_where_it_has_the_array() -> None:
    host = PlayedCard()
    host.files["/sys/block/sdb/size"] = "935591937"
    (array,) = (await backend(host).inventory()).arrays
    assert array.size_bytes == 935591937 * 512


async def test_the_card_says_what_it_has() -> None:
    (card,) = (await backend(PlayedCard()).inventory()).controllers
    assert card.protection is not None
    assert (card.protection.kind, card.protection.state, card.cache_bytes) == ("bbu", "optimal", 512 << 20)
    assert [(one.name, one.state) for one in card.features] == [("MegaRAID RAID5", "active")]
    facts = {fact.label: fact.value for fact in card.facts}
    assert facts["RAID-on-chip"] == "61 °C"
    assert facts["Strip sizes"] == "8 KiB to 1 MiB"
    assert facts["Tool"].startswith(TOOL)


async def test_work_under_way_is_a_task() -> None:
    host = PlayedCard(work="Background Initialization (7%)")
    found = await backend(host).inventory()
    assert [(task.kind, task.progress) for task in found.arrays[0].tasks] == [("background-initialisation", 0.07)]


async def test_write_back_with_a_dead_battery_is_write_through_in_force() -> None:
    host = PlayedCard(wrcache="wb")
    host.card["battery"] = "Failed"
    now = (await backend(host).read(V1))["write_cache"]
    assert (now.now, now.effective) == ("write-back", "write-through")
    assert "battery is failed" in (now.why_effective or "")


async def test_a_battery_that_cannot_be_judged_leaves_it_unknown() -> None:
    host = PlayedCard(wrcache="wb")
    host.card["battery"] = "Strange"
    assert (await backend(host).read(V1))["write_cache"].effective == "unknown"


async def test_always_write_back_is_in_force_whatever_the_battery() -> None:
    host = PlayedCard(wrcache="awb")
    host.card["battery"] = "Failed"
    now = (await backend(host).read(V1))["write_cache"]
    assert (now.now, now.effective) == ("always-write-back", None)


async def test_cached_io_caches_writes_too() -> None:
    now = (await backend(PlayedCard(iopolicy="cached")).read(V1))["write_cache"]
    assert (now.now, now.effective) == ("write-through", "write-back")


@pytest.mark.parametrize(
    ("battery", "key", "value", "risk"),
    [
        ("Optimal", "write_cache", "write-back", Risk.NONE),
        ("Failed", "write_cache", "write-back", Risk.POWER_LOSS),
        ("Optimal", "write_cache", "always-write-back", Risk.POWER_LOSS),
        ("Failed", "io_policy", "cached", Risk.POWER_LOSS),
        ("Optimal", "io_policy", "cached", Risk.NONE),
        ("Optimal", "drive_cache", "on", Risk.POWER_LOSS),
        ("Optimal", "read_ahead", "read-ahead", Risk.NONE),
        ("Optimal", "access_policy", "blocked", Risk.OUTAGE),
    ],
)
async def test_risks(battery: str, key: str, value: str, risk: Risk) -> None:
    host = PlayedCard()
    host.card["battery"] = battery
    change = await backend(host).plan(V1, key, value)
    assert change.risk is risk
    assert bool(change.risk_text) is (risk is not Risk.NONE)


async def test_the_reason_of_a_risk_is_the_state_of_the_battery() -> None:
    host = PlayedCard()
    host.card["battery"] = "Failed"
    assert "battery is failed" in (await backend(host).plan(V1, "write_cache", "write-back")).risk_text


async def test_a_plan_is_the_very_line() -> None:
    change = await backend(PlayedCard()).plan(V1, "read_ahead", "read-ahead")
    assert [step.shown() for step in change.writes] == [f"{TOOL} /c0/v1 set rdcache=ra J nolog"]
    assert [step.shown() for step in change.undo] == [f"{TOOL} /c0/v1 set rdcache=nora J nolog"]
    assert (change.lock.splitlines()[0], change.effect) == ("megaraid-c0", Effect.AT_ONCE)


async def test_a_failed_row_is_told_in_the_tools_words_in_spite_of_exit_0() -> None:
    host = PlayedCard()
    host.refusals["/c0/v1 set pdcache"] = lambda: answers.failure("SSD Pd is present")
    change = await backend(host).plan(V1, "drive_cache", "on")
    with pytest.raises(ToolFailedError, match="SSD Pd is present"):
        await backend(host).apply(change)


async def test_success_that_changed_nothing_is_seen_when_read_back() -> None:
    host = PlayedCard()
    host.refusals["/c0/v1 set"] = lambda: answers.answer(rows=[{"VD": 1, "Status": "Success", "ErrCd": 0}])
    here = backend(host)
    await here.apply(await here.plan(V1, "read_ahead", "read-ahead"))
    assert (await here.read(V1))["read_ahead"].now == "none"


async def test_the_fastpath_preset_is_three_steps_and_comes_back_in_reverse() -> None:
    change = await backend(PlayedCard(wrcache="wb", rdcache="ra", iopolicy="cached")).plan(V1, "fastpath", "preset")
    assert [step.argv[3] for step in change.writes] == ["wrcache=wt", "rdcache=nora", "iopolicy=direct"]
    assert [step.argv[3] for step in change.undo] == ["iopolicy=cached", "rdcache=ra", "wrcache=wb"]
    assert change.before == "write-back + read-ahead + cached"


async def test_the_fastpath_preset_sets_only_what_is_not_so_yet() -> None:
    change = await backend(PlayedCard(rdcache="ra")).plan(V1, "fastpath", "preset")
    assert [step.argv[3] for step in change.writes] == ["rdcache=nora"]


@pytest.mark.parametrize(
    ("options", "changes", "effective", "why"),
    [
        ({"MegaRAID RAID5": "Unlimited"}, {}, "not in force", "key is missing"),
        ({"MegaRAID FastPath": "Unlimited"}, {}, "in force", "all conditions"),
        ({"MegaRAID FastPath": "Unlimited"}, {"rdcache": "ra"}, "not in force", "read-ahead is on"),
        ({"MegaRAID FastPath": "Unlimited"}, {"state": "Dgrd"}, "not in force", "the drive is degraded (Dgrd)"),
        ({"MegaRAID FastPath": "Unlimited"}, {"iopolicy": "cached"}, "not in force", "I/O is cached"),
    ],
)
async def test_fastpath_says_whether_and_why(
    options: dict[str, str], changes: dict[str, str], effective: str, why: str
) -> None:
    host = PlayedCard(**changes)
    host.options = options
    now = (await backend(host).read(V1))["fastpath"]
    assert now.effective == effective
    assert why in (now.why_effective or "")


async def test_the_preset_can_be_set_before_the_key_is_there() -> None:
    host = PlayedCard(rdcache="ra")
    host.more = {"support": {"Support FastPath": "No"}}
    now = (await backend(host).read(V1))["fastpath"]
    assert now.availability.available
    assert "key is missing" in (now.why_effective or "")


async def test_a_card_that_has_the_key_and_no_support_says_so() -> None:
    host = PlayedCard()
    host.options = {"MegaRAID FastPath": "Unlimited"}
    host.more = {"support": {"Support FastPath": "No"}}
    assert "does not support it" in ((await backend(host).read(V1))["fastpath"].why_effective or "")


async def test_what_the_card_does_not_support_is_dimmed() -> None:
    host = PlayedCard()
    host.more = {"support": {"IO Policy": "No"}}
    with pytest.raises(BlockedError, match="does not support"):
        await backend(host).plan(V1, "io_policy", "cached")


async def test_drive_caches_of_ssds_where_the_card_leaves_them_alone() -> None:
    host = PlayedCard()
    host.more = {"Supported Adapter Operations": {"Block SSD Write Disk Cache Change": "Yes"}}
    assert "caches of SSDs" in ((await backend(host).read(V1))["drive_cache"].availability.why_not or "")


@pytest.mark.parametrize("key", ["write_cache", "strip_size", "fastpath"])
async def test_without_root_everything_is_shown_and_nothing_planned(key: str) -> None:
    host = PlayedCard()
    host.root = False
    with pytest.raises(BlockedError, match="needs root"):
        await backend(host).plan(V1, key, "preset")


async def test_the_strip_is_a_deletion_and_a_creation_with_everything_as_it_was() -> None:
    change = await backend(PlayedCard(pdcache="off", rdcache="ra")).plan(V1, "strip_size", "262144")
    assert (change.risk, change.effect) == (Risk.DESTROYS_DATA, Effect.RECREATED)
    assert [" ".join(step.argv[1:-2]) for step in change.writes] == [
        "/c0/v1 del force",
        "/c0 add vd r5 name=data drives=245:1-3 pdcache=off wt ra direct strip=256",
    ]
    assert change.undo[1].argv[-3] == "strip=64"


async def test_the_strip_of_a_mounted_array_is_refused() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(V1, "strip_size", "262144")
    host.files["/proc/self/mountinfo"] = MOUNTS + "\n40 25 8:16 / /srv rw - ext4 /dev/sdb rw"
    with pytest.raises(RefusedError, match="mounted on /srv"):
        await here.plan(V1, "strip_size", "262144")
    with pytest.raises(RefusedError, match="mounted on /srv"):
        await here.apply(change)
    assert host.sets == []


async def test_the_strip_of_an_array_without_a_known_device_is_refused() -> None:
    host = PlayedCard()
    for path in [path for path in host.files if path.startswith("/sys/block/sdb")]:
        del host.files[path]
    assert "is unknown" in ((await backend(host).read(V1))["strip_size"].availability.why_not or "")


@pytest.mark.parametrize(
    ("changes", "more", "why"),
    [
        ({"state": "Dgrd"}, {}, "it is degraded (Dgrd)"),
        ({"work": "Consistency Check (3%)"}, {}, "consistency-check is running"),
        ({"accesspolicy": "ro"}, {}, "access policy is read-only (RO)"),
        ({"name": "two words"}, {}, "name 'two words'"),
        ({}, {"TOPOLOGY": answers.topology("245:1", "245:2", "245:3", free="Y")}, "does not use its drives completely"),
        ({}, {"Capabilities": {}}, "does not report which strip sizes"),
        (
            {},
            {
                "PD LIST": [
                    answers.drive_row("245:9", state="DHS"),
                    *map(answers.drive_row, ("245:1", "245:2", "245:3")),
                ]
            },
            "dedicated hot spare, 245:9",
        ),
    ],
)
async def test_what_cannot_be_made_again_exactly_is_refused(
    changes: dict[str, str], more: dict[str, object], why: str
) -> None:
    host = PlayedCard(**changes)
    host.more = more
    assert why in ((await backend(host).read(V1))["strip_size"].availability.why_not or "")


async def test_a_creation_that_fails_says_that_the_array_is_gone_and_how_to_make_it() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(V1, "strip_size", "262144")
    host.refusals["/c0 add vd"] = lambda: answers.failure("The current operation is not allowed", 84)
    with pytest.raises(ToolFailedError, match="deleted, but cannot be re-created") as caught:
        await here.apply(change)
    assert "add vd r5" in caught.value.hint


async def test_an_array_that_comes_back_under_another_number_is_told() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(V1, "strip_size", "262144")
    other = [answers.volume_row(239)]

    def renumber() -> str:
        host.more = {"VD LIST": other}
        host.refusals["/c0/vall show all"] = lambda: answers.answer(
            {"/c0/v239": other, "PDs for VD 239": [answers.drive_row(f"245:{slot}") for slot in (1, 2, 3)]}
        )
        return answers.answer(description="Add VD Succeeded.")

    host.refusals["/c0 add vd"] = renumber
    with pytest.raises(ToolFailedError, match="number 239, not 1"):
        await here.apply(change)


async def test_another_array_in_its_place_is_never_touched() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(V1, "read_ahead", "read-ahead")
    host.files["/sys/block/sdb/diskseq"] = "10"
    with pytest.raises(DeviceGoneError):
        await here.apply(change)
    assert host.sets == []


async def test_an_array_that_is_gone_is_gone() -> None:
    host = PlayedCard()
    here = backend(host)
    await here.inventory()
    host.there = False
    with pytest.raises(DeviceGoneError):
        await here.read(V1)


async def test_a_step_that_names_another_program_is_refused() -> None:
    from dataclasses import replace

    from backends.change import ChangeStep

    host = PlayedCard()
    change = await backend(host).plan(V1, "read_ahead", "read-ahead")
    with pytest.raises(RefusedError, match=r"the recorded step does not set read-ahead"):
        await backend(host).apply(replace(change, writes=(ChangeStep(argv=("/bin/sh", "-c", "true")),)))


async def test_a_change_for_later_reads_as_pending_until_it_is_there() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(C0, "perf_mode", "1")
    host.refusals["/c0 set perfmode"] = lambda: answers.failure("-", 116)
    await here.apply(change)
    waiting = (await here.read(C0))["perf_mode"]
    host.card["perfmode"] = "1"
    there = (await here.read(C0))["perf_mode"]
    assert (waiting.now, waiting.effective) == ("pending reboot", "0")
    assert "after a reboot" in (waiting.why_effective or "")
    assert (there.now, there.effective) == ("1", None)


async def test_an_activation_key_is_nowhere_but_in_the_line_that_runs() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(C0, "activation_key", "SECRET-KEY-1234")
    assert "SECRET" not in repr(change)
    assert "MegaRAID FastPath" in change.risk_text
    assert ("/c0", "set", "aso", "key=SECRET-KEY-1234", "preview") in host.ran
    host.refusals["/c0 set aso"] = lambda: answers.failure("-", 89)
    await here.apply(change)
    assert ("/c0", "set", "aso", "key=SECRET-KEY-1234") in host.ran
    assert (await here.read(C0))["activation_key"].now == "pending controller reset"


async def test_an_activation_key_that_works_at_once_is_verified_by_the_options() -> None:
    host = PlayedCard()
    here = backend(host)
    change = await here.plan(C0, "activation_key", "SECRET-KEY-1234")

    def activate() -> str:
        host.options = {"MegaRAID RAID5": "Unlimited", "MegaRAID FastPath": "Unlimited"}
        return answers.answer(description="Activation successful")

    host.refusals["/c0 set aso"] = activate
    await here.apply(change)
    assert (await here.read(C0))["activation_key"].now == change.after


async def test_a_key_that_activates_nothing_is_a_failure() -> None:
    here = backend(PlayedCard())
    with pytest.raises(ToolFailedError, match="no additional option is active"):
        await here.apply(await here.plan(C0, "activation_key", "SECRET-KEY-1234"))


async def test_a_key_that_the_tool_refuses_is_not_repeated() -> None:
    host = PlayedCard()
    host.refusals["/c0 set aso"] = lambda: answers.failure("Key SECRET-KEY-1234 is invalid")
    with pytest.raises(ToolFailedError) as caught:
        await backend(host).plan(C0, "activation_key", "SECRET-KEY-1234")
    assert "SECRET" not in caught.value.evidence


async def test_a_key_of_another_process_is_asked_for_again() -> None:
    first, second = backend(PlayedCard()), backend(PlayedCard())
    change = await first.plan(C0, "activation_key", "SECRET-KEY-1234")
    with pytest.raises(RefusedError, match="does not store it"):
        await second.apply(change)


@pytest.mark.parametrize("key", ["", "short", "two words here", "semi;colon;semi", "key number 1"])
async def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidValueError):
        await backend(PlayedCard()).plan(C0, "activation_key", key)


async def test_rates_have_a_range() -> None:
    with pytest.raises(InvalidValueError, match="101"):
        await backend(PlayedCard()).plan(C0, "rebuild_rate", "101")


@pytest.mark.parametrize("address", ["/c7", "/c0/v9/x", "c0", "/c0/../c1", ""])
async def test_what_is_nothing_of_ours_is_not_found(address: str) -> None:
    with pytest.raises(NotFoundError):
        await backend(PlayedCard()).read(Target(backend="megaraid", address=address))


async def test_drives_have_no_settings_of_their_own() -> None:
    here = backend(PlayedCard())
    assert here.settings(drive_target("/c0", "245:1")) == ()
    assert await here.read(drive_target("/c0", "245:1")) == {}


async def test_a_value_that_is_not_reported_cannot_be_changed() -> None:
    host = PlayedCard()
    host.refusals["/c0/v1 show autobgi"] = host.refusals["/c0/vall show autobgi"] = lambda: answers.failure("no")
    now = (await backend(host).read(V1))["auto_bgi"]
    assert now.now is None
    assert "does not report it" in (now.availability.why_not or "")


async def test_reading_a_virtual_drive_again_asks_for_that_drive_only() -> None:
    host = PlayedCard()
    here = backend(host)
    await here.inventory()
    host.ran.clear()
    await here.read(V1)
    assert [" ".join(words) for words in host.ran] == [
        "/c0/v1 show all",
        "/c0/v1 show autobgi",
        "/c0/bbu show all",
    ]


async def test_after_a_change_that_moves_nothing_else_the_background_initialisation_stays_known() -> None:
    host = PlayedCard(autobgi="off")
    here = backend(host)
    await here.inventory()
    host.ran.clear()
    now = await here.read_for(V1, "read_ahead")
    assert now["auto_bgi"].now == "off"
    assert "/c0/v1 show autobgi" not in [" ".join(words) for words in host.ran]


async def test_a_card_is_asked_one_thing_at_a_time() -> None:
    host = PlayedCard()
    here = backend(host)
    busy = 0

    async def run(command: object, play: object = host.run) -> object:
        nonlocal busy
        busy += 1
        assert busy == 1
        await asyncio.sleep(0.001)
        busy -= 1
        return await play(command)  # type: ignore[operator]

    host.run = run  # type: ignore[assignment,method-assign]
    await asyncio.gather(here.inventory(), here.read(V1), here.read(C0), here.inventory())


async def test_a_promise_that_is_not_kept_is_a_problem() -> None:
    host = PlayedCard()
    host.more = {"Physical Drives": 16}
    found = await backend(host).inventory()
    assert any("counts 16 drives but lists 3" in problem.message for problem in found.problems)
    assert len(found.drives) == 3


async def test_a_part_that_cannot_be_read_is_a_problem_and_the_rest_stands() -> None:
    host = PlayedCard()
    host.refusals["/c0/eall/sall"] = lambda: answers.answer(status="Failure", description="No drive found!")
    found = await backend(host).inventory()
    assert len(found.drives) == 3
    assert any("No drive found!" in problem.message for problem in found.problems)


async def test_a_battery_of_the_other_kind_is_asked_for_as_the_other() -> None:
    host = PlayedCard()
    host.more = {"protection": None}
    host.refusals["/c0/cv show all"] = lambda: answers.failure("use /cx/bbu")
    (card,) = (await backend(host).inventory()).controllers
    assert card.protection is not None
    assert (card.protection.kind, card.protection.state) == ("bbu", "optimal")


async def test_an_array_by_its_scsi_address_when_nothing_names_it() -> None:
    host = PlayedCard()
    host.files.pop("/sys/block/sdb/device/wwid")
    host.more = {"Basics": {"Model": "M", "Serial Number": "S", "PCI Address": "00:c1:00:00"}}
    path = "/sys/devices/pci0000:c0/0000:c1:00.0/host0/target0:2:1/0:2:1:0/block/sdb"
    host.links["/sys/block/sdb"] = path
    lines = answers.properties()
    del lines["OS Drive Name"], lines["SCSI NAA Id"]
    host.refusals["/c0/vall show all"] = lambda: answers.answer(
        {"/c0/v1": [answers.volume_row()], "VD1 Properties": lines}
    )
    (array,) = (await backend(host).inventory()).arrays
    assert array.identity is not None
    assert (array.device, array.identity.name) == ("/dev/sdb", "sdb")


async def test_a_name_that_the_world_wide_name_contradicts_is_not_believed() -> None:
    host = PlayedCard()
    host.files["/sys/block/sdb/device/wwid"] = "naa.6" + "0" * 31
    array: Array = (await backend(host).inventory()).arrays[0]
    assert array.identity is not None
    assert array.identity.name == "c0-v1"
    assert array.uses == ()
    assert array.state is State.OPTIMAL


async def test_a_card_is_told_before_it_has_answered_and_again_when_it_has() -> None:
    told: list[tuple[str, int]] = []
    whole = await backend(PlayedCard()).inventory_in_parts(lambda part, found: told.append((part, len(found.drives))))
    assert (told, len(whole.drives)) == ([("megaraid:/c0", 0), ("megaraid:/c0", 3)], 3)


def busy() -> str:
    return answers.failure("Controller is busy", 3)


async def test_a_busy_card_keeps_the_settings_that_were_read_and_says_why_they_cannot_be_changed() -> None:
    host = PlayedCard(rdcache="ra")
    raid = backend(host)
    await raid.inventory()
    host.refusals["/c0/v1 show all"] = busy
    now = (await raid.read(V1))["read_ahead"]
    assert now.now == "read-ahead"
    assert now.availability.why_not == (f"it could not be read again: {TOOL} /c0/v1 show all: Controller is busy")


async def test_a_busy_card_loses_no_virtual_drive() -> None:
    host = PlayedCard()
    raid = backend(host)
    await raid.inventory()
    host.refusals["/c0/v1 show all"] = busy
    await raid.read(V1)
    del host.refusals["/c0/v1 show all"]
    assert (await raid.read(V1))["read_ahead"].availability.available


async def test_nothing_is_planned_for_a_card_that_is_busy() -> None:
    host = PlayedCard()
    raid = backend(host)
    await raid.inventory()
    host.refusals["/c0/v1 show all"] = busy
    with pytest.raises(BlockedError, match="Controller is busy"):
        await raid.plan(V1, "read_ahead", "read-ahead")


async def test_what_was_known_before_a_change_is_not_taken_for_its_outcome() -> None:
    host = PlayedCard()
    raid = backend(host)
    await raid.inventory()
    change = await raid.plan(V1, "read_ahead", "read-ahead")
    await raid.apply(change)
    host.refusals["/c0/v1 show all"] = busy
    with pytest.raises(ToolFailedError, match="Controller is busy"):
        await raid.read(V1)


async def test_a_virtual_drive_that_the_tool_says_is_not_there_is_gone() -> None:
    host = PlayedCard()
    raid = backend(host)
    await raid.inventory()
    host.there = False
    with pytest.raises(DeviceGoneError):
        await raid.read(V1)
