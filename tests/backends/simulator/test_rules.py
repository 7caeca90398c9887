"""The firmware's rules, one by one, as the tools let them be met."""

from __future__ import annotations

import pytest

from backends.simulator.controller import FASTPATH, SimulatedCard
from backends.simulator.firmware_rules import DEMO_KEY
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import apply_states
from tests.backends.simulator.asking import NOW, SDB, ask, cache, megacli, row, still_host, storcli


@pytest.fixture
def host() -> SimulatedHost:
    return still_host()


def card(host: SimulatedHost, number: int) -> SimulatedCard:
    return host.rack.cards[number]


def volume(host: SimulatedHost, number: int, at: int = 0) -> object:
    return card(host, number).volumes[at]


async def test_a_policy_is_set_and_shown(host: SimulatedHost) -> None:
    answer = await storcli(host, f"{SDB} set rdcache=ra")
    assert row(answer) == {
        "VD": 1,
        "Property": "rdCache",
        "Value": "RA",
        "Status": "Success",
        "ErrCd": 0,
        "ErrMsg": "-",
    }
    assert cache(await storcli(host, f"{SDB} show all"), SDB) == "RWTD"
    assert "Default Cache Policy: WriteThrough, ReadAhead, Direct" in await megacli(host, "-LDInfo -L1 -a0")


async def test_several_properties_have_a_row_each(host: SimulatedHost) -> None:
    answer = await storcli(host, f"{SDB} set wrcache=wb rdcache=ra iopolicy=cached")
    assert len(answer["Command Status"]["Detailed Status"]) == 3
    assert cache(await storcli(host, f"{SDB} show all"), SDB) == "RWBC"


async def test_the_strip_size_is_fixed_when_a_volume_is_made(host: SimulatedHost) -> None:
    done = await ask(host, "storcli64", f"{SDB} set strip=128 J nolog", mutates=True)
    assert "syntax error" in done.stdout
    assert "Controllers" not in done.stdout
    await storcli(host, f"{SDB} del force")
    await storcli(host, "/c0 add vd r5 size=all name=ssd drives=245:1-3 wt nora direct strip=128")
    properties = (await storcli(host, f"{SDB} show all"))["Response Data"]["VD1 Properties"]
    assert properties["Strip Size"] == "128 KB"
    assert properties["OS Drive Name"] == "/dev/sdb"


async def test_a_dead_battery_keeps_write_through_in_force(host: SimulatedHost) -> None:
    text = await megacli(host, "-LDInfo -L0 -a2")
    assert "Default Cache Policy: WriteBack, ReadAhead, Direct" in text
    assert "Current Cache Policy: WriteThrough, ReadAhead, Direct" in text
    layout = host.rack.layout("sdd")
    assert layout is not None
    assert not layout.write_back


async def test_always_write_back_does_not_care_for_the_battery(host: SimulatedHost) -> None:
    await storcli(host, "/c2/v0 set wrcache=awb")
    layout = host.rack.layout("sdd")
    assert layout is not None
    assert layout.write_back
    assert "WriteBack, ReadAhead, Direct, Write Cache OK if Bad BBU" in await megacli(host, "-LDInfo -L0 -a2")


async def test_megacli_calls_write_back_without_a_battery_a_success(host: SimulatedHost) -> None:
    await megacli(host, "-LDSetProp WT -L0 -a2", mutates=True)
    text = await megacli(host, "-LDSetProp WB -L0 -a2", mutates=True)
    assert "will not come into effect immediately" in text
    assert "Set Write Policy to WriteBack on Adapter 2, VD 0 (target id: 0) success" in text


async def test_cached_io_goes_through_the_cache(host: SimulatedHost) -> None:
    before = host.rack.layout("sdb")
    await storcli(host, f"{SDB} set iopolicy=cached")
    after = host.rack.layout("sdb")
    assert before is not None
    assert after is not None
    assert (before.cached, after.cached) == (False, True)


