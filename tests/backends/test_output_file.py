"""A file that takes the place of another one: whole or not at all, and never through a link."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from backends.output_file import new_file, replace_file, sync_folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_text_takes_the_place_of_the_old_one_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")
    replace_file(file, "n\u00e9w")
    assert (file.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (b"n\xc3\xa9w", ["a.json"])


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "a.json"
    other.write_text("kept")
    file.symlink_to(other)
    replace_file(file, "new")
    assert (other.read_text(), file.read_text(), file.is_symlink()) == ("kept", "new", False)


@pytest.mark.parametrize(
    ("mode", "exact", "expected"), [(0o600, False, 0o600), (0o666, False, 0o600), (0o644, True, 0o644)]
)
def test_the_mode_is_cut_by_the_umask_unless_it_is_exact(tmp_path: Path, mode: int, exact: bool, expected: int) -> None:
    file = tmp_path / "a.json"
    before = os.umask(0o077)
    try:
        replace_file(file, "new", mode=mode, exact=exact)
    finally:
        os.umask(before)
    assert mode_of(file) == expected


@pytest.mark.parametrize("failing", ["fsync", "fchmod"])
def test_a_failure_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(file, "new", exact=True, durable=True)
    assert (file.read_text(), [path.name for path in tmp_path.iterdir()]) == ("old", ["a.json"])


def test_nothing_is_left_where_the_name_cannot_be_taken(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "a.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_durable_text_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    synced: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_size, file.exists())))
    replace_file(file, "new", durable=True)
    assert synced == [(3, False)]


def test_a_file_that_a_killed_process_left_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(Path, "replace", killed)
    monkeypatch.setattr(Path, "unlink", lambda _: None)
    with pytest.raises(Killed):
        replace_file(tmp_path / "a.json", "new")
    monkeypatch.undo()
    replace_file(tmp_path / "a.json", "newer")
    assert (tmp_path / "a.json").read_text() == "newer"


def test_a_new_file_is_removed_when_its_writer_fails(tmp_path: Path) -> None:
    def write_half() -> None:
        with new_file(tmp_path / "a", force=False) as file:
            file.write(b"half")
            raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_others_is_not_removed_by_who_may_not_replace_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("others")
    with pytest.raises(FileExistsError), new_file(tmp_path / "a", force=False):
        pass
    assert (tmp_path / "a").read_text() == "others"


def test_a_folder_is_synced_by_its_own_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino))
    sync_folder(tmp_path)
    assert synced == [tmp_path.stat().st_ino]
