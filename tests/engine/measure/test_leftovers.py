"""Scratch files a crash left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.measure.leftovers import leftover_scratch
from app.engine.session.store import SessionLog
from tests.engine import sessions


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    file = tmp_path / "scratch.dat"
    file.write_bytes(b"x" * 8192)
    return file


def test_the_file_of_a_run_that_never_ended_is_left(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "all/one", sessions.started(), *sessions.run(scratch=str(scratch), ended=False))
    assert [left.path for left in leftover_scratch(tmp_path / "all")] == [scratch]


def test_the_file_of_a_whole_run_is_not(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "all/one", sessions.started(), *sessions.run(scratch=str(scratch)))
    assert leftover_scratch(tmp_path / "all") == ()


def test_a_file_that_is_gone_is_not(tmp_path: Path) -> None:
    sessions.written(tmp_path / "all/one", sessions.started(), *sessions.run(scratch="/nowhere/x", ended=False))
    assert leftover_scratch(tmp_path / "all") == ()


def test_the_file_of_a_session_in_use_is_not(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "all/one", sessions.started(), *sessions.run(scratch=str(scratch), ended=False))
    held = SessionLog(tmp_path / "all/one")
    found = leftover_scratch(tmp_path / "all")
    held.close()
    assert found == ()
