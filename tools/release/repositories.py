"""Builds signed package repositories for apt and dnf from the packages of a release."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from tools.package.tree import MACHINES
from tools.release.checks import NotReleasableError
from tools.release.signing import ReleaseKeys, require_program

KEY_PLACE = "/etc/apt/keyrings/raidbench.asc"
"""Where docs/install.md puts the public key on a host with apt."""

SIGN = ("rpmsign", "--addsign")
"""Words that sign a package."""

APT_FIELDS = {
    "Origin": "raidbench",
    "Label": "raidbench",
    "Suite": "stable",
    "Codename": "stable",
    "Components": "main",
    "Architectures": " ".join(machine.go for machine in MACHINES),
    "Acquire-By-Hash": "no",
}


def make_apt(packages: Sequence[Path], folder: Path, keys: ReleaseKeys, url: str, epoch: int) -> None:
    """Build an apt repository in `folder`. `epoch`: its date, in seconds since 1970.

    Raises NotReleasableError if apt-ftparchive is missing or fails.
    """
    pool = folder / "pool" / "main" / "r" / "raidbench"
    pool.mkdir(parents=True)
    for package in packages:
        shutil.copyfile(package, pool / package.name)
    lists = folder / "dists" / "stable"
    for machine in MACHINES:
        index = lists / "main" / f"binary-{machine.go}" / "Packages"
        index.parent.mkdir(parents=True)
        index.write_bytes(_archive(folder, "--arch", machine.go, "packages", "pool"))
    options = [
        word for name, value in APT_FIELDS.items() for word in ("-o", f"APT::FTPArchive::Release::{name}={value}")
    ]
    rows = _archive(folder, *options, "release", "dists/stable").decode().splitlines()
    date = format_datetime(datetime.fromtimestamp(epoch, UTC)).replace("+0000", "UTC")
    release = lists / "Release"
    release.write_text("".join(f"Date: {date}\n" if row.startswith("Date: ") else f"{row}\n" for row in rows))
    keys.sign_by_gpg("--clearsign", file=release, out=lists / "InRelease")
    keys.sign_by_gpg("--armor", "--detach-sign", file=release, out=lists / "Release.gpg")
    (folder / "raidbench.sources").write_text(
        f"Types: deb\nURIs: {url}/apt\nSuites: stable\nComponents: main\nSigned-By: {KEY_PLACE}\n"
    )


def make_dnf(packages: Sequence[Path], folder: Path, keys: ReleaseKeys, url: str, epoch: int) -> None:
    """Build a dnf repository in `folder`, with signed copies of the packages.

    The packages themselves stay as they are: a signature inside would make them differ from those that others build.
    Raises NotReleasableError if a program fails.
    """
    folder.mkdir(parents=True)
    for package in packages:
        copy = folder / package.name
        shutil.copyfile(package, copy)
        # Debian's rpm does not know where gpg is. SHA-256, because rpm of RHEL 9 refuses SHA-1.
        macros = {"__gpg": shutil.which("gpg"), "_gpg_name": keys.fingerprint, "_gpg_digest_algo": "sha256"}
        defined = [word for name, value in macros.items() for word in ("--define", f"{name} {value}")]
        _run((*SIGN, *defined, str(copy)), folder, GNUPGHOME=str(keys.home))
    _run(
        (
            *("createrepo_c", "-q", "--no-database", "--general-compress-type=gz"),
            *("--revision", str(epoch), "--set-timestamp-to-revision", "."),
        ),
        folder,
    )
    metadata = folder / "repodata" / "repomd.xml"
    keys.sign_by_gpg("--armor", "--detach-sign", file=metadata, out=metadata.with_name("repomd.xml.asc"))
    (folder / "raidbench.repo").write_text(
        f"[raidbench]\nname=raidbench\nbaseurl={url}/dnf\nenabled=1\ngpgcheck=1\nrepo_gpgcheck=1\n"
        f"gpgkey={url}/raidbench.asc\n"
    )


def missing_dnf_programs() -> tuple[str, ...]:
    """Return the programs that `make_dnf` needs and this host does not have."""
    return tuple(name for name in ("createrepo_c", "rpmsign") if shutil.which(name) is None)


def _archive(folder: Path, *words: str) -> bytes:
    return _run((require_program("apt-ftparchive", "apt-utils"), *words), folder)


def _run(argv: Sequence[str], folder: Path, **environment: str) -> bytes:
    environment = os.environ | {"LC_ALL": "C", "TZ": "UTC"} | environment
    done = subprocess.run(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise NotReleasableError(f"{Path(argv[0]).name} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
