"""What a crash left, put back or kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.measure import scratch_mark
from app.engine.session import journal as module
from app.engine.session.journal import Journal
from backends.change import Change, Write
from backends.identity import Identity
from tests.cli.conftest import Cli
from tests.engine import sessions

_PATH = "/sys/block/sda/queue/read_ahead_kb"


@pytest.fixture
def crashed(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An intent of a process that is gone: read-ahead of sda from 64 to the 128 it has now."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "process_start", lambda _pid: "1")
        Journal(state / "journal" / "simulated").intent(
            "c1",
            state / "sessions/gone",
            Change(
                target=sessions.SDA,
                key="read_ahead_kb",
                label="Read-ahead",
                before="64",
                after="128",
                writes=(Write(path=_PATH, text="128"),),
                undo=(Write(path=_PATH, text="64"),),
                identity=Identity(
                    name="sda",
                    wwn="naa.5000039ff4c0ffee",
                    serial="X5C0FFEE77",
                    model="TOSHIBA DT01",
                    size_bytes=7814037168 * 512,
                    devno="8:0",
                ),
            ),
        )


def test_every_command_says_that_something_is_left(cli: Cli, machine: str, crashed: None) -> None:
    assert "raidbench recover" in cli("--machine", machine, "devices").err


def test_nothing_left_is_said(cli: Cli, machine: str) -> None:
    assert "Nothing was left" in cli("--machine", machine, "recover").err


def test_what_is_left_is_shown_with_its_way_back(cli: Cli, machine: str, crashed: None) -> None:
    assert f"echo 64 > {_PATH}" in cli("--machine", machine, "recover", "--list").out


def test_without_a_terminal_nothing_is_done(cli: Cli, machine: str, crashed: None) -> None:
    assert cli("--machine", machine, "recover").status == 3


def test_restore_brings_the_old_value_back(cli: Cli, machine: str, crashed: None) -> None:
    outcome = cli("--machine", machine, "recover", "--restore")
    assert (outcome.status, "restored" in outcome.out) == (0, True)


def test_restored_is_not_asked_again(cli: Cli, machine: str, crashed: None) -> None:
    cli("--machine", machine, "recover", "--restore")
    assert "Nothing was left" in cli("--machine", machine, "recover").err


def test_kept_is_not_asked_again(cli: Cli, machine: str, crashed: None) -> None:
    cli("--machine", machine, "recover", "--keep")
    assert "Nothing was left" in cli("--machine", machine, "recover").err


def leave_scratch(state: Path, file: Path, *, ours: bool) -> None:
    file.write_bytes(b"x" * 8192)
    if ours:
        with file.open("rb") as held:
            scratch_mark.mark_left(held.fileno(), file)
    run = sessions.run(scratch=str(file), ended=False)
    sessions.written(state / "sessions/gone", sessions.started(), *run)


def test_a_scratch_file_that_was_left_is_removed(cli: Cli, machine: str, state: Path, tmp_path: Path) -> None:
    leave_scratch(state, tmp_path / "left.dat", ours=True)
    cli("--machine", machine, "recover", "--restore")
    assert not (tmp_path / "left.dat").exists()


def test_a_file_without_our_mark_is_not_removed(cli: Cli, machine: str, state: Path, tmp_path: Path) -> None:
    leave_scratch(state, tmp_path / "left.dat", ours=False)
    cli("--machine", machine, "recover", "--restore")
    assert (tmp_path / "left.dat").exists()
