"""`archive`: a file stands for a session, wherever one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.core import sessions


@pytest.fixture
def file(state: Path, cli: Cli, tmp_path: Path) -> str:
    """The archive of a session that this machine does not have."""
    runs = (*sessions.run("r1", iops=1000), *sessions.run("r2", iops=1500, settings={"read_ahead_kb": "4096"}))
    away = sessions.written(tmp_path / "away", sessions.started(), sessions.seen(), *runs)
    made = tmp_path / "away.zip"
    assert cli("archive", str(away), "-o", str(made)).status == 0
    sessions.written(state / "sessions/here", sessions.started(), sessions.seen(), *sessions.run("r1", iops=2000))
    return str(made)


def test_its_runs_are_listed(cli: Cli, file: str) -> None:
    assert [run["id"] for run in cli("--session", file, "runs", "--json").json["runs"]] == ["r1", "r2"]


def test_its_runs_are_said_to_be_of_the_file(cli: Cli, file: str) -> None:
    assert {run["session"] for run in cli("--session", file, "runs", "--json").json["runs"]} == {file}


def test_a_run_of_it_is_compared_with_one_of_this_machine(cli: Cli, file: str) -> None:
    assert "+100.0 %" in cli("compare", f"{file}/r1", "r1").out


def test_two_runs_of_it_are_compared_as_of_one_session(cli: Cli, file: str) -> None:
    assert "+50.0 %" in cli("compare", f"{file}/r1", f"{file}/r2").out


def test_it_makes_a_report(cli: Cli, file: str) -> None:
    assert "# Storage session" in cli("report", file).out


def test_a_report_of_it_names_the_file_and_not_where_it_was_unpacked(cli: Cli, file: str) -> None:
    assert cli("report", file, "--format", "json").json["session"]["folder"] == file


def test_a_redacted_one_is_said_to_differ_for_that_alone(cli: Cli, file: str, tmp_path: Path) -> None:
    masked = str(tmp_path / "masked.zip")
    cli("archive", file, "-o", masked, "--redact")
    both = [("pseudonyms" in cli("compare", f"{one}/r1", "r1").err) for one in (masked, file)]
    assert both == [True, False]


def test_its_log_is_shown(cli: Cli, file: str) -> None:
    assert "r2" in cli("log", file).out


def test_a_damaged_one_is_refused_in_a_sentence(cli: Cli, file: str) -> None:
    content = bytearray(Path(file).read_bytes())
    content[100] ^= 1
    Path(file).write_bytes(content)
    refused = cli("report", file)
    assert (
        refused.status,
        refused.err.count("is damaged: its checksum does not match."),
        "Traceback" in refused.err,
    ) == (3, 1, False)


def test_a_file_that_is_there_is_not_replaced(cli: Cli, file: str) -> None:
    assert cli("archive", "-o", file).status == 3


def test_a_file_is_replaced_with_force(cli: Cli, file: str) -> None:
    made = cli("archive", "-o", file, "--force", "--json").json
    assert (made["archive"], made["files"], made["redacted"]) == (file, 1, False)


def test_a_redacted_one_names_no_host(cli: Cli, file: str, tmp_path: Path) -> None:
    cli("archive", file, "-o", str(tmp_path / "masked.zip"), "--redact")
    run = cli("--session", str(tmp_path / "masked.zip"), "runs", "--json").json["runs"][0]
    assert run["provenance"]["host"] != "pear"


def test_its_runs_are_in_the_history_of_this_machine(cli: Cli, file: str) -> None:
    assert "away/r2" in cli("--session", file, "history").out
