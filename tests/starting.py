"""Starts of programs that do not copy the memory of the worker which starts them.

What the product does between fork and exec (`child_setup`) makes Python fork. That copies the page tables of a worker
that has read all tests: some ten milliseconds, a thousand times over. Without it Python calls vfork, which copies
nothing. The tests of starts (`whole_starts`), the laboratory and every program that a test starts keep all of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from backends.system.local import child, interactive, unprivileged

_real = child.child_setup


def _light(parent: int, nice: int | None) -> Callable[[], None] | None:
    """Return what has to run between fork and exec: nothing, unless a priority is asked for."""
    return None if nice is None else _real(parent, nice)


@pytest.fixture(scope="session", autouse=True)
def light_starts() -> Iterator[None]:
    """Start programs without a copy of the worker."""
    # These two have it by its name, from before it is replaced, and keep it.
    assert all(vars(module)["child_setup"] is _real for module in (interactive, unprivileged))
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("RAIDBENCH_LAB") != "1":
            patch.setattr(child, "child_setup", _light)
        yield


@pytest.fixture(scope="module", autouse=True)
def whole_starts(light_starts: None) -> Iterator[None]:
    """Start programs as the product does, in the tests of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "child_setup", _real)
        yield
