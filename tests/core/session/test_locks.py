"""One writer per disk, and whoever comes second is told who the first one is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from app.core.session.locks import hold_lock
from backends.errors import RefusedError, StorageError
from tests.core.session import lock_races
from tests.core.session.lock_races import Contender


@pytest.mark.slow
def test_of_two_who_race_one_wins_and_the_other_names_it(tmp_path: Path) -> None:
    assert lock_races.run(tmp_path, 12, 0).notes == []


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    holder = Contender(tmp_path)
    holder.tell()
    holder.hear()
    holder.kill()
    with hold_lock(tmp_path, "sda", "measuring"):
        pass
    holder.close()


def test_a_lock_is_not_given_twice_in_one_process(tmp_path: Path) -> None:
    with (
        hold_lock(tmp_path, "sda", "measuring"),
        pytest.raises(RefusedError, match=rf"PID {os.getpid()}: measuring\)"),
        hold_lock(tmp_path, "sda", "changing"),
    ):
        pass


def test_a_lock_that_was_let_go_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        with hold_lock(tmp_path, "sda", "measuring"):
            pass


def test_a_lock_is_let_go_when_its_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_lock(tmp_path, "sda", "measuring"):
        raise ZeroDivisionError
    with hold_lock(tmp_path, "sda", "measuring"):
        pass


def test_two_disks_have_two_locks(tmp_path: Path) -> None:
    with hold_lock(tmp_path, "sda", "measuring"), hold_lock(tmp_path, "sdb", "measuring"):
        pass


def test_nobody_is_named_once_the_lock_is_free(tmp_path: Path) -> None:
    with hold_lock(tmp_path, "sda", "measuring"):
        pass
    assert (tmp_path / "sda.lock").read_text() == ""


def test_an_unsigned_lock_is_somebodys_all_the_same(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / "sda.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(RefusedError, match="another raidbench"), hold_lock(tmp_path, "sda", "measuring"):
            pass


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", ".", "..", "\0", "a b\n"])
def test_a_lock_of_any_name_lies_in_its_folder(tmp_path: Path, name: str) -> None:
    with hold_lock(tmp_path / "locks", name, "measuring"):
        assert [path.suffix for path in (tmp_path / "locks").iterdir()] == [".lock"]


def test_a_link_in_the_locks_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "sda.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError), hold_lock(tmp_path, "sda", "measuring"):
        pass


def test_a_linked_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "locks").symlink_to("real")
    with pytest.raises(StorageError, match="is not a folder"), hold_lock(tmp_path / "locks", "sda", "x"):
        pass


def test_a_program_started_while_the_lock_is_held_does_not_inherit_it(tmp_path: Path) -> None:
    with hold_lock(tmp_path, "sda", "measuring"):
        child = subprocess.Popen(["/bin/sleep", "600"], close_fds=False)
    try:
        with hold_lock(tmp_path, "sda", "measuring"):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_program_that_inherits_a_lock_holds_it_when_its_starter_is_gone(tmp_path: Path) -> None:
    with hold_lock(tmp_path, "sda", "changing wce") as lock:
        heir = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, pass_fds=(lock.descriptor,))
        lock.note_inherited_lock(heir.pid, "sdparm")
        os.dup2(os.open(os.devnull, os.O_RDONLY), lock.descriptor)  # as if this process had died
    with pytest.raises(RefusedError) as refusal, hold_lock(tmp_path, "sda", "measuring"):
        pass
    heir.communicate()
    assert f"locked by sdparm (PID {heir.pid}, started by raidbench PID {os.getpid()}: changing wce)" in str(
        refusal.value
    )
