"""What storcli prints, understood in spite of it: wrapping, types, spelling, gaps (the traps met in the field)."""

from __future__ import annotations

import json

import pytest

from backends.model import Level, Media, State
from backends.vendors._cards import UNKNOWN
from backends.vendors.megaraid import sizes
from backends.vendors.megaraid.facts import VirtualDrive
from backends.vendors.megaraid.storcli.battery import parse_answer, parse_listed
from backends.vendors.megaraid.storcli.cards import card, check, options, overview, patrol, perf_mode, safe_id
from backends.vendors.megaraid.storcli.document import replies, reply_about
from backends.vendors.megaraid.storcli.drives import drives, rebuilds
from backends.vendors.megaraid.storcli.topology import groups
from backends.vendors.megaraid.storcli.volumes import auto_bgi, volumes
from tests.backends.megaraid import answers
from tests.backends.megaraid.answers import answer, drive_row, properties, show_all, topology, volume_row
from tests.case_loop import loop_over


def one(**row: object) -> VirtualDrive:
    return volumes(0, {"VD LIST": [volume_row(**row)]})[0]  # type: ignore[arg-type]


def test_a_banner_before_the_body_is_cut_off() -> None:
    text = "Generating detailed summary of the adapter, it may take a while to complete.\n\n" + answer({"a": 1})
    assert [reply.ok for reply in replies(text)] == [True]


def test_columns_without_a_name_before_the_first_name_are_part_of_it() -> None:
    rule = "-" * 16
    table = f"{rule}\n        Name\n{rule}\n1 : 2   data\n3 : 4   log\n{rule}\n"
    text = f"Controller = 0\nStatus = Success\n\nList :\n====\n\n{table}"
    assert replies(text)[0].data["List"] == [{"Name": "1 : 2   data"}, {"Name": "3 : 4   log"}]


def test_a_banner_with_a_brace_does_not_hide_the_body() -> None:
    assert replies("{ Storage Command Line Tool }\n" + answer({"a": 1}))[0].data == {"a": 1}


def test_control_characters_in_strings_are_read_over() -> None:
    text = answer({"VD LIST": [volume_row(Name="x")]}).replace('"x"', '"a\x07\x1b[31mb\tc"')
    assert volumes(0, replies(text)[0].data)[0].name == "a�[31mb c"


def test_bytes_that_are_no_utf_8_cost_one_character() -> None:
    raw = answer({"VD LIST": [volume_row(Name="serveur")]}).encode().replace(b"serveur", b"\xfa\x19 bay")
    found = volumes(0, replies(raw.decode("utf-8", "replace"))[0].data)[0].name or ""
    assert found.endswith("bay")
    assert "\x19" not in found


def test_utf_16_is_read() -> None:
    assert replies(answer({"a": 1}).encode("utf-16-le").decode("utf-8", "replace"))[0].data == {"a": 1}


def test_response_data_within_response_data_is_unpacked() -> None:
    found = replies(answer({"Response Data": {"Response Data": {"VD LIST": [volume_row()]}}}))
    assert volumes(0, found[0].data)[0].number == 1


@pytest.mark.parametrize("data", ["text", 5, None, [1, 2]])
def test_response_data_of_another_type_is_empty(data: object) -> None:
    (found,) = replies(json.dumps({"Controllers": [{"Command Status": {"Status": "Success"}, "Response Data": data}]}))
    assert volumes(0, found.data) == ()


def test_of_several_cards_the_one_that_names_its_number_is_taken() -> None:
    both = json.loads(answer({"x": "third"}, card=3))
    both["Controllers"] += json.loads(answer({"x": "first"}, card="1"))["Controllers"]
    found = replies(json.dumps(both))
    chosen_one, absent = reply_about(found, 1), reply_about(found, 0)
    assert chosen_one is not None
    assert chosen_one.data == {"x": "first"}
    assert absent is None


def test_two_documents_are_two_answers() -> None:
    assert [reply.card for reply in replies(answer({}, card=0) + "\n" + answer({}, card=1))] == [0, 1]


