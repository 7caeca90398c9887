"""`watch`: what has changed since the last one, what is wrong, what drifted."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.device_stats.sampler import PATH as DISKSTATS
from app.features.watch.cli import IDLE_SECONDS
from backends.host import SIMULATED_MACHINE
from backends.simulator.host import SimulatedHost
from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")

FILE = """format = 1
[[target]]
select = {address = "block:sda"}
set = {read_ahead_kb = 128}
"""


@pytest.mark.long
def test_a_value_that_changed_is_told_first_and_once(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(FILE)
    first = cli(*LINUX, "watch", str(path))
    assert (first.status, first.out, "This is the first watch" in first.err) == (0, "", True)
    assert cli(*LINUX, "set", "block:sda", "read_ahead_kb=4096", "--yes").status == 0
    second = cli(*LINUX, "watch", str(path))
    assert second.out.splitlines()[0] == "changed   Kernel read-ahead of block:sda 128 KiB -> 4096 KiB"
    assert (second.status, "differs   block:sda" in second.out) == (5, True)
    assert cli(*LINUX, "watch", "--json").json["changed"] == []


@pytest.mark.long
def test_a_baseline_is_measured_too_and_one_that_writes_is_refused(cli: Cli) -> None:
    bench = (*LINUX, "bench", "block:nvme1n1", "--runtime", "2", "--ramp", "0", "--repeat", "3")
    assert cli(*bench, "--rw", "randread").status == 0
    assert cli(*LINUX, "baseline", "save", "nightly").status == 0
    done = cli(*LINUX, "watch", "--baseline", "nightly")
    assert (done.status, "nightly" in done.err, done.out) == (0, True, "")
    assert cli(*LINUX, "watch", "--baseline", "nowhere").status == 2


def test_a_finding_makes_the_status(cli: Cli) -> None:
    done = cli("--demo", "lsi", "watch")
    assert (done.status, "fault     battery-failed  megaraid:/c2: " in done.out) == (5, True)


@pytest.mark.long
def test_standing_findings_are_known_the_next_time(cli: Cli, state: Path) -> None:
    assert cli("--demo", "lsi", "watch").status == 5
    second = cli("--demo", "lsi", "watch", "--json")
    assert second.status == 4
    assert {one["news"] for one in second.json["news"]} == {"known"}
    (kept,) = state.rglob("watched-findings.json")
    document = json.loads(kept.read_text())
    document["reminded"] -= 8 * 86400
    document["findings"] = [one for one in document["findings"] if one["rule"] != "battery-failed"]
    kept.write_text(json.dumps(document))
    third = cli("--demo", "lsi", "watch")
    assert (third.status, "Weekly reminder of known findings" in third.err) == (5, True)
    news = {line.split()[1]: line.rpartition("(")[2] for line in third.out.splitlines() if line.endswith(")")}
    assert (news["battery-failed"], news["array-degraded"]) == ("new)", "reminder)")
    assert cli("--demo", "lsi", "watch").status == 4
    kept.write_text("{")
    assert cli("--demo", "lsi", "watch").status == 5


def test_a_difference_that_stands_is_known_too(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(FILE.replace("128", "4096"))
    assert cli(*LINUX, "watch", str(path)).status == 5
    second = cli(*LINUX, "watch", str(path))
    assert (second.status, "(known)" in second.out) == (4, True)


def test_a_unit_is_printed_with_all_that_was_named(cli: Cli) -> None:
    told = cli("watch", "/etc/good.toml", "--baseline", "nightly", "--ignore", "governor", "--unit", "service").out
    assert "watch /etc/good.toml --baseline nightly --ignore governor\n" in told
    assert "SuccessExitStatus=4\n" in told
    assert "OnCalendar=*-*-* 02:30" in cli("watch", "--unit", "timer").out


@pytest.fixture
def saved(cli: Cli) -> str:
    """A baseline of an NVMe drive of the rack."""
    bench = (*LINUX, "bench", "block:nvme1n1", "--runtime", "1", "--ramp", "0", "--rw", "randread", "--repeat", "3")
    assert cli(*bench).status == 0
    assert cli(*LINUX, "baseline", "save", "nightly").status == 0
    return "nightly"


@pytest.mark.long
@pytest.mark.parametrize(("busy_ms", "skipped"), [(500, False), (501, True)])
def test_a_device_that_others_keep_busy_for_more_than_half_a_second_of_ten_is_no_night(
    cli: Cli, saved: str, monkeypatch: pytest.MonkeyPatch, busy_ms: int, skipped: bool
) -> None:
    counted = [70_000]
    read, slept = SimulatedHost.read, asyncio.sleep

    async def reading(host: SimulatedHost, path: str) -> str | None:
        return f"259 3 nvme1n1 9 0 72 1 9 0 72 1 0 {counted[-1]} 2\n" if path == DISKSTATS else await read(host, path)

    async def ten_seconds_later(seconds: float, result: object = None) -> object:
        if seconds != IDLE_SECONDS:
            return await slept(seconds, result)
        counted.append(counted[-1] + busy_ms)
        return result

    with monkeypatch.context() as patched:
        patched.setattr(
            "backends.simulator.host.SIMULATED_MACHINE", replace(SIMULATED_MACHINE, live=True)
        )  # others use its disks, too
        patched.setattr(SimulatedHost, "read", reading)
        patched.setattr("app.features.watch.cli.asyncio.sleep", ten_seconds_later)
        done = cli(*LINUX, "watch", "--baseline", saved)
    said = "The baseline was not measured, so there is no result for this night: /dev/nvme1n1 is busy (5.0 % of 10 s)."
    assert (done.status, said in done.err, saved in done.err) == (0, skipped, not skipped)
