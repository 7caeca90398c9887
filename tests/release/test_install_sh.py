"""install.sh as a user runs it: it installs what is signed, or says in a sentence why not and changes nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages import missing, needs
from tests.release.server import ReleaseServer, serving
from tests.release.stand_in import BINARY, change_a_byte, run, with_gpg
from tools.package.tree import VERSION
from tools.release.folder import write_sums
from tools.release.signing import ReleaseKeys

pytestmark = [pytest.mark.long, *with_gpg]

SHELLS = ("dash", "busybox sh")
SLOW = f"""#!{sys.executable} -I
import pathlib, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
pathlib.Path("started").touch()
signal.pause()
"""
"""A program that a signal ends at any moment: a shell could start another program between a signal and its own end."""


USED = (
    *("dash", "busybox", "sh", "base64", "cat", "chmod", "cp", "dirname", "id", "mkdir", "mktemp", "mv", "rm", "sed"),
    *("sha256sum", "sleep", "uname", "wc", "curl", "wget", "gpgv", "ssh-keygen"),
)
"""The programs that install.sh may start."""


class HiddenPrograms:
    """A PATH with these programs only, of which some are missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *hidden: str) -> str:
        self.folder.mkdir()
        for name in USED:
            if name not in hidden and (place := shutil.which(name)):
                (self.folder / name).symlink_to(place)
        return str(self.folder)


class Installer:
    """install.sh of a copied release."""

    def __init__(self, folder: Path, to: Path, shell: str) -> None:
        self.script, self.to, self.shell = folder / VERSION / "install.sh", to, shell
        self.before: tuple[str, ...] = ()
        """Words before the shell, which make it another user's."""
        self.is_named = True
        """Whether the folder is given as an argument."""
        self.temporary = to.parent / "tmp"

    @property
    def argv(self) -> list[str]:
        return [*self.before, *self.shell.split(), str(self.script), *([str(self.to)] if self.is_named else [])]

    def __call__(self, *, status: int = 0, **environment: str) -> str:
        self.temporary.mkdir(exist_ok=True)
        said = run(*self.argv, status=status, env={"TMPDIR": str(self.temporary)} | environment)
        assert list(self.temporary.glob("tmp.*")) == [], "temporary files are left"
        return said

    def refuse(self, **environment: str) -> str:
        """Return the last line; nothing may have changed."""
        before = self.files()
        said = self(status=1, **environment).splitlines()[-1]
        assert self.files() == before, "a partial file is left"
        assert "Nothing was installed" in said
        return said

    def files(self) -> dict[str, int]:
        """Return the files where it installs."""
        files = self.to.iterdir() if self.to.is_dir() else ()
        return {file.name: file.lstat().st_ino for file in files}

    def leave_alone(self, *names: str) -> None:
        """Take away the other files, or all: they have to be downloaded."""
        alone = self.temporary.with_name("alone") / VERSION
        alone.mkdir(parents=True)
        for name in ("install.sh", *names):
            shutil.copy(self.script.with_name(name), alone)
        self.script = alone / "install.sh"


