"""`make release` in a fresh clone, served on 127.0.0.1, installed as a user and by apt, and verified."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packages import needs
from tests.release.install_page import CLEAN, files_of, install_as_user, install_by_apt, is_verified
from tests.release.server import serving
from tests.release.stand_in import change_a_byte, make_keys, run, with_gpg
from tools.package.tree import ROOT
from tools.release.checks import NotReleasableError, notes
from tools.release.cost import NOT_MEASURED

pytestmark = [pytest.mark.package, pytest.mark.root, pytest.mark.slow, needs("git", "make"), *with_gpg]

AS_TESTER = ("git", "-c", "user.name=test", "-c", "user.email=test@example.invalid")


@dataclass(frozen=True)
class Published:
    """A release that a web server serves."""

    folder: Path
    url: str

    @property
    def version(self) -> str:
        """The version that its folder names."""
        [sums] = self.folder.glob("*/SHA256SUMS")
        return sums.parent.name


def clone(folder: Path) -> None:
    """Clone this checkout with a tag of its version, and notes of it if the changelog has none yet."""
    run("git", "clone", "-q", "--no-hardlinks", ROOT, folder)
    version = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
    changelog = folder / "CHANGELOG.md"
    try:
        notes(changelog, version)
    except NotReleasableError:
        changelog.write_text(f"{changelog.read_text()}\n## [{version}]\n\nA release for a test.\n")
        run(*AS_TESTER, "commit", "-qam", "Add notes", cwd=folder)
    run("git", "tag", "-f", f"v{version}", cwd=folder)


def make_release(folder: Path, url: str) -> Path:
    """Return the folder that `make release` has written."""
    clone(folder / "clone")
    make_keys(folder / "keys")
    words = f"ARGS=--out {folder / 'out'} --keys {folder / 'keys'} --url {url} --not-measured"
    places = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTEST", "VIRTUAL"))}
    done = subprocess.run(
        ("make", "--no-print-directory", "release", words), cwd=folder / "clone", env=places, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    shutil.rmtree(folder / "clone")
    return folder / "out"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """A release of this checkout, which takes minutes; that in $RAIDBENCH_RELEASE, if it names one."""
    if given := os.environ.get("RAIDBENCH_RELEASE"):
        out = Path(given)
        url = (out / "apt/raidbench.sources").read_text().partition("URIs: ")[2].partition("/apt\n")[0]
        port = int(url.rpartition(":")[2])
    else:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        out = make_release(tmp_path_factory.mktemp("end-to-end"), url)
    with serving(out, port):
        yield Published(out, url)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder for a clean root."""
    if why := CLEAN.why_not():
        pytest.skip(why)
    (tmp_path / "in").mkdir()
    return tmp_path


def test_the_notes_say_that_the_cost_was_not_measured(published: Published) -> None:
    text = (published.folder / published.version / "NOTES.md").read_text()
    assert text.startswith(f"## [{published.version}]")
    assert text.endswith(f"\n{NOT_MEASURED}")


def test_a_user_with_an_empty_home_installs_it(published: Published, work: Path) -> None:
    assert install_as_user(work, published.url) == f"raidbench {published.version}"


def test_apt_installs_it_in_a_clean_root(published: Published, work: Path) -> None:
    assert install_by_apt(work, published.url) == f"raidbench {published.version}"


def test_a_changed_byte_in_any_file_is_refused(published: Published) -> None:
    assert is_verified(published.folder)
    for file in files_of(published.folder):
        sound = file.read_bytes()
        change_a_byte(file)
        try:
            assert not is_verified(published.folder), file
        finally:
            file.write_bytes(sound)
    assert is_verified(published.folder)
