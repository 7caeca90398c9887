"""The repositories of a release: apt and dnf take them with the right key only, and refuse a changed byte."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.packages import needs
from tests.release.stand_in import DEB, EPOCH, HERE, PLACE, RPM, change_a_byte, needs_dnf, run, with_gpg
from tools.package.tree import VERSION
from tools.release.repositories import make_dnf
from tools.release.signing import ReleaseKeys

pytestmark = [pytest.mark.long, *with_gpg]


class AptRoot:
    """apt with lists, keys and packages of its own: nothing of the host's is read or written."""

    def __init__(self, folder: Path, repository: Path, key: Path | None) -> None:
        self.folder = folder
        for name in ("etc/apt/preferences.d", "state/lists/partial", "cache/archives/partial", "work"):
            (folder / name).mkdir(parents=True)
        (folder / "status").write_text("")
        source = (repository / "apt/raidbench.sources").read_text()
        here = source.replace(PLACE, f"file://{repository}")
        key = key or repository / "raidbench.asc"
        (folder / "etc/apt/raidbench.sources").write_text(here.replace("/etc/apt/keyrings/raidbench.asc", str(key)))

    def get(self, *words: str, status: int | None = 0) -> str:
        options = {
            "Dir::Etc": self.folder / "etc/apt", "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": self.folder / "etc/apt", "Dir::State": self.folder / "state",
            "Dir::State::status": self.folder / "status", "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "", "APT::Update::Error-Mode": "any",
        }  # fmt: skip
        given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return run("apt-get", "-q", *given, *words, status=status, cwd=self.folder / "work", env={"LC_ALL": "C"})

    def installs(self) -> bool:
        """Return whether apt accepts the repository and its package."""
        self.get("update", status=None)
        self.get("download", "raidbench", status=None)
        return bool(list((self.folder / "work").glob("*.deb")))


needs_apt = needs("apt-get")


@needs_apt
def test_apt_takes_the_package(copy: Path, tmp_path: Path) -> None:
    root = AptRoot(tmp_path / "root", copy, None)
    assert "NO_PUBKEY" not in root.get("update")
    root.get("download", "raidbench")
    assert [file.name for file in (root.folder / "work").iterdir()] == [DEB]


@needs_apt
def test_apt_refuses_another_key(copy: Path, tmp_path: Path, other_keys: ReleaseKeys) -> None:
    theirs = tmp_path / "theirs.asc"
    theirs.write_bytes(other_keys.armored_key())
    root = AptRoot(tmp_path / "root", copy, theirs)
    assert "NO_PUBKEY" in root.get("update", status=100)


@needs_apt
def test_apt_refuses_a_changed_byte_in_each_file(release: Path, tmp_path: Path) -> None:
    used = [
        release / "apt/dists/stable/InRelease",
        release / f"apt/dists/stable/main/binary-{HERE.go}/Packages",
        release / f"apt/pool/main/r/raidbench/{DEB}",
    ]
    for number, file in enumerate(used):
        copy = tmp_path / str(number) / "copy"
        shutil.copytree(release, copy)
        assert AptRoot(tmp_path / str(number) / "sound", copy, None).installs()
        change_a_byte(copy / file.relative_to(release))
        assert not AptRoot(tmp_path / str(number) / "changed", copy, None).installs(), file


class DnfRoot:
    """dnf that installs into an empty root, with keys and caches of its own."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        (folder / "repos").mkdir(parents=True)
        (folder / "dnf.conf").write_text("")
        entry = (repository / "dnf/raidbench.repo").read_text()
        (folder / "repos/raidbench.repo").write_text(entry.replace(PLACE, f"file://{repository}"))

    def installs(self) -> bool:
        """Return whether dnf accepts the repository and its package."""
        options = {"reposdir": self.folder / "repos", "cachedir": self.folder / "cache"}
        given = [f"--setopt={name}={value}" for name, value in options.items()]
        words = (
            "-q",
            "-y",
            f"--installroot={self.folder / 'root'}",
            "--releasever=1",
            *given,
            f"--config={self.folder / 'dnf.conf'}",
            "install",
            "raidbench",
        )
        self.said = run("dnf", *words, status=None, env={"LC_ALL": "C"})
        program = self.folder / "root/usr/bin/raidbench"
        return program.exists() and run(program) == f"raidbench {VERSION}\n"


@needs_dnf
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can install packages")
class TestDnf:
    """dnf on a root in which nothing is installed."""

    def test_it_installs_the_package(self, copy: Path, tmp_path: Path) -> None:
        root = DnfRoot(tmp_path / "root", copy)
        assert root.installs(), root.said

    def test_it_refuses_another_key(self, copy: Path, tmp_path: Path, other_keys: ReleaseKeys) -> None:
        (copy / "raidbench.asc").write_bytes(other_keys.armored_key())
        root = DnfRoot(tmp_path / "root", copy)
        assert not root.installs()
        assert "GPG" in root.said

    def test_it_refuses_a_package_without_a_signature(self, copy: Path, tmp_path: Path, keys: ReleaseKeys) -> None:
        """The metadata are sound: only the signature in the package is missing."""
        shutil.rmtree(copy / "dnf")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tools.release.repositories.SIGN", ("true",))
            make_dnf([copy / VERSION / RPM], copy / "dnf", keys, PLACE, EPOCH)
        root = DnfRoot(tmp_path / "root", copy)
        assert not root.installs()
        assert "is not signed" in root.said

    def test_it_refuses_a_changed_byte_in_each_file(self, release: Path, tmp_path: Path) -> None:
        metadata = release / "dnf/repodata"
        [primary] = metadata.glob("*-primary.xml.gz")  # dnf reads no other list
        causes = {
            release / "dnf" / RPM: "incorrect checksum",
            primary: "Cannot download",
            metadata / "repomd.xml": "Bad GPG signature",
            metadata / "repomd.xml.asc": "GPG signature verification error",
        }
        for number, (file, cause) in enumerate(causes.items()):
            copy = tmp_path / str(number) / "copy"
            shutil.copytree(release, copy)
            change_a_byte(copy / file.relative_to(release))
            root = DnfRoot(tmp_path / str(number) / "root", copy)
            assert not root.installs(), file
            assert cause in root.said
