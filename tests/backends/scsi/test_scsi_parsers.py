"""The lines of hdparm and sdparm and the document of smartctl, as they come."""

from __future__ import annotations

import json

import pytest

from backends.vendors.scsi import hdparm, sdparm
from backends.vendors.scsi.disks import is_volume
from backends.vendors.scsi.smartctl import LifeLeft, SmartAnswer, parse_smartctl, unread_reason
from tests.backends.scsi.texts import (
    HDPARM,
    HDPARM_LACKING,
    HDPARM_REFUSED,
    SDPARM,
    SDPARM_ATTENTION,
    SDPARM_PAGE,
    SMART_ASLEEP,
    SMART_ATA,
    SMART_SCSI,
)
from tests.case_loop import loop_over


def test_hdparm_tells_four_switches_after_a_complaint_about_sense_data() -> None:
    found = hdparm.parse_hdparm(HDPARM)
    assert {option: flag.number for option, flag in found.items()} == {"-A": 1, "-W": 1, "-B": 128, "-M": 254}


def test_hdparm_tells_what_a_drive_lacks() -> None:
    found = hdparm.parse_hdparm(HDPARM_LACKING)
    assert [option for option, flag in found.items() if not flag.is_supported] == ["-A", "-W", "-M"]
    assert found["-B"].number == 255


def test_hdparm_tells_a_refusal_of_the_kernel() -> None:
    assert hdparm.refusal(HDPARM_REFUSED) == "HDIO_DRIVE_CMD(setcache) failed: Input/output error"
    assert hdparm.refusal("/dev/sda: Permission denied") == "Permission denied"
    assert hdparm.refusal(HDPARM) is None


def test_sdparm_tells_a_bit_with_what_may_be_changed_and_what_is_saved() -> None:
    wce = sdparm.parse_sdparm(SDPARM)["WCE"]
    assert (wce.now, wce.changeable, wce.saved) == (True, True, False)


def test_sdparm_tells_a_bit_without_any_mark() -> None:
    dra = sdparm.parse_sdparm(SDPARM)["DRA"]
    assert (dra.now, dra.changeable, dra.saved) == (False, None, None)


def test_sdparm_tells_the_bits_of_a_whole_page() -> None:
    found = sdparm.parse_sdparm(SDPARM_PAGE)
    assert {name: bit.now for name, bit in found.items()} == {"WCE": True, "RCD": False, "DRA": True}


def test_a_unit_attention_is_told_from_a_refusal() -> None:
    assert sdparm.attention(0, SDPARM_ATTENTION)
    assert not sdparm.attention(5, SDPARM)


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (0, "", None),
        (97, "", "the drive cannot store this page over a power cycle"),
        (
            5,
            "    /dev/sda: LAB X 1\nchange_mode_page: failed setting page: Caching (SBC)\n",
            "change_mode_page: failed setting page: Caching (SBC)",
        ),
        (26, "", "exit status 26"),
    ],
)
def test_sdparm_tells_why_a_change_failed(code: int, text: str, words: str | None) -> None:
    assert sdparm.refusal(code, text) == words


def test_smartctl_tells_the_health_of_a_sata_drive() -> None:
    found = parse_smartctl(SMART_ATA)
    assert found is not None
    assert (found.rpm, found.celsius, found.hours, found.passed) == (7200, 49, 8244, True)
    assert (found.form, found.speed, found.used_percent) == ("3.5 inches", "6.0 Gb/s", 3)


def test_smartctl_reports_what_the_link_of_a_drive_can_do() -> None:
    speeds = {"max": {"string": "6.0 Gb/s"}, "current": {"string": "1.5 Gb/s"}}
    found = parse_smartctl(json.dumps({**json.loads(SMART_ATA), "interface_speed": speeds}))
    assert found is not None
    assert (found.speed, found.speed_limit) == ("1.5 Gb/s", "6.0 Gb/s")


def test_smartctl_tells_life_left_and_protection_with_their_attributes() -> None:
    found = parse_smartctl(SMART_ATA)
    assert found is not None
    assert found.life_left == LifeLeft(percent=97, id=177, name="Wear_Leveling_Count")
    assert found.power_loss is not None
    assert found.power_loss.is_good


def test_smartctl_tells_the_health_of_a_sas_drive() -> None:
    found = parse_smartctl(SMART_SCSI)
    assert found is not None
    assert (found.model, found.firmware, found.celsius, found.used_percent) == ("MAKER DISK", "A1", 34, 12)


