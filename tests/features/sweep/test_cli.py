"""Sweeps from the command line: shown, confirmed, run, left running, killed, gone on with."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Cli, Outcome, argv, program, run_here

FAST = ("--demo", "--demo-speed", "1000")
PLAN = """
[targets]
array = "megaraid:/c0/v1"
[measure]
target = "array"
repeats = 3
pairs = 3
[job]
rw = "randread"
runtime = "5s"
ramp = "1s"
iodepth = 64
[[axis]]
setting = "read_ahead"
values = ["none", "read-ahead"]
"""
STRIP = '[[axis]]\nsetting = "strip_size"\nvalues = ["64k", "128k"]\n'


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli(*FAST, *words)

    return run


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return str(file)


@pytest.fixture
def destroying(tmp_path: Path) -> str:
    file = tmp_path / "destroying.toml"
    file.write_text(PLAN + STRIP)
    return str(file)


@pytest.fixture(scope="module")
def swept_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """A finished sweep, and the state folder that it left."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "plan.toml").write_text(PLAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(folder / "state"))
        done = run_here(*FAST, "sweep", str(folder / "plan.toml"), "--yes", "--seed", "1", "--json")
    return done, folder / "state"


@pytest.fixture
def swept(swept_once: tuple[Outcome, Path], state: Path) -> Outcome:
    """What it said; the state folder is a copy of one's own."""
    done, left = swept_once
    shutil.copytree(left, state)
    return done


def now(cli: Cli, key: str) -> str:
    settings = cli(*FAST, "show", "megaraid:/c0/v1", "--json").json
    return str(next(each["now"] for each in _settings(settings) if each["key"] == key))


def _settings(document: Any) -> list[dict[str, Any]]:
    found = [value for value in document.values() if isinstance(value, dict) and "settings" in value]
    return list((found[0] if found else document)["settings"])


def log(demo_state: Path) -> list[dict[str, Any]]:
    """The events of the newest session that are whole lines; none of one that is only just being made."""
    file = max((demo_state / "sessions").glob("*/session.jsonl"), default=None)
    lines = [] if file is None else file.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def test_a_dry_run_shows_everything_and_does_nothing(demo: Cli, destroying: str, demo_state: Path) -> None:
    shown = demo("sweep", destroying, "--dry-run", "--order")
    assert shown.status == 0
    assert "/dev/sdb  ALL DATA WILL BE LOST" in shown.out
    assert "Strip size  2 times on megaraid:/c0/v1, created again or reshaped" in shown.out
    assert "baseline again" in shown.out
    assert not (demo_state / "sessions").exists()


def test_the_same_as_json(demo: Cli, destroying: str) -> None:
    sweep = demo("sweep", destroying, "--dry-run", "--json").json["sweep"]
    assert len(sweep["cells"]) == 4
    assert sweep["destroys"] == [{"device": "/dev/sdb", "name": "6ef362", "found": []}]
    assert {"target": "megaraid:/c0/v1", "key": "strip_size", "value": "65536"} in sweep["before"]


def test_nothing_is_set_without_a_word(demo: Cli, plan: str, demo_state: Path) -> None:
    assert demo("sweep", plan).status == 3
    assert not (demo_state / "sessions").exists()


def test_data_go_only_for_the_word_of_the_device(demo: Cli, destroying: str) -> None:
    assert demo("sweep", destroying, "--yes").status == 3
    assert demo("sweep", destroying, "--yes", "--confirm", "sdb").status == 3


@pytest.mark.long
def test_a_sweep_says_what_is_worse_and_puts_everything_back(swept: Outcome, cli: Cli) -> None:
    assert swept.status == 0, swept.err
    cells = {each["row"]: each for each in swept.json["sweep"]["cells"]}
    assert cells["read_ahead=read-ahead"]["judgement"]["verdict"] == "slower"
    assert cells["read_ahead=read-ahead"]["judgement"]["interleaved"] is True
    assert now(cli, "read_ahead") == "none"
    assert "Nothing to undo" in cli(*FAST, "undo").err


@pytest.mark.long
def test_the_table_has_intervals_and_verdicts(demo: Cli, plan: str) -> None:
    done = demo("sweep", plan, "--yes", "--seed", "1")
    row = next(line for line in done.out.splitlines() if "read-ahead" in line and "-18" in line)
    assert "slower" in row
    assert "-18" in row
    assert "FINISHED" in done.err


