"""Settings of a controller that concern all of its arrays: what each tool is told, and what is read of its answers."""

from __future__ import annotations

import pytest

from backends.errors import BlockedError, InvalidValueError
from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.vendors._cards import ReportedValue
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.megacli import settings as megacli
from backends.vendors.megaraid.megacli.adapter import parse_adapter
from backends.vendors.megaraid.megacli.dialect import MegaCli
from backends.vendors.megaraid.megacli.verdict import judge
from backends.vendors.megaraid.settings import CARD_CHOICES, CARD_SPANS, MORE_CARD_SETTINGS
from backends.vendors.megaraid.storcli import properties as storcli
from backends.vendors.megaraid.storcli.cards import card
from backends.vendors.megaraid.storcli.commands import card_arguments, volume_arguments
from backends.vendors.megaraid.storcli.dialect import StorCli8
from backends.vendors.megaraid.storcli.fields import Fields
from tests.backends.fakes import FakeHost
from tests.backends.megaraid import answers
from tests.backends.simulator.asking import FAST, still_rack
from tests.case_loop import loop_over

CLI = MegaCli(FakeHost({}), "/opt/MegaRAID/MegaCli/MegaCli64")


@loop_over(
    ("key", "value", "words"),
    [
        ("ncq", "off", "ncq=off"),
        ("cache_bypass", "on", "cachebypass=on"),
        ("auto_rebuild", "off", "autorebuild=off"),
        ("load_balance", "on", "loadbalancemode=on"),
        ("copyback", "off", "copyback=off type=ctrl"),
        ("copyback_smart_hdd", "on", "copyback=on type=smarthdd"),
        ("copyback_smart_ssd", "off", "copyback=off type=smartssd"),
        ("patrol_read_ssds", "only-mixed", "patrolread includessds=onlymixed"),
        ("patrol_read_delay", "336", "patrolread delay=336"),
        ("patrol_read_drives", "8", "patrolread maxconcurrentpd=8"),
        ("consistency_check_delay", "672", "cc delay=672"),
        ("smart_poll_interval", "60", "smartpollinterval=60"),
    ],
)
def test_storcli_is_told_in_the_words_of_its_usage(key: str, value: str, words: str) -> None:
    assert " ".join(card_arguments(key, value)) == words


@loop_over(
    ("key", "value", "line"),
    [
        ("ncq", "on", "-AdpSetProp NCQEnbl -a0 -NoLog"),
        ("ncq", "off", "-AdpSetProp NCQDsbl -a0 -NoLog"),
        ("auto_rebuild", "on", "-AdpAutoRbld -Enbl -a0 -NoLog"),
        ("copyback", "on", "-AdpSetProp -CopyBackDsbl -0 -a0 -NoLog"),
        ("copyback", "off", "-AdpSetProp -CopyBackDsbl -1 -a0 -NoLog"),
        ("copyback_smart_hdd", "on", "-AdpSetProp SMARTCpyBkEnbl -1 -a0 -NoLog"),
        ("copyback_smart_ssd", "off", "-AdpSetProp SSDSMARTCpyBkEnbl -0 -a0 -NoLog"),
        ("patrol_read_ssds", "off", "-AdpPR -SSDPatrolReadDsbl -a0 -NoLog"),
        ("patrol_read_delay", "336", "-AdpPR -SetDelay 336 -a0 -NoLog"),
        ("consistency_check_delay", "672", "-AdpCcSched -SetDelay 672 -a0 -NoLog"),
        ("smart_poll_interval", "60", "-AdpSetProp PredFailPollInterval -60 -a0 -NoLog"),
    ],
)
def test_megacli_is_told_in_the_words_of_its_usage(key: str, value: str, line: str) -> None:
    assert [" ".join(command.argv[1:]) for command in CLI.set_card(0, key, value)] == [line]


@pytest.mark.parametrize("key", ["cache_bypass", "load_balance", "patrol_read_drives"])
def test_what_megacli_has_no_word_for_is_refused(key: str) -> None:
    with pytest.raises(InvalidValueError):
        CLI.set_card(0, key, "1" if key in CARD_SPANS else "on")
    with pytest.raises(InvalidValueError):
        CLI.set_card(0, "patrol_read_ssds", "only-mixed")


