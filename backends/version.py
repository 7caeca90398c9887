"""Version of the program."""

from __future__ import annotations

import os
import sys

_FOLDER = ("raidbench-", ".dist-info")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Folder that contains the packages of the program."""
_PROJECT = os.path.join(_HERE, "pyproject.toml")
"""The project file beside the packages. Only a checkout has one."""
_kept: list[str] = []
"""The version once it is known. functools.cache would import eight modules for `raidbench --version`."""


def program_version() -> str:
    """Return the version of this checkout, or else the installed version; `0+source` if there is neither.

    The files are read once: a watchdog has everything in memory before it says that it is armed.
    """
    if not _kept:
        _kept.append(_read_version())
    return _kept[0]


def _read_version() -> str:
    """Return the version of the checkout, or of the installation.

    A checkout states its version only in `pyproject.toml`. The folder that an installer created for the checkout may be
    older than that. An installation has its version in the name of that folder (PyPA, Recording installed projects).
    importlib.metadata is only used if there is no such folder, as in an archive. Importing it takes 2 MiB and a tenth
    of the startup time.
    """
    if stated := _stated_version():
        return stated
    for folder in sys.path:
        for name in _names_in(folder or "."):
            if name.startswith(_FOLDER[0]) and name.endswith(_FOLDER[1]):
                return name.removeprefix(_FOLDER[0]).removesuffix(_FOLDER[1])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("raidbench")
    except PackageNotFoundError:
        return "0+source"


def _stated_version() -> str:
    """Return the version in the project file of raidbench's checkout; "" outside a checkout.

    The lines are compared as text, because importing tomllib takes longer than the rest.
    """
    is_ours, stated = False, ""
    try:
        with open(_PROJECT, encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.partition(" = ")
                if key == "name":
                    is_ours = value.strip() == '"raidbench"'
                elif key == "version":
                    stated = value.strip().strip('"')
                elif key.startswith("[") and stated:
                    break
    except (OSError, UnicodeDecodeError):  # no such file, or packages in an archive
        return ""
    return stated if is_ours else ""


def licence_text() -> str:
    """Return the licences of the program, and of all other components where they are in the same file.

    A wheel contains no other components.
    """
    installed = [
        os.path.join(_HERE, name, file)
        for name in _names_in(_HERE)
        if name.startswith(_FOLDER[0]) and name.endswith(_FOLDER[1])
        for file in ("licenses/LICENSES.txt", "licenses/LICENSE")
    ]
    for path in (*installed, os.path.join(_HERE, "LICENSE")):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return "raidbench is licensed under the MIT licence.\n"


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # an archive, or a missing folder
        return []
