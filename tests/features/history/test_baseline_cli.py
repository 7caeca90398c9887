"""`baseline`: what a change made worse, told in a sentence and an exit status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from app.cli.exit_status import UNDECIDED
from tests.backends.loops import Loop, loop, needs_loops
from tests.cli.conftest import Cli, run_here

JOB = ("--rw", "read", "--bs", "64k", "--iodepth", "1", "--direct", "0", "--runtime", "10", "--ramp", "0")
DEMO = ("--demo", "--demo-speed", "1000")
VOLUME = "megaraid:/c0/v1"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of a rack with a baseline of buffered sequential reads."""
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(folder))
        run_here(*DEMO, "bench", VOLUME, *JOB, "--repeat", "3")
        run_here(*DEMO, "baseline", "save", "night")
    return folder


@pytest.fixture
def demo(cli: Cli, saved: Path, state: Path) -> Cli:
    """Such a rack for one test."""
    shutil.copytree(saved, state, dirs_exist_ok=True)
    return partial(cli, *DEMO)


@pytest.mark.long
def test_unchanged_it_is_not_worse(demo: Cli) -> None:
    outcome = demo("baseline", "check", "night")
    assert (outcome.status, outcome.out.startswith("Not worse than baseline night by 5 % or more: ")) == (0, True)


@pytest.mark.long
def test_a_read_ahead_that_halves_it_is_worse_in_one_sentence(demo: Cli) -> None:
    demo("set", VOLUME, "read_ahead_kb=8", "--yes")
    outcome = demo("baseline", "check", "night")
    said = outcome.out.splitlines()
    assert (outcome.status, len(said), "ead-ahead 128 KiB -> 8 KiB" in said[0]) == (5, 1, True)
    assert said[0].startswith("Worse than baseline night by 5 % or more: read IOPS -")


@pytest.mark.long
def test_worse_may_be_1_for_one_release(demo: Cli) -> None:
    demo("set", VOLUME, "read_ahead_kb=8", "--yes")
    assert demo("baseline", "check", "night", "--worse-is-1").status == 1


@pytest.mark.long
def test_what_was_told_is_not_told_again(demo: Cli) -> None:
    demo("set", VOLUME, "read_ahead_kb=8", "--yes")
    first, second = (demo("baseline", "check", "night") for _ in range(2))
    assert (first.status, second.status, second.out.startswith("Still worse than baseline night")) == (5, 4, True)


@pytest.mark.long
def test_a_check_is_a_session_of_its_own(demo: Cli, demo_state: Path) -> None:
    before = len(list((demo_state / "sessions").iterdir()))
    demo("baseline", "check", "night")
    assert len(list((demo_state / "sessions").iterdir())) == before + 1


@pytest.fixture
def nights(demo: Cli, demo_state: Path) -> Cli:
    """The rack after twelve nights that were as ever."""
    (saved,) = (demo_state / "sessions").iterdir()
    for night in range(12):
        folder = shutil.copytree(saved, saved.with_name(f"{saved.name}-{night}"))
        events = [json.loads(row) for row in (saved / "session.jsonl").read_text().splitlines()]
        later = (json.dumps(event | {"at": event["at"] + (night + 1) / 1e3}) for event in events)
        (folder / "session.jsonl").write_text("".join(f"{row}\n" for row in later))
    return demo


@pytest.mark.long
def test_from_the_tenth_night_on_it_is_held_against_all_of_them(nights: Cli) -> None:
    outcome = nights("baseline", "check", "night")
    assert (outcome.status, outcome.out.startswith("Not worse than the 13 nights since baseline night")) == (0, True)


@pytest.mark.long
def test_what_it_could_see_is_said(nights: Cli) -> None:
    outcome = nights("baseline", "check", "night")
    told = nights("baseline", "check", "night", "--json").json["nights"]
    assert " % is detected within 7 nights" in outcome.out
    assert (told["learning"], 0 < told["seen_percent"] < 5) == (False, True)


