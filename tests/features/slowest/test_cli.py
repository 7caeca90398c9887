"""`slowest` on the rack that has software RAID."""

from __future__ import annotations

import pytest

from app.core.benchmark.run_plan import RunPlan
from app.core.benchmark.runner import BenchmarkRequest
from app.core.benchmark.session_runner import SessionBenchmarks
from app.features.slowest import engine
from backends.errors import ToolTimeoutError
from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")


def test_what_would_be_read_is_said(cli: Cli) -> None:
    done = cli(*LINUX, "slowest", "md:md1", "--dry-run")
    assert (done.status, done.out.split()) == (0, ["/dev/sdc", "/dev/sdd", "/dev/sde", "/dev/sdf"])
    assert "4 drives in 5 rounds" in done.err


@pytest.mark.long
def test_members_that_are_alike_are_not_blamed(cli: Cli) -> None:
    done = cli(*LINUX, "slowest", "md:md1", "--rounds", "3", "--seed", "1", "--json")
    assert (done.status, len(done.json["drives"])) == (0, 4)
    assert [one["slow"] for one in done.json["drives"]] == [False] * 4


def test_what_the_rounds_can_show_is_said_beforehand(cli: Cli) -> None:
    few, many = (cli(*LINUX, "slowest", "md1", "--dry-run", "--json", "--rounds", rounds) for rounds in ("3", "50"))
    assert 5 <= many.json["shows_percent"] <= 10 < few.json["shows_percent"] < 30
    rounds = few.json["rounds_for_10_percent"]
    assert f"Detecting a difference of 10 % takes {rounds} rounds." in few.err
    assert cli(*LINUX, "slowest", "md1", "--dry-run", "--json", "--rounds", str(rounds)).json["shows_percent"] <= 10


@pytest.mark.long
def test_a_slow_member_is_found(cli: Cli) -> None:
    done = cli(*LINUX, "--demo-state", "slow-disk", "slowest", "md1", "--seed", "1", "--json")
    assert (done.status, [one["device"] for one in done.json["drives"] if one["slow"]]) == (5, ["/dev/sdf"])


@pytest.mark.long
def test_a_hung_member_is_named_though_its_siblings_are_too_few_to_compare(cli: Cli) -> None:
    done = cli(*LINUX, "--demo-state", "hung", "slowest", "md1", "--seed", "1", "--json")
    assert (done.status, [one["device"] for one in done.json["drives"] if one["hung"]]) == (5, ["/dev/sde"])
    assert "Hung (no response to a read within 10 s): /dev/sde." in done.err
    assert len(cli("--demo", "linux", "runs", "--json").json["runs"]) == 4  # of five rounds the first


@pytest.mark.long
def test_a_read_that_does_not_come_back_is_not_waited_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk answers after 6 s of this clock, and fio is stopped before."""
    monkeypatch.setattr(engine, "ANSWER_S", 0.5)
    done = cli("--demo", "linux", "--demo-speed", "10", "--demo-state", "hung", "slowest", "md1", "--json")
    assert (done.status, [one["device"] for one in done.json["drives"] if one["hung"]]) == (5, ["/dev/sde"])
    runs = cli("--demo", "linux", "runs", "--json").json["runs"]
    assert [run["status"] for run in runs if "/dev/sde" in str(run)] == ["stopped"]


@pytest.mark.long
def test_a_fio_that_does_not_end_is_left_and_the_others_are_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ANSWER_S", 0.5)
    monkeypatch.setattr(engine, "END_S", 0.1)
    monkeypatch.setattr(SessionBenchmarks, "stop", lambda _: None)
    done = cli("--demo", "linux", "--demo-speed", "10", "--demo-state", "hung", "slowest", "md1", "--json")
    hung = {one["device"]: one["hung"] for one in done.json["drives"]}
    assert (done.status, hung) == (5, {"/dev/sde": True, "/dev/sdc": False, "/dev/sdd": False, "/dev/sdf": False})
    runs = cli("--demo", "linux", "runs", "--json").json["runs"]
    assert ["interrupted" in str(run) for run in runs if "/dev/sde" in str(run)] == [True]


@pytest.mark.long
@pytest.mark.parametrize(("named", "status"), [("sdd", 5), ("sda", 1)])
def test_a_member_that_a_tool_waited_for_in_vain_is_hung_and_another_disk_is_an_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, named: str, status: int
) -> None:
    prepare = SessionBenchmarks.prepare

    async def waits(jobs: SessionBenchmarks, request: BenchmarkRequest) -> RunPlan:
        if request.where == "/dev/sdd":
            raise ToolTimeoutError("blkid: no answer", devices=(named,))
        return await prepare(jobs, request)

    monkeypatch.setattr(SessionBenchmarks, "prepare", waits)
    done = cli(*LINUX, "slowest", "md1")
    assert (done.status, "Hung (no response to a read within 10 s): /dev/sdd." in done.err) == (status, status == 5)


@pytest.mark.parametrize(
    ("target", "status", "said"), [("md:md0", 1, "at least 4 are needed"), ("block:sda", 2, "has no members")]
)
def test_what_has_too_few_members_is_a_sentence(cli: Cli, target: str, status: int, said: str) -> None:
    done = cli(*LINUX, "slowest", target)
    assert (done.status, said in done.err) == (status, True)
