"""Trials on a simulated machine from the command line: reverted after the process has ended, or confirmed once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.backends.loops import wait_for
from tests.cli.conftest import ROOT, Outcome, program
from tests.watchdogs import marked, watchdogs

SHORT = "10"
LONG = "600"


class Rack:
    """One simulated machine in a state folder of its own, each command a process."""

    def __init__(self, state: Path, name: str = "hpe") -> None:
        self.state, self.name = state, name
        self._environment = {"RAIDBENCH_STATE_DIR": str(state), "PYTHONPATH": marked(ROOT, state)}

    def __call__(self, *words: str) -> Outcome:
        return program("--demo", self.name, "--demo-speed", "1000", *words, env=self._environment)

    @property
    def read_ahead(self) -> str:
        """Return what sdf is set to in the state of the rack."""
        file = self.state / "simulated" / self.name / "demo-rack.json"
        queues = json.loads(file.read_text())["queues"] if file.exists() else {}
        return str(queues.get("sdf", {}).get("read_ahead_kb", "128"))

    def set(self, value: int, seconds: str) -> Outcome:
        return self("set", "block:sdf", f"read_ahead_kb={value}", "--yes", "--trial", seconds)

    def end(self) -> None:
        """End the watchdogs of this rack, as a power cut would."""
        for one in watchdogs(self.state):
            with suppress(psutil.Error):
                one.kill()
                one.wait(60)


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Rack]:
    made = Rack(tmp_path)
    yield made
    made.end()


def test_a_trial_is_reverted_after_the_process_has_ended_and_all_commands_agree(rack: Rack) -> None:
    done = rack.set(2048, SHORT)
    during = rack.read_ahead
    assert (done.status, during, len(watchdogs(rack.state))) == (0, "2048", 1)
    wait_for(lambda: rack.read_ahead == "128", 120)
    wait_for(lambda: not watchdogs(rack.state), 120)
    assert "There is nothing to recover" in rack("recover", "--list").err
    assert "no change is in force" in rack("undo", "--list").err
    named = rack("undo", "c1", "--yes")
    assert (named.status, "no change c1 in force" in named.err) == (2, True)
    assert "There is no trial" in rack("keep").err


@pytest.mark.long
def test_a_confirmed_trial_stays_and_can_be_undone(rack: Rack) -> None:
    rack.set(2048, LONG)
    assert rack("keep").status == 0
    wait_for(lambda: not watchdogs(rack.state), 120)  # the process that would revert it
    assert rack.read_ahead == "2048"
    assert (rack("undo", "--yes").status, rack.read_ahead) == (0, "128")


@pytest.mark.long
def test_an_undecided_trial_names_a_command_that_reverts_it_now(rack: Rack) -> None:
    rack.set(2048, LONG)
    said = rack("recover", "--list").err
    words = said.partition("`raidbench --demo hpe --session ")[2].partition("`")[0].split()
    assert words[1:] == ["undo", "c1"]
    assert rack("--session", *words, "--yes").status == 0
    assert rack.read_ahead == "128"
    wait_for(lambda: not watchdogs(rack.state), 120)


@pytest.mark.long
def test_a_trial_whose_watchdog_is_gone_is_left_to_recover(rack: Rack) -> None:
    rack.set(2048, SHORT)
    rack.end()
    assert rack.read_ahead == "2048"
    wait_for(lambda: "c1" in rack("recover", "--list").out, 120, pause=2)
    assert (rack("recover", "--trials").status, rack.read_ahead) == (0, "128")
    assert "no change is in force" in rack("undo", "--list").err


@pytest.mark.long
def test_of_two_processes_the_second_does_not_change_what_is_on_trial(rack: Rack) -> None:
    rack.set(2048, LONG)
    second = rack.set(4096, LONG)
    assert (second.status, "is not decided yet" in second.err, rack.read_ahead) == (3, True, "2048")
    other = rack("set", "block:sdb", "read_ahead_kb=512", "--yes", "--trial", LONG)
    assert (other.status, len(watchdogs(rack.state))) == (0, 2)
    kept = rack("keep")
    assert (kept.status, kept.out.count("kept")) == (0, 2)
    wait_for(lambda: not watchdogs(rack.state), 120)
    assert rack.read_ahead == "2048"


@pytest.mark.long
def test_nothing_of_this_machine_knows_of_it_and_no_other_simulated_machine(rack: Rack) -> None:
    rack.set(2048, LONG)
    assert [path.name for path in rack.state.iterdir()] == ["simulated"]
    assert [path.name for path in (rack.state / "simulated").iterdir()] == ["hpe"]
    for words in (("recover", "--list"), ("--demo", "lsi", "recover", "--list")):
        done = program(*words, env={"RAIDBENCH_STATE_DIR": str(rack.state), "PYTHONPATH": str(ROOT)})
        assert "trial" not in done.err + done.out
