"""`ab`, `compare`, `runs` and `--repeat` on the simulated rack: what is measured in pairs is judged, and put back."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Cli, Outcome, argv, run_here

SDB = "megaraid:/c0/v1"
FAST = ("--demo", "--demo-speed", "1000")
SHORT = ("--runtime", "4", "--ramp", "0")
AHEAD = ("ab", SDB, "read_ahead=read-ahead", *SHORT)


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli(*FAST, *words)

    return run


def value_of(demo: Cli, key: str) -> Any:
    shown = demo("show", SDB, "--json").json
    return next(one["now"] for one in shown["target"]["settings"] if one["key"] == key)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """An experiment that goes on until it is decided, and the state folder it was made in."""
    folder = tmp_path_factory.mktemp("decided")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(folder))
        return run_here(*FAST, *AHEAD, "--yes", "--json"), folder


def test_read_ahead_is_slower_and_is_put_back(
    demo: Cli, decided: tuple[Outcome, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    done, folder = decided
    found = done.json["experiment"]
    reads = next(row for row in found["figures"] if row["figure"] == "iops")
    assert (done.status, found["restored"], found["pairs"], len(done.json["runs"])) == (0, True, 6, 12)
    assert reads["verdict"] == "slower"
    assert -22 < reads["interval_percent"][0] < reads["percent"] < reads["interval_percent"][1] < -15
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    assert value_of(demo, "read_ahead") == "none"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What is said of an experiment of three pairs, by the command that says it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path_factory.mktemp("three")))
        said = {"ab": run_here(*FAST, *AHEAD, "--pairs", "3", "--yes")}
        for words in (("runs",), ("log",), ("compare", "e1"), ("compare", "e1", "--json"), ("compare", "e7")):
            said[" ".join(words)] = run_here(*FAST, *words)
        order = said["compare e1 --json"].json["experiment"]["order"]
        a, b = (f"r{order.index(letter) + 1}" for letter in "AB")
        said["its runs"] = run_here(*FAST, "compare", a, b, "--json")
        return said


@pytest.mark.long
def test_the_answer_comes_first_and_in_one_sentence(three: dict[str, Outcome]) -> None:
    done = three["ab"]
    first = done.out.splitlines()[0]
    assert first.startswith("Slower with read-ahead than with read-ahead none: read IOPS -1")
    assert "SIMULATED" in done.out
    assert "Read-ahead was restored to none" in done.err
    assert "not yet decided" in done.err
    assert three["runs"].out.splitlines()[-1].startswith("e1  Slower with read-ahead than")
    assert "slower, read IOPS -1" in three["log"].out
    assert first in three["compare e1"].out


@pytest.mark.long
def test_two_runs_of_it_stand_for_their_pairs(three: dict[str, Outcome]) -> None:
    compared = three["its runs"].json
    assert (compared["interleaved"], len(compared["runs_a"])) == (True, 3)
    assert "Slower with read-ahead than with read-ahead none" in compared["sentence"]


@pytest.mark.long
def test_an_experiment_that_is_not_there_names_those_there_are(three: dict[str, Outcome]) -> None:
    missing = three["compare e7"]
    assert (missing.status, "Experiments: e1" in missing.err) == (2, True)


def test_the_plan_is_shown_before_it_is_asked_about(demo: Cli) -> None:
    shown = demo(*AHEAD, "--dry-run")
    assert shown.status == 0
    assert "set rdcache=ra " in shown.out
    assert "set rdcache=nora " in shown.out
    assert "20 pairs at most, evaluated after 6, 8, 10, 12, 16 and 20" in shown.out
    assert "40 runs" in shown.out
    assert demo("runs", "--json").json["runs"] == []


@pytest.fixture(scope="module")
def null(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What is said of the same against itself, and of plans made after it."""
    job = ("--profile", "randread-4k", *SHORT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path_factory.mktemp("null")))
        plan = ("ab", SDB, "read_ahead=read-ahead", *job, "--dry-run", "--json")
        said = {"before": run_here(*FAST, *plan), "unknown": run_here(*FAST, *plan, "--detect", "5%")}
        said["null"] = run_here(*FAST, "ab", SDB, "--null", *job, "--yes")
        said["json"] = run_here(*FAST, "compare", "e1", "--json")
        said["log"] = run_here(*FAST, "log", "--show", "changes", "--json")
        said["after"] = run_here(*FAST, *plan)
        said["words"] = run_here(*FAST, *plan[:-1])
        said["detect"] = run_here(*FAST, *plan, "--detect", "5%")
        sweep = ("sweep", "queue-depth", "--target", f"array={SDB}", "--dry-run")
        said["sweep"] = run_here(*FAST, *sweep)
        said["too small"] = run_here(*FAST, *plan, "--detect", "0.01%")
        return said


