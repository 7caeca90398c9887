"""What a journal says of trials and programs is of those alone, whatever else stands in it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from app.core.session import journal as module
from app.core.session.journal import Journal
from backends.errors import NewerError, StorageError
from backends.formats import FORMATS, FileFormat
from tests.core.doubles import planned
from tests.core.session.journal_faults import SESSION
from tests.core.session.test_journal import alive, of_dead_process


@pytest.mark.parametrize("result", ["kept", "restored"])
def test_a_trial_is_decided_by_its_own_end_alone(tmp_path: Path, result: str) -> None:
    journal, other = Journal(tmp_path), tmp_path / "other"
    for session, change_id in ((SESSION, "c1"), (SESSION, "c2"), (other, "c1")):
        journal.write_intent(change_id, session, planned("128", "256"), until=module.boot_clock() + 60)
    by_key = {(one.session, one.id): one for one in journal.trials()}
    journal.write_outcome("c1", SESSION, result)
    assert {key for key, one in by_key.items() if journal.is_decided(one)} == {(str(SESSION), "c1")}
    journal.write_outcome("c2", SESSION, "verified")  # it took, and is still on trial
    assert not journal.is_decided(by_key[str(SESSION), "c2"])


def test_a_trial_of_the_same_name_that_began_later_is_not_decided_by_the_end_of_the_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for _ in range(2):
        journal.write_intent("c1", SESSION, planned("128", "256"), until=module.boot_clock() + 60)
        [trial] = journal.trials()
        assert not journal.is_decided(trial)
        journal.write_outcome("c1", SESSION, "kept")
        assert journal.is_decided(trial)


def test_a_program_that_is_noted_in_another_shape_hides_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    of_dead_process(monkeypatch)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    alive(monkeypatch)
    journal._append({"kind": "setter", "id": "c1", "session": str(SESSION), "program": 7, "pid": "x"}, "")
    assert [(left.id, left.setter) for left in journal.unresolved()] == [("c1", None)]


def test_what_can_be_done_about_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StorageError) as told:
        Journal(tmp_path / "journal").write_outcome("c1", SESSION, "kept")
    assert told.value.hint == f"Free disk space, or correct the permissions of {tmp_path}/journal/journal.log."


def test_a_journal_that_can_be_written_is_not_touched_by_the_question(tmp_path: Path) -> None:
    there, absent = Journal(tmp_path / "there"), Journal(tmp_path / "no" / "folder")
    there.write_outcome("c1", SESSION, "kept")
    before, opened = there.file.read_bytes(), os.listdir("/proc/self/fd")
    assert (there.write_error(), absent.write_error()) == (None, None)
    assert (there.file.read_bytes(), os.listdir(tmp_path)) == (before, ["there"])
    assert os.listdir("/proc/self/fd") == opened


@pytest.mark.parametrize("there", [True, False], ids=["a journal", "no journal"])
def test_a_journal_that_cannot_be_written_says_so_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    journal, asked = Journal(tmp_path / "journal"), list[tuple[Path, int]]()

    def refuses(folder: Path, how: int) -> bool:
        asked.append((folder, how))
        return False

    if there:
        (tmp_path / "elsewhere").touch()
        (tmp_path / "journal").mkdir()
        journal.file.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(os, "access", refuses)
    error = journal.write_error()
    assert error is not None
    why = f"{journal.file} is a symbolic link" if there else f"no permission to write to {tmp_path}"
    assert error.message == f"The journal cannot be written: {why}."
    assert error.hint
    assert asked == ([] if there else [(tmp_path, os.W_OK | os.X_OK)])


def test_a_journal_on_a_filesystem_that_is_read_only_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.write_outcome("c1", SESSION, "kept")
    real = os.open

    def read_only(path: Path, flags: int, *mode: int) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *mode)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", read_only)
        error = journal.write_error()
    assert error is not None
    assert error.message == "The journal cannot be written: Read-only file system."


def test_a_journal_that_was_written_and_read_is_not_left_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    journal = Journal(tmp_path / "journal")
    journal.write_intent("c1", SESSION, planned("128", "256"))
    journal.write_outcome("c1", SESSION, "verified")
    assert (journal.unresolved(), journal.read_error()) == ((), None)
    assert os.listdir("/proc/self/fd") == before


def test_why_a_journal_is_not_read_is_told_in_the_systems_words(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    trouble = Journal(tmp_path / "journal").read_error()
    assert trouble is not None
    assert trouble.message == "The journal cannot be read: Not a directory."


def test_a_change_of_a_newer_program_stands_in_the_way_until_it_ends(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FORMATS, FileFormat.JOURNAL, FORMATS[FileFormat.JOURNAL] + 1)
        patch.setattr(module, "program_version", lambda: "9.9.0")
        journal._append({"kind": "intent", "id": "c9", "session": str(SESSION)}, "")
    with pytest.raises(NewerError, match=f"An open change of {SESSION.name}"):
        journal.write_intent("c1", SESSION, planned("128", "256"))
    assert journal.unresolved() == ()
    journal.write_outcome("c9", SESSION, "verified")
    journal.write_intent("c1", SESSION, planned("128", "256"))
    assert journal.unreadable_error() is None


def test_a_change_that_a_newer_program_went_on_with_is_not_taken_for_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    of_dead_process(monkeypatch)
    journal.write_intent("c1", SESSION, planned("128", "256"))
    alive(monkeypatch)
    assert [left.id for left in journal.unresolved()] == ["c1"]
    with monkeypatch.context() as patch:
        patch.setitem(FORMATS, FileFormat.JOURNAL, FORMATS[FileFormat.JOURNAL] + 1)
        journal._append({"kind": "intent", "id": "c1", "session": str(SESSION)}, "")
    assert journal.unresolved() == ()
    assert journal.unreadable_error() is not None
