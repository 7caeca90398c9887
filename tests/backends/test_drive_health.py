"""Drive health: near misses and values that are no facts, of the tools that no other test of health covers."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from backends.model import Health, State
from backends.vendors.megaraid.facts import PhysicalDrive
from backends.vendors.megaraid.megacli.volumes import parse_volumes
from backends.vendors.megaraid.storcli.drives import drives
from backends.vendors.megaraid.storcli.volumes import volumes
from backends.vendors.nvme.facts import ControllerId, NvmeHealth
from backends.vendors.nvme.inventory import ControllerAnswers, health_of
from backends.vendors.santricity.responses import hardware
from backends.vendors.scsi.inventory import condition
from backends.vendors.scsi.smartctl import parse_smartctl
from backends.vendors.smcli.facts import parse_profile
from backends.vendors.smcli.inventory import inventory
from tests.case_loop import loop_over
from tests.health_sources import NOTHING, filled


def smart(**top: object) -> Health:
    """What smartctl's answer with these fields says."""
    found = parse_smartctl(json.dumps({"smartctl": {"exit_status": 0}, **top}))
    assert found is not None
    return condition(found)


def attributes(*each: tuple[int, str, int]) -> dict[str, object]:
    """Attributes by number, name and raw value."""
    rows = [{"id": number, "name": name, "value": 100, "raw": {"value": raw}} for number, name, raw in each]
    return {"ata_smart_attributes": {"table": rows}}


@loop_over(
    ("warning", "predicts"),
    [(None, None), (0, False), (1, True), (2, False), (4, True), (8, True), (16, False), (6, True)],
)
def test_heat_of_an_nvme_drive_does_not_announce_its_failure(warning: int | None, predicts: bool | None) -> None:
    found = health_of(ControllerAnswers(health=NvmeHealth(critical_warning=warning)))
    assert found.predicts_failure is predicts


def test_an_nvme_drive_without_a_sensor_has_no_temperature() -> None:
    asked = ControllerAnswers(about=ControllerId(warning_kelvin=343), health=NvmeHealth(kelvin=0), celsius=None)
    assert health_of(asked) == Health(temperature_limit=70.0)
    assert health_of(ControllerAnswers(celsius=41)) == Health(temperature=41.0)
    assert health_of(ControllerAnswers()) == Health()


@pytest.mark.parametrize(
    ("passed", "predicts"), [({}, None), ({"smart_status": {"passed": True}}, False), ({"smart_status": {}}, None)]
)
def test_what_smartctl_does_not_say_is_unknown(passed: dict[str, object], predicts: bool | None) -> None:
    assert smart(**passed) == Health(predicts_failure=predicts)


def test_the_drive_trip_of_0_is_no_limit() -> None:
    assert smart(temperature={"current": 30, "drive_trip": 0}) == Health(temperature=30.0)


def test_attributes_of_an_unknown_ssd_are_not_believed_and_those_of_a_hard_disk_are() -> None:
    table = attributes((197, "Current_Pending_Sector", 8), (199, "UDMA_CRC_Error_Count", 3))
    assert filled(smart(rotation_rate=0, **table)) == frozenset()
    assert smart(rotation_rate=7200, **table) == Health(media_errors=8, other_errors=3)


@pytest.mark.parametrize(
    "row", [(187, "Unknown_Attribute", 5), (197, "Total_Pages", 5), (197, "Current_Pending_Sector", 1 << 40)]
)
def test_an_attribute_counts_errors_under_its_own_name_alone(row: tuple[int, str, int]) -> None:
    assert smart(in_smartctl_database=True, **attributes(row)) == Health()


def test_uncorrected_errors_of_a_sas_drive_are_added_up() -> None:
    log = {kind: {"total_uncorrected_errors": count} for kind, count in (("read", 2), ("write", 0), ("verify", 5))}
    assert smart(scsi_error_counter_log=log) == Health(media_errors=7)
    assert smart(scsi_error_counter_log={"read": {"gigabytes_processed": "1.0"}}) == Health()


