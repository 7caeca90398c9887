"""Steady state and preconditioning from the command line, on the simulated rack."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Outcome

FAST = ("--demo", "--demo-speed", "1000")
SDB = "megaraid:/c0/v1"


@pytest.fixture
def demo(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Outcome:
        return cli(*FAST, *words)

    return run


@pytest.mark.long
def test_measuring_starts_when_it_is_steady_and_takes_as_long_as_asked(demo: Cli) -> None:
    run = demo("bench", SDB, "--runtime", "20", "--ramp", "2", "--until-steady", "--json").json["run"]
    assert (run["status"], run["steady"]["attained"], run["steady"]["capped"]) == ("ok", True, False)
    assert run["seconds"] == pytest.approx(20, abs=0.5)
    assert run["steady"]["waited_seconds"] == pytest.approx(50, abs=0.5)


@pytest.mark.long
def test_what_is_printed_says_how_it_stood(demo: Cli) -> None:
    done = demo("bench", SDB, "--runtime", "20", "--ramp", "2", "--until-steady")
    assert "Measured: once steady, or after 30 min." in done.err
    assert "settling" in done.err
    assert "Steady state: steady after 50 s, then measured (range" in done.out


@pytest.mark.long
def test_a_run_may_end_when_it_is_steady(demo: Cli) -> None:
    run = demo("bench", SDB, "--runtime", "600", "--ramp", "2", "--end-when-steady", "--json").json["run"]
    assert (run["status"], run["steady"]["ended_early"]) == ("ok", True)
    assert run["seconds"] == pytest.approx(50, abs=0.5)


def test_rounds_are_as_long_as_configured(demo: Cli, state: Path) -> None:
    state.mkdir()
    (state / "config.toml").write_text("steady_round = 2\nsteady_rounds = 4\nsteady_cap = 100\n")
    done = demo("bench", SDB, "--runtime", "5", "--ramp", "2", "--until-steady", "--json")
    steady = done.json["run"]["steady"]
    assert (steady["round_seconds"], steady["window"]) == (2, 4)
    assert steady["waited_seconds"] == pytest.approx(8, abs=0.5)


def test_a_cap_that_is_too_short_is_refused_with_what_it_takes(demo: Cli) -> None:
    done = demo("bench", SDB, "--until-steady", "--steady-cap", "20")
    assert (done.status, "5 rounds of 10 s take 50 s" in done.err) == (2, True)


def test_a_cap_without_the_wait_is_a_mistake(demo: Cli) -> None:
    assert demo("bench", SDB, "--steady-cap", "600").status == 2


@pytest.mark.long
def test_runs_of_an_ab_wait_each_and_are_of_one_length(demo: Cli) -> None:
    words = ("--runtime", "5", "--ramp", "1", "--pairs", "1", "--until-steady", "--steady-round", "2", "--yes")
    done = demo("ab", SDB, "read_ahead=read-ahead", *words)
    assert done.status == 0, done.err
    runs = demo("runs", "--json").json["runs"]
    assert [run["steady"]["attained"] for run in runs] == [True, True]
    assert [run["seconds"] for run in runs] == pytest.approx([5, 5], abs=0.5)


def test_preconditioning_a_device_takes_its_word_and_says_how_much_is_written(demo: Cli) -> None:
    done = demo("precondition", SDB)
    assert done.status == 3
    assert "overwrites all 476 GiB 2 times sequentially, 952 GiB in total" in done.err
    assert "WWN naa.600605b00003e1a74b6e00013c6ef362, 476 GiB.\nAdd --confirm 6ef362" in done.err


def test_the_disk_of_the_system_is_not_preconditioned(demo: Cli) -> None:
    done = demo("precondition", "megaraid:/c0/v0", "--confirm", "3779b1")
    assert (done.status, "the running system is on it" in done.err) == (3, True)


def test_read_only_preconditions_nothing(demo: Cli) -> None:
    assert demo("--read-only", "precondition", SDB, "--confirm", "6ef362").status == 3


@pytest.mark.long
def test_a_file_is_filled_twice_and_put_under_the_workload(demo: Cli) -> None:
    done = demo("precondition", "./scratch", "--size", "1G", "--yes", "--json")
    run = done.json["run"]
    assert (run["status"], run["filled_bytes"], run["steady"]["attained"]) == ("ok", 2 << 30, True)
    assert run["write"]["total_bytes"] > 0
