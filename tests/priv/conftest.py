"""A disk of one's own, and a helper beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop
from tests.priv.helping import Helper, helper


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
