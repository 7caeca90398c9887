"""A disk of one's own, and a helper beside it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop
from tests.privsep.helping import AS_NOBODY, Helper, helper, install, shared_folder


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as one:
        yield one


@pytest.fixture
def device(tmp_path: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(tmp_path / "disk"))


@pytest.fixture
def root(tmp_path: Path, stack: ExitStack) -> Helper:
    return stack.enter_context(helper(tmp_path / "root"))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder where root and the user keep things, each their own."""
    with shared_folder() as folder:
        yield folder


@pytest.fixture
def program(place: Path) -> tuple[str, ...]:
    """This program, installed where every user may run it."""
    words = (str(install(place)), "-I", "-m", "app")
    tried = subprocess.run([*AS_NOBODY, *words, "--version"], capture_output=True, cwd="/")
    if tried.returncode:
        pytest.skip("needs a checkout that every user may read")
    return words
