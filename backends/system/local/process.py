"""A program whose output is read as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
from collections.abc import AsyncIterator
from typing import Protocol

from backends.host import Command
from backends.system.local.child import start
from backends.system.local.files import private_folder

_LAST_WORDS = 0.5
"""Seconds in which what a program wrote last has to come once it has exited."""


class StartedProgram(Protocol):
    """A program as whoever started it has it."""

    pid: int
    """Process id; also its process group."""
    stdout: asyncio.StreamReader
    """Its output."""
    stderr: asyncio.StreamReader
    """Its error output."""

    @property
    def returncode(self) -> int | None:
        """Exit status, None while it runs."""
        ...

    async def wait(self) -> int:
        """Exit status; -N when killed by signal N."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """To the whole group."""
        ...

    def widen_pipe(self) -> None:
        """As much slack for the output as there may be."""
        ...

    def close(self) -> None:
        """Let go of the pipes."""
        ...


class LocalProcess:
    """A running program in its own session; leaving its context ends it and its whole group."""

    def __init__(self, child: StartedProgram) -> None:
        self._child = child
        self._head: list[str] = []
        self._tail: list[str] = []
        self._partial = b""
        self._left_out = 0
        self._err_task = asyncio.create_task(self._read_stderr(), name="stderr")
        child.widen_pipe()

    @property
    def pid(self) -> int:
        """Process id; also its process group."""
        return self._child.pid

    async def _read_stderr(self) -> None:
        while chunk := await self._child.stderr.read(65536):
            *lines, self._partial = (self._partial + chunk).split(b"\n")
            self._partial = self._partial[-8192:]
            for line in lines:
                self._keep(line.decode("utf-8", "replace")[:4096])

    def _keep(self, line: str) -> None:
        if len(self._head) < 200:
            self._head.append(line)
            return
        self._tail.append(line)
        if len(self._tail) > 50:
            del self._tail[0]
            self._left_out += 1

    def stderr(self) -> str:
        """Standard error so far: the first 200 and the last 50 lines."""
        middle = [f"... {self._left_out} lines left out ..."] if self._left_out else []
        last = [self._partial.decode("utf-8", "replace")] if self._partial else []
        return "\n".join([*self._head, *middle, *self._tail, *last])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Output until end of file, or until the program has exited and nothing came for half a second.

        A forked child may keep the pipe open after its parent is gone: end of file alone is not waited for.
        """
        exited = asyncio.create_task(self._child.wait(), name="wait")
        try:
            while True:
                read = asyncio.create_task(self._child.stdout.read(262144), name="stdout")
                if not await _in_time(read, exited):
                    read.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await read
                    return
                chunk = read.result()
                if not chunk:
                    return
                yield chunk
        finally:
            exited.cancel()

    def interrupt(self) -> None:
        """SIGINT to the group."""
        self._child.signal(signal.SIGINT)

    def terminate(self) -> None:
        """SIGTERM to the group."""
        self._child.signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to the group."""
        self._child.signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Exit status; -N when killed by signal N."""
        return await self._child.wait()

    async def close(self) -> None:
        """End the program: SIGINT, 5 s, then SIGKILL; also when this coroutine is cancelled.

        What it started and left behind is killed with it.
        """
        try:
            if self._child.returncode is None:
                self.interrupt()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self._drain_until_exit()
        finally:
            self.kill()
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await self._child.wait()
            finally:
                self._err_task.cancel()
                self._child.close()

    async def _drain_until_exit(self) -> None:
        """Wait for the exit while reading, or a full pipe would keep the program from ending."""
        drain = asyncio.create_task(_discard(self._child.stdout), name="drain")
        try:
            await self._child.wait()
        finally:
            drain.cancel()


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(262144):
        pass


class Stream(contextlib.AbstractAsyncContextManager[LocalProcess]):
    """Starts the program on entry, ends it on exit."""

    def __init__(self, command: Command, nice: int | None) -> None:
        self._nice = nice
        self._command = command
        self._process: LocalProcess | None = None
        self._folder: str | None = None

    async def __aenter__(self) -> LocalProcess:
        folder = self._command.cwd
        if folder is None:
            folder = self._folder = private_folder()
        try:
            self._process = LocalProcess(await start(self._command, folder, self._nice))
        except BaseException:
            self._remove_folder()
            raise
        return self._process

    async def __aexit__(self, *exc: object) -> None:
        try:
            if self._process is not None:
                await self._process.close()
        finally:
            self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


async def _in_time(read: asyncio.Task[bytes], exited: asyncio.Task[int]) -> bool:
    """Wait for output, for half a second where the program has exited: its last words may still be in the pipe."""
    if not exited.done():
        await asyncio.wait({read, exited}, return_when=asyncio.FIRST_COMPLETED)
    if not read.done():
        await asyncio.wait({read}, timeout=_LAST_WORDS)
    return read.done()
