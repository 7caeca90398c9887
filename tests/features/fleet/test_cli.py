"""`--hosts` and `hosts` without any ssh: simulated fleets, words for a host, and what cannot be meant."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from app.cli.main import cli as group
from app.cli.options import Options
from app.features.fleet.cli import query
from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
from backends.simulator.profiles.host_fleet import FAULTS, faults_by_host
from backends.version import program_version
from tests.cli.conftest import Cli

FLEET = "node[1-200]"


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Sequence[HostsRequest]:
    """What hosts would be asked; they give nothing."""
    orders: list[HostsRequest] = []

    async def nobody(order: HostsRequest) -> AsyncIterator[RawResponse]:
        orders.append(order)
        nothing: tuple[RawResponse, ...] = ()
        for raw in nothing:
            yield raw

    monkeypatch.setattr(query, "_source", nobody)
    return orders


def test_a_host_is_asked_what_was_typed(cli: Cli, words: Sequence[HostsRequest]) -> None:
    cli("--read-only", "check", "sdb", "--ignore", "a", "--ignore", "b", "--hosts", "n[1-2]", "--host-timeout", "9")
    (order,) = words
    expected = ("raidbench", "--read-only", "check", "--json", "--with-text=0", "--ignore=a", "--ignore=b", "--", "sdb")
    assert (order.words, order.hosts, order.seconds) == (expected, ("n1", "n2"), 9.0)


def test_a_program_elsewhere_is_called_there(cli: Cli, words: Sequence[HostsRequest]) -> None:
    cli("runs", "--all", "--json", "--hosts", "n1", "--host-program", "./raidbench")
    assert words[0].words == ("./raidbench", "runs", "--json", "--all")


Give = Callable[..., None]


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Give:
    """Lets hosts give what the test says, in that order."""

    def given(*raws: RawResponse) -> None:
        async def source(order: HostsRequest) -> AsyncIterator[RawResponse]:
            for raw in raws:
                yield raw

        monkeypatch.setattr(query, "_source", source)

    return given


def fine(host: str, status: int = 0, text: str = "all is well") -> RawResponse:
    return RawResponse(host=host, status=status, out=json.dumps({"schema": 1, "findings": [], "text": text}))


def lost(host: str) -> RawResponse:
    return RawResponse(host=host, status=255, err=f"ssh: connect to host {host} port 22: Connection refused\x1b[2J")


@pytest.mark.parametrize(
    ("raws", "status"),
    [
        ([fine("n1"), fine("n2")], 0),
        ([fine("n1", 5), fine("n2")], 5),
        ([fine("n1", 5), lost("n2")], 6),
        ([lost("n1"), lost("n2")], 6),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",), ("--stream",)])
def test_a_missing_host_makes_the_status_else_the_worst_does(
    cli: Cli, give: Give, raws: Sequence[RawResponse], status: int, more: Sequence[str]
) -> None:
    give(*raws)
    assert cli("check", "--hosts", "n[1-2]", *more).status == status


def test_equal_answers_are_printed_once_and_harmless(cli: Cli, give: Give) -> None:
    give(fine("n2", text="a  b\x1b[2J\nc"), fine("n1", text="a  b\x1b[2J\nc"), lost("n3"))
    told = cli("check", "--hosts", "n[1-3]")
    assert told.out == "n[1-2] (2 hosts)\na  b�[2J\nc\n\n"
    assert "2 of 3 hosts answered; missing: n3.\nn3: The host is unreachable.\n" in told.err
    assert "\x1b" not in told.err


def facts(host: str, kernel: str) -> RawResponse:
    return RawResponse(host=host, status=0, out=json.dumps({"schema": 1, "kernel": kernel, "program": "1"}))


def test_what_hosts_tell_for_comparing_is_compared(cli: Cli, give: Give) -> None:
    give(facts("n1", "6.1"), facts("n2", "6.6"), facts("n3", "6.1"))
    told = cli("hosts", "diff", "n[1-3]")
    assert (told.status, "  n2  system    kernel 6.6; 6.1 on 2 of 3" in told.out) == (5, True)
    assert "  n[1,3]  system    kernel 6.1; 6.6 on n2" in cli("hosts", "diff", "n[1,3]", "--against", "n2").out
    give(facts("n1", "6.1"), facts("n2", "6.6"), lost("n3"))
    assert cli("hosts", "diff", "n[1-3]").status == 6
    give(facts("n1", "6.1"), facts("n2", "6.1"))
    assert cli("hosts", "diff", "n[1-2]").status == 0


def test_against_a_host_that_is_missing_nothing_is_compared(cli: Cli, give: Give) -> None:
    give(facts("n1", "6.1"), facts("n2", "6.6"), lost("n3"))
    told = cli("hosts", "diff", "n[1-2]", "--against", "n3", "--json")
    assert (told.status, told.json["differences"]) == (6, [])
    assert "n3 did not respond, so nothing is compared with it." in told.err


def test_what_a_host_needs_makes_the_status(cli: Cli, give: Give) -> None:
    def doctor(grade: str) -> RawResponse:
        found = {"grade": grade, "what": "fio", "detail": "not found", "advice": "apt-get install fio"}
        return RawResponse(host="n1", status=5, out=json.dumps({"schema": 1, "findings": [found], "program": "9.9"}))

    give(doctor("missing"))
    told = cli("hosts", "prepare", "n1", "--host-program", "./raidbench")
    assert told.status == 5
    assert [row.strip() for row in told.out.splitlines()[1:]] == [
        *(f"raidbench 9.9, {program_version()} here", "rights  not reported", "fio     not found"),
        *("in use  not reported", "missing fio: not found", "apt-get install fio"),
    ]
    give(doctor("warn"))
    assert cli("hosts", "prepare", "n1", "--host-program", "./raidbench").status == 0


@pytest.mark.parametrize(
    "line",
    [
        ("metrics", "--hosts", "n1", "-o", "file"),
        ("export", "--hosts", "n1", "--output", "file"),
        ("check", "--hosts", "n1", "--nagios"),
        ("check", "--host-timeout", "3"),
        ("check", "--stream"),
        ("check", "--with-text", "80"),
        ("--session", "here", "runs", "--hosts", "n1"),
        ("--demo", "--demo-reset", "check", "--hosts", "n1"),
        ("check", "--hosts", "n["),
        ("hosts", "diff", "-oProxyCommand=x"),
        ("hosts", "prepare", "n1", "--file", "raidbench", "--host-program", "./raidbench"),
        ("--demo", "hosts", "prepare", "n1", "--file", "raidbench"),
        ("hosts", "prepare", "n1", "--file", "/bin/sh"),
        ("hosts", "prepare", "n1", "--file", "/nowhere/raidbench"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(cli: Cli, line: Sequence[str]) -> None:
    assert cli(*line).status == 2


def test_without_clustershell_it_is_a_tool_that_is_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ClusterShell", None)
    told = cli("check", "--hosts", "n1")
    assert (told.status, "pip install 'raidbench[hosts]'" in told.err) == (1, True)


def test_no_other_command_imports_clustershell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "ClusterShell"]:
        monkeypatch.delitem(sys.modules, name)
    assert cli("--demo", "runs").status == 0
    assert "ClusterShell" not in sys.modules


def test_with_text_the_document_has_what_is_printed_too(cli: Cli) -> None:
    told = cli("--demo", "runs", "--json", "--with-text", "0").json
    assert (told["runs"], told["text"]) == (
        [],
        "There are no runs yet: `raidbench --demo bench TARGET` starts one.",
    )


def told_in(text: str) -> set[str]:
    """Its lines, whatever the width of their columns and however long the look took."""
    return {" ".join(row.split()) for row in text.splitlines() if not row.startswith("raidbench_l")}


@pytest.mark.long
@pytest.mark.parametrize("line", ["devices", "show /c0/v1", "check", "metrics", "doctor", "export"])
def test_the_text_is_that_of_the_command_alone(cli: Cli, line: str) -> None:
    words = ("--demo", "lsi", *line.split())
    alone, both = cli(*words), cli(*words, "--json", "--with-text", "0")
    assert both.status == alone.status
    assert told_in(alone.out) - told_in(both.json["text"]) == set()


def test_fewer_than_half_of_a_fleet_have_something() -> None:
    assert [len(faults_by_host([str(number) for number in range(size)])) for size in (1, 2, 3, 4, 5, 12, 13, 40)] == [
        *(0, 0, 1, 1, 2, 5, 6, 6)
    ]


@pytest.mark.long
def test_what_is_planted_among_200_hosts_is_found_and_nothing_else(cli: Cli) -> None:
    names = [f"node{number}" for number in range(1, 201)]
    plants = {plant.name: host for host, plant in faults_by_host(names).items()}
    told = cli("--demo", "hosts", "diff", FLEET, "--json")
    found = told.json["differences"]
    odd = {(side["hosts"], one["key"]) for one in found for side in one["others"]}
    assert {host for host, _ in odd} == {host for name, host in plants.items() if name != "unreachable"}
    assert {
        (plants["battery"], "protection"),
        (plants["firmware"], "firmware"),
        (plants["read-ahead"], "read_ahead"),
        (plants["queue"], "nr_requests"),
        (plants["drive"], "state"),
    } <= odd
    assert all(one["most"] is not None and len(one["most"]["names"]) == 198 for one in found)
    assert [(one["host"], one["cause"]) for one in told.json["missing"]] == [(plants["unreachable"], "unreachable")]
    assert (told.status, len(told.json["roles"]), len(plants)) == (6, 1, len(FAULTS))


@pytest.mark.long
def test_a_fleet_is_folded_and_its_loss_is_told(cli: Cli) -> None:
    told = cli("--demo", "check", "--hosts", "node[1-5]")
    assert told.out.startswith("node[1,3,5] (3 hosts)\nfault  array-degraded")
    assert "\nnode4 (1 host)\n" in told.out
    assert "4 of 5 hosts answered; missing: node2." in told.err
    assert told.status == 6


@pytest.mark.long
def test_a_stream_has_a_line_a_host_and_the_counts_at_its_end(cli: Cli) -> None:
    told = cli("--demo", "linux", "check", "--hosts", "node[1-5]", "--stream")
    *hosts, last = map(json.loads, told.out.splitlines())
    assert {one["host"]: one.get("cause") for one in hosts} == {
        **dict.fromkeys(("node1", "node3", "node4", "node5")),
        "node2": "unreachable",
    }
    assert last["counts"] == {"asked": 5, "answered": 4, "missing": 1}
    assert (told.status, all("findings" in one["document"] for one in hosts if "cause" not in one)) == (6, True)


@pytest.mark.long
def test_a_fleet_of_two_has_nothing_planted_and_nothing_differs(cli: Cli) -> None:
    told = cli("--demo", "linux", "hosts", "diff", "a,b")
    assert (told.status, "  no differences" in told.out) == (0, True)


@pytest.mark.long
def test_what_each_host_needs_is_told(cli: Cli) -> None:
    told = cli("--demo", "hosts", "prepare", "a,b", "--json")
    (both,) = told.json["hosts"]
    assert (both["hosts"], told.status, set(both)) == (
        "a,b",
        0,
        {"hosts", "names", "copy", "program", "rights", "fio", "in_use", "lacking"},
    )


@pytest.mark.long
def test_a_fleet_leaves_the_rack_of_the_user_as_it_is(cli: Cli, demo_state: Path) -> None:
    cli("--demo", "set", "/c0/v1", "read_ahead=read-ahead", "--yes")
    before = (demo_state / "demo-rack.json").read_bytes()
    told = cli("--demo", "hosts", "diff", "a,b,c,d,e", "--json")
    assert (demo_state / "demo-rack.json").read_bytes() == before
    assert "read_ahead" not in json.dumps(told.json["differences"])


@pytest.mark.long
def test_what_the_most_are_set_to_is_a_file_that_apply_takes(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "most.toml"
    told = cli("--demo", "linux", "hosts", "diff", "node[1-12]", "--export", str(file), "--json")
    assert {"read_ahead_kb", "nr_requests"} <= {one["key"] for one in told.json["differences"]}
    text = file.read_text()
    assert "read_ahead_kb = 128 # on 10 of 11 hosts" in text
    assert not {"serial", "wwn", "address", "write_mostly"} & set(re.findall(r"\w+", text))
    assert cli("--demo", "linux", "apply", str(file), "--check").status == 0
    cli("--demo", "linux", "set", "block:nvme0n1", "read_ahead_kb=0", "--yes")
    drift = cli("--demo", "linux", "apply", str(file), "--check")
    assert (drift.status, "read_ahead_kb" in drift.out) == (5, True)


def test_hosts_of_several_roles_make_no_file(cli: Cli, give: Give, tmp_path: Path) -> None:
    def host(name: str, model: str) -> RawResponse:
        things = [{"address": "x", "kind": "drive", "of": model}] * 3
        return RawResponse(host=name, status=0, out=json.dumps({"schema": 1, "things": things}))

    give(host("n1", "A"), host("n2", "B"))
    told = cli("hosts", "diff", "n[1-2]", "--export", str(tmp_path / "file"))
    assert (told.status, (tmp_path / "file").exists()) == (3, False)
    assert "have 2 roles" in told.err


def test_the_group_is_there() -> None:
    context = group.make_context("raidbench", ["hosts"], resilient_parsing=True)
    assert group.get_command(context, "hosts") is not None


def test_the_hosts_of_the_workbench_stand_before_no_command(cli: Cli) -> None:
    told = cli("--hosts", "n1", "devices")
    assert (told.status, "raidbench devices --hosts" in told.err) == (2, True)
    assert "--machine" in cli("--machine", ".", "--hosts", "n1").err
    assert "need --hosts" in cli("--host-program", "x").err


async def test_a_simulated_host_has_the_same_alone_as_among_others(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.features.fleet.cli.query.current", lambda: Options(demo="lsi"))
    fleet = query.open_fleet("node[1-40]", seconds=None, program=None)
    gone = next(host for host, plant in faults_by_host(fleet.hosts).items() if plant.change is None)
    (raw,) = [raw async for raw in fleet.ask((gone,), ("devices", "--json"))]
    assert (raw.host, raw.status) == (gone, 255)
