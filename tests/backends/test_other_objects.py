"""What each tool says of another object, or of one object twice, is believed of none; the rest is."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from backends.json_text import document
from backends.vendors.lvm.facts import parse_lvs
from backends.vendors.lvm.groups import parse_pvs
from backends.vendors.mdraid.details import misnamed_examine, parse_export
from backends.vendors.nvme.identify import lenient_json
from backends.vendors.nvme.identify import rows as nvme_rows
from backends.vendors.scsi.drive_queries import _Answer
from backends.vendors.scsi.sdparm import parse_sdparm
from backends.vendors.scsi.smartctl import parse_smartctl
from backends.vendors.smartarray.arcconf.parsing import card_text
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smcli.facts import parse_profile
from backends.vendors.threeware.settings import parse_unit_details, policy, repeated_names_reason, rows
from backends.vendors.zfs.facts import parse_datasets, parse_pools, parse_values

ROOT = Path(__file__).resolve().parents[2]

SSACLI = """
Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)
   Serial Number: X1

   Array: A
      Interface Type: SAS

      Logical Drive: 1
         Size: 279.37 GB
         Fault Tolerance: 1
         Status: OK

      Logical Drive: {second}
         Size: 100 GB
         Fault Tolerance: 5
         Status: OK
"""


def test_ssacli_a_logical_drive_that_is_there_twice_is_left_out_and_said() -> None:
    (good,) = cards(SSACLI.format(second=2))
    assert ([one.number for one in good.volumes], good.twice) == ([1, 2], "")
    (found,) = cards(SSACLI.format(second=1))
    assert found.volumes == ()
    assert found.twice == "it names logical drive 1 more than once"


ARCCONF = """
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec ASR8805
----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical Device number 0
   RAID level                               : 5
   Status of Logical Device                 : Optimal
Logical Device number {second}
   RAID level                               : 0
   Status of Logical Device                 : Optimal

Command completed successfully.
"""


def test_arcconf_a_logical_device_that_is_there_twice_is_left_out_and_said() -> None:
    good = card_text(ARCCONF.format(second=1), 1)
    assert good is not None
    assert ([one.number for one in good.volumes], good.twice) == ([0, 1], "")
    found = card_text(ARCCONF.format(second=0), 1)
    assert found is not None
    assert (found.volumes, found.twice) == ((), "it names logical device 0 more than once")


def test_arcconf_two_cards_in_one_answer_are_said() -> None:
    found = card_text(ARCCONF.format(second=1) * 2, 1)
    assert found is not None
    assert "the controller" in found.twice


TW_CLI = """
Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy
------------------------------------------------------------------------------
u0    RAID-5    OK             -       -       64K     2793.94   RiW    ON
{second}    RAID-0    OK             -       -       64K     2793.94   RiW    ON
"""
UNITS = ("Unit", "UnitType", "Status")


def test_tw_cli_a_unit_that_is_there_twice_is_left_out_and_said() -> None:
    assert [row["Unit"] for row in rows(TW_CLI.format(second="u1"), *UNITS)] == ["u0", "u1"]
    assert repeated_names_reason(TW_CLI.format(second="u1"), *UNITS) == ""
    assert rows(TW_CLI.format(second="u0"), *UNITS) == ()
    assert repeated_names_reason(TW_CLI.format(second="u0"), *UNITS) == "it names u0 more than once"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/c0/u0 Storsave Policy = protection", "protect"),
        ("/c0/u1 Storsave Policy = protection", None),
        ("/c0/u0 Storsave Policy = protection\n/c0/u0 Storsave Policy = balance", None),
    ],
)
def test_tw_cli_a_policy_is_that_of_its_unit(text: str, expected: str | None) -> None:
    assert policy("storsave", text, "/c0/u0") == expected


def test_tw_cli_a_serial_number_that_is_told_twice_is_none() -> None:
    assert parse_unit_details("/c0/u0 serial number = A\n/c0/u0 serial number = B\n", "/c0/u0", ()).serial is None
    assert parse_unit_details("/c0/u0 serial number = A\n/c0/u1 serial number = B\n", "/c0/u0", ()).serial == "A"


PROFILE = """PROFILE FOR STORAGE SUBSYSTEM: DS4700_A (1/1/10 1:00:00 PM)
SUMMARY------------------------------
   Number of controllers: 2
STANDARD LOGICAL DRIVES------------------------------
   Logical Drive name: fast
   RAID level: 5
   Logical Drive name: {second}
   RAID level: 0
