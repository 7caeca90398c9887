"""A release made with keys of its own: apt and install.sh take it, and refuse a changed byte."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.packages import needs
from tools.package.tree import MACHINES, VERSION
from tools.release.checks import NotReleasableError, notes, require_releasable
from tools.release.folder import publish, write_sums
from tools.release.signing import ReleaseKeys

HERE = os.uname().machine
BINARY = f"raidbench-{VERSION}-linux-{HERE}"
EPOCH = 1_800_000_000

with_gpg = [needs("gpg"), needs("ssh-keygen"), needs("gpgv"), needs("dpkg-deb"), needs("apt-ftparchive")]


def run(
    *argv: str | Path, status: int | None = 0, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run a program and return what it said, stdout and stderr."""
    done = subprocess.run(
        tuple(map(str, argv)), cwd=cwd, env=os.environ | dict(env or {}), stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert status is None or done.returncode == status, done.stdout
    return done.stdout


def make_keys(folder: Path) -> ReleaseKeys:
    home = folder / "gnupg"
    home.mkdir(parents=True, mode=0o700)
    words = ("--batch", "--passphrase", "", "--quick-generate-key", "raidbench test", "rsa2048", "sign", "never")
    run("gpg", *words, env={"GNUPGHOME": str(home)})
    run("gpgconf", "--kill", "all", env={"GNUPGHOME": str(home)})
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder / "ssh_ed25519")
    return ReleaseKeys.read(folder)


