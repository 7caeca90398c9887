"""scipy, against which statistics are held, imported by the test that asks it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Scipy:
    """A second of processor time that no worker pays for finding the tests."""

    def __getattr__(self, name: str) -> Any:
        return import_module(f"scipy.{name}")


scipy = Scipy()
