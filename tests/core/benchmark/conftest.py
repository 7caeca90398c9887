"""What holds for every test of a measurement."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from backends.host import Command, Completed
from backends.system.local.host import LocalHost

_ASKED = ("--version", "--enghelp", "--name=probe")
"""Words of the questions what fio can do, which every workbench asks again."""


@pytest.fixture(scope="session", autouse=True)
def fio_asked_once() -> Iterator[None]:
    """What the real fio can do is the same for all tests of a worker: to ask takes a third of a second."""
    run = LocalHost.run
    said: dict[tuple[str, ...], Completed] = {}

    async def once(host: LocalHost, command: Command) -> Completed:
        program, *words = command.argv
        if program != shutil.which("fio") or not set(words) & set(_ASKED):
            return await run(host, command)
        if command.argv not in said:
            said[command.argv] = await run(host, command)
        return said[command.argv]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalHost, "run", once)
        yield