@pytest.mark.long
def test_the_same_against_itself_sets_nothing(null: dict[str, Outcome]) -> None:
    changes = [one for one in null["log"].json["events"] if one["type"].startswith("change")]
    assert (null["null"].status, changes) == (0, [])
    assert null["json"].json["experiment"]["null"]


@pytest.mark.long
def test_it_tells_how_far_runs_lie_apart_and_what_pairs_show(null: dict[str, Outcome]) -> None:
    first = null["null"].out.splitlines()[0]
    assert re.match(
        r"Run-to-run noise here: \d+\.\d % \(12 runs\)\. The usual 20 pairs can show a difference of ", first
    )
    assert "20 % needs 3 pairs" in first


@pytest.mark.long
def test_a_plan_says_what_is_not_known(null: dict[str, Outcome]) -> None:
    assert null["before"].json["plan"]["noise"] is None


@pytest.mark.long
def test_a_plan_after_it_says_what_its_pairs_show_before_anything_is_set(null: dict[str, Outcome]) -> None:
    noise = null["after"].json["plan"]["noise"]
    assert ([each["pairs"] for each in noise["sees"]], noise["runs"]) == ([6, 8, 10, 12, 16, 20], 12)
    assert [each["percent"] for each in noise["pairs_for"]] == [5, 10, 20]
    assert "Run-to-run noise here: " in null["words"].out


def test_the_plan_of_a_sweep_says_what_is_not_known(null: dict[str, Outcome]) -> None:
    """Its jobs are others than the one that was measured."""
    assert "Noise" in null["sweep"].out
    assert "measure the run-to-run noise with `raidbench ab TARGET --null`" in null["sweep"].out


def test_the_number_of_pairs_is_chosen_by_the_effect_to_detect(null: dict[str, Outcome]) -> None:
    pairs = null["detect"].json["plan"]["pairs"]
    wanted = null["detect"].json["plan"]["noise"]["pairs_for"][0]["pairs"]
    assert (null["detect"].status, pairs) == (0, wanted)


def test_without_the_noise_it_says_what_it_needs(null: dict[str, Outcome]) -> None:
    assert (null["unknown"].status, "--null" in null["unknown"].err) == (2, True)


def test_what_no_pairs_show_is_not_begun(null: dict[str, Outcome]) -> None:
    assert (null["too small"].status, "so 50 pairs detect" in null["too small"].err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("ab", SDB),
        (*AHEAD, "--null"),
        ("ab", SDB, "--null", "--detect", "5%"),
        (*AHEAD, "--detect", "5%", "--pairs", "3"),
    ],
)
def test_a_setting_or_null_and_one_way_to_choose_pairs(demo: Cli, words: tuple[str, ...]) -> None:
    assert demo(*words).status == 2


def test_nobody_to_ask_is_told_what_to_add(demo: Cli) -> None:
    refused = demo(*AHEAD)
    assert (refused.status, "--yes" in refused.err) == (3, True)


@pytest.mark.long
def test_a_risk_wants_the_word_of_the_target(demo: Cli) -> None:
    risky = ("ab", SDB, "write_cache=always-write-back", *SHORT, "--pairs", "1", "--yes")
    assert demo(*risky).status == 3
    done = demo(*risky, "--confirm", "6ef362")
    assert (done.status, value_of(demo, "write_cache")) == (0, "write-through")


@pytest.mark.long
def test_a_writing_job_wants_the_word_of_the_device(demo: Cli) -> None:
    wish = ("ab", SDB, "read_ahead=read-ahead", *SHORT, "--rw", "randwrite", "--pairs", "1", "--yes")
    refused = demo(*wish)
    assert (refused.status, "WRITES to /dev/sdb" in refused.err) == (3, True)
    assert demo(*wish, "--confirm", "6ef362").status == 0


def test_what_cannot_be_set_in_turn_is_refused(demo: Cli) -> None:
    refused = demo("ab", SDB, "strip_size=131072", *SHORT, "--yes")
    assert refused.status != 0
    assert demo("runs", "--json").json["runs"] == []


