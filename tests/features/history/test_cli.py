"""`history`: the runs of all sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.events import RunStarted
from app.core.session.paths import Paths
from backends.system.recorded import apart_of
from tests.cli.conftest import Cli
from tests.core import sessions

WWN = "naa.5000039ff4c0ffee"
"""That of sda of the recorded machine."""
DAY = 86_400.0


def day(state: Path, number: int, iops: float, *, wwn: str | None = WWN, kernel: str = "6.1.0") -> None:
    """A session with one run, so many days after the first."""
    started = sessions.started()
    at = 1_700_000_000.0 + number * DAY
    started = replace(started, at=at, machine=replace(started.machine, kernel=kernel))
    events = (started, sessions.seen(wwn=wwn), *sessions.run(iops=iops, at=at))
    sessions.written(state / f"sessions/day{number}", *events)


@pytest.fixture
def history(state: Path) -> None:
    """Four days at 1,000 IOPS, then a new kernel and four at 800."""
    for number, iops in enumerate((1000, 1010, 990, 1005, 800, 810, 790, 805)):
        day(state, number, iops, kernel="6.1.0" if number < 4 else "6.8.0")


@pytest.mark.usefixtures("history")
def test_every_run_has_its_line(cli: Cli) -> None:
    assert [f"day{number}/r1" in cli("history").out for number in range(8)] == [True] * 8


@pytest.mark.usefixtures("history")
def test_the_headline_has_its_unit(cli: Cli) -> None:
    assert "1.00k IOPS" in cli("history").out


@pytest.mark.usefixtures("history")
def test_what_differs_from_the_run_before_is_named(cli: Cli) -> None:
    (row,) = (row for row in cli("history").out.splitlines() if "day4/r1" in row and "block:sda" in row and "ms" in row)
    assert "kernel 6.1.0 -> 6.8.0" in row


@pytest.mark.usefixtures("history")
def test_the_change_of_level_is_told_with_its_cause(cli: Cli) -> None:
    told = cli("history").out.partition("Shifts of the level:")[2]
    assert all(
        word in told for word in ("from day4/r1 on", "-20.0 %", "4 before, 4 from then on", "kernel 6.1.0 -> 6.8.0")
    )


@pytest.mark.usefixtures("history")
def test_as_json_it_has_the_change_of_level(cli: Cli) -> None:
    (change,) = cli("history", "--json").json["changes"]
    assert (change["from"], round(change["percent"]), change["points_before"]) == ("day4/r1", -20, 4)


@pytest.mark.usefixtures("history")
def test_as_json_each_run_has_its_headline(cli: Cli) -> None:
    run = cli("history", "--json").json["runs"][0]
    assert (run["figure"], run["direction"], run["value"], run["p99_ns"]) == ("iops", "read", 1000, 2_000_000)


@pytest.mark.usefixtures("history")
def test_a_workload_can_be_chosen(cli: Cli) -> None:
    assert cli("history", "--profile", "seqread-1m", "--json").json["runs"] == []


@pytest.mark.usefixtures("history")
def test_it_can_begin_at_a_date(cli: Cli) -> None:
    runs = cli("history", "--since", "2023-11-18", "--json").json["runs"]
    assert [run["session"] for run in runs] == ["day4", "day5", "day6", "day7"]


@pytest.mark.usefixtures("history")
def test_it_can_begin_so_long_ago(cli: Cli) -> None:
    assert cli("history", "--since", "2d", "--json").json["runs"] == []


def test_a_moment_that_is_none_is_wrong_usage(cli: Cli) -> None:
    assert cli("history", "--since", "yesterday").status == 2


def simulated(machine: str, number: int, wwn: str) -> None:
    """A session with one run on sda of a machine that is not this one."""
    run, *end = sessions.run()
    assert isinstance(run, RunStarted)
    start = replace(run, simulated=True, at=1000.0 + number)
    events = (sessions.started(simulated=True), sessions.seen(wwn=wwn), start, *end)
    sessions.written(Paths.of(apart_of(Path(machine))).sessions / f"day{number}", *events)


@pytest.mark.parametrize("target", ["block:sda", "sda", "/dev/sda", WWN, WWN.partition(".")[2]])
def test_a_name_means_what_has_it_now(cli: Cli, machine: str, target: str) -> None:
    simulated(machine, 0, "naa.5000000000000001")
    simulated(machine, 1, WWN)
    simulated(machine, 2, "naa.5000000000000001")
    (run,) = cli("--machine", machine, "history", target, "--json").json["runs"]
    assert run["session"] == "day1"


@pytest.mark.usefixtures("history")
def test_what_is_not_there_any_more_is_found_by_the_name_that_it_had(cli: Cli, state: Path) -> None:
    assert len(cli("history", "sda", "--json").json["runs"]) == 8


@pytest.mark.usefixtures("history")
def test_a_target_without_a_run_is_wrong_usage(cli: Cli) -> None:
    assert cli("history", "block:sdzz").status == 2


def test_without_a_run_it_says_how_to_make_one(cli: Cli) -> None:
    assert "raidbench bench TARGET" in cli("history").err


@pytest.mark.feature("plots")
@pytest.mark.usefixtures("history")
def test_the_plot_names_what_it_draws(cli: Cli) -> None:
    assert "sda: IOPS in all sessions" in cli("history", "--plot").out


@pytest.mark.feature("plots")
@pytest.mark.usefixtures("history")
def test_the_plot_can_be_ascii(cli: Cli) -> None:
    assert cli("--ascii", "history", "--plot").out.isascii()


@pytest.mark.usefixtures("history")
def test_redacted_it_has_no_serial_number(cli: Cli) -> None:
    told = cli("history", "--redact", "--json").out
    assert [secret for secret in ("5000039ff4c0ffee", "pear") if secret in told] == []


@pytest.mark.usefixtures("history")
def test_without_its_index_the_answer_is_the_same(cli: Cli, state: Path) -> None:
    first = cli("history", "--json").out
    (state / "runs.sqlite3").unlink()
    assert cli("history", "--json").out == first


@pytest.mark.usefixtures("history")
def test_of_a_damaged_index_it_is_told(cli: Cli, state: Path) -> None:
    (state / "runs.sqlite3").write_bytes(b"x" * 5000)
    assert "damaged; it was rebuilt" in cli("history").err


def test_an_archive_of_another_machine_is_listed_with_the_own_runs(cli: Cli, state: Path, tmp_path: Path) -> None:
    day(state, 1, 1000)
    day(state, 2, 1100)
    file = str(tmp_path / "theirs.rba")
    cli("archive", "day2", "-o", file)
    (state / "sessions/day2/session.jsonl").unlink()
    runs = cli("--session", file, "history", "--json").json["runs"]
    assert [run["session"] for run in runs] == ["day1", "day2"]