@loop_over("key", [*CARD_CHOICES, *CARD_SPANS])
def test_storcli2_is_told_none_of_them_since_no_usage_of_it_is_known(key: str) -> None:
    cli = StorCli8(FakeHost({}), "/opt/MegaRAID/storcli2/storcli2")
    with pytest.raises(InvalidValueError):
        cli.set_card(0, key, CARD_CHOICES[key][0].value if key in CARD_CHOICES else "1")


@pytest.mark.parametrize("value", ["on J", "ON", "", "yes", "on;"])
def test_no_other_word_reaches_a_tool(value: str) -> None:
    with pytest.raises(InvalidValueError):
        card_arguments("ncq", value)
    with pytest.raises(InvalidValueError):
        card_arguments("patrol_read_delay", value)
    with pytest.raises(InvalidValueError):
        CLI.set_card(0, "smart_poll_interval", value)


def test_every_setting_says_that_it_concerns_all_arrays_what_it_risks_and_where_its_words_come_from() -> None:
    for setting in MORE_CARD_SETTINGS:
        assert "applies to all arrays" in setting.help, setting.key
        assert "(storcli: " in setting.help, setting.key
        assert setting.risk_text, setting.key
        assert not setting.confirmed, setting.key
        assert (setting.key in CARD_CHOICES) != (setting.key in CARD_SPANS), setting.key
    work = [one for one in MORE_CARD_SETTINGS if one.key.startswith(("patrol_read", "consistency_check"))]
    assert len(work) == 4
    assert all("uses bandwidth" in one.risk_text for one in work)


# -- what is read of the answers --------------------------------------------------------------------------------------


def test_storclis_policies_are_read() -> None:
    rows = [{"Policy": "Predictive Fail Poll Interval", "Current": "300 sec", "Default": ""}]
    own = Fields({"Policies": {"Policies Table": rows, "Auto Rebuild": "Off", "Load Balance Mode": "None"}})
    assert storcli.policy_settings(own) == {
        "auto_rebuild": ReportedValue(value="off", raw="Off"),
        "load_balance": ReportedValue(value="off", raw="None"),
        "smart_poll_interval": ReportedValue(value="300", raw="300 sec"),
    }


def test_storclis_schedules_are_read() -> None:
    table = answers.property_table(PR_Execution_Delay="168 hours", PR_on_SSD="OnlyMixed", PR_MaxConcurrentPd="240")
    assert {key: word.value for key, word in storcli.patrol_read_settings(table).items()} == {
        "patrol_read_delay": "168",
        "patrol_read_ssds": "only-mixed",
        "patrol_read_drives": "240",
    }
    for raw in (672, "672 hours"):
        found = storcli.check_settings(answers.property_table(CC_Execution_Delay=raw))
        assert found == {"consistency_check_delay": ReportedValue(value="672", raw=str(raw))}


@pytest.mark.parametrize(("name", "value"), [("NCQ", "ON"), ("NCQ", "on"), ("N_C_Q", "Enabled")])
def test_storclis_switches_are_read_whatever_the_spelling(name: str, value: str) -> None:
    assert storcli.property_settings("ncq", answers.property_table(**{name: value}))["ncq"].value == "on"


def test_what_storcli_says_otherwise_is_not_understood_or_not_reported() -> None:
    assert storcli.property_settings("ncq", answers.property_table(NCQ="perhaps"))["ncq"].value == "unknown"
    assert storcli.property_settings("ncq", answers.property_table(Alarm="ON")) == {}
    assert storcli.patrol_read_settings(answers.property_table(PR_Execution_Delay="often"))[
        "patrol_read_delay"
    ].value == ("unknown")


def test_storclis_kinds_of_copyback_are_told_apart() -> None:
    table = answers.property_table(Copyback="ON", Copyback_SmartHDD="OFF", Copyback_SmartSSD="ON")
    found = {key: word.value for key, word in storcli.property_settings("copyback", table).items()}
    assert found == {"copyback": "on", "copyback_smart_hdd": "off", "copyback_smart_ssd": "on"}


