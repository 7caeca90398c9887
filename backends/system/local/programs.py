"""Search for programs. For root, leave out those that other users can replace."""

from __future__ import annotations

import os
from collections.abc import Sequence

from backends.system.root_owned import is_owned_by_root

SYSTEM = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""System folders, which are searched in addition to PATH: sudo often leaves sbin out of PATH."""


def search_path() -> str:
    """Return the folders of PATH, then the system folders. For root, folders that other users can write are left out.

    Empty and relative elements are left out: they mean the working directory, where any user may have put an `lspci`.
    """
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    if os.geteuid() == 0:
        folders = [folder for folder in folders if folder in SYSTEM or is_owned_by_root(folder)]
    return os.pathsep.join(dict.fromkeys((*folders, *SYSTEM)))


def find_program(names: Sequence[str]) -> str | None:
    """Return the path of the first of `names` that can be executed, or None.

    For root, programs that other users can replace are skipped.
    """
    folders: list[str] = []  # computed once, because checking the owners of all folders is slow
    for name in names:
        if not folders and not os.path.isabs(name):
            folders = search_path().split(os.pathsep)
        for folder in ("",) if os.path.isabs(name) else folders:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK) and not os.path.isdir(path) and (os.geteuid() != 0 or is_owned_by_root(path)):
                return path
    return None
