"""What the system's programs come in, by distribution: the list that set-up reads, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backends.host import Host
from backends.values import dataclass

_APP = Path(__file__).resolve().parents[1]
PLACES = (_APP / "packages", _APP.parent / "tools" / "packages")
"""Where the list lies when installed, and in the sources."""

MANAGERS: Mapping[str, tuple[str, str]] = {
    "apt-get": ("apt-get install", "Debian, Ubuntu"),
    "dnf": ("dnf install", "Fedora, RHEL"),
    "zypper": ("zypper install", "openSUSE, SLES"),
    "apk": ("apk add", "Alpine"),
    "pacman": ("pacman -S", "Arch"),
}
"""What a person types and where, by package manager, in the order of the list's columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One line of the list."""

    step: str
    """Which step of set-up needs it: run, test, browser, lab."""
    program: str
    """The program that is there when it is installed."""
    names: tuple[str, ...]
    """What the distributions call it, in the order of `MANAGERS`; `-` where one has none."""


@cache
def packages() -> tuple[Package, ...]:
    """Every line of the list; () where it did not come along."""
    text = next((path.read_text() for path in PLACES if path.is_file()), "")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(Package(step=step, program=program, names=tuple(names)) for step, program, *names in lines)


def package_names(manager: str, *programs: str) -> tuple[str, ...]:
    """What the packages of these programs are called by a package manager; a program of none by its own name."""
    column = list(MANAGERS).index(manager)
    names = {package.program: package.names[column] for package in packages()}
    return tuple(name for name in dict.fromkeys(names.get(program, program) for program in programs) if name != "-")


def install_hint(host: Host, *programs: str) -> str:
    """The command that installs programs on a machine; those of all distributions where it has no known manager."""
    commands = {name: " ".join((typed, *package_names(name, *programs))) for name, (typed, _) in MANAGERS.items()}
    for name, command in commands.items():
        if host.which((name,)) is not None:
            return f"Install it: {command}"
    return " · ".join(f"{MANAGERS[name][1]}: {command}" for name, command in commands.items())
