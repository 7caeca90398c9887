"""MegaCli's text as facts: one test for each trap."""

from __future__ import annotations

import pytest

from backends.model import Level, Media, State
from backends.vendors._cards import ReportedValue
from backends.vendors.megaraid.megacli.adapter import (
    card_numbers,
    parse_adapter,
    parse_announced_counts,
    parse_battery,
    parse_consistency_check,
    parse_count,
    parse_features,
    parse_patrol_read,
    parse_pci,
    parse_version,
    reports_battery,
)
from backends.vendors.megaraid.megacli.drives import identify, parse_drives
from backends.vendors.megaraid.megacli.progress import drive_progress, volume_progress
from backends.vendors.megaraid.megacli.text import degrees, lines, whole, wwn
from backends.vendors.megaraid.megacli.volumes import level, parse_background, parse_volumes, policies
from backends.vendors.megaraid.sizes import exact
from tests.backends.megaraid import megacli_texts as texts
from tests.case_loop import loop_over

KIB, GIB = 1024, 1024**3


def test_the_first_colon_parts_key_and_value() -> None:
    (line,) = lines("Next Learn time: Thu Dec 21 18:32:56 2023")
    assert (line.key, line.value) == ("next learn time", "Thu Dec 21 18:32:56 2023")


def test_only_a_line_feed_ends_a_line() -> None:
    (line,) = lines("Name                :a\x0b\x1c\u2028State: Offline\r")
    assert line.key == "name"
    assert "State" in line.value


def test_sectors_are_believed_only_when_they_fit_the_rounded_size() -> None:
    assert exact("237.968 GB [0x1dbf0000 Sectors]", 512) == 0x1DBF0000 * 512
    assert exact("1863.000 GB [0x1d1c0000 Sectors]", 4096) == 0x1D1C0000 * 4096
    assert exact("2 GB [0xffffffff Sectors]", 512) == 2 * GIB


@pytest.mark.parametrize("text", ["-1", "1e400", "N/A", "", "12x", "1" * 16, "\u0663"])
def test_what_is_no_whole_number_is_none(text: str) -> None:
    assert whole(text) is None


def test_degrees_and_wwns() -> None:
    assert [degrees(text) for text in ("33C (91.40 F)", "36 C", "46 degree Celsius", "N/A", "OK")] == [
        33,
        36,
        46,
        None,
        None,
    ]
    assert wwn("5000C5005EC4558C") == "5000c5005ec4558c"
    assert [wwn(text) for text in ("500000", "", "0" * 16)] == [None, None, None]


def test_a_virtual_drive_of_the_new_kind() -> None:
    zero, one = parse_volumes(texts.LDINFO)
    assert (zero.number, one.number, one.card, one.name) == (0, 1, 0, "fast1")
    assert (one.level, one.spans, one.drives_per_span) == (Level.RAID5, 1, 3)
    assert (one.size_bytes, one.strip_bytes) == (int(476.375 * GIB), 64 * KIB)
    assert (one.state, one.state_raw, one.secured) == (State.OPTIMAL, "Optimal", False)
    assert one.access == ReportedValue(value="read-write", raw="Read/Write")
    assert one.drive_cache == ReportedValue(value="default", raw="Disk's Default")
    assert one.configured == one.in_force
    assert one.configured.write_cache == ReportedValue(value="write-through", raw="WriteThrough")
    assert one.bad_bbu_write_back is False


def test_old_firmware_says_virtual_disk_and_leaves_out_blanks() -> None:
    (one,) = parse_volumes(texts.OLD_LDINFO)
    assert (one.name, one.level, one.strip_bytes, one.drives_per_span) == ("data", Level.RAID5, 64 * KIB, 6)
    assert one.configured.write_cache is not None
    assert one.in_force is not None
    assert one.in_force.write_cache is not None
    assert (one.configured.write_cache.value, one.in_force.write_cache.value) == ("write-back", "write-through")


def test_members_come_in_span_order_and_do_not_mix_with_the_volume() -> None:
    zero, one = parse_volumes(texts.LDPDINFO)
    assert (zero.level, zero.spans, zero.drives_per_span) == (Level.RAID10, 2, 2)
    assert zero.drives == ("245:4", "245:5", "245:6", "245:7")
    assert one.drives == ("245:1", "245:2", "245:3")
    assert (one.group, one.size_bytes) == (1, int(476.375 * GIB))
    assert len(parse_drives(texts.LDPDINFO)) == 7


def test_the_number_is_the_target_id() -> None:
    (one,) = parse_volumes(texts.volume(3).replace("Target Id: 3", "Target Id: 7"))
    assert one.number == 7


