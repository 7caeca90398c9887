"""A host whose fio is scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from backends.host import Command, Completed
from backends.system.local import LocalHost


class ScriptedProcess:
    """Prints pieces, then waits until it is told to end (or ends by itself)."""

    pid = 0

    def __init__(
        self, pieces: Sequence[bytes] = (), *, ends: bool = True, returncode: int = 0, words: str = ""
    ) -> None:
        self.pieces = list(pieces)
        self.returncode = returncode
        self.words = words
        self.signals: list[str] = []
        self.heeds = "kill"
        self.exhausted = asyncio.Event()
        self.may_end = asyncio.Event()
        if ends:
            self.may_end.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        self.exhausted.set()
        await self.may_end.wait()

    def _signal(self, name: str) -> None:
        self.signals.append(name)
        if name == self.heeds:
            self.may_end.set()

    def interrupt(self) -> None:
        self._signal("interrupt")

    def terminate(self) -> None:
        self._signal("terminate")

    def kill(self) -> None:
        self._signal("kill")

    async def wait(self) -> int:
        return self.returncode

    def stderr(self) -> str:
        return self.words


class ScriptedHost(LocalHost):
    """Starts nothing; `answers` are standard output and status by a word in the command line."""

    def __init__(
        self, process: ScriptedProcess | None = None, answers: Mapping[str, tuple[str, int]] | None = None
    ) -> None:
        super().__init__()
        self.process = process
        self.answers = answers or {}
        self.commands: list[Command] = []
        self.there = True

    def which(self, names: Sequence[str]) -> str | None:
        return f"/usr/bin/{names[0]}" if self.there else None

    async def run(self, command: Command) -> Completed:
        self.commands.append(command)
        for word, (text, status) in self.answers.items():
            if word in command.argv:
                return Completed(returncode=status, stdout=text, stderr="")
        return Completed(returncode=0, stdout="", stderr="")

    @asynccontextmanager
    async def stream(self, command: Command) -> AsyncIterator[Any]:
        self.commands.append(command)
        assert self.process is not None
        yield self.process