def test_plain_text_in_spite_of_j_is_read() -> None:
    text = """CLI Version = 007.1017.0000.0000 May 10, 2019
Controller = 0
Status = Success
Description = None

Virtual Drives = 1

VD LIST :
=======

---------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name
---------------------------------------------------------------
0/5   RAID6 Pdgd  RO     Yes     RWBC  -   ON    1.819 TB my data
---------------------------------------------------------------

Cac=CacheCade|Rec=Recovery|OfLn=OffLine|Pdgd=Partially Degraded|dgrd=Degraded

Physical Drives = 2

PD LIST :
=======

-------------------------------------------------------------------------------
EID:Slt DID State  DG     Size Intf Med SED PI SeSz Model               Sp Type
-------------------------------------------------------------------------------
 :3       2 Onln    0 3.637 TB SATA HDD N   N  512B HUS726040ALA610     U  -
8:12     11 Failed  0 3.637 TB SAS  SSD N   N  4 KB DVDR   PX-760A      U  -
-------------------------------------------------------------------------------
"""
    (reply,) = replies(text)
    (drive,) = volumes(0, reply.data)
    loose, seated = drives(0, reply.data)
    assert (drive.number, drive.level, drive.state, drive.name) == (5, Level.RAID6, State.DEGRADED, "my data")
    assert drive.size_bytes == round(1.819 * (1 << 40))
    assert (loose.place, seated.place, seated.state, seated.media) == (":3", "8:12", State.FAILED, Media.SSD)
    assert (seated.model, seated.sector_bytes) == ("DVDR PX-760A", 4096)
    assert reply.data["Physical Drives"] == "2"


def test_a_syntax_error_in_plain_text_is_no_answer() -> None:
    assert replies("syntax error, unexpected TOKEN_WRITE_CACHE, expecting $end") == ()


def test_a_deprecated_command_is_a_failure_with_its_words() -> None:
    (reply,) = replies("CLI Version = 007.1705\nStatus = Failure\nDescription = Deprecated command. Please use it.")
    assert (reply.ok, reply.card) == (False, None)
    assert reply.description == "Deprecated command. Please use it."


@loop_over(
    ("text", "size"),
    [
        ("64 KB", 1 << 16),
        ("64kB", 1 << 16),
        ("512Bytes", 512),
        ("1.0 MB", 1 << 20),
        ("1.000 MB", 1 << 20),
        ("256 KiB", 1 << 18),
        ("100 KB", None),
        ("1e400 KB", None),
        ("-1 KB", None),
        ("N/A", None),
        ("9" * 5000 + " KB", None),
        (None, None),
    ],
)
def test_strip_sizes_in_every_spelling(text: str | None, size: int | None) -> None:
    assert sizes.strip(text) == size


@pytest.mark.parametrize(
    ("column", "policies"),
    [
        ("RWBD", ("read-ahead", "write-back", "direct")),
        ("NRWTD", ("none", "write-through", "direct")),
        ("RAWBC", ("read-ahead", "always-write-back", "cached")),
        ("NRAWBD", ("none", "always-write-back", "direct")),
        ("ADRAWTD", ("adaptive", "write-through", "direct")),
    ],
)
def test_the_cache_column(column: str, policies: tuple[str, str, str]) -> None:
    found = one(Cache=column).configured
    words = [word.value for word in (found.read_ahead, found.write_cache, found.io_policy) if word is not None]
    assert tuple(words) == policies


def test_a_column_that_is_not_understood_is_unknown_with_its_word() -> None:
    found = one(Cache="ZZTOP").configured.write_cache
    assert found is not None
    assert (found.value, found.raw) == (UNKNOWN, "ZZTOP")


def test_configured_and_in_force_are_told_apart_where_the_tool_does() -> None:
    lines = properties(**{"Write Cache(initial setting)": "WriteBack"})
    data = {"/c0/v1": [volume_row(Cache="RWTD")], "VD1 Properties": lines}
    (drive,) = volumes(0, data)
    assert drive.in_force is not None
    assert drive.configured.write_cache is not None
    assert drive.in_force.write_cache is not None
    assert (drive.configured.write_cache.value, drive.in_force.write_cache.value) == ("write-back", "write-through")


def test_a_spanned_raid_1_is_raid_10_in_span_order() -> None:
    places = ("8:4", "8:0", "8:1", "8:5")
    lines = properties(**{"Span Depth": 2, "Number of Drives Per Span": 2})
    listed_drives = [drive_row(place) for place in sorted(places)]
    data = {"/c0/v1": [volume_row(TYPE="RAID1")], "PDs for VD 1": listed_drives, "VD1 Properties": lines}
    (drive,) = volumes(0, {"TOPOLOGY": topology(*places, spans=2, level="RAID10")}, data)
    assert (drive.level, drive.spans, drive.drives_per_span) == (Level.RAID10, 2, 2)
    assert drive.drives == places
    assert drive.alone is True


