"""The system's packages, from the list that set-up reads: what a program comes in, and how a person installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

LIST = Path(__file__).parents[1] / "tools" / "packages"

PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for: an ordinary user's PATH has no sbin."""

COMMANDS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
}
"""What a person types, by package manager, in the order of the list's columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One line of the list."""

    step: str
    """Which step of set-up needs it: run, test, browser, lab."""
    program: str
    """The program that is there when it is installed."""
    names: tuple[str, ...]
    """What the distributions call it, in the order of `COMMANDS`."""


def packages() -> tuple[Package, ...]:
    """Every line of the list."""
    lines = [line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return tuple(Package(step=step, program=program, names=tuple(names)) for step, program, *names in lines)


def programs(*steps: str) -> tuple[str, ...]:
    """The programs that these steps need."""
    return tuple(package.program for package in packages() if package.step in steps)


def missing(*names: str) -> tuple[str, ...]:
    """Those of the programs that are not there."""
    return tuple(name for name in names if shutil.which(name, path=PLACES) is None)


def called(manager: str, *names: str) -> tuple[str, ...]:
    """What the packages of these programs are called by a package manager; a program of none by its own name."""
    column = list(COMMANDS).index(manager)
    known = {package.program: package.names[column] for package in packages()}
    return tuple(dict.fromkeys(known.get(name, name) for name in names))


def manager() -> str:
    """This machine's package manager; Debian's where there is none."""
    return next((name for name in COMMANDS if shutil.which(name, path=PLACES)), "apt-get")


def how_to_install(*names: str) -> str:
    """The command that gets these programs: `apt-get install fio tmux`."""
    return " ".join((COMMANDS[manager()], *called(manager(), *names)))


def absence(*names: str) -> str:
    """What is missing of these programs and how to get it, "" if nothing is."""
    lacking = missing(*names)
    return f"{', '.join(lacking)} cannot be found: {how_to_install(*lacking)}" if lacking else ""


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips, with what to install, where one of the programs is missing."""
    return pytest.mark.skipif(bool(missing(*names)), reason=absence(*names))


def installable(*names: str) -> bool:
    """Whether the package manager knows the packages of these programs and would be allowed to install them."""
    if missing("apt-cache", "apt-get"):
        return False
    sudo = ("sudo", "-n", "true")
    if os.geteuid() != 0 and (missing("sudo") or subprocess.run(sudo, capture_output=True).returncode):
        return False
    asked = ("apt-cache", "show", "--no-all-versions", *called("apt-get", *names))
    return subprocess.run(asked, capture_output=True).returncode == 0
