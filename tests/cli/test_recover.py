"""What a crash left, put back or kept."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from app.cli import recover_unit
from app.core.benchmark import scratch_xattr
from app.core.changes import systemd_units
from app.core.session import journal as module
from app.core.session.journal import Journal, boot_clock
from app.core.session.paths import Paths
from backends.change import Change, ChangeStep
from backends.identity import Identity
from backends.processes import pid_namespace
from backends.system.recorded import apart_of
from tests.cli.conftest import Cli
from tests.core import sessions
from tests.core.changes.test_boot_unit import Booted

_PATH = "/sys/block/sda/queue/read_ahead_kb"


@pytest.fixture
def crashed(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An intent of a process that is gone: read-ahead of sda from 64 to the 128 it has now."""
    cut_short(paths_of(machine), monkeypatch)


@pytest.fixture
def tried(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same on trial; its watchdog went down with the machine."""
    cut_short(paths_of(machine), monkeypatch, until=boot_clock() - 60)


def paths_of(machine: str) -> Paths:
    return Paths.of(apart_of(Path(machine)))


def cut_short(paths: Paths, monkeypatch: pytest.MonkeyPatch, until: float | None = None) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "process_start", lambda _pid: "1")
        Journal(paths.journal).write_intent(
            "c1",
            paths.sessions / "gone",
            Change(
                target=sessions.SDA,
                key="read_ahead_kb",
                label="Read-ahead",
                before="64",
                after="128",
                writes=(ChangeStep(path=_PATH, text="128"),),
                undo=(ChangeStep(path=_PATH, text="64"),),
                identity=Identity(
                    name="sda",
                    wwn="naa.5000039ff4c0ffee",
                    serial="X5C0FFEE77",
                    model="TOSHIBA DT01",
                    size_bytes=7814037168 * 512,
                    devno="8:0",
                ),
            ),
            until=until,
        )


def test_every_command_says_that_something_is_left(cli: Cli, machine: str, crashed: None) -> None:
    assert f"`raidbench --machine {machine} recover`" in cli("--machine", machine, "devices").err


def test_what_was_left_and_what_would_put_it_back_is_told_as_json(cli: Cli, machine: str, crashed: None) -> None:
    for words in (("--list",), ("--restore", "--dry-run")):
        (left,) = cli("--machine", machine, "recover", *words, "--json").json["left"]["changes"]
        assert (left["id"], left["target"], left["before"], left["after"]) == ("c1", "block:sda", "64", "128")
        assert left["back"]["commands"] == [f"echo 64 > {_PATH}"]


def test_what_is_still_left_is_told_as_json(cli: Cli, machine: str, crashed: None) -> None:
    done = cli("--machine", machine, "recover", "--keep", "--json").json
    assert ([each["id"] for each in done["left"]["changes"]], done["still_left"]["changes"]) == (["c1"], [])


def test_nothing_left_is_said(cli: Cli, machine: str) -> None:
    assert "There is nothing to recover" in cli("--machine", machine, "recover").err


def test_what_is_left_is_shown_with_its_way_back(cli: Cli, machine: str, crashed: None) -> None:
    assert f"echo 64 > {_PATH}" in cli("--machine", machine, "recover", "--list").out


def test_without_a_terminal_nothing_is_done(cli: Cli, machine: str, crashed: None) -> None:
    assert cli("--machine", machine, "recover").status == 3


def test_restore_brings_the_old_value_back(cli: Cli, machine: str, crashed: None) -> None:
    outcome = cli("--machine", machine, "recover", "--restore")
    assert (outcome.status, "restored" in outcome.out) == (0, True)


def test_restored_is_not_asked_again(cli: Cli, machine: str, crashed: None) -> None:
    cli("--machine", machine, "recover", "--restore")
    assert "There is nothing to recover" in cli("--machine", machine, "recover").err


def test_kept_is_not_asked_again(cli: Cli, machine: str, crashed: None) -> None:
    cli("--machine", machine, "recover", "--keep")
    assert "There is nothing to recover" in cli("--machine", machine, "recover").err


def leave_scratch(machine: str, file: Path, *, ours: bool) -> None:
    file.write_bytes(b"x" * 8192)
    if ours:
        with file.open("rb") as held:
            scratch_xattr.mark_left(held.fileno(), file)
    run = sessions.run(scratch=str(file), ended=False)
    sessions.written(paths_of(machine).sessions / "gone", sessions.started(), *run)


def test_a_scratch_file_that_was_left_is_removed(cli: Cli, machine: str, tmp_path: Path) -> None:
    leave_scratch(machine, tmp_path / "left.dat", ours=True)
    cli("--machine", machine, "recover", "--restore")
    assert not (tmp_path / "left.dat").exists()


def test_a_file_without_our_mark_is_not_removed(cli: Cli, machine: str, tmp_path: Path) -> None:
    leave_scratch(machine, tmp_path / "left.dat", ours=False)
    cli("--machine", machine, "recover", "--restore")
    assert (tmp_path / "left.dat").exists()


# -- at boot -------------------------------------------------------------------------------------------------------


def test_at_boot_what_was_on_trial_is_put_back_without_a_question(cli: Cli, machine: str, tried: None) -> None:
    outcome = cli("--machine", machine, "recover", "--trials")
    assert (outcome.status, "restored" in outcome.out) == (0, True)


def test_at_boot_nothing_else_is_touched(cli: Cli, machine: str, crashed: None) -> None:
    outcome = cli("--machine", machine, "recover", "--trials")
    assert (outcome.status, outcome.err.endswith("No trial was interrupted.\n")) == (0, True)
    assert "read_ahead_kb" in cli("--machine", machine, "recover", "--list").out


def test_without_systemd_no_unit_is_installed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systemd_units, "BOOTED", "/no/such/folder")
    outcome = cli("recover", "--install-unit", "--yes")
    assert (outcome.status, "not booted by systemd" in outcome.err) == (3, True)


def test_a_recorded_machine_gets_no_unit(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "recover", "--install-unit", "--yes")
    assert (outcome.status, "only for the host that raidbench runs on" in outcome.err) == (3, True)


@pytest.fixture
def booted(monkeypatch: pytest.MonkeyPatch) -> Booted:
    """A machine that systemd booted, on which raidbench lies where it should."""
    host = Booted()
    monkeypatch.setattr(recover_unit, "persistent_argv", lambda: ("/usr/bin/raidbench",))
    monkeypatch.setattr(recover_unit, "_this_machine", lambda _bench: host)
    return host


def test_the_unit_is_shown_with_its_place_and_a_dry_run_writes_nothing(cli: Cli, booted: Booted) -> None:
    outcome = cli("recover", "--install-unit", "--dry-run")
    assert "/etc/systemd/system/raidbench-recover.service will contain:" in outcome.err
    assert "ExecStart=/usr/bin/raidbench recover --trials" in outcome.err
    assert (outcome.status, booted.files) == (0, {})


def test_nobody_asked_means_no_unit(cli: Cli, booted: Booted) -> None:
    assert (cli("recover", "--install-unit").status, booted.files) == (3, {})


def test_the_unit_is_written_on_a_yes_and_removed_on_another(cli: Cli, booted: Booted) -> None:
    written = cli("recover", "--install-unit", "--yes").status, list(booted.files)
    removed = cli("recover", "--remove-unit", "--yes").status, list(booted.files)
    assert (written, removed) == ((0, [systemd_units.PATH]), (0, []))


@pytest.mark.parametrize(
    "words", [("--install-unit", "--restore"), ("--list", "--keep"), ("--trials", "--keep"), ("--yes",)]
)
def test_what_cannot_be_meant_together_is_wrong_usage(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("recover", *words).status == 2


# -- working folders -----------------------------------------------------------------------------------------------


@pytest.fixture
def left_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a process that is gone: no number is that high."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"raidbench-{pid_namespace()}-4999999999-1-abc"
    folder.mkdir(mode=0o700)
    return folder


def test_an_empty_working_folder_is_listed(cli: Cli, left_folder: Path) -> None:
    assert f"empty working folder {left_folder}" in cli("recover", "--list").out


def test_an_empty_working_folder_is_removed(cli: Cli, left_folder: Path) -> None:
    outcome = cli("recover", "--restore")
    assert ("removed  1 empty working folder" in outcome.out, left_folder.exists()) == (True, False)


def test_an_empty_working_folder_is_kept_if_all_is(cli: Cli, left_folder: Path) -> None:
    cli("recover", "--keep")
    assert left_folder.exists()