"""


def test_smcli_a_logical_drive_that_is_there_twice_is_known_by_its_name_alone() -> None:
    good = parse_profile(PROFILE.format(second="slow"))
    assert good is not None
    assert [one.text_of("raid level") for one in good.volumes] == ["5", "0"]
    found = parse_profile(PROFILE.format(second="fast"))
    assert found is not None
    assert [one.text_of("raid level") for one in found.volumes] == [None, None]
    assert found.twice == "it names volume fast more than once"


def test_smcli_two_disk_systems_in_one_answer_are_refused() -> None:
    other = PROFILE.format(second="slow").replace("DS4700_A", "DS4700_B")
    found = parse_profile(PROFILE.format(second="slow") + other)
    assert found is not None
    assert found.misnamed == "it names DS4700_B in addition to DS4700_A"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n/dev/sda:\n write-caching =  1 (on)\n", None),
        (" write-caching =  1 (on)\n", None),
        ("\n/dev/sdb:\n write-caching =  1 (on)\n", "it names /dev/sdb instead of /dev/sda"),
        ("    /dev/sdb: SEAGATE   X  1\nWCE  1\n", "it names /dev/sdb instead of /dev/sda"),
        ("/dev/sda:\n/dev/sda:\n", "it names /dev/sda 2 times"),
    ],
)
def test_hdparm_and_sdparm_name_the_disk(text: str, expected: str | None) -> None:
    found = _Answer(tool="/sbin/hdparm", out=text).misnamed_reason("/dev/sda")
    assert found is None if expected is None else expected in (found or "")


def test_sdparm_a_field_that_is_told_both_ways_is_none() -> None:
    assert set(parse_sdparm("WCE         1  [cha: y]\nRCD         0\nWCE         0  [cha: y]\n")) == {"RCD"}
    assert parse_sdparm("WCE         \u0661  [cha: y]\n") == {}


def test_smartctl_names_the_disk() -> None:
    text = json.dumps({"smartctl": {}, "device": {"name": "/dev/sdb"}, "model_name": "X"})
    good, bad = parse_smartctl(text, "/dev/sdb"), parse_smartctl(text, "/dev/sda")
    assert good is not None
    assert good.model == "X"
    assert bad is not None
    assert (bad.model, bad.message) == (None, "unexpected output: it names /dev/sdb instead of /dev/sda")


def test_a_key_that_json_has_twice_has_no_value() -> None:
    assert document('{"a": 1, "a": 2, "b": 3, "b": 3}') == {"b": 3}
    assert lenient_json('{"vwc": 1, "vwc": 0}') == {}
    assert document('{"a": 1}{"a": 1}') is None


def test_nvme_a_line_that_is_told_both_ways_is_none() -> None:
    assert nvme_rows("sn : A\nvwc : 1\nvwc : 0\n") == {"sn": "A"}


def test_mdadm_a_key_with_two_values_has_none() -> None:
    assert parse_export("MD_UUID=a\nMD_UUID=b\nMD_LEVEL=raid1\n") == {"MD_LEVEL": "raid1"}


def test_mdadm_examine_names_the_member() -> None:
    assert misnamed_examine("/dev/sdb1:\n   Magic : a92b4efc\n", "/dev/sdb1") == ""
    assert "names /dev/sdc1 instead of /dev/sdb1" in misnamed_examine("/dev/sdc1:\n   Magic : x\n", "/dev/sdb1")


_UUIDS = [
    f"{letter * 6}-{letter * 4}-{letter * 4}-{letter * 4}-{letter * 4}-{letter * 4}-{letter * 6}" for letter in "abcd"
]


def lvs(*volumes: tuple[str, str, str]) -> str:
    rows = [
        {"lv_name": name, "vg_name": group, "lv_uuid": uuid, "vg_uuid": _UUIDS[3], "segtype": "linear"}
        for group, name, uuid in volumes
    ]
    return json.dumps({"report": [{"lv": rows}]})


def test_lvs_a_uuid_with_two_names_or_a_name_with_two_is_understood_of_none() -> None:
    good = ("vg0", "a", _UUIDS[0]), ("vg1", "b", _UUIDS[1])
    assert [one.address for one in parse_lvs(lvs(*good))[0]] == ["vg0/a", "vg1/b"]
    for odd in (("vg0", "c", _UUIDS[0]), ("vg0", "a", _UUIDS[2])):
        found, strange = parse_lvs(lvs(*good, odd))
        assert [one.address for one in found] == ["vg1/b"]
        assert strange


def test_pvs_a_uuid_with_two_nodes_is_understood_of_none() -> None:
    rows = [{"pv_name": f"/dev/sd{one}", "vg_name": "vg0", "pv_uuid": _UUIDS[0], "vg_uuid": _UUIDS[3]} for one in "ab"]
    assert parse_pvs(json.dumps({"report": [{"pv": rows}]})) == ((), 2)


def test_zfs_a_line_that_is_there_twice_is_left_out() -> None:
    line, other = "tank/a\tfilesystem\t/a\tyes\t-\t-\n", "tank/a\tfilesystem\t/b\tyes\t-\t-\n"
    assert len(parse_datasets(line * 2)) == 1
    assert parse_datasets(line + other) == ()
    assert parse_pools("tank\t1\t2\t12\toff\t7\ntank\t1\t2\t9\toff\t7\n") == {}
    told = parse_values("t\tsync\ta\t-\tlocal\nt\tsync\tb\t-\tlocal\nt\tatime\ton\t-\tlocal\n")
    assert set(told["t"]) == {"atime"}


def _patterns(path: Path) -> list[str]:
    """Return calls of `re` whose pattern has a digit class and that do not ask for ASCII."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            text = ast.unparse(node)
            if "\\\\d" in text and "re.ASCII" not in text and "re.A)" not in text:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {text[:100]}")
    return found


@pytest.mark.long
def test_digits_of_answers_are_ascii() -> None:
    """`\\d` and `int()` take the digits of every script, which look like others or like nothing."""
    assert [line for path in (ROOT / "backends" / "vendors").rglob("*.py") for line in _patterns(path)] == []
