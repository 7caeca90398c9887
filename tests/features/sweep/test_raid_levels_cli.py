"""Sweeps over levels on the command line: shown with all that they make, asked about once, reported by level."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

ARRAYS = ("--demo", "arrays", "--demo-speed", "1000")
WORD = "3-2f9ba9"
DRIVES = ("--drives", "sdb,sdc,sdd")
PLAN = """
title = "small"
[targets]
it = ""
[measure]
target = "it"
repeats = 2
pairs = 0
[job]
rw = "randread"
runtime = "2s"
ramp = "0s"
"""


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "small.toml"
    file.write_text(PLAN)
    return str(file)


def test_the_plan_that_comes_along_names_drives_arrays_time_and_word(cli: Cli) -> None:
    shown = cli(*ARRAYS, "sweep", "levels", "--dry-run")
    assert shown.status == 0, shown.err
    for words in ("S47FNA0M201700", "4-16d6ac", "--level=raid6", "created 2 times, about", "no verdict"):
        assert words in shown.out
    making = cli(*ARRAYS, "sweep", "levels", "--dry-run", "--json").json["sweep"]["making"]
    assert [array["level"] for array in making["arrays"]] == ["raid0", "raid10", "raid5", "raid6"]


@pytest.mark.long
def test_options_make_the_arrays_that_a_plan_measures_and_the_word_is_asked_for_once(
    cli: Cli, plan: str, tmp_path: Path
) -> None:
    words = (*ARRAYS, "sweep", plan, "--level", "raid0", "--strip", "64k,128k", *DRIVES)
    refused = cli(*words)
    assert refused.status == 3
    assert f"--confirm {WORD}" in refused.err
    assert cli(*ARRAYS, "array", "list", "--json").json["made_here"] == []
    done = cli(*words, "--confirm", WORD, "--json")
    assert done.status == 0, done.err
    swept = done.json["sweep"]
    assert (swept["result"], swept["left"], swept["refused"]) == ("finished", [], [])
    assert {cell["row"] for cell in swept["cells"]} == {"raid0, strip 64 KiB", "raid0, strip 128 KiB"}
    assert done.err.count("Created the array") == done.err.count("Deleted the array") == 4
    left = cli(*ARRAYS, "array", "list", "--json").json
    assert (left["made_here"], [one for one in left["arrays"] if one["address"].startswith("md:")]) == ([], [])
    file = tmp_path / "report.md"
    assert cli(*ARRAYS, "report", Path(swept["session"]).name, "-o", str(file)).status == 0
    assert "raid0, strip 128 KiB" in file.read_text()
    assert "S47FNA0M201700" in file.read_text()


@pytest.mark.long
def test_levels_of_a_3ware_card_are_made_measured_and_deleted_in_turn(cli: Cli, plan: str) -> None:
    words = (*ARRAYS, "sweep", plan, "--level", "raid0,raid5", "--strip", "64k", "--drives", "p0,p1,p2")
    done = cli(*words, "--confirm", "3-0b4c45", "--json")
    assert done.status == 0, done.err
    swept = done.json["sweep"]
    assert (swept["result"], swept["left"], swept["refused"]) == ("finished", [], [])
    assert {cell["row"] for cell in swept["cells"]} == {"raid0, strip 64 KiB", "raid5, strip 64 KiB"}
    assert done.err.count("Created the array") == done.err.count("Deleted the array") > 0
    left = cli(*ARRAYS, "array", "list", "--json").json
    assert (left["made_here"], [one for one in left["arrays"] if one["address"].startswith("threeware:")]) == ([], [])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--level", "raid0"), "--level needs drives"),
        (("--strip", "64k"), "--strip, --spans, --layout, --set and --assume-clean need --level."),
        (("--spans", "2"), "--strip, --spans, --layout, --set and --assume-clean need --level."),
        (("--set", "write_cache=write-back"), "--strip, --spans, --layout, --set and --assume-clean need --level."),
        (("--level", "raid0", "--spans", "2", *DRIVES), "--spans is only valid for raid10, raid50, raid60"),
        (("--level", "raid50", "--spans", "2,two", *DRIVES), "--spans must be different integers"),
        (("--level", "raid50", "--spans", "2,2", *DRIVES), "--spans must be different integers"),
        (("--level", "raid0", "--set", "write_cache", *DRIVES), "'write_cache' is not KEY=VALUE"),
        (
            ("--level", "raid0", "--set", "write_cache=write-back", *DRIVES),
            "An md array takes no policies at creation.",
        ),
        (DRIVES, "The plan creates no arrays."),
        (("--level", "raid9", *DRIVES), "--level can be raid0"),
        (("--level", "raid0", "--drives", "sdb,sdz"), "There is no drive 'sdz'"),
        (("--level", "raid5", "--drives", "252:0,252:1,252:2", "--assume-clean"), "assume_clean is only for md"),
    ],
)
def test_wrong_words_are_refused(cli: Cli, plan: str, words: tuple[str, ...], says: str) -> None:
    done = cli(*ARRAYS, "sweep", plan, *words, "--yes")
    assert done.status in (2, 3)
    assert says in done.err


@pytest.mark.long
def test_an_array_of_fewer_members_takes_the_first_drives_and_their_part_of_the_word(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "levels.toml"
    axis = """[[axis]]\narray = "level"\nvalues = ["raid0"]\nstrip = "64k"