def test_virtual_drives_of_several_adapters_keep_theirs() -> None:
    found = parse_volumes(f"Adapter #0\n\n{texts.volume(0)}Adapter #4\n\n{texts.volume(0)}")
    assert [(each.card, each.number) for each in found] == [(0, 0), (4, 0)]


def test_a_cachecade_volume_has_policies_and_no_level() -> None:
    text = (
        "CacheCade Virtual Drive: 1 (Target Id: 1)\nVirtual Drive Type: CacheCade \nName:cache0\nSize:512.0 GB\n"
        "Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU\n"
    )
    (one,) = parse_volumes(texts.volume(0) + text)[1:]
    assert (one.number, one.name, one.level, one.level_raw) == (1, "cache0", Level.UNKNOWN, "CacheCade")
    assert (one.strip_bytes, one.state, one.in_force) == (None, State.UNKNOWN, None)
    assert one.ssd_cache


@loop_over(
    ("primary", "secondary", "spans", "expected"),
    [
        (0, 0, 1, Level.RAID0),
        (0, 3, 2, Level.RAID0),
        (1, 0, 1, Level.RAID1),
        (1, 3, 2, Level.RAID10),
        (1, 0, 2, Level.RAID10),
        (5, 0, 1, Level.RAID5),
        (5, 3, 2, Level.RAID50),
        (6, 0, 1, Level.RAID6),
        (6, 3, 3, Level.RAID60),
        (4, 0, 1, Level.RAID4),
        (15, 0, 1, Level.JBOD),
        (17, 0, 1, Level.UNKNOWN),
        (1, 1, 2, Level.UNKNOWN),
        (99, 0, 1, Level.UNKNOWN),
        (5, 0, None, Level.RAID5),
    ],
)
def test_levels_are_ddf_numbers(primary: int, secondary: int, spans: int | None, expected: Level) -> None:
    assert level(f"Primary-{primary}, Secondary-{secondary}, RAID Level Qualifier-0", spans) is expected


def test_a_level_that_is_no_number_stays_unknown_with_its_words() -> None:
    (one,) = parse_volumes(texts.volume(level="Striped somehow"))
    assert (one.level, one.level_raw) == (Level.UNKNOWN, "Striped somehow")


def test_write_back_with_a_bad_battery_is_always_write_back() -> None:
    found = policies("WriteBack, ReadAdaptive, Cached, Write Cache OK if Bad BBU")
    assert found.write_cache == ReportedValue(value="always-write-back", raw="Write Cache OK if Bad BBU")
    assert found.read_ahead == ReportedValue(value="adaptive", raw="ReadAdaptive")
    assert found.io_policy == ReportedValue(value="cached", raw="Cached")


def test_write_through_stays_so_whatever_the_battery_policy() -> None:
    found = policies("WriteThrough, ReadAhead, Direct, Write Cache OK if Bad BBU")
    assert found.write_cache == ReportedValue(value="write-through", raw="WriteThrough")


def test_an_unknown_policy_word_is_unknown_in_its_place() -> None:
    found = policies("WriteSometimes, ReadAhead, Direct, No Write Cache if Bad BBU")
    assert found.write_cache == ReportedValue(value="unknown", raw="WriteSometimes")
    assert found.read_ahead == ReportedValue(value="read-ahead", raw="ReadAhead")
    assert policies("").write_cache is None


def test_an_ongoing_progress_is_a_job() -> None:
    extra = "Ongoing Progresses:\n  Check Consistency        : Completed 4%, Taken 616 min.\n"
    (one,) = parse_volumes(texts.volume(extra=extra))
    assert [(job.kind, job.progress) for job in one.jobs] == [("consistency-check", 0.04)]


def test_no_virtual_drive_configured_is_none() -> None:
    assert parse_volumes("Adapter 0 -- Virtual Drive Information:\nAdapter 0: No Virtual Drive Configured.\n") == ()


def test_a_drive() -> None:
    one = parse_drives(texts.PDLIST)[0]
    assert (one.place, one.device_id, one.group, one.wwn) == ("245:1", 10, 1, "500a07510302f501")
    assert (one.model, one.serial, one.firmware) == ("MTFDDAC256MAG-1G1AA", "00000000110302F5A7C1", "0007")
    assert (one.state, one.state_raw, one.media, one.interface) == (State.ONLINE, "Online, Spun Up", Media.SSD, "sata")
    assert (one.size_bytes, one.link, one.temperature_c) == (0x1DBF0000 * 512, "6.0Gb/s", 31)
    assert one.errors == {"media": 1, "other": 0, "predictive": 0}


def test_a_drive_without_enclosure_has_a_place_of_its_slot() -> None:
    (one,) = parse_drives(texts.physical(67, enclosure="N/A"))
    assert (one.enclosure, one.place) == (None, ":67")


