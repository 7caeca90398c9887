"""`bench` with the real fio on scratch files."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Cli, Outcome, argv, program
from tests.cli.terminal import on_terminal
from tests.packages import needs

pytestmark = [pytest.mark.fio, needs("fio")]

HELD = ("--rate-iops", "2000", "--ramp", "0")
"""As fast as it goes a run would only take the processor away from the other tests."""
SMALL = ("--size", "16M", "--profile", "randread-4k", "--runtime", "3", *HELD)
BRIEF = ("--size", "16M", "--runtime", "1", *HELD)
LONG = ("--size", "16M", "--runtime", "120", *HELD)


def made_in(folder: Path, *words: str) -> Outcome:
    """A run with its state in `folder`, where its scratch file is as well."""
    return program("bench", "./scratch", *words, cwd=folder, env={"RAIDBENCH_STATE_DIR": str(folder / "state")})


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """One run of three seconds that tells its samples and then the whole of it; and the folder it was made in."""
    folder = tmp_path_factory.mktemp("measured")
    return made_in(folder, *SMALL, "--stream", "--json"), folder


@pytest.fixture(scope="module")
def measured(spoken: tuple[Outcome, Path]) -> tuple[Outcome, Path]:
    """The same, without its samples."""
    said, folder = spoken
    return Outcome(said.status, said.out.splitlines()[-1], said.err), folder


@pytest.fixture(scope="module")
def streamed(spoken: tuple[Outcome, Path]) -> list[dict[str, Any]]:
    """Its samples."""
    return [json.loads(line) for line in spoken[0].out.splitlines()[:-1]]


def last_document(run: dict[str, Any]) -> dict[str, Any]:
    """fio's last word in its raw output."""
    text = (Path(run["session"]) / run["folder"] / "fio.out").read_text()
    decoder, at = json.JSONDecoder(), 0
    last: dict[str, Any] = {}
    while (at := text.find("{", at)) >= 0:
        last, at = decoder.raw_decode(text, at)
    return dict(last["jobs"][0])


def test_the_run_is_done(measured: tuple[Outcome, Path]) -> None:
    assert measured[0].status == 0


@pytest.mark.parametrize(
    ("ours", "fios"), [("iops", "iops"), ("bytes_per_second", "bw_bytes"), ("total_ios", "total_ios")]
)
def test_the_figures_are_those_of_fio(measured: tuple[Outcome, Path], ours: str, fios: str) -> None:
    run = measured[0].json["run"]
    assert run["read"][ours] == pytest.approx(last_document(run)["read"][fios], rel=0.02)


def test_the_median_is_that_of_fio(measured: tuple[Outcome, Path]) -> None:
    run = measured[0].json["run"]
    median = last_document(run)["read"]["lat_ns"]["percentile"]["50.000000"]
    assert run["read"]["latency_ns"]["p50"] == median


def test_a_run_has_every_documented_field(measured: tuple[Outcome, Path]) -> None:
    documented = "id target simulated status reason job seconds read write cpu members settings advice session"
    assert set(documented.split()) <= set(measured[0].json["run"])


def test_what_was_not_done_is_null(measured: tuple[Outcome, Path]) -> None:
    assert measured[0].json["run"]["write"] is None


def test_the_scratch_file_is_gone(measured: tuple[Outcome, Path]) -> None:
    assert not (measured[1] / "scratch").exists()


@pytest.mark.long
def test_the_scratch_file_stays_with_keep(tmp_path: Path) -> None:
    made_in(tmp_path, *BRIEF, "--keep")
    assert (tmp_path / "scratch").stat().st_size == 16 << 20


def test_a_stream_has_a_line_a_sample(streamed: list[dict[str, Any]]) -> None:
    assert {tuple(sample) for sample in streamed} == {("at", "read", "write", "trim", "sync")}


def test_a_stream_lasts_as_long_as_the_run(streamed: list[dict[str, Any]]) -> None:
    assert 2.4 < streamed[-1]["at"] < 3.6


def test_a_stream_has_the_documented_figures(streamed: list[dict[str, Any]]) -> None:
    assert {"iops", "bytes_per_second", "p50_ns", "p99_ns", "p99_9_ns"} <= set(streamed[-1]["read"])


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """Two runs of one command, and the folder they were made in."""
    folder = tmp_path_factory.mktemp("repeated")
    return made_in(folder, *BRIEF, "--repeat", "2", "--json"), folder


@pytest.mark.long
def test_repeats_are_runs_of_their_own(repeated: tuple[Outcome, Path]) -> None:
    assert [run["id"] for run in repeated[0].json["runs"]] == ["r1", "r2"]


@pytest.mark.long
def test_repeats_leave_no_scratch_file(repeated: tuple[Outcome, Path]) -> None:
    assert not (repeated[1] / "scratch").exists()


@pytest.mark.parametrize(
    ("made", "ids"), [("spoken", ["r1"]), pytest.param("repeated", ["r1", "r2"], marks=pytest.mark.long)]
)
def test_a_run_is_listed(
    made: str, ids: list[str], request: pytest.FixtureRequest, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(request.getfixturevalue(made)[1] / "state"))
    assert [run["id"] for run in cli("runs", "--json").json["runs"]] == ids


