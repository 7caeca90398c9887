"""The system's packages, from the list that set-up reads: what a program comes in, and how a person installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.distro_packages import MANAGERS, package_names, packages

PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for: an ordinary user's PATH has no sbin."""

_FETCHING = 300.0
"""Seconds for packages to come."""


def programs(*steps: str) -> tuple[str, ...]:
    """The programs that these steps need."""
    return tuple(package.program for package in packages() if package.step in steps)


def missing(*names: str) -> tuple[str, ...]:
    """Those of the programs that are not there."""
    return tuple(name for name in names if shutil.which(name, path=PLACES) is None)


def manager() -> str:
    """This machine's package manager; Debian's where there is none."""
    return next((name for name in MANAGERS if shutil.which(name, path=PLACES)), "apt-get")


def how_to_install(*names: str) -> str:
    """The command that gets these programs: `apt-get install fio tmux`."""
    return " ".join((MANAGERS[manager()][0], *package_names(manager(), *names)))


def absence(*names: str) -> str:
    """What is missing of these programs and how to get it, "" if nothing is."""
    lacking = missing(*names)
    return f"{', '.join(lacking)} cannot be found: {how_to_install(*lacking)}" if lacking else ""


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips, with what to install, where one of the programs is missing."""
    return pytest.mark.skipif(bool(missing(*names)), reason=absence(*names))


def unpack(packages: Sequence[str], folder: Path, *, places: str = PLACES) -> str:
    """Unpack packages of the distribution into a folder, installing nothing; why not, "" if all is well."""
    tools = [name for name in ("apt-get", "dpkg-deb") if shutil.which(name, path=places) is None]
    if tools:
        return f"without {' and '.join(tools)} no package can be fetched"
    fetched = folder / "packages"
    fetched.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["apt-get", "download", "-q", *packages], cwd=fetched, capture_output=True, text=True, timeout=_FETCHING
    )
    if done.returncode:
        why = done.stderr.strip().splitlines() or ["no reason is told"]
        return f"apt-get download: {why[-1]}"
    for package in sorted(fetched.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True, timeout=_FETCHING)
    return ""


def installable(*names: str) -> bool:
    """Whether the package manager knows the packages of these programs and would be allowed to install them."""
    if missing("apt-cache", "apt-get"):
        return False
    sudo = ("sudo", "-n", "true")
    if os.geteuid() != 0 and (missing("sudo") or subprocess.run(sudo, capture_output=True).returncode):
        return False
    asked = ("apt-cache", "show", "--no-all-versions", *package_names("apt-get", *names))
    return subprocess.run(asked, capture_output=True).returncode == 0
