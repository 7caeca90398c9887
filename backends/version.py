"""The program's own version."""

from __future__ import annotations

import os
import sys

_FOLDER = ("raidbench-", ".dist-info")


def program_version() -> str:
    """The installed version, `0+source` when run from an unbuilt tree.

    Read off the folder that an installer makes (PyPA, Recording installed projects): importlib.metadata takes with it
    the packages for mail and archives, 2 MiB and a tenth of the way to the first screen. It is asked where there is
    no such folder, as inside an archive.
    """
    for folder in sys.path:
        for name in _names_in(folder or "."):
            if name.startswith(_FOLDER[0]) and name.endswith(_FOLDER[1]):
                return name.removeprefix(_FOLDER[0]).removesuffix(_FOLDER[1])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("raidbench")
    except PackageNotFoundError:
        return "0+source"


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # an archive, or a folder that is not there
        return []