def test_nothing_is_tried_against_itself(demo: Cli) -> None:
    assert demo("ab", SDB, "read_ahead=none", *SHORT, "--yes").status == 2


@pytest.mark.long
def test_something_else_than_the_target_can_be_measured(demo: Cli) -> None:
    done = demo(*AHEAD, "--on", "megaraid:/c1/v0", "--pairs", "3", "--yes", "--json")
    found = done.json["experiment"]
    assert (found["measured"], found["target"]) == ("megaraid:/c1/v0", SDB)
    assert next(row["verdict"] for row in found["figures"] if row["figure"] == "iops") != "slower"


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Three groups of runs, the second with another setting: what was said of each, and of them together."""
    group = ("bench", SDB, *SHORT, "--repeat", "3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path_factory.mktemp("groups")))
        said = {"first": run_here(*FAST, *group, "--json")}
        said["runs"] = run_here(*FAST, "runs")
        said["within"] = run_here(*FAST, "compare", "r1", "r2")
        run_here(*FAST, "set", SDB, "read_ahead=read-ahead", "--yes")
        said["second"] = run_here(*FAST, *group)
        said["one after the other"] = run_here(*FAST, "compare", "r1", "r4")
        run_here(*FAST, "undo", "--yes")
        run_here(*FAST, *group)
        said["measured again"] = run_here(*FAST, "compare", "r1", "r4")
        return said


@pytest.mark.long
def test_repeats_have_a_mean_and_an_interval(groups: dict[str, Outcome]) -> None:
    reads = next(row for row in groups["first"].json["repeats"] if row["figure"] == "iops")
    assert (reads["n"], reads["low"] < reads["mean"] < reads["high"]) == (3, True)
    assert "(3)" in groups["runs"].out


@pytest.mark.long
def test_repeats_are_summed_up_for_people(groups: dict[str, Outcome]) -> None:
    assert re.search(r"Mean of 3, read: IOPS \d", groups["second"].out)


@pytest.mark.long
def test_repeats_of_the_same_are_called_so(groups: dict[str, Outcome]) -> None:
    assert "r2 repeats r1" in groups["within"].out


@pytest.mark.long
def test_groups_one_after_the_other_are_labelled(groups: dict[str, Outcome]) -> None:
    compared = groups["one after the other"]
    assert compared.out.startswith("Not decided between r1 (read-ahead none, ")
    assert "3 and 3 runs; not measured in turn, so" in compared.out
    assert "drift could look like an effect" in compared.out


@pytest.mark.long
def test_groups_with_the_first_side_measured_again_are_judged(groups: dict[str, Outcome]) -> None:
    compared = groups["measured again"]
    assert compared.out.startswith("r4 (read-ahead, FastPath ")
    assert "the runs before and after the second side differ by" in compared.out


def test_a_plan_that_is_not_named_ends_as_soon_as_it_is_decided(decided: tuple[Outcome, Path]) -> None:
    found = decided[0].json["experiment"]
    assert (found["pairs"], len(found["order"]), found["status"]) == (6, 40, "ok")
    assert [look["pairs"] for look in found["looks"]] == [6, 8, 10, 12, 16, 20]


@pytest.mark.long
def test_a_width_that_is_asked_for_ends_it(demo: Cli) -> None:
    found = demo(*AHEAD, "--until", "1%", "--yes", "--json").json["experiment"]
    low, high = next(row["interval_percent"] for row in found["figures"] if row["headline"])
    assert (high - low) / 2 <= 1


@pytest.mark.long
def test_a_threshold_that_is_asked_for_is_what_makes_no_difference(demo: Cli) -> None:
    words = (*AHEAD, "--pairs", "3", "--threshold", "25%", "--yes", "--json")
    found = demo(*words).json["experiment"]
    assert (found["threshold_percent"], found["sentence"].partition(":")[0]) == (
        25,
        "No difference between read-ahead none and read-ahead",
    )
    assert "all within +-25 %" in demo("compare", "e1").out
    first_of = {letter: found["runs"][found["order"].index(letter)] for letter in "AB"}
    assert "all within +-25 %" in demo("compare", first_of["A"], first_of["B"]).out
    assert "The band is +-25 %" in demo("report", "--format", "html").out


def test_the_threshold_is_shown_before_anything_is_measured(demo: Cli) -> None:
    assert "Differences within +-3 % count as no difference." in demo(*AHEAD, "--threshold", "3", "--dry-run").out


def test_an_experiment_keeps_the_threshold_it_began_with(demo: Cli) -> None:
    goes_on = demo(*AHEAD, "--more", "e1", "--threshold", "1%", "--yes")
    compared = demo("compare", "e1", "--threshold", "1%")
    assert (goes_on.status, compared.status) == (2, 2)


def test_two_ways_to_end_exclude_each_other(demo: Cli) -> None:
    refused = demo(*AHEAD, "--until", "1%", "--pairs", "3", "--yes")
    assert (refused.status, "--pairs, --detect, --until and --more cannot be combined." in refused.err) == (2, True)


@pytest.mark.long
def test_one_that_was_stopped_by_ctrl_c_puts_the_setting_back_and_goes_on(demo: Cli, state: Path) -> None:
    words = argv("--demo", "--demo-speed", "0.5", *AHEAD[:3], *SHORT, "--yes")  # B takes 8 s: a signal may come late
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if b"B: measuring" in line:
                running.send_signal(signal.SIGINT)
                break
        _, said = running.communicate(timeout=180)
    assert running.returncode == 130
    assert b"Read-ahead was restored to none" in said
    assert value_of(demo, "read_ahead") == "none"
    ended = demo(*AHEAD, "--more", "e1", "--yes", "--json").json["experiment"]
    assert (ended["id"], ended["status"], ended["pairs"]) == ("e1", "ok", 6)
    complete = demo(*AHEAD, "--more", "e1", "--yes")
    assert (complete.status, "e1 is complete" in complete.err) == (3, True)


@pytest.fixture(scope="module")
def left_by_a_kill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an experiment left that was killed while B was measured, in `state`."""
    folder = tmp_path_factory.mktemp("killed")
    words = argv("--demo", "--demo-speed", "20", "ab", SDB, "read_ahead=read-ahead", "--runtime", "160", "--yes")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder / "state")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if b"B: measuring" in line:
                running.kill()
                break
        running.communicate(timeout=180)
    assert running.returncode == -signal.SIGKILL
    shutil.copytree(folder / "state", folder / "kept")
    return folder


