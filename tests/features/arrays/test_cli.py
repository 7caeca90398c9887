"""`array` on the racks: what is free and why the rest is not, and what would make an array."""

from __future__ import annotations

import pytest

from backends.simulator.profiles.ssds import ssds_rack
from backends.simulator.profiles.table import MACHINES
from backends.simulator.rack import Rack
from tests.cli.conftest import Cli

LSI = ("--demo", "lsi", "array")


def test_free_drives_are_named_with_what_is_known_of_them(cli: Cli) -> None:
    told = cli(*LSI, "list", "--json").json
    free = {one["address"]: one["content_known"] for one in told["drives"] if one["free"]}
    assert free == {"block:nvme0n1": True, "megaraid:/c0/e245/s4": False, "megaraid:/c0/e245/s11": False}
    why = {one["address"]: " ".join(one["why_not"]) for one in told["drives"]}
    assert "hot spare" in why["megaraid:/c0/e245/s10"]
    assert "foreign configuration" in why["megaraid:/c0/e245/s12"]
    assert "it is in virtual drive 1" in why["megaraid:/c0/e245/s1"]
    assert "/dev/md0 is built on it" in why["scsi:sdf"]
    assert all(bool(why[one["address"]]) is not one["free"] for one in told["drives"])


def test_arrays_are_told_with_the_serial_numbers_of_their_members(cli: Cli) -> None:
    told = cli(*LSI, "list", "--json").json["arrays"]
    (mirror,) = [one for one in told if one["address"] == "megaraid:/c0/v0"]
    assert [member["serial"] for member in mirror["members"]] == ["9QG5K1296", "9QG5K1333"]


def test_the_text_says_why_a_drive_is_not_free(cli: Cli) -> None:
    done = cli(*LSI, "list")
    assert "no: it is a hot spare (GHS)" in done.out
    assert "free (reported by the controller); content unknown" in done.out
    assert "3 of 36 drives are free for a new array." in done.err
    assert "no:" not in cli(*LSI, "list", "--free").out


@pytest.mark.long
@pytest.mark.parametrize("rack", ["hpe", "linux"])
def test_on_racks_where_all_is_used_every_drive_says_so(cli: Cli, rack: str) -> None:
    drives = cli("--demo", rack, "array", "list", "--json").json["drives"]
    assert drives
    assert all(one["why_not"] for one in drives if not one["free"])
    assert not any(one["free"] for one in drives if one["controller"] is not None and one["free_extents"] is None)


ARRAYS = ("--demo", "arrays", "array")


def test_the_rack_with_free_drives_has_one_of_each_reason_against_a_drive(cli: Cli) -> None:
    told = cli(*ARRAYS, "list", "--json").json
    why = {one["address"]: " ".join(one["why_not"]) for one in told["drives"] if not one["free"]}
    assert why.pop("megaraid:/c0/e252/s10") == why.pop("megaraid:/c0/e252/s11") == "it is in virtual drive 0"
    assert why.pop("smartarray:/slot0/1I:1:1") == why.pop("smartarray:/slot0/1I:1:2") == "it is in logical drive 1"
    for number in range(2, 7):
        assert "physical volume" in why.pop(f"block:nvme{number}n1")
    assert why == {
        "megaraid:/c0/e252/s6": "it is a hot spare (GHS)",
        "megaraid:/c0/e252/s7": "the controller reports it as online (JBOD)",
        "megaraid:/c0/e252/s8": "it has a foreign configuration and may belong to an array of another controller",
        "smartarray:/slot0/1I:1:3": "it is a hot spare (OK)",
        "threeware:/c2/p8": "it is a hot spare (u0)",
        "smartarray:/slot0/2I:1:7": (
            "the controller reports it as unassigned drive, predictive failure it predicts failure"
        ),
        "block:nvme1n1": "/dev/nvme1n1 holds a physical volume (LVM2_member).",
    }
    assert sum(one["free"] for one in told["drives"]) == 6 + 8 + 6 + 8 + 8 + 8 + 8 + 1 + 5


