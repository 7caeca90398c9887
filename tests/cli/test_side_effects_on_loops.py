"""Settings that the kernel at hand resets: a set, a file, a trial, a sweep and an experiment on a real loop device."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops
from tests.backends.queue_effects import measured_effects
from tests.cli.conftest import ROOT, Cli, argv, program

pytestmark = [needs_loops(), pytest.mark.root]

KEYS = ("read_ahead_kb", "max_sectors_kb", "iostats", "write_cache", "add_random", "nr_requests")
START = {"max_sectors_kb": "1280", "read_ahead_kb": "64"}
PATIENCE = 120.0

PLAN = """
[targets]
disk = "{disk}"
[measure]
target = "disk"
repeats = 2
pairs = 0
[job]
rw = "randread"
runtime = "1s"
ramp = "0s"
[[axis]]
target = "disk"
setting = "read_ahead_kb"
values = ["64", "128"]
[[axis]]
target = "disk"
setting = "max_sectors_kb"
values = ["256", "512"]
"""


class Queue:
    """The settings of a loop device of our own."""

    def __init__(self, disk: Loop) -> None:
        self.device = disk.sure()
        self.name = disk.name
        self.folder = Path(f"/sys/block/{disk.name}/queue")

    def __getitem__(self, key: str) -> str:
        return (self.folder / key).read_text().strip()

    def __setitem__(self, key: str, value: str) -> None:
        (self.folder / key).write_text(value)

    @property
    def state(self) -> dict[str, str]:
        return {key: self[key] for key in KEYS}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with loop(tmp_path / "disk.img") as made:
        queue = Queue(made)
        for key, value in START.items():
            queue[key] = value
        yield queue


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "words", [("read_ahead_kb=128", "max_sectors_kb=256"), ("max_sectors_kb=256", "read_ahead_kb=128")]
)
def test_both_values_of_a_set_are_in_force_and_come_back(cli: Cli, queue: Queue, words: tuple[str, str]) -> None:
    before = queue.state
    done = cli("set", queue.device, *words, "--yes")
    assert (done.status, queue["read_ahead_kb"], queue["max_sectors_kb"]) == (0, "128", "256")
    assert cli("undo", "--all", "--yes").status == 0
    assert queue.state == before


@pytest.mark.parametrize("word", ["max_sectors_kb=256", "iostats=off", "add_random=on", "write_cache=write-through"])
def test_what_moves_along_is_told_and_comes_back(cli: Cli, queue: Queue, word: str) -> None:
    key = word.partition("=")[0]
    moves = "read_ahead_kb" in measured_effects(queue.folder).get(key, {})
    before = queue.state
    outcome = cli("set", queue.device, word, "--yes", "--confirm", queue.name, "--json").json["changes"][0]["outcome"]
    moved = [(one["key"], one["before"], one["explained"]) for one in outcome["moved"]]
    assert moved == ([("read_ahead_kb", "64", True)] if moves else [])
    assert cli("undo", "--yes").status == 0
    assert queue.state == before


def test_a_file_is_applied_and_then_holds(cli: Cli, queue: Queue, tmp_path: Path) -> None:
    file = tmp_path / "wanted.toml"
    file.write_text(
        f'format = 1\n[[target]]\nselect = {{address = "block:{queue.name}"}}\n'
        'set = {read_ahead_kb = 64, max_sectors_kb = 256, iostats = "0"}\n'
    )
    done = cli("apply", str(file), "--yes")
    assert done.status == 0, done.err
    assert cli("apply", str(file), "--check").status == 0


@pytest.mark.long
def test_a_trial_takes_back_what_moved_along(queue: Queue) -> None:
    before = queue.state
    program("set", queue.device, "max_sectors_kb=256", "--yes", "--trial", "10")
    until(lambda: queue.state == before)


@pytest.mark.fio
@pytest.mark.long
def test_each_cell_of_a_sweep_is_measured_at_what_it_says(cli: Cli, queue: Queue, tmp_path: Path) -> None:
    before = queue.state
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(disk=queue.device))
    done = cli("sweep", str(plan), "--yes")
    assert done.status == 0, done.err
    runs = [run["settings"] for run in cli("runs", "--json").json["runs"]]
    cells = [(ahead, largest) for ahead in ("128", "64") for largest in ("256", "512")]
    assert sorted((run["read_ahead_kb"], run["max_sectors_kb"]) for run in runs) == sorted(2 * cells)
    assert queue.state == before


@pytest.mark.fio
@pytest.mark.long
def test_a_killed_experiment_gives_back_what_moved_along(queue: Queue) -> None:
    before = queue.state
    words = (
        "ab",
        queue.device,
        "max_sectors_kb=256",
        "--pairs",
        "3",
        "--rest",
        "0",
        "--rw",
        "randread",
        "--runtime",
        "2",
        "--ramp",
        "0",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    none = subprocess.DEVNULL
    running = subprocess.Popen(argv(*words, "--yes"), env=environment, stdin=none, stdout=none, stderr=none)
    try:
        until(lambda: queue["max_sectors_kb"] == "256" or running.poll() is not None)
        assert running.poll() is None
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert queue["max_sectors_kb"] == "256"
    done = program("recover", "--restore")
    assert (done.status, queue.state) == (0, before), done.err
    assert "There is nothing to recover" in program("recover", "--list").err
