"""What puts a copy into its place on a host, run by the shells that are here."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.features.fleet.hosts.deployment import LOOK, copy_precheck, install_copy_argv, parse_installed_copy
from app.features.fleet.hosts.standalone_binary import StandaloneBinary
from app.features.fleet.ssh.command import remote_line

SHELLS = [shell for shell in ("/bin/sh", "/bin/bash", "/usr/bin/busybox") if os.path.exists(shell)]
CONTENT = b"the one file " * 20_000
FILE = StandaloneBinary(
    path=Path("raidbench"),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    machine=platform.machine(),
)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "a home"
    folder.mkdir()
    return folder


def place(home: Path) -> Path:
    return home / ".local" / "lib" / "raidbench" / f"raidbench-{platform.machine()}"


def told(shell: str, words: tuple[str, ...], home: Path, content: bytes = b"", **more: str) -> dict[str, Any]:
    """What the words of a host's program come to there."""
    first = (shell, "sh") if shell.endswith("busybox") else (shell,)
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", **more}
    done = subprocess.run((*first, *words[1:]), env=environment, input=content, capture_output=True)
    assert done.stderr == b""
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_what_arrives_whole_is_put_into_its_place_and_seen_there(shell: str, home: Path) -> None:
    assert told(shell, LOOK, home)["sha256"] == ""
    assert told(shell, install_copy_argv(FILE), home, CONTENT) == {"schema": 1, "sha256": FILE.sha256}
    assert (place(home).read_bytes(), oct(place(home).stat().st_mode & 0o777)) == (CONTENT, "0o700")
    assert oct(place(home).parent.stat().st_mode & 0o777) == "0o700"
    seen = parse_installed_copy(told(shell, LOOK, home))
    assert copy_precheck(seen, FILE) == "same"
    assert [file.name for file in place(home).parent.iterdir()] == [place(home).name]


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT + b"x", CONTENT[:-1] + b"!"])
def test_what_does_not_arrive_as_it_was_sent_leaves_what_was_there(shell: str, home: Path, content: bytes) -> None:
    place(home).parent.mkdir(parents=True)
    place(home).write_text("an older one")
    answer = told(shell, install_copy_argv(FILE), home, content)
    assert answer["error"]["message"] == "The checksum of the copy is wrong, so nothing was installed."
    assert place(home).read_text() == "an older one"
    assert [file.name for file in place(home).parent.iterdir()] == [place(home).name]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_where_there_is_no_room_what_was_there_stays(shell: str, home: Path) -> None:
    place(home).parent.mkdir(parents=True)
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place(home).parent)), check=True)
    try:
        place(home).write_text("an older one")
        assert "no space or no permission" in told(shell, install_copy_argv(FILE), home, CONTENT)["error"]["message"]
        assert [file.read_text() for file in place(home).parent.iterdir()] == ["an older one"]
    finally:
        subprocess.run(("umount", str(place(home).parent)), check=True)


def test_nothing_is_put_where_it_cannot_be(shell: str, home: Path) -> None:
    place(home).mkdir(parents=True)
    assert "a directory is in its place" in told(shell, install_copy_argv(FILE), home, CONTENT)["error"]["message"]
    shutil.rmtree(home / ".local")
    (home / ".local").write_text("a file")
    assert "Cannot create the folder" in told(shell, install_copy_argv(FILE), home, CONTENT)["error"]["message"]
    assert "HOME is not set" in told(shell, install_copy_argv(FILE), home, CONTENT, HOME="")["error"]["message"]


def test_without_sha256sum_nothing_is_put_there(home: Path, tmp_path: Path) -> None:
    for name in ("uname", "mkdir", "chmod", "find", "dd", "mv", "rm"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    answer = told("/bin/sh", install_copy_argv(FILE), home, CONTENT, PATH=str(tmp_path))
    assert answer["error"]["message"] == "sha256sum is not installed, so a copy cannot be verified."


def test_one_that_is_installed_is_seen(shell: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "raidbench").write_text("#!/bin/sh\n")
    (tmp_path / "raidbench").chmod(0o755)
    seen = parse_installed_copy(told(shell, LOOK, home, PATH=f"{tmp_path}:/usr/bin:/bin"))
    assert (seen.installed, seen.machine, copy_precheck(seen, FILE)) == (True, platform.machine(), "installed")


def test_the_words_stay_one_line() -> None:
    assert "\n" not in remote_line(LOOK) + remote_line(install_copy_argv(FILE))