@pytest.mark.long
def test_the_history_has_the_same_exit_status(nights: Cli) -> None:
    nights("set", VOLUME, "read_ahead_kb=8", "--yes")
    statuses = [(nights("baseline", "check", "night").status, nights("history", VOLUME).status) for _ in range(2)]
    assert statuses == [(5, 5), (4, 4)]


def test_the_history_of_few_sessions_is_only_listed(demo: Cli) -> None:
    assert demo("history", VOLUME).status == 0


@pytest.mark.long
def test_as_json_it_has_the_verdict_and_its_runs(demo: Cli) -> None:
    told = demo("baseline", "check", "night", "--json").json
    assert (told["verdict"], len(told["runs"]), told["threshold_percent"]) == ("not-worse", 3, 5.0)


@pytest.mark.long
def test_more_repeats_can_be_asked_for(demo: Cli) -> None:
    assert len(demo("baseline", "check", "night", "--repeats", "4", "--json").json["runs"]) == 4


def test_fewer_than_three_are_wrong_usage(demo: Cli) -> None:
    assert demo("baseline", "check", "night", "--repeats", "2").status == 2


def test_a_baseline_is_listed(demo: Cli) -> None:
    (told,) = demo("baseline", "list", "--json").json["baselines"]
    assert (told["name"], told["target"], told["runs"]) == ("night", VOLUME, ["r1", "r2", "r3"])


def test_a_removed_one_is_not(demo: Cli) -> None:
    demo("baseline", "remove", "night")
    assert demo("baseline", "list", "--json").json["baselines"] == []


@pytest.mark.long
def test_it_is_checked_when_its_session_is_gone(demo: Cli, demo_state: Path) -> None:
    for log in (demo_state / "sessions").glob("*/session.jsonl"):
        log.unlink()
    assert demo("baseline", "check", "night").status == 0


def test_that_of_the_rack_is_not_checked_on_this_machine(demo: Cli, cli: Cli) -> None:
    assert cli("baseline", "check", "night").status == 2


def test_one_run_makes_no_baseline(cli: Cli) -> None:
    cli(*DEMO, "bench", VOLUME, *JOB)
    assert cli("baseline", "save", "night").status == 2


def test_an_unknown_name_is_wrong_usage(cli: Cli) -> None:
    assert cli("baseline", "check", "night").status == 2


@pytest.mark.long
def test_a_job_that_writes_wants_its_word_again(cli: Cli) -> None:
    words = ("--rw", "randwrite", "--runtime", "10", "--ramp", "0", "--repeat", "3")
    word = cli(*DEMO, "bench", VOLUME, *words).err.rpartition("--confirm ")[2].split()[0]
    cli(*DEMO, "bench", VOLUME, *words, "--confirm", word)
    cli(*DEMO, "baseline", "save", "writes")
    refused = cli(*DEMO, "baseline", "check", "writes").status
    assert (refused, cli(*DEMO, "baseline", "check", "writes", "--confirm", word).status) == (3, 0)


def test_what_fails_to_be_measured_is_not_called_worse(demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from backends.errors import ToolFailedError

    async def broken(*_: object, **__: object) -> None:
        raise ToolFailedError("fio does not start.")

    monkeypatch.setattr("app.core.benchmark.session_runner.SessionBenchmarks.measure", broken)
    assert demo("baseline", "check", "night").status == 4


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


@pytest.mark.exhaustive
@needs_loops()
@pytest.mark.root
@pytest.mark.fio
def test_on_a_real_device_less_read_ahead_is_found(cli: Cli, disk: Loop) -> None:
    """One page at a time. On a machine that does much else the runs may scatter too far to decide it at once."""
    job = ("--rw", "read", "--bs", "4k", "--iodepth", "1", "--ioengine", "psync", "--direct", "0", "--runtime", "2")
    cli("bench", disk.sure(), *job, "--ramp", "0", "--repeat", "3")
    cli("baseline", "save", "loop")
    cli("set", disk.sure(), "read_ahead_kb=0", "--yes")
    checks = (cli("baseline", "check", "loop") for _ in range(8))
    outcome = next(check for check in checks if check.status != UNDECIDED)
    assert (outcome.status, "Kernel read-ahead" in outcome.out, "-> 0" in outcome.out) == (5, True, True)
