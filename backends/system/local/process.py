"""Program whose output is read while the program runs."""

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
"""Seconds to wait for output that is still in the pipe after a program has exited."""


class StartedProgram(Protocol):
    """Interface of a program that was started by this process or by the root helper."""

    pid: int
    """Process ID; also its process group."""
    stdout: asyncio.StreamReader
    """Standard output."""
    stderr: asyncio.StreamReader
    """Standard error."""

    @property
    def returncode(self) -> int | None:
        """Return the exit status, or None while the program runs."""
        ...

    async def wait(self) -> int:
        """Wait for the exit and return the status; -N if killed by signal N."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group."""
        ...

    def widen_pipe(self) -> None:
        """Enlarge the output pipe as far as allowed."""
        ...

    def close(self) -> None:
        """Close the pipes."""
        ...


class LocalProcess:
    """A running program in its own session; leaving its context ends its whole process group."""

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
        """Return the process ID, which is also the process group."""
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
        """Return standard error so far: the first 200 and the last 50 lines."""
        middle = [f"... {self._left_out} lines left out ..."] if self._left_out else []
        last = [self._partial.decode("utf-8", "replace")] if self._partial else []
        return "\n".join([*self._head, *middle, *self._tail, *last])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield output until end of file, or until half a second without output has passed after the exit.

        A forked child may keep the pipe open after the program has exited, so end of file may never be reached.
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
        """Send SIGINT to the process group."""
        self._child.signal(signal.SIGINT)

    def terminate(self) -> None:
        """Send SIGTERM to the process group."""
        self._child.signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the process group."""
        self._child.signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the exit and return the status; -N if killed by signal N."""
        return await self._child.wait()

    async def close(self) -> None:
        """Send SIGINT, wait up to 5 s, then send SIGKILL to the process group.

        SIGKILL is sent even if the caller is cancelled.
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
        """Wait for the exit while reading the output, because a full pipe would keep the program from ending."""
        drain = asyncio.create_task(_discard(self._child.stdout), name="drain")
        try:
            await self._child.wait()
        finally:
            drain.cancel()


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(262144):
        pass


class Stream(contextlib.AbstractAsyncContextManager[LocalProcess]):
    """Context that starts a program whose output can be read while it runs, and ends the program on exit."""

    def __init__(self, command: Command, nice: int | None) -> None:
        self._nice = nice
        self._command = command
        self._process: LocalProcess | None = None
        self._folder: str | None = None

    async def __aenter__(self) -> LocalProcess:
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
    """Wait for output or the program's exit, and return whether there was output.

    After the exit, wait half a second for output that is left in the pipe.
    """
    if not exited.done():
        await asyncio.wait({read, exited}, return_when=asyncio.FIRST_COMPLETED)
    if not read.done():
        await asyncio.wait({read}, timeout=_LAST_WORDS)
    return read.done()
