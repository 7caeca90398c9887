"""Job files of several sections, on every command that takes a job file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Outcome

TEXT = """[global]
ioengine=libaio
direct=1
time_based
runtime=20
iodepth=16
[reader]
rw=randread
bs=4k
[scan]
rw=read
bs=128k
[later]
stonewall
rw=randread
runtime=10
"""
SDB = "megaraid:/c0/v1"


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli("--demo", "--demo-speed", "1000", *words)

    return run


@pytest.fixture
def jobfile(tmp_path: Path) -> str:
    path = tmp_path / "several.fio"
    path.write_text(TEXT)
    return str(path)


def measured(demo: Cli, jobfile: str, *words: str) -> Outcome:
    done = demo("bench", SDB, "--jobfile", jobfile, *words)
    assert done.status == 0, done.err
    return done


@pytest.mark.long
def test_all_sections_run_and_each_has_figures(demo: Cli, jobfile: str) -> None:
    run = json.loads(measured(demo, jobfile, "--json").out)["run"]
    assert [(one["name"], one["phase"], one["group"], one["starts_s"]) for one in run["sections"]] == [
        ("reader", 1, 1, 0.0),
        ("scan", 1, 1, 0.0),
        ("later", 2, 2, 20.0),
    ]
    assert [one["job"]["bs"] for one in run["sections"]] == ["4k", "128k", "4k"]
    assert [round(one["seconds"]) for one in run["sections"]] == [20, 20, 10]
    assert [one["sections"] for one in run["groups"]] == [["reader", "scan"], ["later"]]
    assert run["seconds"] == pytest.approx(30, abs=0.1)
    assert sum(one["read"]["total_ios"] for one in run["sections"]) == run["read"]["total_ios"]


def test_a_run_of_one_section_has_no_sections(demo: Cli, jobfile: str) -> None:
    run = json.loads(measured(demo, jobfile, "--section", "later", "--json").out)["run"]
    assert (run["sections"], run["groups"], run["job"]["rw"], run["job"]["runtime"]) == (None, None, "randread", "10")


@pytest.mark.long
def test_the_table_has_a_row_for_each_section_and_for_their_sum(demo: Cli, jobfile: str) -> None:
    rows = [line.split()[0] for line in measured(demo, jobfile).out.splitlines() if line]
    assert [word for word in rows if word in ("r1", "reader", "scan", "later")] == [
        "r1",
        "reader",
        "scan",
        "later",
        "reader",  # reader + scan
    ]


@pytest.mark.long
def test_every_interval_has_the_sections_that_run(demo: Cli, jobfile: str) -> None:
    lines = [json.loads(line) for line in measured(demo, jobfile, "--stream").out.splitlines()]
    running = {tuple(row["name"] for row in line["sections"] if row["read"]) for line in lines}
    assert running == {("reader", "scan"), ("later",)}


def test_a_dry_run_shows_the_very_job_file(demo: Cli, jobfile: str) -> None:
    done = measured(demo, jobfile, "--dry-run")
    assert [line for line in done.out.splitlines() if line.startswith("[")] == [
        "[raidbench-1]",
        "[raidbench-2]",
        "[raidbench-3]",
    ]
    assert done.out.count("stonewall=1") == 1
    assert "scan: 128k sequential read" in done.err
    told = json.loads(measured(demo, jobfile, "--dry-run", "--json").out)
    assert told["jobfile"] in done.out
    assert [one["name"] for one in told["sections"]] == ["reader", "scan", "later"]


def test_an_option_changes_every_section(demo: Cli, jobfile: str) -> None:
    told = json.loads(measured(demo, jobfile, "--dry-run", "--json", "--runtime", "5").out)
    assert [one["job"]["runtime"] for one in told["sections"]] == ["5", "5", "5"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench", SDB, "megaraid:/c1/v0"), "one target"),
        (("bench", SDB, "--until-steady"), "steady state"),
        (("bench", SDB, "--end-when-steady"), "steady state"),
        (("bench", "sdb", "--hosts", "a,b"), "3 sections: reader, scan, later"),
        (("ab", SDB, "read_ahead=read-ahead"), "3 sections: reader, scan, later"),
        (("ab", SDB, "--null"), "3 sections: reader, scan, later"),
    ],
)
def test_what_takes_one_job_says_how_to_name_it(demo: Cli, jobfile: str, words: tuple[str, ...], said: str) -> None:
    done = demo(*words, "--jobfile", jobfile)
    assert done.status != 0
    assert said in done.err
    assert "--section NAME" in done.err


def test_an_ab_measures_the_named_section(demo: Cli, jobfile: str) -> None:
    words = ("--jobfile", jobfile, "--section", "scan", "--pairs", "3", "--dry-run", "--json")
    done = demo("ab", SDB, "read_ahead=read-ahead", *words)
    assert done.status == 0, done.err
    assert '"bs": "128k"' in done.out


def test_a_section_that_is_not_there_is_named_with_those_that_are(demo: Cli, jobfile: str) -> None:
    done = demo("bench", SDB, "--jobfile", jobfile, "--section", "nobody")
    assert (done.status, "no section nobody" in done.err, "reader, scan, later" in done.err) == (2, True, True)


def test_a_section_is_about_a_job_file(demo: Cli) -> None:
    assert "--section needs --jobfile" in demo("bench", SDB, "--section", "x").err


@pytest.mark.long
def test_a_baseline_is_of_one_job(demo: Cli, jobfile: str) -> None:
    measured(demo, jobfile, "--repeat", "3")
    done = demo("baseline", "save", "several", "r1", "r2", "r3")
    assert (done.status != 0, "--section NAME" in done.err) == (True, True)


@pytest.mark.long
def test_runs_are_compared_section_by_section(demo: Cli, jobfile: str) -> None:
    measured(demo, jobfile, "--repeat", "2")
    lines = demo("compare", "r1", "r2").out.splitlines()
    assert [line.split(":")[0] for line in lines[1:4]] == ["reader", "scan", "later"]
    told = json.loads(demo("compare", "r1", "r2", "--json").out)
    assert [one["name"] for one in told["sections"]] == ["reader", "scan", "later"]
    assert "MiB/s" in told["sections"][1]["sentence"]


@pytest.mark.long
def test_a_section_repeats_none_that_had_others_beside_it(demo: Cli, jobfile: str, tmp_path: Path) -> None:
    other = tmp_path / "other.fio"
    other.write_text(TEXT.replace("bs=128k", "bs=64k"))
    measured(demo, jobfile)
    measured(demo, str(other))
    lines = demo("compare", "r1", "r2").out.splitlines()
    assert not any("repeats" in line for line in lines[:4])


@pytest.mark.long
def test_a_report_has_rows_and_curves_of_each_section(demo: Cli, jobfile: str, tmp_path: Path) -> None:
    measured(demo, jobfile)
    text = demo("report").out
    assert all(f"| {name}: " in text for name in ("reader", "scan", "later"))
    page = tmp_path / "report.html"
    demo("report", "-o", str(page))
    assert "IOPS of each section" in page.read_text()
    assert "scan read" in page.read_text()


@pytest.mark.long
def test_csv_has_a_row_for_each_section_with_its_own_job(demo: Cli, jobfile: str) -> None:
    measured(demo, jobfile)
    rows = list(csv.DictReader(io.StringIO(demo("report", "--format", "csv").out)))
    assert [(row["row"], row["section"], row["job_bs"]) for row in rows] == [
        ("run", "", ""),
        ("section", "reader", "4k"),
        ("section", "scan", "128k"),
        ("section", "later", "4k"),
        ("group", "reader, scan", ""),
        ("group", "later", ""),
    ]
    samples = list(csv.DictReader(io.StringIO(demo("report", "--format", "csv", "--samples").out)))
    assert {row["section"] for row in samples if row["row"] == "section"} == {"reader", "scan", "later"}


@pytest.mark.long
def test_fio_plot_gets_no_run_of_several_sections_and_is_told_so(demo: Cli, jobfile: str, tmp_path: Path) -> None:
    measured(demo, jobfile)
    measured(demo, jobfile, "--section", "scan")
    folder = tmp_path / "plots"
    demo("report", "--format", "fio-plot", "-o", str(folder))
    assert "several sections: r1." in (folder / "README.txt").read_text()
    assert [path.name for path in folder.glob("*/*.json")] == ["read-16-1.json"]


def test_names_of_sections_do_no_harm(demo: Cli, tmp_path: Path) -> None:
    path = tmp_path / "hostile.fio"
    path.write_text(
        "[global]\nruntime=5\nrw=randread\ndirect=1\nioengine=libaio\n[=1+1 <b>\x1b[31m]\n[=1+1 <b>\x1b[31m]\n"
    )
    done = demo("bench", SDB, "--jobfile", str(path))
    assert done.status == 0, done.err
    assert "\x1b" not in done.out + done.err
    page = tmp_path / "report.html"
    demo("report", "-o", str(page))
    assert "<b>" not in page.read_text().replace("<b>SIMULATED", "")
    rows = list(csv.DictReader(io.StringIO(demo("report", "--format", "csv").out)))
    assert all(row["section"].startswith("'=") for row in rows if row["row"] == "section")