async def test_one_card_refuses_drive_cache_changes_and_exits_with_zero(host: SimulatedHost) -> None:
    done = await ask(host, "storcli64", "/c1/v0 set pdcache=off J nolog", mutates=True)
    assert done.returncode == 0
    assert '"Status": "Failed"' in done.stdout
    assert "SSD Pd is present" in done.stdout
    assert card(host, 1).volumes[0].drive_cache == "default"
    assert row(await storcli(host, f"{SDB} set pdcache=off"))["Status"] == "Success"


async def test_adaptive_read_ahead_is_for_old_cards_only(host: SimulatedHost) -> None:
    assert row(await storcli(host, f"{SDB} set rdcache=adra"))["Status"] == "Success"
    assert row(await storcli(host, "/c1/v0 set rdcache=adra"))["ErrCd"] == 151


async def test_fastpath_wants_its_key_and_a_restart(host: SimulatedHost) -> None:
    first = card(host, 0)
    sdb = first.volumes[1]
    preview = await storcli(host, f"/c0 set aso key={DEMO_KEY} preview")
    assert preview["Response Data"]["Advanced Software Option"][0]["Adv S/W Opt"] == FASTPATH
    assert first.pending == ()
    done = await ask(host, "storcli64", f"/c0 set aso key={DEMO_KEY} J nolog", mutates=True)
    assert done.returncode == 89
    assert '"ErrCd": 89' in done.stdout
    assert not first.has_fastpath(sdb)
    host.rack.restart()
    assert first.has_fastpath(sdb)
    shown = await storcli(host, "/c0 show aso")
    assert FASTPATH in str(shown)


async def test_megacli_answers_a_key_as_the_article_tells(host: SimulatedHost) -> None:
    text = await megacli(host, f"-ELF -Applykey key {DEMO_KEY} -a0", mutates=True)
    done = "Successfully applied the Activation key. Please restart the system for the changes to take effect."
    assert done in text
    assert text.rstrip().endswith("Exit Code: 0x59")
    host.rack.restart()
    assert FASTPATH in await megacli(host, "-ELF -ControllerFeatures -a0")


async def test_a_wrong_key_brings_nothing(host: SimulatedHost) -> None:
    answer = await storcli(host, "/c0 set aso key=WRONG")
    assert answer["Command Status"]["Status"] == "Failure"
    assert "Exit Code: 0x03" in await megacli(host, "-ELF -Applykey key WRONG -a0", mutates=True)
    assert card(host, 0).pending == ()


async def test_deleting_what_holds_data_wants_force(host: SimulatedHost) -> None:
    refused = await storcli(host, "/c1/v0 del")
    assert row(refused)["ErrMsg"] == "VD has OS/FS, use force"
    assert card(host, 1).volumes
    done = await storcli(host, "/c1/v0 del force")
    assert done["Command Status"]["Description"] == "Delete VD succeeded"
    assert not card(host, 1).volumes
    assert {disk.state for disk in card(host, 1).disks} == {"good"}


async def test_what_is_not_there_cannot_be_deleted(host: SimulatedHost) -> None:
    assert row(await storcli(host, "/c0/v7 del force"))["ErrMsg"] == "Invalid VD number"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("r5 size=all drives=245:1-3 wt nora strip=64", "does not have the appropriate attributes"),
        ("r1 size=all drives=245:10,245:11 wt nora strip=64", "does not have the appropriate attributes"),
        ("r1 size=all drives=245:11,245:12 wt nora strip=64", "Incomplete foreign configuration"),
        ("r0 size=all drives=245:40 wt nora strip=64", "not found"),
        ("r5 size=all drives=245:4 wt nora strip=64", "number of drives"),
        ("r0 size=9999gb drives=245:4 wt nora strip=64", "capacity"),
        ("r0 size=all drives=245:4 wt nora strip=2048", "strip size"),
        ("r0 size=all drives=245:4,245:11 wt nora strip=64", "mixed"),
        ("r10 drives=245:4,245:11 wt nora strip=64", "Cannot create configuration with 1 span"),
    ],
)
async def test_only_free_drives_that_fit_make_a_volume(host: SimulatedHost, words: str, reason: str) -> None:
    answer = await storcli(host, f"/c0 add vd {words}")
    assert answer["Command Status"]["Status"] == "Failure"
    assert reason in str(answer)
    assert len(card(host, 0).volumes) == 2


