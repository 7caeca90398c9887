"""Whatever says or does something says it as JSON too, and shows before it does: `--json` and `--dry-run`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli.command_index import COMMANDS
from app.cli.main import cli as group
from tests.cli.conftest import Cli, Outcome

DEMO = ("--demo", "--demo-speed", "1000")

NO_JSON = {
    "help": "a page for a person",
    "report": "a document itself: --format json",
}
"""Commands without `--json`, and why."""

DOES = ("set", "undo", "persist", "bench", "precondition", "ab", "sweep", "curve", "recover")
"""Commands that change or overwrite something, and can show it before."""


def commands() -> Iterator[tuple[str, click.Command]]:
    context = group.make_context("raidbench", ["devices"], resilient_parsing=True)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {each}", command.commands[each]) for each in command.commands)
        else:
            yield name, command


def having(option: str) -> set[str]:
    return {name for name, command in commands() if any(option in one.opts for one in command.params)}


def test_every_command_has_json_or_a_reason() -> None:
    assert {name for name, _ in commands()} - having("--json") == set(NO_JSON)


def test_every_command_that_does_something_shows_it_before() -> None:
    assert set(DOES) <= having("--dry-run")


@pytest.fixture
def demo(cli: Cli) -> Cli:
    def run(*words: str) -> Outcome:
        return cli(*DEMO, *words)

    return run


def test_an_undo_is_shown_listed_and_told_as_json(demo: Cli) -> None:
    assert demo("set", "/c0/v1", "read_ahead=read-ahead", "--yes").status == 0
    (listed,) = demo("undo", "--list", "--json").json["in_force"]
    assert (listed["target"], listed["key"], listed["before"]) == ("megaraid:/c0/v1", "read_ahead", "none")
    shown = demo("undo", "--dry-run", "--json").json
    assert (shown["dry_run"], shown["simulated"]) == (True, True)
    assert shown["changes"][0]["takes_back"] == listed["id"]
    assert shown["changes"][0]["change"]["commands"][0].endswith("set rdcache=nora J nolog")
    assert len(demo("undo", "--list", "--json").json["in_force"]) == 1
    done = demo("undo", "--yes", "--json").json
    assert [each["outcome"]["result"] for each in done["changes"]] == ["verified"]
    assert demo("undo", "--list", "--json").json["in_force"] == []
    assert demo("undo", "--yes", "--json").json["changes"] == []


def test_what_persist_would_write_is_shown_and_not_written(demo: Cli) -> None:
    shown = demo("persist", "sdb", "read_ahead_kb=4096", "--dry-run", "--json").json
    assert "4096" in shown["files"][0]["text"]
    assert shown["values"] == {"read_ahead_kb": "4096"}
    assert demo("persist", "sdb", "--remove", "--dry-run", "--json").json["files"][0]["text"] == ""
    kept = demo("persist", "sdb", "read_ahead_kb=4096", "--yes", "--json").json
    assert (kept["dry_run"], kept["files"]) == (False, shown["files"])


def test_what_a_run_would_lose_is_shown_and_nothing_is_run(demo: Cli, state: Path) -> None:
    for words in (("bench", "/c1/v0", "--rw", "randwrite"), ("precondition", "/c1/v0")):
        shown = demo(*words, "--dry-run", "--json").json
        assert (shown["dry_run"], shown["destructive"]) == (True, True)
    assert "All data on it will be lost." in demo("bench", "/c1/v0", "--rw", "randwrite", "--dry-run").out
    assert not (state / "sessions").exists()
    assert demo("bench", "/c0/v0", "--rw", "randwrite", "--dry-run").status == 3  # the system's disk


def test_what_was_left_is_told_as_json(demo: Cli) -> None:
    told = demo("recover", "--list", "--json").json
    empty = ("changes", "arrays", "sweeps", "experiments", "scratch_files", "folders")
    assert told["left"] == {name: [] for name in empty}


@pytest.mark.long
def test_a_baseline_is_told_when_it_is_saved_and_removed(demo: Cli) -> None:
    assert demo("bench", "/c0/v1", "--runtime", "10", "--repeat", "3").status == 0
    saved = demo("baseline", "save", "night", "--json").json
    assert (saved["baseline"]["name"], saved["simulated"]) == ("night", True)
    assert demo("baseline", "remove", "night", "--json").json["removed"] == "night"