def test_megaclis_settings_are_read() -> None:
    text = """
Adapter #0

                Settings
                ================
Predictive Fail Poll Interval    : 300sec
Auto Rebuild                     : Enabled
Load Balance Mode                : Auto
Disable Copyback                 : Yes
Enable Copyback on SMART         : No
Enable Copyback to SSD on SMART error   : Yes

                Default Settings
                ================
Auto Rebuild                     : Disabled
"""
    found = {key: word.value for key, word in parse_adapter(text, 0).values.items()}
    assert found == {
        "smart_poll_interval": "300",
        "auto_rebuild": "on",
        "load_balance": "on",
        "copyback": "off",
        "copyback_smart_hdd": "off",
        "copyback_smart_ssd": "on",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Adapter 0: NCQ Status is Enabled\n\nExit Code: 0x00\n", "on"),
        ("Adapter 0: NCQ Status is : NCQ Disabled.\n", "off"),
        ("Adapter 0: NCQ Status is not known\n", None),
        ("", None),
    ],
)
def test_megaclis_queueing_is_read(text: str, value: str | None) -> None:
    word = megacli.ncq_setting(text).get("ncq")
    assert (None if word is None else word.value) == value


def test_megaclis_schedules_are_read() -> None:
    text = "Patrol Read Execution Delay: 168 hours\nPatrol Read on SSD Devices: Enabled\n"
    assert {key: word.value for key, word in megacli.patrol_read_settings(text).items()} == {
        "patrol_read_delay": "168",
        "patrol_read_ssds": "on",
    }
    assert megacli.check_settings("Execution Delay: 672\n") == {
        "consistency_check_delay": ReportedValue(value="672", raw="672")
    }


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        ("Adapter 0: Set predictive fail poll interval to 60 sec success.", True),
        ("Adapter 0: Set copyback to SSD on SMART error to Yes success.", True),
        ("Adapter 0: Set predictive fail poll interval failed.", False),
        ("Adapter 0: Set copyback to SSD on SMART error: error 0x03.", False),
    ],
)
def test_the_name_of_a_property_is_no_failure(row: str, ok: bool) -> None:
    command = Command(argv=("MegaCli64", "-AdpSetProp", "PredFailPollInterval", "-60", "-a0", "-NoLog"), mutates=True)
    done = Completed(returncode=0, stdout=f"\n{row}\n\n{'Exit Code: 0x00' if ok else ''}\n", stderr="")
    assert judge(command, done).ok is ok


# -- on a controller --------------------------------------------------------------------------------------------------


async def test_what_is_not_reported_stays_locked() -> None:
    rack = still_rack()
    backend = MegaRaid(SimulatedHost(rack, speed=FAST))
    reading = (await backend.read(card_target("/c3")))["patrol_read_drives"]
    assert reading.now is None
    with pytest.raises(BlockedError):
        await backend.plan(card_target("/c3"), "patrol_read_drives", "8")


async def test_a_value_outside_of_what_is_offered_is_kept_and_comes_back() -> None:
    rack = still_rack()
    rack.cards[0].properties["patrol_delay"] = "20000"
    backend = MegaRaid(SimulatedHost(rack, speed=FAST))
    change = await backend.plan(card_target("/c0"), "patrol_read_delay", "168")
    await backend.apply(change)
    assert rack.cards[0].property("patrol_delay") == "168"
    await backend.apply(await backend.back(card_target("/c0"), "patrol_read_delay", "20000", {}))
    assert rack.cards[0].property("patrol_delay") == "20000"


async def test_one_kind_of_copyback_leaves_the_others_alone() -> None:
    rack = still_rack()
    backend = MegaRaid(SimulatedHost(rack, speed=FAST))
    await backend.apply(await backend.plan(card_target("/c0"), "copyback_smart_ssd", "on"))
    found = await backend.read(card_target("/c0"))
    assert [found[key].now for key in ("copyback", "copyback_smart_hdd", "copyback_smart_ssd")] == ["on", "off", "on"]


