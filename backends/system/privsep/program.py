"""Client side of a program that the root helper started.

Its outputs are pipes; all other operations are requests to the helper.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from backends.errors import RefusedError
from backends.helper_interface import HelperClient
from backends.system.local.process import LocalProcess

_WORDS = {signal.SIGINT: "interrupt", signal.SIGTERM: "terminate", signal.SIGKILL: "kill"}

_GONE = -int(signal.SIGKILL)
"""Exit status reported for a program whose helper has ended, because the program is killed with the helper."""


class HelperChild:
    """Program started by the root helper, with the interface that `LocalProcess` requires (`StartedProgram`)."""

    def __init__(self, side: HelperClient, run: int, pid: int) -> None:
        self._side = side
        self._run = run
        self.pid = pid
        """Process ID; also its process group."""
        self.stdout = asyncio.StreamReader()
        """Standard output."""
        self.stderr = asyncio.StreamReader()
        """Standard error."""
        self._ended = asyncio.create_task(self._end(), name="ended")
        self._pipes: list[asyncio.ReadTransport] = []
        self._asked: set[asyncio.Task[None]] = set()

    async def read_from(self, out: int, err: int) -> None:
        """Start reading the outputs. `out`, `err`: descriptors of the reading ends of the two output pipes."""
        loop = asyncio.get_running_loop()
        for stream, descriptor in ((self.stdout, out), (self.stderr, err)):
            reader = asyncio.StreamReaderProtocol(stream)
            pipe, _ = await loop.connect_read_pipe(lambda reader=reader: reader, os.fdopen(descriptor, "rb", 0))  # type: ignore[misc]
            self._pipes.append(pipe)

    @property
    def returncode(self) -> int | None:
        """Return the exit status, or None while the program runs."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        """Wait for the exit and return the status; -N if killed by signal N."""
        return await asyncio.shield(self._ended)

    async def _end(self) -> int:
        try:
            return int((await self._side.ask("ended", run=self._run))["returncode"])
        except RefusedError:
            return _GONE

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group while the program runs, without waiting for the reply."""
        if self.returncode is None:
            task = asyncio.create_task(self._ask(_WORDS[number]), name="signal")
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)

    async def _ask(self, how: str) -> None:
        with contextlib.suppress(RefusedError):  # the program has ended meanwhile
            await self._side.ask("signal", run=self._run, how=how)

    def widen_pipe(self) -> None:
        """Do nothing, because the helper has already enlarged the pipe."""

    def close(self) -> None:
        """Close the pipes."""
        for pipe in self._pipes:
            pipe.close()


class HelperProcess(AbstractAsyncContextManager[LocalProcess]):
    """Context that asks the helper to start a program on entry and ends it on exit."""

    def __init__(self, side: HelperClient, asked: Mapping[str, object]) -> None:
        """`asked`: arguments of the request `measure`, which is sent to the helper on entry."""
        self._side = side
        self._asked = asked
        self._process: LocalProcess | None = None

    async def __aenter__(self) -> LocalProcess:
        """Start the program. Raises RefusedError, ToolMissingError, InvalidValueError."""
        reply, (out, err) = await self._side.fetch("measure", **self._asked)
        child = HelperChild(self._side, reply["run"], reply["pid"])
        await child.read_from(out, err)
        self._process = LocalProcess(child)
        return self._process

    async def __aexit__(self, *exc: object) -> None:
        assert self._process is not None
        await self._process.close()
