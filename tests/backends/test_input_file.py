"""What is named as a file and is none ends in a reason at once."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.input_file import MEBIBYTE, NotRegularError, open_input, read_input


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _null(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "Is a named pipe"),
        (_socket, "Is a socket"),
        (_zero, "Is a device"),
        (_null, "Is a device"),
        (os.mkdir, "Is a directory"),
    ],
)
def test_what_is_no_regular_file_is_refused_with_its_kind(
    tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(NotRegularError) as caught:
        open_input(tmp_path / "x")
    assert caught.value.strerror == words


def test_a_device_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda *args, **_: opened.append(args))
    with pytest.raises(NotRegularError):
        open_input("/dev/null")
    assert opened == []


def test_what_is_exchanged_after_the_first_look_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("file")
    regular = os.stat(path)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(os, "stat", lambda _: regular)
    with pytest.raises(NotRegularError):
        open_input(path)


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    assert read_input(tmp_path / "link", 1) == b"x"


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x" * MEBIBYTE)
    assert len(read_input(path, MEBIBYTE)) == MEBIBYTE
    path.write_bytes(b"x" * (MEBIBYTE + 1))
    with pytest.raises(OSError, match="Is larger than 1 MiB"):
        read_input(path, MEBIBYTE)


def test_a_file_that_grows_while_it_is_read_ends_at_the_limit(tmp_path: Path) -> None:
    path, done = tmp_path / "x", threading.Event()
    path.write_bytes(b"x")

    def grow() -> None:
        with path.open("ab", buffering=0) as out:
            while not done.is_set() and out.tell() < 64 * MEBIBYTE:
                out.write(b"x" * 65536)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        while path.stat().st_size <= MEBIBYTE:
            pass
        with pytest.raises(OSError, match="Is larger than 1 MiB"):
            read_input(path, MEBIBYTE)
    finally:
        done.set()
        writer.join()