def physical(state: str = "Onln", details: Mapping[str, object] | None = None) -> PhysicalDrive:
    """A drive of storcli 7 in this state."""
    row = {"EID:Slt": "8:1", "DID": 4, "State": state, "DG": 0, "Intf": "SAS", "Med": "HDD"}
    (found,) = drives(0, {"PD LIST": [row], "Drive /c0/e8/s1 State": dict(details or {})})
    return found


@pytest.mark.parametrize(
    ("details", "predicts"),
    [
        ({}, None),
        ({"S.M.A.R.T alert flagged by drive": "N/A"}, None),
        ({"S.M.A.R.T alert flagged by drive": "No", "Predictive Failure Count": 4}, False),
        ({"S.M.A.R.T alert flagged by drive": "Yes", "Predictive Failure Count": 0}, True),
        ({"Predictive Failure Count": 4}, True),
    ],
)
def test_the_flag_of_the_drive_comes_before_the_count(details: dict[str, object], predicts: bool | None) -> None:
    assert physical(details=details).health.predicts_failure is predicts


@pytest.mark.parametrize(("state", "copies"), [("Onln", None), ("Cpybck", True), ("CBShld", True), ("UGood", None)])
def test_a_drive_that_is_copied_to_is_online(state: str, copies: bool | None) -> None:
    one = physical(state)
    assert one.health.copyback is copies
    assert one.state is (State.UNASSIGNED if state == "UGood" else State.ONLINE)


@pytest.mark.parametrize(("word", "lost"), [("Yes", True), ("No", False), ("", None)])
def test_bad_blocks_of_a_virtual_drive_are_lost_data(word: str, lost: bool | None) -> None:
    text = f"\nAdapter 0 -- Virtual Drive Information:\nVirtual Drive: 0 (Target Id: 0)\nBad Blocks Exist: {word}\n"
    (of_megacli,) = parse_volumes(text)
    row = {"DG/VD": "0/0", "TYPE": "RAID5", "State": "Optl", "Cache": "RWTD", "Size": "1.0 TB"}
    (of_storcli,) = volumes(0, {"/c0/v0": [row], "VD0 Properties": {"Bad Block Exists": word}})
    assert (of_megacli.lost, of_storcli.lost) == (lost, lost)


@pytest.mark.parametrize(
    ("status", "state", "predicts"),
    [
        ("Optimal", State.SPARE, False),
        ("Impending failure", State.SPARE, True),
        ("Predictive failure", State.SPARE, True),
        ("Failed", State.FAILED, None),
    ],
)
def test_a_drive_of_smcli_that_announces_its_failure_keeps_its_mode(
    status: str, state: State, predicts: bool | None
) -> None:
    text = "\nPROFILE FOR STORAGE ARRAY: A1 (11/3/15 9:12:44 AM CET)\n\nDRIVES------------------------------\n"
    profile = parse_profile(f"{text}   Drive at Tray 1, Slot 2\n      Status: {status}\n      Mode: Hot Spare\n")
    assert profile is not None
    (one,) = inventory(profile, NOTHING).drives
    assert (one.state, one.health) == (state, Health(predicts_failure=predicts))


@pytest.mark.parametrize(
    ("row", "health"),
    [
        ({"driveTemperature": {"currentTemp": 255, "refTemp": 255}}, Health()),
        ({"driveTemperature": {"currentTemp": 0}}, Health()),
        ({"ssdWearLife": {"isWearLifeMonitoringSupported": False, "percentEnduranceUsed": 0}}, Health()),
        ({"pfa": False, "fdeLocked": False}, Health(predicts_failure=False, locked=False)),
    ],
)
def test_values_of_the_web_services_that_stand_for_nothing(row: dict[str, object], health: Health) -> None:
    (one,) = hardware(json.dumps({"drives": [{"driveRef": "0100", **row}]})).drives
    assert one.health == health