# -- the cache bypass of a virtual drive ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "size", "value"),
    [
        ("Cachebypass Intelligent", "Cachebypass-64k", "intelligent-64k"),
        ("Cachebypass Custom 2", "Cachebypass-256k", "custom-2-256k"),
        ("Cachebypass Standard", "Cachebypass-1k", "unknown"),
        ("Cachebypass Disabled", "Cachebypass-64k", "off"),
        ("Cachebypass Not Performed For Any IOs", None, "unknown"),
        ("Something else", "Cachebypass-64k", "unknown"),
        (None, "Cachebypass-64k", None),
    ],
)
def test_the_bypass_of_a_virtual_drive_is_read(mode: str | None, size: str | None, value: str | None) -> None:
    lines = {"Cachebypass Mode": mode, "Cachebypass size": size}
    word = storcli.cache_bypass(Fields({name: text for name, text in lines.items() if text is not None}))
    assert (None if word is None else word.value) == value


@pytest.mark.parametrize(
    ("value", "words"), [("intelligent-128k", "cbsize=1 cbmode=0"), ("custom-3-64k", "cbsize=0 cbmode=4")]
)
def test_mode_and_size_are_told_together(value: str, words: str) -> None:
    assert " ".join(volume_arguments("cache_bypass_mode", value, frozenset())) == words


async def test_switching_it_off_brings_the_mode_and_the_size_of_before_back() -> None:
    rack = still_rack()
    volume = rack.cards[0].volumes[1]
    volume.cache_bypass = "custom-1-256k"
    backend, target = MegaRaid(SimulatedHost(rack, speed=FAST)), volume_target("/c0", 1)
    change = await backend.plan(target, "cache_bypass_mode", "off")
    await backend.apply(change)
    assert volume.cache_bypass == "off"
    await backend.apply(await backend.back(target, "cache_bypass_mode", change.before or "", change.companions))
    assert volume.cache_bypass == "custom-1-256k"


# -- what is shown and never set --------------------------------------------------------------------------------------


def test_what_is_never_set_is_read_of_both_versions_of_storcli() -> None:
    seven: dict[str, dict[str, object]] = {
        "Status": {"Current Personality": "RAID-Mode "},
        "Boot": {"Allow Boot with Preserved Cache": "Off"},
        "Defaults": {"Auto Enhanced Import": "Yes"},
        "HwCfg": {"Current Size of CacheCade (GB)": 200},
    }
    assert card(0, seven).shown == {
        "Personality": "RAID-Mode",
        "Foreign import (factory default)": "Yes",
        "Boot with preserved cache": "Off",
        "CacheCade size": "200 GB",
    }
    eight = {"Status": {"Controller Personality": "RAID"}, "Properties": {"Boot With Preserved Cache": "Yes"}}
    assert card(0, eight).shown == {"Personality": "RAID", "Boot with preserved cache": "Yes"}


def test_no_cachecade_is_no_fact() -> None:
    assert card(0, {"HwCfg": {"Current Size of CacheCade (GB)": 0}}).shown == {}


def test_what_is_never_set_is_read_of_megacli() -> None:
    text = "Adapter #0\n\nDefault Settings\n====\nAuto Enhanced Import : No\nAllow Boot with Preserved Cache : Yes\n"
    assert parse_adapter(text, 0).shown == {
        "Foreign import (factory default)": "No",
        "Boot with preserved cache": "Yes",
    }


async def test_a_controller_shows_it_with_the_reason_and_has_no_setting_for_it() -> None:
    backend = MegaRaid(SimulatedHost(still_rack(), speed=FAST))
    found = (await backend.inventory()).controllers[0]
    facts = {fact.label: fact.value for fact in found.facts}
    assert facts["Boot with preserved cache"] == (
        "Off (raidbench does not set it: it affects unwritten data of missing arrays)"
    )
    assert facts["JBOD mode"].startswith("off (raidbench does not set it: ")
    keys = {setting.key for setting in backend.settings(found.target)}
    assert not keys & {"jbod", "personality", "foreign_import", "boot_with_pinned_cache"}