def health(known: bool | None, *rows: tuple[int, str, int]) -> SmartAnswer:
    """The health of an SSD with these attributes: number, name, value."""
    table = [{"id": number, "name": name, "value": value, "thresh": 0} for number, name, value in rows]
    told = {} if known is None else {"in_smartctl_database": known}
    found = parse_smartctl(json.dumps({"smartctl": {}, "ata_smart_attributes": {"table": table}} | told))
    assert found is not None
    return found


def test_an_attribute_number_under_another_makers_name_tells_nothing() -> None:
    assert health(True, (177, "Unknown_Attribute", 5)).life_left is None


@pytest.mark.parametrize("known", [False, None])
def test_wear_of_a_drive_that_smartctl_does_not_know_is_not_told(known: bool | None) -> None:
    # A WD SSD counts gigabytes written there, its wear is 230; the name is smartctl's guess for any SSD.
    found = health(known, (230, "Unknown_SSD_Attribute", 1), (233, "Media_Wearout_Indicator", 100))
    assert found.life_left is None


def test_gigabytes_written_are_no_wear() -> None:
    found = health(True, (230, "Media_Wearout_Indicator", 1), (233, "NAND_GB_Written_TLC", 100))
    assert found.life_left is None


@pytest.mark.parametrize("known", [False, None])
def test_capacitors_of_a_drive_that_smartctl_does_not_know_are_not_told(known: bool | None) -> None:
    assert health(known, (175, "Power_Loss_Cap_Test", 100)).power_loss is None


def test_zero_degrees_with_a_trip_point_of_zero_is_no_temperature() -> None:
    found = parse_smartctl(
        json.dumps({"smartctl": {}, "temperature": {"current": 0}, "scsi_temperature": {"drive_trip": 0}})
    )
    assert found is not None
    assert found.celsius is None


@pytest.mark.parametrize(
    ("told", "celsius"),
    [
        ({"temperature": {"current": 0}}, None),
        ({"temperature": {"current": 255}}, None),
        ({"temperature": {"current": 1}}, 1),
        ({"scsi_environmental_reports": {"temperature_1": {"current": 41}}}, 41),
        ({"temperature": {"current": 0}, "scsi_environmental_reports": {"temperature_1": {"current": 0}}}, None),
    ],
)
def test_only_a_sensor_that_works_tells_a_temperature(told: dict[str, object], celsius: int | None) -> None:
    found = parse_smartctl(json.dumps({"smartctl": {}, **told}))
    assert found is not None
    assert found.celsius == celsius


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ('{\n "smartctl": {},\nlog sense failed\n "a": 1\n}', "cannot be parsed: it has the line 'log sense failed'"),
        ('{\n "smartctl": {', "cannot be parsed: the JSON document is incomplete"),
        (
            "=======> UNRECOGNIZED OPTION: json\n\nUse smartctl -h",
            "cannot be parsed: it has the line '=======> UNRECOGNIZED OPTION: json'",
        ),
    ],
)
def test_an_answer_that_is_not_understood_says_which_line_it_is(text: str, reason: str) -> None:
    assert parse_smartctl(text) is None
    assert unread_reason(text) == reason


def test_a_drive_that_sleeps_is_said_to_sleep() -> None:
    found = parse_smartctl(SMART_ASLEEP)
    assert found is not None
    assert found.asleep


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", "{", '{"other": 1}', "[" * 200_000, '{"a":' * 200_000])
def test_what_is_no_answer_of_smartctl_is_none(text: str) -> None:
    assert parse_smartctl(text) is None


@loop_over(
    ("driver", "channel", "path", "level", "maker", "volume"),
    [
        ("megaraid_sas", 2, "", None, "AVAGO", True),
        ("megaraid_sas", 0, "", None, "ATA", False),
        ("aacraid", 0, "", None, "ASR8805", True),
        ("aacraid", 1, "", None, "SEAGATE", False),
        ("hpsa", 1, "", "RAID 5", "HP", True),
        ("hpsa", 0, "", "N/A", "HP", False),
        ("smartpqi", 1, "", "RAID 1(10)", "HPE", True),
        ("3w-9xxx", 0, "", None, "AMCC", True),
        ("mpt3sas", 1, "", None, "LSI", True),
        ("mpt3sas", 0, "/end_device-0:1/", None, "SEAGATE", False),
        ("mpi3mr", 0, "/end_device-0:1/", None, "SEAGATE", False),
        ("mpi3mr", 0, "", None, "BROADCOM", True),
        ("ahci", 0, "", None, "ATA", False),
        ("virtio_scsi", 0, "", None, "QEMU", False),
        (None, None, "", None, "", False),
    ],
)
def test_a_volume_is_told_from_a_drive(
    driver: str | None, channel: int | None, path: str, level: str | None, maker: str, volume: bool
) -> None:
    assert is_volume(driver, channel, path, level, maker) is volume