def test_the_drive_cache_of_a_group_is_that_of_its_first_row_which_has_one() -> None:
    rows = topology("8:0", "8:1")
    group, span = rows[:2]
    del group["PDC"]
    span["PDC"] = "dsbl"
    assert {number: found.drive_cache for number, found in groups({"TOPOLOGY": rows}).items()} == {0: "dsbl"}
    del span["PDC"]
    assert {number: found.drive_cache for number, found in groups({"TOPOLOGY": rows}).items()} == {0: None}


def test_a_group_with_room_left_is_not_filled() -> None:
    (drive,) = volumes(0, {"VD LIST": [volume_row()], "TOPOLOGY": topology("8:0", "8:1", free="Y")})
    assert drive.alone is False


def test_an_ssd_cache_is_no_virtual_drive_of_its_own() -> None:
    assert (one(TYPE="Cac0").ssd_cache, one(TYPE="Cac0").level) == (True, Level.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "kind", "progress"),
    [
        ("Consistency Check (36%)", "consistency-check", 0.36),
        ("Background Initialization (7%)", "background-initialisation", 0.07),
        ("Something New (12%)", "Something New", 0.12),
        ("Reconstruction", "migration", None),
    ],
)
def test_work_under_way(text: str, kind: str, progress: float | None) -> None:
    data = {"VD LIST": [volume_row()], "VD1 Properties": properties(**{"Active Operations": text})}
    (job,) = volumes(0, data)[0].jobs
    assert (job.kind, job.progress) == (kind, progress)


@loop_over(
    ("state", "group", "meaning", "foreign"),
    [
        ("Onln", 0, State.ONLINE, False),
        ("UGood", "-", State.UNASSIGNED, False),
        ("UGood", "F", State.FOREIGN, True),
        ("UBad", "-", State.FAILED, False),
        ("GHS", "-", State.SPARE, False),
        ("DHS", 0, State.SPARE, False),
        ("JBOD", "-", State.ONLINE, False),
        ("Rbld", 0, State.REBUILDING, False),
        ("Offln", 0, State.OFFLINE, False),
        ("Frgn", "-", State.FOREIGN, True),
        ("UGUnsp", "-", State.UNASSIGNED, False),
        ("Sntze", "-", State.UNKNOWN, False),
    ],
)
def test_states_of_drives(state: str, group: int | str, meaning: State, foreign: bool) -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row("8:1", state=state, group=group)]})
    assert (drive.state, drive.state_raw, drive.foreign) == (meaning, state, foreign)


@pytest.mark.parametrize(
    ("states", "meaning"),
    [
        ("Conf ConfShld ConfSntz JBOD JBODSntz Shld", State.ONLINE),
        ("UConf UConfUnsp UConfShld UConfSntz", State.UNASSIGNED),
        ("GHS DHS GHSShld DHSShld GHSSntz DHSSntz", State.SPARE),
        ("UConfDgrd ConfDgrd JBODDgrd GHSDgrd DHSDgrd", State.DEGRADED),
        ("Unusbl", State.FAILED),
        ("Various ConfNew Config", State.UNKNOWN),
    ],
)
def test_every_first_word_of_the_legend_of_version_8_says_what_a_good_drive_is_for(states: str, meaning: State) -> None:
    rows = [drive_row(f"8:{slot}", state=state, Status="Good") for slot, state in enumerate(states.split())]
    assert {drive.state for drive in drives(0, {"PD LIST": rows})} == {meaning}


@loop_over(
    ("status", "meaning"),
    [
        ("Failed", State.FAILED),
        ("Bad", State.FAILED),
        ("Unusable", State.FAILED),
        ("Offline", State.OFFLINE),
        ("Missing", State.MISSING),
        ("Rebuild", State.REBUILDING),
        ("Something new", State.UNKNOWN),
    ],
)
@loop_over("role", ["Conf", "UConf", "GHS", "DHSShld", "JBOD"])
def test_the_second_word_of_version_8_wins_where_it_is_worse(role: str, status: str, meaning: State) -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row("8:1", state=role, Status=status)]})
    assert (drive.state, drive.state_raw) == (meaning, f"{role}/{status}")


