"""How often a tool is started: each start of a real one costs a card seconds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli as group
from tests.backends.megaraid.chassis import VOLUMES, said_by
from tests.backends.megaraid.programs import install, lines_of

pytestmark = pytest.mark.exhaustive


def started(folder: Path, tool: str, *words: str) -> tuple[int, str]:
    """How often the tool was started for a command of raidbench, and what that printed."""
    program = install(folder, name=tool, whole=said_by(tool))
    result = CliRunner().invoke(group, ["devices", *words], prog_name="raidbench")
    assert result.exit_code == 0, result.output
    return len(lines_of(program)), result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["storcli64", "storcli2", "MegaCli64"])
def test_the_settings_of_240_volumes_cost_no_question_more_than_their_list(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    plain, _ = started(tmp_path / "tools", tool)
    (tmp_path / "tools" / f".{tool}.log").unlink()
    with_settings, printed = started(tmp_path / "tools", tool, "--json")
    strips = [
        setting["now"]
        for array in json.loads(printed)["arrays"]
        for setting in array["settings"]
        if setting["key"] == "strip_size"
    ]
    assert strips == ["262144"] * VOLUMES
    assert with_settings <= plain
