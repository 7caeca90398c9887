"""A release of stand-ins: keys of its own, programs that only print their version, and their packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.packages import missing, needs
from tools.package.tree import MACHINES, VERSION
from tools.release.signing import ReleaseKeys

HERE = next((machine for machine in MACHINES if machine.name == os.uname().machine), MACHINES[0])
BINARY = f"raidbench-{VERSION}-linux-{HERE.name}"
DEB = f"raidbench_{VERSION}_{HERE.go}.deb"
RPM = f"raidbench-{VERSION}.{HERE.name}.rpm"
PLACE = "file:///in"
"""Where the release is served: the folder of a clean root that has it."""
EPOCH = 1_764_374_400
"""A date of the past: apt refuses an index of the future."""

with_gpg = [needs("gpg"), needs("ssh-keygen"), needs("gpgv"), needs("dpkg-deb"), needs("apt-ftparchive")]
"""Marks of tests that make a release."""

needs_dnf = needs("dnf", "rpmbuild", "rpmsign", "createrepo_c")

SPEC = """
Name: raidbench
Version: {version}
Release: 1
Summary: stand-in
License: MIT
AutoReqProv: no
%description
stand-in
%install
install -D -m 755 {binary} %{{buildroot}}/usr/bin/raidbench
%files
/usr/bin/raidbench
"""


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
    """Return new keys, written to `folder` as docs/dev/release.md says."""
    home = folder / "gnupg"
    home.mkdir(parents=True, mode=0o700)
    words = ("--batch", "--passphrase", "", "--quick-generate-key", "raidbench test", "rsa2048", "sign", "never")
    run("gpg", *words, env={"GNUPGHOME": str(home)})
    run("gpgconf", "--kill", "all", env={"GNUPGHOME": str(home)})
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder / "ssh_ed25519")
    return ReleaseKeys.read(folder)


def make_files(folder: Path) -> list[Path]:
    """Write stand-ins for what `make package` makes: they start, and apt and dnf can install them."""
    folder.mkdir()
    files = []
    for machine in MACHINES:
        binary = folder / f"raidbench-{VERSION}-linux-{machine.name}"
        binary.write_text(f"#!/bin/sh\necho raidbench {VERSION}\n")
        binary.chmod(0o755)
        files += [binary, _make_deb(folder, machine.go, binary)]
        if not missing("rpmbuild"):
            files.append(_make_rpm(folder, machine.name, binary))
    return files


def _make_deb(folder: Path, machine: str, binary: Path) -> Path:
    root = folder / f"root-{machine}"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "usr/bin").mkdir(parents=True)
    shutil.copy(binary, root / "usr/bin/raidbench")
    fields = {
        "Package": "raidbench", "Version": VERSION, "Architecture": machine,
        "Maintainer": "Test <test@example.invalid>", "Description": "stand-in",
    }  # fmt: skip
    (root / "DEBIAN/control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    package = folder / f"raidbench_{VERSION}_{machine}.deb"
    run("dpkg-deb", "--root-owner-group", "-b", root, package)
    shutil.rmtree(root)
    return package


def _make_rpm(folder: Path, machine: str, binary: Path) -> Path:
    spec, name = folder / "raidbench.spec", f"raidbench-{VERSION}.{machine}.rpm"
    spec.write_text(SPEC.format(version=VERSION, binary=binary))
    macros = {"_topdir": folder / "top", "_rpmdir": folder, "_rpmfilename": name, "__strip": "/bin/true"}
    defined = [word for macro, value in macros.items() for word in ("--define", f"{macro} {value}")]
    run("rpmbuild", "-bb", "--quiet", "--target", machine, *defined, spec)
    spec.unlink()
    return folder / name


def change_a_byte(file: Path) -> None:
    """Change a letter or digit in the middle of a file."""
    data = bytearray(file.read_bytes())
    place = len(data) // 2
    while not chr(data[place]).isalnum():
        place += 1
    data[place] ^= 1
    file.write_bytes(data)
