"""Whose turn a file of tests is: guests are given the same files, and each is run by the first to take it."""

from __future__ import annotations

from pathlib import Path

import pytest


class Turns:
    """A plugin of pytest that leaves out the files which another guest has taken."""

    def __init__(self, folder: Path) -> None:
        """`folder`: what the guests have in common; a file is taken by making a folder of its name there."""
        self._folder = folder
        self._mine: dict[str, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """True, which is to say that nothing is left to be done, for a test of another guest."""
        name = item.path.name
        if name not in self._mine:
            self._mine[name] = self._take(name)
        return None if self._mine[name] else True

    def _take(self, name: str) -> bool:
        try:
            (self._folder / name).mkdir()
        except FileExistsError:
            return False
        return True
