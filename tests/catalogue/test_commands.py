"""The help of every command, and the lists of the program, are what the golden files say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.catalogue.commands import command_lines, help_files, list_files, printed
from tests.catalogue.golden import HELP, LISTS, differences


@pytest.mark.parametrize(("folder", "files"), [(HELP, help_files), (LISTS, list_files)], ids=["help", "lists"])
def test_what_a_command_prints_is_as_it_was(folder: Path, files: Callable[[], Mapping[str, str]]) -> None:
    changed = differences(folder, files())
    assert not changed, changed


def test_every_command_has_its_help() -> None:
    lines = list(command_lines())
    assert {(), ("bench",), ("array",), ("array", "create"), ("baseline", "check"), ("hosts", "diff")} < set(lines)
    assert len(lines) == len(set(lines)) == len(list(HELP.glob("*.txt")))


def test_neither_terminal_nor_configuration_changes_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = printed("keys"), printed("ab", "--help")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    (tmp_path / "config.toml").write_text('[keymap]\n"bench.run" = "f5"\n')
    monkeypatch.setenv("SUDO_UID", str(os.getuid()))
    monkeypatch.chdir(tmp_path)
    assert (printed("keys"), printed("ab", "--help")) == before


def test_a_command_that_fails_has_no_text() -> None:
    with pytest.raises(RuntimeError, match="raidbench no-such-command ends with 2"):
        printed("no-such-command")
