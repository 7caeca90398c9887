"""The password of a door: in a file that nobody else can read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backends.errors import RefusedError
from backends.system.https.endpoint import password_in


def kept(folder: Path, text: bytes = b"word of mouth\r\nnot this\n", mode: int = 0o600) -> str:
    file = folder / "password"
    file.write_bytes(text)
    file.chmod(mode)
    return str(file)


def test_it_is_the_first_line(tmp_path: Path) -> None:
    assert password_in(kept(tmp_path)) == "word of mouth"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601])
def test_a_file_that_others_may_open_is_not_used(tmp_path: Path, mode: int) -> None:
    with pytest.raises(RefusedError, match="is accessible to other users") as caught:
        password_in(kept(tmp_path, mode=mode))
    assert caught.value.hint.startswith("Run `chmod 600 ")


@pytest.mark.parametrize("text", [b"", b"\n", b"\xff\xfe\n", b"a\x1bb\n", b"\0\n"])
def test_a_file_without_a_password_says_so_and_does_not_show_it(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(RefusedError, match="is not a valid password"):
        password_in(kept(tmp_path, text))


def test_a_file_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot be read: No such file") as caught:
        password_in(str(tmp_path / "none"))
    assert "chmod 600" in caught.value.hint


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(RefusedError, match="not a regular file"):
        password_in(str(tmp_path / "pipe"))


def test_a_file_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = kept(tmp_path)
    other = os.stat(file).st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    if os.stat(file).st_uid == 0:
        os.chown(file, 4242, -1)
    with pytest.raises(RefusedError, match="belongs to another user"):
        password_in(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of root's")
def test_a_file_of_roots_is_used_by_who_may_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = kept(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert password_in(file) == "word of mouth"
