"""The program's own version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """The installed version, `0+source` when run from an unbuilt tree."""
    try:
        return version("raidbench")
    except PackageNotFoundError:
        return "0+source"
