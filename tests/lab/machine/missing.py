"""Why the laboratory cannot be opened here."""

from __future__ import annotations

import platform
import shutil

from tests.packages import PLACES, absence, installable, missing, programs

PROGRAMS = programs("run", "test", "lab")
"""Every program the laboratory needs, outside the machine or in it."""


class LabError(Exception):
    """The laboratory should work here and does not."""


class LabUnavailableError(LabError):
    """The laboratory cannot be had on this machine, whose fault is not the project's."""


def program(name: str) -> str:
    """The path of a program. Raises LabUnavailableError."""
    found = shutil.which(name, path=PLACES)
    if found is None:
        raise LabUnavailableError(absence(name))
    return found


def check() -> None:
    """Raises LabUnavailableError with the reason and what to do, LabError when it could have been installed."""
    if platform.machine() != "x86_64":
        raise LabUnavailableError(
            f"the guest shares this machine's programs, so it must be x86-64, not {platform.machine()}"
        )
    if missing("apt-get", "dpkg-deb"):
        raise LabUnavailableError("the guest's kernel comes from the package registry of Debian or its kin")
    lacking = missing(*PROGRAMS)
    if lacking:
        raise (LabError if installable(*lacking) else LabUnavailableError)(absence(*lacking))
