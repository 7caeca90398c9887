"""`fit` on the command line: refusals, the answer, and the runs that it leaves."""

from __future__ import annotations

import os
from functools import partial

import pytest

from app.features.fit import engine
from app.features.fit.decision import RUNS
from backends.topology.mounts import parse_mountinfo
from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs of a second."""
    monkeypatch.setattr(engine, "plan_fit", partial(engine.plan_fit, runs=3, seconds=1))


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("cassandra", "."), 2, "There is no program named 'cassandra'"),
        (("etcd", "/dev/null"), 2, "/dev/null is not a folder"),
        (("etcd", "/no/such/folder"), 2, "/no/such/folder is not a folder"),
        (("postgres", ".", "--limit", "5ms"), 2, "--limit does not apply to postgres"),
        (("etcd", ".", "--limit", "soon"), 2, "'soon' is not a duration"),
        (("etcd", ".", "--limit", "0ms"), 2, "'0ms' is not a duration"),
        (("etcd", "/dev/shm"), 3, "/dev/shm is in memory"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_a_sentence(
    cli: Cli, words: tuple[str, ...], status: int, text: str
) -> None:
    if "/dev/shm" in words and not os.path.isdir("/dev/shm"):
        pytest.skip("there is no /dev/shm")
    done = cli("fit", *words)
    assert (done.status, done.out) == (status, "")
    assert text in done.err


def test_a_block_device_is_never_written(cli: Cli) -> None:
    done = cli(*LINUX, "fit", "etcd", "/dev/sda")
    assert done.status == 3
    assert "`fit` never writes to one" in done.err


def test_read_only_mode_makes_no_scratch_file(cli: Cli) -> None:
    assert cli("--read-only", "fit", "etcd", ".").status == 3


def test_a_folder_for_prometheus_is_answered_without_a_run(cli: Cli) -> None:
    done = cli(*LINUX, "fit", "prometheus", "--json")
    assert (done.status, done.json["verdict"], done.json["runs"]) == (0, "yes", [])


@pytest.mark.usefixtures("brief")
@pytest.mark.long
def test_the_answer_names_the_limit_and_the_runs_are_ordinary_runs(cli: Cli) -> None:
    done = cli(*LINUX, "fit", "postgres", "--commits", "5000", "--json")
    assert (done.status, done.json["verdict"]) == (5, "no")
    (condition,) = done.json["conditions"]
    assert (condition["limit"], condition["source"]) == (5000, "your limit")
    assert 100 < condition["measured"]["low"] <= condition["measured"]["high"] < 5000
    runs = cli("--demo", "linux", "runs", "--json").json["runs"]
    assert [run["id"] for run in runs] == done.json["runs"] == ["r1", "r2", "r3"]
    assert {run["profile"] for run in runs} == {"postgres"}
    assert cli("--demo", "linux", "baseline", "save", "log", *done.json["runs"]).status == 0


@pytest.mark.usefixtures("brief")
def test_without_a_number_the_answer_says_what_was_measured(cli: Cli) -> None:
    done = cli(*LINUX, "fit", "postgres")
    assert done.status == 4
    assert done.out.startswith("NOT DECIDED: ")
    assert "Say how many commits a second you need" in done.out
    assert "one connection gets" in done.out


def test_more_time_means_more_runs_and_never_fewer() -> None:
    assert engine.runs_for(900) == 41
    assert engine.runs_for(10) == RUNS


def on(filesystem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every folder be on a filesystem of this type; "" for no known one."""
    mounted = f"36 35 0:40 / / rw - {filesystem} source rw\n" if filesystem else ""
    monkeypatch.setattr(engine, "parse_mountinfo", lambda _: parse_mountinfo(mounted))


@pytest.mark.parametrize("program", ["etcd", "k8s"])
def test_network_filesystems_are_refused_for_etcd(cli: Cli, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    on("nfs4", monkeypatch)
    refused = cli("fit", program, ".")
    assert (refused.status, "network filesystem (nfs4)" in refused.err) == (3, True)


@pytest.mark.long
@pytest.mark.parametrize("filesystem", ["nfs4", "cifs", "vfat"])
@pytest.mark.parametrize("words", [("prometheus", "."), ("kafka", "."), ("kafka", ".", "--mbps", "1")])
def test_programs_that_need_a_local_posix_filesystem_get_a_no_without_a_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], filesystem: str
) -> None:
    on(filesystem, monkeypatch)
    unfit = cli(*LINUX, "fit", *words)
    assert unfit.status == 5
    assert unfit.out.startswith("NO: ")
    assert f"{filesystem} is no local POSIX filesystem, which {words[0].capitalize()} needs." in unfit.out
    assert "local disk" in unfit.out
    assert "runs up to" not in unfit.err


@pytest.mark.parametrize("program", ["prometheus", "kafka"])
def test_a_filesystem_that_is_not_known_is_not_called_fit(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    on("", monkeypatch)
    refused = cli(*LINUX, "fit", program)
    assert (refused.status, "is not known" in refused.err) == (3, True)


@pytest.mark.usefixtures("brief")
@pytest.mark.long
def test_databases_are_measured_on_network_filesystems_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    on("nfs4", monkeypatch)
    assert cli(*LINUX, "fit", "postgres", "--commits", "5").status == 0