drives = ["sdb", "sdc", "sdd"]\nmembers = { raid0 = 2 }\n"""
    file.write_text(PLAN.replace('[targets]\nit = ""\n', "").replace('target = "it"\n', "") + axis)
    done = cli(*ARRAYS, "sweep", str(file), "--confirm", WORD, "--json")
    assert done.status == 0, done.err
    swept = done.json["sweep"]
    assert (swept["result"], swept["left"], swept["refused"]) == ("finished", [], [])
    assert [(one["level"], one["members"]) for one in swept["design"]["making"]["arrays"]] == [("raid0", 2)]
    assert cli(*ARRAYS, "array", "list", "--json").json["made_here"] == []


CARD = ("--drives", ",".join(f"/aac2/0:{device}" for device in range(8)))
CARD_WORD = "8-8a431f"


@pytest.mark.long
def test_each_number_of_spans_is_an_array_that_is_made_measured_and_deleted(cli: Cli, plan: str) -> None:
    drives = ("--drives", ",".join(f"245:{slot}" for slot in range(8)))
    words = (*ARRAYS, "sweep", plan, "--level", "raid10,raid50", "--spans", "every", *drives, "--confirm", "8-5bb7db")
    done = cli(*words, "--json")
    assert done.status == 0, done.err
    swept = done.json["sweep"]
    assert (swept["result"], swept["left"]) == ("finished", [])
    assert {cell["row"] for cell in swept["cells"]} == {"raid10, 2 spans", "raid10, 4 spans", "raid50, 2 spans"}
    assert [one["spans"] for one in swept["design"]["making"]["arrays"]] == [2, 4, 2]
    assert done.err.count("Created the array") == done.err.count("Deleted the array") == 6
    assert (done.err.count(", 2 spans, strip 256 KiB."), done.err.count(", 4 spans, strip 256 KiB.")) == (4, 2)
    assert cli(*ARRAYS, "array", "list", "--json").json["made_here"] == []


@pytest.mark.long
def test_nothing_is_measured_on_an_array_whose_policy_is_not_the_one_it_was_made_with(
    cli: Cli, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*ARRAYS, "sweep", plan, "--level", "raid50", "--confirm", CARD_WORD, *CARD)
    policy = ("--set", "write_cache=write-back")
    done = cli(*words, *policy, "--json")
    assert done.status == 0, done.err
    assert done.json["sweep"]["design"]["making"]["policies"] == {"write_cache": "write-back"}
    monkeypatch.setattr("backends.simulator.smartarray.arcconf._WRITE", dict.fromkeys(("wt", "wbb", "wb"), "Disabled"))
    done = cli(*words, *policy, "--json")
    assert "is write-through instead of write-back" in done.err
    cells = done.json["sweep"]["cells"]
    assert [(cell["runs"], "instead of write-back" in cell["failures"][0]) for cell in cells] == [(0, True)]
    assert cli(*ARRAYS, "array", "list", "--json").json["made_here"] == []


def test_a_plan_with_levels_takes_fewer_drives(cli: Cli) -> None:
    words = (*ARRAYS, "sweep", "articles-b", "--pool", "ssd of kernel", "--members", "6", "--dry-run", "--json")
    making = cli(*words).json["sweep"]["making"]
    assert len(making["drives"]) == 6
    assert [one["members"] for one in making["arrays"]] == [*[None] * 6, 1]
    levels = ["raid0", "raid5", "raid6", "raid50", "raid10", "raid10", "jbod"]
    assert [one["level"] for one in making["arrays"]] == levels
    assert [one["layout"] for one in making["arrays"] if one["level"] == "raid10"] == ["n2", "f2"]