@pytest.mark.long
def test_a_summary_for_people_has_the_figures(tmp_path: Path) -> None:
    assert "p99.9" in made_in(tmp_path, *BRIEF).out


@dataclass(frozen=True)
class Interrupted:
    """What a signal left of a run."""

    outcome: Outcome
    folder: Path
    fios: list[int]
    """The programs that ran when it came."""


Interrupt = Callable[[signal.Signals], Interrupted]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Interrupt:
    """A long run that gets a signal once it measures; one for each signal."""

    @functools.cache
    def run(number: signal.Signals) -> Interrupted:
        folder = tmp_path_factory.mktemp(number.name)
        process = subprocess.Popen(
            argv("bench", "./scratch", *LONG, "--stream", "--json"),
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder / "state")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        fios = children(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=180)
        return Interrupted(Outcome(process.returncode, first + out, err), folder, fios)

    return run


def children(pid: int) -> list[int]:
    """Process ids of what a process started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_with_130(interrupted: Interrupt, number: signal.Signals) -> None:
    assert interrupted(number).outcome.status == 130


@pytest.mark.long
def test_a_signal_keeps_the_figures_so_far(interrupted: Interrupt) -> None:
    run = json.loads(interrupted(signal.SIGINT).outcome.out.splitlines()[-1])["run"]
    assert (run["status"], run["read"]["total_ios"] > 0) == ("stopped", True)


@pytest.mark.long
def test_a_signal_leaves_no_fio(interrupted: Interrupt) -> None:
    left = interrupted(signal.SIGTERM)
    assert (bool(left.fios), [pid for pid in left.fios if Path(f"/proc/{pid}").exists()]) == (True, [])


def test_a_signal_leaves_no_scratch_file(interrupted: Interrupt) -> None:
    assert not (interrupted(signal.SIGTERM).folder / "scratch").exists()


@pytest.mark.long
def test_a_reader_that_leaves_ends_the_run_in_silence(tmp_path: Path) -> None:
    process = subprocess.Popen(
        argv("bench", "./scratch", *LONG, "--stream"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    assert (process.wait(60), "Traceback" in said) == (0, False)


def test_a_job_file_that_runs_a_program_is_refused(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "evil.fio"
    file.write_text("[job]\nrw=randread\nexec_prerun=touch /tmp/owned\n")
    outcome = cli("bench", str(tmp_path / "scratch"), "--jobfile", str(file))
    assert (outcome.status, "exec_prerun" in outcome.err) == (2, True)


@pytest.mark.long
def test_a_job_file_is_run(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[job]\nrw=randread\nbs=8k\niodepth=2\nrate_iops=2000\nruntime=1\nsize=16m\n")
    outcome = program("bench", "./scratch", "--jobfile", "job.fio", "--json", cwd=tmp_path)
    assert outcome.json["run"]["job"]["bs"] == "8k"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bs", "huge"), "--bs"),
        (("--iodepth", "-3"), "--iodepth"),
        (("--rw", "erase"), "--rw"),
        (("--profile", "nope"), "no workload named"),
        (("--ioengine", "/tmp/evil.so"), "--ioengine"),
        (("--jobfile", "/nonexistent.fio"), "does not exist"),
    ],
)
def test_a_job_that_cannot_be_names_the_option(cli: Cli, tmp_path: Path, words: tuple[str, str], said: str) -> None:
    outcome = cli("bench", str(tmp_path / "scratch"), *words)
    assert (outcome.status, said in outcome.err) == (2, True)


def test_a_bare_word_that_is_no_device_does_not_become_a_file(cli: Cli, tmp_path: Path) -> None:
    assert cli("bench", "sdzz9").status == 2


def test_a_folder_that_is_not_there_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("bench", str(tmp_path / "no/where")).status == 2


def test_a_file_of_somebody_else_is_not_written_to(cli: Cli, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"precious" * (1 << 16))
    outcome = cli("bench", str(theirs), "--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0")
    assert (outcome.status, theirs.read_bytes()[:8]) == (3, b"precious")


@pytest.mark.long
def test_read_only_mode_makes_no_scratch_file(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("--read-only", "bench", str(tmp_path / "scratch"), *SMALL)
    assert (outcome.status, (tmp_path / "scratch").exists()) == (3, False)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What stands on the terminal after a run."""
    folder = tmp_path_factory.mktemp("shown")
    words = ("bench", str(folder / "s"), "--size", "16M", "--runtime", "2", *HELD)
    return on_terminal(*words, env={"RAIDBENCH_STATE_DIR": str(folder / "state")}, all_streams=True)[2]


@pytest.mark.long
def test_a_terminal_is_shown_how_the_run_went(shown: str) -> None:
    picture = shown.partition("4k random read, QD 64")[2]
    assert ("IOPS" in picture, "p99.9" in picture, "0.5 s" in picture) == (True, True, True)


@pytest.mark.long
def test_a_terminal_has_a_progress_line(shown: str) -> None:
    assert "\r\x1b[Kmeasuring" in shown
