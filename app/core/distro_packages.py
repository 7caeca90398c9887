"""Names of the packages that contain required programs, by distribution. raidbench's installer uses the same list."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backends.host import Host
from backends.values import dataclass

_APP = Path(__file__).resolve().parents[1]
PLACES = (_APP / "packages", _APP.parent / "tools" / "packages")
"""Possible paths of the package list: in an installation, and in the source tree."""

MANAGERS: Mapping[str, tuple[str, str]] = {
    "apt-get": ("apt-get install", "Debian, Ubuntu"),
    "dnf": ("dnf install", "Fedora, RHEL"),
    "zypper": ("zypper install", "openSUSE, SLES"),
    "apk": ("apk add", "Alpine"),
    "pacman": ("pacman -S", "Arch"),
}
"""Install command and distributions of each package manager, in the order of the package list's columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A line of the package list."""

    step: str
    """Installation step that needs the program, such as `base`, `run`, `test`, `browser` or `lab`."""
    program: str
    """Program that the package installs."""
    names: tuple[str, ...]
    """Package names in the order of `MANAGERS`; `-` where a distribution has none."""


@cache
def packages() -> tuple[Package, ...]:
    """Return all lines of the package list; () if the list is not installed."""
    text = next((path.read_text() for path in PLACES if path.is_file()), "")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(Package(step=step, program=program, names=tuple(names)) for step, program, *names in lines)


def package_names(manager: str, *programs: str) -> tuple[str, ...]:
    """Return the names of the packages that contain these programs.

    A program that is not listed is returned by its own name. A program without a package is left out.
    """
    column = list(MANAGERS).index(manager)
    names = {package.program: package.names[column] for package in packages()}
    return tuple(name for name in dict.fromkeys(names.get(program, program) for program in programs) if name != "-")


def install_hint(host: Host, *programs: str) -> str:
    """Return a hint with the command that installs programs on a host.

    If the host's package manager is not known, the hint has one command for each package manager.
    """
    commands = {name: " ".join((typed, *package_names(name, *programs))) for name, (typed, _) in MANAGERS.items()}
    for name, command in commands.items():
        if host.which((name,)) is not None:
            return f"Install it: {command}"
    return " · ".join(f"{MANAGERS[name][1]}: {command}" for name, command in commands.items())
