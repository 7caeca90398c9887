"""Real programs on PATH that behave as ssacli and arcconf: what the command line makes of them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli as group
from backends.simulator.smartarray import ssacli
from backends.simulator.smartarray.cards import SmartCard
from tests.backends.smartarray.cards import HPE

pytestmark = pytest.mark.slow
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="settings are changed as root only")

LOW = replace(HPE, battery="Failed (Replace Batteries)")
_SCRIPT = """#!{python} -IS
import json, sys
line = " ".join(sys.argv[1:])
with open({log!r}, "a") as log:
    log.write(line + "\\n")
said = json.load(open({said!r}))
text = said.get(line, "\\nError: Not while it rains.\\n\\n")
sys.stdout.write(text)
sys.exit("Error:" in text)
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that comes first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    return folder


def install(folder: Path, card: SmartCard) -> Path:
    """A program that says what the card does to questions, and refuses the rest."""
    questions = ("ctrl all show", f"ctrl slot={card.number} show config detail", "ctrl slot=0 modify cacheratio=?")
    said = {line: ssacli.answer((card,), line.split())[0].text for line in questions}
    (folder / "said.json").write_text(json.dumps(said))
    tool = folder / "ssacli"
    tool.write_text(_SCRIPT.format(python=sys.executable, log=str(folder / "log"), said=str(folder / "said.json")))
    tool.chmod(0o755)
    return folder / "log"


def raidbench(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(group, [*words], prog_name="raidbench")
    return result.exit_code, result.output


def test_a_program_on_path_is_found_and_its_card_listed(path: Path) -> None:
    install(path, HPE)
    code, text = raidbench("devices", "--json")
    assert code == 0
    found = [one["address"] for kind in ("controllers", "arrays") for one in json.loads(text)[kind]]
    assert [one for one in found if one.startswith("smartarray:")] == ["smartarray:/slot0", "smartarray:/slot0/ld1"]


def test_what_is_set_and_what_is_in_force_are_shown_with_the_reason(path: Path) -> None:
    install(path, LOW)
    code, text = raidbench("show", "smartarray:/slot0/ld1", "--json")
    assert code == 0, text
    (setting,) = [one for one in json.loads(text)["target"]["settings"] if one["key"] == "write_cache"]
    assert (setting["now"], setting["effective"]) == ("write-back", "write-through")
    assert setting["why_effective"] == "the cache is temporarily disabled: Cache disabled; low batteries"


def test_a_drive_whose_tool_does_not_answer_is_not_said_to_be_missing(path: Path) -> None:
    install(path, HPE)
    (path / "said.json").write_text("{}")
    code, text = raidbench("show", "smartarray:/slot0/ld1")
    assert code == 1
    assert "raidbench cannot check whether 'smartarray:/slot0/ld1' exists: " in text
    assert "Not while it rains" in text
    code, text = raidbench("show", "smartarray:/slot0/ld1", "--json")
    assert (code, json.loads(text[text.index("{") :])["error"]["status"]) == (1, 1)


def test_a_drive_that_the_card_does_not_have_is_missing(path: Path) -> None:
    install(path, HPE)
    code, text = raidbench("show", "smartarray:/slot0/ld7")
    assert code == 2
    assert "'smartarray:/slot0/ld7' does not exist." in text


@pytest.mark.long
def test_the_table_of_devices_and_the_page_of_the_drive_say_so_too(path: Path) -> None:
    install(path, LOW)
    code, text = raidbench("devices", "--wide")
    assert code == 0
    assert "back ▲through" in next(line for line in text.splitlines() if "smartarray:/slot0/ld1" in line)
    code, text = raidbench("show", "smartarray:/slot0/ld1")
    assert code == 0
    assert "▲ write-back, in force write-through" in text
    why = "The effective value is write-through: the cache is temporarily disabled: Cache disabled; low batteries."
    assert f"Configured but not effective:\nwrite_cache: {why}\n" in text


def test_the_list_of_devices_in_json_has_both_and_the_reason(path: Path) -> None:
    install(path, LOW)
    code, text = raidbench("devices", "--json")
    assert code == 0
    (drive,) = [one for one in json.loads(text)["arrays"] if one["address"] == "smartarray:/slot0/ld1"]
    (setting,) = [one for one in drive["settings"] if one["key"] == "write_cache"]
    assert (setting["now"], setting["effective"]) == ("write-back", "write-through")
    assert setting["why_effective"].endswith("low batteries")


@pytest.mark.long
@needs_root
def test_a_refusal_is_told_in_the_words_of_the_tool(path: Path) -> None:
    log = install(path, HPE)
    code, text = raidbench("set", "smartarray:/slot0", "elevator_sort=disable", "--yes")
    assert code != 0
    assert "Not while it rains" in text
    assert "ctrl slot=0 modify elevatorsort=disable forced" in log.read_text().splitlines()


@needs_root
def test_a_value_that_is_set_already_is_not_sent(path: Path) -> None:
    log = install(path, HPE)
    code, text = raidbench("set", "smartarray:/slot0", "elevator_sort=enable", "--yes")
    assert code == 0
    assert "already" in text
    assert not [line for line in log.read_text().splitlines() if "elevatorsort" in line]
