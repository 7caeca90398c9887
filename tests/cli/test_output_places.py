"""Files that commands write where a user says: never through a link, never in the place of what is no file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.core import sessions


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(
        sessions.written(tmp_path / "state/sessions/one", sessions.started(), *sessions.run("r1"), *sessions.run("r2"))
    )


def _to_a_file(path: Path) -> None:
    (path.parent / "target").write_text("mine")
    path.symlink_to("target")


def _to_nothing(path: Path) -> None:
    path.symlink_to("target")


def _to_a_folder(path: Path) -> None:
    (path.parent / "target").mkdir()
    path.symlink_to("target", target_is_directory=True)


PLACES: dict[str, Callable[[Path], None]] = {
    "link to a file": _to_a_file,
    "dangling link": _to_nothing,
    "link to a folder": _to_a_folder,
    "named pipe": os.mkfifo,
}
WAYS: dict[str, tuple[str, ...]] = {
    "report": ("report", "-o", "OUT", "SESSION"),
    "report --force": ("report", "-o", "OUT", "--force", "SESSION"),
    "html --force": ("report", "--format", "html", "-o", "OUT", "--force", "SESSION"),
    "fio-plot": ("report", "--format", "fio-plot", "-o", "OUT", "SESSION"),
    "fio-plot --force": ("report", "--format", "fio-plot", "-o", "OUT", "--force", "SESSION"),
    "archive": ("archive", "-o", "OUT", "SESSION"),
    "archive --force": ("archive", "-o", "OUT", "--force", "SESSION"),
    "plot --force": ("plot", "block:sda", "--kind", "history", "--size", "80x20", "-o", "OUT", "--force"),
    "metrics": ("--demo", "metrics", "-o", "OUT"),
    "export": ("--demo", "export", "-o", "OUT"),
    "capture": ("--demo", "capture", "OUT"),
    "capture --force": ("--demo", "capture", "OUT", "--force"),
}


def listing(folder: Path) -> list[tuple[str, int, bytes]]:
    return [
        (str(path), path.lstat().st_ino, path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
        for path in sorted(folder.rglob("*"))
    ]


@pytest.mark.long
@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)
def test_a_place_that_is_no_plain_file_stays_as_it_is(
    cli: Cli, tmp_path: Path, session: str, words: tuple[str, ...], make: Callable[[Path], None]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    out = place / "out"
    make(out)
    before = listing(place)
    done = cli(*({"OUT": str(out), "SESSION": session}.get(word, word) for word in words))
    assert (done.status != 0, listing(place)) == (True, before), done.err
    assert "Internal error" not in done.err
    if out.is_symlink() and "--force" in words:
        assert "symbolic link" in done.err


@pytest.mark.long
def test_a_link_within_a_folder_of_a_recording_is_not_followed(cli: Cli, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    (tmp_path / "mine").write_text("mine")
    (made / "machine.json").symlink_to(tmp_path / "mine")
    assert cli("--demo", "capture", str(made), "--force").status != 0
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["report --force", "archive --force", "plot --force"])
def test_a_file_of_ones_own_is_replaced_with_force(cli: Cli, tmp_path: Path, session: str, name: str) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    done = cli(*({"OUT": str(out), "SESSION": session}.get(word, word) for word in WAYS[name]))
    assert (done.status, out.read_bytes() != b"old") == (0, True), done.err


def test_an_export_keeps_line_ends_mode_and_attributes_of_an_older_file(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out.toml"
    assert cli("--demo", "export", "-o", str(out)).status == 0
    out.write_bytes(b"# mine\r\n" + out.read_bytes().replace(b"rebuild_rate = 30", b"rebuild_rate = 31"))
    out.chmod(0o640)
    attributes = {}
    with contextlib.suppress(OSError):  # not every file system has them
        os.setxattr(out, "user.note", b"mine")
        attributes["user.note"] = b"mine"
    assert cli("--demo", "export", "-o", str(out)).status == 0
    content = out.read_bytes()
    assert (content[:8], b"rebuild_rate = 30" in content) == (b"# mine\r\n", True)
    assert out.stat().st_mode & 0o777 == 0o640
    assert {name: os.getxattr(out, name) for name in attributes} == attributes


def test_an_export_is_not_written_to_one_of_two_names(cli: Cli, tmp_path: Path) -> None:
    out, other = tmp_path / "out.toml", tmp_path / "other.toml"
    assert cli("--demo", "export", "-o", str(out)).status == 0
    out.write_bytes(out.read_bytes().replace(b"rebuild_rate = 30", b"rebuild_rate = 31"))
    os.link(out, other)
    before = out.read_bytes()
    done = cli("--demo", "export", "-o", str(out))
    assert (done.status, other.read_bytes(), out.stat().st_nlink) == (3, before, 2), done.err