def test_an_unusable_drive_stays_failed_whatever_its_second_word() -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row("8:1", state="Unusbl", Status="Offline")]})
    assert drive.state is State.FAILED


def test_a_drive_being_replaced_is_online_still() -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row("8:1", state="Conf", Status="Replace")]})
    assert drive.state is State.ONLINE


@pytest.mark.parametrize("blank", [" :25", "N/A:25", "-:25", ":25", "25"])
def test_a_drive_without_an_enclosure_has_its_slot(blank: str) -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row(blank)]})
    assert (drive.enclosure, drive.slot, drive.place) == (None, 25, ":25")


def test_details_of_a_drive_join_its_row() -> None:
    (drive,) = drives(0, {"PD LIST": [drive_row("252:1")]}, answers.details("252:1"))
    assert (drive.serial, drive.wwn, drive.firmware, drive.link) == ("SN1", "500a075100000001", "0007", "6.0Gb/s")
    assert (drive.temperature_c, drive.errors) == (31, {"media": 0, "other": 2})
    assert drive.size_bytes == 0x1BE20000 * 512
    assert drive.model == "CTFDDAC256MAG-1G1"


def test_nvme_drives_call_the_model_model_and_may_have_no_wwn() -> None:
    own = answers.details("252:1", WWN="NA", Model="MZQL2")
    (drive,) = drives(0, {"PD LIST": [drive_row("252:1", Intf="NVMe", Model="")]}, own)
    assert (drive.wwn, drive.media, drive.interface, drive.model) == (None, Media.NVME, "nvme", "MZQL2")


def test_progress_of_a_rebuild() -> None:
    rows = [
        {"Drive-ID": "/c0/e252/s1", "Progress%": 36, "Status": "In progress", "Estimated Time Left": "1 Hours"},
        {"Drive-ID": "/c0/e252/s2", "Progress%": "-", "Status": "Not in progress"},
    ]
    (reply,) = replies(answer(rows))
    assert {at: job.progress for at, job in rebuilds(reply.data).items()} == {(252, 1): 0.36}


def test_a_card_as_it_says() -> None:
    found = card(0, show_all(options={"MegaRAID FastPath": "Unlimited", "MegaRAID RAID6": "12 days"}))
    assert (found.model, found.serial, found.firmware) == ("LSI MegaRAID SAS 9280-24i4e", "SV11111111", "2.120.43-1223")
    assert (found.cache_bytes, found.temperature_c) == (512 << 20, 61)
    assert (found.strip_minimum, found.strip_maximum) == (8192, 1 << 20)
    assert {option.name: option.state.value for option in found.options} == {
        "MegaRAID FastPath": "active",
        "MegaRAID RAID6": "trial",
    }
    assert found.supports["bgi_rate"]
    assert {key: word.value for key, word in found.values.items()} == {
        "rebuild_rate": "30",
        "patrol_read_rate": "30",
        "bgi_rate": "30",
        "cc_rate": "30",
        "jbod": "off",
    }


def test_an_unsupported_option_is_not_activated() -> None:
    row = {"Adv S/W Opt": "Cache Offload", " Time Remaining": " Unlimited (Unsupported)"}
    assert options({"Advanced Software Option": [row]})[0].state.value == "not-activated"


def test_a_card_that_leaves_nearly_everything_out_is_still_there() -> None:
    found = card(2, {"Basics": {"Model": "HBA 9300"}})
    assert (found.number, found.model, found.temperature_c, found.strip_minimum, found.backup) == (
        2,
        "HBA 9300",
        None,
        None,
        None,
    )


def test_celsius_in_either_spelling() -> None:
    for name in ("ROC temperature(Degree Celcius)", "ROC temperature(Degree Celsius)"):
        assert card(0, {"HwCfg": {name: 71}}).temperature_c == 71


def test_the_bare_number_of_the_battery_status_means_nothing() -> None:
    assert parse_listed({"Status": {"BBU Status": 0}}) == (None, False)


def test_no_battery_fitted_is_known() -> None:
    assert parse_listed({"HwCfg": {"BBU": "Absent"}}) == (None, True)


