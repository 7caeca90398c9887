"""`check` on the racks and recordings: what is planted is found, what is healthy is not blamed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

PLANTED = {
    ("array-degraded", "megaraid:/c2/v0"),
    ("battery-failed", "megaraid:/c2"),
    ("policy-not-in-force", "megaraid:/c2/v0"),
    ("battery-replace", "megaraid:/c2"),
    ("drive-foreign", "megaraid:/c0/e245/s12"),
    ("drive-errors", "megaraid:/c0/e245/s11"),
}
"""Warnings and faults of the first rack (docs/dev/simulation.md)."""


def test_the_faults_of_the_first_rack_are_found_and_nothing_else(cli: Cli) -> None:
    done = cli("--demo", "lsi", "check", "--json")
    found = {(one["id"], one["where"]) for one in done.json["findings"] if one["severity"] != "note"}
    assert (done.status, found) == (5, PLANTED)


@pytest.mark.long
@pytest.mark.parametrize("rack", ["hpe", "linux"])
def test_a_healthy_rack_is_not_blamed(cli: Cli, rack: str) -> None:
    done = cli("--demo", rack, "check", "--json")
    assert (done.status, done.json["findings"], done.json["unknown"]) == (0, [], [])


def test_a_battery_that_fails_is_found(cli: Cli) -> None:
    done = cli("--demo", "hpe", "--demo-state", "battery-failed", "check", "--json")
    assert done.status == 5
    assert {"battery-failed", "policy-not-in-force"} <= {one["id"] for one in done.json["findings"]}


def test_the_text_tells_what_says_so_and_what_mends_it(cli: Cli) -> None:
    done = cli("--demo", "lsi", "check", "megaraid:/c3/v0", "--severity", "note")
    assert done.status == 5
    assert "fix      raidbench set megaraid:/c3/v0 read_ahead=none" in done.out
    assert "/c2" not in done.out
    assert "1 finding (1 note)." in done.err


def test_no_line_breaks_a_word_at_80_columns(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.output._width_of", lambda _stream: 80)
    done = cli("--demo", "lsi", "check")
    long = [line for line in done.out.splitlines() if len(line) > 80 and "fix      raidbench" not in line]
    assert long == []
    whole = cli("--demo", "lsi", "check", "--json").json["findings"]
    words = {word for one in whole for word in f"{one['message']} {one['evidence']}".split()}
    assert words <= set(done.out.split())


@pytest.mark.long
def test_what_mends_it_mends_it(cli: Cli) -> None:
    (found,) = cli("--demo", "lsi", "check", "megaraid:/c3/v0", "--json").json["findings"]
    change = found["change"]
    assert cli("--demo", "set", change["target"], f"{change['key']}={change['value']}", "--yes").status == 0
    assert cli("--demo", "check", "megaraid:/c3/v0", "--json").json["findings"] == []


@pytest.mark.long
def test_only_what_is_asked_for_makes_the_status(cli: Cli) -> None:
    faults = ["--ignore", "array-degraded", "--ignore", "battery-failed"]
    done = cli("--demo", "lsi", "check", "--severity", "fault", *faults)
    assert (done.status, "2 ignored" in done.err) == (0, True)


def test_a_rule_that_there_is_not_is_wrong_usage(cli: Cli) -> None:
    done = cli("--demo", "lsi", "check", "--ignore", "battery-faild")
    assert (done.status, "battery-failed" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "status", "word"),
    [
        (("--demo", "lsi", "check", "--nagios"), 2, "CRITICAL"),
        (("--demo", "linux", "check", "--nagios"), 0, "OK"),
        (("--demo", "lsi", "check", "megaraid:/c0", "--nagios"), 1, "WARNING"),
        (("--demo", "linux", "check", "nothing", "--nagios"), 3, "UNKNOWN"),
    ],
)
def test_a_monitoring_is_answered_in_its_own_words(cli: Cli, words: tuple[str, ...], status: int, word: str) -> None:
    done = cli(*words)
    assert (done.status, done.out.startswith(f"RAIDBENCH {word} - ")) == (status, True)
    assert done.out.splitlines()[0].count("|") <= 1


@pytest.mark.long
def test_nothing_is_written_by_a_check(cli: Cli, state: Path) -> None:
    assert cli("--demo", "lsi", "check").status == 5
    assert not (state / "sessions").exists() or not list((state / "sessions").iterdir())


def test_a_recorded_server_is_judged_as_a_live_one(cli: Cli) -> None:
    folder = Path(__file__).parents[2] / "machines" / "storage-server"
    done = cli("--machine", str(folder), "check", "--json")
    assert [one for one in json.loads(done.out)["findings"] if one["severity"] != "note"] == []


def test_a_drive_that_its_controller_calls_a_predictive_failure_is_a_fault(cli: Cli) -> None:
    done = cli("--demo", "arrays", "check", "--json")
    found = {(one["id"], one["severity"], one["where"]) for one in done.json["findings"]}
    assert ("drive-failing", "fault", "smartarray:/slot0/2I:1:7") in found
    plugin = cli("--demo", "arrays", "check", "--nagios")
    assert plugin.status == 2
    assert plugin.out.startswith("RAIDBENCH CRITICAL")
    assert "drive-failing at smartarray:/slot0/2I:1:7" in plugin.out