@pytest.mark.parametrize(
    ("level", "drives", "maker", "line"),
    [
        ("raid5", ("252:0", "252:1", "252:2"), "storcli64", "/c0 add vd r5 name=rb-1 drives=252:0-2"),
        ("raid10", ("245:0", "245:1", "245:2", "245:3"), "MegaCli64", "-CfgSpanAdd -R10 '-Array0[245:0,245:1]'"),
        ("raid6", ("sdb", "sdc", "sdd", "sde"), "mdadm", "--level=raid6 --raid-devices=4"),
    ],
)
def test_on_that_rack_each_maker_has_a_plan(
    cli: Cli, level: str, drives: tuple[str, ...], maker: str, line: str
) -> None:
    done = cli(*ARRAYS, "create", level, *drives, "--name", "rb-1", "--dry-run")
    assert f"{level} rb-1, created by {maker}" in done.out
    assert line in done.out


def test_a_dry_run_tells_the_commands_and_what_they_make(cli: Cli) -> None:
    done = cli(*LSI, "create", "raid0", "245:4", "--strip", "64k", "--name", "scratch", "--dry-run")
    assert done.status == 0
    assert "/c0 add vd r0 name=scratch drives=245:4 wt nora direct strip=64 J nolog" in done.out
    assert "about 238 GiB" in done.out
    assert "Data from another machine would be lost: 0000000011420931148." in done.err
    told = cli(*LSI, "create", "raid0", "245:4", "--dry-run", "--json").json["array"]
    assert (told["data_drives"], told["costs_drives"], told["made_by"]) == (1, 0, "storcli64")
    assert "add" in told["steps"][0]


def test_without_its_word_nothing_is_made_and_it_is_said(cli: Cli) -> None:
    done = cli(*LSI, "create", "raid0", "nvme0n1")
    assert (done.status, "Nothing was done: confirmation is required, but there is no terminal." in done.err) == (
        3,
        True,
    )
    assert len(cli(*LSI, "list", "--json").json["arrays"]) == 7


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (("raid0", "245:10"), 3, "245:10 cannot be used for an array: it is a hot spare (GHS)."),
        (("raid0", "245:12"), 3, "foreign configuration"),
        (("raid0", "nvme1n1"), 3, "/dev/md0 is built on it"),
        (("raid0", "245:4", "nvme0n1"), 2, "are not on the same controller"),
        (("raid0", "245:4", "245:11"), 2, "different media (hdd, ssd)"),
        (("raid5", "245:4"), 2, "at least 3 drives"),
        (("raid0", "245:99"), 2, "There is no drive '245:99'"),
        (("raid0", "245:4", "--set", "access_policy=blocked"), 2, "access_policy cannot be set when creating an array"),
        (("raid7", "245:4"), 2, "raid7"),
    ],
)
def test_what_is_not_free_or_makes_no_array_is_refused(cli: Cli, words: tuple[str, ...], status: int, why: str) -> None:
    done = cli(*LSI, "create", *words, "--dry-run")
    assert done.status == status
    assert why in done.err


def _roomy() -> Rack:
    """The rack with a DS3400 that has four drives beside its arrays."""
    rack = ssds_rack()
    rack.systems[0].unassigned = 4
    return rack


@pytest.mark.long
@pytest.mark.parametrize("words", [(), ("--confirm", "0013,0014,0015")])
def test_what_a_disk_system_takes_hours_for_is_shown_and_nothing_is_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(MACHINES, "ssds", _roomy)
    create = ("--demo", "ssds", "array", "create", "raid5", "0,13", "0,14", "0,15", "--strip", "128k", "--name", "rb-1")
    statement = 'create logicalDrive drives=(0,13 0,14 0,15) raidLevel=5 userLabel="rb-1" segmentSize=128;'
    done = cli(*create, *words)
    assert (done.status, statement in done.out) == (3, True), done.err
    assert "A disk system needs hours to create and initialise a logical drive" in done.err
    assert "Nothing was done." in done.err
    told = cli(*create, *words, "--json")
    assert (told.status, told.json["dry_run"], told.json["array"]["steps"][0][-1]) == (3, True, statement)
    assert "A disk system needs hours to create and initialise a logical drive" in told.json["array"]["by_hand"]
    assert cli(*create, "--dry-run").status == 0
    assert cli("--demo", "ssds", "array", "list", "--json").json["made_here"] == []
