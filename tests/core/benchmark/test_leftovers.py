"""Scratch files a crash left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.core.benchmark.scratch import plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile
from app.core.benchmark.stale_scratch import leftover_scratch
from app.core.session import store
from app.core.session.paths import Paths
from app.core.session.store import SessionLog
from tests.core import sessions


@pytest.fixture
async def scratch(tmp_path: Path) -> Path:
    plan = plan_scratch(str(tmp_path / "scratch.dat"), 8192, writes=True)
    file = ScratchFile(plan)
    await file.open()
    Path(file.path).write_bytes(b"x" * 8192)
    await file.close(keep=True)
    return plan.path


def test_the_file_of_a_run_that_never_ended_is_left(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run(scratch=str(scratch), ended=False))
    assert [left.path for left in leftover_scratch(Paths.at(tmp_path))] == [scratch]


def test_the_file_that_was_to_serve_the_next_run_of_an_experiment_is_left(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run(scratch=str(scratch)))
    assert [left.path for left in leftover_scratch(Paths.at(tmp_path))] == [scratch]


def test_a_file_that_somebody_made_his_own_is_not(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run(scratch=str(scratch), ended=False))
    scratch.unlink()
    scratch.write_text("precious")
    assert leftover_scratch(Paths.at(tmp_path)) == ()


def test_a_file_that_a_later_session_is_using_is_not(tmp_path: Path, scratch: Path) -> None:
    for name in ("one", "two"):
        sessions.written(tmp_path / "sessions" / name, sessions.started(), *sessions.run(scratch=str(scratch)))
    os.utime(tmp_path / "sessions/one/session.jsonl", (0, 0))
    held = SessionLog(tmp_path / "sessions/two")
    found = leftover_scratch(Paths.at(tmp_path))
    held.close()
    assert found == ()


def test_a_file_that_is_gone_is_not(tmp_path: Path) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run(scratch="/nowhere/x", ended=False))
    assert leftover_scratch(Paths.at(tmp_path)) == ()


def test_the_file_of_a_session_in_use_is_not(tmp_path: Path, scratch: Path) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run(scratch=str(scratch), ended=False))
    held = SessionLog(tmp_path / "sessions/one")
    found = leftover_scratch(Paths.at(tmp_path))
    held.close()
    assert found == ()


def test_sessions_that_name_no_scratch_file_are_not_taken_apart_at_every_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.written(tmp_path / "sessions/one", sessions.started(), *sessions.run())
    taken: list[Path] = []
    monkeypatch.setattr(store, "load", taken.append)
    leftover_scratch(Paths.at(tmp_path))
    assert taken == []
