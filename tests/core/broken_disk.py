"""A disk below the state folder that fails every write: full, dying, or read-only after an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def taking_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path, code: int) -> Iterator[None]:
    """A state folder on a disk that fails every write: full, or dying."""
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(folder)):
            raise OSError(code, os.strerror(code))
        return real(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        yield
