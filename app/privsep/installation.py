"""Checks whether root may run this installation: no other user may be able to replace a part of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import app
import backends
from backends.system.root_owned import is_owned_by_root

_OURS = (app, backends)


def ownership_problem() -> str | None:
    """Return a sentence that names a file or folder which a user other than root can replace; None if there is none."""
    for path in _parts():
        if not is_owned_by_root(path):
            return f"{path} is not owned by root, or other users can write to it."
    return None


def _parts() -> Iterator[str]:
    """Yield the paths of the interpreter, the module folders, all loaded modules, and all files of raidbench."""
    yield os.path.realpath(sys.executable)
    yield from (path for path in sys.path if os.path.exists(path))
    for module in tuple(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.isabs(file):
            yield from _real_file(file)
            archive = getattr(getattr(module, "__loader__", None), "archive", None)
            if isinstance(archive, str):
                yield archive
    for package in _OURS:
        for folder in package.__path__:
            for path, _, names in os.walk(folder):
                yield path
                yield from (os.path.join(path, name) for name in names)


def _real_file(file: str) -> Iterator[str]:
    """Yield the path of a module's file, or of the archive that contains it (zip import)."""
    path = Path(file)
    yield next((str(candidate) for candidate in (path, *path.parents) if candidate.exists()), file)
