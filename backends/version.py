"""Version of the program."""

from __future__ import annotations

import os
import sys

_FOLDER = ("raidbench-", ".dist-info")


def program_version() -> str:
    """Return the installed version, `0+source` for an unbuilt tree.

    It is read from the name of the folder that an installer creates (PyPA, Recording installed projects).
    importlib.metadata is only used if there is no such folder, as in an archive. Importing it takes 2 MiB and a tenth
    of the startup time.
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
    except OSError:  # an archive, or a missing folder
        return []
