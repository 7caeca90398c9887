"""`metrics` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli


def test_a_file_has_what_is_printed_elsewhere(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "raidbench.prom"
    done = cli("--demo", "lsi", "metrics", "--output", str(file))
    assert (done.status, done.out) == (0, "")
    assert 'raidbench_cache_protection{kind="bbu",state="failed",target="megaraid:/c2"} 1.0' in file.read_text()


def test_the_same_figures_are_there_as_json(cli: Cli, machine: str) -> None:
    told = cli("--machine", machine, "metrics", "--json", "--no-serials").json
    (info,) = (one for one in told["metrics"] if one["name"] == "raidbench_target_info")
    assert {one["labels"]["serial"] for one in info["samples"]} == {""}
    assert told["simulated"] is True


def test_a_unit_is_printed_and_nothing_is_asked(cli: Cli) -> None:
    done = cli("metrics", "--unit", "service", "--output", "/srv/x.prom")
    assert "metrics --output /srv/x.prom\n" in done.out
    assert "OnCalendar" in cli("metrics", "--unit").out


def test_rules_and_a_board_are_printed(cli: Cli) -> None:
    assert cli("metrics", "--alerts").out.startswith("groups:\n")
    assert json.loads(cli("metrics", "--board").out)["panels"]


def test_one_thing_is_printed_at_a_time(cli: Cli) -> None:
    assert cli("metrics", "--alerts", "--board").status == 2