@pytest.mark.long
def test_attach_shows_what_a_finished_sweep_found(swept: Outcome, cli: Cli) -> None:
    shown = cli(*FAST, "attach", "--json")
    assert shown.status == 0
    assert shown.json["sweep"]["cells"] == swept.json["sweep"]["cells"]


@pytest.mark.long
def test_resuming_a_finished_sweep_shows_it_again(demo: Cli, swept: Outcome, demo_state: Path) -> None:
    before = len(log(demo_state))
    assert demo("sweep", "--resume", max((demo_state / "sessions").iterdir()).name).status == 0
    assert len(log(demo_state)) == before


@pytest.mark.long
def test_a_simulated_sweep_does_not_go_on_on_this_machine(cli: Cli, swept: Outcome, demo_state: Path) -> None:
    session = max((demo_state / "sessions").iterdir())
    text = (session / "session.jsonl").read_text().splitlines()
    (session / "session.jsonl").write_text("\n".join(each for each in text if '"sweep-ended"' not in each) + "\n")
    done = cli("sweep", "--resume", session.name)
    assert (done.status, "It belongs to a simulated host" in done.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("sweep",),
        ("sweep", "x.toml", "--resume", "y"),
        ("sweep", "--resume", "y", "--dry-run"),
        ("sweep", "block-size", "--target", "=x"),
        ("sweep", "no-such-plan"),
        ("sweep", "--resume", "no-such-session"),
        ("attach", "no-such-session"),
        ("attach",),
    ],
)
def test_wrong_words_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words).status != 0


def test_the_plans_are_listed(cli: Cli) -> None:
    assert "articles-a" in cli("sweep", "--list").out
    assert {each["name"] for each in cli("sweep", "--list", "--json").json["plans"]} >= {"queue-depth", "iometer"}


def test_a_curve_is_a_plan_of_the_named_workload_at_one_in_flight(demo: Cli) -> None:
    shown = demo("curve", "/c0/v1", "--profile", "randread-4k", "--runtime", "3", "--dry-run", "--json").json["sweep"]
    [cell] = shown["cells"]
    job = {key: cell["job"][key] for key in ("rw", "bs", "iodepth", "runtime")}
    assert job == {"rw": "randread", "bs": "4k", "iodepth": "1", "runtime": "3"}


def test_a_curve_tries_depths_and_rates_by_itself(demo: Cli) -> None:
    refused = demo("curve", "/c0/v1", "--iodepth", "4", "--dry-run")
    assert refused.status == 2
    assert "--iodepth cannot be used: a curve varies it automatically" in refused.err


@pytest.mark.parametrize("name", ["block-size", "queue-depth", "iometer"])
def test_plans_without_a_target_take_one(demo: Cli, name: str) -> None:
    shown = demo("sweep", name, "--target", "/c0/v1", "--dry-run", "--json")
    shown = shown if shown.status == 0 else demo("sweep", name, "--target", "megaraid:/c0/v1", "--dry-run", "--json")
    assert shown.json["sweep"]["cells"]


def finished(words: list[str], *, within: float = 60.0) -> Outcome:
    done = subprocess.run(argv(*words), capture_output=True, timeout=within, stdin=subprocess.DEVNULL)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.long
@pytest.mark.slow
def test_left_in_the_background_it_comes_to_its_end(plan: str, state: Path) -> None:
    begun = program(*FAST, "sweep", plan, "--yes", "--detach", "--json")
    assert begun.status == 0, begun.err
    shown = program("--demo", "attach", Path(begun.json["session"]).name, "--json")
    assert shown.status == 0, shown.err
    assert shown.json["sweep"]["result"] == "finished"
    assert shown.json["sweep"]["pid"] == begun.json["pid"]


@pytest.mark.long
@pytest.mark.slow
def test_asked_to_stop_it_puts_everything_back(plan: str, cli: Cli) -> None:
    begun = program("--demo", "--demo-speed", "1", "sweep", plan, "--yes", "--detach", "--json")
    shown = program("--demo", "attach", Path(begun.json["session"]).name, "--stop", "--json")
    assert shown.json["sweep"]["result"] == "stopped"
    assert now(cli, "read_ahead") == "none"


