"""What is believed is a regular file of one name that nobody else can write; nothing is waited for or followed."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.session.folders import LOG
from app.core.session.journal import FILE, Journal
from app.core.session.locks import hold_lock
from app.core.session.store import SessionLog, load, read_start
from app.core.session.trusted_file import UntrustedFileError, open_own, read_own, read_regular
from backends.errors import StorageError
from tests.core.doubles import planned

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: to make a file of somebody else's")
STRANGER = 54321


def fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def second_name(path: Path) -> None:
    other = path.with_name("elsewhere")
    other.write_text("")
    other.chmod(0o600)
    os.link(other, path)


def link(path: Path) -> None:
    other = path.with_name("elsewhere")
    other.write_text("")
    path.symlink_to(other)


def open_to_all(path: Path) -> None:
    path.write_text("")
    path.chmod(0o666)


def a_strangers(path: Path) -> None:
    path.write_text("")
    path.chmod(0o644)
    os.chown(path, STRANGER, STRANGER)


def folder(path: Path) -> None:
    path.mkdir(mode=0o700)


def unix_socket(path: Path) -> None:
    """By a short path: that of a socket has room for a hundred characters."""
    beside = os.open(path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{beside}/{path.name}")
    os.close(beside)
    path.chmod(0o600)


PLANTED = [fifo, second_name, link, open_to_all, folder, unix_socket, pytest.param(a_strangers, marks=needs_root)]


@pytest.mark.parametrize("plant", PLANTED)
def test_a_journal_that_somebody_planted_is_neither_read_nor_written(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    plant(tmp_path / FILE)
    journal = Journal(tmp_path)
    assert (journal.unresolved(), journal.trials()) == ((), ())
    with pytest.raises(StorageError, match="Nothing was changed") as told:
        journal.write_intent("c1", tmp_path, planned("128", "256"))
    assert "Free space" not in told.value.hint
    assert not (tmp_path / "elsewhere").exists() or (tmp_path / "elsewhere").read_text() == ""


@pytest.mark.parametrize("plant", PLANTED)
def test_that_a_journal_is_not_read_is_told(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    plant(tmp_path / FILE)
    assert Journal(tmp_path).read_error() is not None


def test_no_journal_is_no_trouble(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none").read_error() is None


@pytest.mark.parametrize("plant", PLANTED)
def test_a_log_that_somebody_planted_is_not_gone_on_with(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    plant(tmp_path / LOG)
    with pytest.raises(StorageError):
        SessionLog(tmp_path)


def test_a_log_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    fifo(tmp_path / LOG)
    assert read_start(tmp_path) is None
    with pytest.raises(StorageError, match="not a regular file"):
        load(tmp_path)


@needs_root
def test_a_log_of_somebody_else_can_be_read_and_not_acted_on(tmp_path: Path) -> None:
    a_strangers(tmp_path / LOG)
    assert load(tmp_path).session.changes == ()
    with pytest.raises(StorageError, match="belongs to another user \\(UID 54321\\)"):
        SessionLog(tmp_path)


@needs_root
def test_a_folder_of_somebody_else_is_not_written_into(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(0o755)
    os.chown(folder, STRANGER, STRANGER)
    with pytest.raises(StorageError):
        SessionLog(folder)


def test_a_folder_that_all_may_write_into_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StorageError, match="can be written by other users"):
        SessionLog(folder)


def test_a_lock_that_somebody_planted_is_not_held(tmp_path: Path) -> None:
    fifo(tmp_path / "sda.lock")
    with pytest.raises(StorageError), hold_lock(tmp_path, "sda", "changing"):
        pass


def test_an_own_file_is_read_as_ever(tmp_path: Path) -> None:
    descriptor = open_own(tmp_path / "own", os.O_RDWR | os.O_CREAT)
    os.close(descriptor)
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_whose_a_file_is_stands_in_the_sentence(tmp_path: Path) -> None:
    second_name(tmp_path / "file")
    with pytest.raises(UntrustedFileError, match="has a second hard link"):
        open_own(tmp_path / "file", os.O_RDONLY)


@pytest.mark.parametrize("reader", [lambda path: open_own(path, os.O_RDONLY), read_regular], ids=["own", "regular"])
def test_what_is_refused_is_not_left_open(tmp_path: Path, reader: Callable[[Path], object]) -> None:
    fifo(tmp_path / "file")
    before = os.listdir("/proc/self/fd")
    with pytest.raises(UntrustedFileError, match="is not a regular file"):
        reader(tmp_path / "file")
    assert os.listdir("/proc/self/fd") == before


def test_what_root_wrote_is_believed_by_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path("/etc/passwd")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert read_own(file) == file.read_bytes()


def own_groups(path: Path) -> Path:
    """A file as umask 002 makes it."""
    path.write_text("own")
    path.chmod(0o664)
    return path


def test_a_users_own_group_may_write_what_it_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() or STRANGER)
    assert read_own(own_groups(tmp_path / "file")) == b"own"


@needs_root
def test_a_group_that_may_write_what_root_keeps_is_somebody_else(tmp_path: Path) -> None:
    with pytest.raises(UntrustedFileError, match="can be written by other users"):
        read_own(own_groups(tmp_path / "file"))