def make_files(folder: Path) -> list[Path]:
    """Write stand-ins for what `make package` makes: they start, and apt can install them."""
    folder.mkdir()
    files = []
    for machine in MACHINES:
        binary = folder / f"raidbench-{VERSION}-linux-{machine.name}"
        binary.write_text(f"#!/bin/sh\necho raidbench {VERSION}\n")
        binary.chmod(0o755)
        root = folder / f"root-{machine.go}"
        (root / "DEBIAN").mkdir(parents=True)
        (root / "usr/bin").mkdir(parents=True)
        shutil.copy(binary, root / "usr/bin/raidbench")
        fields = {
            "Package": "raidbench", "Version": VERSION, "Architecture": machine.go,
            "Maintainer": "Test <test@example.invalid>", "Description": "stand-in",
        }  # fmt: skip
        (root / "DEBIAN/control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
        package = folder / f"raidbench_{VERSION}_{machine.go}.deb"
        run("dpkg-deb", "--root-owner-group", "-b", root, package)
        shutil.rmtree(root)
        files += [binary, package]
    return files


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> ReleaseKeys:
    return make_keys(tmp_path_factory.mktemp("keys") / "ours")


@pytest.fixture(scope="module")
def release(keys: ReleaseKeys, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    out = folder / "out"
    publish(make_files(folder / "dist"), "## notes\n", out, keys, url=f"file://{out}", epoch=EPOCH)
    return out


@pytest.fixture
def copy(release: Path, tmp_path: Path) -> Path:
    """A copy of the release, of which a test may change a byte."""
    shutil.copytree(release, tmp_path / "copy")
    return tmp_path / "copy"


def change_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    place = len(data) // 2
    while not chr(data[place]).isalnum():
        place += 1
    data[place] ^= 1
    file.write_bytes(data)


class Installer:
    """install.sh as an ordinary user starts it."""

    def __init__(self, folder: Path, to: Path) -> None:
        self.script, self.to = folder / VERSION / "install.sh", to

    def __call__(self, *, status: int = 0, **environment: str) -> str:
        return run("sh", self.script, self.to, status=status, env=environment)

    def refuse(self, **environment: str) -> str:
        said = self(status=1, **environment)
        assert not list(self.to.glob(".raidbench*")), "a partial file is left"
        return said


@pytest.fixture
def install(copy: Path, tmp_path: Path) -> Installer:
    return Installer(copy, tmp_path / "bin")


def hide(tmp_path: Path, *hidden: str) -> str:
    """Return a PATH on which these programs are missing."""
    folder = tmp_path / "path"
    folder.mkdir()
    for place in os.environ["PATH"].split(":"):
        for program in sorted(Path(place).glob("*")) if place else ():
            if program.name not in hidden and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return str(folder)


pytestmark = [pytest.mark.long, *with_gpg]


def test_install_sh_installs_and_a_second_run_replaces(install: Installer) -> None:
    assert f"Installed {install.to}/raidbench (raidbench {VERSION})" in install()
    first = (install.to / "raidbench").stat().st_ino
    install()
    assert (install.to / "raidbench").stat().st_ino != first
    assert os.listdir(install.to) == ["raidbench"]


def test_install_sh_downloads_what_is_not_beside_it(install: Installer, copy: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / VERSION
    alone.mkdir(parents=True)
    shutil.copy(install.script, alone)
    install.script = alone / "install.sh"
    assert "Installed" in install(RAIDBENCH_URL=f"file://{copy}")


def test_install_sh_verifies_by_ssh_where_gpgv_is_missing(install: Installer, tmp_path: Path) -> None:
    assert "Installed" in install(PATH=hide(tmp_path, "gpgv"))
    change_a_byte(install.script.with_name("SHA256SUMS"))
    assert "not from raidbench's release key" in install.refuse(PATH=str(tmp_path / "path"))


def test_install_sh_installs_nothing_that_it_cannot_verify(install: Installer, tmp_path: Path) -> None:
    said = install.refuse(PATH=hide(tmp_path, "gpgv", "ssh-keygen"))
    assert "install gpgv, or ssh-keygen of OpenSSH 8.1 or newer" in said


@pytest.mark.parametrize("name", ["SHA256SUMS", "SHA256SUMS.asc", BINARY])
def test_install_sh_refuses_a_changed_byte(install: Installer, name: str) -> None:
    change_a_byte(install.script.with_name(name))
    assert "Nothing was installed" in install.refuse()


def test_install_sh_refuses_a_truncated_file(install: Installer) -> None:
    file = install.script.with_name(BINARY)
    file.write_bytes(file.read_bytes()[:-1])
    assert "is incomplete or was changed" in install.refuse()


def test_install_sh_refuses_another_key(install: Installer, tmp_path: Path) -> None:
    make_keys(tmp_path / "theirs").sign(install.script.with_name("SHA256SUMS"))
    assert "not from raidbench's release key" in install.refuse()
    assert "not from raidbench's release key" in install.refuse(PATH=hide(tmp_path, "gpgv"))


def test_install_sh_keeps_what_is_there_when_the_new_one_does_not_start(install: Installer, keys: ReleaseKeys) -> None:
    install()
    folder = install.script.parent
    (folder / BINARY).write_text("#!/bin/sh\necho needs glibc 2.17 >&2\nexit 1\n")
    write_sums(folder)
    keys.sign(folder / "SHA256SUMS")
    assert "This host cannot run raidbench" in install.refuse()
    assert run(install.to / "raidbench") == f"raidbench {VERSION}\n"


def test_install_sh_says_which_folder_cannot_be_used(install: Installer, tmp_path: Path) -> None:
    install.to = tmp_path / "file"
    install.to.write_text("")
    assert f"{install.to} does not exist and cannot be created" in install(status=1) or "cannot be written" in install(
        status=1
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small filesystem")
def test_install_sh_says_when_there_is_no_space(install: Installer) -> None:
    install.to.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", install.to)
    try:
        (install.to / "full").write_bytes(b"x" * 4096)
        assert f"{install.to} has no space for 1 MB" in install.refuse()
    finally:
        run("umount", install.to)


class AptRoot:
    """apt with lists, keys and packages of its own: nothing of the host's is read or written."""

    def __init__(self, folder: Path, repository: Path, key: Path | None) -> None:
        self.folder = folder
        for name in ("etc/apt/preferences.d", "state/lists/partial", "cache/archives/partial", "work"):
            (folder / name).mkdir(parents=True)
        (folder / "status").write_text("")
        source = (repository / "apt/raidbench.sources").read_text()
        here = source.replace(source.split("URIs: ")[1].split("\n")[0], f"file://{repository}/apt")
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
    assert [file.name for file in (root.folder / "work").iterdir()] == [f"raidbench_{VERSION}_{_debian_name()}.deb"]


@needs_apt
def test_apt_refuses_another_key(copy: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.asc"
    theirs.write_bytes(make_keys(tmp_path / "theirs").armored_key())
    root = AptRoot(tmp_path / "root", copy, theirs)
    assert "NO_PUBKEY" in root.get("update", status=100)


@needs_apt
def test_apt_refuses_a_changed_byte_in_each_file(release: Path, tmp_path: Path) -> None:
    used = [
        release / "apt/dists/stable/InRelease",
        release / f"apt/dists/stable/main/binary-{_debian_name()}/Packages",
        release / f"apt/pool/main/r/raidbench/raidbench_{VERSION}_{_debian_name()}.deb",
    ]
    for number, file in enumerate(used):
        copy = tmp_path / str(number) / "copy"
        shutil.copytree(release, copy)
        assert AptRoot(tmp_path / str(number) / "sound", copy, None).installs()
        change_a_byte(copy / file.relative_to(release))
        assert not AptRoot(tmp_path / str(number) / "changed", copy, None).installs(), file


def test_every_file_is_covered_by_a_signature(release: Path, keys: ReleaseKeys, tmp_path: Path) -> None:
    """Each file is listed in SHA256SUMS, in Release or in repomd.xml, or is a signature, a public key or a copy."""
    listed = {row.split()[1] for row in (release / VERSION / "SHA256SUMS").read_text().splitlines()}
    signed = {f"{VERSION}/{name}" for name in listed}
    signed |= {f"{VERSION}/SHA256SUMS{suffix}" for suffix in ("", ".asc", ".sig")}
    keyring = tmp_path / "key.gpg"
    run("gpg", "--export", "--output", keyring, env={"GNUPGHOME": str(keys.home)})
    for name in ("apt/dists/stable/Release", f"{VERSION}/SHA256SUMS"):
        signature = name.replace("/Release", "/Release.gpg") if "apt" in name else f"{name}.asc"
        run("gpgv", "--keyring", keyring, release / signature, release / name)
    index = (release / "apt/dists/stable/Release").read_text()
    files = {file.relative_to(release).as_posix() for file in release.rglob("*") if file.is_file()}
    signed |= {
        f"apt/dists/stable/{row.split()[2]}" for row in index.splitlines() if row.startswith(" ") and len(row) > 60
    }
    signed |= {f"apt/dists/stable/{name}" for name in ("Release", "Release.gpg", "InRelease")}
    packages = "".join(file.read_text() for file in (release / "apt").rglob("Packages"))
    signed |= {f"apt/{row.split()[1]}" for row in packages.splitlines() if row.startswith("Filename:")}
    assert files - signed <= {"install.sh", "raidbench.asc", "allowed_signers", "apt/raidbench.sources"} | {
        name for name in files if name.startswith("dnf/")
    }
    assert (release / "install.sh").read_bytes() == (release / VERSION / "install.sh").read_bytes()


def _debian_name() -> str:
    return next(machine.go for machine in MACHINES if machine.name == HERE)


class TestChecks:
    """What the checkout must be like."""

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        root = tmp_path / "checkout"
        root.mkdir()
        (root / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-11-29\n\nNew.\n\n## [1.2.2]\n\nOld.\n")
        self.git(root, "init", "-q")
        self.git(root, "add", "-A")
        self.git(root, "commit", "-qm", "x")
        return root

    @staticmethod
    def git(root: Path, *words: str) -> None:
        run("git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", *words, cwd=root)

    def test_a_tagged_clean_checkout_has_notes(self, checkout: Path) -> None:
        self.git(checkout, "tag", "v1.2.3")
        assert require_releasable(checkout, "1.2.3") == "## [1.2.3] - 2026-11-29\n\nNew.\n"

    def test_a_head_without_the_tag_is_refused(self, checkout: Path) -> None:
        self.git(checkout, "tag", "v1.2.4")
        with pytest.raises(NotReleasableError, match=r"HEAD does not have the tag v1\.2\.3"):
            require_releasable(checkout, "1.2.3")

    def test_an_uncommitted_file_is_refused(self, checkout: Path) -> None:
        self.git(checkout, "tag", "v1.2.3")
        (checkout / "new.txt").write_text("x")
        with pytest.raises(NotReleasableError, match=r"1 uncommitted files, new\.txt among them"):
            require_releasable(checkout, "1.2.3")

    def test_a_changelog_without_the_version_is_refused(self, checkout: Path) -> None:
        for version in ("1.2", "1.2.30", "2.0.0"):
            with pytest.raises(NotReleasableError, match="has no section"):
                notes(checkout / "CHANGELOG.md", version)

    def test_keys_that_are_missing_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(NotReleasableError, match="must contain gnupg/ and ssh_ed25519"):
            ReleaseKeys.read(tmp_path)