@pytest.fixture(params=SHELLS)
def install(copy: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Installer:
    if missing(request.param.split()[0]):
        pytest.skip(f"{request.param.split()[0]} cannot be found")
    return Installer(copy, tmp_path / "bin", request.param)


@pytest.fixture
def hide(tmp_path: Path) -> HiddenPrograms:
    return HiddenPrograms(tmp_path / "path")


@pytest.fixture
def server(copy: Path) -> Iterator[ReleaseServer]:
    with serving(copy) as server:
        yield server


def test_it_installs_and_a_second_run_replaces(install: Installer) -> None:
    assert f"Installed {install.to}/raidbench (raidbench {VERSION})" in install()
    first = install.files()
    install()
    assert first.keys() == install.files().keys() == {"raidbench"}
    assert first != install.files()


def test_it_installs_from_a_copied_release_without_a_network(install: Installer, hide: HiddenPrograms) -> None:
    install.script = install.script.parents[1] / "install.sh"
    assert "Installed" in install(PATH=hide("curl", "wget"), RAIDBENCH_URL="http://127.0.0.1:1")


@pytest.mark.parametrize("program", ["curl", "wget"])
def test_it_downloads_what_is_not_beside_it(
    install: Installer, server: ReleaseServer, hide: HiddenPrograms, program: str
) -> None:
    if missing(program):
        pytest.skip(f"{program} cannot be found")
    install.leave_alone()
    path = hide(*({"curl", "wget"} - {program}))
    assert "Installed" in install(RAIDBENCH_URL=server.url, PATH=path)


@pytest.mark.parametrize("program", ["curl", "wget"])
@pytest.mark.parametrize("name", ["SHA256SUMS", BINARY])
def test_it_says_that_a_download_is_truncated(
    install: Installer, server: ReleaseServer, hide: HiddenPrograms, program: str, name: str, tmp_path: Path
) -> None:
    if missing(program):
        pytest.skip(f"{program} cannot be found")
    install.leave_alone()
    server.cut = name
    path = hide(*({"curl", "wget"} - {program}))
    (patience := tmp_path / "wgetrc").write_text("waitretry = 0\n")
    said = install.refuse(RAIDBENCH_URL=server.url, PATH=path, WGETRC=str(patience))
    assert f"{server.url}/{VERSION}/{name} cannot be downloaded completely. Nothing was installed. Run" in said


def test_it_says_that_it_can_download_nothing(install: Installer, hide: HiddenPrograms) -> None:
    install.shell = "sh"  # busybox has a wget of its own
    install.leave_alone()
    said = install.refuse(PATH=hide("curl", "wget"))
    assert f"SHA256SUMS is not in {install.script.parent}, and neither curl nor wget is installed" in said
    assert f"Install one of them, or copy the folder {VERSION} here" in said


def test_it_verifies_by_ssh_where_gpgv_is_missing(install: Installer, hide: HiddenPrograms) -> None:
    path = hide("gpgv")
    assert "Installed" in install(PATH=path)
    change_a_byte(install.script.with_name("SHA256SUMS"))
    assert "not from raidbench's release key" in install.refuse(PATH=path)


def test_it_installs_nothing_that_it_cannot_verify(install: Installer, hide: HiddenPrograms) -> None:
    said = install.refuse(PATH=hide("gpgv", "ssh-keygen"))
    assert "install gpgv, or ssh-keygen of OpenSSH 8.1 or newer" in said


def test_it_refuses_a_changed_byte(install: Installer) -> None:
    for name in ("SHA256SUMS", "SHA256SUMS.asc", BINARY):
        file = install.script.with_name(name)
        sound = file.read_bytes()
        change_a_byte(file)
        install.refuse()
        file.write_bytes(sound)
    install()


def test_it_refuses_a_truncated_file(install: Installer) -> None:
    file = install.script.with_name(BINARY)
    file.write_bytes(file.read_bytes()[:-1])
    assert "is incomplete or was changed" in install.refuse()


def test_it_refuses_another_key(install: Installer, hide: HiddenPrograms, other_keys: ReleaseKeys) -> None:
    other_keys.sign(install.script.with_name("SHA256SUMS"))
    assert "not from raidbench's release key" in install.refuse()
    assert "not from raidbench's release key" in install.refuse(PATH=hide("gpgv"))


def replace_binary(install: Installer, keys: ReleaseKeys, text: str) -> None:
    """Release another program."""
    folder = install.script.parent
    (folder / BINARY).write_text(text)
    write_sums(folder)
    keys.sign(folder / "SHA256SUMS")


def test_it_keeps_what_is_there_when_the_new_one_does_not_start(install: Installer, keys: ReleaseKeys) -> None:
    install()
    replace_binary(install, keys, "#!/bin/sh\necho needs glibc 2.17 >&2\nexit 1\n")
    said = install.refuse()
    assert "This host cannot run raidbench" in said
    assert said.endswith("It says: needs glibc 2.17")
    assert run(install.to / "raidbench") == f"raidbench {VERSION}\n"


def test_it_says_which_folder_cannot_be_used(install: Installer, tmp_path: Path) -> None:
    install.to = tmp_path / "file"
    install.to.write_text("")
    assert f"{install.to} does not exist and cannot be created" in install.refuse()
    install.to = tmp_path / "full"
    (install.to / "raidbench").mkdir(parents=True)
    assert f"{install.to}/raidbench is a folder" in install.refuse()


def test_it_says_when_it_is_called_in_a_wrong_way(install: Installer) -> None:
    install.to = Path("--help")
    assert "Usage: sh install.sh [FOLDER]" in install(status=1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small filesystem")
@pytest.mark.root
@pytest.mark.parametrize("full", ["target", "temporary"])
def test_it_says_when_there_is_no_space(install: Installer, full: str) -> None:
    folder = install.to if full == "target" else install.temporary
    folder.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=4k" if full == "target" else "size=12k", "tmpfs", folder)
    try:
        if full == "temporary":
            install.script.with_name("SHA256SUMS").write_bytes(b"x" * 40_000)
        else:
            (folder / "full").write_bytes(b"x" * 4096)
        said = install.refuse()
    finally:
        run("umount", folder)
    assert f"{folder} has no space" in said


def test_a_script_that_was_not_downloaded_completely_does_nothing(install: Installer) -> None:
    text = install.script.read_bytes()
    places = {*range(len(text) - 60, len(text) - 1), *range(0, len(text), len(text) // 30)}
    for place in sorted(places):
        install.script.write_bytes(text[:place])
        run(*install.argv, status=None)
        assert install.files() == {}, text[:place][-60:]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", ["download", "start"])
def test_it_says_that_it_was_interrupted(
    install: Installer, server: ReleaseServer, keys: ReleaseKeys, number: signal.Signals, moment: str
) -> None:
    """A terminal sends Ctrl-C to the shell and to the program that it has started."""
    if missing("curl"):
        pytest.skip("curl cannot be found")
    started = install.temporary / "started"
    replace_binary(install, keys, SLOW.replace("started", str(started)))
    install.leave_alone()
    server.hold = BINARY if moment == "download" else ""
    install.temporary.mkdir()
    given = os.environ | {"TMPDIR": str(install.temporary), "RAIDBENCH_URL": server.url}
    with subprocess.Popen(
        install.argv, env=given, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        if moment == "download":
            assert server.asked.wait(60)
        else:
            wait_for(started)
        os.killpg(process.pid, number)
        said, _ = process.communicate(timeout=60)
    started.unlink(missing_ok=True)
    assert (process.returncode, said.splitlines()[-1]) == (130, "install.sh: Interrupted. Nothing was installed.")
    assert (install.files(), os.listdir(install.temporary)) == ({}, [])


class Home:
    """A home folder, and the words that start a program as its user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words = () if os.geteuid() else ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture
def home(install: Installer, copy: Path) -> Iterator[Home]:
    """The home of an ordinary user, who installs without the name of a folder."""
    with tempfile.TemporaryDirectory(prefix="raidbench-home-") as folder:
        os.chmod(folder, 0o755)
        home = Path(folder) / "home"
        home.mkdir()
        shutil.copytree(copy / VERSION, Path(folder) / VERSION)
        install.script = Path(folder) / VERSION / "install.sh"
        install.to, install.is_named, install.temporary = home / ".local/bin", False, Path(folder) / "tmp"
        install.temporary.mkdir()
        install.temporary.chmod(0o777)
        if os.geteuid() == 0:
            os.chown(home, 65534, 65534)
        made = Home(home)
        install.before = made.words
        yield made


@needs("setpriv")
class TestUser:
    """Without the name of a folder, an ordinary user installs into the home."""

    def test_it_says_that_the_folder_is_not_in_path(self, install: Installer, home: Home) -> None:
        bin = home.folder / ".local/bin"
        said = install(HOME=str(home.folder))
        assert said.splitlines() == [
            f"Installed {bin}/raidbench (raidbench {VERSION}).",
            f"{bin} is not in PATH: add it, or start {bin}/raidbench.",
        ]
        assert "PATH" not in install(HOME=str(home.folder), PATH=f"{os.environ['PATH']}:{bin}")

    def test_a_home_that_cannot_be_written_is_named(self, install: Installer, home: Home) -> None:
        os.chown(home.folder, os.geteuid(), os.getegid())
        home.folder.chmod(0o555)
        said = install.refuse(HOME=str(home.folder))
        assert f"{home.folder}/.local/bin does not exist and cannot be created" in said
        assert "Name another folder: sh install.sh FOLDER" in said
        assert os.listdir(home.folder) == []

    def test_a_user_without_a_home_is_asked_for_a_folder(self, install: Installer, home: Home) -> None:
        install.before = (*home.words, "env", "-u", "HOME")
        assert "HOME is not set. Nothing was installed. Name a folder: sh install.sh FOLDER" in install.refuse()


def wait_for(file: Path) -> None:
    """Wait until a file exists."""
    run("sh", "-c", 'until [ -e "$1" ]; do sleep 0.02; done', "sh", file)
