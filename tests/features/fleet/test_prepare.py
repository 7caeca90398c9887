"""`hosts prepare`: who is sent the one file, after which question, and what is told of whoever is not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from app.cli import confirm
from app.features.fleet.cli import query
from app.features.fleet.hosts import standalone_binary
from app.features.fleet.hosts.deployment import LOOK
from app.features.fleet.hosts.standalone_binary import find_binary
from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
from backends.self_exec import LAUNCHER
from tests.cli.conftest import Cli, Outcome

INSTALLED, BARE, ARM = "installed", "bare", "arm"
DOCTOR = json.dumps({"schema": 1, "findings": [], "program": "9.9"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """What looks like the one file for x86_64."""
    path = tmp_path / "raidbench"
    path.write_bytes(b"\x7fELF".ljust(18, b"\0") + b"\x3e\0".ljust(100, b"\0") + f"{LAUNCHER}=".encode())
    return path


class Hosts:
    """Hosts that answer a look, take a copy and tell their doctor's findings, by what the test says of them."""

    def __init__(self, **hosts: str) -> None:
        self.hosts = hosts
        self.sent: list[str] = []
        self.examined: list[str] = []

    async def source(self, order: HostsRequest) -> AsyncIterator[RawResponse]:
        for host in order.hosts:
            if order.words == LOOK:
                yield self._look(host)
            elif order.send:
                self.sent.append(host)
                yield self._take(host, Path(order.send), order.words[-1])
            else:
                self.examined.append(host)
                yield RawResponse(host=host, status=0, out=DOCTOR)

    def _look(self, host: str) -> RawResponse:
        kind = self.hosts[host]
        machine = "aarch64" if kind == ARM else "x86_64"
        copy = "" if kind in (INSTALLED, BARE, ARM, "full", "liar") else kind
        seen = {"schema": 1, "machine": machine, "installed": kind == INSTALLED, "sha256": copy}
        return RawResponse(host=host, status=0, out=json.dumps(seen))

    def _take(self, host: str, file: Path, digest: str) -> RawResponse:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
        if self.hosts[host] == "full":
            error = {"status": 1, "message": "It cannot be written there."}
            return RawResponse(host=host, status=1, out=json.dumps({"schema": 1, "error": error}))
        told = "0" * 64 if self.hosts[host] == "liar" else digest
        return RawResponse(host=host, status=0, out=json.dumps({"schema": 1, "sha256": told}))


Fleet = Callable[..., Hosts]


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    def made(**hosts: str) -> Hosts:
        there = Hosts(**hosts)
        monkeypatch.setattr(query, "_source", there.source)
        return there

    return made


def copies(outcome: Outcome) -> dict[str, str | None]:
    return {name: one["copy"] for one in outcome.json["hosts"] for name in one["names"]}


def test_it_is_sent_where_it_is_missing_or_another_and_nowhere_else(cli: Cli, fleet: Fleet, file: Path) -> None:
    known = find_binary(file)
    assert known is not None
    there = fleet(a=INSTALLED, b=BARE, c="0" * 64, d=known.sha256)
    told = cli("hosts", "prepare", "a,b,c,d", "--file", str(file), "--yes", "--json")
    assert (told.status, there.sent, there.examined) == (0, ["b", "c"], ["a", "b", "c", "d"])
    assert copies(told) == {"a": "installed", "b": "copied", "c": "copied", "d": "same"}
    assert told.json["file"] == {"path": str(file), "sha256": known.sha256, "size": 137, "machine": "x86_64"}


def test_a_dry_run_shows_who_would_get_it_and_sends_nothing(cli: Cli, fleet: Fleet, file: Path) -> None:
    there = fleet(a=INSTALLED, b=BARE)
    told = cli("hosts", "prepare", "a,b", "--file", str(file), "--dry-run", "--json")
    assert (told.status, there.sent, there.examined) == (5, [], ["a"])
    assert copies(told) == {"a": "installed", "b": "wanted"}
    assert "Dry run: nothing was copied to 1 host." in told.err
    assert "copy    would be copied into ~/.local/lib/raidbench" in cli(
        *("hosts", "prepare", "b", "--file", str(file), "--dry-run")
    ).out  # fmt: skip


@pytest.mark.parametrize("before", [(), ("--read-only",)])
def test_where_nobody_can_be_asked_nothing_is_sent(cli: Cli, fleet: Fleet, file: Path, before: tuple[str, ...]) -> None:
    there = fleet(b=BARE)
    told = cli(*before, "hosts", "prepare", "b", "--file", str(file), *(("--yes",) if before else ()))
    assert (told.status, there.sent) == (3, [])


@pytest.mark.parametrize(("answer", "sent"), [("y", ["b"]), ("n", []), ("", [])])
def test_it_is_sent_after_the_answer(
    cli: Cli, fleet: Fleet, file: Path, monkeypatch: pytest.MonkeyPatch, answer: str, sent: list[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(confirm, "can_ask", lambda: True)

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    monkeypatch.setattr(confirm, "ask", ask)
    there = fleet(b=BARE)
    told = cli("hosts", "prepare", "b", "--file", str(file))
    assert (there.sent, asked, told.status) == (sent, ["Copy it to 1 host? [y/N]"], 0 if sent else 3)


def test_whoever_has_another_kind_of_machine_is_told_what_to_name(cli: Cli, fleet: Fleet, file: Path) -> None:
    fleet(b=ARM)
    told = cli("hosts", "prepare", "b", "--file", str(file), "--yes", "--json")
    (lost,) = told.json["missing"]
    assert (told.status, lost["cause"], "the host is aarch64, the file is for x86_64" in lost["message"]) == (
        *(6, "raidbench-absent", True),
    )  # fmt: skip


def test_without_a_file_it_is_said_how_one_is_got_and_a_copy_that_is_there_is_used(cli: Cli, fleet: Fleet) -> None:
    there = fleet(b=BARE, c="0" * 64)
    told = cli("hosts", "prepare", "b,c", "--json")
    (lost,) = told.json["missing"]
    assert (told.status, there.examined, copies(told)) == (6, ["c"], {"c": "other"})
    assert "Build the standalone binary with `make package`" in lost["hint"]
    assert "--file PATH" in lost["hint"]


def test_a_host_that_does_not_take_it_or_says_another_sum_is_missing(cli: Cli, fleet: Fleet, file: Path) -> None:
    there = fleet(a="full", b="liar", c=BARE)
    told = cli("hosts", "prepare", "a,b,c", "--file", str(file), "--yes", "--json")
    assert {one["host"]: one["message"] for one in told.json["missing"]} == {
        "a": "It cannot be written there.",
        "b": "The response is not JSON from raidbench.",
    }
    assert (told.status, there.examined, copies(told)) == (6, ["c"], {"c": "copied"})


def test_the_file_that_this_program_was_started_from_is_the_one_that_is_sent(
    cli: Cli, fleet: Fleet, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LAUNCHER, str(file))
    monkeypatch.setattr(standalone_binary, "install_form", lambda: "one file")
    there = fleet(b=BARE)
    assert (cli("hosts", "prepare", "b", "--yes").status, there.sent) == (0, ["b"])
