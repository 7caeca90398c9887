"""`runs`, `compare`, `log` and `report` on a session made by hand."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from app.core.session.events import CommandRan
from app.core.session.results import RunStatus
from tests.cli.conftest import ROOT, Cli, argv
from tests.cli.machine import HOSTILE
from tests.core import sessions


@pytest.fixture
def session(state: Path) -> Path:
    """A session with a change and two runs."""
    runs = (*sessions.run("r1", iops=1000), *sessions.run("r2", iops=1100, settings={"read_ahead_kb": "4096"}))
    events = (sessions.started(), sessions.seen(), *sessions.change(), *runs)
    return sessions.written(state / "sessions/first", *events)


def test_runs_are_listed(cli: Cli, session: Path) -> None:
    assert [run["id"] for run in cli("runs", "--json").json["runs"]] == ["r1", "r2"]


def test_a_setting_that_differs_is_a_column(cli: Cli, session: Path) -> None:
    assert "Kernel read-ahead" in cli("runs").out.splitlines()[0]


def test_no_session_has_no_runs(cli: Cli) -> None:
    assert cli("runs", "--json").json["runs"] == []


def test_runs_of_all_sessions_are_named_with_theirs(cli: Cli, session: Path) -> None:
    assert "first/r1" in cli("runs", "--all").out


def test_a_session_is_selected_by_its_name_or_folder(
    cli: Cli, session: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.written(state / "sessions/later", sessions.started(), sessions.seen())
    monkeypatch.chdir(session.parent)
    for name, runs in (("later", []), ("first", ["r1", "r2"]), (str(session), ["r1", "r2"]), ("./first", ["r1", "r2"])):
        assert [run["id"] for run in cli("--session", name, "runs", "--json").json["runs"]] == runs


@pytest.mark.parametrize("words", [("runs",), ("log",), ("report",), ("plot", "r1"), ("undo",), ("runs", "--json")])
def test_a_name_that_no_session_has_is_refused_with_the_nearest(
    cli: Cli, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    unknown = cli("--session", "frist", *words)
    said = unknown.err + unknown.out
    assert (unknown.status, "There is no session frist." in said, "Did you mean first?" in said) == (2, True, True)
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_without_a_session_says_so(cli: Cli, tmp_path: Path) -> None:
    assert "does not contain a session" in cli("--session", str(tmp_path), "runs").err


@pytest.mark.parametrize("words", [("runs",), ("log",), ("report",), ("compare", "r1", "r2"), ("plot", "r1", "r2")])
def test_a_command_that_picks_a_session_names_it_once_and_how_to_choose_another(
    cli: Cli, session: Path, state: Path, words: tuple[str, ...]
) -> None:
    os.utime(sessions.written(state / "sessions/before", sessions.started()) / "session.jsonl", (1000, 1000))
    picked, named = cli(*words).err, cli("--session", "first", *words).err
    hint = "Session first, the last of 2. `raidbench log --list` lists them, `--session NAME` selects one."
    assert (picked.count(hint), picked.count("Session first")) == (1, 1)
    assert [line for line in named.splitlines() if "Session" in line] == ["Session first"]


def test_json_names_the_session_in_a_field_alone(cli: Cli, session: Path) -> None:
    listed = cli("runs", "--json")
    assert (Path(listed.json["session"]).name, "Session" in listed.err) == ("first", False)
    assert cli("runs", "--all", "--json").json["session"] is None


def test_a_new_session_without_runs_says_where_there_are_some(cli: Cli, session: Path, state: Path) -> None:
    for run in ("r1", "r2"):
        (session / "runs" / run).mkdir(parents=True)
    sessions.written(state / "sessions/new", sessions.started())
    said = cli("runs").err
    assert "This session has no runs: `raidbench bench TARGET` starts one." in said
    assert "1 other session has 2 runs: `raidbench runs --all` lists them." in said


def test_a_comparison_has_the_difference(cli: Cli, session: Path) -> None:
    assert "+10.0 %" in cli("compare", "r1", "r2").out


def test_a_comparison_gives_no_verdict(cli: Cli, session: Path) -> None:
    outcome = cli("compare", "r1", "r2")
    assert not re.search(r"faster|slower|better|worse|improve", outcome.out + outcome.err, re.IGNORECASE)


def test_a_comparison_says_that_these_are_single_runs(cli: Cli, session: Path) -> None:
    assert "two single runs" in cli("compare", "r1", "r2").err


def test_a_run_of_another_session_is_named_with_it(cli: Cli, session: Path) -> None:
    assert cli("compare", "first/r1", "r2", "--json").json["a"]["id"] == "r1"


def test_an_unknown_run_is_answered_with_those_there_are(cli: Cli, session: Path) -> None:
    outcome = cli("compare", "r1", "r7")
    assert (outcome.status, "r1, r2" in outcome.err) == (2, True)


def test_the_log_has_every_kind_of_event(cli: Cli, session: Path) -> None:
    out = cli("log").out
    assert all(word in out for word in ("session", "devices", "change   c1 ", "run      r1 "))


def test_the_log_has_the_results_and_the_reason_of_a_run_once(cli: Cli, state: Path) -> None:
    failed = sessions.run("r2", iops=1100, status=RunStatus.FAILED)
    events = (sessions.started(), *sessions.run("r1", iops=1000, warnings=("It was hot.",)), *failed)
    sessions.written(state / "sessions/first", *events)
    out = cli("log").out
    assert (out.count("1.00k IOPS"), out.count("Note: It was hot.")) == (1, 1)
    assert out.count("r2 failed") == 1


def test_the_log_as_json_has_every_event(cli: Cli, session: Path) -> None:
    assert cli("log", "--json").json["events"][0]["event"] == "session-started"


@pytest.fixture
def looked_at(session: Path) -> Path:
    """The same with a command that only read."""
    read = CommandRan(at=1099.0, line="storcli show", mutates=False, seconds=0.1, returncode=0, output="")
    return sessions.written(session, read)


@pytest.mark.parametrize(
    ("words", "told"), [((), False), (("--show", "changes"), False), (("--show", "all"), True), (("--json",), True)]
)
def test_what_was_only_read_is_told_to_whoever_asks(
    cli: Cli, looked_at: Path, words: tuple[str, ...], told: bool
) -> None:
    assert ("storcli show" in cli("log", *words).out) == told


def test_it_is_said_how_many_are_left_out_and_how_they_are_had(cli: Cli, looked_at: Path) -> None:
    assert "Not shown: 1 read-only command (--show all shows them)." in cli("log").err


@pytest.mark.parametrize(("words", "shown", "left_out"), [("changes", " c1 ", " r1 "), ("runs", " r1 ", " c1 ")])
def test_one_kind_alone_can_be_asked_for(cli: Cli, session: Path, words: str, shown: str, left_out: str) -> None:
    out = cli("log", "--show", words).out
    assert (shown in out, left_out in out) == (True, False)


def test_show_chooses_from_the_json_too(cli: Cli, session: Path) -> None:
    kinds = {event["event"] for event in cli("log", "--show", "runs", "--json").json["events"]}
    assert kinds == {"run-started", "run-ended"}


def test_sessions_are_listed(cli: Cli, session: Path) -> None:
    assert [each["name"] for each in cli("log", "--list", "--json").json["sessions"]] == ["first"]


def test_a_torn_line_is_passed_over_and_said(cli: Cli, session: Path) -> None:
    with (session / "session.jsonl").open("ab") as log:
        log.write(b'{"event":"note-added","at":')
    assert "1 line of first could not be read" in cli("log").err


def test_log_of_no_session_is_said(cli: Cli) -> None:
    assert "There is no session yet" in cli("log").err


def test_follow_shows_what_is_added(session: Path) -> None:
    process = subprocess.Popen(argv("log", "--follow"), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    sessions.written(session, sessions.note("added later"))
    line = next(line for line in process.stdout if "note" in line)
    process.terminate()
    process.wait(30)
    process.stdout.close()
    assert "added later" in line


def test_the_report_is_markdown_by_default(cli: Cli, session: Path) -> None:
    assert cli("report").out.startswith("# Storage session")


def test_the_report_as_json_has_the_changes(cli: Cli, session: Path) -> None:
    assert [change["id"] for change in cli("report", "--format", "json").json["changes"]] == ["c1"]


def test_the_ending_of_the_file_chooses_the_format(cli: Cli, session: Path, tmp_path: Path) -> None:
    cli("report", "-o", str(tmp_path / "out.json"))
    assert (tmp_path / "out.json").read_text().startswith("{")


def test_an_existing_file_is_not_replaced(cli: Cli, session: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    file.write_text("mine")
    assert (cli("report", "-o", str(file)).status, file.read_text()) == (3, "mine")


def test_an_existing_file_is_replaced_with_force(cli: Cli, session: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    file.write_text("mine")
    cli("report", "-o", str(file), "--force")
    assert file.read_text().startswith("# Storage session")


@pytest.mark.parametrize(("name", "begins"), [("a.html", "<!DOCTYPE html>"), ("a.csv", "run,session"), ("a.md", "# S")])
def test_a_report_has_the_format_of_its_name(cli: Cli, session: Path, tmp_path: Path, name: str, begins: str) -> None:
    cli("report", "-o", str(tmp_path / name))
    assert (tmp_path / name).read_text().startswith(begins)


def test_a_report_for_fio_plot_is_a_folder(cli: Cli, session: Path, tmp_path: Path) -> None:
    cli("report", "--format", "fio-plot", "-o", str(tmp_path / "plot"))
    assert (tmp_path / "plot/README.txt").is_file()


@pytest.mark.parametrize("words", [("--format", "fio-plot"), ("--samples",), ("--format", "pdf")])
def test_a_report_that_cannot_be_is_wrong_usage(cli: Cli, session: Path, words: tuple[str, ...]) -> None:
    assert cli("report", *words).status == 2


def test_a_report_of_nothing_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("report", str(tmp_path)).status == 2


@pytest.mark.parametrize("words", [("log",), ("report",), ("log", "--json"), ("report", "--format", "json")])
def test_hostile_names_stay_text(cli: Cli, state: Path, words: tuple[str, ...]) -> None:
    events = (sessions.started(), sessions.seen(HOSTILE), sessions.note(HOSTILE))
    sessions.written(state / "sessions/hostile", *events)
    assert not {"\x1b", "\x07", "\u202e"} & set(cli(*words).out)


@pytest.fixture
def other(state: Path, session: Path) -> Path:
    """A later session, of another file behind the same device."""
    run = sessions.run("r1", iops=5000, provenance={"backing_inode": "8:1:8"})
    return sessions.written(state / "sessions/second", sessions.started(), sessions.seen(), *run)


def test_what_differs_between_two_sessions_is_in_the_table(cli: Cli, other: Path) -> None:
    rows = [re.split(r"\s{2,}", line.strip()) for line in cli("compare", "first/r1", "second/r1").out.splitlines()]
    assert ["Inode of the backing file", "-", "8:1:8"] in rows


def test_two_sessions_are_said_to_be_two(cli: Cli, other: Path) -> None:
    told = cli("compare", "first/r1", "second/r1", "--json").json
    assert (told["two_sessions"], told["between_sessions"], told["interleaved"]) == (True, None, False)


def test_the_other_sessions_of_this_machine_tell_how_far_sessions_lie_apart(cli: Cli, other: Path, state: Path) -> None:
    for number, iops in enumerate((900, 1000, 1100, 1000)):
        made = sessions.run("r1", iops=iops, at=1003.0)
        sessions.written(state / f"sessions/s{number}", sessions.started(), *made)
    assert cli("compare", "first/r1", "second/r1", "--json").json["between_sessions"]["sessions"] == 4
