"""Every command of docs/install.md about a release, with stand-ins for the programs that it installs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.package.hosts import HERE as THIS_MACHINE
from tests.release.install_page import (
    APT,
    CLEAN,
    DNF,
    PAGE,
    README,
    USER,
    VERIFY,
    blocks,
    files_of,
    install_as_user,
    install_by_apt,
    is_verified,
    script,
)
from tests.release.stand_in import DEB, HERE, PLACE, change_a_byte, needs_dnf, run, with_gpg
from tests.test_docs_limits import words
from tools.package.tree import ROOT, VERSION
from tools.release.signing import ReleaseKeys

SAID = f"raidbench {VERSION}"
README_WORDS = 950
"""Limit of words in the README."""


def test_the_tests_run_every_block_of_the_page() -> None:
    assert blocks(PAGE) == {"Install a release": [USER, APT, DNF], "Verify a release": [VERIFY]}


def test_every_target_of_make_on_the_page_and_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", PAGE.read_text() + README.read_text(), re.MULTILINE))
    assert {"package", "demo", "run", "release"} <= named <= targets


def test_the_readme_begins_with_the_release_and_has_the_commands_of_the_page() -> None:
    text = README.read_text()
    user, apt, source = blocks(README)["Get it"]
    assert (user, apt) == (USER, APT)
    assert source.split()[:2] == ["make", "demo"]
    assert text.index("install.sh") < text.index("make demo")
    assert words(text) <= README_WORDS


@pytest.mark.long
class TestVerification:
    """The commands that verify a release."""

    pytestmark = with_gpg

    def test_a_changed_byte_in_any_file_is_refused(self, copy: Path) -> None:
        assert is_verified(copy)
        for file in files_of(copy):
            sound = file.read_bytes()
            change_a_byte(file)
            assert not is_verified(copy), file
            file.write_bytes(sound)
        assert is_verified(copy)

    def test_some_of_the_files_are_verified_without_the_others(self, copy: Path) -> None:
        (copy / VERSION / "NOTES.md").unlink()
        assert not is_verified(copy)
        run("sha256sum", "--ignore-missing", "-c", "SHA256SUMS", cwd=copy / VERSION)

    def test_the_fingerprint_is_shown(self, copy: Path, keys: ReleaseKeys) -> None:
        assert "`gpg --show-keys raidbench.asc`" in PAGE.read_text()
        assert keys.fingerprint in run("gpg", "--show-keys", copy / "raidbench.asc")


@pytest.fixture
def work(release: Path, tmp_path: Path) -> Path:
    """A folder for a clean root, in which /in is a copy of the release."""
    if why := CLEAN.why_not():
        pytest.skip(why)
    shutil.copytree(release, tmp_path / "in")
    (tmp_path / "in").chmod(0o755)
    return tmp_path


@pytest.mark.package
@pytest.mark.root
@pytest.mark.slow
class TestCleanRoot:
    """The commands that install a release, on a Debian that has never had one."""

    pytestmark = with_gpg

    def test_a_user_installs_into_an_empty_home(self, work: Path) -> None:
        assert install_as_user(work, PLACE) == SAID

    def test_apt_installs_with_the_key(self, work: Path) -> None:
        assert install_by_apt(work, PLACE) == SAID

    def test_apt_refuses_without_the_key(self, work: Path) -> None:
        keyless = "".join(line for line in APT.splitlines(keepends=True) if "raidbench.asc" not in line)
        assert keyless != APT
        said = install_by_apt(work, PLACE, keyless)
        assert "NO_PUBKEY" in said
        assert "is not signed" in said

    def test_apt_refuses_another_key(self, work: Path, other_keys: ReleaseKeys) -> None:
        (work / "in/raidbench.asc").write_bytes(other_keys.armored_key())
        assert "NO_PUBKEY" in install_by_apt(work, PLACE)

    @pytest.mark.parametrize(
        ("name", "cause"),
        [
            ("dists/stable/InRelease", "BADSIG"),
            (f"dists/stable/main/binary-{HERE.go}/Packages", "Hash Sum mismatch"),
            (f"pool/main/r/raidbench/{DEB}", "Hash Sum mismatch"),
        ],
        ids=["InRelease", "Packages", "deb"],
    )
    def test_apt_refuses_a_changed_byte(self, work: Path, name: str, cause: str) -> None:
        change_a_byte(work / "in/apt" / name)
        assert cause in install_by_apt(work, PLACE)

    @needs_dnf
    def test_dnf_installs_with_the_key(self, work: Path) -> None:
        """Over this machine's own root, of which nothing stays changed: debootstrap makes no root with dnf."""
        if why := THIS_MACHINE.why_not():
            pytest.skip(why)
        sure = "mkdir -p /etc/yum.repos.d; echo assumeyes=True >>/etc/dnf/dnf.conf\n"
        done = THIS_MACHINE.run(work, f"{sure}{script(DNF, PLACE)}\nraidbench --version")
        assert done.stdout.splitlines()[-1:] == [SAID], done.stderr