async def test_nothing_is_made_while_the_cache_holds_data_of_a_missing_array(host: SimulatedHost) -> None:
    card(host, 0).pinned = True
    answer = await storcli(host, "/c0 add vd r0 drives=245:4 wt nora strip=64")
    assert (answer["Command Status"]["Status"], "cache pinned" in str(answer)) == ("Failure", True)
    assert "0x54" in await megacli(host, "-CfgLDAdd -R0[245:4] WT NORA -a0", mutates=True)


async def test_megacli_makes_and_deletes_as_the_article_did(host: SimulatedHost) -> None:
    text = await megacli(host, "-CfgLdDel -L1 -a0", mutates=True)
    assert "Adapter 0: Deleted Virtual Drive-1(target id-1)" in text
    text = await megacli(host, "-CfgLDAdd -R5[245:1,245:2,245:3] WT NORA -strpsz512 -a0", mutates=True)
    assert "Adapter 0: Created VD 1" in text
    assert "Adapter 0: Configured the Adapter!!" in text
    assert "Exit Code: 0x00" in text
    made = card(host, 0).volumes[1]
    assert (made.strip_bytes, made.write_cache, made.device) == (512 * 1024, "write-through", "sdb")


async def test_megacli_makes_spans(host: SimulatedHost) -> None:
    await megacli(host, "-CfgLdDel -L0 -a3", mutates=True)
    spans = "-Array0[28:0,28:1] -Array1[28:2,28:3]"
    text = await megacli(host, f"-CfgSpanAdd -R10 {spans} WB RA Direct CachedBadBBU -strpsz64 -a3", mutates=True)
    assert "Created VD 0" in text
    made = card(host, 3).volumes[0]
    assert (made.level.value, made.spans, made.write_cache) == ("raid10", 2, "always-write-back")


async def test_a_drive_in_use_answers_megacli_with_its_code(host: SimulatedHost) -> None:
    text = await megacli(host, "-CfgLDAdd -R0[245:1] WT NORA -a0", mutates=True)
    assert "does not have the appropriate attributes" in text
    assert "Exit Code: 0x26" in text


async def test_a_new_volume_is_another_disk_under_the_same_name(host: SimulatedHost) -> None:
    wwid, sequence = "/sys/block/sdb/device/wwid", "/sys/block/sdb/diskseq"
    before = await host.read_many([wwid, sequence])
    await storcli(host, f"{SDB} del force")
    assert await host.read(wwid) is None
    await storcli(host, "/c0 add vd r5 size=all drives=245:1-3 wt nora direct strip=64")
    after = await host.read_many([wwid, sequence])
    assert set(before) == set(after)
    assert before != after


async def test_a_large_parity_volume_initialises_in_the_background(host: SimulatedHost) -> None:
    await storcli(host, "/c1/v0 del force")
    await storcli(host, "/c1 add vd r5 size=all drives=252:0-5 wt nora direct strip=256")

    async def at(seconds: float) -> str:
        host.rack.clock = lambda: NOW + seconds
        return str((await storcli(host, "/c1/v0 show all"))["Response Data"]["VD0 Properties"]["Active Operations"])

    assert await at(299) == "None"
    assert await at(1200) == "Background Initialization (50%)"
    assert await at(3600) == "None"


@pytest.mark.parametrize("tool", ["storcli", "MegaCli"])
async def test_a_large_parity_volume_that_is_told_not_to_never_initialises(host: SimulatedHost, tool: str) -> None:
    await storcli(host, "/c1/v0 del force")
    await storcli(host, "/c1 add vd r5 drives=252:0-5 wt nora direct strip=256")
    if tool == "storcli":
        await storcli(host, "/c1/v0 set autobgi=off")
    else:
        await megacli(host, "-LDBI -Dsbl -L0 -a1", mutates=True)
    host.rack.clock = lambda: NOW + 1200
    assert (await storcli(host, "/c1/v0 show bgi"))["Response Data"]["VD Operation Status"][0]["Progress%"] == "-"