@loop_over(
    ("words", "state"),
    [
        ("Online, Spun Up", State.ONLINE),
        ("Unconfigured(good), Spun down", State.UNASSIGNED),
        ("Rebuild", State.REBUILDING),
        ("Hotspare, Spun down", State.SPARE),
        ("Unconfigured(bad)", State.FAILED),
        ("JBOD", State.ONLINE),
        ("Failed", State.FAILED),
        ("Offline", State.OFFLINE),
        ("Copyback", State.ONLINE),
        ("Shielded", State.UNKNOWN),
    ],
)
def test_states_of_drives(words: str, state: State) -> None:
    (one,) = parse_drives(texts.physical(state=words))
    assert (one.state, one.state_raw) == (state, words)


def test_an_unconfigured_drive_with_a_foreign_configuration_is_foreign() -> None:
    (one,) = parse_drives(texts.physical(state="Unconfigured(good), Spun Up", foreign="Foreign "))
    assert (one.state, one.foreign, one.state_raw) == (State.FOREIGN, True, "Unconfigured(good), Spun Up")


def test_an_inquiry_is_taken_apart_only_when_it_is_certain() -> None:
    sas = "SEAGATE ST973451SS      SM043PD2JH68            "
    assert identify(sas, "SM04") == ("ST973451SS", "3PD2JH68", "SM04")
    assert identify(sas, "XXXX") == (None, None, None)
    assert identify("ATA     ST9500620NS     FTA1            9XF1KAGA", None) == ("ST9500620NS", "9XF1KAGA", "FTA1")
    assert identify("IBM-ESXSST9900805SS     B55C6XS3H1NR0808B55C", "B55C") == ("ST9900805SS", None, "B55C")
    sata = "      MK0311YHG31V6AHitachi HDS723030ALA640                 MKAOA5C0"
    assert identify(sata, None, "sata") == ("Hitachi HDS723030ALA640", "MK0311YHG31V6A", "MKAOA5C0")
    assert identify(sata, None, None) == (None, None, None)
    assert identify("IBM-ESXSM", "SB1A", "sas") == (None, None, None)


@pytest.mark.parametrize("level", [None, "CC4C"])
def test_a_short_firmware_field_costs_a_sata_drive_neither_model_nor_serial(level: str | None) -> None:
    raw = f"{'Z1D5ABCD':>20}{'ST2000DM001-1CH164':<40}{'CC4C':<8}"
    assert identify(raw, level, "sata") == ("ST2000DM001-1CH164", "Z1D5ABCD", "CC4C")


@pytest.mark.parametrize("shift", range(1, 8))
def test_an_inquiry_that_lost_its_beginning_is_not_taken_apart(shift: int) -> None:
    raw = f"{'Z1D5ABCD':>20}{'ST2000DM001-1CH164':<40}{'CC4C0001':<8}"
    assert identify(raw[shift:], None, "sata") == (None, None, None)


def test_the_raw_inquiry_stays_when_nothing_can_be_told() -> None:
    (one,) = parse_drives(texts.physical(inquiry="SOMETHING   ELSE", level="0007"))
    assert (one.inquiry, one.model, one.serial, one.firmware) == ("SOMETHING ELSE", None, None, "0007")


def test_the_card() -> None:
    card = parse_adapter(texts.ADPALLINFO, 0)
    assert (card.model, card.serial, card.firmware) == ("LSI MegaRAID SAS 9280-24i4e", "SV00000001", "2.120.43-1223")
    assert (card.package, card.cache_bytes, card.temperature_c) == ("12.12.0-0090", 512 * KIB**2, 61)
    assert (card.strip_minimum, card.strip_maximum) == (8 * KIB, KIB**2)
    assert {key: word.value for key, word in card.values.items()} == {
        "rebuild_rate": "30",
        "patrol_read_rate": "31",
        "bgi_rate": "32",
        "cc_rate": "33",
        "migrate_rate": "34",
        "cache_flush_interval": "4",
        "jbod": "off",
    }
    assert card.supports["io_policy"] is False
    assert card.supports["drive_cache_on_ssd"] is True
    assert parse_announced_counts(texts.ADPALLINFO, 0) == (2, 7)


def test_each_adapter_has_its_own_part_of_the_answer() -> None:
    both = texts.ADPALLINFO + texts.ADPALLINFO.replace("#0", "#3").replace("9280-24i4e", "9261-8i")
    assert card_numbers(both) == (0, 3)
    assert parse_adapter(both, 3).model == "LSI MegaRAID SAS 9261-8i"
    assert parse_adapter(both, 1).model is None


def test_a_rate_that_is_none_is_unknown() -> None:
    card = parse_adapter(texts.ADPALLINFO.replace("30%", "N/A"), 0)
    assert card.values["rebuild_rate"] == ReportedValue(value="unknown", raw="N/A")


