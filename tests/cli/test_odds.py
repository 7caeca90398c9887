"""`doctor`, `keys`, `profiles`, `capture`; and rubbish from every side."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from app.core.session.redaction import spellings
from tests.cli.conftest import ROOT, Cli, argv, program


@pytest.mark.long
def test_the_doctor_looks_at_everything(cli: Cli) -> None:
    looked = {finding["what"] for finding in cli("doctor", "--json").json["findings"]}
    assert {"fio", "lsblk", "blkid", "rights", "sessions", "journal", "locks", "changes", "trials", "locale"} <= looked


def test_every_finding_has_a_grade(cli: Cli) -> None:
    assert {finding["grade"] for finding in cli("doctor", "--json").json["findings"]} <= {"ok", "warn", "missing"}


def test_what_is_missing_comes_with_advice(cli: Cli, machine: str) -> None:
    findings = cli("--machine", machine, "doctor", "--json").json["findings"]
    assert [each["what"] for each in findings if each["grade"] != "ok" and not each["advice"]] == []


def test_a_missing_fio_makes_the_doctor_fail(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "doctor").status == 5


@pytest.mark.parametrize("command", [("devices",), ("doctor",), ("keys",), ("runs",), ("show", "sda"), ("report",), ()])
def test_a_wrong_configuration_has_one_answer_whatever_is_done(cli: Cli, state: Path, command: tuple[str, ...]) -> None:
    state.mkdir()
    (state / "config.toml").write_text('fps = 2\nthemme = "dark"\n')
    found = cli(*command)
    assert (found.status, found.out) == (2, "")
    assert "config.toml, line 2: unknown key 'themme'." in found.err
    assert "Did you mean theme?" in found.err


@pytest.mark.parametrize("command", [("devices",), ("doctor",), ("history",), ()])
def test_a_named_configuration_that_is_not_there_is_told(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    found = cli("--config", str(tmp_path / "none.toml"), *command)
    assert (found.status, "does not exist." in found.err) == (2, True)


@pytest.mark.parametrize("words", [("--help",), ("devices", "--help"), ("help", "devices"), ("--version",)])
def test_a_wrong_configuration_keeps_the_help_from_nobody(cli: Cli, state: Path, words: tuple[str, ...]) -> None:
    state.mkdir()
    (state / "config.toml").write_text('themme = "dark"\n')
    assert cli(*words).status == 0


def test_keys_come_from_the_commands_of_the_screens(cli: Cli) -> None:
    from app.tui.commands import COMMANDS

    assert {each["id"] for each in cli("keys", "--json").json["commands"]} == {each.id for each in COMMANDS}


def test_a_keymap_changes_a_key(cli: Cli, state: Path) -> None:
    state.mkdir()
    (state / "config.toml").write_text('[keymap]\n"app.devices" = "f1"\n')
    keys = {each["id"]: each["keys"] for each in cli("keys", "--json").json["commands"]}
    assert keys["app.devices"] == ["f1"]


def test_profiles_have_the_options_of_fio(cli: Cli) -> None:
    first = cli("profiles", "--json").json["profiles"][0]
    assert (first["name"], first["fio"]["rw"]) == ("randread-4k", "randread")


def test_a_capture_can_be_answered_from(cli: Cli, machine: str, tmp_path: Path) -> None:
    cli("--machine", machine, "capture", str(tmp_path / "copy"))
    outcome = cli("--machine", str(tmp_path / "copy"), "devices", "--json")
    assert [drive["address"] for drive in outcome.json["drives"]] == ["scsi:sda"]


def test_a_capture_has_what_runs_remember_of_their_machine(cli: Cli, machine: str, tmp_path: Path) -> None:
    cli("--machine", machine, "capture", str(tmp_path / "copy"))
    asked = json.loads((tmp_path / "copy/machine.json").read_text())
    assert {"/proc/cmdline", "/sys/devices/system/cpu/cpufreq/boost"} <= asked["files"].keys()
    assert "/sys/block/sda/queue/iosched/*" in asked["lists"]


@pytest.mark.parametrize("secret", ["X5C0FFEE77", "5000039ff4c0ffee"])
def test_a_capture_holds_no_serial_number(cli: Cli, machine: str, tmp_path: Path, secret: str) -> None:
    cli("--machine", machine, "capture", str(tmp_path / "copy"))
    assert secret not in (tmp_path / "copy/machine.json").read_text()


def test_a_capture_is_not_written_over_another(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "capture", machine).status == 3


def test_a_capture_changes_nothing(cli: Cli, machine: str, tmp_path: Path) -> None:
    before = (Path(machine) / "machine.json").read_text()
    cli("--machine", machine, "capture", str(tmp_path / "copy"))
    assert (Path(machine) / "machine.json").read_text() == before


def test_a_binary_configuration_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(os.urandom(64) + b"\xff")
    assert cli("--config", str(file), "keys").status == 2


def test_a_configuration_that_is_not_there_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("--config", str(tmp_path / "none"), "keys").status == 2


def test_a_session_that_cannot_be_written_changes_nothing(cli: Cli, machine: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ("--session", str(tmp_path / "file"), "--machine", machine, "set", "sda", "nomerges=2", "--yes")
    outcome = cli(*words)
    assert (outcome.status, "cannot be written" in outcome.err) == (1, True)


def test_a_closed_standard_output_is_no_crash(machine: str) -> None:
    words = [*argv("--machine", machine, "devices")]
    line = 'exec "$@" >&-'
    done = subprocess.run(["sh", "-c", line, "sh", *words], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=180)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_a_full_standard_output_is_said(machine: str) -> None:
    with open("/dev/full", "w") as full:
        words = argv("--machine", machine, "devices", "--json")
        done = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=180)
    assert (done.returncode, "No space left" in done.stderr) == (1, True)


def test_a_reader_that_leaves_is_no_error(machine: str) -> None:
    line = '"$@" | true; test ${PIPESTATUS[0]} -eq 0'
    words = ["bash", "-c", line, "bash", *argv("--machine", machine, "devices", "--json")]
    done = subprocess.run(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=180)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_utf8_gets_ascii(machine: str) -> None:
    outcome = program("--machine", machine, "devices", env={"PYTHONIOENCODING": "latin-1"})
    assert outcome.out.isascii()


def test_ascii_can_be_asked_for(machine: str) -> None:
    assert program("--ascii", "--machine", machine, "show", "sda").out.isascii()


def test_nothing_is_coloured_without_a_terminal(cli: Cli, machine: str) -> None:
    assert "\x1b[" not in cli("--machine", machine, "devices").out


def test_a_defect_is_one_sentence_and_a_file(cli: Cli, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no such number")

    monkeypatch.setattr("app.cli.devices.host_of", broken)
    outcome = cli("devices")
    assert (outcome.status, "Traceback" in outcome.err) == (1, False)


def test_the_file_of_a_defect_has_the_details(cli: Cli, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no such number")

    monkeypatch.setattr("app.cli.devices.host_of", broken)
    cli("devices")
    (file,) = (state / "crashes").iterdir()
    assert "Traceback" in file.read_text()


def test_a_wwn_is_masked_as_the_number_that_smartctl_makes_of_it() -> None:
    assert str(0xFF4C0FFEE) in set(spellings("naa.5000039ff4c0ffee"))
