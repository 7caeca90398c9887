"""Which programs are run, above all by root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backends.system.local.programs import SYSTEM, find_program, search_path
from backends.system.root_owned import is_owned_by_root

as_root = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="only root has a rule of its own")]
NOBODY = 65534


def tool(folder: Path, mode: int = 0o755, name: str = "raidbench-test-tool") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def first_in_path(folder: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_program_of_ours_first_in_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_in_path(tmp_path, monkeypatch)
    assert find_program(("raidbench-test-tool",)) is None
    assert find_program((tool(tmp_path).name,)) == str(tmp_path / "raidbench-test-tool")


def test_the_working_directory_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tool(tmp_path)
    for element in ("", ".", "bin"):
        first_in_path(element, monkeypatch)
    assert find_program(("raidbench-test-tool",)) is None


def test_the_systems_folders_are_searched_whatever_path_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert search_path().split(":") == list(SYSTEM)


def test_the_systems_folders_are_not_looked_at_each_time_a_program_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def lstat(path: str) -> os.stat_result:
        raise AssertionError(path)

    monkeypatch.setenv("PATH", ":".join(SYSTEM))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "lstat", lstat)
    assert search_path().split(":") == list(SYSTEM)


class TestRoot:
    pytestmark = as_root

    def test_takes_no_program_of_a_strangers_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tool(tmp_path / "theirs", name="sh")
        os.chown(path.parent, NOBODY, NOBODY)
        first_in_path(path.parent, monkeypatch)
        assert find_program(("sh",)) not in (None, str(path))

    def test_takes_no_program_below_a_strangers_folder(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        path = tool(tmp_path / "theirs" / "bin")
        os.chown(tmp_path / "theirs", NOBODY, NOBODY)
        assert not is_owned_by_root(str(path))

    def test_takes_no_strangers_program(self, tmp_path: Path) -> None:
        path = tool(tmp_path)
        os.chown(path, NOBODY, NOBODY)
        assert not is_owned_by_root(str(path))

    @pytest.mark.parametrize("mode", [0o777, 0o757])
    def test_takes_none_that_anybody_may_overwrite(self, tmp_path: Path, mode: int) -> None:
        assert find_program((str(tool(tmp_path, mode)),)) is None

    def test_takes_none_that_a_group_may_overwrite(self, tmp_path: Path) -> None:
        path = tool(tmp_path, 0o775)
        os.chown(path, 0, NOBODY)
        assert not is_owned_by_root(str(path))

    def test_takes_what_the_group_of_administrators_may_overwrite(self, tmp_path: Path) -> None:
        assert is_owned_by_root(str(tool(tmp_path, 0o775)))

    def test_takes_none_in_a_folder_for_everybody(self, tmp_path: Path) -> None:
        path = tool(tmp_path / "open")
        path.parent.chmod(0o777)
        assert not is_owned_by_root(str(path))

    def test_takes_its_own_in_a_sticky_folder_for_everybody(self, tmp_path: Path) -> None:
        path = tool(tmp_path / "open")
        path.parent.chmod(0o1777)
        assert is_owned_by_root(str(path))

    def test_follows_no_strangers_link(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tool(tmp_path))
        os.lchown(tmp_path / "link", NOBODY, NOBODY)
        assert not is_owned_by_root(str(tmp_path / "link"))

    def test_looks_at_where_its_own_link_leads(self, tmp_path: Path) -> None:
        path = tool(tmp_path / "theirs")
        os.chown(path.parent, NOBODY, NOBODY)
        (tmp_path / "link").symlink_to("theirs/raidbench-test-tool")
        assert not is_owned_by_root(str(tmp_path / "link"))

    def test_follows_a_link_that_leads_up(self, tmp_path: Path) -> None:
        tool(tmp_path)
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "link").symlink_to("../raidbench-test-tool")
        assert is_owned_by_root(str(tmp_path / "below" / "link"))

    def test_looks_at_where_a_link_that_leads_up_arrives(self, tmp_path: Path) -> None:
        os.chown(tool(tmp_path), NOBODY, NOBODY)
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "link").symlink_to("../raidbench-test-tool")
        assert not is_owned_by_root(str(tmp_path / "below" / "link"))

    def test_takes_none_that_is_not_there(self, tmp_path: Path) -> None:
        assert not is_owned_by_root(str(tmp_path / "gone"))

    def test_takes_none_that_a_group_without_a_name_may_overwrite(self, tmp_path: Path) -> None:
        path = tool(tmp_path, 0o775)
        os.chown(path, 0, 54321)
        assert not is_owned_by_root(str(path))

    def test_is_not_led_in_circles(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("link")
        assert not is_owned_by_root(str(tmp_path / "link"))

    def test_gives_programs_no_path_with_a_strangers_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", NOBODY, NOBODY)
        first_in_path(tmp_path / "theirs", monkeypatch)
        assert str(tmp_path / "theirs") not in search_path()