def test_a_good_battery() -> None:
    battery = parse_battery(texts.BATTERY)
    assert battery is not None
    assert (battery.kind, battery.state.value, battery.healthy, battery.temperature_c) == ("bbu", "optimal", True, 33)
    assert (battery.learning, battery.next_learn) == (False, "Thu Dec 21 18:32:56 2023")
    assert battery.details["Charge"] == "71 %"


@loop_over(
    ("old", "new", "state", "healthy"),
    [
        ("Battery Replacement required            : No", "Battery Replacement required: Yes", "failed", False),
        ("Learn Cycle Active                      : No", "Learn Cycle Active : Yes", "learning", False),
        ("Battery Pack Missing                    : No", "Battery Pack Missing: Yes", "missing", False),
        ("Battery State: Optimal", "Battery State     : Non Operational", "failed", False),
        ("Battery State: Optimal", "Battery state: ", "unknown", None),
        ("Battery State: Optimal", "Battery State: Half Asleep", "unknown", None),
        ("Battery State: Optimal", "Battery State: Charging", "charging", None),
        ("Battery State: Optimal", "Battery State     : Operational", "optimal", True),
    ],
)
def test_a_battery_is_as_good_as_its_worst_line(old: str, new: str, state: str, healthy: bool | None) -> None:
    battery = parse_battery(texts.BATTERY.replace(old, new))
    assert battery is not None
    assert (battery.state.value, battery.healthy) == (state, healthy)


def test_a_blank_state_is_not_that_nothing_is_charged() -> None:
    battery = parse_battery(texts.BATTERY.replace("Battery State: Optimal", "Battery State: "))
    assert battery is not None
    assert (battery.state.value, battery.state.raw) == ("unknown", "")


def test_a_capacitor_is_a_cachevault() -> None:
    battery = parse_battery(texts.BATTERY.replace("iBBU08", "CVPM02"))
    assert battery is not None
    assert battery.kind == "cachevault"


def test_no_battery_is_something_else_than_no_answer() -> None:
    assert (parse_battery(texts.NO_BATTERY), reports_battery(texts.NO_BATTERY)) == (None, True)
    silent = "Adapter 0: Get BBU Status Failed.\n\nExit Code: 0x01\n"
    assert (parse_battery(silent), reports_battery(silent)) == (None, False)


def test_where_the_card_is_on_the_bus_is_told_in_hex() -> None:
    assert parse_pci(texts.PCI, 0) == "0b:00.0"
    assert parse_pci(texts.PCI, 1) is None
    assert parse_pci(texts.PCI.replace("Function Number : 0", ""), 0) is None


def test_features_with_and_without_limit_of_time() -> None:
    options, safe_id = parse_features(texts.FEATURES)
    assert {option.name: option.state.value for option in options} == {
        "MegaRAID FastPath": "active",
        "MegaRAID RAID6": "trial",
    }
    assert safe_id == "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHI"


@pytest.mark.parametrize(
    "row", ["MegaRAID FastPath : Unlimited", "  MegaRAID FastPath      Unlimited", "MegaRAID FastPath: Unlimited"]
)
def test_features_in_one_line(row: str) -> None:
    ((option,), _) = parse_features(f"\n{row}\n\nExit Code: 0x00\n")
    assert (option.name, option.state) == ("MegaRAID FastPath", ReportedValue(value="active", raw="Unlimited"))


def test_schedules_and_what_runs() -> None:
    mode, job = parse_patrol_read(texts.PATROL)
    assert (mode, job and job.kind, job and job.state) == (
        ReportedValue(value="auto", raw="Auto"),
        "patrol-read",
        "Active",
    )
    mode, job = parse_consistency_check(texts.CHECK)
    assert (mode, job) == (ReportedValue(value="concurrent", raw="Concurrent"), None)


def test_progress_of_volumes_and_drives() -> None:
    found = volume_progress(texts.PROGRESS)
    assert {number: (job.kind, job.progress) for number, job in found.items()} == {
        1: ("consistency-check", 0.04),
        2: ("background-initialisation", 0.0),
    }
    assert drive_progress(texts.REBUILD)["245:2"].progress == 0.31
    assert list(drive_progress(texts.REBUILD.replace("Enclosure 245", "Enclosure N/A"))) == [":2"]


def test_background_initialisation_by_itself() -> None:
    assert parse_background(texts.BACKGROUND) == {0: True, 1: False}


def test_version_and_count() -> None:
    assert parse_version(texts.VERSION) == "8.07.14"
    assert parse_version("Storage Command Line Tool  Ver 007.1705.0000.0000") is None
    assert [parse_count(text) for text in (texts.COUNT, "Controller Count: 0.\r\n", "Exit Code: 0x01")] == [1, 0, None]
