"""The index of runs says what the sessions say, whatever became of it."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from app.core.analysis.past_runs import index
from app.core.analysis.past_runs.index import DAMAGED, NEWER, RunIndex, index_file, load_past_runs
from app.core.session import store
from app.core.session.paths import Paths
from app.core.session.store import SessionLog
from backends.errors import StorageError
from tests.core import sessions


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Three sessions of a run each."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    for name in ("a", "b", "c"):
        sessions.written(tmp_path / "sessions" / name, sessions.started(), sessions.seen(), *sessions.run("r1"))
    return Paths.of("")


def names(known: RunIndex) -> list[str]:
    return [run.name for run in known.runs]


def add(paths: Paths, session: str, run: str, at: float = 2000.0) -> None:
    log = SessionLog(paths.sessions / session)
    for event in sessions.run(run, at=at):
        log.append(event)
    log.close()


def test_runs_of_all_sessions_are_known(paths: Paths) -> None:
    assert names(load_past_runs(paths)) == ["a/r1", "b/r1", "c/r1"]


def test_an_index_that_is_there_answers_as_one_made_anew(paths: Paths) -> None:
    first = load_past_runs(paths)
    kept = load_past_runs(paths)
    index_file(paths).unlink()
    assert (kept, load_past_runs(paths)) == (first, first)


def test_what_did_not_change_is_not_read_again(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    load_past_runs(paths)
    monkeypatch.setattr(store, "load", lambda _: pytest.fail("read again"))
    assert len(load_past_runs(paths).runs) == 3


def test_a_session_that_grew_is_read_again(paths: Paths) -> None:
    load_past_runs(paths)
    add(paths, "b", "r2")
    assert names(load_past_runs(paths)) == ["a/r1", "b/r1", "c/r1", "b/r2"]


def test_a_removed_session_is_forgotten(paths: Paths) -> None:
    load_past_runs(paths)
    (paths.sessions / "b" / "session.jsonl").unlink()
    assert names(load_past_runs(paths)) == ["a/r1", "c/r1"]


def test_a_session_that_grows_while_it_is_read_is_read_again(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    load = store.load

    def grown(folder: Path) -> object:
        loaded = load(folder)
        if folder.name == "b":
            add(paths, "b", "r2")
        return loaded

    with monkeypatch.context() as patched:
        patched.setattr(store, "load", grown)
        load_past_runs(paths)
    assert "b/r2" in names(load_past_runs(paths))


@pytest.mark.parametrize(
    "damage", [b"", b"SQLite format 3\0", b"not an index at all" * 100], ids=["empty", "cut", "other"]
)
def test_a_damaged_index_is_made_anew(paths: Paths, damage: bytes) -> None:
    whole = load_past_runs(paths).runs
    index_file(paths).write_bytes(damage)
    assert load_past_runs(paths).runs == whole


def test_of_a_damaged_index_it_is_told(paths: Paths) -> None:
    index_file(paths).write_bytes(b"not an index at all" * 100)
    assert load_past_runs(paths).notes == (DAMAGED,)


def test_wherever_an_index_is_damaged_the_answer_is_right(paths: Paths) -> None:
    whole = load_past_runs(paths).runs
    sound = index_file(paths).read_bytes()
    wrong = []
    for at in range(0, len(sound), 397):
        index_file(paths).write_bytes(sound[:at] + b"\xff\x00\xff\x00" * 8 + sound[at + 32 :])
        if load_past_runs(paths).runs != whole:
            wrong.append(at)
    assert wrong == []


def test_an_index_cut_anywhere_answers_right(paths: Paths) -> None:
    whole = load_past_runs(paths).runs
    sound = index_file(paths).read_bytes()
    wrong = []
    for at in range(0, len(sound), 1021):
        index_file(paths).write_bytes(sound[:at])
        if load_past_runs(paths).runs != whole:
            wrong.append(at)
    assert wrong == []


def newer(paths: Paths) -> None:
    load_past_runs(paths)
    with sqlite3.connect(index_file(paths)) as base:
        base.execute(f"PRAGMA user_version = {index.FORMAT + 1}")
        base.execute("DROP TABLE runs")
    base.close()


def test_an_index_of_a_newer_version_is_made_anew(paths: Paths) -> None:
    newer(paths)
    assert len(load_past_runs(paths).runs) == 3


def test_of_an_index_of_a_newer_version_it_is_told(paths: Paths) -> None:
    newer(paths)
    assert load_past_runs(paths).notes == (NEWER,)


def test_a_link_in_its_place_is_not_followed(paths: Paths, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    index_file(paths).symlink_to(other)
    assert (len(load_past_runs(paths).runs), other.read_bytes()) == (3, b"mine")


def test_it_is_for_its_user_alone(paths: Paths) -> None:
    load_past_runs(paths)
    assert index_file(paths).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kept", [False, True], ids=["none there", "one there"])
def test_where_it_cannot_be_written_the_sessions_are_read(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if kept:
        load_past_runs(paths)
    add(paths, "a", "r2")
    opened = index._open_index

    def full(file: Path) -> sqlite3.Connection:
        base = opened(file)
        base.execute("PRAGMA query_only = ON")
        return base

    monkeypatch.setattr(index, "_open_index", full)
    assert len(load_past_runs(paths).runs) == 4


def test_on_a_full_disk_the_sessions_are_read(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    load_past_runs(paths)
    opened = index._open_index

    def full(file: Path) -> sqlite3.Connection:
        base = opened(file)
        base.execute("PRAGMA max_page_count = 1")  # as many as there are: not one more
        return base

    for run in range(2, 60):
        add(paths, "a", f"r{run}", at=2000.0 + run)
    monkeypatch.setattr(index, "_open_index", full)
    known = load_past_runs(paths)
    assert (len(known.runs), "full" in known.notes[0]) == (61, True)


def test_where_it_cannot_be_opened_the_sessions_are_read_and_it_is_told(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def refused(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(30, os.strerror(30))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refused)
    known = load_past_runs(paths)
    assert (len(known.runs), "Read-only file system" in known.notes[0]) == (3, True)


def test_while_another_process_writes_it_the_answer_is_whole(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    load_past_runs(paths)
    add(paths, "c", "r2")
    monkeypatch.setattr(index, "_PATIENCE", 0.01)
    other = sqlite3.connect(index_file(paths), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    known = load_past_runs(paths)
    other.close()
    assert (len(known.runs), "cannot be written" in known.notes[0]) == (4, True)


def test_many_at_once_all_know_everything(paths: Paths) -> None:
    found: list[RunIndex] = []
    workers = [threading.Thread(target=lambda: found.append(load_past_runs(paths))) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [names(known) for known in found] == [["a/r1", "b/r1", "c/r1"]] * 6


def test_a_session_that_lies_elsewhere_is_added(paths: Paths, tmp_path: Path) -> None:
    outside = sessions.written(tmp_path / "outside", sessions.started(), *sessions.run("r1"))
    assert "outside/r1" in names(load_past_runs(paths, extra_sessions=(store.load(outside),)))


def test_a_session_that_cannot_be_read_is_told_and_read_once_it_can_be(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = store.load

    def refused(folder: Path) -> object:
        if folder.name == "b":
            raise StorageError("b cannot be read.")
        return load(folder)

    with monkeypatch.context() as patched:
        patched.setattr(store, "load", refused)
        told = load_past_runs(paths).notes
    assert (told, len(load_past_runs(paths).runs)) == (("b: b cannot be read.",), 3)