@pytest.fixture
def killed(left_by_a_kill: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of a killed experiment, as it was then: B stays in force, and no change is without its end."""
    state = left_by_a_kill / "state"
    shutil.rmtree(state)
    shutil.copytree(left_by_a_kill / "kept", state)
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(state))
    return state


@pytest.mark.long
def test_what_a_killed_one_left_is_named_by_every_command(demo: Cli, killed: Path) -> None:
    assert value_of(demo, "read_ahead") == "read-ahead"
    said = demo("devices").err
    assert "experiment e1 of session" in said
    assert f"Read-ahead of {SDB} may still be read-ahead instead of none" in said


@pytest.mark.long
def test_recover_puts_the_value_back_and_asks_no_more(demo: Cli, killed: Path) -> None:
    assert "interrupted." in demo("recover", "--list").out
    assert demo("recover", "--restore").status == 0
    assert value_of(demo, "read_ahead") == "none"
    assert "There is nothing to recover" in demo("recover").err
    assert demo("log").out.count("Its process was interrupted; the old value was restored") == 1


@pytest.mark.long
def test_what_somebody_else_set_meanwhile_is_not_touched(demo: Cli, killed: Path) -> None:
    aside = killed / "aside"
    shown = demo("--session", str(aside), "set", SDB, "read_ahead=adaptive", "--yes")
    assert shown.status == 0, shown.err
    ended = demo("recover", "--restore")
    assert (ended.status, "Another program changed it" in ended.err) == (1, True)
    assert value_of(demo, "read_ahead") == "adaptive"


@pytest.mark.long
def test_what_is_kept_is_kept_and_not_asked_again(demo: Cli, killed: Path) -> None:
    assert demo("recover", "--keep").status == 0
    assert value_of(demo, "read_ahead") == "read-ahead"
    assert "There is nothing to recover" in demo("recover").err


def test_one_that_came_to_its_end_leaves_nothing(decided: tuple[Outcome, Path]) -> None:
    logs = [*decided[1].glob("simulated/lsi/sessions/*/session.jsonl")]
    assert (len(logs), [*decided[1].glob("simulated/lsi/sessions/*/experiment.active")]) == (1, [])