@pytest.mark.long
@pytest.mark.slow
def test_a_hang_up_does_not_end_it(plan: str, demo_state: Path, tmp_path: Path) -> None:
    with open(tmp_path / "out", "w") as out:
        words = argv("--demo", "--demo-speed", "20", "sweep", plan, "--yes")
        running = subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True)
        logs = (demo_state / "sessions").glob
        while not any("sweep-step-started" in log.read_text() for log in logs("*/session.jsonl")):
            assert running.poll() is None
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGHUP)
        assert running.wait(timeout=120) == 0
    assert log(demo_state)[-2]["result"] == "finished"


ENDS_AFTER_DELETION = """
import os, sys
from backends.simulator.host import SimulatedHost

run = SimulatedHost.run


async def run_and_end(self, command):
    done = await run(self, command)
    if "del" in command.argv:
        os._exit(9)
    return done


SimulatedHost.run = run_and_end
from app.__main__ import main
sys.exit(main())
"""


@pytest.mark.long
def test_an_array_that_was_deleted_is_made_again_and_all_values_are_put_back(
    destroying: str, demo_state: Path, cli: Cli
) -> None:
    """The process ends between the deletion of the array and its creation, after it has set the read-ahead."""
    words = ["sweep", destroying, "--yes", "--confirm", "6ef362", "--seed", "3"]
    done = subprocess.run(
        [sys.executable, "-c", ENDS_AFTER_DELETION, *FAST, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 9, done.stderr.decode()
    assert any(event["event"] == "change-ended" for event in log(demo_state)), "the read-ahead is set before"
    name = max((demo_state / "sessions").iterdir()).name
    # Each is a process of its own: recover leaves a sweep alone whose process is there.
    refused = program(*FAST, "sweep", "--resume", name)
    assert "was deleted for re-creation, but was not created again" in refused.err
    token = re.search(r"--confirm (\S+)", program(*FAST, "recover", "--restore").err)
    assert token is not None
    restored = program(*FAST, "recover", "--restore", "--confirm", token[1])
    assert (restored.status, "restored" in restored.out) == (0, True), restored.err
    assert (now(cli, "strip_size"), now(cli, "read_ahead")) == ("65536", "none")
    assert "There is nothing to recover" in cli(*FAST, "recover").err


@pytest.mark.exhaustive
def test_killed_again_and_again_it_loses_no_step_and_no_setting(
    destroying: str, demo_state: Path, tmp_path: Path, cli: Cli
) -> None:
    words = [*FAST, "sweep", destroying, "--yes", "--confirm", "6ef362", "--seed", "3"]
    for patience in (2.2, 2.0, 1.8, 2.6, 300.0):
        with (tmp_path / "errors").open("w") as errors:
            running = subprocess.Popen(argv(*words), stdout=subprocess.DEVNULL, stderr=errors)
        try:
            status, said = running.wait(timeout=patience), (tmp_path / "errors").read_text()
            if "was not created again" in said:  # killed between the deletion of the array and its creation
                assert program(*FAST, "recover", "--restore", "--confirm", "3-ff9e4b").status == 0
                assert (now(cli, "strip_size"), now(cli, "read_ahead")) == ("65536", "none")
                return
            assert status == 0, said
            break
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        if any(e["event"] == "sweep-started" for e in log(demo_state)):
            words = [*FAST, "sweep", "--resume", max((demo_state / "sessions").iterdir()).name]
    events = log(demo_state)
    steps = [
        step["number"] for event in events if event["event"] == "sweep-started" for step in event["design"]["steps"]
    ]
    steps += [step["number"] for event in events if event["event"] == "sweep-extended" for step in event["steps"]]
    ended = [event["step"] for event in events if event["event"] == "sweep-step-ended"]
    assert sorted(ended) == steps
    assert (now(cli, "strip_size"), now(cli, "read_ahead")) == ("65536", "none")
    assert "There is nothing to recover" in cli("--demo", "recover").err


@pytest.mark.long
@pytest.mark.slow
def test_recover_puts_back_what_a_killed_sweep_left(plan: str, demo_state: Path, cli: Cli) -> None:
    words = argv("--demo", "--demo-speed", "2", "sweep", plan, "--yes", "--seed", "1")
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not any(event["event"] == "change-ended" for event in log(demo_state)):
        assert running.poll() is None
        time.sleep(0.05)
    running.kill()
    running.wait()
    assert "was interrupted" in cli(*FAST, "devices").err
    assert cli(*FAST, "recover", "--restore").status == 0
    assert now(cli, "read_ahead") == "none"
    assert "was interrupted" not in cli(*FAST, "devices").err
