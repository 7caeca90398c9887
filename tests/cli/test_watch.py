"""`watch`: what has changed since the last one, what is wrong, what drifted."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    assert second.out.splitlines()[0] == "changed   read_ahead_kb of block:sda 128 -> 4096"
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


def test_a_unit_is_printed_with_all_that_was_named(cli: Cli) -> None:
    told = cli("watch", "/etc/good.toml", "--baseline", "nightly", "--ignore", "governor", "--unit", "service").out
    assert "watch /etc/good.toml --baseline nightly --ignore governor\n" in told
    assert "OnCalendar=*-*-* 02:30" in cli("watch", "--unit", "timer").out