async def test_a_foreign_configuration_is_told_and_called_incomplete(host: SimulatedHost) -> None:
    some = await storcli(host, "/c0/fall show all")
    assert some["Command Status"]["Description"] == "Incomplete foreign configuration"
    assert some["Response Data"]["Total Foreign PDs"] == 1
    assert row(await storcli(host, "/c1/fall show"))["ErrMsg"] == "No foreign configuration"


async def test_a_double_parity_volume_takes_three_drives(host: SimulatedHost) -> None:
    await storcli(host, "/c0/v1 del force")
    await storcli(host, "/c0 add vd r6 drives=245:1-3 wt nora direct strip=64")
    made = card(host, 0).volumes[1]
    assert (made.level.value, made.data_drives, made.size_bytes) == ("raid6", 1, card(host, 0).disks[0].coerced_bytes)


async def test_a_rebuild_moves_on_and_ends(host: SimulatedHost) -> None:
    def progress(answer: object) -> object:
        assert isinstance(answer, dict)
        return answer["Response Data"][5]["Progress%"]

    assert progress(await storcli(host, "/c2/eall/sall show rebuild")) == 37
    host.rack.clock = lambda: 1_700_000_000.0 + 3600
    assert progress(await storcli(host, "/c2/eall/sall show rebuild")) == 49
    host.rack.clock = lambda: 1_700_000_000.0 + 9 * 3600
    assert progress(await storcli(host, "/c2/eall/sall show rebuild")) == "-"
    assert (await storcli(host, "/c2/v0 show"))["Response Data"]["Virtual Drives"][0]["State"] == "Optl"


@pytest.mark.parametrize(
    ("line", "shown", "value"),
    [
        ("set rebuildrate=60", "show rebuildrate", "60%"),
        ("set cacheflushint=9", "show cacheflushint", "9 sec"),
        ("set patrolread=on mode=manual", "show patrolread", "Manual"),
        ("set patrolread=off", "show patrolread", "Disable"),
        ("set cc=conc", "show cc", "Concurrent"),
        ("set perfmode=1", "show perfmode", "1 - LeastLatency"),
    ],
)
async def test_a_card_s_settings_are_kept(host: SimulatedHost, line: str, shown: str, value: str) -> None:
    assert (await storcli(host, f"/c1 {line}"))["Command Status"]["Status"] == "Success"
    assert value in str(await storcli(host, f"/c1 {shown}"))


async def test_a_rate_beyond_a_hundred_is_refused(host: SimulatedHost) -> None:
    assert (await storcli(host, "/c1 set rebuildrate=101"))["Command Status"]["Status"] == "Failure"


@pytest.mark.parametrize("line", ["/c0/v1 set nonsense=1", "/c0 show nonsense", "nonsense", "/c0/v1 set wrcache=maybe"])
async def test_what_storcli_does_not_know_it_says_in_plain_text(host: SimulatedHost, line: str) -> None:
    done = await ask(host, "storcli64", f"{line} J nolog", mutates=True)
    assert done.stdout.startswith("syntax error, unexpected")


async def test_the_slow_card_takes_eight_seconds_for_a_long_answer_where_the_rack_is_slow() -> None:
    host = still_host()
    quick = [(await ask(host, "MegaCli64", f"-AdpAllInfo -a{card} -NoLog")).seconds for card in (3, 0)]
    apply_states(host.rack, ["slow"])
    slow = [(await ask(host, "MegaCli64", f"-AdpAllInfo -a{card} -NoLog")).seconds for card in (3, 0)]
    assert max(quick) < 0.1
    assert slow[0] == 8.0 > slow[1]


async def test_each_tool_sees_its_cards(host: SimulatedHost) -> None:
    overview = (await storcli(host, "show"))["Response Data"]["System Overview"]
    assert [entry["Ctl"] for entry in overview] == [0, 1, 2]
    assert "Controller Count: 4." in await megacli(host, "-adpCount")
    assert "Product Name    : MegaRAID SAS 84016E" in await megacli(host, "-AdpAllInfo -a3")
