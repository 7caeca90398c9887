"""What a session leaves on disk is for its user alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, argv


def _measured(state: Path, umask: int, *more: str) -> None:
    """A run of the simulated rack in a session, and a report of it beside the state folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(state)}
    report = state.parent / "report.md"
    for words in (("bench", "megaraid:/c0/v1", "--runtime", "2", "--ramp", "0"), ("report", "-o", str(report))):
        subprocess.run(
            argv("--demo", "--demo-speed", "20", *words),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            umask=umask,
            check=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two commands left under an open umask."""
    folder = tmp_path_factory.mktemp("open")
    _measured(folder / "state", 0o000)
    return folder


@pytest.mark.long
def test_nothing_of_a_session_is_open_to_others(left: Path) -> None:
    modes = {path: path.stat().st_mode & 0o077 for path in (left / "state", *(left / "state").rglob("*"))}
    assert len(modes) > 8
    assert {path for path, mode in modes.items() if mode} == set()


@pytest.mark.long
def test_a_report_is_as_open_as_the_umask_says(left: Path) -> None:
    assert (left / "report.md").stat().st_mode & 0o777 == 0o666
    assert (left / "report-files").stat().st_mode & 0o777 == 0o777


@pytest.mark.long
def test_a_report_is_private_where_the_umask_says_so(tmp_path: Path) -> None:
    _measured(tmp_path / "state", 0o077)
    assert (tmp_path / "report.md").stat().st_mode & 0o777 == 0o600