@pytest.mark.parametrize("told", [{"Voltage(mV)": 9181}, {"Voltage": "9181 mV"}])
def test_a_voltage_has_its_unit_wherever_the_tool_writes_it(told: dict[str, object]) -> None:
    found, _ = parse_listed({"Energy Pack Info": [{"Type": "Supercap", "Status": "Optimal"} | told]})
    assert found is not None
    assert found.details["Voltage"] == "9181 mV"


@pytest.mark.parametrize(
    ("state", "healthy"),
    [("Optimal", True), ("Failed", False), ("Learning", False), ("Degraded", False), ("Odd", None)],
)
def test_states_of_a_battery(state: str, healthy: bool | None) -> None:
    found = parse_answer(answers.battery(state), "bbu")
    assert found is not None
    assert (found.healthy, found.state.raw, found.temperature_c) == (healthy, state, 34)


def test_a_battery_that_must_be_replaced_keeps_nothing() -> None:
    found = parse_answer(answers.battery("Optimal", **{"Replacement required": "Yes"}), "bbu")
    assert found is not None
    assert found.healthy is False


def test_patrol_read_and_consistency_check() -> None:
    mode, work = patrol(answers.property_table(PR_Mode="Auto", PR_Current_State="Active 2"))
    assert mode is not None
    assert (mode.value, work[0].kind, work[0].state) == ("auto", "patrol-read", "Active 2")
    for label in ("CC_Operation_Mode", "CC_Mode"):
        found, idle = check(answers.property_table(**{label: "Concurrent", "CC_Current_State": "Stopped"}))
        assert found is not None
        assert (found.value, idle) == ("concurrent", ())


def test_performance_mode_and_background_initialisation() -> None:
    mode = perf_mode(answers.property_table(Perf_Mode="0 - tuned for IOPS"))
    assert mode is not None
    assert mode.value == "0"
    assert auto_bgi({"VD Operation Status": [{"VD": 4, "AutoBGI": "On"}]}) == {4: True}
    assert auto_bgi({"x": [{"VD": 4, "Property": "Auto BGI", "Value": "Off"}]}) == {4: False}


def test_cards_in_the_overview_also_those_in_it_mode() -> None:
    data = {"System Overview": [{"Ctl": 0, "Model": "A"}], "IT System Overview": [{"Ctl": "2", "Model": "B"}]}
    assert overview(data | {"ASO": [{"Ctl": 7}]}) == {0: "A", 2: "B"}


def test_version_8_in_its_own_shape() -> None:
    info = {"DG/VD": "0/239", "TYPE": "RAID5", "State": "Optl", "Access": "RW"}
    info |= {"CurrentCache": "NR,WT", "DefaultCache": "NR,WB", "Size": "9.094 TiB", "Name": ""}
    row = {"EID:Slt": "306:0", "PID": 293, "State": "Conf", "Status": "Online", "DG": 0, "Size": "9.094 TiB"}
    own = {"Strip Size": "256 KiB", "Span Depth": 1, "Number of Drives": 1, "Drive Write Cache Policy": "Disabled"}
    own |= {"Auto BGI": "Off", "Secured": "No", "OS Drive Name": "/dev/sdb", "SCSI NAA Id": answers.NAA}
    (reply,) = replies(answer({"Virtual Drives": [{"VD Info": info, "PDs": [row], "VD Properties": own}]}, card="0"))
    (drive,) = volumes(0, reply.data)
    (disk,) = drives(0, reply.data)
    assert drive.in_force is not None
    assert drive.in_force.write_cache is not None
    assert drive.configured.write_cache is not None
    assert (drive.configured.write_cache.value, drive.in_force.write_cache.value) == ("write-back", "write-through")
    assert (drive.strip_bytes, drive.auto_bgi, drive.secured, drive.drives) == (1 << 18, False, False, ("306:0",))
    assert (disk.device_id, disk.state, disk.state_raw, disk.volumes) == (293, State.ONLINE, "Conf/Online", (239,))


def test_version_8_options_and_safe_id() -> None:
    data = {
        "Advanced Software options": [{"Software option": "RAID 5/50", "Time Remaining": "Unlimited", "Location": "x"}],
        "Key Information": [{"Prop": "SafeID", "Description": "LBRJ"}],
    }
    assert ([option.state.value for option in options(data)], safe_id(data)) == (["active"], "LBRJ")
