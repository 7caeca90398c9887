"""The program's own version."""

from __future__ import annotations

import sys
from pathlib import Path


def program_version() -> str:
    """The installed version, `0+source` when run from an unbuilt tree.

    Read off the folder that an installer makes (PyPA, Recording installed projects): importlib.metadata takes with it
    the packages for mail and archives, 2 MiB and a tenth of the way to the first screen. It is asked where there is
    no such folder, as inside an archive.
    """
    for place in sys.path:
        for folder in Path(place or ".").glob("raidbench-*.dist-info"):
            return folder.name.removeprefix("raidbench-").removesuffix(".dist-info")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("raidbench")
    except PackageNotFoundError:
        return "0+source"
